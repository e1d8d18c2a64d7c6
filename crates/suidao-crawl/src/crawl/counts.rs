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
    /// URLs skipped: links to them were rejected, or they were excluded when they would have been fetched.
    pub skipped: u64,
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

/// Progress, and skipped URLs. A fold of the events.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Counts {
    pub progress: Progress,
    /// Settled page tickets.
    pub attempts: u64,
    /// Skipped URLs by reason; each counts under its current state.
    pub skipped_by_reason: BTreeMap<SkipReason, u64>,
    /// Fingerprints of URLs whose links were rejected, so that each is logged once.
    pub rejected: FxHashSet<u64>,
}

impl Counts {
    pub fn count_skipped(&mut self, reason: SkipReason) {
        self.progress.skipped += 1;
        *self.skipped_by_reason.entry(reason).or_default() += 1;
    }

    /// A URL skipped before is accepted.
    pub fn accept(&mut self, reason: SkipReason) {
        self.progress.skipped -= 1;
        *self.skipped_by_reason.entry(reason).or_default() -= 1;
    }
}
