//! Resolves the references of a page against its base and in its charset, within limits.
//!
//! Links are kept in memory and logged. A `base` of 100 KB with 5,000 short links would make 500 MB, so the length of
//! the resolved URLs is limited, each and in total.

use encoding_rs::{Encoding, UTF_8};

use crate::model::{CrawlUrl, UrlError};

/// Maximum references per page, and bytes of their URLs. Among 66,000 real pages the maxima are 5,800 references and
/// 525 KB.
const MOST: usize = 20_000;
const BYTES: usize = 1 << 20;

/// Resolves references and counts them.
pub struct References {
    page: CrawlUrl,
    base: CrawlUrl,
    /// A `base` element was read.
    has_base: bool,
    /// The page's charset, in which browsers encode the query (WHATWG URL, query state).
    encoding: &'static Encoding,
    resolved: usize,
    bytes: usize,
}

impl References {
    pub fn new(url: &CrawlUrl, encoding: &'static Encoding) -> Self {
        Self { page: url.clone(), base: url.clone(), has_base: false, encoding, resolved: 0, bytes: 0 }
    }

    pub fn page(&self) -> &CrawlUrl {
        &self.page
    }

    pub fn base(&self) -> &CrawlUrl {
        &self.base
    }

    /// Sets the base; only the first call counts.
    pub fn set_base(&mut self, href: &str) {
        if !self.has_base {
            self.has_base = true;
            if let Ok(base) = self.base.join(href) {
                self.base = base;
            }
        }
    }

    /// Whether references were dropped.
    pub fn is_full(&self) -> bool {
        self.resolved >= MOST || self.bytes >= BYTES
    }

    /// The target of a reference, if it is another URL that can be fetched and within the limits.
    pub fn resolve(&mut self, reference: &str) -> Option<CrawlUrl> {
        let reference = reference.trim_matches(|c: char| c <= ' ');
        if reference.is_empty() || reference.starts_with('#') || self.is_full() {
            return None;
        }
        self.resolved += 1;
        let url = match self.escaped(reference) {
            Some(escaped) => self.base.join(&escaped),
            None => self.base.join(reference),
        };
        // A URL that is too long costs as much as a valid one.
        self.bytes += match &url {
            Ok(url) => url.as_str().len(),
            Err(UrlError::TooLong) => CrawlUrl::LONGEST,
            Err(_) => 0,
        };
        url.ok()
    }

    /// The reference with its query encoded in the page's charset, unless it is ASCII.
    fn escaped(&self, reference: &str) -> Option<String> {
        if self.encoding == UTF_8 || reference.is_ascii() || reference.len() > CrawlUrl::LONGEST {
            return None;
        }
        let (path, query) = reference.split_once('?')?;
        let mut known = String::with_capacity(query.len());
        for c in query.chars() {
            match self.encoding.encode(c.encode_utf8(&mut [0; 4])) {
                // A literal `#` would end the query.
                (_, _, true) => known.push_str(&format!("%26%23{}%3B", u32::from(c))),
                _ => known.push(c),
            }
        }
        let mut escaped = format!("{path}?");
        for &byte in self.encoding.encode(&known).0.iter() {
            if byte.is_ascii() {
                escaped.push(char::from(byte));
            } else {
                escaped.push_str(&format!("%{byte:02X}"));
            }
        }
        Some(escaped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references() -> References {
        References::new(&CrawlUrl::parse("http://a.cn/x/").unwrap(), UTF_8)
    }

    #[test]
    fn the_first_base_counts() {
        let mut references = references();
        assert_eq!(references.resolve("1").unwrap().as_str(), "http://a.cn/x/1");
        references.set_base("../y/");
        references.set_base("../z/");
        assert_eq!(references.resolve("1").unwrap().as_str(), "http://a.cn/y/1");
        assert_eq!(references.resolve(" #top"), None);
    }

    #[test]
    fn what_the_charset_lacks_is_written_by_number_and_ends_no_query() {
        let mut references = References::new(&CrawlUrl::parse("http://a.cn/").unwrap(), encoding_rs::GB18030);
        assert_eq!(references.resolve("/s?q=中&n=1").unwrap().as_str(), "http://a.cn/s?q=%D6%D0&n=1");
        let mut references = References::new(&CrawlUrl::parse("http://a.cn/").unwrap(), encoding_rs::WINDOWS_1252);
        assert_eq!(references.resolve("/s?q=é中&n=1").unwrap().as_str(), "http://a.cn/s?q=%E9%26%2320013%3B&n=1");
    }

    #[test]
    fn a_long_base_makes_no_long_list() {
        let mut references = references();
        references.set_base(&format!("/{}/", "x".repeat(8_000)));
        let found = (0..400_000).filter(|n| references.resolve(&n.to_string()).is_some()).count();
        assert!((100..200).contains(&found), "{found}");
        assert!(references.is_full());
        // A base longer than any URL is ignored.
        let mut references = self::references();
        references.set_base(&format!("/{}/", "x".repeat(100_000)));
        assert_eq!(references.resolve("1").unwrap().as_str(), "http://a.cn/x/1");
    }

    #[test]
    fn references_that_lead_nowhere_are_counted() {
        let mut references = references();
        assert!((0..MOST).all(|_| references.resolve("mailto:a@b.cn").is_none()) && references.is_full());
        assert_eq!(references.resolve("/1"), None);
    }
}
