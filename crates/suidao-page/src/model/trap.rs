//! What pages show of traps, and what is learnt from it.

use serde::{Deserialize, Serialize};

use super::{CrawlUrl, Failure, HostId, Sketch, UrlId};

/// What about a page may be a trap's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrapSignals {
    /// The page fetched before that says the same, or nearly.
    pub twin: Option<UrlId>,
    /// It says of itself, with a good status, that there is no such page.
    pub missing: bool,
    /// It brings nothing of its own to the series of pages that its URL lies in.
    pub barren: bool,
}

/// What the crawl has come to know of a host's traps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrapStep {
    /// A page that cannot exist was asked for.
    Absent {
        /// The host.
        host: HostId,
        /// What came; none where the host says that there is no such page, or what came was no page.
        answer: Option<AbsentPage>,
        /// Pages fetched before that say the same: they were none.
        pages: Vec<UrlId>,
    },
    /// A parameter is a session's: from now on it is dropped from the host's URLs.
    Session {
        /// The host.
        host: HostId,
        /// Name of the parameter.
        name: String,
    },
    /// Two hosts have the same pages: of each only those are fetched that are not known of the other.
    Mirror {
        /// The host that was known later, with its port where it has one.
        host: String,
        /// The other.
        of: String,
    },
    /// A series of pages brings nothing any more: nothing further of it is fetched.
    Barren {
        /// Its last page.
        id: UrlId,
    },
    /// A page that cannot exist was asked for, and nobody answered, or only that it should be asked for later.
    Unanswered {
        /// The host.
        host: HostId,
        /// What went wrong.
        failure: Failure,
    },
    /// A parameter that was taken for a session's is none: without it a page cannot be had, or is another.
    NoSession {
        /// The host.
        host: HostId,
        /// Name of the parameter.
        name: String,
    },
}

/// What a host answers of a page that cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AbsentPage {
    /// A page.
    Page {
        /// Sketch of its main text.
        sketch: Sketch,
        /// Hash of its title.
        title: u32,
    },
    /// A redirect.
    Redirect(CrawlUrl),
}
