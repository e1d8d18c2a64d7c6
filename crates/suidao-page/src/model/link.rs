//! Links: where one leads, what it promises, and the progress of the URL that it leads to.

use serde::{Deserialize, Serialize};

use super::{LinkDecision, LinkScores, Region, Relevance, UrlId};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    pub to: UrlId,
    pub region: Region,
    /// Hash of the tag names and classes from the root to the link.
    pub dom_path: u32,
    pub scores: LinkScores,
    pub relevance: Relevance,
    /// The strategy's decision, after scope and caps.
    pub decision: LinkDecision,
}

impl Link {
    /// A link that is not on any page: a seed, the target of a redirect.
    pub fn without_page(to: UrlId, relevance: Relevance, decision: LinkDecision) -> Self {
        Self { to, region: Region::Content, dom_path: 0, scores: LinkScores::default(), relevance, decision }
    }
}

/// How a URL became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UrlOrigin {
    Seed,
    /// Found as a link on this page.
    Link(UrlId),
    /// This URL answered with a redirect to it.
    Redirect(UrlId),
    /// A sitemap or feed, named by robots.txt or a page.
    Named,
    /// Listed in this sitemap or feed.
    Listed(UrlId),
    /// The canonical URL of this page.
    Canonical(UrlId),
    /// Named from outside the crawl: by a person or another crawl.
    Offered,
}

impl UrlOrigin {
    /// The page, redirect or list that named it.
    pub fn source(self) -> Option<UrlId> {
        match self {
            Self::Seed | Self::Named | Self::Offered => None,
            Self::Link(from) | Self::Redirect(from) | Self::Listed(from) | Self::Canonical(from) => Some(from),
        }
    }
}

/// Progress of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// Known, but every link to it was dropped.
    Dropped,
    /// Waiting in the frontier.
    Queued,
    InFlight,
    Fetched,
    /// Answered with a redirect.
    Redirected,
    /// Gave up after failed attempts.
    Failed,
    /// Excluded after it was queued (robots, budgets).
    Excluded,
    /// Of a host that another partition crawls; no link to it was followed yet.
    Elsewhere,
    /// A link to it was sent to its partition.
    Sent,
}
