//! Change signals: sitemaps and feeds that state which pages have changed.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::revisit::Trust;
use crate::revisit::history::days;
use suidao_page::model::{CrawlUrl, Event, Hints, HostId, LinkState, Millis, UrlId, UrlOrigin, Validators};

use super::machine::Crawl;

/// Minimum number of pages of a host for reading its sources.
const PAGES: usize = 5;
/// Minimum days between requests of a source; longer for one that recently named no known page.
const EVERY: f64 = 0.5;
const USELESS: f64 = 14.0;
/// Signals with more doubt are ignored: an unreliable source's remaining trust would add days to pages that hardly
/// change.
const HEEDED: f64 = 0.7;
/// Maximum number of sources of one host, and of redirects to one.
pub(super) const SOURCES: usize = 4;

#[derive(Clone, Debug, Default)]
struct Source {
    asked: Option<Millis>,
    /// It named a known page, with a time, when last read.
    useful: bool,
    validators: Option<Box<Validators>>,
    /// Found in a sitemap. Sources that it names are ignored: deeper nesting is unnecessary and may never end.
    inner: bool,
}

/// Known sources, and how reliable each host's signals are. A fold of the events.
#[derive(Default)]
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
    pub fn prove(&mut self, host: HostId, still: f64, changed: bool) {
        self.trust.entry(host).or_default().observe(still, changed);
    }

    /// Probability that none of a host's `signals` is true.
    pub fn doubt(&self, host: HostId, signals: u32) -> f64 {
        let doubt = self.trust.get(&host).copied().unwrap_or_default().doubt(signals);
        if doubt > HEEDED { 1.0 } else { doubt }
    }

    pub fn name_feeds(&mut self, host: HostId, feeds: &[CrawlUrl]) {
        if !feeds.is_empty() {
            self.feeds.entry(host).or_insert_with(|| feeds.to_vec());
        }
    }

    /// Records a request of a source, and its result if there was one.
    pub fn read(&mut self, id: UrlId, at: Millis, told: Option<(bool, &Option<Box<Validators>>)>) {
        let Some(source) = self.sources.get_mut(&id) else { return };
        source.asked = Some(at);
        match told {
            Some((useful, validators)) => (source.useful, source.validators) = (useful, validators.clone()),
            None => source.useful = false,
        }
    }
}

impl Crawl {
    /// The sources to request now, numbered, hosts with most pages first, at most `most`.
    pub(super) fn sources(&mut self, events: &mut Vec<Event>, most: usize, now: Millis) -> Vec<UrlId> {
        let Some(refreshing) = &self.refreshing else { return Vec::new() };
        let settings = refreshing.settings().clone();
        let mut pages: BTreeMap<HostId, usize> = BTreeMap::new();
        for (id, _) in refreshing.histories.iter().filter(|(_, page)| !page.retired) {
            *pages.entry(self.urls.get(id).host()).or_default() += 1;
        }
        let mut hosts: Vec<(HostId, usize)> = pages.into_iter().filter(|(_, pages)| *pages >= PAGES).collect();
        hosts.sort_by_key(|(host, pages)| (std::cmp::Reverse(*pages), *host));
        let mut named = Vec::new();
        for (host, _) in hosts {
            let mut of_host = Vec::new();
            if settings.sitemaps && self.conditions.politeness.robots {
                of_host.extend(self.hosts.get(host).sitemaps());
            }
            if settings.feeds {
                of_host.extend(refreshing.signals.feeds.get(&host).into_iter().flatten().cloned());
            }
            of_host.retain(|url| self.may_be_asked(host, url));
            named.extend(of_host.into_iter().take(SOURCES));
        }
        // Sitemaps named by a sitemap are already registered.
        let mut ids: Vec<UrlId> = Vec::new();
        for url in named {
            let url = self.in_preferred_scheme(&url).unwrap_or(url);
            ids.push(self.number(events, &url, UrlOrigin::Named, "", now));
        }
        let Some(refreshing) = &self.refreshing else { return Vec::new() };
        ids.extend(refreshing.signals.sources.keys());
        let mut seen = rustc_hash::FxHashSet::default();
        ids.retain(|id| {
            let source = refreshing.signals.sources.get(id);
            let rested = source.is_none_or(|source| {
                let wait = if source.useful || source.asked.is_none() { EVERY } else { USELESS };
                source.asked.is_none_or(|asked| days(now.since(asked)) >= wait)
            });
            // A source that is fetched as a page, because it is linked and parses as one, is not read as a source.
            let waits = matches!(self.urls.get(*id).state, LinkState::Queued | LinkState::InFlight);
            rested && !waits && seen.insert(*id) && refreshing.histories.get(*id).is_none()
        });
        ids.truncate(most);
        ids
    }

    /// Whether a source is on the host that names it, and in scope.
    pub(super) fn may_be_asked(&self, host: HostId, url: &CrawlUrl) -> bool {
        self.refuses_file(url).is_none() && self.hosts.id_of(url) == Some(host)
    }

    /// Logs which known pages a source reports as changed since their last visit.
    pub(super) fn settle_hints(
        &mut self,
        events: &mut Vec<Event>,
        id: UrlId,
        hints: Hints,
        validators: Option<Box<Validators>>,
        now: Millis,
    ) {
        let host = self.urls.get(id).host();
        let mut useful = false;
        let mut pages: Vec<UrlId> = Vec::new();
        let is_listing = self.sourcing.is_source(id);
        for hint in &hints.pages {
            let Some(at) = hint.at else { continue };
            let known = self.urls.find(&hint.url).or_else(|| self.urls.find(&self.in_preferred_scheme(&hint.url)?));
            // A source counts only for its own host.
            let Some(known) = known.filter(|known| self.urls.get(*known).host() == host) else { continue };
            let Some(page) = self.refreshing.as_ref().and_then(|refreshing| refreshing.histories.get(known)) else {
                continue;
            };
            useful = true;
            if at > page.last && !page.retired {
                pages.push(known);
            }
        }
        pages.sort_unstable();
        pages.dedup();
        let mut sources = Vec::new();
        let inner = self.refreshing.as_ref().is_none_or(|refreshing| refreshing.signals.is_inner(id));
        for url in hints.sitemaps.iter().filter(|_| !inner && !is_listing).take(SOURCES) {
            let url = self.in_preferred_scheme(url).unwrap_or_else(|| url.clone());
            if self.may_be_asked(host, &url) {
                sources.push(self.number(events, &url, UrlOrigin::Listed(id), "", now));
            }
        }
        let links = if is_listing { self.take_listed(events, id, hints, &mut sources, now) } else { Vec::new() };
        // An index is useful for what it leads to.
        useful |= !sources.is_empty();
        self.tell(events, Event::SitemapRead { id, pages, sources, useful, links, validators }, now);
    }

    /// Settles a 304 of a source.
    pub(super) fn settle_same_hints(&mut self, events: &mut Vec<Event>, id: UrlId, now: Millis) {
        let validators = self.refreshing.as_ref().and_then(|refreshing| refreshing.signals.validators(id));
        let (pages, sources, links) = (Vec::new(), Vec::new(), Vec::new());
        let event = Event::SitemapRead { id, pages, sources, useful: true, links, validators };
        self.tell(events, event, now);
    }

    /// A source redirects: the target is requested next time.
    pub(super) fn settle_moved_source(&mut self, events: &mut Vec<Event>, id: UrlId, to: &CrawlUrl, now: Millis) {
        let to = self.in_preferred_scheme(to).unwrap_or_else(|| to.clone());
        let mut sources = Vec::new();
        let mut links = Vec::new();
        let inner = self.refreshing.as_ref().is_none_or(|refreshing| refreshing.signals.is_inner(id));
        if self.sourcing.is_source(id) {
            links = self.follow_source(events, id, &to, &mut sources, now);
        } else if !inner && self.may_be_asked(self.urls.get(id).host(), &to) {
            sources.push(self.number(events, &to, UrlOrigin::Redirect(id), "", now));
        }
        let pages = Vec::new();
        self.tell(events, Event::SitemapRead { id, pages, sources, useful: false, links, validators: None }, now);
    }

    pub(super) fn observe_hints(
        &mut self,
        id: UrlId,
        pages: &[UrlId],
        sources: &[UrlId],
        told: (bool, &Option<Box<Validators>>),
        at: Millis,
    ) {
        let Some(refreshing) = &mut self.refreshing else { return };
        refreshing.signals.read(id, at, Some(told));
        refreshing.signals.add(sources, false);
        for page in pages {
            refreshing.histories.signal(*page);
        }
        let new: Vec<UrlId> =
            sources.iter().copied().filter(|id| self.urls.get(*id).state == LinkState::Dropped).collect();
        // Sitemaps named by a sitemap are requested in the same round.
        self.make_sources_due(&new);
        for page in pages {
            self.reschedule(*page, at);
        }
    }
}
