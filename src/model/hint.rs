//! What a site says of its pages apart from them: sitemaps and feeds.

use serde::{Deserialize, Serialize};

use super::{CrawlUrl, Millis};

/// A page that a sitemap or a feed names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// Which; of any host.
    pub url: CrawlUrl,
    /// When it last changed, or came to be, as the site has it: milliseconds since the Unix epoch. Where the site tells
    /// only a year, a month or a day, the beginning of it.
    pub at: Option<Millis>,
}

/// What a sitemap or a feed names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// Pages, in its order; one may be named more than once.
    pub pages: Vec<Hint>,
    /// Further sitemaps.
    pub sitemaps: Vec<CrawlUrl>,
}
