//! Counts of the log, accumulated in one pass over its batches.
//!
//! Memory: 14 bytes per known URL, about 10 more per URL skipped without a number, 20 per page, 12 per failure.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::tunnels::{NO_PARENT, TreePage};
use suidao_page::model::{Event, FailureKind, SkipReason, UrlId};
use suidao_store::corpus::Catalogue;
use suidao_store::store::Record;
use suidao_store::store::skipped::UrlStatuses;

pub(super) struct ReportAccumulator<'a> {
    catalogue: &'a Catalogue,
    hosts: FxHashMap<&'a str, u32>,
    pub(super) statuses: UrlStatuses,
    pub(super) host_of: Vec<u32>,
    /// The URL on which each was found, or [`NO_PARENT`].
    origins: Vec<u32>,
    /// Index of each URL's page, or [`NO_PARENT`].
    positions: Vec<u32>,
    pub(super) found: Vec<TreePage>,
    /// By term: pages, and relevant ones.
    pub(super) terms: FxHashMap<String, (u64, u64)>,
    /// Reason of each failed URL, an index.
    pub(super) failures: BTreeMap<UrlId, u16>,
    pub(super) reasons: Vec<FailureKind>,
    /// Reasons of URLs skipped without a number, by fingerprint.
    pub(super) skipped: FxHashMap<u64, SkipReason>,
    /// Bytes of the pages' records.
    pub(super) archived: u64,
}

impl<'a> ReportAccumulator<'a> {
    pub(super) fn new(catalogue: &'a Catalogue) -> Self {
        Self {
            catalogue,
            hosts: (0..).zip(&catalogue.hosts).map(|(number, host)| (host.as_str(), number)).collect(),
            statuses: UrlStatuses::default(),
            host_of: Vec::new(),
            origins: Vec::new(),
            positions: Vec::new(),
            found: Vec::with_capacity(catalogue.entries.len()),
            terms: FxHashMap::default(),
            failures: BTreeMap::new(),
            reasons: Vec::new(),
            skipped: FxHashMap::default(),
            archived: 0,
        }
    }

    /// Adds a batch; each batch once, in order.
    pub(super) fn observe(&mut self, record: &Record) {
        for event in &record.batch.events {
            self.statuses.observe(event);
            match event {
                Event::Discovered(found) => {
                    self.host_of.push(self.hosts.get(found.url.authority()).copied().unwrap_or(NO_PARENT));
                    self.positions.push(NO_PARENT);
                    self.origins.push(found.origin.source().map_or(NO_PARENT, |from| from.0));
                }
                Event::PageFetched(page) => {
                    self.archived += record.archive.map_or(0, |location| location.length);
                    let spot = self.found.len() as u32;
                    // Only the first visit shows how the page was found.
                    let entry = self.catalogue.entries.get(spot as usize).filter(|entry| entry.id == page.id);
                    let Some(entry) = entry else { continue };
                    self.found.push(TreePage {
                        parent: self.parent(page.id),
                        host: entry.host,
                        relevant: entry.is_relevant(),
                        on_topic: entry.on_topic,
                        hops: page.queued_as.path.hops.into(),
                    });
                    if let Some(own) = self.positions.get_mut(page.id.0 as usize) {
                        *own = spot;
                    }
                    for found in &page.terms {
                        if !self.terms.contains_key(&found.term) {
                            self.terms.insert(found.term.clone(), (0, 0));
                        }
                        if let Some((pages, relevant)) = self.terms.get_mut(&found.term) {
                            *pages += 1;
                            *relevant += u64::from(page.is_relevant_document());
                        }
                    }
                }
                Event::FetchFailed { id, failure } => {
                    let known = self.reasons.iter().position(|reason| *reason == failure.kind);
                    let reason = known.unwrap_or_else(|| {
                        self.reasons.push(failure.kind.clone());
                        self.reasons.len() - 1
                    });
                    self.failures.insert(*id, u16::try_from(reason).unwrap_or(u16::MAX));
                }
                Event::LinkRejected { url, reason, .. } => {
                    self.skipped.entry(url.fingerprint()).or_insert(*reason);
                }
                _ => {}
            }
        }
    }

    /// Index of the page on whose path a URL was found, without redirects.
    fn parent(&self, id: UrlId) -> u32 {
        let up = |id: &u32| self.origins.get(*id as usize).copied().filter(|up| up < id);
        let position = |id: u32| self.positions.get(id as usize).copied().filter(|position| *position != NO_PARENT);
        // A URL has a higher number than the one on which it was found.
        std::iter::successors(up(&id.0), up).find_map(position).unwrap_or(NO_PARENT)
    }
}
