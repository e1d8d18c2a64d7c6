//! The loop of a live crawl: sends requests, and handles their results.

use std::collections::VecDeque;
use std::future::Future;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::checkpoints::Checkpoints;
use super::clock::MonotonicClock;
use super::fetch_task::{FetchResult, FetchTask};
use super::monitor::{MonitorRequest, StatusSnapshot};
use super::network::{JudgedResults, NetworkWatch};
use super::{Job, News, monotonic_now};
use suidao_crawl::crawl::{Crawl, Next, Seeding, Ticket};
use suidao_page::model::{Batch, CrawlUrl, Event, Fetched, Millis, Stop, UrlOrigin};
use suidao_store::store::harvest::{HarvestCurve, HarvestLine};
use suidao_store::store::{CrawlDirectory, Notice, WarcEntry, Work, Writer};

/// Pages between two updates of `harvest.csv`.
const HARVEST_EVERY: u64 = 1_000;

/// The loop runs at least this often. If a turn takes much longer, the process was suspended.
const TURN: Duration = Duration::from_secs(1);
const SUSPENDED: Duration = Duration::from_secs(5);

/// Time without a response until the first and each later report of what the crawl waits for.
const QUIET: (Duration, Duration) = (Duration::from_millis(1500), Duration::from_secs(10));

/// Offered links per batch.
const OFFERED: usize = 256;
/// Maximum number of hosts named in a report.
const NAMED: usize = 3;

/// Why the loop woke up.
enum WakeReason {
    WriterNotice(Notice),
    Finished(Box<FetchResult>),
    Monitored(MonitorRequest),
    /// Whether a host that answered before accepts a connection.
    Checked(bool),
    Interrupted,
    TimedOut,
}

pub(super) struct Driver<'a, F: FnMut(News)> {
    pub(super) crawl: Crawl,
    pub(super) harvest: HarvestCurve,
    /// Pages at the last update of `harvest.csv`.
    pub(super) harvested: u64,
    pub(super) writer: &'a Writer,
    pub(super) task: FetchTask,
    pub(super) directory: &'a CrawlDirectory,
    pub(super) most: usize,
    /// Requests may be sent: the crawl is not interrupted.
    pub(super) open: bool,
    /// Open tickets, and batches of tickets that are not on disk yet.
    pub(super) in_flight: usize,
    /// Numbers of the batches of tickets that are not on disk yet.
    pub(super) unwritten: VecDeque<u64>,
    /// Batches passed to the writer, those of earlier runs included.
    pub(super) submitted: u64,
    pub(super) checkpoints: Checkpoints,
    /// Time spent on checkpoints since the last turn of the loop.
    pub(super) checkpointing: Duration,
    pub(super) report: &'a mut F,
    pub(super) clock: MonotonicClock,
    pub(super) network: NetworkWatch<()>,
    /// Results of checks of the network.
    pub(super) checks: UnboundedReceiver<bool>,
    /// Requests of those who watch or control it.
    pub(super) requests: Option<UnboundedReceiver<MonitorRequest>>,
}

impl<F: FnMut(News)> Driver<'_, F> {
    /// The crawl loop. Returns the machine's reason, or `None` if it was interrupted or the disk failed.
    pub(super) async fn drive(
        &mut self,
        job: &Job,
        mut noticed: UnboundedReceiver<Notice>,
        interrupt: impl Future<Output = ()>,
    ) -> Option<Stop> {
        let (done, mut finished) = unbounded_channel();
        self.begin(job);
        let mut interrupt = std::pin::pin!(interrupt);
        let mut turned = monotonic_now();
        let (mut answered, mut reported) = (turned, None::<Instant>);
        loop {
            let wake = match self.send_requests(turned, &done) {
                ControlFlow::Break(stop) => return Some(stop),
                ControlFlow::Continue(wake) => wake,
            };
            if !self.open && self.in_flight == 0 {
                return None;
            }
            let wake = wake.map_or(TURN, |until| Duration::from_millis(until.since(self.clock.now())).min(TURN));
            let event = tokio::select! {
                // In this order, so that with one request in flight nothing is random.
                biased;
                Some(notice) = noticed.recv() => WakeReason::WriterNotice(notice),
                Some(done) = finished.recv() => WakeReason::Finished(Box::new(done)),
                Some(request) = next_request(&mut self.requests) => WakeReason::Monitored(request),
                Some(is_up) = self.checks.recv() => WakeReason::Checked(is_up),
                () = &mut interrupt, if self.open => WakeReason::Interrupted,
                () = tokio::time::sleep(wake) => WakeReason::TimedOut,
            };
            let now = monotonic_now();
            let elapsed = now.duration_since(turned);
            if elapsed > SUSPENDED + std::mem::take(&mut self.checkpointing) {
                tracing::warn!("the process was suspended for {elapsed:.0?}; repeating the requests in flight");
                self.network.was_suspended(now);
            }
            turned = now;
            let slept = matches!(event, WakeReason::TimedOut);
            if matches!(event, WakeReason::Finished(_)) {
                answered = now;
            }
            let is_quiet = now.duration_since(answered) >= QUIET.0
                && reported.is_none_or(|reported| now.duration_since(reported) >= QUIET.1);
            if slept && is_quiet && self.open && !self.network.is_down() {
                reported = Some(now);
                let at = self.clock.now();
                (self.report)(News::Waiting(&self.crawl.waits(at, NAMED), at));
            }
            if let WakeReason::WriterNotice(Notice::Failed) = event {
                return None;
            }
            self.handle(event, now);
            // The failure proves nothing about the URLs; they stay queued until the crawl resumes.
            self.open &= !self.network.has_lost_proxy();
            // Another answer may resolve the doubt; with nothing else in flight, check at once.
            let alone = self.network.in_doubt() + self.unwritten.len() >= self.in_flight;
            if alone || slept {
                self.network.check_doubts();
            }
        }
    }

    fn handle(&mut self, event: WakeReason, now: Instant) {
        match event {
            WakeReason::WriterNotice(Notice::Durable(durable)) => self.is_durable(durable),
            // The receiver may be gone.
            WakeReason::Monitored(MonitorRequest::Snapshot(response)) => drop(response.send(self.snapshot())),
            WakeReason::Monitored(MonitorRequest::Seeds(seeds, response)) => drop(response.send(self.seed(&seeds).0)),
            WakeReason::Finished(done) => self.finish(*done, now),
            WakeReason::Checked(is_up) => {
                let judged = self.network.was_checked(is_up, now);
                self.take(judged);
            }
            WakeReason::Interrupted => {
                self.open = false;
                if let Some(renderer) = &self.task.renderer {
                    renderer.stop();
                }
            }
            WakeReason::WriterNotice(Notice::Failed) | WakeReason::TimedOut => {}
        }
    }

    /// Adds the seeds and the offered links, and starts the visits of boards or the round of a refresh.
    fn begin(&mut self, job: &Job) {
        let new = self.seed(&job.seeds);
        let at = self.clock.now();
        (self.report)(News::Seeded { new, all: job.seeds.len() });
        for links in job.offered.chunks(OFFERED) {
            let batch = self.crawl.offer(links, at);
            self.submit(batch, None);
        }
        for batch in [self.crawl.visit_boards(at), self.crawl.begin_refresh(at)].into_iter().flatten() {
            self.submit(batch, None);
        }
    }

    /// Adds seeds. Returns the number of those that were unknown, and the first of them.
    fn seed(&mut self, seeds: &[CrawlUrl]) -> (u64, Vec<CrawlUrl>) {
        let at = self.clock.now();
        let mut seeding = Seeding::of(seeds);
        let (mut new, mut named) = (0, Vec::new());
        while let Some(batch) = self.crawl.seed_portion(&mut seeding, at) {
            for event in &batch.events {
                if let Event::Discovered(found) = event
                    && found.origin == UrlOrigin::Seed
                {
                    new += 1;
                    named.extend((named.len() < NAMED).then(|| found.url.clone()));
                }
            }
            self.submit(batch, None);
        }
        (new, named)
    }

    /// Sends requests as long as the machine has any. Returns when to ask it again, or why the crawl has ended.
    fn send_requests(
        &mut self,
        now: Instant,
        done: &UnboundedSender<FetchResult>,
    ) -> ControlFlow<Stop, Option<Millis>> {
        while self.open && self.in_flight < self.most && self.network.may_send(now) {
            match self.crawl.next(self.clock.now()) {
                Next::Fetch(ticket) => self.start(ticket, done),
                Next::Record(batch) => self.submit(batch, None),
                Next::Wait(until) => return ControlFlow::Continue(until),
                Next::Done(stop) if self.in_flight == 0 => return ControlFlow::Break(stop),
                // Wait for the batches that are not on disk yet.
                Next::Done(_) => break,
            }
        }
        ControlFlow::Continue(None)
    }

    /// Batches up to this number are on disk.
    fn is_durable(&mut self, durable: u64) {
        self.time_checkpoint(|driver| driver.checkpoints.durable(durable));
        while self.unwritten.front().is_some_and(|&number| number < durable) {
            self.unwritten.pop_front();
            self.in_flight -= 1;
        }
    }

    /// Handles the result of a request. A failure may be the network's or the proxy's.
    fn finish(&mut self, done: FetchResult, now: Instant) {
        if done.not_rendered {
            // Not settled: it is queued on resume, and rendered then.
            self.in_flight -= 1;
            return;
        }
        let judged = self.network.judge((), done, now);
        self.take(judged);
    }

    fn take(&mut self, judged: JudgedResults<()>) {
        judged.settle.into_iter().for_each(|((), done)| self.settle(done));
        judged.requeue.into_iter().for_each(|((), done)| self.requeue(done));
    }

    /// Passes the result of a ticket to the machine, and the batch to the store.
    fn settle(&mut self, done: FetchResult) {
        let FetchResult { ticket, outcome, meta, fetched, .. } = done;
        let url = self.task.monitor.as_ref().map(|_| ticket.url.clone());
        let batch = self.crawl.settle(ticket, outcome, meta, self.clock.now());
        if let (Some(view), Some(url)) = (&self.task.monitor, url) {
            view.settled(&url, &batch);
        }
        self.unwritten.push_back(self.submitted);
        let kept = fetched.map(|fetched| warc_entry(fetched, &batch));
        self.submit(batch, kept);
    }

    fn requeue(&mut self, done: FetchResult) {
        self.crawl.requeue_ticket(done.ticket, self.clock.now());
        self.in_flight -= 1;
    }

    /// Starts fetching, rendering and parsing for a ticket; the result goes to `done`.
    fn start(&mut self, ticket: Ticket, done: &UnboundedSender<FetchResult>) {
        self.in_flight += 1;
        let (task, done, begun) = (self.task.clone(), done.clone(), monotonic_now());
        // The receiver is gone only if the crawl has ended for another reason.
        tokio::spawn(async move { drop(done.send(task.run(ticket, begun).await)) });
    }

    /// The snapshot for the status page.
    fn snapshot(&self) -> StatusSnapshot {
        /// Points of a curve that a screen can show.
        const POINTS: usize = 200;
        /// Maximum number of lines of a list.
        const MOST: usize = 12;
        let lines: Vec<HarvestLine> = self.harvest.lines().collect();
        let step = lines.len().div_ceil(POINTS).max(1);
        // The last one is always kept.
        let harvest = lines.iter().rev().step_by(step).rev().copied().collect();
        let at = self.clock.now();
        StatusSnapshot {
            at,
            overview: self.crawl.overview(at, MOST),
            waits: self.crawl.waits(at, NAMED),
            harvest,
            unwritten: self.unwritten.len() as u64,
        }
    }

    /// Time spent on a checkpoint does not count as suspension.
    fn time_checkpoint(&mut self, work: impl FnOnce(&mut Self)) {
        let begun = monotonic_now();
        work(self);
        self.checkpointing += monotonic_now().duration_since(begun);
    }

    fn submit(&mut self, batch: Batch, response: Option<WarcEntry>) {
        let progress = self.crawl.progress();
        self.harvest.observe(&batch);
        (self.report)(News::Batch(&batch, &self.crawl));
        self.submitted += 1;
        self.time_checkpoint(|driver| {
            driver.checkpoints.batch(&batch, driver.submitted, &driver.crawl, &driver.harvest);
        });
        // A writer that has stopped sends a notice, and the reason when it is finished.
        let _ = self.writer.submit(Work { batch, response });
        if progress.pages >= self.harvested + HARVEST_EVERY {
            self.harvested = progress.pages;
            tracing::info!(
                "{} pages, {} relevant, {} hosts visited, {} queued, {} failed, {} skipped",
                progress.pages,
                progress.relevant,
                progress.hosts_visited,
                progress.queued,
                progress.failed,
                progress.skipped
            );
            if let Err(error) = self.harvest.write(self.directory) {
                tracing::warn!("{error}");
            }
        }
    }
}

/// How a response is archived, according to the events that it caused: unchanged content is in the archive already.
pub fn warc_entry(fetched: Fetched, batch: &Batch) -> WarcEntry {
    let of = batch.events.iter().find_map(|event| match event {
        Event::Unchanged { since, .. } => Some(*since),
        _ => None,
    });
    match of {
        // A revisit record is about the bytes sent, and equal bodies may have been compressed differently. Equal
        // rendered pages may have been sent differently.
        Some(of) if fetched.status == 304 || fetched.wire.is_none() && fetched.rendered.is_none() => {
            WarcEntry::Revisit { fetched, of }
        }
        _ => WarcEntry::Whole(fetched),
    }
}

/// The next request of an observer; a snapshot only if its receiver still waits.
async fn next_request(requests: &mut Option<UnboundedReceiver<MonitorRequest>>) -> Option<MonitorRequest> {
    let Some(requests) = requests else { return std::future::pending().await };
    loop {
        match requests.recv().await? {
            MonitorRequest::Snapshot(response) if response.is_closed() => {}
            request => return Some(request),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn closed_status_requests_are_dropped() {
        let (ask, requests) = unbounded_channel();
        let (mut gone, mut there) = (Vec::new(), None);
        for n in 0..5 {
            let (response, answered) = oneshot::channel();
            ask.send(MonitorRequest::Snapshot(response)).unwrap();
            if n == 3 { there = Some(answered) } else { gone.push(answered) }
        }
        drop((gone, ask));
        let mut requests = Some(requests);
        let Some(MonitorRequest::Snapshot(response)) = next_request(&mut requests).await else { panic!("a snapshot") };
        response.send(StatusSnapshot::default()).unwrap();
        assert!(there.unwrap().await.is_ok());
        assert!(next_request(&mut requests).await.is_none());
    }
}
