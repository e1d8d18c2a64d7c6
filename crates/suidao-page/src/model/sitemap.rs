//! Entries of sitemaps and feeds.

use serde::{Deserialize, Serialize};

use super::{CrawlUrl, LinkScores, Millis, Relevance};

/// A page listed in a sitemap or feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SitemapEntry {
    pub url: CrawlUrl,
    /// Last change or publication in milliseconds since the Unix epoch; the start of the year, month or day if that is
    /// all the site states.
    pub at: Option<Millis>,
    /// Title of a feed's entry, or `news:title` of a sitemap's; at most 80 characters, white space folded.
    pub anchor: String,
    /// Description as text; cleared after scoring.
    pub description: String,
    /// Eq. (3)'s terms, as for a link with that text and context; 0 before scoring.
    pub scores: LinkScores,
    pub relevance: Relevance,
}

impl SitemapEntry {
    /// An entry with a URL only.
    pub fn bare(url: CrawlUrl) -> Self {
        let (scores, relevance) = (LinkScores::default(), Relevance::ZERO);
        Self { url, at: None, anchor: String::new(), description: String::new(), scores, relevance }
    }
}

/// The content of a sitemap or feed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SitemapContent {
    /// A feed rather than a sitemap. A feed may list pages of other sites.
    pub feed: bool,
    /// In file order; a page may be listed more than once.
    pub pages: Vec<SitemapEntry>,
    pub sitemaps: Vec<CrawlUrl>,
}
