//! Decides which partitions this worker owns: reads the members, claims free partitions that are assigned to it, gives
//! back those assigned to others, leases pages, publishes the status, and notices the end.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use suidao_crawl::crawl::{Crawl, Exhaustion};
use suidao_live::config::Config;
use suidao_live::live::{self, monotonic_now};
use suidao_page::model::{Budget, Stop};
use suidao_page::topic::Topic;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;

use crate::archive::SharedArchive;
use crate::assignment::Assignment;
use crate::checkpoints::{self, LogPosition};
use crate::description::SharedCrawl;
use crate::error::ClusterError;
use crate::exchange::forget;
use crate::leases;
use crate::log::PartitionLog;
use crate::nats::SESSION;
use crate::rates::{LatestHarvest, Rates};
use crate::round::{self, ClusterRound, follows};
use crate::session::members;
use crate::status::{self, ClusterStatus, End, PartitionStatus, WorkerStatus};

/// Time between two reads of the members.
const TURN: Duration = Duration::from_millis(500);
/// Turns without a change of members before a partition moves to another worker: several may join at once.
const STEADY: u32 = 4;
/// Partitions claimed per turn: this many, or a 32nd of those wanted if that is more and [`CLAIMING`] is not over.
const CLAIMS: usize = 8;
const CLAIMING: Duration = Duration::from_secs(1);

/// Orders to the worker.
pub(crate) enum Order {
    /// It owns this partition now.
    Take(Box<Restored>),
    /// Finish what is in flight, then close the partition.
    Leave(u32),
    /// Another worker has it.
    Lost(u32),
    /// The expected value of the best URL of the other workers.
    Elsewhere(f32),
    /// The partition may fetch this many pages in all.
    Allow(u32, u64),
    /// The partition may send this many requests of the round in all.
    Grant {
        partition: u32,
        requests: u64,
        follows: bool,
    },
    End(End),
    Failed(ClusterError),
}

/// Reports of the worker.
pub(crate) enum Report {
    /// The partition is closed.
    Closed(u32),
    /// Another worker has it.
    Fenced(u32),
    /// All partitions are closed, and no further ones are wanted.
    Leaving,
}

/// A partition restored from its log.
pub(crate) struct Restored {
    pub partition: u32,
    pub crawl: Crawl,
    pub log: PartitionLog,
    /// The end of its log.
    pub position: LogPosition,
    /// Steps in its last checkpoint.
    pub saved: u64,
    /// Pages that it may fetch in all.
    pub granted_pages: Option<u64>,
    /// Requests of a round that it may send in all.
    pub granted_requests: u64,
}

/// Value of `owner.PARTITION`: the session of its owner; none if it is free.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Owner {
    session: Option<String>,
}

pub(crate) struct Ownership {
    pub shared: SharedCrawl,
    pub topic: Arc<Topic>,
    pub config: Config,
    pub worker: String,
    pub session: String,
    pub archive: SharedArchive,
    /// Digest of the settings that affect how events change the state.
    pub settings: u64,
    pub orders: UnboundedSender<Order>,
    /// The worker's own partitions.
    pub own: watch::Receiver<BTreeMap<u32, PartitionStatus>>,
}

/// What is remembered between two turns.
#[derive(Default)]
struct Memory {
    /// Revisions of the owner values of its partitions.
    owned: BTreeMap<u32, u64>,
    leaving: BTreeSet<u32>,
    /// Revisions of closed partitions, until they are free for other workers.
    closed: BTreeMap<u32, u64>,
    members: BTreeMap<String, String>,
    /// Turns since the members changed.
    steady: u32,
    /// Sessions that own a partition but have no heartbeat, and since when.
    absent: HashMap<String, Instant>,
    /// Pages that each of its partitions may fetch in all; in a round, requests.
    granted_pages: BTreeMap<u32, u64>,
    /// Leases of further pages for each since it was taken.
    leases: BTreeMap<u32, u64>,
    /// Sequences of the last deliveries removed from the server.
    forgotten: BTreeMap<u32, u64>,
    published: u64,
    /// The first status in which nothing was left to do.
    at_rest: Option<ClusterStatus>,
    /// The server did not answer when a partition was freed.
    is_away: bool,
    rates: Rates,
    harvest: LatestHarvest,
    /// When the server last answered.
    answered: Option<Instant>,
    /// Its heartbeat was missing in the last turn.
    was_absent: bool,
}

impl Ownership {
    /// Works until the worker has left, or the crawl fails.
    pub async fn run(self, mut reports: UnboundedReceiver<Report>) {
        let mut memory = Memory::default();
        let mut turns = tokio::time::interval(TURN);
        turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // Reports first: without the server each turn takes seconds.
                biased;
                report = reports.recv() => match report {
                    Some(Report::Closed(partition)) => {
                        memory.leaving.remove(&partition);
                        memory.closed.extend(memory.owned.remove_entry(&partition));
                        // Without the server each try takes seconds.
                        if !memory.is_away && let Err(error) = self.free_closed(&mut memory).await {
                            memory.is_away = true;
                            tracing::debug!("{error}");
                        }
                    }
                    Some(Report::Fenced(partition)) => {
                        memory.owned.remove(&partition);
                        memory.leaving.remove(&partition);
                    }
                    Some(Report::Leaving) | None => return,
                },
                _ = turns.tick() => match self.turn(&mut memory).await {
                    Ok(()) => {}
                    // Without the server nothing changes.
                    Err(error @ ClusterError::Nats { .. }) => tracing::debug!("{error}"),
                    Err(error) => {
                        // The receiver is gone only if the worker has ended.
                        let _ = self.orders.send(Order::Failed(error));
                        return;
                    }
                },
            }
        }
    }

    fn order(&self, order: Order) {
        let _ = self.orders.send(order);
    }

    async fn turn(&self, memory: &mut Memory) -> Result<(), ClusterError> {
        // Another crawl may have its name.
        self.shared.streams.waiting().await?;
        let (end, revision) = status::end(&self.shared).await?;
        if let Some(end) = end {
            self.order(Order::End(end));
            return self.publish(memory).await;
        }
        let members = members(&self.shared.streams).await?;
        // Others may have taken over meanwhile.
        let silent = memory.answered.is_some_and(|answered| monotonic_now().duration_since(answered) > SESSION);
        let is_member = members.get(&self.worker) == Some(&self.session);
        if silent || is_member && memory.was_absent {
            self.check_owned(memory).await?;
        }
        memory.was_absent = !is_member;
        (memory.answered, memory.is_away) = (Some(monotonic_now()), false);
        self.free_closed(memory).await?;
        memory.steady = if members == memory.members { memory.steady + 1 } else { 0 };
        memory.members = members;
        let assignment = Assignment::new(self.shared.description.partitions, memory.members.keys().cloned());
        let wanted: BTreeSet<u32> = assignment.of(&self.worker).collect();
        if memory.steady >= STEADY {
            let owned: Vec<u32> = memory.owned.keys().copied().collect();
            for partition in owned.into_iter().filter(|partition| !wanted.contains(partition)) {
                if memory.leaving.insert(partition) {
                    self.order(Order::Leave(partition));
                }
            }
        }
        if is_member {
            self.claim(&wanted, memory).await?;
        }
        self.lease(memory).await?;
        self.forget(memory).await?;
        self.publish(memory).await?;
        self.check_end(memory, revision).await
    }

    /// Checks which partitions this worker still owns.
    async fn check_owned(&self, memory: &mut Memory) -> Result<(), ClusterError> {
        for (partition, revision) in memory.owned.clone() {
            let there = self.shared.streams.read::<Owner>(&format!("owner.{partition}")).await?;
            if there.is_none_or(|(_, found)| found != revision) {
                memory.owned.remove(&partition);
                memory.leaving.remove(&partition);
                self.order(Order::Lost(partition));
            }
        }
        Ok(())
    }

    /// Claims some of the wanted partitions that are free or whose owner is gone.
    async fn claim(&self, wanted: &BTreeSet<u32>, memory: &mut Memory) -> Result<(), ClusterError> {
        let missing: Vec<u32> =
            wanted.iter().copied().filter(|partition| !memory.owned.contains_key(partition)).collect();
        let mut absent = HashMap::new();
        let (mut claimed, begun) = (0, monotonic_now());
        for partition in missing {
            let key = format!("owner.{partition}");
            let (owner, revision) = self.shared.streams.read::<Owner>(&key).await?.unwrap_or_default();
            if let Some(session) = owner.session.filter(|session| *session != self.session) {
                if memory.members.values().any(|member| *member == session) {
                    continue;
                }
                let since = memory.absent.get(&session).copied().unwrap_or_else(monotonic_now);
                absent.insert(session, since);
                if monotonic_now().duration_since(since) < SESSION {
                    continue;
                }
            }
            let owner = Owner { session: Some(self.session.clone()) };
            if let Some(revision) = self.shared.streams.write(&key, &owner, revision).await? {
                // If this fails, the next turn claims it again.
                let restored = self.restore(partition).await?;
                memory.owned.insert(partition, revision);
                let granted = restored.granted_pages.or(self.shared.round.as_ref().map(|_| restored.granted_requests));
                memory.granted_pages.extend(granted.map(|granted| (partition, granted)));
                memory.leases.remove(&partition);
                self.order(Order::Take(Box::new(restored)));
                claimed += 1;
                // A few at a time, as other workers may join; with thousands of partitions that would take hours.
                let enough = CLAIMS.max(wanted.len() / 32);
                if claimed >= enough || claimed >= CLAIMS && monotonic_now().duration_since(begun) > CLAIMING {
                    break;
                }
            }
        }
        memory.absent = absent;
        Ok(())
    }

    async fn restore(&self, partition: u32) -> Result<Restored, ClusterError> {
        let (shared, new) = (&self.shared, || self.shared.machine(&self.topic, &self.config, partition));
        loop {
            let saved = checkpoints::position(shared, partition).await?;
            let restored = checkpoints::restore(shared, &self.archive, partition, saved, self.settings, new);
            let (mut crawl, mut position) = (restored.await?, saved);
            let mut entries = Vec::new();
            let claimed = PartitionLog::claim(&shared.streams, partition, &self.session, saved.through, |entry| {
                entries.push(entry)
            });
            let claimed = claimed.await;
            // The previous owner may have saved another checkpoint meanwhile, and removed messages before they were
            // read: then the entries have a gap.
            if checkpoints::position(shared, partition).await? != saved {
                continue;
            }
            let log = claimed?;
            for entry in entries {
                position.links = position.links.max(entry.links);
                position.steps += entry.records.len() as u64;
                for record in &entry.records {
                    position.last = position.last.max(Some(record.batch.at));
                    crawl.restore(&record.batch);
                }
            }
            let granted_pages = match shared.description.pages.filter(|_| shared.round.is_none()) {
                None => None,
                Some(_) => Some(leases::read(&shared.streams).await?.of(partition)),
            };
            let granted_requests = match shared.round {
                None => 0,
                Some(_) => round::read(&shared.streams).await?.of(partition),
            };
            let saved = saved.steps;
            return Ok(Restored { partition, crawl, log, position, saved, granted_pages, granted_requests });
        }
    }

    /// Frees the closed partitions for other workers. Those that are left after an error are freed by the next turn, or
    /// by the end of this session.
    async fn free_closed(&self, memory: &mut Memory) -> Result<(), ClusterError> {
        while let Some((&partition, &revision)) = memory.closed.first_key_value() {
            // None: another worker has it already.
            self.shared.streams.write(&format!("owner.{partition}"), &Owner::default(), revision).await?;
            memory.closed.remove(&partition);
        }
        Ok(())
    }

    /// Leases pages to partitions that have none left and could fetch, and returns the unused ones of idle partitions.
    async fn lease(&self, memory: &mut Memory) -> Result<(), ClusterError> {
        if let Some(round) = &self.shared.round {
            return self.grant(round, memory).await;
        }
        let Some(limit) = self.shared.description.pages else { return Ok(()) };
        let of = |map: &BTreeMap<u32, u64>, partition: &u32| map.get(partition).copied().unwrap_or(0);
        // A partition that has not applied its last lease yet has an outdated report.
        let own: Vec<(u32, PartitionStatus)> = self.own.borrow().iter().map(|(p, part)| (*p, part.clone())).collect();
        let own = own.iter().filter(|(partition, part)| part.leases_received == of(&memory.leases, partition));
        let (mut wanting, mut idle) = (Vec::new(), Vec::new());
        for (partition, part) in own {
            match (part.idle, part.best) {
                (Some(Stop::PageLimit), Some(best)) => wanting.push((best, (*partition, part.pages))),
                _ if part.returned_pages && of(&memory.granted_pages, partition) > part.pages => {
                    idle.push((*partition, part.pages));
                }
                _ => {}
            }
        }
        // The best first: what is left may not be enough for all.
        wanting.sort_by(|a, b| b.0.total_cmp(&a.0));
        let wanting: Vec<(u32, u64)> = wanting.into_iter().map(|(_, part)| part).collect();
        if wanting.is_empty() && idle.is_empty() {
            return Ok(());
        }
        let leases = leases::exchange(&self.shared.streams, limit, &wanting, &idle).await?;
        for (partition, pages) in wanting.iter().chain(&idle) {
            let granted = leases.of(*partition);
            memory.granted_pages.insert(*partition, granted);
            if granted > *pages {
                *memory.leases.entry(*partition).or_default() += 1;
                self.order(Order::Allow(*partition, granted));
            }
        }
        Ok(())
    }

    /// Grants requests of a round to partitions that have used theirs, and returns the unused ones of idle partitions.
    async fn grant(&self, round: &ClusterRound, memory: &mut Memory) -> Result<(), ClusterError> {
        let own: BTreeMap<u32, PartitionStatus> = self.own.borrow().clone();
        let of = |map: &BTreeMap<u32, u64>, partition: &u32| map.get(partition).copied().unwrap_or(0);
        // A partition that has not applied its last grant yet has an outdated report.
        let current = own.iter().filter(|(partition, part)| part.leases_received == of(&memory.leases, partition));
        let (mut wanting, mut idle) = (Vec::new(), Vec::new());
        for (partition, part) in current {
            let Some(share) = &part.round else { continue };
            if part.idle.is_some() && part.in_flight == 0 {
                if of(&memory.granted_pages, partition) > share.begun {
                    idle.push(*partition);
                }
            } else if share.wants_something() && of(&memory.granted_pages, partition) <= share.begun {
                wanting.push(*partition);
            }
        }
        if wanting.is_empty() && idle.is_empty() {
            return Ok(());
        }
        let status = status::status(&self.shared).await?;
        let mut shares = status.shares();
        shares.extend(own.iter().filter_map(|(partition, part)| Some((*partition, part.round.as_ref()?))));
        let best = |partition: &u32| shares.get(partition).and_then(|share| share.wanted.keys().next_back().copied());
        wanting.sort_by_key(|partition| std::cmp::Reverse(best(partition)));
        let all = (self.shared.description.partitions, &shares);
        let grants = round::exchange(&self.shared.streams, round.budget, all, &wanting, &idle, live::now()).await?;
        let follows = follows(&shares);
        for partition in wanting.iter().chain(&idle) {
            let granted = grants.of(*partition);
            let before = memory.granted_pages.insert(*partition, granted);
            if before != Some(granted) {
                *memory.leases.entry(*partition).or_default() += 1;
                self.order(Order::Grant { partition: *partition, requests: granted, follows });
            }
        }
        Ok(())
    }

    /// Removes deliveries that are in the logs of the partitions.
    async fn forget(&self, memory: &mut Memory) -> Result<(), ClusterError> {
        /// Minimum number of deliveries to remove at a time.
        const MANY: u64 = 256;
        let own = self.own.borrow().clone();
        for (partition, part) in own {
            let forgotten = memory.forgotten.entry(partition).or_default();
            let due = part.links >= *forgotten + MANY || part.links > *forgotten && part.idle.is_some();
            if due {
                forget(&self.shared.streams, partition, part.links).await?;
                *forgotten = part.links;
            }
        }
        Ok(())
    }

    async fn publish(&self, memory: &mut Memory) -> Result<(), ClusterError> {
        memory.published += 1;
        let partitions = self.own.borrow().clone();
        let count = |of: fn(&PartitionStatus) -> u64| partitions.values().map(of).sum::<u64>();
        let (pages, links) = memory.rates.take(monotonic_now(), count(|part| part.pages), count(|part| part.sent));
        let status = WorkerStatus {
            session: self.session.clone(),
            published: memory.published,
            pages_per_second: pages,
            links_per_second: links,
            alive: true,
            partitions,
        };
        status::publish(&self.shared, &self.worker, &status).await
    }

    /// Ends the crawl if a goal is reached, or if nothing is left to do in two reports of every worker.
    async fn check_end(&self, memory: &mut Memory, revision: u64) -> Result<(), ClusterError> {
        let now = status::status(&self.shared).await?;
        if let Some(stop) = self.goal(&now, memory).await? {
            return status::finish(&self.shared, stop, revision).await;
        }
        self.order(Order::Elsewhere(now.best_elsewhere(&self.worker)));
        let Some(stop) = now.nothing_left() else {
            memory.at_rest = None;
            return Ok(());
        };
        match &memory.at_rest {
            Some(before) if !now.is_same_as(before) => memory.at_rest = Some(now),
            Some(before) if now.is_newer_than(before) => status::finish(&self.shared, stop, revision).await?,
            Some(_) => {}
            None => memory.at_rest = Some(now),
        }
        Ok(())
    }

    /// Why the round is over, if it is.
    async fn round_over(&self, round: &ClusterRound, status: &ClusterStatus) -> Result<Option<Stop>, ClusterError> {
        let Budget::Round { requests, seconds } = round.budget else { return Ok(None) };
        let spent = || status.shares().values().map(|share| share.spent).sum::<u64>();
        if requests.is_some_and(|most| spent() >= most) && status.total().in_flight == 0 {
            return Ok(Some(Stop::BudgetSpent));
        }
        let Some(seconds) = seconds else { return Ok(None) };
        let age = status::age(&self.shared, &self.worker, live::now()).await?;
        Ok((age >= seconds.saturating_mul(1_000)).then_some(Stop::BudgetSpent))
    }

    /// The stop condition of the whole crawl that is met.
    async fn goal(&self, status: &ClusterStatus, memory: &mut Memory) -> Result<Option<Stop>, ClusterError> {
        if let Some(round) = &self.shared.round {
            return self.round_over(round, status).await;
        }
        let (goals, total) = (&self.config.stop, status.total());
        if status.limit.is_some_and(|most| total.pages >= most) && total.in_flight == 0 {
            return Ok(Some(Stop::PageLimit));
        }
        if goals.relevant.is_some_and(|most| total.relevant >= most) {
            return Ok(Some(Stop::RelevantReached));
        }
        if goals.bytes.is_some_and(|most| total.bytes >= most) {
            return Ok(Some(Stop::BytesReached));
        }
        if let Some(Exhaustion { under, over }) = goals.harvest {
            let rate = memory.harvest.take(total.pages, total.relevant, over.into());
            if rate.is_some_and(|rate| rate < under) {
                return Ok(Some(Stop::TopicExhausted));
            }
        }
        let Some(minutes) = goals.minutes else { return Ok(None) };
        let age = status::age(&self.shared, &self.worker, live::now()).await?;
        Ok((age as f64 >= minutes * 60_000.0).then_some(Stop::TimeUp))
    }
}
