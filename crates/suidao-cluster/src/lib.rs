//! How do several machines crawl together? One crawl whose registrable domains are mapped to partitions
//! ([`Partition`](suidao_crawl::crawl::Partition)), and partitions to workers (`Assignment`). Each partition is a
//! machine as in a crawl on one computer; its log is a subject of NATS JetStream ([`nats`]), and in the archive after a
//! checkpoint.
//!
//! Start with [`job`] and the loop in `worker`, then [`ownership`] (who owns what) and [`writer`] (what is durable
//! when).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

mod archive;
mod assignment;
mod checkpoints;
mod collect;
mod context;
mod description;
mod error;
mod exchange;
pub mod job;
mod learning;
mod leases;
mod log;
pub mod nats;
mod next_partition;
mod owned;
pub mod ownership;
mod packed;
mod rates;
mod requests;
mod round;
mod segments;
mod session;
mod status;
mod worker;
pub mod writer;

use std::path::Path;

use suidao_crawl::revisit::settings::RefreshSettings;
use suidao_page::model::{Budget, CrawlUrl, Millis};
use suidao_store::store::StoreError;

pub use archive::is_bucket;
pub use collect::{CollectedCrawl, collect, view};
pub use description::{NewCrawl, SharedCrawl};
pub use error::ClusterError;
pub use job::{WorkerJob, WorkerReport, work};
pub use nats::NatsConnection;
pub use round::ClusterRound;
pub use status::{ClusterStatus, End, PartitionStatus, WorkerStatus};
pub use worker::WorkerNews;

/// Creates a crawl on the server, with its first seeds.
///
/// # Errors
/// [`ClusterError`]; then nothing is created.
pub async fn create(nats: &NatsConnection, new: &NewCrawl, seeds: &[CrawlUrl]) -> Result<(), ClusterError> {
    let shared = new.create(nats).await?;
    let made = match is_bucket(&new.archive) {
        true => Ok(()),
        false => make_archive(new),
    };
    let sent = match made {
        Ok(()) => send_seeds(&shared, seeds, new.created).await,
        Err(error) => Err(error),
    };
    if sent.is_err() {
        // The first error counts.
        let _ = nats.delete(&new.name).await;
    }
    sent
}

/// Workers use the directory only if it exists: on a machine that has not mounted it they must not write.
fn make_archive(new: &NewCrawl) -> Result<(), ClusterError> {
    let path = Path::new(&new.archive);
    let made = std::fs::create_dir_all(path).map_err(StoreError::io(path, "create it"));
    made.map_err(|source| ClusterError::Archive {
        name: new.name.clone(),
        archive: new.archive.clone(),
        source: source.into(),
    })
}

/// Adds seeds to a crawl, which continues if it was done.
///
/// # Errors
/// [`ClusterError`]; some seeds may have been added.
pub async fn add_seeds(nats: &NatsConnection, name: &str, seeds: &[CrawlUrl], at: Millis) -> Result<(), ClusterError> {
    let shared = SharedCrawl::open(nats, name).await?;
    send_seeds(&shared, seeds, at).await?;
    ClusterRound::end(&shared.streams).await?;
    status::reopen(&shared, at).await
}

/// Begins a round of revisits, or resumes the last one if it has not ended and has the same budget and settings. Workers
/// that start from now on visit pages. Returns whether a round was resumed.
///
/// # Errors
/// [`ClusterError`]: a worker is crawling, or works on another round.
pub async fn refresh(
    nats: &NatsConnection,
    name: &str,
    budget: Budget,
    settings: RefreshSettings,
    begun: Millis,
) -> Result<bool, ClusterError> {
    let shared = SharedCrawl::open(nats, name).await?;
    let now = status::status(&shared).await?;
    let is_same = |old: &ClusterRound| (old.budget, &old.settings) == (budget, &settings);
    let resumes = shared.round.as_ref().is_some_and(is_same) && !matches!(now.end, Some(End::Done(_)));
    let workers = now.alive().count();
    if workers > 0 && !(resumes && now.end.is_none()) {
        return Err(ClusterError::AtWork { name: name.to_owned(), workers });
    }
    if !resumes {
        let total = now.total();
        let harvest_rate = total.relevant as f64 / total.pages.max(1) as f64;
        let round = ClusterRound { begun, budget, settings, harvest_rate, over: false };
        round.begin(&shared.streams).await?;
    }
    status::reopen(&shared, begun).await?;
    Ok(resumes)
}

async fn send_seeds(shared: &SharedCrawl, seeds: &[CrawlUrl], at: Millis) -> Result<(), ClusterError> {
    let deliveries = exchange::group_seeds(seeds, shared.description.partitions);
    let sent = exchange::send(&shared.streams, &deliveries, &format!("seeds-{}", at.0)).await;
    sent.map_err(ClusterError::nats("store the seeds"))
}

/// The state of a crawl, as its workers reported it a second ago.
///
/// # Errors
/// [`ClusterError`].
pub async fn status(nats: &NatsConnection, name: &str) -> Result<ClusterStatus, ClusterError> {
    status::status(&SharedCrawl::open(nats, name).await?).await
}

/// Messages in the logs of all partitions on the server, those since the last checkpoints.
///
/// # Errors
/// [`ClusterError`].
pub async fn log_messages(nats: &NatsConnection, name: &str) -> Result<u64, ClusterError> {
    let log = nats.open(name).await?.log;
    let info = log.get_info().await.map_err(ClusterError::nats("read the state of a stream"))?;
    Ok(info.state.messages)
}

/// Stops the workers of a crawl, as Ctrl-C does on each. The next worker that starts continues.
///
/// # Errors
/// [`ClusterError`].
pub async fn stop(nats: &NatsConnection, name: &str) -> Result<(), ClusterError> {
    status::stop(&SharedCrawl::open(nats, name).await?).await
}

/// Removes a crawl from the server; its pages stay in the archive. Returns where they are.
///
/// # Errors
/// [`ClusterError`].
pub async fn delete(nats: &NatsConnection, name: &str) -> Result<String, ClusterError> {
    let shared = SharedCrawl::open(nats, name).await?;
    nats.delete(name).await?;
    Ok(shared.description.archive)
}
