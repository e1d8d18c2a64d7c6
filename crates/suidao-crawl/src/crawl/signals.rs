//! Change signals: sitemaps and feeds that state which pages have changed.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::revisit::Trust;
use crate::revisit::history::days;
use suidao_page::model::{CrawlUrl, HostId, Millis, UrlId, Validators};

/// Minimum days between requests of a source; longer for one that recently named no known page.
const EVERY: f64 = 0.5;
const USELESS: f64 = 14.0;
/// Signals that are more probably false are ignored: the little trust left in a source would cause visits of pages that
/// hardly change.
const MAX_FALSE_PROBABILITY: f64 = 0.7;

#[derive(Clone, Debug, Default)]
struct Source {
    last_request: Option<Millis>,
    /// It named a known page, with a time, when last read.
    useful: bool,
    validators: Option<Box<Validators>>,
    /// Found in a sitemap. Sources that it names are ignored: deeper nesting is unnecessary and may never end.
    inner: bool,
}

/// Known sources, and how reliable each host's signals are. A fold of the events.
#[derive(Debug, Default)]
pub(super) struct Signals {
    sources: BTreeMap<UrlId, Source>,
    trust: FxHashMap<HostId, Trust>,
    feeds: BTreeMap<HostId, Vec<CrawlUrl>>,
}

impl Signals {
    pub fn is_source(&self, id: UrlId) -> bool {
        self.sources.contains_key(&id)
    }

    pub fn is_inner(&self, id: UrlId) -> bool {
        self.sources.get(&id).is_some_and(|source| source.inner)
    }

    pub fn validators(&self, id: UrlId) -> Option<Box<Validators>> {
        self.sources.get(&id).and_then(|source| source.validators.clone())
    }

    pub fn add(&mut self, ids: &[UrlId], outer: bool) {
        for id in ids {
            self.sources.entry(*id).or_insert_with(|| Source { inner: !outer, ..Source::default() });
        }
    }

    /// A page with signals was visited; `still`: the probability, without them, that it had not changed.
    pub fn record_visit(&mut self, host: HostId, still: f64, changed: bool) {
        self.trust.entry(host).or_default().observe(still, changed);
    }

    /// Probability that none of a host's `signals` is true.
    pub fn false_signal_probability(&self, host: HostId, signals: u32) -> f64 {
        let probability = self.trust.get(&host).copied().unwrap_or_default().false_signal_probability(signals);
        if probability > MAX_FALSE_PROBABILITY { 1.0 } else { probability }
    }

    pub fn name_feeds(&mut self, host: HostId, feeds: &[CrawlUrl]) {
        if !feeds.is_empty() {
            self.feeds.entry(host).or_insert_with(|| feeds.to_vec());
        }
    }

    /// Records a request of a source, and its result if there was one.
    pub fn read(&mut self, id: UrlId, at: Millis, result: Option<(bool, &Option<Box<Validators>>)>) {
        let Some(source) = self.sources.get_mut(&id) else { return };
        source.last_request = Some(at);
        match result {
            Some((useful, validators)) => (source.useful, source.validators) = (useful, validators.clone()),
            None => source.useful = false,
        }
    }

    /// The feeds named by pages of a host.
    pub fn feeds(&self, host: HostId) -> &[CrawlUrl] {
        self.feeds.get(&host).map_or(&[], Vec::as_slice)
    }

    pub fn sources(&self) -> impl Iterator<Item = UrlId> + '_ {
        self.sources.keys().copied()
    }

    /// Whether a source may be requested again.
    pub fn is_rested(&self, id: UrlId, now: Millis) -> bool {
        self.sources.get(&id).is_none_or(|source| {
            let wait = if source.useful || source.last_request.is_none() { EVERY } else { USELESS };
            source.last_request.is_none_or(|last_request| days(now.since(last_request)) >= wait)
        })
    }
}
