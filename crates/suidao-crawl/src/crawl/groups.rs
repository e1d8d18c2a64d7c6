//! Hosts that belong together: those of one registrable domain, and those that answer from one address. Each group has
//! its own limits, so that a site of a thousand sub-domains, or a server of a thousand sites, is not asked as a
//! thousand strangers.
//!
//! A host that could be asked and whose group is busy leaves the frontier's ready set and is held here by its best
//! URL; whenever the group has room, the best of those held is let go, and goes back to where all hosts compete. So a
//! request costs a few steps in heaps, however many hosts there are.

use core::net::{IpAddr, Ipv6Addr};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use suidao_page::model::{HostId, Millis, Priority, UrlId};

use super::politeness::{Politeness, millis};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct GroupId(u32);

/// A host that is held, as what it waits: the best of its URLs.
pub(super) type WaitingHost = (Priority, Reverse<UrlId>, HostId);

/// What a group is known by, a hash: the names of a million domains take room, and nobody asks for them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Name(u64);

impl Name {
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

#[derive(Serialize, Deserialize)]
struct Group {
    is_domain: bool,
    #[serde(skip)]
    in_flight: u32,
    /// No request before.
    ready_at: Millis,
    /// Best first; may hold outdated ones, which the host's own record tells.
    #[serde(skip)]
    held: BinaryHeap<WaitingHost>,
    /// Those of them that are not outdated.
    #[serde(skip)]
    hosts: usize,
    /// When it is looked at again, if it is.
    #[serde(skip)]
    timer: Option<Millis>,
    /// A host was let go, and nothing was asked of the group since.
    #[serde(skip)]
    idle: bool,
}

/// The groups. What is under way and when the last request went out is of this run; who is in which group is a fold of
/// the events.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct RateLimitGroups {
    groups: Vec<Group>,
    by_name: FxHashMap<Name, GroupId>,
    #[serde(skip)]
    timers: BinaryHeap<Reverse<(Millis, GroupId)>>,
    /// Groups that may be loose.
    #[serde(skip)]
    loose: Vec<GroupId>,
    #[serde(skip)]
    limits: Limits,
}

/// Most requests under way, and milliseconds between the starts of two: of an address, of a domain.
#[derive(Clone, Copy, Default)]
struct Limits([Option<(u32, u64)>; 2]);

impl RateLimitGroups {
    pub fn new(politeness: &Politeness) -> Self {
        let limits =
            [(politeness.per_address, politeness.address_delay), (politeness.per_domain, politeness.domain_delay)];
        let limits = limits.map(|(most, delay)| politeness.spaces().then(|| (most, millis(delay))));
        Self { limits: Limits(limits), ..Self::default() }
    }

    /// Sets up what is not kept over a restart: the limits.
    pub fn set_up(&mut self, politeness: &Politeness) {
        self.limits = Self::new(politeness).limits;
    }

    /// The group of the registrable domain of a host (Public Suffix List, blog hosters and their like included); none
    /// for this machine and where groups have no limits.
    pub fn of_domain(&mut self, host: &str) -> Option<GroupId> {
        self.limits.0[1]?;
        if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
            return self.of_address(address);
        }
        if host == "localhost" || host.ends_with(".localhost") {
            return None;
        }
        // A name without a dot is one of the local network.
        let domain = psl::domain_str(host).unwrap_or(host);
        Some(self.number(Name::of_domain(domain), true))
    }

    /// The group of an address. Of IPv6 that is a network of /64, which is what a server or a customer has. None for
    /// this machine: it is the user's own.
    pub fn of_address(&mut self, address: IpAddr) -> Option<GroupId> {
        self.limits.0[0]?;
        let address = address.to_canonical();
        if address.is_loopback() {
            return None;
        }
        let address = match address {
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64)),
            v4 @ IpAddr::V4(_) => v4,
        };
        Some(self.number(Name::of_address(address), false))
    }

    fn number(&mut self, name: Name, is_domain: bool) -> GroupId {
        if let Some(group) = self.by_name.get(&name) {
            return *group;
        }
        let group = GroupId(u32::try_from(self.groups.len()).expect("at most two groups for each host"));
        let (held, ready_at) = (BinaryHeap::new(), Millis(0));
        self.groups.push(Group { is_domain, in_flight: 0, ready_at, held, hosts: 0, timer: None, idle: false });
        self.by_name.insert(name, group);
        group
    }

    fn get(&self, group: GroupId) -> &Group {
        &self.groups[group.0 as usize]
    }

    fn get_mut(&mut self, group: GroupId) -> &mut Group {
        &mut self.groups[group.0 as usize]
    }

    /// Most requests under way, and milliseconds between two starts.
    fn limits(&self, group: GroupId) -> (u32, u64) {
        self.limits.0[usize::from(self.get(group).is_domain)].unwrap_or((u32::MAX, 0))
    }

    /// The group that keeps a host of these from being asked now, if one does.
    pub fn busy(&self, groups: [Option<GroupId>; 2], now: Millis) -> Option<GroupId> {
        groups.into_iter().flatten().find(|group| !self.has_room(*group) || self.get(*group).ready_at > now)
    }

    fn has_room(&self, group: GroupId) -> bool {
        self.get(group).in_flight < self.limits(group).0
    }

    /// A request goes out to a host of these.
    pub fn start(&mut self, groups: [Option<GroupId>; 2], now: Millis) {
        for group in groups.into_iter().flatten() {
            let delay = self.limits(group).1;
            let record = self.get_mut(group);
            record.in_flight += 1;
            record.idle = false;
            record.ready_at = record.ready_at.max(now.after(delay));
            self.look_again(group);
        }
    }

    /// A request to a host of this group came back.
    pub fn finish(&mut self, group: GroupId) {
        let record = self.get_mut(group);
        record.in_flight = record.in_flight.saturating_sub(1);
    }

    /// After a restart nobody knows when the last requests went out.
    pub fn rest_all(&mut self, politeness: &Politeness, now: Millis) {
        if politeness.spaces() {
            for at in 0..self.groups.len() {
                let delay = self.limits.0[usize::from(self.groups[at].is_domain)].map_or(0, |(_, delay)| delay);
                self.groups[at].ready_at = now.after(delay);
            }
        }
    }

    pub fn defer(&mut self, group: GroupId, waiting: WaitingHost, now: Millis) {
        debug_assert!(self.busy([Some(group), None], now).is_some(), "only a busy group holds hosts back");
        self.offer(group, waiting);
        self.get_mut(group).hosts += 1;
        self.look_again(group);
    }

    pub fn offer(&mut self, group: GroupId, waiting: WaitingHost) {
        self.get_mut(group).held.push(waiting);
    }

    /// Forgets what is outdated, once most of it is.
    pub fn tidy(&mut self, group: GroupId, stands: impl Fn(&WaitingHost) -> bool) {
        let record = self.get_mut(group);
        if record.held.len() > 64 + 2 * record.hosts {
            record.held.retain(stands);
        }
    }

    /// A host of those held was let go.
    pub fn count_out(&mut self, group: GroupId) {
        let record = self.get_mut(group);
        record.hosts = record.hosts.saturating_sub(1);
    }

    /// A group that holds hosts back and has room is looked at again when its next request may go out.
    fn look_again(&mut self, group: GroupId) {
        let has_room = self.has_room(group);
        let record = self.get_mut(group);
        if has_room && !record.held.is_empty() && record.timer.is_none_or(|timer| timer < record.ready_at) {
            let at = record.ready_at;
            record.timer = Some(at);
            self.timers.push(Reverse((at, group)));
        }
    }

    /// Takes one group that is to be looked at again.
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

    /// When the next group is to be looked at again.
    pub fn next_due(&self) -> Option<Millis> {
        self.timers.peek().map(|&Reverse((at, _))| at)
    }

    /// Takes the best of those that a group holds back, if it may be asked now; else it is looked at when it may.
    pub fn resume(&mut self, group: GroupId, now: Millis) -> Option<WaitingHost> {
        if self.busy([Some(group), None], now).is_some() {
            self.look_again(group);
            return None;
        }
        let waiting = self.get_mut(group).held.pop()?;
        if !std::mem::replace(&mut self.get_mut(group).idle, true) {
            self.loose.push(group);
        }
        Some(waiting)
    }

    /// Groups that let a host go of which nothing was asked since: where nothing else is to be had, what that host
    /// offered has gone, and the next may go.
    pub fn take_loose(&mut self) -> Vec<GroupId> {
        let mut loose = std::mem::take(&mut self.loose);
        loose.retain(|group| std::mem::replace(&mut self.get_mut(*group).idle, false));
        loose
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
}
