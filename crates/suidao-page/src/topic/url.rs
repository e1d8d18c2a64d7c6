//! Tokens of a URL, and R_Url of eq. (3): whether the URL contains a topic token.

use aho_corasick::AhoCorasick;
use percent_encoding::percent_decode_str;
use rustc_hash::{FxHashMap, FxHashSet};

use super::term_weights::{LARGEST_LIFT, TERM};
use super::vocabulary::Vocabulary;
use crate::model::CrawlUrl;
use crate::text;

/// Least length of a token that also counts inside a host name (`sports` in `sportsnews.cn`).
const HOST_SUBSTRING: usize = 4;

/// Least ratio of a proposed token's frequencies in topic URLs and others.
const LEAST_LIFT: f64 = 4.0;
/// Maximum proposed tokens.
const MOST: usize = 20;

/// Passes the tokens of host, path and query, folded and percent-decoded: runs of letters and runs of digits.
pub(super) fn url_tokens(url: &CrawlUrl, mut each: impl FnMut(&str)) {
    let mut part = |encoded: &str| {
        let folded = text::fold(&percent_decode_str(encoded).decode_utf8_lossy());
        let kind = |character: char| match character {
            _ if character.is_numeric() => 2,
            _ if character.is_alphanumeric() => 1,
            _ => 0,
        };
        let (mut start, mut running) = (0, 0);
        for (at, character) in folded.char_indices().chain([(folded.len(), '/')]) {
            let kind = kind(character);
            if kind != running {
                if running != 0 {
                    each(&folded[start..at]);
                }
                (start, running) = (at, kind);
            }
        }
    };
    part(url.host());
    part(url.path());
    if let Some(query) = url.query() {
        part(query);
    }
}

/// The URL tokens of a topic.
pub(super) struct UrlLexicon {
    tokens: FxHashSet<String>,
    /// Finds those that also count inside a host name; `None` without any.
    inside_hosts: Option<AhoCorasick>,
}

impl UrlLexicon {
    pub(super) fn new(tokens: &[String]) -> Self {
        let tokens: FxHashSet<String> = tokens.iter().map(|token| text::fold(token.trim())).collect();
        let mut inside: Vec<&String> = tokens.iter().filter(|token| token.chars().count() >= HOST_SUBSTRING).collect();
        inside.sort_unstable();
        // Building fails only beyond 2³¹ states.
        let inside_hosts = if inside.is_empty() { None } else { AhoCorasick::new(inside).ok() };
        Self { tokens, inside_hosts }
    }

    /// Whether R_Url is 1.
    pub(super) fn matches(&self, url: &CrawlUrl) -> bool {
        if self.tokens.is_empty() {
            return false;
        }
        let mut found = self.inside_hosts.as_ref().is_some_and(|tokens| tokens.is_match(url.host()));
        if !found {
            url_tokens(url, |token| found |= self.tokens.contains(token));
        }
        found
    }
}

/// Score of a URL by a linear judge: the weights of texts, over its tokens, each counted once.
pub(super) fn score(url: &CrawlUrl, vocabulary: &Vocabulary) -> f64 {
    let mut seen: Vec<String> = Vec::new();
    let (mut sum, mut norm) = (0.0, 0.0);
    url_tokens(url, |token| {
        let Some(word) = vocabulary.word(token) else { return };
        if seen.iter().any(|known| known == token) {
            return;
        }
        seen.push(token.to_owned());
        sum += word.idf * word.text;
        norm += word.idf * word.idf;
    });
    if norm > 0.0 { sum / norm.sqrt() } else { 0.0 }
}

/// Tokens that are much more frequent in the topic's URLs than in others; terms of the topic if the background has no
/// URLs.
pub(super) fn propose<'a>(
    urls: impl Iterator<Item = &'a CrawlUrl>,
    elsewhere: impl Iterator<Item = &'a CrawlUrl>,
    terms: &[(String, f64)],
) -> Vec<String> {
    #[derive(Default)]
    struct Count<'a> {
        urls: f64,
        hosts: FxHashSet<&'a str>,
    }
    fn count<'a>(urls: impl Iterator<Item = &'a CrawlUrl>) -> (f64, FxHashMap<String, Count<'a>>) {
        let mut counts: FxHashMap<String, Count<'a>> = FxHashMap::default();
        let mut total = 0.0;
        for url in urls {
            let mut tokens = FxHashSet::default();
            url_tokens(url, |token| {
                if text::is_term(token) {
                    tokens.insert(token.to_owned());
                }
            });
            total += 1.0;
            for token in tokens {
                let count = counts.entry(token).or_default();
                count.urls += 1.0;
                count.hosts.insert(url.host());
            }
        }
        (total, counts)
    }
    let (total, own) = count(urls);
    let (others, other) = count(elsewhere);
    let terms: FxHashSet<String> = terms.iter().map(|(term, _)| text::fold(term)).collect();
    let mut proposed: Vec<(f64, String)> = Vec::new();
    for (token, count) in own {
        if count.urls < TERM.pages as f64 || count.hosts.len() < TERM.hosts {
            continue;
        }
        let elsewhere = other.get(&token).map_or(0.0, |count| count.urls);
        let lift = (count.urls / total) / ((elsewhere + 0.5) / (others + 1.0));
        let is_meaningful = if others > 0.0 { lift >= LEAST_LIFT } else { terms.contains(&token) };
        if is_meaningful {
            proposed.push((count.urls * lift.clamp(1.0, LARGEST_LIFT).ln(), token));
        }
    }
    proposed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    proposed.truncate(MOST);
    proposed.into_iter().map(|(_, token)| token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(url: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        url_tokens(&CrawlUrl::parse(url).unwrap(), |token| tokens.push(token.to_owned()));
        tokens
    }

    #[test]
    fn urls_are_cut_at_signs_and_where_digits_begin() {
        assert_eq!(
            tokens("http://Sports.qq.com:8080/nba2024/%E8%B6%B3%E7%90%83_A.html?Id=x7%20y"),
            ["sports", "qq", "com", "nba", "2024", "足球", "a", "html", "id", "x", "7", "y"]
        );
        assert_eq!(tokens("http://a.cn/%ff%E4z"), ["a", "cn", "z"]);
        assert_eq!(
            tokens("http://a.cn/?q=x%+41y"),
            ["a", "cn", "q", "x", "41", "y"],
            "a sign is not a hexadecimal digit"
        );
    }

    #[test]
    fn a_token_counts_whole_or_inside_the_host() {
        let lexicon = UrlLexicon::new(&["Sports".to_owned(), "nba".to_owned(), "足球".to_owned()]);
        let matches = |url: &str| lexicon.matches(&CrawlUrl::parse(url).unwrap());
        for url in ["http://x.cn/sports/1", "http://mysports.cn/", "http://x.cn/?c=NBA", "http://x.cn/足球/"] {
            assert!(matches(url), "{url}");
        }
        for url in ["http://x.cn/esports/", "http://nbax.cn/", "http://x.cn/足球场"] {
            assert!(!matches(url), "{url}");
        }
        assert!(!UrlLexicon::new(&[]).matches(&CrawlUrl::parse("http://x.cn/").unwrap()));
    }
}
