//! Counts of a crawl: what the screen, the summary and the limits need.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use suidao_page::model::SkipReason;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub pages: u64,
    pub relevant: u64,
    /// Bytes of the pages' bodies, uncompressed, revisits included.
    pub bytes: u64,
    /// Revisits of fetched pages.
    pub visits: u64,
    /// Requests that were answered or may have been: for pages, robots.txt and sitemaps, failed ones too. Those of a
    /// refresh are not counted.
    pub requests: u64,
    /// Those that failed because of their hosts: incomplete answers, 429, 5xx.
    pub requests_failed: u64,
    /// URLs given up after failed fetches.
    pub failed: u64,
    /// URLs excluded on discovery or when their turn came.
    #[serde(rename = "skipped")]
    pub excluded: u64,
    pub queued: u64,
    pub known: u64,
    pub hosts: u64,
    /// Hosts with a fetched page.
    pub hosts_visited: u64,
    /// Hosts with a fetched relevant page.
    pub hosts_relevant: u64,
}

impl Progress {
    pub(super) fn answered(&self) -> u64 {
        self.requests - self.requests_failed
    }
}

/// Progress, and excluded URLs. A fold of the events.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Counts {
    pub progress: Progress,
    /// Settled page tickets.
    pub attempts: u64,
    /// Excluded URLs by reason; each counts under its current state.
    pub exclusions: BTreeMap<SkipReason, u64>,
    /// Fingerprints of URLs excluded on discovery, so that each is logged once.
    pub skipped: FxHashSet<u64>,
}

impl Counts {
    pub fn refuse(&mut self, reason: SkipReason) {
        self.progress.excluded += 1;
        *self.exclusions.entry(reason).or_default() += 1;
    }

    /// A URL excluded before is accepted.
    pub fn accept(&mut self, reason: SkipReason) {
        self.progress.excluded -= 1;
        *self.exclusions.entry(reason).or_default() -= 1;
    }
}
