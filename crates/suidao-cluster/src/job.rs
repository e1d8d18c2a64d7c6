//! Starts a worker: its session, archive, and the tasks that own, write and upload.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use suidao_live::config::Config;
use suidao_live::fetch::Fetcher;
use suidao_live::fetch::render::{self, Renderer};
use suidao_live::live::{self, FetchTask, NetworkWatch, ParsePool, agent, fold_digest, monotonic_now};
use suidao_page::topic::Topic;
use suidao_store::store::{ArchiveSettings, CrawlDirectory, StoreError, WarcArchive};
use tokio::sync::mpsc::{channel, unbounded_channel};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::archive::{SharedArchive, is_bucket};
use crate::checkpoints::NO_STATE;
use crate::description::SharedCrawl;
use crate::error::ClusterError;
use crate::learning::Exchange;
use crate::ownership::{Ownership, Report};
use crate::session::Session;
use crate::status::{self, ClusterStatus, End, WorkerStatus};
use crate::worker::{Inbox, Worker, WorkerNews};
use crate::writer::Writer;

/// Size at which a WARC file for a bucket is complete.
const UPLOAD_AT: u64 = 64 << 20;
/// How long a worker waits at its end for the log writer and the ownership task.
const ENDING: Duration = Duration::from_secs(30);
/// Time between two searches for files to upload.
const UPLOAD_EVERY: Duration = Duration::from_secs(5);

/// A worker to run.
pub struct WorkerJob {
    pub shared: SharedCrawl,
    pub topic: Arc<Topic>,
    /// The crawl's, with the settings of this machine, such as a proxy.
    pub config: Config,
    /// Directory for the files of this machine.
    pub files: PathBuf,
    /// URLs of the server, for the connection of the heartbeat.
    pub nats: String,
    /// The same for the whole life of a machine, so that it gets the same partitions again.
    pub name: String,
}

/// What a worker did.
#[derive(Clone, Debug)]
pub struct WorkerReport {
    /// Why it ended; none if it was interrupted.
    pub end: Option<End>,
    /// Pages that it fetched.
    pub pages: u64,
    pub relevant: u64,
    /// The whole crawl, if the server still answers.
    pub status: Option<ClusterStatus>,
}

/// Works for a crawl until it is done, stopped, or `interrupt` resolves.
///
/// # Errors
/// [`ClusterError`]: it could not begin, or the server or the archive failed. What was acknowledged is durable.
pub async fn work(
    job: &WorkerJob,
    mut news: impl FnMut(WorkerNews),
    interrupt: impl Future<Output = ()>,
) -> Result<WorkerReport, ClusterError> {
    let WorkerJob { shared, config, .. } = job;
    let fetcher = Fetcher::new(&config.fetch)?.with_ports(&config.scope.allow_ports);
    render::check(&config.render)?;
    fetcher.check_proxy().await?;
    if status::end(shared).await?.0 == Some(End::Stopped) {
        status::reopen(shared, live::now()).await?;
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
    let (to_writer, waiting) = unbounded_channel();
    let (notices, noticed) = unbounded_channel();
    let (arrivals, arrived) = unbounded_channel();
    let (own, published) = watch::channel(BTreeMap::new());
    // A refresh knows the histories of pages, which the checkpoints of a crawl lack.
    let settings = if shared.round.is_some() { NO_STATE } else { fold_digest(config, &job.topic, None) };
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
        save_lock: Arc::default(),
    };
    let ownership = tokio::spawn(ownership.run(reported));
    let writer = tokio::spawn(writer.run(waiting, notices));
    // Room for one: an exchange that takes long delays the next, and its results use little memory.
    let (sums, to_share) = channel(1);
    let (to_learn, learnt) = channel(1);
    let sharing = tokio::spawn(Exchange::new(shared.clone()).run(to_share, to_learn));
    let uploads = tokio::spawn(upload(files.clone(), session.id.clone()));
    let (done, finished) = unbounded_channel();
    let (network, checks) = NetworkWatch::new(config, fetcher.clone(), []);
    let mut worker = Worker {
        shared,
        session: &session,
        task: FetchTask {
            fetcher,
            renderer: renderer.clone(),
            parsers: ParsePool::new(Duration::try_from_secs_f64(config.crawl.reading_timeout).unwrap_or(Duration::MAX)),
            topic: Arc::clone(&job.topic),
            robot: agent(config).into(),
            monitor: None,
        },
        most: config.crawl.in_flight,
        checkpoint_every: config.crawl.checkpoint_every,
        settings,
        network,
        partitions: BTreeMap::new(),
        elsewhere: 0.0,
        last_page: monotonic_now(),
        shares_learning: shared.machine(&job.topic, config, 0).learnt().is_some(),
        shared_at: monotonic_now(),
        in_flight: 0,
        open: true,
        end: None,
        taken: 0,
        left: BTreeMap::new(),
        pages: (0, 0),
        to_writer,
        reports,
        arrivals,
        own,
        sums,
        done,
    };
    let worked = worker
        .run(
            Inbox { orders: ordered, notices: noticed, arrivals: arrived, learnt, results: finished, checks },
            &mut news,
            interrupt,
        )
        .await;
    let proxy_lost = worker.network.has_lost_proxy();
    let Worker { end, pages, to_writer, reports, left, .. } = worker;
    drop(to_writer);
    if let Some(renderer) = renderer {
        renderer.close().await;
    }
    // Both end when their senders are gone, unless the server does not answer.
    let _ = reports.send(Report::Leaving);
    let is_deleted = matches!(worked, Err(ClusterError::Deleted(_)));
    let patience = if session.is_alive() && !is_deleted { ENDING } else { Duration::ZERO };
    let ended = tokio::time::timeout(patience, async { drop((writer.await, ownership.await)) }).await;
    uploads.abort();
    sharing.abort();
    let uploaded = files.upload_finished(None).await;
    let last =
        WorkerStatus { session: session.id.clone(), published: u64::MAX, partitions: left, ..WorkerStatus::default() };
    let mut status = None;
    if ended.is_ok() && worked.is_ok() {
        if let Err(error) = status::publish(shared, &job.name, &last).await {
            tracing::debug!("{error}");
        }
        status = status::status(shared).await.ok();
    }
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
    if !is_bucket(archive) {
        // `create` has made it: otherwise it is not mounted here.
        std::fs::read_dir(archive).map_err(StoreError::io(files.path(), "open it")).map_err(unusable)?;
    }
    let directory = CrawlDirectory::new(files.path().join(session));
    let pages = directory.pages();
    std::fs::create_dir_all(&pages).map_err(StoreError::io(&pages, "create it")).map_err(unusable)?;
    let settings = ArchiveSettings {
        // Small files: what is not uploaded yet is only on this machine.
        rotate_at: if is_bucket(archive) { UPLOAD_AT } else { ArchiveSettings::ROTATE_AT },
        user_agent: config.fetch.agent(),
        request_headers: fetcher.request_headers().into_iter().filter(|(name, _)| name != "user-agent").collect(),
        robots: Some(config.politeness.robots),
    };
    WarcArchive::resume(&directory, None, settings).map_err(unusable)
}

/// Uploads complete files, also those of an earlier run.
async fn upload(files: SharedArchive, session: String) {
    loop {
        if let Err(error) = files.upload_finished(Some(&session)).await {
            tracing::warn!("{error}; trying again");
        }
        tokio::time::sleep(UPLOAD_EVERY).await;
    }
}
