//! A partition in its worker: the machine, and what is in progress.

use std::collections::VecDeque;

use suidao_crawl::crawl::{BestValues, Crawl, RoundShare};
use suidao_live::live::MonotonicClock;
use suidao_page::model::{LearntSum, Millis, Stop};
use tokio::task::JoinHandle;

use crate::checkpoints::LogPosition;
use crate::learning::is_due;
use crate::status::PartitionStatus;

/// A partition of this worker.
pub(crate) struct Owned {
    pub crawl: Crawl,
    pub clock: MonotonicClock,
    /// Nothing can be sent before this time, unless something happens.
    pub wake: Option<Millis>,
    pub idle: Option<Stop>,
    /// Expected values of its best URLs, and when they were computed; none after a change.
    pub values: Option<(Millis, BestValues)>,
    /// It is closed as soon as nothing is in flight.
    pub leaving: bool,
    pub closing: bool,
    /// Number of partitions that this worker had taken when it took this one. It distinguishes results of requests that
    /// were sent before the partition was lost and taken again.
    pub generation: u64,
    /// Tickets that are not settled.
    pub tickets: usize,
    /// Requests in flight: tickets, and settled ones whose step is not durable.
    pub in_flight: usize,
    /// Steps passed to the writer.
    pub steps: u64,
    /// Those of them that are not durable, oldest first: whether they are settled requests.
    pub unwritten: VecDeque<bool>,
    /// Position in its log, with the steps passed to the writer.
    pub position: LogPosition,
    /// Steps in its last checkpoint.
    pub saved: u64,
    /// Sequence of the last delivery in the log.
    pub durable: u64,
    pub sent: u64,
    pub learnt: u64,
    /// Pages when its sums were last shared.
    pub shared_pages: Option<u64>,
    /// Leases of further pages that it has received.
    pub leases_received: u64,
    /// Whether it has returned unused pages since the last lease.
    pub returned_pages: bool,
    pub follower: JoinHandle<()>,
    /// Its part in a round of revisits, and when it was computed; none in a crawl.
    pub round: Option<(Millis, RoundShare)>,
}

impl Owned {
    pub fn status(&self) -> PartitionStatus {
        let progress = self.crawl.progress();
        PartitionStatus {
            pages: progress.pages,
            relevant: progress.relevant,
            bytes: progress.bytes,
            queued: progress.queued,
            known: progress.known,
            hosts_visited: progress.hosts_visited,
            visits: progress.visits,
            failed: progress.failed,
            in_flight: (self.tickets + self.unwritten.len()) as u64,
            steps: self.steps,
            sent: self.sent,
            learnt: self.learnt,
            links: self.durable,
            leases_received: self.leases_received,
            returned_pages: self.returned_pages,
            idle: self.idle,
            best: self.values.and_then(|(_, values)| values.soon),
            round: self.round.as_ref().map(|(_, share)| share.clone()),
        }
    }

    /// Its pages and what it has learnt, if that is due.
    pub fn new_sums(&mut self) -> Option<(u64, Vec<LearntSum>)> {
        let pages = self.crawl.progress().pages;
        if !is_due(self.shared_pages, pages) {
            return None;
        }
        self.shared_pages = Some(pages);
        Some((pages, self.crawl.learnt().unwrap_or_default()))
    }

    /// Computes its part in the round, if that is due.
    pub fn update_round(&mut self) {
        /// Milliseconds for which it is reused; the owner publishes it twice a second.
        const FRESH: u64 = 200;
        let now = self.clock.now();
        if self.round.as_ref().is_some_and(|(at, _)| now.since(*at) >= FRESH) {
            self.round = Some((now, self.crawl.round_share(now)));
        }
    }

    /// Its part in the round is outdated.
    pub fn expire_round(&mut self) {
        if let Some((at, _)) = &mut self.round {
            *at = Millis(0);
        }
    }

    /// [`Crawl::best_values`], which change with events and, slowly, with time.
    pub fn best(&mut self, now: Millis) -> BestValues {
        /// Milliseconds for which they are reused.
        const FRESH: u64 = 250;
        if self.round.is_some() {
            // Grants decide which visits are made, not `crawl.spend`.
            return BestValues { ready: None, soon: None, theta: 0.0 };
        }
        match self.values {
            Some((at, values)) if now.since(at) < FRESH => values,
            _ => self.values.insert((now, self.crawl.best_values(now))).1,
        }
    }

    /// Whether it has nothing to fetch now or soon, so that others may have the pages that it was allowed.
    pub fn has_no_use_for_pages(&self, now: Millis) -> bool {
        let waits =
            self.wake.is_some_and(|until| until > now) && self.values.is_some_and(|(_, values)| values.soon.is_none());
        let is_done = self.idle.is_some_and(|stop| stop != Stop::PageLimit);
        self.tickets == 0 && (is_done || waits)
    }

    /// Something has happened: it may send requests again.
    pub fn wake_up(&mut self) {
        (self.wake, self.idle, self.values) = (None, None, None);
    }
}
