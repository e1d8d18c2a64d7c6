//! What the machine knows of each host: when it may be asked again, what its robots.txt says, how it has behaved.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use core::net::IpAddr;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use suidao_page::model::{CrawlUrl, Failure, HostId, Millis, Priority, RobotsRules, UrlId};

use super::groups::{GroupId, RateLimitGroups};
use super::health::Health;
use super::politeness::{Politeness, millis};
use super::robots::OriginRobots;

/// Nobody waits longer after a restart than the longest wait there is: the clock may have been set back. Milliseconds.
const LONGEST: u64 = 86_400_000;

/// Bytes that all rules of robots.txt files may take: some 100,000 hosts of the usual kind. A name with any number of hosts
/// under it, each with a robots.txt of half a megabyte, would else take what memory there is.
const MOST_RULES: u64 = 256 << 20;

/// One host: the unit of politeness.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct HostState {
    /// http, https.
    robots: [Option<Box<OriginRobots>>; 2],
    /// How it has answered of late.
    pub health: Health,
    /// Waits because it fails, not out of politeness.
    pub failing: bool,
    /// It failed before a refresh began, and waits until nothing else is left; not to be asked before.
    pub deferred_until: Option<Millis>,
    pub in_flight: bool,
    /// Whether it is asked under https; none while it has not been asked.
    pub https: Option<bool>,
    /// Not to be asked before.
    pub ready_at: Millis,
    pub pages: u32,
    /// Whether one of them was relevant.
    pub relevant: bool,
    /// Answers since the last page that were soft 404s.
    pub missing: u32,
    pub queued: u32,
    /// Those of them that have failed and stand aside, as long as others may show whether the host answers.
    pub parked: Vec<UrlId>,
    /// The hosts of its registrable domain.
    pub domain: Option<GroupId>,
    /// The address that answered last, and the hosts that answer from there.
    pub address: Option<(IpAddr, Option<GroupId>)>,
    /// It could be asked, and is held back because enough is asked of its group: as what it waits there.
    pub held: Option<DeferredHost>,
}

/// A host's place among those that its group holds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DeferredHost {
    pub by: GroupId,
    pub priority: Priority,
    pub head: UrlId,
}

impl HostState {
    pub fn robots(&self, https: bool) -> Option<&OriginRobots> {
        self.robots[usize::from(https)].as_deref()
    }

    pub fn robots_mut(&mut self, https: bool) -> &mut OriginRobots {
        self.robots[usize::from(https)].get_or_insert_default()
    }

    /// Lets known rules stand from `at` on; false where there are none.
    pub fn renew_robots(&mut self, https: bool, at: Millis) -> bool {
        self.robots[usize::from(https)].as_mut().is_some_and(|robots| robots.renew(at))
    }

    /// The sitemaps that its robots.txt names, under either scheme; of any host.
    pub fn sitemaps(&self) -> impl Iterator<Item = CrawlUrl> {
        self.robots.iter().flatten().flat_map(|robots| robots.sitemaps())
    }

    /// The groups whose limits it shares.
    pub fn groups(&self) -> [Option<GroupId>; 2] {
        // A host named by its address is in one group.
        [self.domain, self.address.and_then(|(_, group)| group).filter(|group| self.domain != Some(*group))]
    }

    /// Milliseconds between requests: the longest of the setting, what its load tells, and the Crawl-delay, which is
    /// cut at its maximum.
    pub fn delay(&self, politeness: &Politeness) -> u64 {
        let asked = self.robots.iter().flatten().filter_map(|robots| robots.delay());
        let asked = asked.fold(0.0, f64::max).min(politeness.max_crawl_delay);
        millis(asked).max(self.health.crawl_interval(politeness))
    }

    /// Milliseconds to wait after a failure that is the host's.
    pub fn backoff(&self, politeness: &Politeness, failure: &Failure) -> u64 {
        self.health.backoff(politeness, failure).max(self.delay(politeness))
    }
}

/// The hosts, by number and by name.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct HostTable {
    hosts: Vec<HostState>,
    names: IndexSet<Box<str>, FxBuildHasher>,
    /// Hosts that wait for their time, soonest first.
    timers: BinaryHeap<Reverse<(Millis, u32)>>,
    /// Bytes that the rules of all their robots.txt files take.
    rules: u64,
    pub groups: RateLimitGroups,
}

impl HostTable {
    /// No hosts yet, and these limits for groups of them.
    pub fn new(politeness: &Politeness) -> Self {
        Self { groups: RateLimitGroups::new(politeness), ..Self::default() }
    }

    /// The number of the host of `url`, and whether it is new.
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

    /// The host of `url`, if it is known.
    pub fn of(&self, url: &CrawlUrl) -> Option<&HostState> {
        self.id_of(url).map(|host| self.get(host))
    }

    /// The number of the host of `url`, if it is known.
    pub fn id_of(&self, url: &CrawlUrl) -> Option<HostId> {
        self.names.get_index_of(url.authority()).map(|number| HostId(number as u32))
    }

    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether each has a name, and no name is without a host: a checkpoint that others made may say otherwise.
    pub fn are_named(&self) -> bool {
        self.names.len() == self.hosts.len()
    }

    /// All of them, in order of discovery.
    pub fn all(&self) -> impl Iterator<Item = (HostId, &HostState)> {
        (0..).map(HostId).zip(&self.hosts)
    }

    /// Their names, by number.
    pub fn names(&self) -> Vec<&str> {
        self.names.iter().map(|name| &**name).collect()
    }

    /// Learns what came of asking for the robots.txt of an origin of a host. Where all rules together take too much those that
    /// were had longest ago are forgotten: a host that is still asked had its own within a day. A fold of the events, so that
    /// a restart forgets the same.
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
        robots.learn(agent, rules, at);
        let after = robots.memory();
        self.rules = self.rules - before + after;
        if self.rules > MOST_RULES {
            self.forget_old_rules(MOST_RULES / 2, host);
        }
        self.get_mut(host).robots_mut(https)
    }

    /// Forgets the oldest rules, but not those of `spared`, until all take no more than this.
    fn forget_old_rules(&mut self, most: u64, spared: HostId) {
        let mut old: Vec<(Millis, HostId)> = Vec::new();
        for (id, host) in self.all().filter(|(id, _)| *id != spared) {
            let had = host.robots.iter().flatten().filter(|robots| robots.memory() > 0).map(|robots| robots.had());
            old.extend(had.min().map(|had| (had, id)));
        }
        old.sort_unstable();
        for (_, id) in old {
            if self.rules <= most {
                break;
            }
            let host = &mut self.hosts[id.0 as usize];
            for robots in host.robots.iter_mut().flatten().filter(|robots| robots.memory() > 0) {
                self.rules -= robots.memory();
                robots.forget();
            }
        }
    }

    /// Nothing is known of a host's robots.txt any more.
    pub fn forget_robots(&mut self, host: HostId) {
        let forgotten = std::mem::take(&mut self.get_mut(host).robots);
        self.rules -= forgotten.iter().flatten().map(|robots| robots.memory()).sum::<u64>();
    }

    /// Every host gets another chance, whatever it did before; those whose last request failed stand back for that, until
    /// nothing else is left (`call`), for `beyond` at least and no sooner than `shortest` after that request, in milliseconds.
    /// Gives them, and until when they rest.
    pub fn stand_back(&mut self, shortest: u64, beyond: u64, at: Millis) -> Vec<(HostId, Millis)> {
        let mut resting = Vec::new();
        for (id, host) in (0..).map(HostId).zip(&mut self.hosts) {
            // It may have stood back for the whole of the last one.
            let failed = host.health.failures() > 0 || host.deferred_until.is_some();
            host.deferred_until = failed.then(|| host.health.last().after(shortest));
            host.failing = host.deferred_until.is_some();
            resting.extend(host.deferred_until.map(|until| (id, until.max(at.after(beyond)))));
            host.health.reset_failures();
            for robots in host.robots.iter_mut().flatten() {
                robots.reset_failures();
            }
        }
        resting
    }

    /// Nothing else is left: the hosts that stood back and may be asked now.
    pub fn call(&mut self, now: Millis) -> Vec<HostId> {
        let mut called = Vec::new();
        for (id, host) in (0..).map(HostId).zip(&mut self.hosts) {
            if host.deferred_until.is_some_and(|until| until <= now) {
                (host.deferred_until, host.failing) = (None, false);
                called.push(id);
            }
        }
        called
    }

    /// Sets up what is not kept over a restart: no request is under way, and nobody is held back. Gives the hosts of
    /// which that was so.
    pub fn set_up(&mut self, politeness: &Politeness) -> Vec<HostId> {
        self.groups.set_up(politeness);
        let mut freed = Vec::new();
        for (id, host) in (0..).map(HostId).zip(&mut self.hosts) {
            let held = host.held.take().is_some();
            if std::mem::take(&mut host.in_flight) || held {
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

    /// The host answers from this address.
    pub fn answers_from(&mut self, host: HostId, address: IpAddr) {
        let group = self.groups.of_address(address);
        self.get_mut(host).address = Some((address, group));
    }

    /// The host is not to be asked before `at`.
    pub fn wait_until(&mut self, host: HostId, at: Millis) {
        self.get_mut(host).ready_at = at;
        self.timers.push(Reverse((at, host.0)));
    }

    /// What was under way when an earlier run was killed is not known to have come back, so that every host that has
    /// something to be asked for rests as if it were just asked. Gives the hosts that have to wait for that.
    pub fn rest_all(&mut self, politeness: &Politeness, now: Millis) -> Vec<HostId> {
        self.groups.rest_all(politeness, now);
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

    /// Takes one host whose time has come.
    pub fn due(&mut self, now: Millis) -> Option<HostId> {
        loop {
            let &Reverse((at, host)) = self.timers.peek()?;
            if at > now {
                return None;
            }
            self.timers.pop();
            let host = HostId(host);
            // An outdated timer: the host's time was set anew.
            if self.get(host).ready_at == at && !self.get(host).in_flight {
                return Some(host);
            }
        }
    }

    /// When the next host's time comes, or a group may be asked again that holds hosts back.
    pub fn next_due(&self) -> Option<Millis> {
        let host = self.timers.peek().map(|&Reverse((at, _))| at);
        [host, self.groups.next_due()].into_iter().flatten().min()
    }

    /// Hosts that still wait for their time: when, and which.
    pub fn waiting(&self) -> impl Iterator<Item = (Millis, HostId)> + '_ {
        self.timers
            .iter()
            .map(|&Reverse((at, host))| (at, HostId(host)))
            .filter(|&(at, host)| self.get(host).ready_at == at)
    }

    /// Holds back a host that could be asked, until its group lets it go; `priority` and `head` are its best URL's.
    pub fn defer(&mut self, host: HostId, held: DeferredHost, now: Millis) {
        self.get_mut(host).held = Some(held);
        self.groups.defer(held.by, (held.priority, Reverse(held.head), host), now);
    }

    /// A host has got a URL to offer: if it is held back and this is its best, it waits as that.
    pub fn offer(&mut self, host: HostId, priority: Priority, head: UrlId) {
        let Some(held) = self.get(host).held else { return };
        if (priority, Reverse(head)) > (held.priority, Reverse(held.head)) {
            self.get_mut(host).held = Some(DeferredHost { priority, head, ..held });
            self.groups.offer(held.by, (priority, Reverse(head), host));
            let hosts = &self.hosts;
            self.groups.tidy(held.by, |&(priority, Reverse(head), host)| {
                hosts[host.0 as usize].held == Some(DeferredHost { by: held.by, priority, head })
            });
        }
    }

    /// Lets go of the best host that a group holds back, if the group may be asked now; else it will in its time.
    pub fn resume(&mut self, group: GroupId, now: Millis) -> Option<HostId> {
        while let Some((priority, Reverse(head), host)) = self.groups.resume(group, now) {
            let record = self.get_mut(host);
            if record.held == Some(DeferredHost { by: group, priority, head }) {
                record.held = None;
                self.groups.count_out(group);
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
        // Host 19 was asked first, and is asked again: what it had counts no more.
        learn(&mut hosts, 19, 50, 200);
        let host = |n: u32| HostId(n);
        let of = |hosts: &HostTable, n| hosts.get(host(n)).robots(false).map_or(0, OriginRobots::memory);
        let all = |hosts: &HostTable| (0..20).map(|n| of(hosts, n)).sum::<u64>();
        assert_eq!(hosts.rules, all(&hosts));

        let kept = postcard::to_stdvec(&hosts).unwrap();
        let mut again: HostTable = postcard::from_bytes(&kept).unwrap();
        for hosts in [&mut hosts, &mut again] {
            let most = 10 * of(hosts, 0);
            hosts.forget_old_rules(most, host(18));
            assert!(hosts.rules <= most && hosts.rules > most - of(hosts, 0), "no more than need be");
            assert_eq!(hosts.rules, all(hosts));
            assert!(of(hosts, 18) > 0 && of(hosts, 17) == 0 && of(hosts, 0) > 0 && of(hosts, 19) > 0);
            // The pace stays, and with no rules they are asked for.
            assert_eq!(hosts.get(host(17)).delay(&Politeness::default()), 7_000);
            let health = &hosts.get(host(17)).health;
            let robots = hosts.get(host(17)).robots(false).unwrap();
            let terms = (&super::super::machine::CrawlLimits::default(), &Politeness::default());
            let word = robots.word(&urls[17], health, terms, 0, Millis(201));
            assert_eq!(word, super::super::robots::RobotsAnswer::Ask);
            hosts.forget_robots(host(0));
            assert_eq!(hosts.rules, all(hosts));
        }
        assert_eq!(postcard::to_stdvec(&hosts).unwrap(), postcard::to_stdvec(&again).unwrap());
    }
}
