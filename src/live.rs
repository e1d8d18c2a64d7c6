//! The driver over the real web: fetches run side by side, reading runs on all cores, and every step is on disk before
//! its place in flight is given to another. One of the two places where the crawl loop stands; `replay` is the other.
//!
//! A fetch counts as in flight from its ticket until its batch is durable. So what a crash loses is what was in flight
//! and nothing else, and with one in flight the order of events is that of a replay.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use thiserror::Error;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::config::Config;
use crate::crawl::{Conditions, Crawl, ForumMode, Next, Outcome, Progress, Refresh, Ticket, Wanted, Watch, outcome};
use crate::fetch::{Fetcher, FetcherError, retry_after};
use crate::model::{
    Batch, Budget, CrawlUrl, Event, Failure, FailureKind, Fetched, ForumMap, Millis, PageKind, Relevance, Stop, UrlId,
};
use crate::store::directory::write_whole;
use crate::store::harvest::Harvest;
use crate::store::{
    Archive, ArchiveSettings, CrawlDirectory, Kept, Meta, Notice, Store, StoreError, Work, Writer, skipped,
};
use crate::strategy::Boards;
use crate::topic::Topic;

/// The product token that robots.txt files know us by.
pub const AGENT: &str = "suidao";

/// `harvest.csv` is brought up to date after so many pages.
const HARVEST_EVERY: u64 = 1_000;

/// A live crawl to be run.
pub struct Job {
    /// The topic.
    pub topic: Arc<Topic>,
    /// Where it starts.
    pub seeds: Vec<CrawlUrl>,
    /// How it is done.
    pub config: Config,
    /// Where it is kept; a crawl that is there goes on.
    pub directory: CrawlDirectory,
    /// A forum to be crawled and nothing else; none for a crawl of a topic.
    pub forum: Option<ForumMode>,
    /// Boards of that forum are come back to until the crawl is stopped.
    pub watch: Option<Watch>,
    /// Pages fetched before are come back to, within this budget; none for a crawl.
    pub refresh: Option<Budget>,
}

/// Why a crawl could not be run, or not to its end.
#[derive(Debug, Error)]
pub enum LiveError {
    /// The crawl directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The fetcher, its proxy among others.
    #[error(transparent)]
    Fetcher(#[from] FetcherError),
    /// The proxy answered at the start and does so no more.
    #[error(
        "the proxy (fetch.proxy, --proxy) answers no more, and what was fetched is kept: see to it and run the same command again"
    )]
    ProxyLost,
    /// Threads.
    #[error("the system gives no threads ({0}); close other programs and run the same command again")]
    Threads(std::io::Error),
}

/// How a crawl ended.
#[derive(Clone, Debug)]
pub struct Report {
    /// Where it stands, runs before this one included.
    pub progress: Progress,
    /// Why it ended; none if it was interrupted.
    pub stop: Option<Stop>,
    /// Pages fetched in this run.
    pub pages_now: u64,
    /// Length of this run in seconds.
    pub seconds: f64,
    /// Whether it went on from an earlier run.
    pub resumed: bool,
    /// Of the crawl of a forum: what that is understood to be, or why it is not.
    pub forum: Option<Result<ForumMap, &'static str>>,
    /// URLs of the first pages of a forum that asked for a login, or look different from before.
    pub trouble: BTreeMap<UrlId, CrawlUrl>,
}

/// What [`run`] tells while it runs.
pub enum News<'a> {
    /// The state was restored, or there was none.
    Ready {
        /// Whether an earlier run is gone on with.
        resumed: bool,
        /// Where it stands.
        progress: Progress,
    },
    /// A batch, as it is handed to the store.
    Batch(&'a Batch, Progress),
}

/// What the machine is made of, by configuration and lexicon.
#[must_use]
pub fn conditions(config: &Config, topic: &Topic) -> Conditions {
    Conditions {
        limits: config.limits.clone(),
        politeness: config.politeness.clone(),
        scope: config.scope.clone(),
        agent: AGENT.to_owned(),
        seed: config.crawl.seed,
        page_threshold: config.crawl.page_threshold.map_or(topic.page_threshold(), Relevance::new),
        link_threshold: config.crawl.link_threshold.map_or(topic.link_threshold(), Relevance::new),
        forums: if config.crawl.forums { ForumMode::Recognise } else { ForumMode::Off },
        watch: None,
        refresh: None,
    }
}

/// Keeps what a refresh needs to know.
fn keep_inputs(job: &Job) -> Result<(), StoreError> {
    let write = |path: std::path::PathBuf, text: String| write_whole(&path, |out| Ok(out.write_all(text.as_bytes())?));
    write(job.directory.topic_toml(), job.topic.lexicon().to_toml())?;
    // Every value of it came from TOML or is a number.
    let config = toml::to_string(&job.config.shown()).unwrap_or_default();
    write(job.directory.config_toml(), config)
}

/// Runs a crawl until it ends, `interrupt` resolves, or the disk fails; then closes everything properly.
///
/// # Errors
/// [`LiveError`]: nothing was changed if it could not begin; all that was acknowledged is kept otherwise.
pub fn run(
    job: &Job,
    mut tell: impl FnMut(News),
    interrupt: impl Future<Output = ()> + Send + 'static,
) -> Result<Report, LiveError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(LiveError::Threads)?;
    let fetcher = Fetcher::new(&job.config.fetch)?;
    runtime.block_on(fetcher.check_proxy())?;

    let label = match &job.forum {
        // A directory is of one forum.
        Some(forum) => format!("boards of {}", forum_host(forum, &job.seeds)),
        None => job.config.strategy.label(),
    };
    let meta = Meta::new(&job.topic.lexicon().name, &job.topic.digest(), &label, now());
    let mut store = Store::resume(&job.directory, &meta)?;
    let resumed = !store.is_empty();
    let mut conditions = conditions(&job.config, &job.topic);
    match job.refresh {
        Some(budget) => {
            conditions.refresh = Some(Refresh { settings: job.config.refresh.clone(), budget });
        }
        None if job.forum.is_none() => keep_inputs(job)?,
        None => {}
    }
    let strategy = match &job.forum {
        Some(forum) => {
            conditions.forums = forum.clone();
            conditions.watch = job.watch;
            Box::new(Boards)
        }
        None => job.config.strategy.build(conditions.page_threshold),
    };
    let mut crawl = Crawl::new(conditions, strategy);
    let mut harvest = Harvest::default();
    for record in store.batches() {
        let batch = record?.batch;
        crawl.restore(&batch);
        harvest.observe(&batch);
    }
    if let (Some(_), Some(pages)) = (&job.forum, job.config.limits.pages) {
        // Pages are fetched again and again: a limit is one of this run.
        crawl.allow(pages);
    }
    let archive = ArchiveSettings {
        rotate_at: ArchiveSettings::ROTATE_AT,
        user_agent: job.config.fetch.agent(),
        request_headers: fetcher.request_headers().into_iter().filter(|(name, _)| name != "user-agent").collect(),
    };
    let archive = Archive::resume(&job.directory, store.last_location()?, archive)?;
    tell(News::Ready { resumed, progress: crawl.progress() });

    let before = crawl.progress().pages;
    let begun = clock();
    let (notices, noticed) = unbounded_channel();
    let durable = store.len();
    let writer = Writer::spawn(store, archive, move |notice| {
        // Nobody listens any more once the crawl has ended for another reason.
        let _ = notices.send(notice);
    })?;
    let mut report_on: Vec<UrlId> = Vec::new();
    let mut tell = |news: News| {
        if let News::Batch(batch, _) = &news {
            troubles(batch, &mut report_on);
        }
        tell(news);
    };
    let mut driver = Driver {
        crawl,
        harvest,
        harvested: before,
        writer: &writer,
        fetcher,
        topic: Arc::clone(&job.topic),
        directory: &job.directory,
        most: job.config.crawl.in_flight,
        in_flight: 0,
        unwritten: VecDeque::new(),
        submitted: durable,
        tell: &mut tell,
        proxy_lost: false,
    };
    let stop = runtime.block_on(driver.drive(&job.seeds, noticed, interrupt));
    let Driver { crawl, harvest, proxy_lost, .. } = driver;
    store = writer.finish()?;
    harvest.write(&job.directory)?;
    skipped::write(&store)?;
    if proxy_lost {
        return Err(LiveError::ProxyLost);
    }
    let seconds = clock().duration_since(begun).as_secs_f64();
    let progress = crawl.progress();
    let forum = crawl.forum();
    let trouble = report_on.iter().map(|id| (*id, crawl.url(*id))).collect();
    Ok(Report { progress, stop, pages_now: progress.pages - before, seconds, resumed, forum, trouble })
}

/// Pages of a forum that gave trouble, a few of them.
fn troubles(batch: &Batch, found: &mut Vec<UrlId>) {
    /// Nobody looks at more.
    const NAMED: usize = 16;
    for event in &batch.events {
        if let Event::Settled(settled) = event
            && settled.forum.as_ref().is_some_and(|page| matches!(page.kind, PageKind::Login | PageKind::Unread))
            && found.len() < NAMED
        {
            found.push(settled.id);
        }
    }
}

/// The host of a forum.
fn forum_host(forum: &ForumMode, seeds: &[CrawlUrl]) -> String {
    let start = match forum {
        ForumMode::Follow(map) => CrawlUrl::parse(&map.start).ok(),
        _ => seeds.first().cloned(),
    };
    start.map(|start| start.authority().to_owned()).unwrap_or_default()
}

/// A fetch that came back, read.
struct Done {
    ticket: Ticket,
    outcome: Outcome,
    /// The answer, if it is to be archived.
    fetched: Option<Fetched>,
}

struct Driver<'a, F: FnMut(News)> {
    crawl: Crawl,
    harvest: Harvest,
    /// Pages at the last writing of `harvest.csv`.
    harvested: u64,
    writer: &'a Writer,
    fetcher: Fetcher,
    topic: Arc<Topic>,
    directory: &'a CrawlDirectory,
    most: usize,
    /// Tickets out, and batches of tickets that are not on disk yet.
    in_flight: usize,
    /// Numbers of the batches of tickets that are not on disk yet.
    unwritten: VecDeque<u64>,
    /// Batches handed to the writer, those of earlier runs included.
    submitted: u64,
    tell: &'a mut F,
    /// The proxy answers no more.
    proxy_lost: bool,
}

impl<F: FnMut(News)> Driver<'_, F> {
    /// The crawl loop. Ends with what the machine says, or with nothing when it was interrupted or the disk failed.
    async fn drive(
        &mut self,
        seeds: &[CrawlUrl],
        mut noticed: UnboundedReceiver<Notice>,
        interrupt: impl Future<Output = ()>,
    ) -> Option<Stop> {
        let (done, mut finished) = unbounded_channel();
        let batch = self.crawl.seed(seeds, now());
        self.keep(batch, None);
        for batch in [self.crawl.visit_boards(now()), self.crawl.begin_refresh(now())].into_iter().flatten() {
            self.keep(batch, None);
        }
        let mut interrupt = std::pin::pin!(interrupt);
        let mut open = true;
        loop {
            let mut wake = None;
            while open && self.in_flight < self.most {
                match self.crawl.next(now()) {
                    Next::Fetch(ticket) => self.start(ticket, &done),
                    Next::Wait(until) => {
                        wake = until;
                        break;
                    }
                    Next::Done(stop) if self.in_flight == 0 => {
                        if let Some(batch) = self.crawl.finish(now()) {
                            self.keep(batch, None);
                        }
                        return Some(stop);
                    }
                    // What is not on disk yet is waited for.
                    Next::Done(_) => break,
                }
            }
            if !open && self.in_flight == 0 {
                if let Some(batch) = self.crawl.finish(now()) {
                    self.keep(batch, None);
                }
                return None;
            }
            let wake = Duration::from_millis(wake.map_or(60_000, |until| until.since(now())));
            tokio::select! {
                // In this order, so that with one in flight nothing depends on chance.
                biased;
                Some(notice) = noticed.recv() => match notice {
                    Notice::Durable(durable) => while self.unwritten.front().is_some_and(|&number| number < durable) {
                        self.unwritten.pop_front();
                        self.in_flight -= 1;
                    },
                    Notice::Failed => return None,
                },
                Some(Done { ticket, outcome, fetched }) = finished.recv() => {
                    if matches!(&outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Proxy) {
                        // It says nothing of the URL, which is not settled and so queued when the crawl goes on.
                        self.in_flight -= 1;
                        self.proxy_lost = true;
                        open = false;
                        continue;
                    }
                    let batch = self.crawl.settle(ticket, outcome, now());
                    self.unwritten.push_back(self.submitted);
                    // What is as it was is in the archive already.
                    let of = batch.events.iter().find_map(|event| match event {
                        Event::Unchanged { since, .. } => Some(*since),
                        _ => None,
                    });
                    let kept = fetched.map(|fetched| match of {
                        // Equal bodies may have been packed differently, and a revisit record is of what was sent.
                        Some(of) if fetched.status == 304 || fetched.wire.is_none() => Kept::Revisit { fetched, of },
                        _ => Kept::Whole(fetched),
                    });
                    self.keep(batch, kept);
                }
                () = &mut interrupt, if open => open = false,
                () = tokio::time::sleep(wake) => {}
            }
        }
    }

    /// Fetches on the runtime's threads, reads on the pool of all cores.
    fn start(&mut self, ticket: Ticket, done: &UnboundedSender<Done>) {
        self.in_flight += 1;
        let (fetcher, topic, done) = (self.fetcher.clone(), Arc::clone(&self.topic), done.clone());
        tokio::spawn(async move {
            let broken = || Failure { kind: FailureKind::Broken, retry_after: None };
            let (url, known) = (ticket.url.clone(), ticket.validators.clone());
            let fetch = tokio::spawn(async move {
                let mut answer = fetcher.fetch(&url, known.as_deref()).await;
                let by_proxy = answer.as_ref().is_err_and(|failure| failure.kind == FailureKind::Proxy);
                // A proxy may have been too busy for a moment; if it is gone the crawl stops, and no page is given up.
                if by_proxy && fetcher.check_proxy().await.is_ok() {
                    answer = fetcher.fetch(&url, known.as_deref()).await;
                }
                answer
            });
            // An answer that breaks a library is a page lost, not a crawl that waits for it for ever.
            let answer = fetch.await.unwrap_or_else(|_| Err(broken()));
            rayon::spawn(move || {
                let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let wait = answer.as_ref().ok().and_then(|fetched| retry_after(fetched, now()));
                    outcome(&ticket.wanted, answer.as_ref().map_err(Clone::clone), wait, &topic)
                }));
                // A page that breaks a library is a page lost, not a crawl.
                let outcome = read.unwrap_or_else(|_| {
                    tracing::error!(url = %ticket.url, "reading this page panicked; it is left out: please report it");
                    Outcome::Failed(broken())
                });
                told(&ticket, &outcome);
                let keep = matches!(
                    (&ticket.wanted, &outcome),
                    (
                        Wanted::Page(_) | Wanted::Forum(..),
                        Outcome::Page { .. } | Outcome::Redirect { .. } | Outcome::Unchanged
                    )
                );
                let fetched = answer.ok().filter(|_| keep);
                // The receiver is gone only when the crawl has ended for another reason.
                drop(done.send(Done { ticket, outcome, fetched }));
            });
        });
    }

    fn keep(&mut self, batch: Batch, answer: Option<Kept>) {
        let progress = self.crawl.progress();
        self.harvest.observe(&batch);
        (self.tell)(News::Batch(&batch, progress));
        self.submitted += 1;
        // A writer that has stopped says so by its notice, and why when it is finished.
        let _ = self.writer.submit(Work { batch, answer });
        if progress.pages >= self.harvested + HARVEST_EVERY {
            self.harvested = progress.pages;
            if let Err(error) = self.harvest.write(self.directory) {
                tracing::warn!("{error}");
            }
        }
    }
}

/// What became of a ticket, for `-v`.
fn told(ticket: &Ticket, outcome: &Outcome) {
    let url = &ticket.url;
    match outcome {
        Outcome::Page { status, page, .. } => tracing::debug!("{url} {status}, relevance {:.3}", page.relevance.get()),
        Outcome::Unchanged => tracing::debug!("{url} is as it was"),
        Outcome::Redirect { to, .. } => tracing::debug!("{url} leads to {to}"),
        Outcome::Hints(hints, _) => tracing::debug!("{url} names {} pages", hints.pages.len()),
        Outcome::Robots(_) => tracing::debug!("{url} had, or there is none"),
        Outcome::Failed(failure) => tracing::debug!("{url} failed: {failure}"),
    }
}

/// The wall clock, for the machine.
#[allow(clippy::disallowed_methods)] // the edge where time comes in
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[allow(clippy::disallowed_methods)] // the edge where time comes in
fn clock() -> Instant {
    Instant::now()
}
