//! The names of the few pages and URLs listed by name, and the reasons why URLs were not fetched.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::accumulator::ReportAccumulator;
use super::facts::{NamedPage, Reason, Why};
use super::tunnels::NO_PARENT;
use suidao_page::model::{CrawlUrl, Event, SkipReason, UrlId};
use suidao_store::corpus::Catalogue;
use suidao_store::store::skipped::UrlStatus;
use suidao_store::store::{Store, StoreError};

const EXAMPLES: usize = 3;

/// Candidates kept of URLs skipped without a number, because some may get a number later.
const CANDIDATES: usize = 64;

/// URLs by reason: their number, and the first of them.
pub(super) type ByReason<R> = BTreeMap<R, (u64, Vec<UrlId>)>;

/// Failed and skipped URLs with a number, by reason.
pub(super) fn examples(accumulator: &ReportAccumulator) -> (ByReason<u16>, ByReason<SkipReason>) {
    fn add<R: Ord>(reasons: &mut ByReason<R>, reason: R, id: UrlId) {
        let (urls, examples) = reasons.entry(reason).or_default();
        *urls += 1;
        if examples.len() < EXAMPLES {
            examples.push(id);
        }
    }
    let (mut failed, mut skipped) = (ByReason::new(), ByReason::new());
    for (id, status) in (0..).map(UrlId).zip(&accumulator.statuses.of) {
        match status {
            UrlStatus::Failed => {
                let reason = accumulator.failures.get(&id).copied().unwrap_or(u16::MAX);
                add(&mut failed, reason, id);
            }
            UrlStatus::Dropped(reason) | UrlStatus::Skipped(reason) => add(&mut skipped, *reason, id),
            UrlStatus::New | UrlStatus::Waiting | UrlStatus::Done => {}
        }
    }
    (failed, skipped)
}

pub(super) fn reasons<R>(by_reason: ByReason<R>, names: &PageNames, why: impl Fn(&R) -> Why) -> Vec<Reason> {
    let reason = |(reason, (urls, examples)): (R, (u64, Vec<UrlId>))| Reason {
        why: why(&reason),
        urls,
        examples: examples.iter().filter_map(|id| Some(names.urls.get(id)?.0.clone())).collect(),
    };
    let mut reasons: Vec<Reason> = by_reason.into_iter().map(reason).collect();
    reasons.sort_by_key(|reason| Reverse(reason.urls));
    reasons
}

/// URLs and titles of the pages listed by name.
pub(super) struct PageNames {
    pub(super) urls: FxHashMap<UrlId, (CrawlUrl, String)>,
    titles: FxHashMap<UrlId, String>,
    skipped: Vec<CrawlUrl>,
}

impl PageNames {
    /// Reads the names of these; removes from `skipped` what has a number after all.
    pub(super) fn read(
        store: &Store,
        wanted: &FxHashSet<UrlId>,
        skipped: &mut FxHashMap<u64, SkipReason>,
    ) -> Result<Self, StoreError> {
        let mut names = Self { urls: FxHashMap::default(), titles: FxHashMap::default(), skipped: Vec::new() };
        let mut candidates: BTreeMap<SkipReason, Vec<CrawlUrl>> = BTreeMap::new();
        for record in store.batches() {
            for event in record?.batch.events {
                match event {
                    Event::Discovered(found) => {
                        skipped.remove(&found.url.fingerprint());
                        if wanted.contains(&found.id) {
                            names.urls.insert(found.id, (found.url, found.anchor));
                        }
                    }
                    Event::PageFetched(page) if wanted.contains(&page.id) => {
                        names.titles.insert(page.id, page.title);
                    }
                    Event::LinkRejected { url, .. } => {
                        let Some(reason) = skipped.get(&url.fingerprint()) else { continue };
                        let urls = candidates.entry(*reason).or_default();
                        if urls.len() < CANDIDATES && !urls.contains(&url) {
                            urls.push(url);
                        }
                    }
                    _ => {}
                }
            }
        }
        names.skipped = candidates.into_values().flatten().collect();
        Ok(names)
    }

    pub(super) fn page(&self, catalogue: &Catalogue, position: u32) -> Option<NamedPage> {
        let entry = catalogue.entries.get(position as usize).filter(|_| position != NO_PARENT)?;
        Some(NamedPage {
            url: self.urls.get(&entry.id)?.0.clone(),
            title: self.titles.get(&entry.id).cloned().unwrap_or_default(),
            relevance: entry.relevance,
            on_topic: entry.on_topic,
            relevant: entry.is_relevant(),
        })
    }

    /// Adds the URLs skipped without a number to those with one.
    pub(super) fn add_skipped(&self, reasons: &mut Vec<Reason>, skipped: &FxHashMap<u64, SkipReason>) {
        let mut counted: BTreeMap<SkipReason, u64> = BTreeMap::new();
        for reason in skipped.values() {
            *counted.entry(*reason).or_default() += 1;
        }
        for (reason, urls) in counted {
            let why = Why::Skipped(reason);
            let at = reasons.iter().position(|known| known.why == why).unwrap_or_else(|| {
                reasons.push(Reason { why, urls: 0, examples: Vec::new() });
                reasons.len() - 1
            });
            let spot = &mut reasons[at];
            spot.urls += urls;
            let of_reason = |url: &&CrawlUrl| skipped.get(&url.fingerprint()) == Some(&reason);
            let room = EXAMPLES.saturating_sub(spot.examples.len());
            spot.examples.extend(self.skipped.iter().filter(of_reason).take(room).cloned());
        }
        reasons.sort_by_key(|reason| Reverse(reason.urls));
    }
}
