//! The driver for the real web: requests run concurrently, pages are parsed on all cores, and every step is on disk
//! before its slot in flight is free again.
//!
//! A request is in flight from its ticket until its batch is durable. So a crash loses only requests in flight, and
//! with one in flight the events have the same order as in a replay.

mod checkpoints;
mod clock;
pub(crate) mod driver;
pub(crate) mod fetch_task;
mod monitor;
mod network;
mod outage;
mod parse_pool;
mod rescore;

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use thiserror::Error;
use tokio::sync::mpsc::unbounded_channel;

use crate::config::Config;
use crate::fetch::render::{self, Renderer, RendererError};
use crate::fetch::{Fetcher, FetcherError};
use crate::memory::resident_memory;
use checkpoints::{Checkpoints, Restored};
use driver::Driver;
use suidao_crawl::crawl::{
    Crawl, CrawlLimits, CrawlSettings, Exploration, ForumMode, OfferedLink, Progress, Refresh, TrapCounts, Unreached,
    WaitCosts, WaitReasons, Watch, product,
};
use suidao_crawl::strategy::{Boards, Strategy};
use suidao_page::messages::Lang;
use suidao_page::model::{
    Batch, Budget, CrawlUrl, Event, ForumMap, Millis, PageKind, Relevance, SkipReason, Stop, UrlId,
};
use suidao_page::topic::Topic;
use suidao_store::store::directory::write_own;
use suidao_store::store::harvest::HarvestCurve;
use suidao_store::store::{
    ArchiveSettings, CrawlDirectory, HarvestTrouble, Imports, Meta, Store, StoreError, WarcArchive, Writer, skipped,
};

pub use checkpoints::{fold_digest, is_due};
pub use clock::MonotonicClock;
pub use driver::warc_entry;
pub use fetch_task::{FetchResult, FetchTask};
pub use monitor::{CrawlMonitor, HostLatency, RecentFailure, RecentPage, RunCounts, StatusSnapshot};
pub use network::{JudgedResults, NetworkWatch};
pub use parse_pool::ParsePool;
pub use rescore::{RescoreReport, rescore};

/// The default product token for robots.txt and pages; `fetch.user_agent` overrides it.
pub const AGENT: &str = suidao_page::read::ROBOT;

/// Latest pages of an earlier run that are searched for hosts that answered.
const LOOK_BACK: usize = 200;

/// Maximum number of unreachable hosts listed by name.
pub(crate) const UNREACHED: usize = 20;

/// A live crawl to run.
pub struct Job {
    pub topic: Arc<Topic>,
    pub seeds: Vec<CrawlUrl>,
    /// Further links to judge, not as seeds.
    pub offered: Vec<OfferedLink>,
    pub config: Config,
    /// An existing crawl there is resumed.
    pub directory: CrawlDirectory,
    /// Crawl only this forum.
    pub forum: Option<ForumMode>,
    /// Visit the boards of the forum until stopped.
    pub watch: Option<Watch>,
    /// Revisit known pages within this budget.
    pub refresh: Option<Budget>,
    /// A strategy that is not in the configuration.
    pub strategy: Option<OwnStrategy>,
}

/// A strategy of the caller's own.
pub struct OwnStrategy {
    /// Recorded in the directory; a crawl resumes under this name only.
    pub name: String,
    /// Builds it, as it is before the first event; a restart may do so twice.
    pub build: Box<dyn Fn() -> Box<dyn Strategy>>,
}

impl Job {
    /// A crawl of a topic.
    pub fn new(topic: Arc<Topic>, seeds: Vec<CrawlUrl>, config: Config, directory: CrawlDirectory) -> Self {
        Self {
            topic,
            seeds,
            offered: Vec::new(),
            config,
            directory,
            forum: None,
            watch: None,
            refresh: None,
            strategy: None,
        }
    }
}

#[derive(Debug, Error)]
pub enum LiveError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The fetcher or its proxy.
    #[error(transparent)]
    Fetcher(#[from] FetcherError),
    #[error(transparent)]
    Renderer(#[from] RendererError),
    /// The proxy answered at the start, and no longer does.
    #[error(
        "the proxy (fetch.proxy, --proxy) no longer responds; fix it and rerun the same command (fetched pages are saved)"
    )]
    ProxyLost,
    #[error("cannot start threads ({0}); close other programs and rerun the same command")]
    Threads(std::io::Error),
    /// What it would crawl depends on when the import was killed.
    #[error(
        "{}: an import of {files} was interrupted; complete it with the same `suidao import` command, or use another output directory",
        .path.display()
    )]
    Unfinished { path: PathBuf, files: String },
}

/// The result of a crawl. `summary.json` contains the fields that are serialised.
#[derive(Clone, Debug, Serialize)]
pub struct CrawlReport {
    /// Counts over all runs.
    #[serde(flatten)]
    pub progress: Progress,
    /// `None` if it was interrupted.
    #[serde(skip)]
    pub stop: Option<Stop>,
    #[serde(skip)]
    pub pages_now: u64,
    /// Length of this run in seconds.
    #[serde(skip)]
    pub seconds: f64,
    /// Whether it resumed an earlier run.
    #[serde(skip)]
    pub resumed: bool,
    /// Memory of the process at the end, in bytes.
    pub memory: Option<u64>,
    /// URLs skipped, by reason.
    #[serde(rename = "skip_reasons")]
    pub skipped_by_reason: BTreeMap<SkipReason, u64>,
    /// For a refresh: when the first known page may be requested again.
    #[serde(skip)]
    pub next_due: Option<Millis>,
    /// URLs given up, by kind of failure.
    pub failures: BTreeMap<String, u64>,
    /// Hosts that never answered, the first of them by name.
    #[serde(rename = "unreachable_hosts")]
    pub unreached: Unreached,
    pub traps: TrapCounts,
    /// What holding URLs back has cost in this run.
    #[serde(skip)]
    pub wait_costs: WaitCosts,
    /// What a poor harvest says of topic and seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harvest_trouble: Option<HarvestTrouble>,
    /// For a forum: its structure, or why it is unknown.
    #[serde(skip)]
    pub forum: Exploration<ForumMap>,
    /// First pages of boards and threads that asked for a login, or have a new layout.
    #[serde(skip)]
    pub trouble: BTreeMap<UrlId, CrawlUrl>,
}

impl CrawlReport {
    /// What the machine knows; as if interrupted at once.
    pub fn of(crawl: &Crawl) -> Self {
        Self {
            progress: crawl.progress(),
            stop: None,
            pages_now: 0,
            seconds: 0.0,
            resumed: false,
            memory: resident_memory("self"),
            skipped_by_reason: crawl.skipped_by_reason().clone(),
            next_due: crawl.next_due(),
            failures: BTreeMap::new(),
            unreached: crawl.unreached(UNREACHED),
            traps: crawl.traps(),
            wait_costs: crawl.wait_costs(),
            harvest_trouble: None,
            forum: crawl.forum(),
            trouble: BTreeMap::new(),
        }
    }
}

/// Progress reports of [`run`].
pub enum News<'a> {
    /// The state was restored, or there was none.
    Ready {
        /// Whether an earlier run is resumed.
        resumed: bool,
        progress: Progress,
    },
    /// A batch that is passed to the store, and the machine after it.
    Batch(&'a Batch, &'a Crawl),
    /// The seeds were added.
    Seeded {
        /// Number of seeds that no earlier run had, and the first of them.
        new: (u64, Vec<CrawlUrl>),
        all: usize,
    },
    /// No response for a while: what the crawl waits for, and the time.
    Waiting(&'a WaitReasons, Millis),
}

/// The robots.txt agent: the product token of `fetch.user_agent`.
pub fn agent(config: &Config) -> &str {
    Some(product(&config.fetch.user_agent)).filter(|name| !name.is_empty()).unwrap_or(AGENT)
}

/// Off-topic pages in a row, as a multiple of k: links that name the topic do not count k down, so a trap that names it
/// would be an endless tunnel.
const TUNNELS: u16 = 4;

/// The machine's settings, from configuration and lexicon.
pub fn crawl_settings(config: &Config, topic: &Topic) -> CrawlSettings {
    CrawlSettings {
        limits: CrawlLimits {
            hops: config.limits.hops.or(Some(config.strategy.k().saturating_mul(TUNNELS))),
            ..config.limits.clone()
        },
        goals: config.stop.clone(),
        politeness: config.politeness.clone(),
        scope: config.scope.clone(),
        agent: agent(config).to_owned(),
        traps: config.traps.clone(),
        sources: config.sources.clone(),
        // Checked when the configuration was read.
        languages: config.keep.codes().unwrap_or_default(),
        spend: config.crawl.spend,
        seed: config.crawl.seed,
        page_threshold: config.crawl.page_threshold.map_or(topic.page_threshold(), Relevance::new),
        link_threshold: config.crawl.link_threshold.map_or(topic.link_threshold(), Relevance::new),
        forums: if config.crawl.forums { ForumMode::Recognise } else { ForumMode::Off },
        watch: None,
        refresh: None,
        partition: None,
        harvest_rate: None,
    }
}

/// Writes the input that a refresh needs.
pub(crate) fn write_inputs(job: &Job) -> Result<(), StoreError> {
    let write = |path: std::path::PathBuf, text: String| write_own(&path, |out| Ok(out.write_all(text.as_bytes())?));
    write(job.directory.topic_toml(), job.topic.lexicon().to_toml())?;
    // Every value came from TOML or is a number.
    let config = toml::to_string(&job.config.stored()).unwrap_or_default();
    write(job.directory.config_toml(), config)
}

/// Runs a crawl until it ends, `interrupt` resolves, or the disk fails, and then closes all files.
///
/// # Errors
/// [`LiveError`]: if the crawl could not start nothing was changed; otherwise everything acknowledged is on disk.
pub fn run(
    job: &Job,
    report: impl FnMut(News),
    interrupt: impl Future<Output = ()> + Send + 'static,
) -> Result<CrawlReport, LiveError> {
    run_monitored(job, None, report, interrupt)
}

/// As [`run`], with a monitor for the status page. Over 60 lines, because what is opened is closed here in reverse
/// order.
pub fn run_monitored(
    job: &Job,
    monitor: Option<&Arc<CrawlMonitor>>,
    mut report: impl FnMut(News),
    interrupt: impl Future<Output = ()> + Send + 'static,
) -> Result<CrawlReport, LiveError> {
    job.directory.check_pages()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(LiveError::Threads)?;
    // Start listening now, because the steps before the loop may take a while.
    let interrupt = runtime.spawn(interrupt);
    let fetcher = Fetcher::new(&job.config.fetch)?.with_ports(&job.config.scope.allow_ports);
    render::check(&job.config.render)?;
    runtime.block_on(fetcher.check_proxy())?;

    let robots = job.config.politeness.robots.then_some(agent(&job.config));
    let (settings, profiles) = (&job.config.render, job.directory.profiles());
    let start = Renderer::start(settings, &fetcher, robots, job.config.fetch.max_body, &profiles);

    let meta = meta(job);
    let mut store = Store::resume(&job.directory, &meta, command(job))?;
    let resumed = !store.is_empty();
    if let Some(import) = Imports::read(&job.directory, store.len())?.unfinished() {
        return Err(LiveError::Unfinished { path: job.directory.root().to_owned(), files: import.first_names() });
    }
    if job.refresh.is_none() && job.forum.is_none() {
        write_inputs(job)?;
    }
    let own = job.strategy.as_ref().map(|own| own.name.as_str());
    let settings = fold_digest(&job.config, &job.topic, own);
    let Restored { crawl, harvest, saved } = restore(job, &store, settings)?;
    let (last, answered) = latest(&store)?;
    let duration = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let hosts: Vec<CrawlUrl> = answered.iter().map(|id| crawl.url(*id)).collect();
    let (network, checks) = NetworkWatch::new(&job.config, fetcher.clone(), hosts);
    let archive = open_archive(job, &fetcher, &store)?;
    // After this process has locked the directory.
    let renderer = runtime.block_on(start)?;
    report(News::Ready { resumed, progress: crawl.progress() });

    let before = crawl.progress().pages;
    tracing::info!(
        "crawl for {} with strategy {} in {}, {before} earlier pages, user agent {}",
        job.topic.lexicon().name,
        strategy_label(job),
        job.directory.root().display(),
        job.config.fetch.agent()
    );
    let requests = monitor.and_then(|monitor| {
        monitor.ready(now(), resumed, crawl.progress());
        monitor.open()
    });
    let begun = monotonic_now();
    let (notices, noticed) = unbounded_channel();
    let durable = store.len();
    let writer = Writer::spawn(store, archive, move |notice| {
        // The receiver is gone if the crawl has ended for another reason.
        let _ = notices.send(notice);
    })?;
    let mut report_on: Vec<UrlId> = Vec::new();
    let mut report_all = |news: News| {
        if let News::Batch(batch, _) = &news {
            problem_pages(batch, &mut report_on);
        }
        report(news);
    };
    let mut driver = Driver {
        crawl,
        harvest,
        harvested: before,
        writer: &writer,
        task: FetchTask {
            fetcher,
            renderer: renderer.clone(),
            parsers: ParsePool::new(duration(job.config.crawl.reading_timeout)),
            topic: Arc::clone(&job.topic),
            robot: self::agent(&job.config).into(),
            monitor: monitor.cloned(),
        },
        directory: &job.directory,
        most: job.config.crawl.in_flight,
        open: true,
        in_flight: 0,
        unwritten: VecDeque::new(),
        submitted: durable,
        checkpointing: Duration::ZERO,
        checkpoints: Checkpoints::new(job.directory.clone(), settings, job.config.crawl.checkpoint_every, saved),
        report: &mut report_all,
        clock: MonotonicClock::start(last),
        network,
        checks,
        requests,
    };
    let stop = runtime.block_on(driver.drive(job, noticed, async { drop(interrupt.await) }));
    let proxy_lost = driver.network.has_lost_proxy();
    let Driver { crawl, harvest, mut checkpoints, .. } = driver;
    if let Some(renderer) = renderer {
        runtime.block_on(renderer.close());
    }
    // Connections are closed before the last files are written, because there may be no descriptors left. Abandoned
    // parsing is not awaited.
    runtime.shutdown_timeout(Duration::from_secs(1));
    let finished = writer.finish();
    match (&finished, stop) {
        (Err(error), _) => tracing::info!("stopped: writing failed: {error}"),
        (Ok(_), Some(stop)) => tracing::info!("stopped: {}", stop.reason(Lang::English)),
        (Ok(_), None) if proxy_lost => tracing::info!("stopped: the proxy is unreachable"),
        (Ok(_), None) => tracing::info!("stopped: interrupted"),
    }
    store = finished?;
    checkpoints.close(&crawl, &harvest, &store);
    harvest.write(&job.directory)?;
    let failures = skipped::write(&store)?.failures;
    if proxy_lost {
        return Err(LiveError::ProxyLost);
    }
    Ok(CrawlReport {
        pages_now: crawl.progress().pages - before,
        stop,
        seconds: monotonic_now().duration_since(begun).as_secs_f64(),
        resumed,
        failures,
        harvest_trouble: trouble_of(&harvest, &crawl.progress()).filter(|_| job.forum.is_none()),
        trouble: report_on.iter().map(|id| (*id, crawl.url(*id))).collect(),
        ..CrawlReport::of(&crawl)
    })
}

fn trouble_of(harvest: &HarvestCurve, progress: &Progress) -> Option<HarvestTrouble> {
    let curve = harvest.lines().map(|line| (line.pages, line.relevant));
    HarvestTrouble::of(curve, (progress.hosts_relevant, progress.hosts_visited))
}

/// The command to name in the lock file, so that another process can report who is writing.
fn command(job: &Job) -> &'static str {
    match (&job.refresh, &job.forum) {
        (Some(_), _) => "suidao refresh",
        (_, Some(_)) => "suidao forum crawl",
        _ => "suidao crawl",
    }
}

/// The metadata (`meta.json`) of a crawl that begins now.
pub fn meta(job: &Job) -> Meta {
    let threshold = crawl_settings(&job.config, &job.topic).page_threshold;
    Meta::new(&job.topic.lexicon().name, &job.topic.digest(), &strategy_label(job), threshold, now())
}

pub fn strategy_label(job: &Job) -> String {
    match (&job.forum, &job.strategy) {
        // Forums can be added to a directory after the first.
        (Some(forum), _) => format!("boards of {}", forum_host(forum, &job.seeds)),
        (None, Some(own)) => own.name.clone(),
        (None, None) => job.config.strategy.label(),
    }
}

/// The machine of a job, before the first event.
pub fn machine(job: &Job) -> Crawl {
    let mut settings = crawl_settings(&job.config, &job.topic);
    settings.refresh = job.refresh.map(|budget| Refresh { settings: job.config.refresh.clone(), budget });
    if let Some(forum) = &job.forum {
        settings.forums = forum.clone();
        settings.watch = job.watch;
    }
    let strategy: Box<dyn Strategy> = match (&job.forum, &job.strategy) {
        (Some(_), _) => Box::new(Boards),
        (None, Some(own)) => (own.build)(),
        (None, None) => job.config.strategy.build(settings.page_threshold),
    };
    Crawl::new(settings, strategy)
}

/// The machine of a job, restored from its directory.
fn restore(job: &Job, store: &Store, settings_digest: u64) -> Result<Restored, LiveError> {
    let mut restored = checkpoints::restore(store, settings_digest, || machine(job))?;
    if let (Some(_), Some(pages)) = (&job.forum, job.config.goals().pages) {
        // Boards are visited repeatedly: a limit applies to this run.
        restored.crawl.allow(pages);
    }
    Ok(restored)
}

fn open_archive(job: &Job, fetcher: &Fetcher, store: &Store) -> Result<WarcArchive, LiveError> {
    let settings = ArchiveSettings {
        rotate_at: ArchiveSettings::ROTATE_AT,
        user_agent: job.config.fetch.agent(),
        request_headers: fetcher.request_headers().into_iter().filter(|(name, _)| name != "user-agent").collect(),
        robots: Some(job.config.politeness.robots),
    };
    Ok(WarcArchive::resume(&job.directory, store.last_location()?, settings)?)
}

/// Collects some pages of a forum that had problems.
fn problem_pages(batch: &Batch, found: &mut Vec<UrlId>) {
    /// A longer list does not help.
    const NAMED: usize = 16;
    let is_problem = |kind| matches!(kind, PageKind::Login | PageKind::Unread | PageKind::Postless { page: 1, .. });
    for event in &batch.events {
        match event {
            Event::PageFetched(settled) => {
                found.extend(settled.forum.iter().filter(|page| is_problem(page.kind)).map(|_| settled.id));
            }
            Event::Forum(step) => {
                found.extend(step.read.iter().filter(|(_, kind, _)| is_problem(*kind)).map(|(id, ..)| *id));
            }
            _ => {}
        }
        found.truncate(NAMED);
    }
}

/// The time of the latest batches of a log, and their latest pages.
fn latest(store: &Store) -> Result<(Option<Millis>, VecDeque<UrlId>), StoreError> {
    /// This many batches contain enough pages.
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

fn forum_host(forum: &ForumMode, seeds: &[CrawlUrl]) -> String {
    let start = match forum {
        ForumMode::Follow(maps) => maps.first().and_then(|map| CrawlUrl::parse(&map.start).ok()),
        _ => seeds.first().cloned(),
    };
    start.map(|start| start.authority().to_owned()).unwrap_or_default()
}

/// The system clock, for the machine.
#[allow(clippy::disallowed_methods)] // the time enters here
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// The monotonic clock, for durations.
#[allow(clippy::disallowed_methods)] // the time enters here
pub fn monotonic_now() -> Instant {
    Instant::now()
}
