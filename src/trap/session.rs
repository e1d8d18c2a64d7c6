//! Session ids: a parameter that is another on each visit and changes nothing. Those of known names have no place in the
//! normal form of a URL (`model/url.rs`), those of names that the user gives are dropped before a URL gets its number, and
//! the rest show by what they do: the same page came under two values, twice.
//!
//! Apart because evidence against counts as well: a parameter that ever changed a page is no session's.

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use serde::{Deserialize, Serialize};

use crate::model::{CrawlUrl, HostId, Sketch};
use crate::text::simhash::distance;

/// Least length of a value that is taken for a code.
const CODE: usize = 8;
/// Pairs of equal pages under different values that make a session of a parameter.
const PAIRS: u8 = 2;
/// Most pages that are remembered for comparison.
const MOST: usize = 1 << 16;
/// Bits in which equal pages differ at most.
const NEAR: u32 = 3;
/// Characters below which texts are only compared whole.
const SHORT: u32 = 120;

/// The URL without parameters of these names (whatever their case); none if it has none of them.
#[must_use]
pub fn without(url: &CrawlUrl, is_session: impl Fn(&str) -> bool) -> Option<CrawlUrl> {
    let query = url.query()?;
    let named = |pair: &&str| is_session(pair.split('=').next().unwrap_or_default());
    if !query.split('&').any(|pair| named(&pair)) {
        return None;
    }
    let kept: Vec<&str> = query.split('&').filter(|pair| !named(pair)).collect();
    let base = &url.as_str()[..url.as_str().len() - query.len() - 1];
    let text = if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
    CrawlUrl::parse(&text).ok()
}

/// Whether a value looks drawn at random: letters and digits, and both of them.
#[must_use]
pub fn is_code(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    value.len() >= CODE
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && (digits >= 2 && letters >= 2 || digits >= 16)
}

/// A page that came under one value.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Came {
    value: u32,
    digest: u64,
    simhash: u64,
}

/// What is known of parameters: a fold of a crawl's pages. Memory: 32 bytes for each page with a code in its query, at most 65,536 of
/// them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Sessions {
    came: FxHashMap<u64, Came>,
    /// By host and name: pairs of equal pages; [`u8::MAX`] if the parameter changed a page.
    pairs: FxHashMap<(HostId, Box<str>), u8>,
    known: FxHashSet<(HostId, Box<str>)>,
    hosts: FxHashSet<HostId>,
}

impl Sessions {
    /// Takes in a page; the parameters of its host that are a session's by now, and were not before.
    pub fn observe(&mut self, host: HostId, url: &CrawlUrl, sketch: Sketch) -> Vec<String> {
        let mut found = Vec::new();
        let Some(query) = url.query().filter(|_| sketch.chars > 0) else { return found };
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            if !is_code(value) || self.is_session(host, name) {
                continue;
            }
            let Some(rest) = without(url, |other| other == name) else { continue };
            let key = xxh3_64_with_seed(rest.as_str().as_bytes(), xxh3_64(name.as_bytes()));
            #[allow(clippy::cast_possible_truncation)] // half of it tells values apart
            let came = Came { value: xxh3_64(value.as_bytes()) as u32, digest: sketch.digest, simhash: sketch.simhash };
            let before = match self.came.get(&key) {
                Some(before) => *before,
                None if self.came.len() < MOST => {
                    self.came.insert(key, came);
                    continue;
                }
                None => continue,
            };
            if before.value == came.value {
                continue;
            }
            let same =
                before.digest == came.digest || sketch.chars >= SHORT && distance(before.simhash, came.simhash) <= NEAR;
            self.came.insert(key, came);
            let pairs = self.pairs.entry((host, name.into())).or_default();
            *pairs = match *pairs {
                _ if !same => u8::MAX,
                u8::MAX => u8::MAX,
                pairs => pairs + 1,
            };
            if *pairs == PAIRS {
                found.push(name.to_owned());
            }
        }
        found
    }

    /// The parameter is a session's from now on.
    pub fn learn(&mut self, host: HostId, name: &str) {
        self.known.insert((host, name.into()));
        self.hosts.insert(host);
    }

    fn is_session(&self, host: HostId, name: &str) -> bool {
        self.hosts.contains(&host) && self.known.contains(&(host, name.into()))
    }

    /// The URL, of this host, without what is known to be a session's; none if there is nothing of it.
    #[must_use]
    pub fn without(&self, host: HostId, url: &CrawlUrl) -> Option<CrawlUrl> {
        self.hosts.contains(&host).then(|| without(url, |name| self.is_session(host, name))).flatten()
    }

    /// Parameters that were found to be a session's.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none was.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::simhash::sketch;

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap()
    }

    #[test]
    fn a_parameter_that_changes_nothing_is_a_sessions() {
        let mut sessions = Sessions::default();
        let mut see = |path: &str, text: &str| sessions.observe(HostId(0), &url(path), sketch(text));
        assert!(see("/a?k=5f3a9c21&x=1", "甲页").is_empty());
        assert!(see("/a?k=5f3a9c21&x=1", "甲页").is_empty(), "the same value says nothing");
        assert!(see("/a?k=77be01d4&x=1", "甲页").is_empty());
        assert_eq!(see("/a?k=91ab3c44&x=1", "甲页"), ["k"]);
        sessions.learn(HostId(0), "k");
        assert_eq!(sessions.without(HostId(0), &url("/b?x=2&k=00ffaa11")), Some(url("/b?x=2")));
        assert_eq!(sessions.without(HostId(0), &url("/b?k=00ffaa11")), Some(url("/b")));
        assert_eq!(sessions.without(HostId(1), &url("/b?k=00ffaa11")), None, "of this host only");
    }

    #[test]
    fn a_parameter_that_ever_changed_a_page_is_not() {
        let mut sessions = Sessions::default();
        let mut see = |path: &str, text: &str| sessions.observe(HostId(0), &url(path), sketch(text));
        see("/a?id=5f3a9c21", "甲页");
        see("/a?id=77be01d4", "乙页");
        for n in 10..40 {
            assert!(see(&format!("/b?id=77be01{n}"), "丙页").is_empty());
        }
    }

    #[test]
    fn values_that_count_or_say_something_are_no_codes() {
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
