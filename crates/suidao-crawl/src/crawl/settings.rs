//! Settings of a crawl, except for its strategy, and what follows from them alone.

use serde::{Deserialize, Serialize};

use crate::strategy::scope::CrawlScope;
use crate::trap::{Traps, path};
use suidao_page::model::{CrawlUrl, Relevance, SkipReason};

use super::forum_state::ForumMode;
use super::goals::StopConditions;
use super::partition::Partition;
use super::politeness::Politeness;
use super::refresh::Refresh;
use super::sources::Sources;
use super::spend::MinimumShare;
use super::watch::Watch;

/// `[limits]` of the configuration. Unset limits do not apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlLimits {
    /// Pages to fetch, relevant or not; the crawl fetches exactly this many.
    pub pages: Option<u64>,
    /// Requests of the whole crawl that were answered or may have been; the default is computed by
    /// [`CrawlLimits::most_requests`].
    pub requests: Option<u64>,
    pub pages_per_host: Option<u32>,
    /// Maximum number of links between a seed and a page.
    pub depth: Option<u16>,
    /// Maximum number of consecutive off-topic pages regardless of the scores of their links. In a configuration `None`
    /// is four times the k of the strategy.
    pub hops: Option<u16>,
    /// Maximum number of consecutive redirects, at most 15.
    pub redirects: u8,
    /// Retries of a failed fetch, at most 15.
    pub retries: u8,
    /// A host is given up after this many consecutive failures, over at least `politeness.give_up` seconds.
    pub host_failures: u32,
}

impl Default for CrawlLimits {
    fn default() -> Self {
        Self {
            pages: None,
            requests: None,
            pages_per_host: None,
            depth: None,
            hops: None,
            redirects: 5,
            retries: 2,
            host_failures: 10,
        }
    }
}

impl CrawlLimits {
    /// Maximum number of requests for this many pages: as configured, or ten per page plus 1,000. Ordinary crawls need
    /// one or two per page; one that needs ten is in a trap. The default ignores requests that failed because of their
    /// hosts: waits and retries bound those, and many links to dead hosts are not a trap.
    pub fn most_requests(&self, pages: Option<u64>) -> Option<u64> {
        self.requests.or(pages.map(|pages| pages.saturating_mul(10).saturating_add(1_000)))
    }
}

/// Settings of a crawl, except for its strategy.
#[derive(Clone, Debug, Default)]
pub struct CrawlSettings {
    pub limits: CrawlLimits,
    /// When to stop; a refresh has a budget instead.
    pub goals: StopConditions,
    pub politeness: Politeness,
    pub scope: CrawlScope,
    pub traps: Traps,
    /// Use of sitemaps and feeds.
    pub sources: Sources,
    /// ISO 639-3 codes of accepted languages; empty means all. Pages in other languages are off-topic.
    pub languages: Vec<String>,
    /// Product token for robots.txt.
    pub agent: String,
    /// Default: [`MinimumShare::BALANCED`] if priorities are expected rewards, else [`MinimumShare::TIME`].
    pub spend: Option<MinimumShare>,
    /// Seeds the random choices of the queue policy.
    pub seed: u64,
    /// τ_page: pages at or above it are relevant.
    pub page_threshold: Relevance,
    /// τ_link.
    pub link_threshold: Relevance,
    pub forums: ForumMode,
    /// Repeated visits of a forum's boards, if wanted.
    pub watch: Option<Watch>,
    /// Revisits of fetched pages, if wanted.
    pub refresh: Option<Refresh>,
    /// The hosts that this machine crawls, if others crawl the rest.
    pub partition: Option<Partition>,
    /// Of a partition: share of relevant pages of the whole crawl. In a refresh, new links that are expected to be relevant
    /// as often are promising.
    pub harvest_rate: Option<f64>,
}

impl CrawlSettings {
    /// Why a URL is excluded regardless of the links to it; none if it is allowed.
    pub(super) fn skip_reason(&self, url: &CrawlUrl) -> Option<SkipReason> {
        self.scope.skip_reason(url).or_else(|| path::skip_reason(&self.traps, url))
    }

    /// As [`CrawlSettings::skip_reason`], for a sitemap or a feed, whose extension may be excluded for pages.
    pub(super) fn file_skip_reason(&self, url: &CrawlUrl) -> Option<SkipReason> {
        let out_of_scope = self.scope.skip_reason(url).filter(|reason| *reason != SkipReason::Extension);
        out_of_scope.or_else(|| path::skip_reason(&self.traps, url))
    }

    /// Whether the language of a page is excluded by `languages`.
    pub(super) fn is_foreign(&self, language: Option<&str>) -> bool {
        let accepted = &self.languages;
        !accepted.is_empty() && !language.is_some_and(|language| accepted.iter().any(|one| one == language))
    }
}
