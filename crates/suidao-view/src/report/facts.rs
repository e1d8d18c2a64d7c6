//! The facts of a report.

use serde::{Serialize, Serializer};

use suidao_page::messages::Lang;
use suidao_page::model::{CrawlUrl, FailureKind, Relevance, SkipReason};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportFacts {
    pub crawl: CrawlFacts,
    pub counts: ReportCounts,
    /// Relevant documents with the highest relevance, without duplicates.
    pub best: Vec<NamedPage>,
    pub harvest: HarvestFacts,
    pub hosts: HostFacts,
    /// By language (BCP 47), the most frequent first; `?` if unknown.
    pub languages: Vec<Bin>,
    pub published: Histogram,
    pub lengths: Histogram,
    pub duplicates: DuplicateFacts,
    pub tunnels: Tunnels,
    /// Terms by pages that have them among their 12 most significant, the most frequent first.
    pub terms: Vec<Bin>,
    /// Terms of relevant documents that the lexicon lacks, the heaviest first.
    pub suggested_terms: Vec<String>,
    /// Failed URLs, the most frequent reason first.
    pub failed: Vec<Reason>,
    /// URLs skipped by policy, the most frequent reason first.
    pub skipped: Vec<Reason>,
    pub queue: QueueFacts,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CrawlFacts {
    pub topic: String,
    pub lexicon: String,
    pub strategy: String,
    pub version: String,
    /// RFC 3339.
    pub begun: String,
    /// When the first page was fetched, RFC 3339.
    pub first: Option<String>,
    /// When the last page was fetched, RFC 3339.
    pub last: Option<String>,
    /// Why it stopped, as in `summary.json`.
    pub stopped: Option<String>,
    /// As in `summary.json`: `section.key` and value.
    pub settings: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportCounts {
    pub pages: u64,
    pub relevant: u64,
    pub known: u64,
    pub failed: u64,
    pub skipped: u64,
    pub listings: u64,
    /// Pages with noindex.
    pub noindex: u64,
    /// Bytes of their records in the archive.
    pub archived: u64,
    pub chars: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HarvestFacts {
    pub window: u64,
    pub points: Vec<HarvestPoint>,
    /// Pages that rounds of `suidao refresh` added; they are not in the curve.
    pub added: u64,
}

/// The harvest after a number of pages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HarvestPoint {
    pub pages: u64,
    pub relevant: u64,
    /// Share of relevant pages among the last `window`; among all if there are fewer.
    pub moving: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostFacts {
    pub known: u64,
    pub visited: u64,
    pub relevant: u64,
    /// Share of the pages on the largest host.
    pub largest: f64,
    /// Hosts by number of pages, at most 30.
    pub rows: Vec<HostRow>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostRow {
    pub host: String,
    pub pages: u64,
    pub relevant: u64,
    pub first: u64,
    pub failed: u64,
    pub skipped: u64,
    pub waiting: u64,
}

/// What the pages of a bin have in common. JSON has it in English, and languages as tags.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BinName {
    Term(String),
    /// BCP 47 tag.
    Language(String),
    UnknownLanguage,
    /// This many more languages.
    More(usize),
    /// `2021` or `2021-03`.
    Date(String),
    /// All earlier dates.
    Before(String),
    /// At least this many characters.
    Characters(u64),
}

impl BinName {
    pub fn text(&self, lang: Lang) -> String {
        match (self, lang) {
            (Self::Term(term), _) => term.clone(),
            (Self::Language(tag), _) => lang.language(tag).to_owned(),
            (Self::UnknownLanguage, _) => lang.text("unknown-language", &[]),
            (Self::More(number), _) => lang.text("n-more", &[number]),
            (Self::Date(date), _) => lang.date(date),
            (Self::Before(date), _) => lang.text("before", &[&lang.date(date)]),
            (Self::Characters(number @ 1_000_000..), Lang::English) => format!("{}M", number / 1_000_000),
            (Self::Characters(number @ 1_000..), Lang::English) => format!("{}k", number / 1_000),
            (Self::Characters(number), _) => lang.round_number(*number),
        }
    }
}

impl Default for BinName {
    fn default() -> Self {
        Self::Term(String::new())
    }
}

impl Serialize for BinName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Language(tag) => to.serialize_str(tag),
            other => to.serialize_str(&other.text(Lang::English)),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bin {
    pub name: BinName,
    pub pages: u64,
    pub relevant: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum BinWidth {
    #[serde(rename = "a month")]
    Month,
    #[serde(rename = "a year")]
    Year,
    /// From a number of characters to the next.
    #[default]
    #[serde(rename = "from this many characters to the next")]
    Characters,
}

impl BinWidth {
    pub fn text(self, lang: Lang) -> String {
        match self {
            Self::Month => lang.text("a-month", &[]),
            Self::Year => lang.text("a-year", &[]),
            Self::Characters => lang.text("text-range", &[]),
        }
    }
}

/// Pages by a value, without gaps between the bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Histogram {
    pub width: BinWidth,
    pub bins: Vec<Bin>,
    pub without: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedPage {
    pub url: CrawlUrl,
    /// Empty if it has none.
    pub title: String,
    pub relevance: Relevance,
    /// Whether it reaches the threshold; a listing page may, and is not relevant.
    pub on_topic: bool,
    pub relevant: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DuplicateFacts {
    pub groups: u64,
    /// Pages that are not the best of their group.
    pub repeated: u64,
    pub largest: Vec<HostGroup>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostGroup {
    pub pages: u64,
    pub representative: NamedPage,
    pub others: Vec<NamedPage>,
}

/// Off-topic pages on the paths by which relevant pages were found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tunnels {
    /// Relevant pages by off-topic pages in a row before them; `[0]`: found on a page on topic, or seeds.
    pub by_hops: Vec<u64>,
    /// The longest, one for each first off-topic page after the last one on topic.
    pub longest: Vec<TunnelFacts>,
    /// Hosts whose first relevant page was reached through off-topic pages that start on another host, or from an
    /// off-topic seed.
    pub opened_hosts: u64,
    /// Those with the most relevant pages.
    pub hosts: Vec<TunnelledHost>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunnelFacts {
    pub hops: u32,
    /// Relevant pages found through the one at its end, itself included.
    pub led_to: u64,
    /// From the last page on topic before it (or a seed) to the relevant page at its end.
    pub steps: Vec<PathStep>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathStep {
    pub page: NamedPage,
    /// Text of the link that led to it; may be empty.
    pub anchor: String,
    pub number: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TunnelledHost {
    pub host: String,
    pub relevant: u64,
    pub hops: u32,
    /// Its first relevant page was the n-th page of the crawl.
    pub first: u64,
    /// The last page on topic before; `None` if the path has none.
    pub from: Option<NamedPage>,
}

/// Why URLs were not fetched. JSON has it as an English clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    Failed(FailureKind),
    Skipped(SkipReason),
    /// The log has no reason.
    Unknown,
}

impl Why {
    pub fn text(&self, lang: Lang) -> String {
        match self {
            Self::Failed(kind) => kind.text(lang),
            Self::Skipped(reason) => reason.why(lang).to_owned(),
            Self::Unknown => String::new(),
        }
    }
}

impl Serialize for Why {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text(Lang::English))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    pub why: Why,
    pub urls: u64,
    pub examples: Vec<CrawlUrl>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QueueFacts {
    pub waiting: u64,
    pub hosts: u64,
}
