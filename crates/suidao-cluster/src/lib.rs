//! How do several machines crawl together? One crawl whose registrable domains are dealt to partitions
//! ([`Partition`](suidao_crawl::crawl::Partition)), and partitions to workers ([`Assignment`]). Each partition is a machine
//! as in a crawl on one computer; its log is a subject of NATS JetStream ([`engine`]), and in the archive after a checkpoint.
//!
//! Start with [`worker`] (the loop), then [`ownership`] (who owns what) and [`writer`] (what is durable when).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

mod archive;
mod assignment;
mod checkpoints;
mod collect;
mod context;
mod description;
pub mod engine;
mod error;
mod exchange;
mod leases;
mod log;
mod owned;
pub mod ownership;
mod rates;
mod segments;
mod session;
mod status;
mod turns;
pub mod worker;
pub mod writer;

use suidao_page::model::{CrawlUrl, Millis};

pub use archive::is_bucket;
pub use assignment::Assignment;
pub use collect::{CollectedCrawl, collect, view};
pub use description::{NewCrawl, SharedCrawl};
pub use engine::NatsConnection;
pub use error::ClusterError;
pub use status::{ClusterStatus, End, PartitionStatus, WorkerStatus};
pub use turns::{PATIENCE, next_turn};
pub use worker::{WorkerJob, WorkerNews, WorkerReport, work};

/// Creates a crawl on the engine, with its first seeds.
///
/// # Errors
/// [`ClusterError`]; then nothing is created.
pub async fn create(engine: &NatsConnection, new: &NewCrawl, seeds: &[CrawlUrl]) -> Result<(), ClusterError> {
    let shared = new.create(engine).await?;
    let sent = send_seeds(&shared, seeds, new.created).await;
    if sent.is_err() {
        // The first error counts.
        let _ = engine.delete(&new.name).await;
    }
    sent
}

/// Adds seeds to a crawl, which goes on if it was done.
///
/// # Errors
/// [`ClusterError`]; some seeds may have been added.
pub async fn add_seeds(
    engine: &NatsConnection,
    name: &str,
    seeds: &[CrawlUrl],
    at: Millis,
) -> Result<(), ClusterError> {
    let shared = SharedCrawl::open(engine, name).await?;
    send_seeds(&shared, seeds, at).await?;
    status::reopen(&shared, at).await
}

async fn send_seeds(shared: &SharedCrawl, seeds: &[CrawlUrl], at: Millis) -> Result<(), ClusterError> {
    let deliveries = exchange::deal_seeds(seeds, shared.description.partitions);
    let sent = exchange::send(&shared.streams, &deliveries, &format!("seeds-{}", at.0)).await;
    sent.map_err(ClusterError::engine("store the seeds"))
}

/// The state of a crawl, as its workers reported it a second ago.
///
/// # Errors
/// [`ClusterError`].
pub async fn status(engine: &NatsConnection, name: &str) -> Result<ClusterStatus, ClusterError> {
    status::status(&SharedCrawl::open(engine, name).await?).await
}

/// Stops the workers of a crawl, as Ctrl-C does on each. The next worker that starts goes on.
///
/// # Errors
/// [`ClusterError`].
pub async fn stop(engine: &NatsConnection, name: &str) -> Result<(), ClusterError> {
    status::set_end(&SharedCrawl::open(engine, name).await?, End::Stopped).await
}

/// Removes a crawl from the engine; its pages stay in the archive. Returns where they are.
///
/// # Errors
/// [`ClusterError`].
pub async fn delete(engine: &NatsConnection, name: &str) -> Result<String, ClusterError> {
    let shared = SharedCrawl::open(engine, name).await?;
    engine.delete(name).await?;
    Ok(shared.description.archive)
}
