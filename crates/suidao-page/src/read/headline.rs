//! The headline: what `<title>` says without the name of the site, its sections and counters of messages.
//!
//! `<title>` is cut at separators. The run of parts that a heading, JSON-LD or `og:title` repeats is the headline; without
//! such evidence, parts that name the site go.

use super::block_kind::ElementKind;
use super::json_ld::{self, JsonLd};
use super::markup::ParsedHtml;

/// Maximum number of parts of a title that are considered, and of headings.
const PARTS: usize = 10;
const HEADINGS: usize = 4;
/// Fewest letters of a headline.
const SHORTEST: usize = 2;

/// What a page declares about its title besides `<title>`.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// `og:site_name`.
    pub site: String,
    /// `headline` of the first article in JSON-LD.
    pub headline: String,
}

impl Declared {
    pub(super) fn json_ld(&mut self, script: &JsonLd) {
        let JsonLd::Whole(value) = script else { return };
        let articles = json_ld::objects(value).into_iter().filter(|(rank, _)| *rank == 0);
        let headline = articles.filter_map(|(_, object)| object.get("headline")?.as_str()).next();
        if let Some(headline) = headline.filter(|_| self.headline.is_empty()) {
            self.headline = headline.trim().to_owned();
        }
    }
}

/// The headline of a page; its title if nothing can be cut off.
pub(super) fn of(markup: &ParsedHtml, host: &str) -> String {
    let headings = headings(markup);
    let evidence: Vec<(&str, u32)> = headings
        .iter()
        .map(|&heading| (heading, 2))
        .chain([(markup.declared.headline.as_str(), 2), (markup.declared_title.as_str(), 1)])
        .collect();
    choose(&markup.title, &evidence, &markup.declared.site, host)
}

/// The texts of the first headings of the highest level.
fn headings(markup: &ParsedHtml) -> Vec<&str> {
    let is_heading = |element: u32| {
        let mut at = element as usize;
        for _ in 0..4 {
            if markup.elements[at].part == ElementKind::Heading(1) {
                return true;
            }
            at = markup.elements[at].parent as usize;
        }
        false
    };
    let blocks = markup.document.blocks.iter().zip(&markup.block_stats);
    let headings = blocks.filter(|(_, stats)| is_heading(stats.element));
    headings.map(|(block, _)| markup.document.block_text(block).trim()).take(HEADINGS).collect()
}

/// `evidence`: texts that may be the headline, with their weights.
fn choose(title: &str, evidence: &[(&str, u32)], site: &str, host: &str) -> String {
    let whole = without_counter(title.trim());
    let parts = parts(whole);
    let is_site = |text: &str| is_site(text, site, host);
    // By the first and last of its parts; one more, which is none of them, for what several agree on.
    let mut runs: Vec<(&str, u32)> = Vec::new();
    for from in 0..parts.len() {
        for to in from..parts.len() {
            let run = &whole[parts[from].0..parts[to].1];
            let votes = evidence.iter().filter(|(text, _)| is_same(text, run)).map(|(_, weight)| weight).sum();
            if votes > 0 && !(parts.len() > 1 && from == to && is_site(run)) {
                runs.push((run, votes));
            }
        }
    }
    if let Some((run, _)) = runs.iter().max_by_key(|(run, votes)| (*votes, run.len())) {
        return (*run).to_owned();
    }
    // A title for all pages of a site; heading and declaration say what this page is.
    let agreed = evidence.iter().enumerate().find(|(at, (text, _))| {
        letters(text).chars().count() >= SHORTEST
            && !is_site(text)
            && evidence.iter().skip(at + 1).any(|(other, _)| is_same(text, other))
    });
    if let Some((_, (text, _))) = agreed.filter(|_| whole.is_empty() || is_site(whole)) {
        return (*text).to_owned();
    }
    let (mut first, mut last) = (0, parts.len());
    while last - first > 1 && is_site(&whole[parts[last - 1].0..parts[last - 1].1]) {
        last -= 1;
    }
    while last - first > 1 && is_site(&whole[parts[first].0..parts[first].1]) {
        first += 1;
    }
    // Chinese portals: headline_section_site.
    let length = |part: &(usize, usize)| letters(&whole[part.0..part.1]).chars().count();
    let by_line = |at: usize| whole[parts[at].1..].starts_with('_');
    while last - first > 1 && by_line(last - 2) && length(&parts[first]) >= 4 {
        last -= 1;
    }
    match parts.get(first..last) {
        Some([one, .., other]) => whole[one.0..other.1].to_owned(),
        Some([one]) => whole[one.0..one.1].to_owned(),
        _ => whole.to_owned(),
    }
}

/// A title without a counter of messages such as `(12条消息)` before it.
fn without_counter(title: &str) -> &str {
    let inner = title.strip_prefix(['(', '（', '[', '【']);
    let Some((counter, rest)) = inner.and_then(|inner| inner.split_once([')', '）', ']', '】'])) else {
        return title;
    };
    let is_counter = counter.starts_with(|c: char| c.is_ascii_digit())
        && counter.chars().count() <= 12
        && !counter.contains('-')
        && (counter.len() <= 3 && counter.chars().all(|c| c.is_ascii_digit() || c == '+')
            || counter.contains("消息")
            || counter.contains("message"));
    if is_counter && letters(rest).chars().count() >= SHORTEST { rest.trim_start() } else { title }
}

/// Where the parts of a title begin and end, without separators and white space around them.
fn parts(title: &str) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let mut begin = 0;
    let mut add = |from: usize, to: usize| {
        let text = &title[from..to];
        let trimmed = text.trim();
        if !trimmed.is_empty() {
            let start = from + (text.len() - text.trim_start().len());
            parts.push((start, start + trimmed.len()));
        }
    };
    for (at, letter) in title.char_indices() {
        let after = at + letter.len_utf8();
        let spaced = title[..at].ends_with(char::is_whitespace) && title[after..].starts_with(char::is_whitespace);
        let separates = match letter {
            '|' | '｜' | '«' | '»' | '¦' | '•' => true,
            // In names of programs it is a letter.
            '_' => {
                spaced
                    || !title[..at].ends_with(|c: char| c.is_ascii())
                    || !title[after..].starts_with(|c: char| c.is_ascii())
            }
            '-' | '–' | '—' | '·' | '/' | '›' | '~' | '‹' | '<' | '>' => spaced,
            _ => false,
        };
        if separates {
            add(begin, at);
            begin = after;
        }
    }
    add(begin, title.len());
    parts.truncate(PARTS);
    parts
}

/// Whether a text is the name of the site: as declared, or the name of its host.
fn is_site(text: &str, site: &str, host: &str) -> bool {
    let text = letters(text);
    if text.is_empty() {
        return false;
    }
    let declared = letters(site);
    if !declared.is_empty() && (text == declared || text.len() > 3 && declared.contains(&text)) {
        return true;
    }
    // The longest label of a host is its name: `example` of `www.example.com`.
    let name = host.split('.').max_by_key(|label| label.len()).map(letters).unwrap_or_default();
    name.len() >= 4
        && (text == letters(host) || text == name || text.len() >= 4 && (name.contains(&text) || text.contains(&name)))
}

fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (letters(one), letters(other));
    one.chars().count() >= SHORTEST && one == other
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_the_page_repeats_is_the_headline() {
        let of = |title: &str, heading: &str| choose(title, &[(heading, 2)], "", "www.example.com");
        for (title, heading, headline) in [
            ("Bread - A Story | The Daily Loaf", "Bread – A story", "Bread - A Story"),
            ("The Daily Loaf » Bread", "Bread", "Bread"),
            ("大湾区-城际铁路开工_新闻频道_山径网", "大湾区-城际铁路开工", "大湾区-城际铁路开工"),
            ("Bread", "The Daily Loaf", "Bread"),
            ("Bread | Loaf", "Something else", "Bread | Loaf"),
            ("Bread - Wikipedia", "", "Bread - Wikipedia"),
            ("", "Bread", ""),
        ] {
            assert_eq!(of(title, heading), headline, "{title}");
        }
    }

    #[test]
    fn names_of_the_site_sections_and_counters_go() {
        let of = |title: &str, site: &str| choose(title, &[], site, "news.example.com");
        for (title, site, headline) in [
            ("Bread - The Daily Loaf", "The Daily Loaf", "Bread"),
            ("Bread | Example News", "", "Bread"),
            ("example.com | Bread", "", "Bread"),
            ("2026-05-03 周末记录 - 山径网", "山径网", "2026-05-03 周末记录"),
            ("(12条消息) 周末山路记录_老王的博客-某博客", "", "周末山路记录"),
            ("(3) Bread", "", "Bread"),
            ("(2026) Bread", "", "(2026) Bread"),
            ("粤东城际铁路开工_新闻频道_山径网", "", "粤东城际铁路开工"),
            ("get_user_by_id", "", "get_user_by_id"),
            ("The Daily Loaf", "The Daily Loaf", "The Daily Loaf"),
        ] {
            assert_eq!(of(title, site), headline, "{title}");
        }
    }

    #[test]
    fn a_title_of_the_site_gives_way_to_what_the_page_agrees_on() {
        let evidence = [("Bread", 2), ("Bread", 1)];
        assert_eq!(choose("The Daily Loaf", &evidence, "The Daily Loaf", "example.com"), "Bread");
        assert_eq!(choose("The Daily Loaf", &[("Bread", 2)], "The Daily Loaf", "example.com"), "The Daily Loaf");
    }
}
