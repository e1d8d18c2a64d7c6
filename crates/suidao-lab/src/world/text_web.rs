//! A web of a few pages written down as text, for tests of strategies and of the machine.

use std::collections::BTreeMap;

use bytes::Bytes;
use thiserror::Error;

use super::answer::{answer, failure, missing, moved};
use super::draw::Draw;
use super::words::{NEAR_TOPIC, THEMES, WORDS};
use super::write;
use suidao_crawl::replay::Web;
use suidao_page::model::{CrawlUrl, Failure, FailureKind, Fetched};

/// A small web from a text, one line for each URL.
///
/// ```
/// use suidao_page::model::CrawlUrl;
/// use suidao_crawl::replay::Web;
/// use suidao_lab::world::TextWeb;
///
/// let web = TextWeb::parse("
///     ## URL                what   -> links: where and anchor text, | between them; ! before a link says nofollow
///     http://a.test/           on  -> /x 足球比赛 | http://b.test/ 友情链接 | !/r 广告
///     http://a.test/x          off -> y 更多 | /gone
///     http://a.test/y          near                  # near the topic, no links
///     http://a.test/r          301 http://a.test/x
///     http://a.test/gone       503 30                # any other status; here with Retry-After: 30
///     http://a.test/robots.txt robots Disallow: /x | Crawl-delay: 2
///     http://b.test/           timeout               # or dns, connect, broken
/// ").unwrap();
///
/// let home = CrawlUrl::parse("http://a.test/").unwrap();
/// assert!(web.is_relevant(&home));
/// assert!(String::from_utf8_lossy(&web.get(&home).unwrap().body).contains("<a href=\"/x\">足球比赛</a>"));
/// assert_eq!(web.get(&home.join("/r").unwrap()).unwrap().header("location"), Some("http://a.test/x"));
/// assert_eq!(web.get(&home.join("/nowhere").unwrap()).unwrap().status, 404);
/// assert!(web.get(&home.join("http://unknown.test/").unwrap()).is_err());
/// ```
///
/// The text of a page is about sports (`on`), near it (`near`: sports schools, gyms, tickets) or about something else
/// (`off`), always of the same length in sentences, and different for every URL. A link's anchor may be left out.
/// `#` starts a comment at the start of a line or after white space.
#[derive(Clone, Debug)]
pub struct TextWeb {
    answers: BTreeMap<CrawlUrl, (Flavour, Result<Fetched, Failure>)>,
    hosts: std::collections::BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flavour {
    On,
    Near,
    Off,
    NoPage,
}

/// A line that is not in the notation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} of the text web: {what}")]
pub struct TextWebError {
    /// From 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

impl TextWeb {
    /// Reads a web; the notation is shown [above](TextWeb).
    ///
    /// # Errors
    /// [`TextWebError`] at the first line that is not in it, or names a URL again.
    pub fn parse(text: &str) -> Result<Self, TextWebError> {
        let mut web = Self { answers: BTreeMap::new(), hosts: std::collections::BTreeSet::new() };
        for (at, line) in text.lines().enumerate() {
            let line = without_comment(line).trim();
            if !line.is_empty() {
                web.add(line).map_err(|what| TextWebError { line: at + 1, what })?;
            }
        }
        Ok(web)
    }

    /// Whether the page is written `on`.
    pub fn is_relevant(&self, url: &CrawlUrl) -> bool {
        self.answers.get(url).is_some_and(|(flavour, _)| *flavour == Flavour::On)
    }

    /// The URLs that answer with a page, in order of URL.
    pub fn pages(&self) -> impl Iterator<Item = &CrawlUrl> {
        self.answers.iter().filter(|(_, (flavour, _))| *flavour != Flavour::NoPage).map(|(url, _)| url)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let (url, rest) = split_word(line);
        let (what, rest) = split_word(rest);
        let url = CrawlUrl::parse(url).map_err(|error| format!("{url}: {error}"))?;
        let (flavour, result) = match what {
            "on" => (Flavour::On, Ok(page(&url, Flavour::On, rest)?)),
            "near" => (Flavour::Near, Ok(page(&url, Flavour::Near, rest)?)),
            "off" => (Flavour::Off, Ok(page(&url, Flavour::Off, rest)?)),
            "dns" => (Flavour::NoPage, Err(failure(FailureKind::Dns))),
            "connect" => (Flavour::NoPage, Err(failure(FailureKind::Connect))),
            "timeout" => (Flavour::NoPage, Err(failure(FailureKind::Timeout))),
            "broken" => (Flavour::NoPage, Err(failure(FailureKind::Broken))),
            "robots" => (Flavour::NoPage, Ok(robots(&url, rest))),
            status => (Flavour::NoPage, Ok(status_answer(&url, status, rest)?)),
        };
        self.hosts.insert(url.authority().to_owned());
        match self.answers.insert(url, (flavour, result)) {
            None => Ok(()),
            Some(_) => Err("the URL stands there already".to_owned()),
        }
    }
}

impl Web for TextWeb {
    /// URLs not written down are 404 on a host that is, and [`FailureKind::Dns`] on any other.
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        match self.answers.get(url) {
            Some((_, result)) => result.clone(),
            None if self.hosts.contains(url.authority()) => Ok(missing(url)),
            None => Err(failure(FailureKind::Dns)),
        }
    }
}

fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.find(" #").map_or(line, |at| &line[..at])
}

/// The first word and the rest, both trimmed.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

fn page(url: &CrawlUrl, flavour: Flavour, rest: &str) -> Result<Fetched, String> {
    let mut links = String::new();
    if !rest.is_empty() {
        let list = rest.strip_prefix("->").ok_or_else(|| format!("expected -> before the links, found {rest}"))?;
        for link in list.split('|').map(str::trim).filter(|link| !link.is_empty()) {
            let (target, anchor) = split_word(link);
            let (rel, target) = match target.strip_prefix('!') {
                Some(target) => (" rel=\"nofollow\"", target),
                None => ("", target),
            };
            url.join(target).map_err(|error| format!("link to {target}: {error}"))?;
            links.push_str(&format!("<p><a href=\"{}\"{rel}>{anchor}</a></p>\n", target.replace('&', "&amp;")));
        }
    }
    let mut draw = Draw::new(0, 0, url.fingerprint());
    let on = draw.below(THEMES as u64) as usize;
    let off = THEMES + draw.below((WORDS.topics.len() - THEMES) as u64) as usize;
    let (mut title, mut text) = (String::new(), String::new());
    for sentence in 0..6 {
        let out = if sentence == 0 { &mut title } else { &mut text };
        match flavour {
            Flavour::Near => write::sentence(NEAR_TOPIC, &mut draw, out),
            Flavour::On => write::sentence(on, &mut draw, out),
            Flavour::Off | Flavour::NoPage => write::sentence(off, &mut draw, out),
        }
    }
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"zh-CN\"><head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body><article><p>{text}</p>\n{links}</article></body></html>\n"
    );
    Ok(answer(url, 200, "text/html; charset=utf-8", &[], Bytes::from(html)))
}

fn robots(url: &CrawlUrl, rules: &str) -> Fetched {
    let rules: Vec<&str> = rules.split('|').map(str::trim).collect();
    let text = format!("User-agent: *\n{}\n", rules.join("\n"));
    answer(url, 200, "text/plain; charset=utf-8", &[], Bytes::from(text))
}

fn status_answer(url: &CrawlUrl, status: &str, rest: &str) -> Result<Fetched, String> {
    let code: u16 = status.parse().ok().filter(|code| (200..600).contains(code)).ok_or_else(|| {
        format!("expected on, off, near, dns, connect, timeout, broken, robots or a status, found {status:?}")
    })?;
    if (300..400).contains(&code) {
        let to = url.join(rest).map_err(|error| format!("redirect to {rest:?}: {error}"))?;
        return Ok(moved(url, code, to.as_str()));
    }
    let wait = [("retry-after", rest.to_owned())];
    let more = if rest.is_empty() { &wait[..0] } else { &wait[..] };
    Ok(answer(url, code, "text/html; charset=utf-8", more, Bytes::from(format!("<p>{code}</p>"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_wrong_is_named() {
        let error = |text: &str| TextWeb::parse(text).unwrap_err().to_string();
        assert!(error("\n\nhttp://a.test/ maybe").starts_with("line 3 of the text web: expected on, off"));
        assert!(error("a.test on").contains("a.test"));
        assert!(error("http://a.test/ on /x").contains("expected ->"));
        assert!(error("http://a.test/ on -> mailto:x").contains("mailto"));
        assert!(error("http://a.test/ on\nhttp://a.test off").contains("line 2"));
        assert!(error("http://a.test/ 301 ftp://b/").contains("redirect"));
    }

    #[test]
    fn what_is_written_is_answered() {
        let web = TextWeb::parse(
            "http://a.test/ off -> /x?a=1&b=2 | !b.html 看\nhttp://a.test/s 503 30\nhttp://b.test/ timeout\n\
             http://a.test/robots.txt robots Disallow: /x | Crawl-delay: 2",
        )
        .unwrap();
        let get = |url: &str| web.get(&CrawlUrl::parse(url).unwrap());
        let home = String::from_utf8(get("http://a.test/").unwrap().body.to_vec()).unwrap();
        assert!(home.contains("<a href=\"/x?a=1&amp;b=2\"></a>"), "{home}");
        assert!(home.contains("<a href=\"b.html\" rel=\"nofollow\">看</a>"), "{home}");
        assert_eq!(get("http://a.test/s").unwrap().header("retry-after"), Some("30"));
        assert_eq!(get("http://b.test/").unwrap_err().kind, FailureKind::Timeout);
        assert_eq!(get("http://c.test/").unwrap_err().kind, FailureKind::Dns);
        let robots = get("http://a.test/robots.txt").unwrap().body;
        assert_eq!(robots, "User-agent: *\nDisallow: /x\nCrawl-delay: 2\n");
        assert_eq!(web.pages().count(), 1);
    }
}
