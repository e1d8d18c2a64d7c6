//! Link classes: which URLs of a site are of one kind.
//!
//! Li, Cheng, Guo, Zhang 2007, 3.1: two dynamic URLs of a site are similar if they have the same script and the same
//! parameter names. This is generalised to paths: a URL is a sequence of parts; digit runs are numbers, mixed
//! digits and letters are codes, and a word is a slug if the site has many words in its position, each with few
//! continuations.
//! `/forum/general-1/topic/hello-5/?page=2` is of the class `/forum/{s}-{n}/topic/{s}-{n}/?page={n}`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Write as _};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use suidao_page::model::CrawlUrl;

/// Distinct words in one position that make them slugs.
const VARIETY: usize = 3;
/// The same after a value: the words there may be actions on one item.
const VARIETY_BELOW: usize = 8;
/// A word with more continuations names a kind of page.
const CONTINUATIONS: usize = 2;
/// Words that always name a kind of page.
const NAMES: [&str; 22] = [
    "forum", "board", "thread", "topic", "post", "page", "user", "member", "members", "profile", "index", "login",
    "register", "search", "faq", "print", "rss", "feed", "reply", "edit", "threads", "topics",
];
/// Minimum length of a run of hexadecimal digits that is a code (a session, a hash).
const CODE: usize = 16;
/// Extensions of scripts: the word before one is a script name, never a slug.
const SCRIPTS: [&str; 10] = ["php", "asp", "aspx", "jsp", "cgi", "do", "pl", "py", "cfm", "dll"];
/// Maximum length of a word that names a kind of page.
const WORD: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    /// Literal: separators, extensions.
    Fixed,
    /// The name of a parameter, with the `?` or `&` before it.
    Name,
    /// A word: literal, or a slug.
    Word,
    Number,
    /// Mixed digits and letters.
    Code,
    /// A word that must be a slug.
    Slug,
}

#[derive(Clone, Debug)]
struct Part {
    kind: Kind,
    /// Bytes of the URL.
    at: Range<usize>,
}

/// A class of URLs, such as `/thread-{n}-{n}.html` or `/viewtopic.php?f={n}&t={n}` (parameters sorted by name).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UrlClass(Box<str>);

impl UrlClass {
    /// From the text of a forum file; any text is accepted, and an unknown class has no members.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for UrlClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A variable part of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlSlot {
    pub at: Range<usize>,
    pub number: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedUrl {
    pub url: CrawlUrl,
    pub class: UrlClass,
    /// Its values, in the order of the class's text.
    pub slots: Vec<UrlSlot>,
}

impl MatchedUrl {
    pub fn value(&self, slot: usize) -> &str {
        &self.url.as_str()[self.slots[slot].at.clone()]
    }

    /// A value as a number; none if it is not one, or too large for a page number.
    pub fn number(&self, slot: usize) -> Option<i64> {
        self.slots.get(slot).filter(|slot| slot.number && slot.at.len() < 12)?;
        self.value(slot).parse().ok()
    }

    pub fn values(&self) -> impl Iterator<Item = &str> {
        (0..self.slots.len()).map(|slot| self.value(slot))
    }

    /// The URL with another number in a slot.
    pub fn with(&self, slot: usize, number: i64) -> Option<CrawlUrl> {
        let (text, at) = (self.url.as_str(), self.slots.get(slot)?.at.clone());
        CrawlUrl::parse(&format!("{}{number}{}", &text[..at.start], &text[at.end..])).ok()
    }
}

/// Positions of slugs in a site's URLs: prefixes of classes, with the words that are literal there.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct UrlClassifier {
    slugs: BTreeMap<String, BTreeSet<String>>,
}

impl UrlClassifier {
    /// For a forum file: prefixes of classes up to a slug, and the words that are literal there.
    pub fn slugs(&self) -> &BTreeMap<String, BTreeSet<String>> {
        &self.slugs
    }

    pub fn from_slugs(slugs: BTreeMap<String, BTreeSet<String>>) -> Self {
        Self { slugs }
    }

    /// Learns from the links of a page; keeps what is known.
    pub fn learn<'a>(&mut self, urls: impl Iterator<Item = &'a CrawlUrl> + Clone) {
        // The words in a position decide whether it is a slug, and the next position's prefix depends on that: one
        // depth per iteration.
        for _ in 0..4 {
            let mut seen: BTreeMap<String, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
            for url in urls.clone() {
                let parts = parts(url);
                let mut prefix = String::new();
                for part in &parts {
                    let text = &url.as_str()[part.at.clone()];
                    if part.kind == Kind::Word && !self.slugs.contains_key(&prefix) {
                        let rest = &url.as_str()[part.at.end..];
                        // A number in the same path segment belongs to the word: a slug has one, the name of a kind
                        // many.
                        let piece = rest.split(['/', '?', '&']).next().unwrap_or_default();
                        let rest = if piece.bytes().any(|byte| byte.is_ascii_digit()) { piece } else { rest };
                        let rests = seen.entry(prefix.clone()).or_default().entry(text).or_default();
                        rests.insert(rest);
                        // Words at the root name kinds, even with few pages each; only final ones can be slugs.
                        if prefix == "/" && !matches!(rest, "" | "/") {
                            rests.extend(["/", "?", "&"]);
                        }
                    }
                    let ends = matches!(&url.as_str()[part.at.end..], "" | "/");
                    self.describe(&mut prefix, part, text, ends);
                }
            }
            let before = self.slugs.len();
            for (prefix, words) in seen {
                let is_slug = |(word, rests): &(&&str, &BTreeSet<&str>)| {
                    rests.len() <= CONTINUATIONS && !NAMES.contains(&word.to_ascii_lowercase().as_str())
                };
                let (slugs, names): (Vec<_>, Vec<_>) = words.iter().partition(is_slug);
                let least = if prefix.ends_with("}/") { VARIETY_BELOW } else { VARIETY };
                if slugs.len() >= least && slugs.len() > 2 * names.len() {
                    let names = names.into_iter().map(|(word, _)| (*word).to_owned()).collect();
                    self.slugs.insert(prefix, names);
                }
            }
            if self.slugs.len() == before {
                break;
            }
        }
    }

    /// The class of a URL, and its values.
    pub fn classify(&self, url: &CrawlUrl) -> MatchedUrl {
        let (mut class, mut slots) = (String::new(), Vec::new());
        for part in parts(url) {
            let text = &url.as_str()[part.at.clone()];
            let ends = matches!(&url.as_str()[part.at.end..], "" | "/");
            if self.describe(&mut class, &part, text, ends) {
                slots.push(UrlSlot { number: part.kind == Kind::Number, at: part.at });
            }
        }
        MatchedUrl { url: url.clone(), class: UrlClass(class.into()), slots }
    }

    /// Adds a part to the text of a class. Returns whether it is a value. `ends`: it is the last part.
    fn describe(&self, class: &mut String, part: &Part, text: &str, ends: bool) -> bool {
        if part.kind == Kind::Name {
            // Sorted by name, so the signs follow the new order.
            class.push(if class.contains('?') { '&' } else { '?' });
            class.push_str(&text[1..]);
            return false;
        }
        let placeholder = match part.kind {
            Kind::Fixed | Kind::Name => None,
            Kind::Word if class == "/" && !ends => None,
            Kind::Word if NAMES.contains(&text.to_ascii_lowercase().as_str()) => None,
            Kind::Word => self.slugs.get(class).filter(|names| !names.contains(text)).map(|_| "{s}"),
            Kind::Number => Some("{n}"),
            Kind::Code => Some("{h}"),
            Kind::Slug => Some("{s}"),
        };
        let _ = class.write_str(placeholder.unwrap_or(text));
        placeholder.is_some()
    }
}

/// A URL without these session parameters.
pub fn without(url: &CrawlUrl, names: &BTreeSet<String>) -> CrawlUrl {
    let Some(query) = url.query().filter(|_| !names.is_empty()) else { return url.clone() };
    let keeps = |pair: &&str| !names.contains(pair.split('=').next().unwrap_or_default());
    let rest: Vec<&str> = query.split('&').filter(keeps).collect();
    let bare = &url.as_str()[..url.as_str().len() - query.len() - 1];
    let text = if rest.is_empty() { bare.to_owned() } else { format!("{bare}?{}", rest.join("&")) };
    CrawlUrl::parse(&text).unwrap_or_else(|_| url.clone())
}

/// Names of session parameters: those with the same code on all links of a page that have them, at least three.
pub fn sessions<'a>(urls: impl Iterator<Item = &'a CrawlUrl>) -> BTreeSet<String> {
    let mut codes: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for pair in urls.filter_map(CrawlUrl::query).flat_map(|query| query.split('&')) {
        let Some((name, value)) = pair.split_once('=') else { continue };
        let is_code = value.len() >= CODE
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && value.bytes().any(|byte| byte.is_ascii_digit());
        let (times, values) = codes.entry(name).or_default();
        *times += 1;
        values.insert(if is_code { value } else { "" });
    }
    let same =
        codes.into_iter().filter(|(_, (times, values))| *times >= 3 && values.len() == 1 && !values.contains(""));
    same.map(|(name, _)| name.to_owned()).collect()
}

/// Parts of the path and the parameters, which are sorted by name.
fn parts(url: &CrawlUrl) -> Vec<Part> {
    let text = url.as_str();
    let start = text.len() - url.query().map_or(0, |query| query.len() + 1) - url.path().len();
    let mut parts = Vec::new();
    let mut at = start;
    for piece in url.path().split_inclusive('/') {
        segment(text, at..at + piece.len(), &mut parts);
        at += piece.len();
    }
    if let Some(query) = url.query() {
        let mut at = text.len() - query.len();
        let mut pairs: Vec<Range<usize>> = Vec::new();
        for pair in query.split('&') {
            pairs.push(at..at + pair.len());
            at += pair.len() + 1;
        }
        pairs.sort_by_key(|pair| &text[pair.clone()]);
        for pair in pairs {
            let name = text[pair.clone()].find('=').map_or(pair.end, |eq| pair.start + eq + 1);
            parts.push(Part { kind: Kind::Name, at: pair.start - 1..name });
            segment(text, name..pair.end, &mut parts);
        }
    }
    parts
}

/// Parts of a path segment or a value: words, numbers and codes between separators.
fn segment(text: &str, range: Range<usize>, parts: &mut Vec<Part>) {
    let bytes = text.as_bytes();
    let is_letter = |at: usize| bytes[at].is_ascii_alphabetic() || bytes[at] == b'%' || bytes[at] >= 0x80;
    let first = parts.len();
    if titled(text, range.clone(), parts) {
        return;
    }
    let mut at = range.start;
    while at < range.end {
        let begin = at;
        // An escape is a letter of another script, its digits are not digits.
        let step = |at: usize| if bytes[at] == b'%' { 3 } else { 1 };
        if bytes[at].is_ascii_digit() || is_letter(at) {
            while at < range.end && (bytes[at].is_ascii_digit() || is_letter(at)) {
                at = (at + step(at)).min(range.end);
            }
            run(text, begin..at, parts);
        } else {
            at += 1;
            parts.push(Part { kind: Kind::Fixed, at: begin..at });
        }
    }
    join_slugs(text, parts, first, range.end);
}

/// Parts of a run of letters and digits: a word, a number, a word and a number, or a code.
fn run(text: &str, range: Range<usize>, parts: &mut Vec<Part>) {
    let run = &text[range.clone()];
    if run.bytes().all(|byte| byte.is_ascii_digit()) {
        parts.push(Part { kind: Kind::Number, at: range });
        return;
    }
    if run.contains('%') || !run.is_ascii() {
        parts.push(Part { kind: Kind::Slug, at: range });
        return;
    }
    let digits = run.len() - run.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let letters = &run[..run.len() - digits];
    if run.len() >= CODE && run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        parts.push(Part { kind: Kind::Code, at: range });
    } else if let Some(word) = page_word(run) {
        // `79001p2`: the second page of 79001.
        let (from, to) = (range.start + word.start, range.start + word.end);
        parts.push(Part { kind: Kind::Number, at: range.start..from });
        parts.push(Part { kind: Kind::Word, at: from..to });
        parts.push(Part { kind: Kind::Number, at: to..range.end });
    } else if letters.bytes().any(|byte| byte.is_ascii_digit()) {
        let kind = if run.len() >= 4 { Kind::Code } else { Kind::Word };
        parts.push(Part { kind, at: range });
    } else {
        let middle = range.end - digits;
        parts.push(Part { kind: Kind::Word, at: range.start..middle });
        if digits > 0 {
            parts.push(Part { kind: Kind::Number, at: middle..range.end });
        }
    }
}

/// The word for a page between two numbers.
fn page_word(run: &str) -> Option<Range<usize>> {
    const WORDS: [&str; 3] = ["p", "pg", "page"];
    let from = run.find(|c: char| !c.is_ascii_digit())?;
    let to = from + run[from..].find(|c: char| c.is_ascii_digit())?;
    let numbers = from > 0 && run[to..].bytes().all(|byte| byte.is_ascii_digit());
    (numbers && WORDS.iter().any(|word| run[from..to].eq_ignore_ascii_case(word))).then_some(from..to)
}

/// Handles a segment with an id and a title, such as `12-第3次`, `12-part-2`, `di-3ci-tao-lun-12`: the number and its
/// separator are parts, the rest is the slug. Returns whether it was one.
fn titled(text: &str, range: Range<usize>, parts: &mut Vec<Part>) -> bool {
    let end = range.start + text[range.clone()].trim_end_matches('/').len();
    let piece = &text[range.start..end];
    let is_joint = |c: char| matches!(c, '-' | '_' | '.' | ':');
    let is_letter = |c: char| c.is_alphabetic() || c == '%';
    let push = |parts: &mut Vec<Part>, kind: Kind, at: Range<usize>| parts.push(Part { kind, at });
    let digits = piece.len() - piece.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let following = &piece[digits..];
    // `79001-2.html` has no title.
    let extension =
        |rest: &str| (2..=6).contains(&rest.len()) && rest[1..].bytes().all(|byte| byte.is_ascii_alphanumeric());
    let title =
        following.rfind('.').filter(|&dot| extension(&following[dot..])).map_or(following, |dot| &following[..dot]);
    if digits > 0 && following.starts_with(is_joint) && title.contains(is_letter) {
        push(parts, Kind::Number, range.start..range.start + digits);
        push(parts, Kind::Fixed, range.start + digits..range.start + digits + 1);
        push(parts, Kind::Slug, range.start + digits + 1..end);
    } else {
        let last = piece.len() - piece.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let head = &piece[..piece.len() - last];
        // A word with digits and letters suggests a title; `thread-12-1-1` has none.
        let is_title = |head: &str| {
            let mixed = |word: &str| {
                word.starts_with(|c: char| c.is_ascii_digit()) && word.contains(|c: char| c.is_ascii_alphabetic())
            };
            head.split(is_joint).filter(|word| !word.is_empty()).count() >= 3 && head.split(is_joint).any(mixed)
        };
        if last == 0 || !head.ends_with(is_joint) || head.len() < 2 || !is_title(head) {
            return false;
        }
        push(parts, Kind::Slug, range.start..range.start + head.len() - 1);
        push(parts, Kind::Fixed, range.start + head.len() - 1..range.start + head.len());
        push(parts, Kind::Number, range.start + head.len()..end);
    }
    if end < range.end {
        push(parts, Kind::Fixed, end..range.end);
    }
    true
}

/// Joins hyphenated words of a segment into one word; after a number, or if long, it is a slug.
fn join_slugs(text: &str, parts: &mut Vec<Part>, first: usize, end: usize) {
    let mut joined: Vec<Part> = Vec::with_capacity(parts.len() - first);
    let is_word = |part: &Part| matches!(part.kind, Kind::Word | Kind::Slug);
    let is_joint =
        |part: &Part| part.kind == Kind::Fixed && matches!(&text[part.at.clone()], "-" | "_" | "+" | "," | "~" | "!");
    let mut at = first;
    while at < parts.len() {
        let part = parts[at].clone();
        let word_before = |joined: &[Part]| joined.len() >= 2 && is_word(&joined[joined.len() - 2]);
        if is_word(&part) && joined.last().is_some_and(is_joint) && word_before(&joined) {
            joined.pop();
            let before = joined.last_mut().expect("a word precedes the joint");
            before.at.end = part.at.end;
            if part.kind == Kind::Slug {
                before.kind = Kind::Slug;
            }
        } else {
            joined.push(part);
        }
        at += 1;
    }
    for at in 0..joined.len() {
        let word = &text[joined[at].at.clone()];
        let behind_number = at >= 2
            && joined[at - 2].kind == Kind::Number
            && matches!(&text[joined[at - 1].at.clone()], "-" | "_" | "." | ":");
        // The last word after a dot is an extension: .html, .php.
        let rest = text[joined[at].at.end..end].trim_end_matches('/');
        let extension = at >= 1 && &text[joined[at - 1].at.clone()] == "." && rest.is_empty() && word.len() <= 5;
        if joined[at].kind != Kind::Word {
            continue;
        }
        let script = text[joined[at].at.end..end]
            .strip_prefix('.')
            .is_some_and(|rest| SCRIPTS.contains(&rest.trim_end_matches('/')));
        if extension || script {
            joined[at].kind = Kind::Fixed;
        } else if behind_number || word.len() > WORD || word.matches(['-', '_']).count() >= 3 {
            joined[at].kind = Kind::Slug;
        }
    }
    parts.truncate(first);
    parts.extend(joined);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://bbs.cn{path}")).unwrap()
    }

    fn class(path: &str) -> String {
        UrlClassifier::default().classify(&url(path)).class.to_string()
    }

    #[test]
    fn scripts_and_names_of_parameters_make_the_class() {
        assert_eq!(class("/viewtopic.php?t=12&f=3"), "/viewtopic.php?f={n}&t={n}");
        assert_eq!(class("/forum.php?mod=viewthread&tid=3"), "/forum.php?mod=viewthread&tid={n}");
        assert_eq!(class("/thread-123-1-1.html"), "/thread-{n}-{n}-{n}.html");
        assert_eq!(class("/t/5567"), "/t/{n}");
        assert_eq!(class("/topic/12-hello-world"), "/topic/{n}-{s}");
        assert_eq!(class("/topic/13-di-3ci-tao-lun-:shuang-da-2"), "/topic/{n}-{s}");
        assert_eq!(class("/topic/di-3ci-tao-lun-13/"), "/topic/{s}-{n}/");
        assert_eq!(class("/thread-123-2.html"), "/thread-{n}-{n}.html");
        assert_eq!(class("/talk/5/1013.html"), "/talk/{n}/{n}.html");
        assert_eq!(class("/f?kw=%E8%B6%B3%E7%90%83&pn=50"), "/f?kw={s}&pn={n}");
        assert_eq!(class("/index.php?topic=5.20"), "/index.php?topic={n}.{n}");
        assert_eq!(class("/s/0123456789abcdef0123"), "/s/{h}");
        assert_eq!(class("/bbs/topic-post591.html"), "/bbs/topic-post{n}.html");
        assert_eq!(class("/t/79001.html"), "/t/{n}.html");
        assert_eq!(class("/t/79001-2.html"), "/t/{n}-{n}.html");
        assert_eq!(class("/t/79001_2.htm"), "/t/{n}_{n}.htm");
        assert_eq!(class("/t/79001-part-2.html"), "/t/{n}-{s}");
        assert_eq!(class("/p/79001p2.html"), "/p/{n}p{n}.html");
        assert_eq!(class("/p/79001p2b"), "/p/{h}");
    }

    #[test]
    fn values_can_be_replaced() {
        let matched = UrlClassifier::default().classify(&url("/viewforum.php?f=2&start=50"));
        let values: Vec<&str> = matched.values().collect();
        assert_eq!(values, ["2", "50"]);
        assert_eq!(matched.with(1, 100).unwrap(), url("/viewforum.php?f=2&start=100"));
        assert_eq!((matched.number(1), matched.number(2)), (Some(50), None));
    }

    #[test]
    fn words_of_which_there_are_many_are_slugs_and_names_of_kinds_are_not() {
        let urls: Vec<CrawlUrl> = [
            "/forum/forum/general-1/",
            "/forum/forum/news-2/",
            "/forum/forum/chat-3/",
            "/forum/forum/general-1/topic/hello-5/",
            "/forum/forum/general-1/topic/again-6/",
            "/forum/forum/news-2/topic/what-now-7/",
            "/forum/member/bob/",
            "/forum/search/",
        ]
        .map(url)
        .to_vec();
        let mut classifier = UrlClassifier::default();
        classifier.learn(urls.iter());
        let class = |path: &str| classifier.classify(&url(path)).class.to_string();
        assert_eq!(class("/forum/forum/other-9/"), "/forum/forum/{s}-{n}/");
        assert_eq!(class("/forum/forum/other-9/topic/new-12/"), "/forum/forum/{s}-{n}/topic/{s}-{n}/");
        // Actions on one item are not slugs.
        let below = ["page-2", "top", "rss", "new"].map(|word| url(&format!("/forum/forum/general-1/{word}")));
        classifier.learn(below.iter());
        assert_eq!(classifier.classify(&below[0]).class.as_str(), "/forum/forum/{s}-{n}/page-{n}");
        // Words at the root are literal, although each leads to only one page.
        let urls: Vec<CrawlUrl> =
            ["/login", "/help", "/signup", "/faq", "/forum/a-1/", "/forum/b-2/", "/forum/c-3/", "/t/5"]
                .map(url)
                .to_vec();
        let mut classifier = UrlClassifier::default();
        classifier.learn(urls.iter());
        assert_eq!(classifier.classify(&url("/forum/d-4/")).class.as_str(), "/forum/{s}-{n}/");
        assert_eq!(classifier.classify(&url("/u/7")).class.as_str(), "/u/{n}");
        // A few words with many numbers each name kinds.
        let urls: Vec<CrawlUrl> = (1..6)
            .flat_map(|n| ["forum", "topic", "profile", "post"].map(|word| url(&format!("/bbs/{word}-{n}.html"))))
            .collect();
        let mut classifier = UrlClassifier::default();
        classifier.learn(urls.iter());
        assert_eq!(classifier.classify(&url("/bbs/topic-77.html")).class.as_str(), "/bbs/topic-{n}.html");
    }

    #[test]
    fn sessions_are_reported_by_being_the_same_everywhere() {
        let urls: Vec<CrawlUrl> =
            (0..4).map(|n| url(&format!("/showthread.php?visit=0123456789abcdef0123456789abcdef&t={n}"))).collect();
        let names = sessions(urls.iter());
        assert_eq!(names.iter().collect::<Vec<_>>(), ["visit"]);
        assert_eq!(without(&urls[2], &names), url("/showthread.php?t=2"));
        let hashes: Vec<CrawlUrl> = (0..4).map(|n| url(&format!("/t?h=0123456789abcdef012345678{n}"))).collect();
        assert!(sessions(hashes.iter()).is_empty(), "they differ: they are names");
    }
}
