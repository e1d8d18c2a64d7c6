//! Seeds are added in portions, one batch of events each, so that a list of a million is not in memory as events at
//! once. Also decides which of their hosts are restricted to https.

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::machine::Crawl;
use suidao_page::model::{Batch, CrawlUrl, Event, HostId, Link, LinkDecision, LinkState, Millis, Relevance, UrlOrigin};

/// Seeds per batch: 256 batches may wait for the disk.
const PORTION: usize = 256;

/// A list of seeds, and how much of it was added.
pub struct Seeding<'a> {
    left: std::slice::Chunks<'a, CrawlUrl>,
    plain: PlainHosts,
    /// Without seeds there is one batch too, for the pending events.
    begun: bool,
}

impl<'a> Seeding<'a> {
    pub fn of(seeds: &'a [CrawlUrl]) -> Self {
        Self { left: seeds.chunks(PORTION), plain: PlainHosts::of(seeds), begun: false }
    }
}

/// Hosts that seeds name under http, by hashes of their names.
struct PlainHosts(FxHashSet<u64>);

impl PlainHosts {
    fn of(seeds: &[CrawlUrl]) -> Self {
        // Needed only if there is an https seed.
        let seeds = if seeds.iter().any(CrawlUrl::is_https) { seeds } else { &[] };
        let plain = seeds.iter().filter(|seed| !seed.is_https());
        Self(plain.map(|seed| xxh3_64(seed.authority().as_bytes())).collect())
    }

    fn holds(&self, url: &CrawlUrl) -> bool {
        self.0.contains(&xxh3_64(url.authority().as_bytes()))
    }
}

impl Crawl {
    /// Adds seeds in one batch. Known ones are unchanged, except those refused for a private address: that may be
    /// allowed now.
    pub fn seed(&mut self, seeds: &[CrawlUrl], now: Millis) -> Batch {
        self.take_seeds(seeds, &PlainHosts::of(seeds), now)
    }

    /// As [`Crawl::seed`], with the next portion of a list; none when all are added.
    pub fn seed_portion(&mut self, seeds: &mut Seeding, now: Millis) -> Option<Batch> {
        let is_first = !std::mem::replace(&mut seeds.begun, true);
        let portion = seeds.left.next().or(is_first.then_some(&[]))?;
        Some(self.take_seeds(portion, &seeds.plain, now))
    }

    fn take_seeds(&mut self, seeds: &[CrawlUrl], plain: &PlainHosts, now: Millis) -> Batch {
        self.nearness.begin(now);
        let mut events = std::mem::take(&mut self.pending);
        for url in seeds {
            let without = self.without_session(url);
            let url = without.as_ref().unwrap_or(url);
            if let Some(reason) = self.refuses(url) {
                self.skip(&mut events, url, None, reason, now);
                continue;
            }
            let before = self.urls.len();
            let id = self.number(&mut events, url, UrlOrigin::Seed, "", now);
            if let Some(host) = self.held_to_https(url, self.urls.len() > before, plain) {
                self.tell(&mut events, Event::Scheme { host, https: true }, now);
            }
            let known = self.urls.get(id);
            let is_out = matches!(known.state, LinkState::Failed | LinkState::Refused);
            if known.state == LinkState::Dropped || is_out && known.in_another_run {
                let verdict = LinkDecision::Follow(self.strategy.seed(url));
                let link = Link::bare(id, Relevance::ONE, verdict);
                self.tell(&mut events, Event::SeedJudged(link), now);
            }
        }
        Batch { at: now, took: None, events }
    }

    /// The host of a seed, if it must be restricted to https from now on: seeds name it only under https, and an
    /// attacker who drops traffic to port 443 must not force it to be crawled unencrypted. Answers from before that
    /// seed count only under https, later ones only if https itself redirects.
    fn held_to_https(&self, url: &CrawlUrl, is_new: bool, plain: &PlainHosts) -> Option<HostId> {
        let scope = &self.conditions.scope;
        if !scope.one_scheme || scope.downgrade_seeds || !url.is_https() || url.has_port() || plain.holds(url) {
            return None;
        }
        let host = self.hosts.id_of(url)?;
        match self.hosts.get(host).https {
            None => Some(host),
            Some(https) => (!https && is_new).then_some(host),
        }
    }
}
