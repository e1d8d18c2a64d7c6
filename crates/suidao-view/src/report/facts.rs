//! What a report says, as plain facts.

use serde::Serialize;

use suidao_page::model::{CrawlUrl, Relevance};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportFacts {
    pub crawl: CrawlFacts,
    pub counts: ReportCounts,
    pub harvest: HarvestFacts,
    pub hosts: HostFacts,
    /// Pages by language (ISO 639-3), the most frequent first; `?` where it could not be told.
    pub languages: Vec<Bin>,
    /// Pages by date of publication.
    pub published: Histogram,
    /// Pages by characters of main text.
    pub lengths: Histogram,
    pub duplicates: DuplicateFacts,
    pub tunnels: Tunnels,
    /// Terms found, by pages in which they are among the 12 most telling, the most frequent first.
    pub terms: Vec<Bin>,
    /// Fetches that failed for good, the most frequent reason first.
    pub failed: Vec<Reason>,
    /// URLs that were known and not fetched by the crawl's own will, the most frequent reason first.
    pub refused: Vec<Reason>,
    pub queue: QueueFacts,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CrawlFacts {
    pub topic: String,
    pub lexicon: String,
    pub strategy: String,
    pub version: String,
    /// When it was begun, RFC 3339.
    pub begun: String,
    /// When the first page was fetched, RFC 3339.
    pub first: Option<String>,
    /// When the last page was fetched, RFC 3339.
    pub last: Option<String>,
    /// Why it stopped, as `summary.json` has it.
    pub stopped: Option<String>,
    /// Settings, as `summary.json` has them: `section.key` and value.
    pub settings: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportCounts {
    pub pages: u64,
    pub relevant: u64,
    pub known: u64,
    pub failed: u64,
    pub refused: u64,
    pub listings: u64,
    /// Pages that ask search engines not to keep them.
    pub noindex: u64,
    /// Bytes of their records in the archive.
    pub archived: u64,
    pub chars: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HarvestFacts {
    pub window: u64,
    pub points: Vec<HarvestPoint>,
}

/// The harvest after so many pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HarvestPoint {
    pub pages: u64,
    pub relevant: u64,
    /// Share of relevant ones among the last `window`; among all, before there are so many.
    pub moving: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostFacts {
    pub known: u64,
    pub visited: u64,
    pub relevant: u64,
    /// Share of the pages that lie on the largest host.
    pub largest: f64,
    /// Hosts with a page, the one with the most first, at most 30.
    pub rows: Vec<HostRow>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostRow {
    pub host: String,
    pub pages: u64,
    pub relevant: u64,
    pub first: u64,
    pub failed: u64,
    pub refused: u64,
    pub waiting: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bin {
    pub name: String,
    pub pages: u64,
    pub relevant: u64,
}

/// Pages by a value, all bins from the first that has any to the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Histogram {
    /// How wide a bin is, in words.
    pub width: String,
    pub bins: Vec<Bin>,
    pub without: u64,
}

/// A page, as it is named.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedPage {
    pub url: CrawlUrl,
    /// Its title; empty if it has none.
    pub title: String,
    /// Eq. (1).
    pub relevance: Relevance,
    pub relevant: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DuplicateFacts {
    pub groups: u64,
    /// Pages that are not the one to keep of their group.
    pub repeated: u64,
    pub largest: Vec<HostGroup>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostGroup {
    pub pages: u64,
    pub kept: NamedPage,
    pub others: Vec<NamedPage>,
}

/// Off-topic pages crossed on the paths by which relevant pages became known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tunnels {
    /// Relevant pages by the off-topic pages in a row before them; `[0]`: found on a relevant page, or seeds.
    pub by_hops: Vec<u64>,
    /// The longest, one for each mouth (the first off-topic page behind the last relevant one).
    pub longest: Vec<TunnelFacts>,
    /// Hosts opened: the first relevant page lies behind off-topic pages that begin on another host, or behind a seed's.
    pub opened: u64,
    /// Of these the ones with the most relevant pages.
    pub hosts: Vec<TunnelledHost>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunnelFacts {
    pub hops: u32,
    /// Relevant pages found through the one at its end, itself included.
    pub paid: u64,
    /// From the last relevant page before it (or a seed) to the relevant page at its end.
    pub steps: Vec<PathStep>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathStep {
    pub page: NamedPage,
    /// Text of the link that led to it; empty for seeds, redirects, and links without text.
    pub anchor: String,
    pub number: u64,
}

/// A host opened by a tunnel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunnelledHost {
    pub host: String,
    pub relevant: u64,
    pub hops: u32,
    /// The first of them was the n-th page of the crawl.
    pub first: u64,
    /// The last relevant page before; none where the path begins with an off-topic seed.
    pub from: Option<NamedPage>,
}

/// Why URLs were not fetched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    pub why: String,
    pub urls: u64,
    pub examples: Vec<CrawlUrl>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QueueFacts {
    pub waiting: u64,
    pub hosts: u64,
}
