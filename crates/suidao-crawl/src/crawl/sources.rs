//! Sitemaps and feeds as a source of URLs: their settings, and which were read.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use suidao_page::model::{CrawlUrl, Event, HostId, UrlId};

use super::urls::Urls;

/// `[sources]` of the configuration. Off by default: links find what is close to the topic, sitemaps name everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sources {
    /// Whether URLs are taken from sitemaps named in robots.txt, or `/sitemap.xml` if it names none.
    pub sitemaps: bool,
    /// Whether URLs are taken from the feeds named on a host's first page.
    pub feeds: bool,
    /// Relevant pages that a host must have before its sitemaps and feeds are read.
    pub after: u32,
    /// Maximum number of URLs taken from the sitemaps and feeds of one host.
    pub per_host: u32,
}

impl Default for Sources {
    fn default() -> Self {
        Self { sitemaps: false, feeds: false, after: 3, per_host: 1000 }
    }
}

impl Sources {
    pub(super) fn is_on(&self) -> bool {
        self.sitemaps || self.feeds
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct SourceUse {
    pub files: usize,
    pub pages: u32,
}

/// State of sitemaps and feeds. A fold of the events.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Sourcing {
    pub relevant: FxHashMap<HostId, u32>,
    pub feeds: FxHashMap<HostId, Vec<CrawlUrl>>,
    pub used: FxHashMap<HostId, SourceUse>,
    /// Sitemaps and feeds, with their nesting level.
    pub sources: FxHashMap<UrlId, u8>,
}

impl Sourcing {
    pub fn is_source(&self, id: UrlId) -> bool {
        self.sources.contains_key(&id)
    }

    /// Number of relevant pages of a host.
    pub fn relevant_pages(&self, host: HostId) -> u32 {
        self.relevant.get(&host).copied().unwrap_or_default()
    }

    pub fn observe(&mut self, event: &Event, urls: &Urls) {
        match event {
            Event::PageFetched(page) if page.changes.is_none() => {
                let host = urls.get(page.id).host();
                if page.on_topic {
                    *self.relevant.entry(host).or_default() += 1;
                }
                if !page.feeds.is_empty() {
                    self.feeds.entry(host).or_insert_with(|| page.feeds.clone());
                }
            }
            Event::SitemapsQueued { host, links } => {
                self.used.entry(*host).or_default().files += links.len();
                self.sources.extend(links.iter().map(|link| (link.to, 0)));
            }
            Event::SitemapRead { id, sources, links, .. } => {
                let Some(level) = self.sources.get(id).copied() else { return };
                let used = self.used.entry(urls.get(*id).host()).or_default();
                used.files += sources.len();
                used.pages += u32::try_from(links.len().saturating_sub(sources.len())).unwrap_or(u32::MAX);
                self.sources.extend(sources.iter().map(|source| (*source, level + 1)));
            }
            _ => {}
        }
    }
}
