//! The forum file: the structure of a forum, in a format that users can edit.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use suidao_page::model::{CrawlUrl, ForumMap, PagingRule};
use suidao_page::visible;

use super::url_classes::{MatchedUrl, UrlClass, UrlClassifier};

/// Placeholders of identifying values in the file, and in the class.
const KEYS: [(&str, &str); 3] = [("{id}", "{n}"), ("{slug}", "{s}"), ("{code}", "{h}")];

#[derive(Debug, Error)]
pub enum MapError {
    #[error("{0}")]
    Syntax(#[from] toml::de::Error),
    /// An invalid URL.
    #[error("{key}: {text:?} is not a URL ({source}); write it as a browser shows it, with http:// or https://")]
    Url {
        /// Key of the entry.
        key: String,
        text: String,
        source: suidao_page::model::UrlError,
    },
    #[error("board {0} is not on the host of start, {1}; use one file per forum")]
    Host(String, String),
    /// An invalid UTC offset.
    #[error("offset: {0:?} is not a UTC offset; write it as +08:00")]
    Offset(String),
    /// A class without a placeholder.
    #[error(
        "{key}: {text:?} contains neither {{id}} nor {{slug}} nor {{code}}; put one where the URL of one {of} differs from another"
    )]
    UrlClass {
        key: &'static str,
        text: String,
        /// Board or thread.
        of: &'static str,
    },
    /// A paging rule without `{page}`, or with an invalid step.
    #[error("{key}: {text:?} must contain {{page}} once and have a step of at least 1")]
    Rule {
        /// Key of the entry.
        key: &'static str,
        text: String,
    },
    /// A weight of 0 or less, or so large that nothing else is visited.
    #[error("{key}: {value} is not a weight; write a number above 0, at most 1000")]
    Weight {
        /// Key of the entry.
        key: String,
        value: f64,
    },
    #[error("theta: {0} is not the weight of a reply; write a number above 0, at most 1")]
    Theta(f64),
    #[error("c1: {0} is not an hour of the day; write a number from 0 up to 24")]
    FirstVisit(f64),
    #[error("it lists no board or no class of threads; create one with `suidao forum discover`")]
    Empty,
}

/// A class, with the values that identify its members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdPattern {
    class: UrlClass,
    key: Vec<usize>,
}

impl IdPattern {
    /// A class whose members differ in these values; in all of them if `key` is empty.
    pub fn new(class: UrlClass, key: Vec<usize>) -> Self {
        Self { class, key }
    }

    /// From the text of a forum file.
    pub fn parse(text: &str) -> Self {
        // It may be written as a browser shows it: in classes, parameters are sorted by name.
        let sorted = text.split_once('?').map(|(path, query)| {
            let mut pairs: Vec<&str> = query.split('&').collect();
            pairs.sort_unstable();
            format!("{path}?{}", pairs.join("&"))
        });
        let text = sorted.as_deref().unwrap_or(text);
        let key = placeholders(text).enumerate().filter(|(_, found)| KEYS.iter().any(|(key, _)| key == found));
        let key = key.map(|(at, _)| at).collect();
        let class = KEYS.iter().fold(text.to_owned(), |text, (key, plain)| text.replace(key, plain));
        Self { class: UrlClass::new(&class), key }
    }

    /// The text for a forum file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut rest = self.class.as_str();
        for (at, found) in placeholders(self.class.as_str()).enumerate() {
            let from = rest.find(found).unwrap_or(0);
            text.push_str(&rest[..from]);
            let key = KEYS.iter().find(|(_, plain)| *plain == found).map_or(found, |(key, _)| key);
            text.push_str(if self.key.contains(&at) { key } else { found });
            rest = &rest[from + found.len()..];
        }
        text.push_str(rest);
        text
    }

    pub fn class(&self) -> &UrlClass {
        &self.class
    }

    /// Whether a value is part of the key of its members.
    pub fn has(&self, slot: usize) -> bool {
        self.key.is_empty() || self.key.contains(&slot)
    }

    /// The key of a URL within its class; none for a URL of another class.
    pub fn key(&self, matched: &MatchedUrl) -> Option<String> {
        if matched.class != self.class {
            return None;
        }
        let values: Vec<&str> =
            matched.values().enumerate().filter(|(at, _)| self.has(*at)).map(|(_, value)| value).collect();
        Some(format!("{} {}", self.class, values.join(" ")))
    }
}

fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let from = rest.find('{')?;
        let to = from + rest[from..].find('}')? + 1;
        let found = &rest[from..to];
        rest = &rest[to..];
        Some(found)
    })
}

/// Parses and checks a forum file.
pub fn parse(text: &str) -> Result<ForumMap, MapError> {
    let map: ForumMap = toml::from_str(text)?;
    check(&map)?;
    Ok(map)
}

/// The text of a forum file, with comments on how to edit it.
pub fn write(map: &ForumMap) -> String {
    let mut map = map.clone();
    for board in &mut map.boards {
        // Names come from the forum and are shown to users.
        board.name = visible::line(&board.name).into_owned();
    }
    let body = toml::to_string(&map).expect("a map is a table of plain values");
    format!(
        "# Structure of this forum as detected by suidao. Correct it where needed, then: suidao forum crawl FILE -o DIR\n\
         # In URL classes {{n}} is any number, {{s}} any word, {{h}} any code; {{id}}, {{slug}}, {{code}} identify a board\n\
         # or thread, {{page}} is the page number. You may add boards; skip = true excludes one. A higher weight of a board,\n\
         # or of the forum among several, gets it more visits.\n\n{body}"
    )
}

fn check(map: &ForumMap) -> Result<(), MapError> {
    let url = |key: String, text: &str| {
        CrawlUrl::parse(text).map(drop).map_err(|source| MapError::Url { key, text: text.to_owned(), source })
    };
    url("start".to_owned(), &map.start)?;
    let host = |text: &str| CrawlUrl::parse(text).map(|url| url.authority().to_owned()).unwrap_or_default();
    for (number, board) in (1..).zip(&map.boards) {
        url(format!("board {number} ({})", board.name), &board.url)?;
        if host(&board.url) != host(&map.start) {
            return Err(MapError::Host(board.url.clone(), host(&map.start)));
        }
    }
    offset(&map.offset)?;
    let weights =
        (map.boards.iter().zip(1..)).map(|(board, number)| (format!("weight of board {number}"), board.weight));
    let is_weight = |value: f64| value > 0.0 && value <= 1_000.0;
    let wrong = weights.chain([("weight".to_owned(), map.weight)]).find(|(_, value)| !is_weight(*value));
    if let Some((key, value)) = wrong {
        return Err(MapError::Weight { key, value });
    }
    if !(map.theta > 0.0 && map.theta <= 1.0) {
        return Err(MapError::Theta(map.theta));
    }
    if let Some(hour) = map.c1.filter(|hour| !(0.0..24.0).contains(hour)) {
        return Err(MapError::FirstVisit(hour));
    }
    let classes = [("board_classes", "board", &map.board_classes), ("thread_classes", "thread", &map.thread_classes)];
    for (key, of, texts) in classes {
        if let Some(text) = texts.iter().find(|text| IdPattern::parse(text).key.is_empty()) {
            return Err(MapError::UrlClass { key, text: text.clone(), of });
        }
    }
    for (key, rules) in [("board_pages", &map.board_pages), ("thread_pages", &map.thread_pages)] {
        if let Some(rule) = rules.iter().find(|rule| rule.step < 1 || rule.pages.matches("{page}").count() != 1) {
            return Err(MapError::Rule { key, text: rule.pages.clone() });
        }
    }
    if map.boards.is_empty() && map.board_classes.is_empty() || map.thread_classes.is_empty() {
        return Err(MapError::Empty);
    }
    Ok(())
}

/// UTC offset in seconds.
pub fn offset(text: &str) -> Result<i32, MapError> {
    let wrong = || MapError::Offset(text.to_owned());
    let (sign, rest) = match text.as_bytes().first() {
        Some(b'+') => (1, &text[1..]),
        Some(b'-') => (-1, &text[1..]),
        _ => return Err(wrong()),
    };
    let (hours, minutes) = rest.split_once(':').ok_or_else(wrong)?;
    let number = |text: &str, most: i32| {
        text.parse::<i32>().ok().filter(|value| (0..=most).contains(value) && text.len() == 2).ok_or_else(wrong)
    };
    Ok(sign * (number(hours, 14)? * 3600 + number(minutes, 59)? * 60))
}

/// The `page`th page of the list at `own`, by a rule of the file; none if the URL lacks the values that the rule needs.
pub fn page_by_rule(rule: &PagingRule, own: &CrawlUrl, page: i64, classifier: &UrlClassifier) -> Option<CrawlUrl> {
    let matched = classifier.classify(own);
    let mut values = matched.values();
    let (mut text, mut rest) = (own.origin(), rule.pages.as_str());
    for found in placeholders(&rule.pages) {
        let from = rest.find(found)?;
        text.push_str(&rest[..from]);
        if found == "{page}" {
            text.push_str(&(rule.first + rule.step * (page - 1)).to_string());
            // A page value in the first page's URL is in the same position.
            if matched.class.as_str() == rule.pages.replace("{page}", "{n}") {
                values.next();
            }
        } else {
            text.push_str(values.next()?);
        }
        rest = &rest[from + found.len()..];
    }
    text.push_str(rest);
    CrawlUrl::parse(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::BoardEntry;

    fn map() -> ForumMap {
        ForumMap {
            start: "http://bbs.cn/".into(),
            index_pages: 32,
            offset: "+08:00".into(),
            board_classes: vec!["/forum-{id}-{n}.html".into()],
            thread_classes: vec!["/thread-{id}-{n}-{n}.html".into()],
            board_pages: vec![PagingRule {
                pages: "/forum-{n}-{page}.html".into(),
                first: 1,
                step: 1,
                unlinked: false,
            }],
            ..ForumMap::default()
        }
    }

    #[test]
    fn a_written_file_is_read_back_unchanged() {
        let map = map();
        assert_eq!(parse(&write(&map)).unwrap(), map);
    }

    #[test]
    fn what_is_wrong_is_reported_with_what_to_write() {
        let result = |change: fn(&mut ForumMap)| {
            let mut map = map();
            change(&mut map);
            parse(&write(&map)).unwrap_err().to_string()
        };
        assert!(result(|map| map.start = "bbs.cn".into()).contains("start: \"bbs.cn\" is not a URL"));
        assert!(result(|map| map.offset = "8".into()).contains("+08:00"));
        assert!(result(|map| map.thread_classes = vec!["/t/{n}".into()]).contains("{id}"));
        assert!(result(|map| map.weight = 0.0).contains("weight: 0 is not a weight"));
        let board =
            |weight| BoardEntry { weight, ..BoardEntry::new("http://bbs.cn/forum-2-1.html".into(), String::new()) };
        let boards = ForumMap { boards: vec![board(2.0), board(-1.0)], ..map() };
        assert!(parse(&write(&boards)).unwrap_err().to_string().contains("weight of board 2: -1 is not"));
        assert!(result(|map| map.theta = 1.5).contains("theta: 1.5"));
        assert!(result(|map| map.c1 = Some(24.0)).contains("c1: 24 is not an hour"));
        assert!(result(|map| map.board_pages[0].step = 0).contains("{page} once"));
        assert!(result(|map| map.thread_classes.clear()).contains("discover"));
        assert!(parse("start = 'http://a.cn/'\nbords = 3").unwrap_err().to_string().contains("line 2"));
    }

    #[test]
    fn threads_are_distinguished_by_what_is_marked() {
        let keyed = IdPattern::parse("/thread-{id}-{n}-{n}.html");
        let key = |path: &str| {
            keyed.key(&UrlClassifier::default().classify(&CrawlUrl::parse(&format!("http://bbs.cn{path}")).unwrap()))
        };
        assert_eq!(key("/thread-5-1-1.html"), key("/thread-5-2-9.html"));
        assert_ne!(key("/thread-5-1-1.html"), key("/thread-6-1-1.html"));
        assert_eq!(key("/forum-5-1.html"), None);
        assert_eq!(keyed.text(), "/thread-{id}-{n}-{n}.html");
    }

    #[test]
    fn pages_are_made_by_a_rule() {
        let url = |path: &str| CrawlUrl::parse(&format!("http://bbs.cn{path}")).unwrap();
        let made = |own: &str, pages: &str, first, step| {
            let rule = PagingRule { pages: pages.into(), first, step, unlinked: true };
            page_by_rule(&rule, &url(own), 3, &UrlClassifier::default())
        };
        assert_eq!(
            made("/viewforum.php?f=2", "/viewforum.php?f={n}&start={page}", 0, 50),
            Some(url("/viewforum.php?f=2&start=100"))
        );
        assert_eq!(made("/forum-7-1.html", "/forum-{n}-{page}.html", 1, 1), Some(url("/forum-7-3.html")));
        assert_eq!(made("/forum-7.html", "/forum-{n}-{page}.html", 1, 1), Some(url("/forum-7-3.html")));
        assert_eq!(made("/about", "/forum-{n}-{page}.html", 1, 1), None);
    }
}
