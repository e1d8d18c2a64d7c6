//! A web of a few pages, written as text.

use std::collections::BTreeMap;

use bytes::Bytes;
use suidao::model::{CrawlUrl, Failure, FailureKind, Fetched};
use suidao::replay::Web;

/// A small web from a text, one line for each URL.
///
/// ```text
/// http://a.test/           on  -> /x 足球比赛 | http://b.test/ 友情链接 | !/r 广告     links, ! is nofollow
/// http://a.test/x          off -> y 更多 | /gone
/// http://a.test/r          301 http://a.test/x
/// http://a.test/gone       503 30                any other status; here with Retry-After: 30
/// http://a.test/robots.txt robots Disallow: /x | Crawl-delay: 2
/// http://b.test/           timeout               or dns, connect, broken
/// ```
///
/// The text of a page is about sports (`on`) or about something else (`off`), and different for every URL. A link's
/// anchor may be left out. `#` starts a comment at the start of a line or after white space.
#[derive(Clone, Debug)]
pub struct TextWeb {
    answers: BTreeMap<CrawlUrl, Result<Fetched, Failure>>,
    hosts: std::collections::BTreeSet<String>,
}

impl TextWeb {
    /// Reads a web; an error names the first line that is not in the notation.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut web = Self { answers: BTreeMap::new(), hosts: std::collections::BTreeSet::new() };
        for (at, line) in text.lines().enumerate() {
            let line = without_comment(line).trim();
            if !line.is_empty() {
                web.add(line).map_err(|what| format!("line {} of the text web: {what}", at + 1))?;
            }
        }
        Ok(web)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let (url, rest) = split_word(line);
        let (what, rest) = split_word(rest);
        let url = CrawlUrl::parse(url).map_err(|error| format!("{url}: {error}"))?;
        let failed = |kind| Err(Failure { kind, retry_after: None });
        let result = match what {
            "on" => Ok(page(&url, "足球比赛，球队夺冠，球迷和主教练都在谈联赛的决赛。", rest)?),
            "off" => Ok(page(&url, "菜谱里说，先把生姜切好，再用小火慢慢炖汤。", rest)?),
            "dns" => failed(FailureKind::Dns),
            "connect" => failed(FailureKind::Connect),
            "timeout" => failed(FailureKind::Timeout),
            "broken" => failed(FailureKind::Broken),
            "robots" => Ok(robots(&url, rest)),
            status => Ok(status_answer(&url, status, rest)?),
        };
        self.hosts.insert(url.authority().to_owned());
        match self.answers.insert(url, result) {
            None => Ok(()),
            Some(_) => Err("the URL is there already".to_owned()),
        }
    }
}

impl Web for TextWeb {
    /// Unknown URLs are 404 on a known host, and [`FailureKind::Dns`] on any other.
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        match self.answers.get(url) {
            Some(result) => result.clone(),
            None if self.hosts.contains(url.authority()) => Ok(answer(url, 404, "text/html", &[], "<p>404</p>".into())),
            None => Err(Failure { kind: FailureKind::Dns, retry_after: None }),
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

fn page(url: &CrawlUrl, text: &str, rest: &str) -> Result<Fetched, String> {
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
    let (title, number) = (text.split('，').next().unwrap_or_default(), url.fingerprint());
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"zh-CN\"><head><meta charset=\"utf-8\"><title>{title} {number}</title></head>\n\
         <body><article><p>{text}编号{number}。</p>\n{links}</article></body></html>\n"
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
        format!("expected on, off, dns, connect, timeout, broken, robots or a status, found {status:?}")
    })?;
    if (300..400).contains(&code) {
        let to = url.join(rest).map_err(|error| format!("redirect to {rest:?}: {error}"))?;
        let to = [("location", to.as_str().to_owned())];
        return Ok(answer(url, code, "text/html", &to, Bytes::new()));
    }
    let wait = [("retry-after", rest.to_owned())];
    let more = if rest.is_empty() { &wait[..0] } else { &wait[..] };
    Ok(answer(url, code, "text/html; charset=utf-8", more, Bytes::from(format!("<p>{code}</p>"))))
}

fn answer(url: &CrawlUrl, status: u16, media: &str, more: &[(&str, String)], body: Bytes) -> Fetched {
    let mut headers = vec![("content-type".to_owned(), media.to_owned())];
    headers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Fetched {
        url: url.clone(),
        status,
        headers,
        body,
        wire: None,
        request_validators: None,
        rendered: None,
        unverified: false,
    }
}
