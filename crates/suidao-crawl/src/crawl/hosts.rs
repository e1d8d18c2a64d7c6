//! Hosts: when each may get another request, its robots.txt, and how it has behaved.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use core::net::IpAddr;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use suidao_page::model::{CrawlUrl, Failure, HostId, Millis, Priority, RobotsRules, UrlId};

use super::groups::{GroupId, HostGroups, RateLimitGroups};
use super::health::Health;
use super::politeness::{Politeness, millis};
use super::robots::OriginRobots;

/// Maximum wait after a restart in milliseconds: the clock may have been set back.
const LONGEST: u64 = 86_400_000;

/// Maximum bytes of all robots.txt rules, enough for about 100,000 ordinary hosts. Otherwise a domain with unlimited
/// subdomains, each with half a megabyte of rules, could exhaust the memory.
const MAX_RULES: u64 = 256 << 20;

/// One host: the unit of politeness.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct HostState {
    robots: SchemeRobots,
    pub health: Health,
    /// Waits because of failures, not out of politeness.
    pub failing: bool,
    /// It failed before a refresh began and gets a request when nothing else is left, not before this time.
    pub deferred_until: Option<Millis>,
    pub in_flight: bool,
    /// When its last request of this run began.
    #[serde(skip)]
    pub last_request: Millis,
    /// Whether it gets requests under https; none before its first response.
    pub https: Option<bool>,
    /// When it may get another request. A request in flight, which the log does not mention, leaves it as it is.
    pub ready_at: Millis,
    pub pages: u32,
    pub relevant: bool,
    /// Consecutive soft 404s since the last page.
    pub missing: u32,
    /// Consecutive requests for pages that brought none.
    pub without_page: u8,
    pub queued: u32,
    /// Queued URLs that have failed, parked while others can show whether the host answers.
    pub parked: Vec<UrlId>,
    pub domain: Option<GroupId>,
    /// The address of the last response, and the group of hosts at this address.
    pub address: Option<(IpAddr, Option<GroupId>)>,
    /// Set while it waits for its rate-limit group.
    pub deferred: Option<DeferredHost>,
}

/// The robots.txt of each scheme: they are different origins.
#[derive(Default, Serialize, Deserialize)]
struct SchemeRobots {
    http: Option<Box<OriginRobots>>,
    https: Option<Box<OriginRobots>>,
}

impl SchemeRobots {
    fn of(&mut self, https: bool) -> &mut Option<Box<OriginRobots>> {
        if https { &mut self.https } else { &mut self.http }
    }

    fn iter(&self) -> impl Iterator<Item = &OriginRobots> {
        [&self.http, &self.https].into_iter().filter_map(Option::as_deref)
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut OriginRobots> {
        [&mut self.http, &mut self.https].into_iter().filter_map(Option::as_deref_mut)
    }
}

/// A host's position among those that its group defers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DeferredHost {
    pub by: GroupId,
    pub priority: Priority,
    pub head: UrlId,
}

impl HostState {
    pub fn robots(&self, https: bool) -> Option<&OriginRobots> {
        if https { self.robots.https.as_deref() } else { self.robots.http.as_deref() }
    }

    pub fn robots_mut(&mut self, https: bool) -> &mut OriginRobots {
        self.robots.of(https).get_or_insert_default()
    }

    /// Extends the known rules from `at` on; false if there are none.
    pub fn renew_robots(&mut self, https: bool, at: Millis) -> bool {
        self.robots.of(https).as_mut().is_some_and(|robots| robots.renew(at))
    }

    /// The sitemaps named in its robots.txt under either scheme; of any host.
    pub fn sitemaps(&self) -> impl Iterator<Item = CrawlUrl> {
        self.robots.iter().flat_map(|robots| robots.sitemaps())
    }

    pub fn groups(&self) -> HostGroups {
        // A host named by its address is in one group.
        let address = self.address.and_then(|(_, group)| group).filter(|group| self.domain != Some(*group));
        HostGroups { domain: self.domain, address }
    }

    /// Milliseconds between requests: the maximum of the setting, the crawl interval, and the capped Crawl-delay.
    pub fn delay(&self, politeness: &Politeness) -> u64 {
        let requested = self.robots.iter().filter_map(|robots| robots.delay());
        let requested = requested.fold(0.0, f64::max).min(politeness.max_crawl_delay);
        millis(requested).max(self.health.crawl_interval(politeness))
    }

    /// Milliseconds to wait after a failure that is the host's fault.
    pub fn backoff(&self, politeness: &Politeness, failure: &Failure) -> u64 {
        self.health.backoff(politeness, failure).max(self.delay(politeness))
    }
}

#[derive(Default, Serialize, Deserialize)]
pub(super) struct HostTable {
    hosts: Vec<HostState>,
    names: IndexSet<Box<str>, FxBuildHasher>,
    /// Waiting hosts, soonest first.
    timers: BinaryHeap<Reverse<(Millis, u32)>>,
    /// Bytes of all robots.txt rules.
    rules: u64,
    pub groups: RateLimitGroups,
}

impl HostTable {
    pub fn new(politeness: &Politeness) -> Self {
        Self { groups: RateLimitGroups::new(politeness), ..Self::default() }
    }

    /// The number of a URL's host, and whether it is new.
    pub fn number(&mut self, url: &CrawlUrl) -> (HostId, bool) {
        if let Some(host) = self.id_of(url) {
            return (host, false);
        }
        let host = HostId(u32::try_from(self.hosts.len()).expect("fewer hosts than URLs"));
        let domain = self.groups.of_domain(url.host());
        self.hosts.push(HostState { domain, ..HostState::default() });
        self.names.insert(url.authority().into());
        (host, true)
    }

    pub fn of(&self, url: &CrawlUrl) -> Option<&HostState> {
        self.id_of(url).map(|host| self.get(host))
    }

    pub fn id_of(&self, url: &CrawlUrl) -> Option<HostId> {
        self.names.get_index_of(url.authority()).map(|number| HostId(number as u32))
    }

    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether names and hosts match in number: a checkpoint from elsewhere may be inconsistent.
    pub fn are_named(&self) -> bool {
        self.names.len() == self.hosts.len()
    }

    /// All hosts, in order of discovery.
    pub fn all(&self) -> impl Iterator<Item = (HostId, &HostState)> {
        (0..).map(HostId).zip(&self.hosts)
    }

    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(|name| &**name).collect()
    }

    /// Records the result of a robots.txt request. If all rules together exceed the limit, the oldest are dropped: a
    /// host that is still crawled fetched its own within a day. A fold of the events, so a restart drops the same ones.
    pub fn learn_robots(
        &mut self,
        host: HostId,
        origin: &str,
        agent: &str,
        rules: &RobotsRules,
        at: Millis,
    ) -> &mut OriginRobots {
        let https = origin.starts_with("https:");
        let robots = self.get_mut(host).robots_mut(https);
        let before = robots.memory();
        robots.learn(origin, agent, rules, at);
        let after = robots.memory();
        self.rules = self.rules - before + after;
        if self.rules > MAX_RULES {
            self.forget_old_rules(MAX_RULES / 2, host);
        }
        self.get_mut(host).robots_mut(https)
    }

    /// Drops the oldest rules, except those of `spared`, until all take at most `most` bytes.
    fn forget_old_rules(&mut self, most: u64, spared: HostId) {
        let mut old: Vec<(Millis, HostId)> = Vec::new();
        for (id, host) in self.all().filter(|(id, _)| *id != spared) {
            let fetched_at = host.robots.iter().filter(|robots| robots.memory() > 0).map(|robots| robots.fetched_at());
            old.extend(fetched_at.min().map(|fetched_at| (fetched_at, id)));
        }
        old.sort_unstable();
        for (_, id) in old {
            if self.rules <= most {
                break;
            }
            let host = &mut self.hosts[id.0 as usize];
            for robots in host.robots.iter_mut().filter(|robots| robots.memory() > 0) {
                self.rules -= robots.memory();
                robots.forget();
            }
        }
    }

    pub fn forget_robots(&mut self, host: HostId) {
        let forgotten = std::mem::take(&mut self.get_mut(host).robots);
        self.rules -= forgotten.iter().map(|robots| robots.memory()).sum::<u64>();
    }

    /// Resets the failures of every host. Hosts whose last request failed are deferred until nothing else is left
    /// ([`HostTable::take_deferred`]), for at least `beyond` ms from now and `shortest` ms after that request. Returns
    /// them with the end of their wait.
    pub fn defer_failing(&mut self, shortest: u64, beyond: u64, at: Millis) -> Vec<(HostId, Millis)> {
        let mut resting = Vec::new();
        for (id, host) in (0..).map(HostId).zip(&mut self.hosts) {
            // It may have been deferred during the whole previous round.
            let failed = host.health.failures() > 0 || host.deferred_until.is_some();
            host.deferred_until = failed.then(|| host.health.last().after(shortest));
            host.failing = host.deferred_until.is_some();
            resting.extend(host.deferred_until.map(|until| (id, until.max(at.after(beyond)))));
            host.health.reset_failures();
            for robots in host.robots.iter_mut() {
                robots.reset_failures();
            }
        }
        resting
    }

    /// Nothing else is left: the deferred hosts that may get a request now.
    pub fn take_deferred(&mut self, now: Millis) -> Vec<HostId> {
        let mut resumed = Vec::new();
        for (id, host) in (0..).map(HostId).zip(&mut self.hosts) {
            if host.deferred_until.is_some_and(|until| until <= now) {
                (host.deferred_until, host.failing) = (None, false);
                resumed.push(id);
            }
        }
        resumed
    }

    /// Resets what checkpoints do not store: nothing is in flight and no host is deferred. Returns the hosts for which
    /// that was not so.
    pub fn set_up(&mut self, politeness: &Politeness) -> Vec<HostId> {
        self.groups.set_up(politeness);
        let mut freed = Vec::new();
        for (id, host) in (0..).map(HostId).zip(&mut self.hosts) {
            let deferred = host.deferred.take().is_some();
            if std::mem::take(&mut host.in_flight) || deferred {
                freed.push(id);
            }
        }
        freed
    }

    pub fn get(&self, host: HostId) -> &HostState {
        &self.hosts[host.0 as usize]
    }

    pub fn get_mut(&mut self, host: HostId) -> &mut HostState {
        &mut self.hosts[host.0 as usize]
    }

    pub fn set_address(&mut self, host: HostId, address: IpAddr) {
        let group = self.groups.of_address(address);
        self.get_mut(host).address = Some((address, group));
    }

    pub fn wait_until(&mut self, host: HostId, at: Millis) {
        self.get_mut(host).ready_at = at;
        self.timers.push(Reverse((at, host.0)));
    }

    /// After a crash it is unknown whether in-flight requests came back, so every host with queued URLs waits as if
    /// it had just received one. Returns the hosts that wait.
    pub fn delay_all(&mut self, politeness: &Politeness, now: Millis) -> Vec<HostId> {
        self.groups.delay_all(politeness, now);
        let numbers = 0..u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        let mut resting = Vec::new();
        for host in numbers.map(HostId) {
            let record = self.get(host);
            let until = record.ready_at.max(now.after(record.delay(politeness)));
            let until = until.min(now.after(LONGEST.max(millis(politeness.max_backoff))));
            if record.queued > 0 && until > now {
                self.wait_until(host, until);
                resting.push(host);
            }
        }
        resting
    }

    /// Takes one host whose wait is over.
    pub fn due(&mut self, now: Millis) -> Option<HostId> {
        loop {
            let &Reverse((at, host)) = self.timers.peek()?;
            if at > now {
                return None;
            }
            self.timers.pop();
            let host = HostId(host);
            // A stale timer: the host's time has changed.
            if self.get(host).ready_at == at && !self.get(host).in_flight {
                return Some(host);
            }
        }
    }

    /// When the next host's wait ends, or a group with deferred hosts may get another request.
    pub fn next_due(&self) -> Option<Millis> {
        let host = self.timers.peek().map(|&Reverse((at, _))| at);
        [host, self.groups.next_due()].into_iter().flatten().min()
    }

    /// Waiting hosts with the end of their wait.
    pub fn waiting(&self) -> impl Iterator<Item = (Millis, HostId)> + '_ {
        self.timers
            .iter()
            .map(|&Reverse((at, host))| (at, HostId(host)))
            .filter(|&(at, host)| self.get(host).ready_at == at)
    }

    /// Defers a host until its group allows a request; `deferred` has the priority and number of its best URL.
    pub fn defer(&mut self, host: HostId, deferred: DeferredHost, now: Millis) {
        self.get_mut(host).deferred = Some(deferred);
        self.groups.defer(deferred.by, (deferred.priority, Reverse(deferred.head), host), now);
    }

    /// A URL became available: if its host is deferred and this is its best URL, updates the host's position.
    pub fn offer(&mut self, host: HostId, priority: Priority, head: UrlId) {
        let Some(deferred) = self.get(host).deferred else { return };
        if (priority, Reverse(head)) > (deferred.priority, Reverse(deferred.head)) {
            self.get_mut(host).deferred = Some(DeferredHost { priority, head, ..deferred });
            self.groups.offer(deferred.by, (priority, Reverse(head), host));
            let hosts = &self.hosts;
            self.groups.tidy(deferred.by, |&(priority, Reverse(head), host)| {
                hosts[host.0 as usize].deferred == Some(DeferredHost { by: deferred.by, priority, head })
            });
        }
    }

    /// Resumes the best deferred host of a group if the group may get a request now; otherwise schedules a check.
    pub fn resume(&mut self, group: GroupId, now: Millis) -> Option<HostId> {
        while let Some((priority, Reverse(head), host)) = self.groups.resume(group, now) {
            let record = self.get_mut(host);
            if record.deferred == Some(DeferredHost { by: group, priority, head }) {
                record.deferred = None;
                self.groups.count_resumed(group);
                return Some(host);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: &str = "suidao";

    fn rules(lines: usize) -> RobotsRules {
        let lines: String = (0..lines).map(|n| format!("Disallow: /{n}\n")).collect();
        RobotsRules::Rules(format!("User-agent: *\nCrawl-delay: 7\n{lines}").into_bytes())
    }

    #[test]
    fn rules_that_take_too_much_are_forgotten_the_oldest_first_and_a_restart_forgets_the_same() {
        let urls: Vec<CrawlUrl> = (0..20).map(|n| CrawlUrl::parse(&format!("http://h{n}.cn/")).unwrap()).collect();
        let mut hosts = HostTable::default();
        let learn = |hosts: &mut HostTable, n: usize, lines: usize, at: u64| {
            let (id, _) = hosts.number(&urls[n]);
            hosts.learn_robots(id, &format!("http://h{n}.cn"), AGENT, &rules(lines), Millis(at));
        };
        (0..20).for_each(|n| learn(&mut hosts, n, 100, 100 - n as u64));
        // Host 19 got the first request and gets another: its old rules no longer count.
        learn(&mut hosts, 19, 50, 200);
        let host = |n: u32| HostId(n);
        let of = |hosts: &HostTable, n| hosts.get(host(n)).robots(false).map_or(0, OriginRobots::memory);
        let all = |hosts: &HostTable| (0..20).map(|n| of(hosts, n)).sum::<u64>();
        assert_eq!(hosts.rules, all(&hosts));

        let stored = postcard::to_stdvec(&hosts).unwrap();
        let mut again: HostTable = postcard::from_bytes(&stored).unwrap();
        for hosts in [&mut hosts, &mut again] {
            let most = 10 * of(hosts, 0);
            hosts.forget_old_rules(most, host(18));
            assert!(hosts.rules <= most && hosts.rules > most - of(hosts, 0), "no more than need be");
            assert_eq!(hosts.rules, all(hosts));
            assert!(of(hosts, 18) > 0 && of(hosts, 17) == 0 && of(hosts, 0) > 0 && of(hosts, 19) > 0);
            // The crawl interval remains, and the dropped rules are requested.
            assert_eq!(hosts.get(host(17)).delay(&Politeness::default()), 7_000);
            let health = &hosts.get(host(17)).health;
            let robots = hosts.get(host(17)).robots(false).unwrap();
            let terms = (&super::super::settings::CrawlLimits::default(), &Politeness::default());
            let permission = robots.permission(&urls[17], health, terms, 0, Millis(201));
            assert_eq!(permission, super::super::robots::RobotsPermission::FetchFirst);
            hosts.forget_robots(host(0));
            assert_eq!(hosts.rules, all(hosts));
        }
        assert_eq!(postcard::to_stdvec(&hosts).unwrap(), postcard::to_stdvec(&again).unwrap());
    }
}
