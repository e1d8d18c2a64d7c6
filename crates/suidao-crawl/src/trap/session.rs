//! Session ids: parameters that differ on each visit and change nothing. URL normalisation (`model/url.rs`) removes
//! those with known names, and configured ones are removed before a URL gets its number. Others are recognised by their
//! effect: the same page arrived under two values, and so did a second page.
//!
//! One page is not enough, because a login wall, a captcha or an error message is the same for every URL. Conclusions
//! are revised: if a page cannot be fetched without the parameter, or differs, the parameter is not a session id.

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use serde::{Deserialize, Serialize};

use suidao_page::model::{CrawlUrl, HostId, Sketch};
use suidao_page::text::simhash::distance;

/// Minimum length of a value that may be an id.
const MIN_CODE_LENGTH: usize = 8;
/// Maximum number of pages stored for comparison.
const MAX_PAGES: usize = 1 << 16;
/// Maximum Hamming distance between equal pages.
const MAX_DISTANCE: u32 = 3;
/// Texts with fewer characters may be alike only because of the template.
const MIN_CHARS: u32 = 120;

/// The URL without parameters of these names (in any case); none if it has none.
pub fn without(url: &CrawlUrl, is_session: impl Fn(&str) -> bool) -> Option<CrawlUrl> {
    let query = url.query()?;
    let named = |pair: &&str| is_session(pair.split('=').next().unwrap_or_default());
    if !query.split('&').any(|pair| named(&pair)) {
        return None;
    }
    let rest: Vec<&str> = query.split('&').filter(|pair| !named(pair)).collect();
    let base = &url.as_str()[..url.as_str().len() - query.len() - 1];
    let text = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
    CrawlUrl::parse(&text).ok()
}

/// Whether a value looks random: long, with letters and digits or with many digits.
pub fn is_code(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    value.len() >= MIN_CODE_LENGTH
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && (digits >= 2 && letters >= 2 || digits >= 16)
}

/// A page fetched under one value.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct SessionVisit {
    value: u32,
    digest: u64,
    simhash: u64,
}

impl SessionVisit {
    fn is_same(&self, sketch: Sketch) -> bool {
        self.digest == sketch.digest
            || sketch.chars >= MIN_CHARS && distance(self.simhash, sketch.simhash) <= MAX_DISTANCE
    }
}

/// Evidence for or against a parameter being a session id.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Evidence {
    /// One page arrived under two values.
    Suspected(SessionVisit),
    /// It is a session id; the number of pages that were the same without it since.
    Confirmed(u32),
    /// It changed a page.
    Refuted,
}

/// Evidence about parameters: a fold of a crawl's pages. Memory: 32 bytes per page with an id in its query, at most
/// 65,536 of them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Sessions {
    /// By hash of the URL without the parameter, and its name.
    came: FxHashMap<u64, SessionVisit>,
    evidence: FxHashMap<(HostId, Box<str>), Evidence>,
    known: FxHashSet<(HostId, Box<str>)>,
    hosts: FxHashSet<HostId>,
}

impl Sessions {
    /// Records a page; returns the parameters newly recognised as session ids. `missing`: it is a soft 404.
    pub fn observe(&mut self, host: HostId, url: &CrawlUrl, sketch: Sketch, missing: bool) -> Vec<String> {
        let mut found = Vec::new();
        if sketch.chars == 0 || missing {
            return found;
        }
        for (name, value) in
            url.query().into_iter().flat_map(|query| query.split('&')).filter_map(|pair| pair.split_once('='))
        {
            if !is_code(value) || self.is_session(host, name) {
                continue;
            }
            let Some(rest) = without(url, |other| other == name) else { continue };
            let key = key(&rest, name);
            let came = SessionVisit {
                value: xxh3_64(value.as_bytes()) as u32,
                digest: sketch.digest,
                simhash: sketch.simhash,
            };
            let before = match self.came.get(&key) {
                Some(before) => *before,
                None if self.came.len() < MAX_PAGES => {
                    self.came.insert(key, came);
                    continue;
                }
                None => continue,
            };
            if before.value == came.value {
                continue;
            }
            self.came.insert(key, came);
            let same = before.is_same(sketch);
            let evidence = self.evidence.get(&(host, name.into())).copied();
            let now = match evidence {
                _ if !same => Evidence::Refuted,
                None if sketch.chars >= MIN_CHARS => Evidence::Suspected(came),
                Some(Evidence::Suspected(first)) if sketch.chars >= MIN_CHARS && !first.is_same(sketch) => {
                    found.push(name.to_owned());
                    Evidence::Confirmed(0)
                }
                _ => continue,
            };
            self.evidence.insert((host, name.into()), now);
        }
        found
    }

    /// Records a page fetched without session ids; returns the parameters that would have changed it.
    pub fn check(&mut self, host: HostId, url: &CrawlUrl, sketch: Sketch) -> Vec<String> {
        let mut wrong = Vec::new();
        for (name, came) in self.dropped_from(host, url) {
            let evidence = self.evidence.entry((host, name.clone())).or_insert(Evidence::Confirmed(0));
            match evidence {
                Evidence::Confirmed(same) if came.is_same(sketch) => *same = same.saturating_add(1),
                // A page may have changed meanwhile.
                Evidence::Confirmed(same) if *same > 0 => *same -= 1,
                _ => wrong.push(name.into_string()),
            }
        }
        wrong
    }

    /// The parameters without which this URL failed although its page was first fetched with them; except those without
    /// which other pages were fetched.
    pub fn needed(&self, host: HostId, url: &CrawlUrl) -> Vec<String> {
        let mut dropped = self.dropped_from(host, url);
        dropped.retain(|(name, _)| !matches!(self.evidence.get(&(host, name.clone())), Some(Evidence::Confirmed(1..))));
        dropped.into_iter().map(|(name, _)| name.into_string()).collect()
    }

    /// The recognised session ids under which the page of this URL was first fetched, by name.
    fn dropped_from(&self, host: HostId, url: &CrawlUrl) -> Vec<(Box<str>, SessionVisit)> {
        if !self.hosts.contains(&host) {
            return Vec::new();
        }
        let names = self.known.iter().filter(|(of, _)| *of == host).map(|(_, name)| name);
        let came = |name: &str| self.came.get(&key(url, name)).map(|came| (name.into(), *came));
        let mut dropped: Vec<(Box<str>, SessionVisit)> = names.filter_map(|name| came(name)).collect();
        dropped.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        dropped
    }

    pub fn learn(&mut self, host: HostId, name: &str) {
        self.known.insert((host, name.into()));
        self.hosts.insert(host);
    }

    /// Records that the parameter is not a session id, finally.
    pub fn unlearn(&mut self, host: HostId, name: &str) {
        self.known.remove(&(host, name.into()));
        self.evidence.insert((host, name.into()), Evidence::Refuted);
        if !self.known.iter().any(|(of, _)| *of == host) {
            self.hosts.remove(&host);
        }
    }

    fn is_session(&self, host: HostId, name: &str) -> bool {
        self.hosts.contains(&host) && self.known.contains(&(host, name.into()))
    }

    /// The URL, of this host, without recognised session ids; none if it has none.
    pub fn without(&self, host: HostId, url: &CrawlUrl) -> Option<CrawlUrl> {
        self.hosts.contains(&host).then(|| without(url, |name| self.is_session(host, name))).flatten()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

/// The key of a URL without a parameter of this name.
fn key(rest: &CrawlUrl, name: &str) -> u64 {
    xxh3_64_with_seed(rest.as_str().as_bytes(), xxh3_64(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::text::simhash::sketch;

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap()
    }

    const HOST: HostId = HostId(0);

    fn see(sessions: &mut Sessions, path: &str, text: &str) -> Vec<String> {
        sessions.observe(HOST, &url(path), sketch(&text.repeat(70)), false)
    }

    #[test]
    fn a_parameter_that_changes_nothing_is_a_sessions() {
        let mut sessions = Sessions::default();
        assert!(see(&mut sessions, "/a?k=5f3a9c21&x=1", "甲页").is_empty());
        assert!(see(&mut sessions, "/a?k=5f3a9c21&x=1", "甲页").is_empty(), "an equal value is not evidence");
        assert!(see(&mut sessions, "/a?k=77be01d4&x=1", "甲页").is_empty());
        assert!(see(&mut sessions, "/b?k=77be01d4", "乙页").is_empty());
        assert_eq!(see(&mut sessions, "/b?k=91ab3c44", "乙页"), ["k"]);
        sessions.learn(HOST, "k");
        assert_eq!(sessions.without(HOST, &url("/b?x=2&k=00ffaa11")), Some(url("/b?x=2")));
        assert_eq!(sessions.without(HOST, &url("/b?k=00ffaa11")), Some(url("/b")));
        assert_eq!(sessions.without(HostId(1), &url("/b?k=00ffaa11")), None, "of this host only");
    }

    #[test]
    fn a_wall_before_pages_makes_no_session_of_what_names_them() {
        let mut sessions = Sessions::default();
        for n in 10..40 {
            assert!(see(&mut sessions, &format!("/show?id=5f3a9c{n}"), "请登录").is_empty(), "one page, however often");
            assert!(see(&mut sessions, &format!("/show?id=5f3a9c{n}&x=1"), "请登录").is_empty());
            let short = sketch(&format!("{}不存在", if n % 2 == 0 { "文章" } else { "帖子" }));
            let at = |path: &str| url(&format!("{path}?no=5f3a9c{n}"));
            assert!(sessions.observe(HOST, &at(["/a", "/b"][n % 2]), short, false).is_empty(), "too short");
            let long = sketch(&["已删除", "已下架"][n % 2].repeat(70));
            assert!(sessions.observe(HOST, &at(["/c", "/d"][n % 2]), long, true).is_empty(), "no page at all");
        }
    }

    #[test]
    fn what_is_another_page_without_the_parameter_has_no_session() {
        let learnt = || {
            let mut sessions = Sessions::default();
            for (path, text) in [("/a", "甲页"), ("/b", "乙页")] {
                see(&mut sessions, &format!("{path}?k=5f3a9c21"), text);
                see(&mut sessions, &format!("{path}?k=77be01d4"), text);
            }
            sessions.learn(HOST, "k");
            sessions
        };
        let page = |text: &str| sketch(&text.repeat(70));
        let mut sessions = learnt();
        assert_eq!(sessions.needed(HOST, &url("/a")), ["k"]);
        assert_eq!(sessions.needed(HOST, &url("/other")), [""; 0], "no page had it with the parameter");
        assert_eq!(sessions.check(HOST, &url("/a"), page("缺少参数")), ["k"]);
        sessions.unlearn(HOST, "k");
        assert_eq!(sessions.without(HOST, &url("/b?k=00ffaa11")), None);
        for (path, text) in [("/c", "丙页"), ("/d", "丁页")] {
            assert!(see(&mut sessions, &format!("{path}?k=5f3a9c21"), text).is_empty());
            assert!(see(&mut sessions, &format!("{path}?k=77be01d4"), text).is_empty(), "nor ever");
        }
        let mut sessions = learnt();
        assert!(sessions.check(HOST, &url("/a"), page("甲页")).is_empty());
        assert!(sessions.needed(HOST, &url("/b")).is_empty());
        assert!(sessions.check(HOST, &url("/b"), page("改过的页")).is_empty(), "one of two has changed meanwhile");
        assert_eq!(sessions.check(HOST, &url("/b"), page("改过的页")), ["k"]);
    }

    #[test]
    fn a_parameter_that_ever_changed_a_page_is_not() {
        let mut sessions = Sessions::default();
        see(&mut sessions, "/a?id=5f3a9c21", "甲页");
        see(&mut sessions, "/a?id=77be01d4", "乙页");
        for n in 10..40 {
            assert!(see(&mut sessions, &format!("/b?id=77be01{n}"), "丙页").is_empty());
            assert!(see(&mut sessions, &format!("/c?id=77be01{n}"), "丁页").is_empty());
        }
    }

    #[test]
    fn numbers_and_words_are_not_codes() {
        for value in ["12345678", "football", "2020-05-17", "zh-CN", "abc12", "a%20b12345"] {
            assert!(!is_code(value), "{value}");
        }
        for value in ["5f3a9c21", "d41d8cd98f00b204e9800998ecf8427e", "1234567890123456", "aB3_x-9Zq1"] {
            assert!(is_code(value), "{value}");
        }
    }

    #[test]
    fn names_the_user_gives_are_dropped() {
        let drop = |name: &str| name.eq_ignore_ascii_case("visitid");
        assert_eq!(without(&url("/a?visitId=1&x=2"), drop), Some(url("/a?x=2")));
        assert_eq!(without(&url("/a?x=2"), drop), None);
        assert_eq!(without(&url("/a"), drop), None);
    }
}
