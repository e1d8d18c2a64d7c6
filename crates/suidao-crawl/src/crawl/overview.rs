//! Status of a running crawl: queue heads, hosts, skipped URLs by reason.

use std::cmp::Reverse;

use serde::{Serialize, Serializer};
use suidao_page::model::{CrawlUrl, Failure, FailureKind, HostId, Millis, QueueEntry, QueueId, SkipReason, UrlId};

use super::counts::Progress;
use super::frontier::EntryKey;
use super::goals::StopConditions;
use super::spend::WaitThreshold;
use super::state::State;

#[derive(Clone, Debug, Default)]
pub struct Overview {
    pub progress: Progress,
    pub in_flight: u64,
    /// Stop conditions, with `limits.pages` as the pages.
    pub goals: StopConditions,
    pub hosts: HostCounts,
    /// Hosts with the most pages.
    pub largest: Vec<HostView>,
    /// Failing hosts, the most consecutive failures first.
    pub failing: Vec<HostView>,
    /// Heads of each queue.
    pub queues: Vec<QueueView>,
    /// Which URLs wait for better ones now.
    pub wait_threshold: Option<WaitThreshold>,
    /// Skipped URLs by their first reason, including those queued later; the most frequent first.
    pub skipped_by_reason: Vec<(SkipReason, u64)>,
}

/// Hosts by state; each counts once, in the first state that applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCounts {
    /// With a request in flight.
    pub in_flight: u64,
    /// Waiting after failures.
    pub failing: u64,
    /// Waiting out of politeness, with queued URLs.
    pub waiting: u64,
    /// May get a request, with queued URLs.
    pub ready: u64,
    /// Without queued URLs.
    pub idle: u64,
}

#[derive(Clone, Debug)]
pub struct HostView {
    /// Name, with the port unless it is the scheme's default.
    pub name: Box<str>,
    pub pages: u32,
    pub relevant: bool,
    pub queued: u32,
    /// Consecutive failed requests.
    pub failures: u32,
    pub ready_at: Millis,
}

/// What an idle crawl waits for, and unreachable hosts. Lists have a few entries each.
#[derive(Clone, Debug, Default)]
pub struct WaitReasons {
    /// Hosts with an unanswered request.
    pub in_flight: Vec<Box<str>>,
    pub all_in_flight: u64,
    /// Hosts with queued URLs whose last request failed: the failure, and when they may get another request.
    pub failing: Vec<(Box<str>, Failure, Millis)>,
    pub all_failing: u64,
    /// The first host that waits out of politeness, and until when.
    pub waiting: Option<(Box<str>, Millis)>,
}

/// Hosts whose last request failed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Unreached {
    #[serde(rename = "first", serialize_with = "with_reasons")]
    pub hosts: Vec<(Box<str>, Failure)>,
    #[serde(rename = "count")]
    pub all: u64,
}

fn with_reasons<S: Serializer>(hosts: &[(Box<str>, Failure)], out: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct FailingHost<'a> {
        host: &'a str,
        kind: String,
        reason: String,
    }
    out.collect_seq(hosts.iter().map(|(host, why)| FailingHost {
        host,
        kind: why.kind.name(),
        reason: why.to_string(),
    }))
}

/// One queue of the frontier.
#[derive(Clone, Debug)]
pub struct QueueView {
    pub queue_id: QueueId,
    /// Best URLs, in the order in which they would leave if every host were ready.
    pub heads: Vec<(CrawlUrl, QueueEntry)>,
}

fn plain(kind: &FailureKind) -> Failure {
    Failure { kind: kind.clone(), retry_after: None }
}

impl State {
    /// The status with at most `most` entries per list. Linear in the number of hosts.
    pub fn overview(&self, in_flight: u64, now: Millis, most: usize) -> Overview {
        let mut hosts = HostCounts::default();
        let mut largest: Vec<(u32, HostId)> = Vec::new();
        let mut failing: Vec<(u32, HostId)> = Vec::new();
        for (id, host) in self.hosts.all() {
            let count = match () {
                () if host.in_flight => &mut hosts.in_flight,
                () if host.failing => &mut hosts.failing,
                () if host.queued == 0 => &mut hosts.idle,
                () if host.ready_at > now => &mut hosts.waiting,
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
        let mut skipped_by_reason: Vec<(SkipReason, u64)> =
            self.counts.skipped_by_reason.iter().map(|(&reason, &count)| (reason, count)).collect();
        skipped_by_reason.sort_by_key(|&(reason, count)| (Reverse(count), reason));
        Overview {
            progress: self.counts.progress,
            in_flight,
            goals: StopConditions { pages: self.settings.limits.pages, ..self.settings.goals.clone() },
            hosts,
            largest,
            failing,
            queues: self.queues(most),
            wait_threshold: None,
            skipped_by_reason,
        }
    }

    /// What the crawl waits for, with at most `most` entries per list. Linear in the number of hosts.
    pub fn waits(&self, now: Millis, most: usize) -> WaitReasons {
        let names = self.hosts.names();
        let name = |id: HostId| -> Box<str> { names.get(id.0 as usize).copied().unwrap_or_default().into() };
        let mut waits = WaitReasons::default();
        for (id, host) in self.hosts.all() {
            let cause = host.health.cause().filter(|_| host.failing);
            if host.in_flight {
                waits.all_in_flight += 1;
                waits.in_flight.extend((waits.in_flight.len() < most).then(|| name(id)));
            } else if host.queued == 0 {
            } else if let Some(cause) = cause {
                waits.all_failing += 1;
                if waits.failing.len() < most {
                    waits.failing.push((name(id), plain(cause), host.ready_at));
                }
            } else if host.ready_at > now && waits.waiting.as_ref().is_none_or(|(_, at)| host.ready_at < *at) {
                waits.waiting = Some((name(id), host.ready_at));
            }
        }
        waits
    }

    /// Hosts whose last request failed, at most `most` by name. Linear in the number of hosts.
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

    fn queues(&self, most: usize) -> Vec<QueueView> {
        let is_current = |id: UrlId, key: EntryKey| self.urls.get(id).is_current(key);
        let queues = self.frontier.heads(most, is_current).into_iter();
        let queues = queues.map(|(queue, ids)| QueueView {
            queue_id: queue,
            heads: ids.into_iter().map(|id| (self.urls.url(id), self.urls.get(id).entry())).collect(),
        });
        queues.filter(|queue| !queue.heads.is_empty()).collect()
    }
}

/// The `most` largest numbers, largest first, ties by discovery.
fn first(mut list: Vec<(u32, HostId)>, most: usize) -> Vec<(u32, HostId)> {
    let order = |&(count, id): &(u32, HostId)| (Reverse(count), id);
    if list.len() > most {
        list.select_nth_unstable_by_key(most, order);
        list.truncate(most);
    }
    list.sort_unstable_by_key(order);
    list
}
