//! What a report says, as plain facts.

use serde::Serialize;

use suidao_page::model::{CrawlUrl, Relevance};

/// Everything the report says of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Facts {
    /// What crawl it is.
    pub crawl: Crawl,
    /// What it came to.
    pub counts: Counts,
    /// Relevant pages along the pages fetched.
    pub harvest: Harvest,
    /// Hosts.
    pub hosts: Hosts,
    /// Pages by language (ISO 639-3), the most frequent first; `?` where it could not be told.
    pub languages: Vec<Bin>,
    /// Pages by date of publication.
    pub published: Histogram,
    /// Pages by time of fetching.
    pub fetched: Histogram,
    /// Pages by characters of main text.
    pub lengths: Histogram,
    /// Pages with the most characters of main text.
    pub longest: Vec<Long>,
    /// Pages that say what others say.
    pub duplicates: Duplicates,
    /// Off-topic pages crossed.
    pub tunnels: Tunnels,
    /// Terms of the lexicon.
    pub terms: Terms,
    /// Fetches that failed for good, the most frequent reason first.
    pub failed: Vec<Reason>,
    /// URLs that were known and not fetched by the crawl's own will, the most frequent reason first.
    pub refused: Vec<Reason>,
    /// What waits.
    pub queue: Queue,
    /// Exports made, in order of their names.
    pub exports: Vec<Exported>,
}

/// What crawl it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Crawl {
    /// Name of the topic.
    pub topic: String,
    /// Digest of the lexicon.
    pub lexicon: String,
    /// Name of the strategy.
    pub strategy: String,
    /// The suidao that began it.
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

/// What it came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Pages fetched.
    pub pages: u64,
    /// Relevant ones among them.
    pub relevant: u64,
    /// URLs known.
    pub known: u64,
    /// Fetches given up.
    pub failed: u64,
    /// URLs refused.
    pub refused: u64,
    /// Pages that are mostly a row of links.
    pub listings: u64,
    /// Pages that ask search engines not to keep them.
    pub noindex: u64,
    /// Bytes of their records in the archive.
    pub archived: u64,
    /// Characters of their main texts.
    pub chars: u64,
}

/// Relevant pages along the pages fetched.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Harvest {
    /// Pages over which the moving rate is taken.
    pub window: u64,
    /// Pages rising.
    pub points: Vec<HarvestPoint>,
}

/// The harvest after so many pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HarvestPoint {
    /// Pages fetched.
    pub pages: u64,
    /// Relevant ones.
    pub relevant: u64,
    /// Share of relevant ones among the last `window`; among all, before there are so many.
    pub moving: f64,
}

/// Hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Hosts {
    /// Hosts of known URLs.
    pub known: u64,
    /// Hosts with a page.
    pub visited: u64,
    /// Hosts with a relevant page.
    pub relevant: u64,
    /// Share of the pages that lie on the largest host.
    pub largest: f64,
    /// Share of the pages that lie on the ten largest.
    pub ten_largest: f64,
    /// 1 / Σ p², p each host's share of the pages (Simpson 1949, as Hill 1973 has it): as many hosts of equal size are as
    /// concentrated.
    pub effective: f64,
    /// Hosts with a page, the one with the most first, at most 30.
    pub rows: Vec<HostRow>,
}

/// A host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostRow {
    /// Its name.
    pub host: String,
    /// Pages.
    pub pages: u64,
    /// Relevant ones.
    pub relevant: u64,
    /// Its first page was the n-th of the crawl.
    pub first: u64,
    /// Fetches given up.
    pub failed: u64,
    /// URLs refused.
    pub refused: u64,
    /// URLs that wait.
    pub waiting: u64,
}

/// Pages with something in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bin {
    /// What.
    pub name: String,
    /// Pages.
    pub pages: u64,
    /// Relevant ones.
    pub relevant: u64,
}

/// Pages by a value, all bins from the first that has any to the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Histogram {
    /// How wide a bin is, in words.
    pub width: String,
    /// Rising.
    pub bins: Vec<Bin>,
    /// Pages without the value.
    pub without: u64,
}

/// A page, as it is named.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    /// Its URL.
    pub url: CrawlUrl,
    /// Its title; empty if it has none.
    pub title: String,
    /// Eq. (1).
    pub relevance: Relevance,
    /// At or above the page threshold.
    pub relevant: bool,
}

/// A long page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Long {
    /// Which.
    pub page: Named,
    /// Characters of its main text.
    pub chars: u32,
}

/// Pages that say what others say.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Duplicates {
    /// Groups of two pages and more.
    pub groups: u64,
    /// Pages that are not the one to keep of their group.
    pub repeated: u64,
    /// The largest groups.
    pub largest: Vec<Group>,
}

/// A group of duplicates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Pages in it.
    pub pages: u64,
    /// The one to keep.
    pub kept: Named,
    /// Some of the others.
    pub others: Vec<Named>,
}

/// Off-topic pages crossed on the paths by which relevant pages became known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tunnels {
    /// Relevant pages by the off-topic pages in a row before them; `[0]`: found on a relevant page, or seeds.
    pub by_hops: Vec<u64>,
    /// The longest, one for each mouth (the first off-topic page behind the last relevant one).
    pub longest: Vec<Tunnel>,
    /// Hosts opened: the first relevant page lies behind off-topic pages that begin on another host, or behind a seed's.
    pub opened: u64,
    /// Of these the ones with the most relevant pages.
    pub hosts: Vec<Opened>,
}

/// A tunnel that paid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tunnel {
    /// Off-topic pages crossed.
    pub hops: u32,
    /// Relevant pages found through the one at its end, itself included.
    pub paid: u64,
    /// From the last relevant page before it (or a seed) to the relevant page at its end.
    pub steps: Vec<Step>,
}

/// A page on a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Which.
    pub page: Named,
    /// Text of the link that led to it; empty for seeds, redirects, and links without text.
    pub anchor: String,
    /// It was fetched as the n-th page.
    pub number: u64,
}

/// A host opened by a tunnel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Opened {
    /// Its name.
    pub host: String,
    /// Its relevant pages.
    pub relevant: u64,
    /// Off-topic pages before the first of them.
    pub hops: u32,
    /// The first of them was the n-th page of the crawl.
    pub first: u64,
    /// The last relevant page before; none where the path begins with an off-topic seed.
    pub from: Option<Named>,
}

/// Terms of the lexicon.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Terms {
    /// Terms found, by pages in which they are among the 12 most telling, the most frequent first.
    pub found: Vec<Bin>,
    /// Terms of the lexicon that are never among them, if the lexicon was given.
    pub never: Option<Vec<String>>,
}

/// Why URLs were not fetched.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// One sentence for people.
    pub why: String,
    /// URLs.
    pub urls: u64,
    /// The first of them.
    pub examples: Vec<CrawlUrl>,
}

/// What waits.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Queue {
    /// URLs.
    pub waiting: u64,
    /// Hosts they lie on.
    pub hosts: u64,
    /// The hosts with the most, and how many.
    pub largest: Vec<(String, u64)>,
}

/// An export, and what came since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Under which it is remembered.
    pub name: String,
    /// Format.
    pub format: String,
    /// File, directory or address it went to.
    pub output: String,
    /// When, RFC 3339.
    pub at: String,
    /// Pages in it.
    pub pages: u64,
    /// Pages fetched since.
    pub since: u64,
    /// Relevant ones among those.
    pub since_relevant: u64,
}
