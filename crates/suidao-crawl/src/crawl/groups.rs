//! Rate limits for groups of hosts: those of one registrable domain, and those with one IP address. Otherwise a site
//! with a thousand subdomains, or a server with a thousand sites, would get a thousand times the requests of a host.
//!
//! A host that could get a request while its group is busy leaves the frontier's ready set and is deferred here by its
//! best URL. When the group has room, the best deferred host returns to the ready set. So a request costs a few heap
//! operations, however many hosts there are.

use core::net::{IpAddr, Ipv6Addr};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use suidao_page::model::{CrawlUrl, HostId, Millis, Priority, UrlId};

use super::politeness::{Politeness, millis};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct GroupId(u32);

/// The groups of a host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostGroups {
    pub domain: Option<GroupId>,
    /// None if it is the same one.
    pub address: Option<GroupId>,
}

impl HostGroups {
    pub fn iter(self) -> impl Iterator<Item = GroupId> {
        [self.domain, self.address].into_iter().flatten()
    }
}

/// A deferred host, ordered by its best URL.
pub(super) type WaitingHost = (Priority, Reverse<UrlId>, HostId);

/// Key of a group, hashed: the names of a million domains would take memory, and nothing needs them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct GroupKey(u64);

impl GroupKey {
    fn of_domain(domain: &str) -> Self {
        Self(xxh3_64(domain.as_bytes()))
    }

    fn of_address(address: IpAddr) -> Self {
        let bits = match address {
            IpAddr::V4(v4) => u128::from(v4.to_bits()),
            IpAddr::V6(v6) => v6.to_bits(),
        };
        Self(xxh3_64_with_seed(&bits.to_le_bytes(), if address.is_ipv4() { 4 } else { 6 }))
    }
}

/// The registrable domain of a host (Public Suffix List, with its private section of blog hosters and the like). A name
/// without a dot, of the local network, and an address are their own.
pub(super) fn registrable_domain(host: &str) -> &str {
    psl::domain_str(host).unwrap_or(host)
}

/// Whether two URLs belong to one site: the same host, or hosts under one registrable domain.
pub(super) fn is_one_site(one: &CrawlUrl, other: &CrawlUrl) -> bool {
    let (one, other) = (one.host(), other.host());
    // A host that ends in a number or a bracket is an IP address.
    let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
    let named = |host: &str| !host.ends_with(']') && !host.rsplit('.').next().is_some_and(is_number);
    one == other
        || named(one) && named(other) && psl::domain_str(one).is_some_and(|own| psl::domain_str(other) == Some(own))
}

#[derive(Serialize, Deserialize)]
struct Group {
    is_domain: bool,
    #[serde(skip)]
    in_flight: u32,
    /// Time of the next allowed request.
    ready_at: Millis,
    /// Deferred hosts, best first; may hold stale entries, which the host's record reveals.
    #[serde(skip)]
    deferred: BinaryHeap<WaitingHost>,
    /// Number of entries that are not stale.
    #[serde(skip)]
    hosts: usize,
    /// Time of the next check, if one is scheduled.
    #[serde(skip)]
    timer: Option<Millis>,
    /// A host was resumed, and the group got no request since.
    #[serde(skip)]
    idle: bool,
}

/// The groups. In-flight counts and request times are of this run; membership is a fold of the events.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct RateLimitGroups {
    groups: Vec<Group>,
    by_name: FxHashMap<GroupKey, GroupId>,
    #[serde(skip)]
    timers: BinaryHeap<Reverse<(Millis, GroupId)>>,
    /// Groups that may be idle.
    #[serde(skip)]
    idle: Vec<GroupId>,
    #[serde(skip)]
    limits: Limits,
}

/// Limits of groups by their kind; none if requests are not spaced.
#[derive(Clone, Copy, Default)]
struct Limits {
    domain: Option<RateLimit>,
    address: Option<RateLimit>,
}

#[derive(Clone, Copy)]
struct RateLimit {
    /// Maximum number of concurrent requests.
    concurrent: u32,
    /// Milliseconds between two starts.
    delay: u64,
}

impl RateLimit {
    const NONE: Self = Self { concurrent: u32::MAX, delay: 0 };
}

impl RateLimitGroups {
    pub fn new(politeness: &Politeness) -> Self {
        let limit = |concurrent, delay| politeness.spaces().then(|| RateLimit { concurrent, delay: millis(delay) });
        let limits = Limits {
            domain: limit(politeness.per_domain, politeness.domain_delay),
            address: limit(politeness.per_address, politeness.address_delay),
        };
        Self { limits, ..Self::default() }
    }

    /// Sets the limits, which checkpoints do not store.
    pub fn set_up(&mut self, politeness: &Politeness) {
        self.limits = Self::new(politeness).limits;
    }

    /// The group of a host's registrable domain. None for the local machine, and if domains have no limits.
    pub fn of_domain(&mut self, host: &str) -> Option<GroupId> {
        self.limits.domain?;
        if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
            return self.of_address(address);
        }
        if host == "localhost" || host.ends_with(".localhost") {
            return None;
        }
        Some(self.number(GroupKey::of_domain(registrable_domain(host)), true))
    }

    /// The group of an address; for IPv6 its /64 network, which one server or customer has. None for the local machine,
    /// which is the user's own.
    pub fn of_address(&mut self, address: IpAddr) -> Option<GroupId> {
        self.limits.address?;
        let address = address.to_canonical();
        if address.is_loopback() {
            return None;
        }
        let address = match address {
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
            v4 @ IpAddr::V4(_) => v4,
        };
        Some(self.number(GroupKey::of_address(address), false))
    }

    fn number(&mut self, name: GroupKey, is_domain: bool) -> GroupId {
        if let Some(group) = self.by_name.get(&name) {
            return *group;
        }
        let group = GroupId(u32::try_from(self.groups.len()).expect("at most two groups for each host"));
        let (deferred, ready_at) = (BinaryHeap::new(), Millis(0));
        self.groups.push(Group { is_domain, in_flight: 0, ready_at, deferred, hosts: 0, timer: None, idle: false });
        self.by_name.insert(name, group);
        group
    }

    fn get(&self, group: GroupId) -> &Group {
        &self.groups[group.0 as usize]
    }

    fn get_mut(&mut self, group: GroupId) -> &mut Group {
        &mut self.groups[group.0 as usize]
    }

    fn limit(&self, group: GroupId) -> RateLimit {
        let limit = if self.get(group).is_domain { self.limits.domain } else { self.limits.address };
        limit.unwrap_or(RateLimit::NONE)
    }

    /// The first of these groups that allows no request now.
    pub fn busy(&self, groups: HostGroups, now: Millis) -> Option<GroupId> {
        groups.iter().find(|group| self.is_busy(*group, now))
    }

    fn is_busy(&self, group: GroupId, now: Millis) -> bool {
        !self.has_room(group) || self.get(group).ready_at > now
    }

    fn has_room(&self, group: GroupId) -> bool {
        self.get(group).in_flight < self.limit(group).concurrent
    }

    pub fn start(&mut self, groups: HostGroups, now: Millis) {
        for group in groups.iter() {
            let delay = self.limit(group).delay;
            let record = self.get_mut(group);
            record.in_flight += 1;
            record.idle = false;
            record.ready_at = record.ready_at.max(now.after(delay));
            self.schedule_check(group);
        }
    }

    pub fn finish(&mut self, group: GroupId) {
        let record = self.get_mut(group);
        record.in_flight = record.in_flight.saturating_sub(1);
    }

    /// After a restart the times of the last requests are unknown.
    pub fn delay_all(&mut self, politeness: &Politeness, now: Millis) {
        if politeness.spaces() {
            let Limits { domain, address } = self.limits;
            for group in &mut self.groups {
                let limit = if group.is_domain { domain } else { address };
                group.ready_at = now.after(limit.unwrap_or(RateLimit::NONE).delay);
            }
        }
    }

    pub fn defer(&mut self, group: GroupId, waiting: WaitingHost, now: Millis) {
        debug_assert!(self.is_busy(group, now), "only a busy group holds hosts back");
        self.offer(group, waiting);
        self.get_mut(group).hosts += 1;
        self.schedule_check(group);
    }

    pub fn offer(&mut self, group: GroupId, waiting: WaitingHost) {
        self.get_mut(group).deferred.push(waiting);
    }

    /// Drops stale entries once they are the majority.
    pub fn tidy(&mut self, group: GroupId, is_current: impl Fn(&WaitingHost) -> bool) {
        let record = self.get_mut(group);
        if record.deferred.len() > 64 + 2 * record.hosts {
            record.deferred.retain(is_current);
        }
    }

    /// A deferred host was resumed.
    pub fn count_resumed(&mut self, group: GroupId) {
        let record = self.get_mut(group);
        record.hosts = record.hosts.saturating_sub(1);
    }

    /// Schedules a check of a group that has deferred hosts and room, for its next allowed request.
    fn schedule_check(&mut self, group: GroupId) {
        let has_room = self.has_room(group);
        let record = self.get_mut(group);
        if has_room && !record.deferred.is_empty() && record.timer.is_none_or(|timer| timer < record.ready_at) {
            let at = record.ready_at;
            record.timer = Some(at);
            self.timers.push(Reverse((at, group)));
        }
    }

    /// Takes a group whose check is due.
    pub fn due(&mut self, now: Millis) -> Option<GroupId> {
        loop {
            let &Reverse((at, group)) = self.timers.peek()?;
            if at > now {
                return None;
            }
            self.timers.pop();
            let record = self.get_mut(group);
            if record.timer == Some(at) {
                record.timer = None;
                return Some(group);
            }
        }
    }

    pub fn next_due(&self) -> Option<Millis> {
        self.timers.peek().map(|&Reverse((at, _))| at)
    }

    /// Takes the best deferred host if the group allows a request now; otherwise schedules a check.
    pub fn resume(&mut self, group: GroupId, now: Millis) -> Option<WaitingHost> {
        if self.is_busy(group, now) {
            self.schedule_check(group);
            return None;
        }
        let waiting = self.get_mut(group).deferred.pop()?;
        if !std::mem::replace(&mut self.get_mut(group).idle, true) {
            self.idle.push(group);
        }
        Some(waiting)
    }

    /// Groups that resumed a host and got no request since. If nothing else is available, that host's URLs are gone, so
    /// the next host may be resumed.
    pub fn take_idle(&mut self) -> Vec<GroupId> {
        let mut idle = std::mem::take(&mut self.idle);
        idle.retain(|group| std::mem::replace(&mut self.get_mut(*group).idle, false));
        idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_grouped_by_registrable_domain_and_address() {
        let mut groups = RateLimitGroups::new(&Politeness::default());
        let mut same = |a: &str, b: &str| groups.of_domain(a).unwrap() == groups.of_domain(b).unwrap();
        for (a, b) in [
            ("bbs.sina.com.cn", "sina.com.cn"),
            ("a.example.test", "b.c.example.test"),
            ("intranet", "intranet"),
            ("1.2.3.4", "1.2.3.4"),
            ("[2001:da8::1]", "[2001:da8::2]"),
        ] {
            assert!(same(a, b), "{a} {b}");
        }
        for (a, b) in [("sina.com.cn", "sohu.com.cn"), ("a.github.io", "b.github.io"), ("1.2.3.4", "2.2.3.4")] {
            assert!(!same(a, b), "{a} {b}");
        }
        for own in ["localhost", "a.localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"] {
            assert_eq!(groups.of_domain(own), None, "{own}");
        }
        let mut address = |text: &str| groups.of_address(text.parse().unwrap());
        assert_eq!(address("::ffff:9.9.9.9"), address("9.9.9.9"));
        assert_eq!(address("2400:3200::1"), address("2400:3200::2:1"));
        assert_ne!(address("2400:3200::1"), address("2400:3200:0:1::1"));
        assert_ne!(address("192.168.1.1"), None);
        let mut off = RateLimitGroups::new(&Politeness { delay: 0.0, ..Politeness::default() });
        assert_eq!((off.of_domain("a.cn"), off.of_address("9.9.9.9".parse().unwrap())), (None, None));
    }

    #[test]
    fn hosts_of_one_owner_are_one_site() {
        let url = |text: &str| CrawlUrl::parse(text).unwrap();
        for (one, other, same) in [
            ("http://a.cn/", "https://a.cn:81/x", true),
            ("http://m.a.com.cn/", "http://www.a.com.cn/", true),
            ("http://a.com.cn/", "http://b.com.cn/", false),
            ("http://a.github.io/", "http://b.github.io/", false),
            ("http://127.0.0.1/", "http://127.0.0.1:81/", true),
            ("http://127.0.0.1/", "http://10.0.0.1/", false),
            ("http://[::1]/", "http://[::2]/", false),
        ] {
            assert_eq!(is_one_site(&url(one), &url(other)), same, "{one} {other}");
        }
    }
}
