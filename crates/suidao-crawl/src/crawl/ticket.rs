//! What the machine requests from its driver. Every fetch needs a ticket, which is settled once.

use suidao_forum::forum::analysis::ForumAnalysis;
use suidao_page::model::{Batch, CrawlUrl, HostId, Millis, Stop, UrlId, Validators};

use super::groups::HostGroups;

#[derive(Clone, Debug, PartialEq)]
pub enum FetchKind {
    /// A page; checked for being a forum's if it may be one.
    Page(UrlId),
    /// A page that is not checked for being a forum's.
    Plain(UrlId),
    /// A page of a forum, with the analysis to run.
    Forum(UrlId, ForumAnalysis),
    /// A sitemap or a feed: which pages exist, and which have changed.
    Sitemap(UrlId),
    /// A page that cannot exist, to see how the host answers.
    Soft404Probe(HostId),
    /// The robots.txt of the host, for http or https.
    Robots { host: HostId, https: bool },
}

impl FetchKind {
    /// The URL that the frontier gave out; none for what is fetched because of it.
    pub fn url_id(&self) -> Option<UrlId> {
        match self {
            Self::Page(id) | Self::Plain(id) | Self::Forum(id, _) | Self::Sitemap(id) => Some(*id),
            Self::Soft404Probe(_) | Self::Robots { .. } => None,
        }
    }
}

/// Permission for one fetch. Settle it exactly once; after a crash the URL is still queued.
#[derive(Debug)]
pub struct Ticket {
    pub url: CrawlUrl,
    pub kind: FetchKind,
    /// Validators of the known version, for a conditional request.
    pub validators: Option<Box<Validators>>,
    pub(super) host: HostId,
    pub(super) groups: HostGroups,
    /// For a robots.txt: the scheme and authority that it applies to.
    pub(super) origin: String,
    /// Revisits a page fetched before.
    pub(super) again: bool,
}

#[derive(Debug)]
pub enum Next {
    Fetch(Ticket),
    /// No request yet: events to log. They have been applied; call `next` again.
    Record(Batch),
    /// Nothing before this time or before a ticket settles; without a time, only the latter.
    Wait(Option<Millis>),
    Done(Stop),
}
