//! The URLs of pages and redirects by number, and how each was found: documents name the page with the link and the
//! page they duplicate.

use crate::store::{Store, StoreError};
use suidao_page::model::{CrawlUrl, Event, UrlId, UrlOrigin};

use super::catalogue::Catalogue;

/// URLs by number. Memory: about 130 bytes per page.
#[derive(Debug)]
pub struct UrlNames {
    known: Vec<UrlName>,
}

#[derive(Debug)]
struct UrlName {
    id: UrlId,
    url: CrawlUrl,
    origin: UrlOrigin,
    anchor: Box<str>,
}

impl UrlNames {
    /// Reads the URLs of a crawl's pages and redirects from its log.
    pub fn read(store: &Store, catalogue: &Catalogue) -> Result<Self, StoreError> {
        let mut known = Vec::with_capacity(catalogue.named.len());
        for record in store.batches() {
            for event in record?.batch.events {
                let Event::Discovered(found) = event else { continue };
                if catalogue.named.binary_search(&found.id).is_ok() {
                    let (id, url, origin) = (found.id, found.url, found.origin);
                    known.push(UrlName { id, url, origin, anchor: found.anchor.into() });
                }
            }
        }
        Ok(Self { known })
    }

    fn find(&self, id: UrlId) -> Option<&UrlName> {
        self.known.binary_search_by_key(&id, |name| name.id).ok().map(|position| &self.known[position])
    }

    /// In order of numbers.
    pub fn iter(&self) -> impl Iterator<Item = (UrlId, &CrawlUrl)> {
        self.known.iter().map(|name| (name.id, &name.url))
    }

    pub fn url(&self, id: UrlId) -> Option<&CrawlUrl> {
        self.find(id).map(|name| &name.url)
    }

    /// Text of the link by which it was found; empty for seeds and redirects.
    pub fn anchor(&self, id: UrlId) -> &str {
        self.find(id).map_or("", |name| &name.anchor)
    }

    /// As [`Self::anchor`]; after a redirect that of the link to the redirected URL.
    pub fn linked_text(&self, id: UrlId) -> &str {
        let of = |name: &&UrlName| if let UrlOrigin::Redirect(from) = name.origin { self.find(from) } else { None };
        let mut names = std::iter::successors(self.find(id), of).take(16);
        names.find(|name| !name.anchor.is_empty()).map_or("", |name| &name.anchor)
    }

    /// Page or redirect by which it was found; `None` for a seed.
    pub fn found_on(&self, id: UrlId) -> Option<UrlId> {
        self.find(id)?.origin.source()
    }

    /// As [`Self::found_on`]; after a redirect also where its URL was found, and so on back to a page.
    pub fn origins(&self, id: UrlId) -> Vec<UrlId> {
        let mut origins = Vec::new();
        let mut of = self.find(id);
        while let Some(name) = of
            && let Some(from) = name.origin.source().filter(|from| !origins.contains(from))
        {
            origins.push(from);
            of = self.find(from).filter(|_| matches!(name.origin, UrlOrigin::Redirect(_)));
        }
        origins
    }
}
