//! Signs of crawler traps on pages, and what the crawl learns about a host from them.

use serde::{Deserialize, Serialize};

use super::{CrawlUrl, Failure, HostId, Sketch, UrlId};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrapSignals {
    /// The earlier page that this one duplicates or nearly duplicates.
    pub duplicate_of: Option<UrlId>,
    /// A soft 404: its text reports a missing page, but its status is 2xx.
    pub soft_404: bool,
    /// No new content in the series of its URL.
    pub no_new_content: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrapStep {
    /// A URL that cannot exist was fetched.
    Soft404Probe {
        host: HostId,
        /// The response; `None` if it reports a missing page or is not a page.
        response: Option<MissingPageResponse>,
        /// Fetched pages that equal the response and so are soft 404s.
        pages: Vec<UrlId>,
    },
    /// A session parameter was found. It is removed from the host's URLs from now on.
    Session {
        /// The host.
        host: HostId,
        name: String,
    },
    /// Two hosts have the same pages. Only pages unknown on the other one are fetched.
    Mirror {
        /// The host found later, with its port if not the default.
        host: String,
        /// The other host.
        of: String,
    },
    NoNewContent {
        id: UrlId,
    },
    /// A URL that cannot exist was fetched without a response, or with one to try again later.
    Unanswered {
        host: HostId,
        /// The reason.
        failure: Failure,
    },
    /// The parameter is not a session: without it the page is missing or different.
    NoSession {
        /// The host.
        host: HostId,
        name: String,
    },
}

/// A host's answer for a page that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingPageResponse {
    Page {
        /// Sketch of its main text; `title` is a hash.
        sketch: Sketch,
        title: u32,
    },
    Redirect(CrawlUrl),
}
