//! Sitemaps and feeds: of which hosts they are requested, which URLs are taken, which known pages have changed.
//!
//! A sitemap names all pages of a site, most of them off-topic. So only sitemaps of hosts with relevant pages are read,
//! URLs are judged like links of an off-topic page, and URLs without topic terms are taken only if most of the host's
//! pages are relevant. A rejected URL gets no number, only a line of the log.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ordered_float::OrderedFloat;
use rustc_hash::FxHashSet;

use crate::strategy::{LinkCandidate, PageVisit};
use suidao_page::model::{
    CrawlUrl, Event, HostId, Link, LinkDecision, LinkScores, LinkState, QueueEntry, Region, Relevance, SitemapContent,
    SitemapEntry, SkipReason, UrlId, UrlOrigin, Validators,
};

use super::links::judge;
use crate::crawl::draft::Draft;
use crate::crawl::state::State;

/// Maximum number of sources of one host, and of redirects to one.
const SOURCES: usize = 4;
/// Maximum number of sitemaps from one index, and of files requested from one host.
const FILES: usize = 16;
/// Maximum number of indexes and redirects between a file and the first one.
const LEVELS: u8 = 2;
/// Minimum number of pages of a host for reading its sources in a refresh.
const PAGES: usize = 5;

/// The sitemaps and feeds of a host that just had enough relevant pages. `feeds`: those named on this page.
pub fn of_productive_host(draft: &mut Draft, visit: &PageVisit, feeds: &[CrawlUrl]) -> Option<Event> {
    let (state, settings) = (draft.state, &draft.settings.sources);
    let host = state.urls.get(visit.id).host();
    let relevant = 1 + state.sourcing.relevant_pages(host);
    let proved = visit.on_topic && relevant >= settings.after && state.tracked(visit.id).is_none();
    if !settings.is_on() || !proved || state.sourcing.used.contains_key(&host) {
        return None;
    }
    let own = state.urls.url(visit.id);
    // The URLs of a forum are found through its pages.
    if state.forums.site(&own).is_some() {
        return None;
    }
    let mut named: Vec<CrawlUrl> = Vec::new();
    if settings.sitemaps {
        named.extend(state.hosts.get(host).sitemaps());
        if named.is_empty() {
            named.extend(own.join("/sitemap.xml"));
        }
    }
    if settings.feeds {
        let known = state.sourcing.feeds.get(&host).map_or(feeds, Vec::as_slice);
        named.extend(known.iter().cloned());
    }
    let mut links: Vec<Link> = Vec::new();
    for url in named {
        let url = draft.preferred(&url);
        let skip_reason = source_skip_reason(state, host, &url);
        let skip_reason = skip_reason.or((links.len() >= SOURCES).then_some(SkipReason::SourceLimit));
        if let Some(reason) = skip_reason {
            draft.reject(&url, Some(visit.id), reason);
            continue;
        }
        let to = draft.id(&url, UrlOrigin::Named, "");
        if draft.may_be_queued(to) && links.iter().all(|link| link.to != to) {
            links.push(Link::without_page(
                to,
                Relevance::ONE,
                LinkDecision::Follow(entry_of_source(state, visit, url)),
            ));
        }
    }
    Some(Event::SitemapsQueued { host, links })
}

/// Queue entry of a source: as deep as a link of the page that triggered it, with the rank of a seed.
fn entry_of_source(state: &State, visit: &PageVisit, url: CrawlUrl) -> QueueEntry {
    let seed = state.strategy.seed(&url);
    let link = candidate(url, LinkScores::default(), Relevance::ONE);
    match state.strategy.judge(&PageVisit { links: &[link], ..*visit }).pop() {
        Some(LinkDecision::Follow(entry)) => QueueEntry { path: entry.path, ..seed },
        _ => seed,
    }
}

fn source_skip_reason(state: &State, host: HostId, url: &CrawlUrl) -> Option<SkipReason> {
    let on_other_host = || (state.hosts.id_of(url) != Some(host)).then_some(SkipReason::ForeignSource);
    on_other_host().or_else(|| state.settings.file_skip_reason(url))
}

/// The sources to request in a refresh now, hosts with most pages first, at most `most`.
pub fn of_known_hosts(draft: &mut Draft, most: usize) -> Vec<UrlId> {
    let state = draft.state;
    let Some(refreshing) = &state.refreshing else { return Vec::new() };
    let (settings, signals) = (refreshing.settings(), &refreshing.signals);
    let mut pages: BTreeMap<HostId, usize> = BTreeMap::new();
    for (id, _) in refreshing.histories.iter().filter(|(_, page)| !page.retired) {
        *pages.entry(state.urls.get(id).host()).or_default() += 1;
    }
    let mut hosts: Vec<(HostId, usize)> = pages.into_iter().filter(|(_, pages)| *pages >= PAGES).collect();
    hosts.sort_by_key(|(host, pages)| (Reverse(*pages), *host));
    let mut named = Vec::new();
    for (host, _) in hosts {
        let mut of_host = Vec::new();
        if settings.sitemaps && state.settings.politeness.robots {
            of_host.extend(state.hosts.get(host).sitemaps());
        }
        if settings.feeds {
            of_host.extend(signals.feeds(host).iter().cloned());
        }
        of_host.retain(|url| source_skip_reason(state, host, url).is_none());
        named.extend(of_host.into_iter().take(SOURCES));
    }
    let mut ids: Vec<UrlId> = Vec::new();
    for url in named {
        let url = draft.preferred(&url);
        ids.push(draft.id(&url, UrlOrigin::Named, ""));
    }
    // Sitemaps named by a sitemap are already registered.
    ids.extend(signals.sources());
    let mut seen = FxHashSet::default();
    ids.retain(|id| {
        // A source that is fetched as a page, because it is linked and parses as one, is not read as a source.
        let waits = matches!(draft.link_state(*id), LinkState::Queued | LinkState::InFlight);
        signals.is_rested(*id, draft.now) && !waits && seen.insert(*id) && refreshing.histories.get(*id).is_none()
    });
    ids.truncate(most);
    ids
}

/// A source was read: known pages that changed since their last visit, and what is taken from it.
pub fn read(draft: &mut Draft, id: UrlId, content: SitemapContent, validators: Option<Box<Validators>>) {
    let state = draft.state;
    let host = state.urls.get(id).host();
    let (mut useful, mut pages) = (false, Vec::new());
    let is_listing = state.sourcing.is_source(id);
    for entry in &content.pages {
        let Some(at) = entry.at else { continue };
        let known = state.urls.find(&entry.url).or_else(|| state.urls.find(&state.in_preferred_scheme(&entry.url)?));
        // A source counts only for its own host.
        let Some(known) = known.filter(|known| state.urls.get(*known).host() == host) else { continue };
        let Some(page) = state.refreshing.as_ref().and_then(|refreshing| refreshing.histories.get(known)) else {
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
    for url in content.sitemaps.iter().filter(|_| !is_inner(state, id) && !is_listing).take(SOURCES) {
        let url = draft.preferred(url);
        if source_skip_reason(state, host, &url).is_none() {
            sources.push(draft.id(&url, UrlOrigin::Listed(id), ""));
        }
    }
    let links = if is_listing { take(draft, id, content, &mut sources) } else { Vec::new() };
    // An index is useful for what it leads to.
    useful |= !sources.is_empty();
    draft.push(Event::SitemapRead { id, pages, sources, useful, links, validators });
}

/// A source has not changed (304).
pub fn unchanged(draft: &mut Draft, id: UrlId) {
    let validators = draft.state.refreshing.as_ref().and_then(|refreshing| refreshing.signals.validators(id));
    let (pages, sources, links) = (Vec::new(), Vec::new(), Vec::new());
    draft.push(Event::SitemapRead { id, pages, sources, useful: true, links, validators });
}

/// A source redirects: the target is requested next time.
pub fn moved(draft: &mut Draft, id: UrlId, to: &CrawlUrl) {
    let state = draft.state;
    let to = draft.preferred(to);
    let (mut sources, mut links) = (Vec::new(), Vec::new());
    if state.sourcing.is_source(id) {
        links.extend(further(draft, id, &to, UrlOrigin::Redirect(id), &mut sources));
    } else if !is_inner(state, id) && source_skip_reason(state, state.urls.get(id).host(), &to).is_none() {
        sources.push(draft.id(&to, UrlOrigin::Redirect(id), ""));
    }
    draft.push(Event::SitemapRead { id, pages: Vec::new(), sources, useful: false, links, validators: None });
}

/// Whether a source was found in another one; true in a crawl without a refresh.
fn is_inner(state: &State, id: UrlId) -> bool {
    state.refreshing.as_ref().is_none_or(|refreshing| refreshing.signals.is_inner(id))
}

/// What a crawl takes from a sitemap or a feed: links, and further sitemaps (also returned in `sources`).
fn take(draft: &mut Draft, id: UrlId, content: SitemapContent, sources: &mut Vec<UrlId>) -> Vec<Link> {
    let state = draft.state;
    let mut links = Vec::new();
    for url in content.sitemaps {
        links.extend(further(draft, id, &url, UrlOrigin::Listed(id), sources));
    }
    let host = state.urls.get(id).host();
    let on_topic = u64::from(state.sourcing.relevant_pages(host)) * 2 >= u64::from(state.hosts.get(host).pages);
    let mut seen = FxHashSet::default();
    let mut named: Vec<SitemapEntry> = Vec::new();
    for mut entry in content.pages {
        entry.url = draft.address(&entry.url);
        let known = draft.find(&entry.url);
        let waits = known.is_none_or(|known| draft.may_be_queued(known));
        if !waits || known == Some(id) || !seen.insert(entry.url.fingerprint()) {
            continue;
        }
        // The rules for links come before those for sources.
        let skip_reason = if !content.feed && state.hosts.id_of(&entry.url) != Some(host) {
            Some(SkipReason::ForeignSource)
        } else {
            let unpromising = entry.relevance == Relevance::ZERO && !on_topic;
            draft.skip_reason(&entry.url).or(unpromising.then_some(SkipReason::Unpromising))
        };
        match skip_reason {
            None => named.push(entry),
            Some(reason) if known.is_none() => draft.reject(&entry.url, Some(id), reason),
            Some(_) => {}
        }
    }
    // The most promising first, then the newest, then in file order.
    named.sort_by_key(|entry| (Reverse(OrderedFloat(entry.relevance.get())), Reverse(entry.at)));
    let taken = state.sourcing.used.get(&host).map_or(0, |used| used.pages);
    let left = draft.settings.sources.per_host.saturating_sub(taken) as usize;
    for entry in named.split_off(left.min(named.len())) {
        if draft.find(&entry.url).is_none() {
            draft.reject(&entry.url, Some(id), SkipReason::SourceLimit);
        }
    }
    let mut targets = Vec::with_capacity(named.len());
    let mut candidates = Vec::with_capacity(named.len());
    for SitemapEntry { url, anchor, scores, relevance, .. } in named {
        targets.push(draft.id(&url, UrlOrigin::Listed(id), &anchor));
        candidates.push(candidate(url, scores, relevance));
    }
    let visit = PageVisit {
        id,
        relevance: Relevance::ZERO,
        on_topic: false,
        entry: state.urls.get(id).entry(),
        layer: None,
        link_threshold: draft.settings.link_threshold,
        links: &candidates,
    };
    links.extend(judge(draft, &visit, &targets, None).links);
    links
}

/// A further file named by this one or its redirect target.
fn further(draft: &mut Draft, id: UrlId, url: &CrawlUrl, origin: UrlOrigin, sources: &mut Vec<UrlId>) -> Option<Link> {
    let state = draft.state;
    let url = draft.preferred(url);
    let host = state.urls.get(id).host();
    let files = state.sourcing.used.get(&host).map_or(0, |used| used.files) + sources.len();
    let level = state.sourcing.sources.get(&id).copied().unwrap_or(LEVELS);
    let limit = (files >= FILES || level >= LEVELS).then_some(SkipReason::SourceLimit);
    if let Some(reason) = source_skip_reason(state, host, &url).or(limit) {
        if draft.find(&url).is_none() {
            draft.reject(&url, Some(id), reason);
        }
        return None;
    }
    let to = draft.id(&url, origin, "");
    if !draft.may_be_queued(to) || state.sourcing.is_source(to) || sources.contains(&to) {
        return None;
    }
    sources.push(to);
    Some(Link::without_page(to, Relevance::ONE, LinkDecision::Follow(state.urls.get(id).entry())))
}

fn candidate(url: CrawlUrl, scores: LinkScores, relevance: Relevance) -> LinkCandidate {
    LinkCandidate { url, scores, relevance, region: Region::Content, dom_path: 0, role: None }
}
