//! Seeds: which are queued, and which of their hosts are restricted to https.

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use crate::crawl::draft::Draft;
use crate::crawl::state::State;
use suidao_page::model::{CrawlUrl, Event, HostId, Link, LinkDecision, LinkState, Relevance, UrlId, UrlOrigin};

/// Seeds per batch: 256 batches may wait for the disk.
const PORTION: usize = 256;

/// A list of seeds, and how much of it was added.
pub struct Seeding<'a> {
    left: std::slice::Chunks<'a, CrawlUrl>,
    plain: PlainHosts,
    /// Without seeds there is one batch too, which begins the run.
    begun: bool,
}

impl<'a> Seeding<'a> {
    pub fn of(urls: &'a [CrawlUrl]) -> Self {
        Self { left: urls.chunks(PORTION), plain: PlainHosts::of(urls), begun: false }
    }

    pub(in crate::crawl) fn plain(&self) -> &PlainHosts {
        &self.plain
    }
}

/// The portions, at least one.
impl<'a> Iterator for Seeding<'a> {
    type Item = &'a [CrawlUrl];

    fn next(&mut self) -> Option<&'a [CrawlUrl]> {
        let is_first = !std::mem::replace(&mut self.begun, true);
        self.left.next().or(is_first.then_some(&[]))
    }
}

/// Hosts that seeds name under http, by hashes of their names.
pub struct PlainHosts(FxHashSet<u64>);

impl PlainHosts {
    pub fn of(seeds: &[CrawlUrl]) -> Self {
        // Needed only if there is an https seed.
        let seeds = if seeds.iter().any(CrawlUrl::is_https) { seeds } else { &[] };
        let plain = seeds.iter().filter(|seed| !seed.is_https());
        Self(plain.map(|seed| xxh3_64(seed.authority().as_bytes())).collect())
    }

    fn holds(&self, url: &CrawlUrl) -> bool {
        self.0.contains(&xxh3_64(url.authority().as_bytes()))
    }
}

/// Numbers a seed, unless it is excluded; returns its number and whether it is new.
pub fn number(draft: &mut Draft, url: &CrawlUrl) -> Option<(UrlId, bool)> {
    let without = draft.state.without_session(url);
    let url = without.as_ref().unwrap_or(url);
    if let Some(reason) = draft.settings.skip_reason(url) {
        draft.reject(url, None, reason);
        return None;
    }
    let is_new = draft.find(url).is_none();
    Some((draft.id(url, UrlOrigin::Seed, ""), is_new))
}

/// Queues a numbered seed. Known ones are unchanged, except those refused for a private address: that may be allowed
/// now.
pub fn queue(draft: &mut Draft, id: UrlId, is_new: bool, plain: &PlainHosts) {
    let state = draft.state;
    let url = state.urls.url(id);
    if let Some(host) = restricted_to_https(state, &url, is_new, plain) {
        draft.push(Event::Scheme { host, https: true });
    }
    let known = state.urls.get(id);
    let is_out = matches!(known.state, LinkState::Failed | LinkState::Excluded);
    if known.state == LinkState::Dropped || is_out && known.in_another_run {
        let follow = LinkDecision::Follow(state.strategy.seed(&url));
        draft.push(Event::SeedJudged(Link::without_page(id, Relevance::ONE, follow)));
    }
}

/// The host of a seed, if it must be restricted to https from now on: seeds name it only under https, and an attacker
/// who drops traffic to port 443 must not force it to be crawled unencrypted. Answers from before that seed count only
/// under https, later ones only if https itself redirects.
fn restricted_to_https(state: &State, url: &CrawlUrl, is_new: bool, plain: &PlainHosts) -> Option<HostId> {
    let scope = &state.settings.scope;
    if !scope.one_scheme || scope.downgrade_seeds || !url.is_https() || url.has_port() || plain.holds(url) {
        return None;
    }
    let host = state.hosts.id_of(url)?;
    match state.hosts.get(host).https {
        None => Some(host),
        Some(https) => (!https && is_new).then_some(host),
    }
}
