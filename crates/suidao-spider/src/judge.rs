//! Whether the links of a page are followed: its relevance, and the off-topic pages before it.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use suidao_page::model::{CrawlUrl, Fetched};
use suidao_page::read;
use suidao_page::topic::Topic;

pub struct Judge {
    topic: Arc<Topic>,
    /// Maximum number of off-topic pages in a row (Bergmark, Lagoze, Sbityakov 2002).
    k: u16,
    pages: Mutex<Pages>,
}

/// By fingerprint of the URL.
#[derive(Default)]
struct Pages {
    /// The fewest off-topic pages in a row before a page, over the pages that link to it.
    hops: FxHashMap<u64, u16>,
    /// Whether the links of a fetched page are followed.
    followed: FxHashMap<u64, bool>,
}

impl Judge {
    pub fn new(topic: Arc<Topic>, k: u16) -> Self {
        Self { topic, k, pages: Mutex::default() }
    }

    /// Parses and judges a page that was requested as `requested`. Takes CPU time.
    pub fn judge(&self, requested: &CrawlUrl, fetched: &Fetched) {
        let page = read::read(fetched, &self.topic);
        let relevant = page.relevance >= self.topic.page_threshold();
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let own = [requested, &fetched.url].map(|url| pages.hops.get(&url.fingerprint()).copied().unwrap_or(0));
        let after = if relevant { 0 } else { own[0].min(own[1]).saturating_add(1) };
        for link in &page.outlinks {
            let hops = pages.hops.entry(link.url.fingerprint()).or_insert(after);
            *hops = after.min(*hops);
        }
        for url in [requested, &fetched.url] {
            pages.followed.insert(url.fingerprint(), after <= self.k);
        }
    }

    /// Whether the links of a page are followed; not of one that was never judged.
    pub fn is_followed(&self, url: &str) -> bool {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let judged = CrawlUrl::parse(url).ok().and_then(|url| pages.followed.get(&url.fingerprint()).copied());
        judged.unwrap_or(false)
    }
}
