//! The crawl as somebody sees it who looks at it while it runs: what waits at the head of each lane, how the hosts do,
//! what was refused and why, what memory each part takes.

use std::cmp::Reverse;

use suidao_page::model::{
    CrawlUrl, Failure, FailureKind, HostId, LinkState, Millis, QueueEntry, QueueId, SkipReason, UrlId,
};

use super::frontier::EntryKey;
use super::goals::StopConditions;
use super::machine::{Crawl, Progress};

/// Where a crawl stands, in as much detail as fits on a page.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// The counts.
    pub progress: Progress,
    /// Requests handed out and not settled.
    pub in_flight: u64,
    /// What it is to end at, `limits.pages` among the pages.
    pub goals: StopConditions,
    /// Hosts by what they are at.
    pub hosts: HostCounts,
    /// Hosts with the most pages, the most first.
    pub largest: Vec<HostView>,
    /// Hosts that fail, the most failures in a row first.
    pub failing: Vec<HostView>,
    /// What waits, lane by lane.
    pub lanes: Vec<LaneView>,
    /// URLs refused so far by their first reason, those included that were queued after all; the most first.
    pub refusals: Vec<(SkipReason, u64)>,
}

/// How many hosts are at what; a host counts once, as the first that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCounts {
    /// They are being asked.
    pub asked: u64,
    /// They failed, and are left alone for a while.
    pub failing: u64,
    /// They have URLs that wait, and are left alone out of politeness.
    pub resting: u64,
    /// They have URLs that wait, and may be asked.
    pub ready: u64,
    /// Nothing of them waits.
    pub idle: u64,
}

#[derive(Clone, Debug)]
pub struct HostView {
    /// Its name, with the port if that is not the scheme's.
    pub name: Box<str>,
    pub pages: u32,
    /// Whether one of them was relevant.
    pub relevant: bool,
    pub queued: u32,
    /// Requests in a row that brought no answer.
    pub failures: u32,
    /// When it may be asked again.
    pub ready_at: Millis,
}

/// What a crawl waits for that asks for nothing just now, and the hosts that it cannot reach: each list of a few.
#[derive(Clone, Debug, Default)]
pub struct WaitReasons {
    /// Hosts that have been asked and have not answered.
    pub asked: Vec<Box<str>>,
    /// How many there are of these.
    pub all_asked: u64,
    /// Hosts with URLs that wait because the last request failed: why, and when they may be asked again.
    pub failing: Vec<(Box<str>, Failure, Millis)>,
    /// How many there are of these.
    pub all_failing: u64,
    /// The host that may be asked first of those that are left alone out of politeness, and when.
    pub resting: Option<(Box<str>, Millis)>,
}

/// Hosts of which nothing could be had when last they were asked.
#[derive(Clone, Debug, Default)]
pub struct Unreached {
    /// The first of them, and why.
    pub hosts: Vec<(Box<str>, Failure)>,
    pub all: u64,
}

/// One lane of the frontier.
#[derive(Clone, Debug)]
pub struct LaneView {
    pub lane: QueueId,
    /// Its best, in the order in which they would leave if every host were ready.
    pub heads: Vec<(CrawlUrl, QueueEntry)>,
}

fn plain(kind: &FailureKind) -> Failure {
    Failure { kind: kind.clone(), retry_after: None }
}

impl Crawl {
    /// Where the crawl stands, with at most so many of each list. Takes time in proportion to the hosts.
    pub fn overview(&self, now: Millis, most: usize) -> Overview {
        let mut hosts = HostCounts::default();
        let mut largest: Vec<(u32, HostId)> = Vec::new();
        let mut failing: Vec<(u32, HostId)> = Vec::new();
        for (id, host) in self.hosts.all() {
            let count = match () {
                () if host.in_flight => &mut hosts.asked,
                () if host.failing => &mut hosts.failing,
                () if host.queued == 0 => &mut hosts.idle,
                () if host.ready_at > now => &mut hosts.resting,
                () => &mut hosts.ready,
            };
            *count += 1;
            largest.extend((host.pages > 0).then_some((host.pages, id)));
            failing.extend((host.health.failures() > 0).then_some((host.health.failures(), id)));
        }
        let names = self.hosts.names();
        let view = |list: Vec<(u32, HostId)>| -> Vec<HostView> {
            let named = first(list, most).into_iter().map(|(_, id)| {
                let host = self.hosts.get(id);
                HostView {
                    name: names.get(id.0 as usize).copied().unwrap_or_default().into(),
                    pages: host.pages,
                    relevant: host.relevant,
                    queued: host.queued,
                    failures: host.health.failures(),
                    ready_at: host.ready_at,
                }
            });
            named.collect()
        };
        let (largest, failing) = (view(largest), view(failing));
        let mut refusals: Vec<(SkipReason, u64)> =
            self.refusals.iter().map(|(&reason, &count)| (reason, count)).collect();
        refusals.sort_by_key(|&(reason, count)| (Reverse(count), reason));
        Overview {
            progress: self.progress,
            in_flight: self.in_flight(),
            goals: StopConditions { pages: self.conditions.most_pages(), ..self.conditions.goals.clone() },
            hosts,
            largest,
            failing,
            lanes: self.lanes(most),
            refusals,
        }
    }

    /// What the crawl waits for, with at most so many of each list. Takes time in proportion to the hosts.
    pub fn waits(&self, now: Millis, most: usize) -> WaitReasons {
        let names = self.hosts.names();
        let name = |id: HostId| -> Box<str> { names.get(id.0 as usize).copied().unwrap_or_default().into() };
        let mut waits = WaitReasons::default();
        for (id, host) in self.hosts.all() {
            let cause = host.health.cause().filter(|_| host.failing);
            if host.in_flight {
                waits.all_asked += 1;
                waits.asked.extend((waits.asked.len() < most).then(|| name(id)));
            } else if host.queued == 0 {
            } else if let Some(cause) = cause {
                waits.all_failing += 1;
                if waits.failing.len() < most {
                    waits.failing.push((name(id), plain(cause), host.ready_at));
                }
            } else if host.ready_at > now && waits.resting.as_ref().is_none_or(|(_, at)| host.ready_at < *at) {
                waits.resting = Some((name(id), host.ready_at));
            }
        }
        waits
    }

    /// The hosts whose last request failed, with at most so many by name. Takes time in proportion to the hosts.
    pub fn unreached(&self, most: usize) -> Unreached {
        let names = self.hosts.names();
        let mut unreached = Unreached::default();
        for (id, host) in self.hosts.all() {
            let Some(cause) = host.health.cause().filter(|_| host.health.failures() > 0) else { continue };
            unreached.all += 1;
            if unreached.hosts.len() < most {
                let name = names.get(id.0 as usize).copied().unwrap_or_default();
                unreached.hosts.push((name.into(), plain(cause)));
            }
        }
        unreached
    }

    fn lanes(&self, most: usize) -> Vec<LaneView> {
        let waits = |id: UrlId, claim: EntryKey| {
            let known = self.urls.get(id);
            known.state == LinkState::Queued && claim.is_of(known.place())
        };
        let lanes = self.frontier.heads(most, waits).into_iter();
        let lanes = lanes.map(|(lane, ids)| LaneView {
            lane,
            heads: ids.into_iter().map(|id| (self.urls.url(id), self.urls.get(id).place())).collect(),
        });
        lanes.filter(|lane| !lane.heads.is_empty()).collect()
    }
}

/// The `most` with the largest numbers, largest first, ties by discovery.
fn first(mut list: Vec<(u32, HostId)>, most: usize) -> Vec<(u32, HostId)> {
    let order = |&(count, id): &(u32, HostId)| (Reverse(count), id);
    if list.len() > most {
        list.select_nth_unstable_by_key(most, order);
        list.truncate(most);
    }
    list.sort_unstable_by_key(order);
    list
}
