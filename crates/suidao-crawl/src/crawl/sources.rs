//! Sitemaps and feeds as a source of URLs: which hosts are asked, and which URLs are taken.
//!
//! A sitemap names all pages of a site, most of them off-topic. So only hosts with relevant pages are asked, URLs are
//! judged like links of an off-topic page, and URLs without topic terms are taken only if most of the host's pages are
//! relevant. A rejected URL gets no number, only a line of the log.

use std::cmp::Reverse;

use ordered_float::OrderedFloat;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::strategy::{LinkCandidate, PageVisit};
use suidao_page::model::{
    CrawlUrl, Event, Hints, HostId, Link, LinkDecision, LinkScores, LinkState, Millis, QueueEntry, Region, Relevance,
    SitemapEntry, SkipReason, UrlId, UrlOrigin,
};

use super::machine::Crawl;
use super::signals::SOURCES;

/// Maximum number of sitemaps from one index, and of files requested from one host.
const FILES: usize = 16;
/// Maximum number of indexes and redirects between a file and the first one.
const LEVELS: u8 = 2;

/// `[sources]` of the configuration. Off by default: links find what is close to the topic, sitemaps name everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sources {
    /// Whether URLs are taken from sitemaps named in robots.txt, or `/sitemap.xml` if it names none.
    pub sitemaps: bool,
    /// Whether URLs are taken from the feeds named on a host's first page.
    pub feeds: bool,
    /// Relevant pages that a host must have before its sitemaps and feeds are read.
    pub after: u32,
    /// Maximum number of URLs taken from the sitemaps and feeds of one host.
    pub per_host: u32,
}

impl Default for Sources {
    fn default() -> Self {
        Self { sitemaps: false, feeds: false, after: 3, per_host: 1000 }
    }
}

impl Sources {
    fn is_on(&self) -> bool {
        self.sitemaps || self.feeds
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Asked {
    files: usize,
    pages: u32,
}

/// State of sitemaps and feeds. A fold of the events.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Sourcing {
    relevant: FxHashMap<HostId, u32>,
    feeds: FxHashMap<HostId, Vec<CrawlUrl>>,
    asked: FxHashMap<HostId, Asked>,
    /// Sitemaps and feeds, with their nesting level.
    sources: FxHashMap<UrlId, u8>,
}

impl Sourcing {
    pub fn is_source(&self, id: UrlId) -> bool {
        self.sources.contains_key(&id)
    }
}

impl Crawl {
    /// Whether a URL must be read as a sitemap or a feed.
    pub(super) fn is_hints(&self, id: UrlId, again: bool) -> bool {
        if again { self.is_source(id) } else { self.sourcing.is_source(id) }
    }

    /// The sitemaps and feeds of a host that just had enough relevant pages. `feeds`: those named on this page.
    pub(super) fn name_sources(
        &mut self,
        events: &mut Vec<Event>,
        visit: &PageVisit,
        feeds: &[CrawlUrl],
        now: Millis,
    ) -> Option<Event> {
        let settings = self.conditions.sources.clone();
        let host = self.urls.get(visit.id).host();
        let relevant = 1 + self.sourcing.relevant.get(&host).copied().unwrap_or_default();
        let proved = visit.relevant && relevant >= settings.after && self.tracked(visit.id).is_none();
        if !settings.is_on() || !proved || self.sourcing.asked.contains_key(&host) {
            return None;
        }
        let own = self.urls.url(visit.id);
        // The URLs of a forum are found through its pages.
        if self.forums.sites.contains_key(own.authority()) {
            return None;
        }
        let mut named: Vec<CrawlUrl> = Vec::new();
        if settings.sitemaps {
            named.extend(self.hosts.get(host).sitemaps());
            if named.is_empty() {
                named.extend(own.join("/sitemap.xml"));
            }
        }
        if settings.feeds {
            let known = self.sourcing.feeds.get(&host).map_or(feeds, Vec::as_slice);
            named.extend(known.iter().cloned());
        }
        let mut links = Vec::new();
        for url in named {
            let url = self.in_preferred_scheme(&url).unwrap_or(url);
            let refusal = self.refuses_source(host, &url);
            let refusal = refusal.or((links.len() >= SOURCES).then_some(SkipReason::SourceLimit));
            if let Some(reason) = refusal {
                self.skip(events, &url, Some(visit.id), reason, now);
                continue;
            }
            let to = self.number(events, &url, UrlOrigin::Named, "", now);
            let waits = matches!(self.urls.get(to).state, LinkState::Dropped | LinkState::Queued);
            if waits && links.iter().all(|link: &Link| link.to != to) {
                links.push(Link::bare(to, Relevance::ONE, LinkDecision::Follow(self.place_of_source(visit, url))));
            }
        }
        Some(Event::SitemapsQueued { host, links })
    }

    /// Queue entry of a source: as deep as a link of the page that triggered it, with the rank of a seed.
    fn place_of_source(&self, visit: &PageVisit, url: CrawlUrl) -> QueueEntry {
        let seed = self.strategy.seed(&url);
        let link = candidate(url, LinkScores::default(), Relevance::ONE);
        let verdict = self.strategy.judge(&PageVisit { links: &[link], ..*visit }).pop();
        match verdict {
            Some(LinkDecision::Follow(place)) => QueueEntry { trail: place.trail, ..seed },
            _ => seed,
        }
    }

    fn refuses_source(&self, host: HostId, url: &CrawlUrl) -> Option<SkipReason> {
        match self.hosts.id_of(url) {
            Some(own) if own == host => {}
            _ => return Some(SkipReason::ForeignSource),
        }
        self.refuses_file(url)
    }

    /// What is taken from a sitemap or a feed: links, and further sitemaps (also returned in `sources`).
    pub(super) fn take_listed(
        &mut self,
        events: &mut Vec<Event>,
        id: UrlId,
        hints: Hints,
        sources: &mut Vec<UrlId>,
        now: Millis,
    ) -> Vec<Link> {
        let mut links = Vec::new();
        for url in hints.sitemaps {
            links.extend(self.source(events, id, &url, UrlOrigin::Listed(id), sources, now));
        }
        let host = self.urls.get(id).host();
        let on_topic = self.is_on_topic(host);
        let mut seen = FxHashSet::default();
        let mut named: Vec<SitemapEntry> = Vec::new();
        for mut hint in hints.pages {
            if let Some(plain) = self.without_session(&hint.url) {
                hint.url = plain;
            }
            if let Some(home) = self.in_preferred_scheme(&hint.url) {
                hint.url = home;
            }
            let known = self.urls.find(&hint.url);
            let waits =
                known.is_none_or(|known| matches!(self.urls.get(known).state, LinkState::Dropped | LinkState::Queued));
            if !waits || known == Some(id) || !seen.insert(hint.url.fingerprint()) {
                continue;
            }
            // The rules for links come before those for sources.
            let refusal = if !hints.feed && self.hosts.id_of(&hint.url) != Some(host) {
                Some(SkipReason::ForeignSource)
            } else {
                let unpromising = hint.relevance == Relevance::ZERO && !on_topic;
                let refusal = self.refuses(&hint.url).or_else(|| self.refuses_new(&hint.url));
                refusal.or(unpromising.then_some(SkipReason::Unpromising))
            };
            match refusal {
                None => named.push(hint),
                Some(reason) if known.is_none() => self.skip(events, &hint.url, Some(id), reason, now),
                Some(_) => {}
            }
        }
        // The most promising first, then the newest, then in file order.
        named.sort_by_key(|hint| (Reverse(OrderedFloat(hint.relevance.get())), Reverse(hint.at)));
        let taken = self.sourcing.asked.get(&host).map_or(0, |asked| asked.pages);
        let left = self.conditions.sources.per_host.saturating_sub(taken) as usize;
        for hint in named.split_off(left.min(named.len())) {
            if self.urls.find(&hint.url).is_none() {
                self.skip(events, &hint.url, Some(id), SkipReason::SourceLimit, now);
            }
        }
        let mut targets = Vec::with_capacity(named.len());
        let mut candidates = Vec::with_capacity(named.len());
        for SitemapEntry { url, anchor, evidence, relevance, .. } in named {
            targets.push(self.number(events, &url, UrlOrigin::Listed(id), &anchor, now));
            candidates.push(candidate(url, evidence, relevance));
        }
        let visit = PageVisit {
            id,
            relevance: Relevance::ZERO,
            relevant: false,
            place: self.urls.get(id).place(),
            layer: None,
            link_threshold: self.conditions.link_threshold,
            links: &candidates,
        };
        links.extend(self.judge(&visit, &targets, None).links);
        links
    }

    pub(super) fn follow_source(
        &mut self,
        events: &mut Vec<Event>,
        id: UrlId,
        to: &CrawlUrl,
        sources: &mut Vec<UrlId>,
        now: Millis,
    ) -> Vec<Link> {
        self.source(events, id, to, UrlOrigin::Redirect(id), sources, now).into_iter().collect()
    }

    /// A further file named by this one or its redirect target.
    fn source(
        &mut self,
        events: &mut Vec<Event>,
        id: UrlId,
        url: &CrawlUrl,
        origin: UrlOrigin,
        sources: &mut Vec<UrlId>,
        now: Millis,
    ) -> Option<Link> {
        let home = self.in_preferred_scheme(url);
        let url = home.as_ref().unwrap_or(url);
        let host = self.urls.get(id).host();
        let files = self.sourcing.asked.get(&host).map_or(0, |asked| asked.files) + sources.len();
        let level = self.sourcing.sources.get(&id).copied().unwrap_or(LEVELS);
        let limit = (files >= FILES || level >= LEVELS).then_some(SkipReason::SourceLimit);
        if let Some(reason) = self.refuses_source(host, url).or(limit) {
            if self.urls.find(url).is_none() {
                self.skip(events, url, Some(id), reason, now);
            }
            return None;
        }
        let to = self.number(events, url, origin, "", now);
        let waits = matches!(self.urls.get(to).state, LinkState::Dropped | LinkState::Queued);
        if !waits || self.sourcing.is_source(to) || sources.contains(&to) {
            return None;
        }
        sources.push(to);
        Some(Link::bare(to, Relevance::ONE, LinkDecision::Follow(self.urls.get(id).place())))
    }

    /// Whether most pages of the host are relevant.
    fn is_on_topic(&self, host: HostId) -> bool {
        let relevant = self.sourcing.relevant.get(&host).copied().unwrap_or_default();
        u64::from(relevant) * 2 >= u64::from(self.hosts.get(host).pages)
    }

    pub(super) fn observe_sources(&mut self, event: &Event) {
        match event {
            Event::PageFetched(page) if self.conditions.sources.is_on() && page.again.is_none() => {
                let host = self.urls.get(page.id).host();
                if page.relevant {
                    *self.sourcing.relevant.entry(host).or_default() += 1;
                }
                if !page.feeds.is_empty() {
                    self.sourcing.feeds.entry(host).or_insert_with(|| page.feeds.clone());
                }
            }
            Event::SitemapsQueued { host, links } => {
                self.sourcing.asked.entry(*host).or_default().files += links.len();
                self.sourcing.sources.extend(links.iter().map(|link| (link.to, 0)));
            }
            Event::SitemapRead { id, sources, links, .. } => {
                let Some(level) = self.sourcing.sources.get(id).copied() else { return };
                let asked = self.sourcing.asked.entry(self.urls.get(*id).host()).or_default();
                asked.files += sources.len();
                asked.pages += u32::try_from(links.len().saturating_sub(sources.len())).unwrap_or(u32::MAX);
                self.sourcing.sources.extend(sources.iter().map(|source| (*source, level + 1)));
            }
            _ => {}
        }
    }
}

fn candidate(url: CrawlUrl, evidence: LinkScores, relevance: Relevance) -> LinkCandidate {
    LinkCandidate { url, evidence, relevance, region: Region::Content, path: 0, role: None }
}
