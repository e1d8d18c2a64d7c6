//! A worker: fetches for all partitions that it owns, in one loop. Each partition is a machine of its own; they share the
//! fetcher, the parsers and the number of requests in flight.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use suidao_crawl::crawl::{Next, SentLink, Ticket};
use suidao_live::config::Config;
use suidao_live::fetch::Fetcher;
use suidao_live::fetch::render::{self, Renderer};
use suidao_live::live::{
    FetchResult, FetchTask, JudgedResults, MonotonicClock, NetworkWatch, ParsePool, agent, fold_digest, is_due,
    warc_entry,
};
use suidao_page::model::{Batch, Millis, Stop};
use suidao_page::topic::Topic;
use suidao_store::store::{ArchiveSettings, CrawlDirectory, StoreError, WarcArchive, WarcEntry};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::archive::{SharedArchive, is_bucket};
use crate::checkpoints::{Mark, Saved};
use crate::description::SharedCrawl;
use crate::error::ClusterError;
use crate::exchange::{Arrived, Delivery, follow};
use crate::owned::Owned;
use crate::ownership::{Order, Ownership, Report, Restored};
use crate::session::Session;
use crate::status::{self, ClusterStatus, End, PartitionStatus, WorkerStatus};
use crate::turns::{Candidate, PATIENCE, next_turn};
use crate::writer::{Notice, Step, Work, Writer};

/// The longest time without a look at the clock.
const TURN: Duration = Duration::from_millis(250);
/// If a turn takes so much longer, the process was suspended.
const SUSPENDED: Duration = Duration::from_secs(5);

/// Bytes of a WARC file for a bucket.
const UPLOAD_AT: u64 = 64 << 20;
/// Between two looks for files to upload.
const UPLOAD_EVERY: Duration = Duration::from_secs(5);

/// A worker to run.
pub struct WorkerJob {
    pub shared: SharedCrawl,
    pub topic: Arc<Topic>,
    /// The crawl's, with the settings of this machine, such as a proxy.
    pub config: Config,
    /// Directory for the files of this machine.
    pub files: PathBuf,
    /// URLs of the engine, for the connection of the heartbeat.
    pub nats: String,
    /// The same for the whole life of a machine, so that it gets the same partitions again.
    pub name: String,
}

/// What a worker has to say while it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerNews {
    /// It works for the crawl now.
    Joined,
    /// It owns so many partitions.
    Owns(usize),
    /// It has fetched so many pages; so many of them are relevant.
    Pages(u64, u64),
}

/// What a worker did.
#[derive(Clone, Debug)]
pub struct WorkerReport {
    /// Why it ended; none if it was interrupted.
    pub end: Option<End>,
    /// Pages that it fetched.
    pub pages: u64,
    pub relevant: u64,
    /// The whole crawl, if the engine still answers.
    pub status: Option<ClusterStatus>,
}

/// Works for a crawl until it is done, stopped, or `interrupt` resolves.
///
/// # Errors
/// [`ClusterError`]: it could not begin, or the engine or the archive failed. What was acknowledged is durable.
pub async fn work(
    job: &WorkerJob,
    mut news: impl FnMut(WorkerNews),
    interrupt: impl Future<Output = ()>,
) -> Result<WorkerReport, ClusterError> {
    let WorkerJob { shared, config, .. } = job;
    let fetcher = Fetcher::new(&config.fetch)?.with_ports(&config.scope.allow_ports);
    render::check(&config.render)?;
    fetcher.check_proxy().await?;
    if status::end(shared).await? == Some(End::Stopped) {
        status::reopen(shared, suidao_live::live::now()).await?;
    }
    let session = Session::begin(&shared.streams, &job.nats, &job.name).await?;
    let files = shared.archive(&job.files)?;
    files.check().await?;
    let archive = open_archive(shared, &files, &session.id, config, &fetcher)?;
    let robots = config.politeness.robots.then_some(agent(config));
    let profiles = CrawlDirectory::new(&job.files).profiles();
    let renderer = Renderer::start(&config.render, &fetcher, robots, config.fetch.max_body, &profiles).await?;
    news(WorkerNews::Joined);

    let (orders, ordered) = unbounded_channel();
    let (reports, reported) = unbounded_channel();
    let (works, waiting) = unbounded_channel();
    let (notices, noticed) = unbounded_channel();
    let (arrivals, arrived) = unbounded_channel();
    let (own, published) = watch::channel(BTreeMap::new());
    let settings = fold_digest(config, &job.topic, None);
    let ownership = Ownership {
        shared: shared.clone(),
        topic: Arc::clone(&job.topic),
        config: config.clone(),
        worker: job.name.clone(),
        session: session.id.clone(),
        archive: files.clone(),
        settings,
        orders,
        own: published,
    };
    let writer = Writer {
        shared: shared.clone(),
        session: session.id.clone(),
        archive,
        files: files.clone(),
        logs: BTreeMap::new(),
        sends: 0,
        saves: JoinSet::new(),
        turn: Arc::default(),
    };
    let ownership = tokio::spawn(ownership.run(reported));
    let writer = tokio::spawn(writer.run(waiting, notices));
    let uploads = tokio::spawn(upload(files.clone(), session.id.clone()));
    let (done, finished) = unbounded_channel();
    let (network, checks) = NetworkWatch::new(config, fetcher.clone(), []);
    let mut worker = Worker {
        shared,
        session: &session,
        task: FetchTask {
            fetcher,
            renderer: renderer.clone(),
            readers: ParsePool::new(Duration::try_from_secs_f64(config.crawl.reading_timeout).unwrap_or(Duration::MAX)),
            topic: Arc::clone(&job.topic),
            robot: agent(config).into(),
            view: None,
        },
        most: config.crawl.in_flight,
        checkpoint_every: config.crawl.checkpoint_every,
        settings,
        network,
        partitions: BTreeMap::new(),
        elsewhere: 0.0,
        last_page: now(),
        in_flight: 0,
        open: true,
        end: None,
        taken: 0,
        left: BTreeMap::new(),
        pages: (0, 0),
        works,
        reports,
        arrivals,
        own,
        done,
    };
    let worked = worker.run(Inbox { ordered, noticed, arrived, finished, checks }, &mut news, interrupt).await;
    let proxy_lost = worker.network.has_lost_proxy();
    let Worker { end, pages, works, reports, left, .. } = worker;
    drop(works);
    if let Some(renderer) = renderer {
        renderer.close().await;
    }
    // Both end when their senders are gone.
    let _ = (writer.await, reports.send(Report::Leaving), ownership.await);
    uploads.abort();
    let uploaded = files.upload_finished(None).await;
    let last =
        WorkerStatus { session: session.id.clone(), published: u64::MAX, partitions: left, ..WorkerStatus::default() };
    if let Err(error) = status::publish(shared, &job.name, &last).await {
        tracing::debug!("{error}");
    }
    let status = status::status(shared).await.ok();
    session.end();
    worked?;
    uploaded?;
    if proxy_lost {
        return Err(ClusterError::ProxyLost);
    }
    Ok(WorkerReport { end, pages: pages.0, relevant: pages.1, status })
}

fn open_archive(
    shared: &SharedCrawl,
    files: &SharedArchive,
    session: &str,
    config: &Config,
    fetcher: &Fetcher,
) -> Result<WarcArchive, ClusterError> {
    let archive = &shared.description.archive;
    let unusable = |source: StoreError| ClusterError::Archive {
        name: shared.streams.name.clone(),
        archive: archive.clone(),
        source: source.into(),
    };
    let directory = CrawlDirectory::new(files.path().join(session));
    let pages = directory.pages();
    std::fs::create_dir_all(&pages).map_err(StoreError::io(&pages, "create it")).map_err(unusable)?;
    let settings = ArchiveSettings {
        // What is not uploaded is on this machine alone.
        rotate_at: if is_bucket(archive) { UPLOAD_AT } else { ArchiveSettings::ROTATE_AT },
        user_agent: config.fetch.agent(),
        request_headers: fetcher.request_headers().into_iter().filter(|(name, _)| name != "user-agent").collect(),
    };
    WarcArchive::resume(&directory, None, settings).map_err(unusable)
}

/// Uploads finished files, also those that an earlier run has left.
async fn upload(files: SharedArchive, session: String) {
    loop {
        if let Err(error) = files.upload_finished(Some(&session)).await {
            tracing::warn!("{error}; trying again");
        }
        tokio::time::sleep(UPLOAD_EVERY).await;
    }
}

/// What reaches the loop.
struct Inbox {
    ordered: UnboundedReceiver<Order>,
    noticed: UnboundedReceiver<Notice>,
    arrived: UnboundedReceiver<Arrived>,
    finished: UnboundedReceiver<(Taken, FetchResult)>,
    /// Results of checks of the network.
    checks: UnboundedReceiver<bool>,
}

/// A partition, and which time it was that this worker took it.
type Taken = (u32, u64);

struct Worker<'a> {
    shared: &'a SharedCrawl,
    session: &'a Session,
    task: FetchTask,
    /// Most requests in flight.
    most: usize,
    network: NetworkWatch<Taken>,
    /// Fewest steps of a partition between two checkpoints; 0: none.
    checkpoint_every: u64,
    settings: u64,
    partitions: BTreeMap<u32, Owned>,
    /// The expected value of the best URL of the other workers.
    elsewhere: f32,
    last_page: Instant,
    in_flight: usize,
    /// Requests may be sent.
    open: bool,
    end: Option<End>,
    /// Partitions taken so far.
    taken: u64,
    /// The last state of partitions closed at the end.
    left: BTreeMap<u32, PartitionStatus>,
    /// Pages fetched here, and relevant ones.
    pages: (u64, u64),
    works: UnboundedSender<Work>,
    reports: UnboundedSender<Report>,
    arrivals: UnboundedSender<Arrived>,
    own: watch::Sender<BTreeMap<u32, PartitionStatus>>,
    done: UnboundedSender<(Taken, FetchResult)>,
}

impl Worker<'_> {
    async fn run(
        &mut self,
        mut inbox: Inbox,
        news: &mut impl FnMut(WorkerNews),
        interrupt: impl Future<Output = ()>,
    ) -> Result<(), ClusterError> {
        let mut interrupt = std::pin::pin!(interrupt);
        let (mut said, mut turned) = ((0, 0), now());
        loop {
            let wake = self.send_requests();
            self.close_idle();
            self.give_up_pages();
            self.own.send_replace(self.partitions.iter().map(|(partition, own)| (*partition, own.status())).collect());
            let now = (self.partitions.len(), self.pages.0);
            if now.0 != said.0 {
                news(WorkerNews::Owns(now.0));
            }
            if now.1 / 100 != said.1 / 100 {
                news(WorkerNews::Pages(self.pages.0, self.pages.1));
            }
            said = now;
            if !self.open && self.partitions.is_empty() {
                return Ok(());
            }
            let mut slept = false;
            tokio::select! {
                order = inbox.ordered.recv() => self.obey(order.ok_or(ClusterError::Stopped)?)?,
                notice = inbox.noticed.recv() => self.heed(notice.ok_or(ClusterError::Stopped)?)?,
                Some((taken, result)) = inbox.finished.recv() => self.finish(taken, result),
                Some(is_up) = inbox.checks.recv() => {
                    let judged = self.network.was_checked(is_up, self::now());
                    self.apply(judged);
                }
                Some(arrived) = inbox.arrived.recv() => self.receive(arrived),
                () = &mut interrupt, if self.open => self.close(),
                () = tokio::time::sleep(wake) => slept = true,
            }
            let before = std::mem::replace(&mut turned, self::now());
            if turned.duration_since(before) > SUSPENDED {
                self.network.was_suspended(turned);
            }
            // Another answer may resolve the doubt; with nothing else in flight, check at once.
            let open: usize = self.partitions.values().map(|own| own.tickets).sum();
            if slept || self.network.in_doubt() >= open {
                self.network.check_doubts();
            }
            if self.network.has_lost_proxy() && self.open {
                self.close();
            }
        }
    }

    /// Sends requests as long as a partition has any that is good enough. Returns when to ask again.
    fn send_requests(&mut self) -> Duration {
        if !self.open || !self.session.is_alive() || !self.network.may_send(now()) {
            return TURN;
        }
        while self.in_flight < self.most {
            let (mut best, mut theta, mut wake) = (self.elsewhere, 0.0, TURN);
            let mut candidates: Vec<Candidate> = Vec::new();
            for (partition, own) in &mut self.partitions {
                if own.leaving || own.idle == Some(Stop::FrontierEmpty) {
                    continue;
                }
                let now = own.clock.now();
                let values = own.best(now);
                if own.idle.is_some() {
                    continue;
                }
                (best, theta) = (best.max(values.soon.unwrap_or(0.0)), values.theta);
                match own.wake.filter(|until| *until > now) {
                    Some(until) => wake = wake.min(Duration::from_millis(until.since(now))),
                    None => candidates.push((*partition, values.ready)),
                }
            }
            let idle = u64::try_from(now().duration_since(self.last_page).as_millis()).unwrap_or(u64::MAX);
            let Some(partition) = next_turn(candidates, best, theta, idle) else {
                return wake.min(Duration::from_millis(PATIENCE.saturating_sub(idle).max(1)));
            };
            let Some(own) = self.partitions.get_mut(&partition) else { return wake };
            own.values = None;
            let now = own.clock.now();
            match own.crawl.next(now) {
                Next::Fetch(ticket) => self.start(partition, ticket),
                Next::Record(batch) => self.submit(partition, batch, None, false),
                // At least a moment, so that this loop ends.
                Next::Wait(until) => own.wake = Some(until.unwrap_or(Millis(u64::MAX)).max(now.after(1))),
                Next::Done(stop) => own.idle = Some(stop),
            }
        }
        TURN
    }

    fn start(&mut self, partition: u32, ticket: Ticket) {
        let Some(own) = self.partitions.get_mut(&partition) else { return };
        own.tickets += 1;
        own.in_flight += 1;
        self.in_flight += 1;
        let (task, done, time) = (self.task.clone(), self.done.clone(), own.time);
        // The receiver is gone only if the worker has ended.
        tokio::spawn(async move { drop(done.send(((partition, time), task.run(ticket, now()).await))) });
    }

    /// Passes a batch to the writer. `settled`: it is the result of a request.
    fn submit(&mut self, partition: u32, batch: Batch, response: Option<WarcEntry>, settled: bool) {
        let Some(own) = self.partitions.get_mut(&partition) else { return };
        let leaving: Vec<SentLink> = own.crawl.take_leaving(&batch);
        own.sent += leaving.len() as u64;
        own.steps += 1;
        own.unwritten.push_back(settled);
        own.mark = Mark { steps: own.mark.steps + 1, last: Some(batch.at), ..own.mark };
        // A writer that has stopped sends a notice.
        let _ = self.works.send(Work::Step(Step { partition, batch, response, leaving, links: own.mark.links }));
        self.save(partition, false);
    }

    /// Saves a partition if a checkpoint is due.
    fn save(&mut self, partition: u32, at_end: bool) {
        let Some(own) = self.partitions.get_mut(&partition) else { return };
        if is_due(self.checkpoint_every, own.saved, own.mark.steps, at_end)
            && let Some(pieces) = own.crawl.pieces()
        {
            let saved = Saved { settings: self.settings, mark: own.mark, pieces: pieces.collect() };
            own.saved = own.mark.steps;
            let _ = self.works.send(Work::Save(partition, saved));
        }
    }

    /// Handles the result of a request. A failure may be the network's or the proxy's.
    fn finish(&mut self, taken: Taken, result: FetchResult) {
        if result.not_rendered {
            // Not settled: the next owner has it queued.
            if let Some(own) = self.return_ticket(taken) {
                own.in_flight -= 1;
                self.in_flight -= 1;
            }
            return;
        }
        let judged = self.network.judge(taken, result, now());
        self.apply(judged);
    }

    fn apply(&mut self, judged: JudgedResults<Taken>) {
        judged.settle.into_iter().for_each(|(taken, result)| self.settle(taken, result));
        for (taken, result) in judged.requeue {
            if let Some(own) = self.return_ticket(taken) {
                own.in_flight -= 1;
                own.crawl.requeue_ticket(result.ticket, own.clock.now());
                own.wake_up();
                self.in_flight -= 1;
            }
        }
    }

    /// A ticket is no longer open. None if its partition was lost meanwhile, and has perhaps been taken again.
    fn return_ticket(&mut self, (partition, time): Taken) -> Option<&mut Owned> {
        let Some(own) = self.partitions.get_mut(&partition).filter(|own| own.time == time) else {
            self.in_flight -= 1;
            return None;
        };
        own.tickets -= 1;
        Some(own)
    }

    fn settle(&mut self, taken: Taken, result: FetchResult) {
        let FetchResult { ticket, outcome, delivery, fetched, .. } = result;
        let Some(own) = self.return_ticket(taken) else { return };
        own.wake_up();
        let before = own.crawl.progress();
        let at = own.clock.now();
        let batch = own.crawl.settle(ticket, outcome, delivery, at);
        let after = own.crawl.progress();
        if after.pages > before.pages {
            self.last_page = now();
        }
        self.pages.0 += after.pages - before.pages;
        self.pages.1 += after.relevant - before.relevant;
        let response = fetched.map(|fetched| warc_entry(fetched, &batch));
        self.submit(taken.0, batch, response, true);
    }

    fn receive(&mut self, arrived: Arrived) {
        let Arrived { partition, sequence, delivery } = arrived;
        let Some(own) = self.partitions.get_mut(&partition).filter(|own| sequence > own.mark.links) else { return };
        let at = own.clock.now();
        let batch = match delivery {
            Delivery::Seeds(seeds) => own.crawl.seed(&seeds, at),
            Delivery::Links(links) => own.crawl.receive(&links, at),
        };
        own.mark.links = sequence;
        own.wake_up();
        // Also without events, so that the delivery is removed once it counts as applied.
        self.submit(partition, batch, None, false);
    }

    fn obey(&mut self, order: Order) -> Result<(), ClusterError> {
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
                    own.allowed += 1;
                    own.gave_up = false;
                    own.crawl.allow(pages.saturating_sub(own.crawl.progress().pages));
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
        let Restored { partition, mut crawl, log, mark, saved, granted } = restored;
        self.taken += 1;
        if let Some(pages) = granted {
            crawl.allow(pages.saturating_sub(crawl.progress().pages));
        }
        let (streams, arrivals) = (self.shared.streams.clone(), self.arrivals.clone());
        let follower = tokio::spawn(async move {
            while let Err(error) = follow(&streams, partition, mark.links, &arrivals).await {
                tracing::debug!("{error}");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
        let _ = self.works.send(Work::Open(partition, log));
        let own = Owned {
            crawl,
            clock: MonotonicClock::start(mark.last),
            wake: None,
            idle: None,
            values: None,
            leaving: false,
            closing: false,
            time: self.taken,
            tickets: 0,
            in_flight: 0,
            steps: 0,
            unwritten: std::collections::VecDeque::new(),
            mark,
            saved,
            durable: mark.links,
            sent: 0,
            allowed: 0,
            gave_up: false,
            follower,
        };
        self.partitions.insert(partition, own);
    }

    fn heed(&mut self, notice: Notice) -> Result<(), ClusterError> {
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

    /// Forgets a partition. Its open tickets end by themselves.
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

    /// Partitions that have no use for the pages that they may still fetch give them up, so that others get them.
    fn give_up_pages(&mut self) {
        if self.shared.description.pages.is_none() {
            return;
        }
        for own in self.partitions.values_mut() {
            let now = own.clock.now();
            if !own.gave_up && own.has_no_use_for_pages(now) {
                own.gave_up = true;
                own.crawl.allow(0);
            }
        }
    }

    /// Closes partitions that leave and have nothing in flight.
    fn close_idle(&mut self) {
        let closed = |own: &Owned| own.leaving && own.tickets == 0 && !own.closing;
        let closed: Vec<u32> =
            self.partitions.iter().filter(|(_, own)| closed(own)).map(|(partition, _)| *partition).collect();
        for partition in closed {
            self.save(partition, true);
            if let Some(own) = self.partitions.get_mut(&partition) {
                own.closing = true;
                own.follower.abort();
            }
            let _ = self.works.send(Work::Close(partition));
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "an edge: requests take real time")]
fn now() -> Instant {
    Instant::now()
}
