//! The driver over the real web: fetches run side by side, reading runs on all cores, and every step is on disk before
//! its place in flight is given to another. One of the two places where the crawl loop stands; `replay` is the other.
//!
//! A fetch counts as in flight from its ticket until its batch is durable. So what a crash loses is what was in flight
//! and nothing else, and with one in flight the order of events is that of a replay.

mod checkpoints;
mod clock;
mod driver;
mod fetch_task;
mod outage;
mod readers;
mod view;

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use thiserror::Error;
use tokio::sync::mpsc::unbounded_channel;

use crate::config::Config;
use crate::fetch::render::{self, Renderer, RendererError};
use crate::fetch::{Fetcher, FetcherError};
use checkpoints::{Checkpoints, Restored};
use clock::MonotonicClock;
use driver::Driver;
use fetch_task::FetchTask;
use outage::Outage;
use readers::ParsePool;
use suidao_crawl::crawl::{
    Crawl, CrawlSettings, ForumMode, Progress, Refresh, TrapCounts, Unreached, WaitReasons, Watch, product,
};
use suidao_crawl::strategy::{Boards, Strategy};
use suidao_page::model::{
    Batch, Budget, CrawlUrl, Event, ForumMap, Millis, PageKind, Relevance, SkipReason, Stop, UrlId,
};
use suidao_page::topic::Topic;
use suidao_store::store::directory::write_own;
use suidao_store::store::{ArchiveSettings, CrawlDirectory, Meta, Store, StoreError, WarcArchive, Writer, skipped};

pub use view::{CrawlMonitor, Pace, RecentFailure, RecentPage, RunCounts, StatusSnapshot};

/// The product token that robots.txt files and pages know us by, unless `fetch.user_agent` has another.
pub const AGENT: &str = suidao_page::read::ROBOT;

/// So many pages are looked back at for hosts that answered in an earlier run.
const LOOK_BACK: usize = 200;

/// So many hosts that could not be reached are told by name.
const UNREACHED: usize = 20;

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

impl Job {
    /// A crawl of a topic.
    pub fn new(topic: Arc<Topic>, seeds: Vec<CrawlUrl>, config: Config, directory: CrawlDirectory) -> Self {
        Self { topic, seeds, config, directory, forum: None, watch: None, refresh: None }
    }
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
    /// The renderer.
    #[error(transparent)]
    Renderer(#[from] RendererError),
    /// The proxy answered at the start and does so no more.
    #[error(
        "the proxy (fetch.proxy, --proxy) no longer responds; fix it and rerun the same command (fetched pages are saved)"
    )]
    ProxyLost,
    /// Threads.
    #[error("cannot start threads ({0}); close other programs and rerun the same command")]
    Threads(std::io::Error),
}

/// How a crawl ended.
#[derive(Clone, Debug)]
pub struct CrawlReport {
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
    /// Bytes of memory that the process took at its end.
    pub memory: Option<u64>,
    /// URLs refused, by reason.
    pub refusals: BTreeMap<SkipReason, u64>,
    /// Of a refresh: when the first of the known pages may be asked for again.
    pub next_due: Option<Millis>,
    /// URLs that failed for good, by the name of the kind.
    pub failures: BTreeMap<String, u64>,
    /// Hosts of which nothing could be had, the first of them by name.
    pub unreached: Unreached,
    /// What came of the rules against traps.
    pub traps: TrapCounts,
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
    /// The seeds were taken in: those that nobody had found before, and all there were.
    Seeded {
        /// New ones, the first of them by name.
        new: (u64, Vec<CrawlUrl>),
        /// All.
        all: usize,
    },
    /// Nothing has come back for a while: what is waited for, and what time it is.
    Waiting(&'a WaitReasons, Millis),
}

/// The name whose rules are obeyed: that of `fetch.user_agent`.
pub fn agent(config: &Config) -> &str {
    Some(product(&config.fetch.user_agent)).filter(|name| !name.is_empty()).unwrap_or(AGENT)
}

/// What the machine is made of, by configuration and lexicon.
pub fn conditions(config: &Config, topic: &Topic) -> CrawlSettings {
    CrawlSettings {
        limits: config.limits.clone(),
        goals: config.stop.clone(),
        politeness: config.politeness.clone(),
        scope: config.scope.clone(),
        // Rules for the name that is sent are obeyed.
        agent: agent(config).to_owned(),
        traps: config.traps.clone(),
        sources: config.sources.clone(),
        // Checked when the configuration was read.
        languages: config.keep.codes().unwrap_or_default(),
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
    let write = |path: std::path::PathBuf, text: String| write_own(&path, |out| Ok(out.write_all(text.as_bytes())?));
    write(job.directory.topic_toml(), job.topic.lexicon().to_toml())?;
    // Every value of it came from TOML or is a number.
    let config = toml::to_string(&job.config.kept()).unwrap_or_default();
    write(job.directory.config_toml(), config)
}

/// Runs a crawl until it ends, `interrupt` resolves, or the disk fails; then closes everything properly.
///
/// # Errors
/// [`LiveError`]: nothing was changed if it could not begin; all that was acknowledged is kept otherwise.
pub fn run(
    job: &Job,
    tell: impl FnMut(News),
    interrupt: impl Future<Output = ()> + Send + 'static,
) -> Result<CrawlReport, LiveError> {
    run_in_view(job, None, tell, interrupt)
}

/// The same, with a window for those who want to look at it meanwhile.
///
/// # Errors
/// As [`run`].
pub fn run_in_view(
    job: &Job,
    view: Option<&Arc<CrawlMonitor>>,
    mut tell: impl FnMut(News),
    interrupt: impl Future<Output = ()> + Send + 'static,
) -> Result<CrawlReport, LiveError> {
    job.directory.check_pages()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(LiveError::Threads)?;
    // Listened to from now on: what comes before the loop may take its time.
    let interrupt = runtime.spawn(interrupt);
    let fetcher = Fetcher::new(&job.config.fetch)?.with_ports(&job.config.scope.allow_ports);
    render::check(&job.config.render)?;
    runtime.block_on(fetcher.check_proxy())?;

    let robots = job.config.politeness.robots.then_some(agent(&job.config));
    let (settings, profiles) = (&job.config.render, job.directory.profiles());
    let start = Renderer::start(settings, &fetcher, robots, job.config.fetch.max_body, &profiles);

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
    if let Some(forum) = &job.forum {
        conditions.forums = forum.clone();
        conditions.watch = job.watch;
    }
    let settings = checkpoints::settings(job);
    let Restored { mut crawl, harvest, kept } = checkpoints::restore(&store, settings, || {
        let strategy: Box<dyn Strategy> = match &job.forum {
            Some(_) => Box::new(Boards),
            None => job.config.strategy.build(conditions.page_threshold),
        };
        Crawl::new(conditions.clone(), strategy)
    })?;
    let (last, answered) = latest(&store)?;
    let patience = Duration::try_from_secs_f64(job.config.crawl.outage_patience).unwrap_or(Duration::MAX);
    let reading = Duration::try_from_secs_f64(job.config.crawl.reading_timeout).unwrap_or(Duration::MAX);
    let by_proxy = job.config.fetch.proxy.is_some();
    let outage = Outage::new(patience, by_proxy, answered.iter().map(|id| crawl.url(*id)));
    if let (Some(_), Some(pages)) = (&job.forum, job.config.goals().pages) {
        // Pages are fetched again and again: a limit is one of this run.
        crawl.allow(pages);
    }
    let archive = ArchiveSettings {
        rotate_at: ArchiveSettings::ROTATE_AT,
        user_agent: job.config.fetch.agent(),
        request_headers: fetcher.request_headers().into_iter().filter(|(name, _)| name != "user-agent").collect(),
    };
    let archive = WarcArchive::resume(&job.directory, store.last_location()?, archive)?;
    // Once the directory is this process's own.
    let renderer = runtime.block_on(start)?;
    tell(News::Ready { resumed, progress: crawl.progress() });

    let before = crawl.progress().pages;
    let (path, topic) = (job.directory.root().display(), &job.topic.lexicon().name);
    let agent = job.config.fetch.agent();
    tracing::info!("crawl for {topic} with strategy {label} in {path}, {before} earlier pages, user agent {agent}");
    let asked = view.and_then(|view| {
        view.ready(now(), resumed, crawl.progress());
        view.open(store.reader())
    });
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
        errand: FetchTask {
            fetcher,
            renderer: renderer.clone(),
            readers: ParsePool::new(reading),
            topic: Arc::clone(&job.topic),
            robot: self::agent(&job.config).into(),
            view: view.cloned(),
        },
        directory: &job.directory,
        most: job.config.crawl.in_flight,
        in_flight: 0,
        unwritten: VecDeque::new(),
        submitted: durable,
        held: None,
        checkpointing: Duration::ZERO,
        checkpoints: Checkpoints::new(job.directory.clone(), settings, job.config.crawl.checkpoint_every, kept),
        tell: &mut tell,
        proxy_lost: false,
        clock: MonotonicClock::start(last),
        outage,
        doubted: Vec::new(),
        looking: false,
        asked,
    };
    let stop = runtime.block_on(driver.drive(&job.seeds, noticed, async { drop(interrupt.await) }));
    let Driver { crawl, harvest, proxy_lost, mut checkpoints, .. } = driver;
    if let Some(renderer) = renderer {
        runtime.block_on(renderer.close());
    }
    // Connections are closed before the last files are written: there may be no descriptors left. A reading that was given
    // up is not waited for.
    runtime.shutdown_timeout(Duration::from_secs(1));
    if let Some(view) = view {
        view.close();
    }
    match stop {
        Some(stop) => tracing::info!("stopped: {}", stop.why()),
        None => tracing::info!("stopped early: interrupted, or writing failed"),
    }
    store = writer.finish().inspect_err(|error| tracing::info!("{error}"))?;
    checkpoints.close(&crawl, &harvest, &store);
    harvest.write(&job.directory)?;
    let failures = skipped::write(&store)?.failures;
    if proxy_lost {
        return Err(LiveError::ProxyLost);
    }
    let seconds = clock().duration_since(begun).as_secs_f64();
    let progress = crawl.progress();
    let (forum, traps, refusals) = (crawl.forum(), crawl.traps(), crawl.refusals().clone());
    let trouble = report_on.iter().map(|id| (*id, crawl.url(*id))).collect();
    let pages_now = progress.pages - before;
    let (unreached, next_due) = (crawl.unreached(UNREACHED), crawl.next_due());
    Ok(CrawlReport {
        progress,
        stop,
        pages_now,
        seconds,
        resumed,
        memory: resident_memory(),
        refusals,
        failures,
        next_due,
        unreached,
        traps,
        forum,
        trouble,
    })
}

/// Memory of this process in bytes, where the system says so in a file (Linux).
pub fn resident_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Pages of a forum that gave trouble, a few of them.
fn troubles(batch: &Batch, found: &mut Vec<UrlId>) {
    /// Nobody looks at more.
    const NAMED: usize = 16;
    for event in &batch.events {
        if let Event::PageFetched(settled) = event
            && settled.forum.as_ref().is_some_and(|page| matches!(page.kind, PageKind::Login | PageKind::Unread))
            && found.len() < NAMED
        {
            found.push(settled.id);
        }
    }
}

/// The time of the latest batches of a log, and the latest pages that they brought.
fn latest(store: &Store) -> Result<(Option<Millis>, VecDeque<UrlId>), StoreError> {
    /// In so many batches there are enough pages.
    const BATCHES: u64 = 1_000;
    let (mut last, mut answered) = (None, VecDeque::with_capacity(LOOK_BACK));
    for record in store.batches_from(store.len().saturating_sub(BATCHES)) {
        let batch = record?.batch;
        last = last.max(Some(batch.at));
        let pages = batch
            .events
            .iter()
            .filter_map(|event| if let Event::PageFetched(page) = event { Some(page.id) } else { None });
        answered.extend(pages);
        answered.drain(..answered.len().saturating_sub(LOOK_BACK));
    }
    Ok((last, answered))
}

/// The host of a forum.
fn forum_host(forum: &ForumMode, seeds: &[CrawlUrl]) -> String {
    let start = match forum {
        ForumMode::Follow(map) => CrawlUrl::parse(&map.start).ok(),
        _ => seeds.first().cloned(),
    };
    start.map(|start| start.authority().to_owned()).unwrap_or_default()
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
