//! The loop of a worker: fetches for all partitions that it owns. Each partition is a machine of its own; they share
//! the fetcher, the parsers and the number of requests in flight.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::{Duration, Instant};

use suidao_crawl::crawl::RoundShare;
use suidao_live::live::{FetchResult, FetchTask, MonotonicClock, NetworkWatch, monotonic_now};
use suidao_page::model::{LearntSum, Millis};
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender};
use tokio::sync::watch;

use crate::description::SharedCrawl;
use crate::error::ClusterError;
use crate::exchange::{Arrived, follow};
use crate::learning::{OwnSums, SHARE_EVERY};
use crate::owned::Owned;
use crate::ownership::{Order, Report, Restored};
use crate::session::Session;
use crate::status::{End, PartitionStatus};
use crate::writer::{Notice, Work};

/// Longest time between two turns of the loop.
pub(crate) const TURN: Duration = Duration::from_millis(250);
/// If a turn takes longer than this, the process was suspended.
const SUSPENDED: Duration = Duration::from_secs(5);

/// What a worker reports while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerNews {
    /// It works for the crawl now.
    Joined,
    /// Number of partitions that it owns.
    Owns(usize),
    /// Pages fetched, and relevant ones.
    Pages(u64, u64),
}

/// What reaches the loop.
pub(crate) struct Inbox {
    pub orders: UnboundedReceiver<Order>,
    pub notices: UnboundedReceiver<Notice>,
    pub arrivals: UnboundedReceiver<Arrived>,
    pub results: UnboundedReceiver<(Taken, FetchResult)>,
    /// What the other partitions have learnt, for a partition.
    pub learnt: Receiver<(u32, Vec<LearntSum>)>,
    /// Results of checks of the network.
    pub checks: UnboundedReceiver<bool>,
}

/// A partition and its [`Owned::generation`].
pub(crate) type Taken = (u32, u64);

pub(crate) struct Worker<'a> {
    pub shared: &'a SharedCrawl,
    pub session: &'a Session,
    pub task: FetchTask,
    /// Maximum number of requests in flight.
    pub most: usize,
    pub network: NetworkWatch<Taken>,
    /// Minimum number of steps of a partition between two checkpoints; 0: no checkpoints.
    pub checkpoint_every: u64,
    pub settings: u64,
    pub partitions: BTreeMap<u32, Owned>,
    /// The expected value of the best URL of the other workers.
    pub elsewhere: f32,
    pub last_page: Instant,
    /// The strategy learns something that other partitions can use.
    pub shares_learning: bool,
    /// When it last sent `sums`.
    pub shared_at: Instant,
    pub in_flight: usize,
    /// Requests may be sent.
    pub open: bool,
    pub end: Option<End>,
    /// Partitions taken so far.
    pub taken: u64,
    /// The last state of partitions closed at the end.
    pub left: BTreeMap<u32, PartitionStatus>,
    /// Pages fetched here, and relevant ones.
    pub pages: (u64, u64),
    pub to_writer: UnboundedSender<Work>,
    pub reports: UnboundedSender<Report>,
    pub arrivals: UnboundedSender<Arrived>,
    pub own: watch::Sender<BTreeMap<u32, PartitionStatus>>,
    /// What its partitions have learnt, to be shared.
    pub sums: Sender<OwnSums>,
    pub done: UnboundedSender<(Taken, FetchResult)>,
}

impl Worker<'_> {
    pub async fn run(
        &mut self,
        mut inbox: Inbox,
        news: &mut impl FnMut(WorkerNews),
        interrupt: impl Future<Output = ()>,
    ) -> Result<(), ClusterError> {
        let mut interrupt = std::pin::pin!(interrupt);
        let (mut last_news, mut turned) = ((0, 0), monotonic_now());
        loop {
            let wake = self.send_requests();
            self.close_idle();
            self.give_up_pages();
            self.share_learning();
            self.partitions.values_mut().for_each(Owned::update_round);
            self.own.send_replace(self.partitions.iter().map(|(partition, own)| (*partition, own.status())).collect());
            let now = (self.partitions.len(), self.pages.0);
            if now.0 != last_news.0 {
                news(WorkerNews::Owns(now.0));
            }
            if now.1 / 100 != last_news.1 / 100 {
                news(WorkerNews::Pages(self.pages.0, self.pages.1));
            }
            last_news = now;
            // Without the server nothing more gets into the log: others repeat it.
            if !self.open && (self.partitions.is_empty() || !self.session.is_alive()) {
                return Ok(());
            }
            let mut slept = false;
            tokio::select! {
                order = inbox.orders.recv() => self.handle_order(order.ok_or(ClusterError::Stopped("ownership task"))?)?,
                notice = inbox.notices.recv() => self.handle_notice(notice.ok_or(ClusterError::Stopped("log writer"))?)?,
                Some((taken, result)) = inbox.results.recv() => self.finish(taken, result),
                Some(is_up) = inbox.checks.recv() => {
                    let judged = self.network.was_checked(is_up, monotonic_now());
                    self.apply(judged);
                }
                Some(arrived) = inbox.arrivals.recv() => self.receive(arrived),
                Some((partition, sums)) = inbox.learnt.recv() => self.learn(partition, &sums),
                () = &mut interrupt, if self.open => self.close(),
                () = tokio::time::sleep(wake) => slept = true,
            }
            let before = std::mem::replace(&mut turned, monotonic_now());
            if turned.duration_since(before) > SUSPENDED {
                self.network.was_suspended(turned);
            }
            // Another result may resolve the doubt; with nothing else in flight, check at once.
            let open: usize = self.partitions.values().map(|own| own.tickets).sum();
            if slept || self.network.in_doubt() >= open {
                self.network.check_doubts();
            }
            if self.network.has_lost_proxy() && self.open {
                self.close();
            }
        }
    }

    fn handle_order(&mut self, order: Order) -> Result<(), ClusterError> {
        match order {
            Order::Take(restored) if self.open => self.take(*restored),
            Order::Take(restored) => drop(self.reports.send(Report::Closed(restored.partition))),
            Order::Leave(partition) => {
                if let Some(own) = self.partitions.get_mut(&partition) {
                    own.leaving = true;
                }
            }
            Order::Allow(partition, pages) => {
                if let Some(own) = self.partitions.get_mut(&partition) {
                    own.leases_received += 1;
                    own.returned_pages = false;
                    own.crawl.allow(pages.saturating_sub(own.crawl.progress().pages));
                    own.wake_up();
                }
            }
            Order::Grant { partition, requests, follows } => {
                if let Some(own) = self.partitions.get_mut(&partition) {
                    own.leases_received += 1;
                    own.crawl.grant(requests, follows);
                    own.expire_round();
                    own.wake_up();
                }
            }
            Order::Lost(partition) => self.lose(partition),
            Order::Elsewhere(best) => self.elsewhere = best,
            Order::End(end) => {
                self.end = Some(end);
                self.close();
            }
            Order::Failed(error) => return Err(error),
        }
        Ok(())
    }

    fn take(&mut self, restored: Restored) {
        let Restored { partition, mut crawl, log, position, saved, granted_pages, granted_requests } = restored;
        self.taken += 1;
        if let Some(pages) = granted_pages {
            crawl.allow(pages.saturating_sub(crawl.progress().pages));
        }
        let (streams, arrivals) = (self.shared.streams.clone(), self.arrivals.clone());
        let follower = tokio::spawn(async move {
            while let Err(error) = follow(&streams, partition, position.links, &arrivals).await {
                tracing::debug!("{error}");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        let _ = self.to_writer.send(Work::Open(partition, log));
        let own = Owned {
            crawl,
            clock: MonotonicClock::start(position.last),
            wake: None,
            idle: None,
            values: None,
            leaving: false,
            closing: false,
            generation: self.taken,
            tickets: 0,
            in_flight: 0,
            steps: 0,
            unwritten: std::collections::VecDeque::new(),
            position,
            saved,
            durable: position.links,
            sent: 0,
            learnt: 0,
            shared_pages: None,
            leases_received: 0,
            returned_pages: false,
            follower,
            round: self.shared.round.as_ref().map(|_| (Millis(0), RoundShare::default())),
        };
        self.partitions.insert(partition, own);
        self.join_round(partition, granted_requests);
    }

    /// Lets a partition take part in the round, if there is one.
    fn join_round(&mut self, partition: u32, granted: u64) {
        let Some((round, own)) = self.shared.round.as_ref().zip(self.partitions.get_mut(&partition)) else { return };
        let now = own.clock.now();
        own.crawl.grant(granted, false);
        if let Some(batch) = own.crawl.join_round(round.begun, now) {
            self.submit(partition, batch, None, false);
        }
    }

    fn handle_notice(&mut self, notice: Notice) -> Result<(), ClusterError> {
        match notice {
            Notice::Durable { partition, steps, links } => {
                let Some(own) = self.partitions.get_mut(&partition) else { return Ok(()) };
                let settled = own.unwritten.drain(..steps.min(own.unwritten.len())).filter(|settled| *settled).count();
                own.in_flight -= settled;
                self.in_flight -= settled;
                own.durable = own.durable.max(links);
            }
            Notice::Fenced(partition) => {
                tracing::warn!("another worker has taken over partition {partition}");
                self.lose(partition);
                let _ = self.reports.send(Report::Fenced(partition));
            }
            Notice::Closed(partition) => {
                if let Some(own) = self.partitions.get(&partition).filter(|_| !self.open) {
                    self.left.insert(partition, own.status());
                }
                self.lose(partition);
                let _ = self.reports.send(Report::Closed(partition));
            }
            Notice::Failed(error) => return Err(error),
        }
        Ok(())
    }

    /// Removes a partition. Results of its open tickets are ignored.
    fn lose(&mut self, partition: u32) {
        if let Some(own) = self.partitions.remove(&partition) {
            own.follower.abort();
            self.in_flight -= own.in_flight - own.tickets;
        }
    }

    /// Sends nothing more, and closes all partitions as soon as nothing is in flight.
    fn close(&mut self) {
        self.open = false;
        if let Some(renderer) = &self.task.renderer {
            renderer.stop();
        }
        self.partitions.values_mut().for_each(|own| own.leaving = true);
    }

    /// Lets idle partitions return the pages that they may still fetch, so that others get them.
    fn give_up_pages(&mut self) {
        if self.shared.description.pages.is_none() || self.shared.round.is_some() {
            return;
        }
        for own in self.partitions.values_mut() {
            let now = own.clock.now();
            if !own.returned_pages && own.has_no_use_for_pages(now) {
                own.returned_pages = true;
                own.crawl.allow(0);
            }
        }
    }

    /// Publishes what the partitions have learnt, every few seconds. The answer is [`Inbox::learnt`].
    fn share_learning(&mut self) {
        let now = monotonic_now();
        if !self.shares_learning || now.duration_since(self.shared_at) < SHARE_EVERY {
            return;
        }
        self.shared_at = now;
        // Without a permit the last exchange is not done yet.
        if let Ok(permit) = self.sums.try_reserve() {
            permit.send(self.partitions.iter_mut().map(|(partition, own)| (*partition, own.new_sums())).collect());
        }
    }

    /// Closes partitions that leave and have nothing in flight.
    fn close_idle(&mut self) {
        let closed = |own: &Owned| own.leaving && own.tickets == 0 && !own.closing;
        let closed: Vec<u32> =
            self.partitions.iter().filter(|(_, own)| closed(own)).map(|(partition, _)| *partition).collect();
        for partition in closed {
            if let (Some(End::Done(_)), Some(own)) = (self.end, self.partitions.get_mut(&partition))
                && own.round.is_some()
                && let Some(batch) = own.crawl.end_round(own.clock.now())
            {
                self.submit(partition, batch, None, false);
            }
            self.save(partition, true);
            if let Some(own) = self.partitions.get_mut(&partition) {
                own.closing = true;
                own.follower.abort();
            }
            let _ = self.to_writer.send(Work::Close(partition));
        }
    }
}
