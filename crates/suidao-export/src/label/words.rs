//! Words that distinguish two groups of pages: terms that bring in irrelevant pages, and words of relevant pages that
//! the lexicon lacks.
//!
//! The measure is the z of the test for two proportions: the shares of pages with the word in the two groups. A word
//! counts once per page, so that a long page does not dominate.

use std::collections::BTreeSet;

use serde::Serialize;

use suidao_page::text::{cut, fold, is_term};
use suidao_page::topic::Lexicon;

/// Minimum z of a suggestion: one in forty words reaches it by chance.
const MIN_Z: f64 = 1.96;

const MIN_PAGES: usize = 3;

/// Minimum number of hosts with the word, or one in this many of many hosts: a word of one host's name or template only
/// identifies the host.
const MIN_HOSTS: usize = 2;
const ONE_HOST_IN: usize = 4;

/// Maximum number of words of each kind.
const MAX_WORDS: usize = 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelledPage {
    pub host: String,
    pub title: String,
    /// By [`words_of`].
    pub words: BTreeSet<String>,
    /// According to the labels.
    pub relevant: bool,
    /// According to the crawl.
    pub accepted: bool,
}

/// The folded words of a page, and the lexicon's terms of more than one word.
pub fn words_of(title: &str, text: &str, lexicon: &Lexicon) -> BTreeSet<String> {
    let folded = fold(&format!("{title}\n{text}"));
    let mut words = BTreeSet::new();
    cut(&folded, |range| {
        let word = &folded[range];
        if is_term(word) {
            words.insert(word.to_owned());
        }
    });
    // Of several words, or split in two, as Chinese terms may be.
    let whole = lexicon.terms.iter().map(|(term, _)| fold(term)).filter(|term| term.contains(' ') || !term.is_ascii());
    words.extend(whole.filter(|term| folded.contains(term.as_str())));
    words
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DistinctiveWord {
    pub word: String,
    /// Standard errors between the shares of the two groups.
    pub z: f64,
    /// Pages of the first group with it.
    pub with: usize,
    /// Pages of the second group with it.
    pub against: usize,
    /// Titles of some pages of the first group.
    pub examples: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Suggestions {
    /// Terms of the lexicon that are more frequent in wrongly than in rightly accepted pages: lower their weight or
    /// delete them.
    pub lower: Vec<DistinctiveWord>,
    /// Words that the lexicon lacks and that are more frequent in relevant pages than in the others.
    pub add: Vec<DistinctiveWord>,
}

pub fn suggest<'a>(pages: &'a [LabelledPage], lexicon: &Lexicon) -> Suggestions {
    let terms: BTreeSet<String> = lexicon.main_terms().iter().map(|(term, _)| fold(term)).collect();
    let (relevant, others): (Vec<_>, Vec<_>) = pages.iter().partition(|page| page.relevant);
    let accepted = |pages: &[&'a LabelledPage]| pages.iter().copied().filter(|page| page.accepted).collect::<Vec<_>>();
    Suggestions {
        lower: compare(&accepted(&others), &accepted(&relevant), |word| terms.contains(word)),
        add: compare(&relevant, &others, |word| !terms.contains(word)),
    }
}

/// Words that are more frequent in the first group and accepted by `wanted`, the most certain first.
fn compare(one: &[&LabelledPage], other: &[&LabelledPage], wanted: impl Fn(&str) -> bool) -> Vec<DistinctiveWord> {
    let least_hosts = MIN_HOSTS.max(hosts(one) / ONE_HOST_IN).min(hosts(one));
    let distinctive = |word: &String| {
        let (with, against) = (with(one, word), with(other, word));
        let found = DistinctiveWord {
            word: word.clone(),
            z: z([with.len(), against.len()], [one.len(), other.len()]),
            with: with.len(),
            against: against.len(),
            examples: with.iter().take(2).map(|page| page.title.clone()).collect(),
        };
        (found.with >= MIN_PAGES && found.z >= MIN_Z && hosts(&with) >= least_hosts).then_some(found)
    };
    let words: BTreeSet<&String> = one.iter().flat_map(|page| &page.words).filter(|word| wanted(word)).collect();
    let mut found: Vec<DistinctiveWord> = words.into_iter().filter_map(distinctive).collect();
    found.sort_by(|a, b| b.z.total_cmp(&a.z));
    found.truncate(MAX_WORDS);
    found
}

fn with<'a>(pages: &[&'a LabelledPage], word: &str) -> Vec<&'a LabelledPage> {
    pages.iter().copied().filter(|page| page.words.contains(word)).collect()
}

fn hosts(pages: &[&LabelledPage]) -> usize {
    pages.iter().map(|page| &page.host).collect::<BTreeSet<_>>().len()
}

/// The difference of two shares, `with` of `all` pages each, in standard errors.
fn z(with: [usize; 2], all: [usize; 2]) -> f64 {
    let (with, all) = (with.map(|pages| pages as f64), all.map(|pages| pages as f64));
    let pooled = (with[0] + with[1]) / (all[0] + all[1]);
    let variance = pooled * (1.0 - pooled) * (1.0 / all[0] + 1.0 / all[1]);
    (with[0] / all[0] - with[1] / all[1]) / variance.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str, relevant: bool, accepted: bool) -> LabelledPage {
        let words = words_of("题目", text, &lexicon());
        LabelledPage { host: "a.cn".to_owned(), title: "题目".to_owned(), words, relevant, accepted }
    }

    fn lexicon() -> Lexicon {
        Lexicon::from_terms("体育", &[("足球", 0.9), ("游戏", 0.3), ("premier league", 0.2)])
    }

    fn words(result: &[DistinctiveWord]) -> Vec<&str> {
        result.iter().map(|found| found.word.as_str()).collect()
    }

    #[test]
    fn a_term_that_brings_wrong_pages_in_and_a_word_that_lacks_are_reported() {
        let mut pages = Vec::new();
        for _ in 0..12 {
            pages.push(page("足球 教练 天气", true, true));
            pages.push(page("教练 门将 天气", true, false));
            pages.push(page("游戏 手机 天气", false, true));
            pages.push(page("手机 天气", false, false));
        }
        let result = suggest(&pages, &lexicon());
        assert_eq!(words(&result.lower), ["游戏"], "手机 is not a term, 天气 is everywhere");
        assert_eq!(words(&result.add), ["教练", "门将"]);
        assert_eq!((result.add[0].with, result.add[0].against), (24, 0));
        assert_eq!(result.lower[0].examples, ["题目", "题目"]);
    }

    #[test]
    fn a_word_that_is_everywhere_or_hardly_anywhere_is_not_suggested() {
        let pages = [page("天气", true, true), page("天气 围棋", true, true), page("天气", false, true)];
        assert_eq!(suggest(&pages, &lexicon()), Suggestions::default());
        assert_eq!(suggest(&[], &lexicon()), Suggestions::default());
    }

    #[test]
    fn words_of_one_host_are_not_suggested() {
        let mut pages = Vec::new();
        for host in ["a.cn", "b.cn"] {
            for _ in 0..12 {
                let own = if host == "a.cn" { "站名" } else { "" };
                let relevant = page(&format!("足球 门将 {own}"), true, true);
                pages.push(LabelledPage { host: host.to_owned(), ..relevant });
                pages.push(page("手机", false, false));
            }
        }
        let result = suggest(&pages, &lexicon());
        assert_eq!(words(&result.add), ["门将"]);
    }

    #[test]
    fn phrases_of_the_lexicon_are_found() {
        assert!(page("The Premier League is back", true, true).words.contains("premier league"));
        let lexicon = Lexicon::from_terms("x", &[("足球踢法研究", 0.9)]);
        let words = words_of("", "关于足球踢法研究的文章", &lexicon);
        assert!(words.contains("足球踢法研究"), "cut in two: {words:?}");
    }
}
