//! What sites say of their own pages, sitemaps and feeds, as signals that some have changed.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::revisit::Trust;
use crate::revisit::history::days;
use suidao_page::model::{CrawlUrl, Event, Hints, HostId, LinkState, Millis, UrlId, UrlOrigin, Validators};

use super::machine::Crawl;

/// Fewest pages of a host that make it worth asking what has changed.
const PAGES: usize = 5;
/// A source is not asked more often than once in so many days, one that told of no page for a time longer.
const EVERY: f64 = 0.5;
const USELESS: f64 = 14.0;
/// Signals that are doubted more are not heeded: what is left of a liar's credit would add days to pages that hardly change.
const HEEDED: f64 = 0.7;
/// Sources of one host, and redirects to one, at most.
pub(super) const SOURCES: usize = 4;

/// A sitemap or a feed.
#[derive(Clone, Debug, Default)]
struct Source {
    asked: Option<Millis>,
    /// It told of a known page, and when, the last time that it was read.
    useful: bool,
    validators: Option<Box<Validators>>,
    /// A sitemap named it, and what it names in turn is not asked: nobody needs more, and some never end.
    inner: bool,
}

/// What is known of the sources, and how far they can be believed. A fold of the events.
#[derive(Default)]
pub(super) struct Signals {
    sources: BTreeMap<UrlId, Source>,
    trust: FxHashMap<HostId, Trust>,
    /// Feeds that hosts name.
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

    /// Takes in that URLs are sources.
    pub fn add(&mut self, ids: &[UrlId], outer: bool) {
        for id in ids {
            self.sources.entry(*id).or_insert_with(|| Source { inner: !outer, ..Source::default() });
        }
    }

    /// A page that had signals was visited; `still`: how probable it was without them that it had not changed.
    pub fn prove(&mut self, host: HostId, still: f64, changed: bool) {
        self.trust.entry(host).or_default().observe(still, changed);
    }

    /// Probability that none of so many signals of a host is true.
    pub fn doubt(&self, host: HostId, signals: u32) -> f64 {
        let doubt = self.trust.get(&host).copied().unwrap_or_default().doubt(signals);
        if doubt > HEEDED { 1.0 } else { doubt }
    }

    pub fn name_feeds(&mut self, host: HostId, feeds: &[CrawlUrl]) {
        if !feeds.is_empty() {
            self.feeds.entry(host).or_insert_with(|| feeds.to_vec());
        }
    }

    /// A source was asked, with what came of it if something did.
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
    /// The sources to be asked now, numbered, of the hosts with most pages first: at most so many.
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
        // Further sitemaps that a sitemap named are sources already.
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
            // A source that is fetched as a page is none: somebody links to it, and it reads as one.
            let waits = matches!(self.urls.get(*id).state, LinkState::Queued | LinkState::InFlight);
            rested && !waits && seen.insert(*id) && refreshing.histories.get(*id).is_none()
        });
        ids.truncate(most);
        ids
    }

    /// Whether a source that a host names is one of the host itself, and may be touched.
    pub(super) fn may_be_asked(&self, host: HostId, url: &CrawlUrl) -> bool {
        self.refuses_file(url).is_none() && self.hosts.id_of(url) == Some(host)
    }

    /// What a source says: told as which known pages it says have changed since they were last there.
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
            // A site speaks for itself.
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
        // An index is asked because of what it leads to.
        useful |= !sources.is_empty();
        self.tell(events, Event::SitemapRead { id, pages, sources, useful, links, validators }, now);
    }

    /// A source says that nothing has changed.
    pub(super) fn settle_same_hints(&mut self, events: &mut Vec<Event>, id: UrlId, now: Millis) {
        let validators = self.refreshing.as_ref().and_then(|refreshing| refreshing.signals.validators(id));
        let (pages, sources, links) = (Vec::new(), Vec::new(), Vec::new());
        let event = Event::SitemapRead { id, pages, sources, useful: true, links, validators };
        self.tell(events, event, now);
    }

    /// A source has moved: it is asked where it has moved to the next time.
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

    /// The part of signals in the fold.
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
        // What a sitemap names is asked in the same round.
        self.make_sources_due(&new);
        for page in pages {
            self.reschedule(*page, at);
        }
    }
}
