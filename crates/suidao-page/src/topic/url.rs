//! Tokens of a URL, and R_Url of eq. (3): whether the URL contains a topic token.

use aho_corasick::AhoCorasick;
use percent_encoding::percent_decode_str;
use rustc_hash::FxHashSet;

use super::vocabulary::Vocabulary;
use crate::model::CrawlUrl;
use crate::text;

/// Least length of a token that also counts inside a host name (`sports` in `sportsnews.cn`).
const HOST_SUBSTRING: usize = 4;
/// Maximum tokens in a row that count as one: `machine-learning`, `zu-qiu`.
const JOINED: usize = 4;

/// Passes the tokens of host, path and query, folded and percent-decoded: runs of letters and runs of digits.
pub(super) fn url_tokens(url: &CrawlUrl, mut each: impl FnMut(&str)) {
    url_parts(url, |token, _| each(token));
}

/// As [`url_tokens`], also words in a row with a sign between them, joined.
pub(super) fn joined_url_tokens(url: &CrawlUrl, mut each: impl FnMut(&str)) {
    let mut row: Vec<String> = Vec::new();
    url_parts(url, |token, continues| {
        if !continues {
            row.clear();
        }
        row.push(token.to_owned());
        each(token);
        let mut joined = token.to_owned();
        for before in row.iter().rev().skip(1).take(JOINED - 1) {
            joined.insert_str(0, before);
            each(&joined);
        }
    });
}

/// Passes each token, and whether at most a `-`, `_` or `+` is between it and the token before.
fn url_parts(url: &CrawlUrl, mut each: impl FnMut(&str, bool)) {
    let mut part = |encoded: &str| {
        let folded = text::fold(&percent_decode_str(encoded).decode_utf8_lossy());
        let kind = |character: char| match character {
            _ if character.is_numeric() => 2,
            _ if character.is_alphanumeric() => 1,
            _ => 0,
        };
        let (mut start, mut running) = (0, 0);
        // Where the token before ended.
        let mut ended = None;
        for (at, character) in folded.char_indices().chain([(folded.len(), '/')]) {
            let kind = kind(character);
            if kind != running {
                if running != 0 {
                    let between = ended.map(|ended| &folded[ended..start]);
                    each(&folded[start..at], matches!(between, Some("" | "-" | "_" | "+" | " ")));
                    ended = Some(at);
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
            joined_url_tokens(url, |token| found |= self.tokens.contains(token));
        }
        found
    }
}

/// Score of a URL by a linear judge: the weights of anchors, over its tokens, each counted once.
pub(super) fn score(url: &CrawlUrl, vocabulary: &Vocabulary) -> f64 {
    let mut seen: Vec<String> = Vec::new();
    let (mut sum, mut norm) = (0.0, 0.0);
    url_tokens(url, |token| {
        let Some(word) = vocabulary.word(token) else { return };
        if seen.iter().any(|known| known == token) {
            return;
        }
        seen.push(token.to_owned());
        sum += word.idf * word.tags;
        norm += word.idf * word.idf;
    });
    if norm > 0.0 { sum / norm.sqrt() } else { 0.0 }
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
        let joined = UrlLexicon::new(&["machinelearning".to_owned(), "tiyu".to_owned()]);
        for (url, found) in [("/tags/Machine-Learning/", true), ("/ti_yu/1", true), ("/machine/learning", false)] {
            assert_eq!(joined.matches(&CrawlUrl::parse(&format!("http://x.cn{url}")).unwrap()), found, "{url}");
        }
        for url in ["http://x.cn/esports/", "http://nbax.cn/", "http://x.cn/足球场"] {
            assert!(!matches(url), "{url}");
        }
        assert!(!UrlLexicon::new(&[]).matches(&CrawlUrl::parse("http://x.cn/").unwrap()));
    }
}
