//! Where the references of one page lead: against its base and in its charset, and no more of them than a page may have.
//!
//! What a page links to is kept in memory and in the log. A `base` of 100 KB under 5,000 short links would make 500 MB
//! of it, so the length of what comes out is bounded where it comes out, for one URL and for all of a page.

use encoding_rs::{Encoding, UTF_8};

use crate::model::{CrawlUrl, UrlError};

/// References of one page that are resolved, and bytes of all URLs they come to. Among 66,000 pages of real hosts the most
/// are 5,800 references and 525 KB.
const MOST: usize = 20_000;
const BYTES: usize = 1 << 20;

/// What the references of one page are relative to, and how many more are followed up.
pub struct References {
    base: CrawlUrl,
    /// The page has said what they are relative to.
    is_said: bool,
    /// The page's charset, in which browsers write the query (WHATWG URL, query state).
    encoding: &'static Encoding,
    resolved: usize,
    bytes: usize,
}

impl References {
    /// Those of the page at `url`.
    pub fn new(url: &CrawlUrl, encoding: &'static Encoding) -> Self {
        Self { base: url.clone(), is_said: false, encoding, resolved: 0, bytes: 0 }
    }

    /// What they are relative to.
    pub fn base(&self) -> &CrawlUrl {
        &self.base
    }

    /// The page says what they are relative to; the first time counts.
    pub fn set_base(&mut self, href: &str) {
        if !self.is_said {
            self.is_said = true;
            if let Ok(base) = self.base.join(href) {
                self.base = base;
            }
        }
    }

    /// Whether some were left out, because there were too many.
    pub fn is_full(&self) -> bool {
        self.resolved >= MOST || self.bytes >= BYTES
    }

    /// Where a reference leads, if it leads to something else that can be fetched, and the page may have one more.
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
        // One that came out too long has cost as much as one that fits.
        self.bytes += match &url {
            Ok(url) => url.as_str().len(),
            Err(UrlError::TooLong) => CrawlUrl::LONGEST,
            Err(_) => 0,
        };
        url.ok()
    }

    /// A reference whose query is not as the URL standard would write it.
    fn escaped(&self, reference: &str) -> Option<String> {
        if self.encoding == UTF_8 || reference.is_ascii() || reference.len() > CrawlUrl::LONGEST {
            return None;
        }
        let (path, query) = reference.split_once('?')?;
        let mut known = String::with_capacity(query.len());
        for c in query.chars() {
            match self.encoding.encode(c.encode_utf8(&mut [0; 4])) {
                // As it stands, the `#` would end the query.
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
        // What is longer than any URL is no base.
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
