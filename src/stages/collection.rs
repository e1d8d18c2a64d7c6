//! What is on record of the pages visited: the paper's local database, as far as a later visit needs it.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::model::{CrawlUrl, Fetched, Region};
use crate::read::Parsed;

/// A page as it was last had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Of the main text and the links in it.
    digest: u64,
    /// On the page's own site, in order, each once.
    links: Vec<CrawlUrl>,
    /// Header fields that make the next request for it conditional.
    conditions: Vec<(String, String)>,
}

impl Copy {
    /// What is kept of an answer; the rule filter keeps links of other sites out (paper 002, 2.2).
    pub fn of(fetched: &Fetched, parsed: &Parsed) -> Self {
        let on_site = parsed.document.links.iter().filter(|link| link.url.authority() == fetched.url.authority());
        let mut links: Vec<CrawlUrl> = on_site.clone().map(|link| link.url.clone()).collect();
        links.sort_unstable();
        links.dedup();
        let mut said = parsed.text.clone();
        for link in on_site.filter(|link| link.region == Region::Content) {
            said.push('\n');
            said.push_str(link.url.as_str());
        }
        let conditions = [("etag", "if-none-match"), ("last-modified", "if-modified-since")];
        let conditions = conditions
            .into_iter()
            .filter_map(|(mark, condition)| fetched.header(mark).map(|value| (condition.to_owned(), value.to_owned())));
        Self { digest: xxh3_64(said.as_bytes()), links, conditions: conditions.collect() }
    }

    /// Its links on its own site, in order, each once.
    pub fn links(&self) -> &[CrawlUrl] {
        &self.links
    }
}

/// Pages by URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    copies: BTreeMap<CrawlUrl, Copy>,
}

impl Collection {
    /// Whether a page is on record.
    pub fn has(&self, url: &CrawlUrl) -> bool {
        self.copies.contains_key(url)
    }

    /// The pages on record, in order of URL.
    pub fn urls(&self) -> impl Iterator<Item = &CrawlUrl> {
        self.copies.keys()
    }

    /// Whether the page on record has this main text and these links.
    pub(super) fn says(&self, url: &CrawlUrl, copy: &Copy) -> bool {
        self.copies.get(url).is_some_and(|had| had.digest == copy.digest)
    }

    /// Links of the page on record; none if there is none.
    pub(super) fn links(&self, url: &CrawlUrl) -> &[CrawlUrl] {
        self.copies.get(url).map_or(&[], Copy::links)
    }

    /// The header fields that a request for the page is conditional by.
    pub(super) fn conditions(&self, url: &CrawlUrl) -> Vec<(String, String)> {
        self.copies.get(url).map_or_else(Vec::new, |copy| copy.conditions.clone())
    }

    pub(super) fn put(&mut self, url: CrawlUrl, copy: Copy) {
        self.copies.insert(url, copy);
    }

    pub(super) fn drop(&mut self, url: &CrawlUrl) {
        self.copies.remove(url);
    }
}
