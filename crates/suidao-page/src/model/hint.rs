//! What a site says of its pages apart from them: sitemaps and feeds.

use serde::{Deserialize, Serialize};

use super::{CrawlUrl, LinkScores, Millis, Relevance};

/// A page that a sitemap or a feed names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SitemapEntry {
    /// Which; of any host.
    pub url: CrawlUrl,
    /// When it last changed, or came to be, as the site has it: milliseconds since the Unix epoch. Where the site tells
    /// only a year, a month or a day, the beginning of it.
    pub at: Option<Millis>,
    /// What it is called there: the title of a feed's entry, `news:title` of a sitemap's; at most 80 characters, white space
    /// folded, empty where there is none.
    pub anchor: String,
    /// What is said of it there, as text; empty once it is scored.
    pub about: String,
    /// Eq. (3)'s parts, as of a link with that text and that context; 0 until it is scored.
    pub evidence: LinkScores,
    /// Eq. (3).
    pub relevance: Relevance,
}

impl SitemapEntry {
    /// A page of which nothing but the address is told.
    pub fn bare(url: CrawlUrl) -> Self {
        let (evidence, relevance) = (LinkScores::default(), Relevance::ZERO);
        Self { url, at: None, anchor: String::new(), about: String::new(), evidence, relevance }
    }
}

/// What a sitemap or a feed names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hints {
    /// It is a feed, which may gather what other sites write; a sitemap speaks for its own.
    pub feed: bool,
    /// Pages, in its order; one may be named more than once.
    pub pages: Vec<SitemapEntry>,
    /// Further sitemaps.
    pub sitemaps: Vec<CrawlUrl>,
}
