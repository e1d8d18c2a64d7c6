//! Checkpoints of partitions. The log stream keeps the messages after the last one, earlier ones move to the archive,
//! so neither the disk of the server nor the time of a takeover grows with the crawl. A partition has the directory
//! `NAME-TIME.logs/PARTITION` in the archive:
//!
//! - `state/checkpoint`: the machine after a message of the log;
//! - `SEQUENCE-SEQUENCE.segment`: the messages after the previous checkpoint up to this one.
//!
//! Order: segment, checkpoint, position on the server, removal from the log stream. A crash between two of them loses
//! nothing: a message in both places counts once. If the checkpoint is missing or has other settings, all segments are
//! replayed.

use serde::{Deserialize, Serialize};
use suidao_crawl::crawl::Crawl;
use suidao_page::model::Millis;
use suidao_store::store::checkpoint::{Checkpoint, CheckpointState, Pieces};
use suidao_store::store::{CrawlDirectory, StoreError};

use crate::archive::SharedArchive;
use crate::description::SharedCrawl;
use crate::error::ClusterError;
use crate::log::{Entries, LogEntry, forget, messages};
use crate::segments::{LogSegments, Message, write};

/// A position in the log of a partition. As the value of `checkpoint.PARTITION`: the end of what the checkpoint covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogPosition {
    /// Sequence of the last message.
    pub through: u64,
    /// Steps in the log up to there.
    pub steps: u64,
    /// Sequence of the last delivery applied.
    pub links: u64,
    /// Time of the last batch.
    pub last: Option<Millis>,
}

/// Digest of settings in a checkpoint without a machine: all segments are replayed.
pub(crate) const NO_STATE: u64 = 0;

/// A machine to save.
pub(crate) struct Saved {
    /// Digest of the settings that affect how events change the state.
    pub settings: u64,
    pub position: LogPosition,
    pub pieces: Vec<Vec<u8>>,
}

/// The key of a position is `checkpoint.PARTITION`.
const KEY: &str = "checkpoint";

fn key(partition: u32) -> String {
    format!("{KEY}.{partition}")
}

fn directory(shared: &SharedCrawl, archive: &SharedArchive, partition: u32) -> CrawlDirectory {
    CrawlDirectory::new(shared.logs(archive).join(partition.to_string()))
}

/// Saves a partition, unless a later state is saved already.
pub(crate) async fn save(
    shared: &SharedCrawl,
    archive: &SharedArchive,
    partition: u32,
    saved: Saved,
) -> Result<(), ClusterError> {
    let Saved { settings, position, pieces } = saved;
    let (before, revision) = shared.streams.read::<LogPosition>(&key(partition)).await?.unwrap_or_default();
    if before.through >= position.through {
        return Ok(());
    }
    let mut segment: Vec<Message> = Vec::new();
    messages(&shared.streams, Some(partition), before.through, |message| {
        segment.extend((message.sequence <= position.through).then_some(message));
        Ok(())
    })
    .await?;
    // A worker that saved a later state meanwhile may have removed messages before they were read.
    if self::position(shared, partition).await? != before {
        return Ok(());
    }
    let directory = directory(shared, archive, partition);
    let written = tokio::task::block_in_place(|| {
        let state = directory.state();
        std::fs::create_dir_all(&state).map_err(StoreError::io(&state, "create it"))?;
        let segment = write(directory.root(), before.through, position.through, &segment)?;
        let covers = CheckpointState { batches: position.through, last: 0, settings };
        Checkpoint::write(&directory, covers, pieces.into_iter())?.publish()?;
        Ok::<_, StoreError>(segment)
    })?;
    archive.upload(&written).await?;
    archive.upload(&directory.checkpoint()).await?;
    // If it fails, another worker has saved a later state.
    if shared.streams.write(&key(partition), &position, revision).await?.is_some() {
        forget(&shared.streams, partition, position.through).await?;
    }
    Ok(())
}

/// The position of a partition's last checkpoint.
pub(crate) async fn position(shared: &SharedCrawl, partition: u32) -> Result<LogPosition, ClusterError> {
    Ok(shared
        .streams
        .read::<LogPosition>(&key(partition))
        .await?
        .map_or_else(LogPosition::default, |(position, _)| position))
}

/// The machine of a partition after the last message that `position` covers.
pub(crate) async fn restore(
    shared: &SharedCrawl,
    archive: &SharedArchive,
    partition: u32,
    position: LogPosition,
    settings: u64,
    new: impl Fn() -> Crawl,
) -> Result<Crawl, ClusterError> {
    if position.through == 0 {
        return Ok(new());
    }
    let directory = directory(shared, archive, partition);
    archive.download(&directory.checkpoint(), true).await?;
    if let Some(crawl) = tokio::task::block_in_place(|| load(&directory, position, settings, &new)) {
        return Ok(crawl);
    }
    archive.download_folder(directory.root()).await?;
    tracing::debug!("partition {partition}: all segments are replayed");
    let mut segments = LogSegments::default();
    segments.add_directory(directory.root(), position.through)?;
    let (mut crawl, mut entries) = (new(), Entries::default());
    let replay = |message: Message| {
        let entry = entries.take(partition, &message.payload).map_err(shared.streams.damaged())?;
        entry.iter().flat_map(|entry| &entry.records).for_each(|record| crawl.restore(&record.batch));
        Ok::<(), ClusterError>(())
    };
    tokio::task::block_in_place(|| segments.read(position.through, replay))?;
    Ok(crawl)
}

fn load(directory: &CrawlDirectory, position: LogPosition, settings: u64, new: impl Fn() -> Crawl) -> Option<Crawl> {
    let (mut pieces, state) = Pieces::open(directory)?;
    if state.batches != position.through || state.settings != settings || state.settings == NO_STATE {
        return None;
    }
    let mut crawl = new();
    let taken = pieces.by_ref().all(|piece| crawl.take_piece(&piece));
    (taken && pieces.is_whole() && crawl.set_up()).then_some(crawl)
}

/// Passes the entries of all logs to `each`, with their partition, in the order in which the server stored them.
pub(crate) async fn read_all(
    shared: &SharedCrawl,
    archive: &SharedArchive,
    mut each: impl FnMut(u32, LogEntry) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    // First the stream, then the segments: a message that moves meanwhile is in both.
    let rest = tempfile::NamedTempFile::new().map_err(StoreError::io(&std::env::temp_dir(), "write a file"))?;
    let fail = || StoreError::io(rest.path(), "write it");
    let mut out = std::io::BufWriter::new(rest.as_file());
    messages(&shared.streams, None, 0, |message| Ok(message.write_to(&mut out).map_err(fail())?)).await?;
    out.into_inner().map_err(|error| fail()(error.into_error()))?;
    let mut segments = LogSegments::default();
    segments.add(rest.path().to_owned())?;
    for key in shared.streams.keys(KEY).await? {
        let Some(Ok(partition)) = key.rsplit('.').next().map(str::parse) else { continue };
        let position = position(shared, partition).await?;
        let directory = directory(shared, archive, partition);
        archive.download_folder(directory.root()).await?;
        segments.add_directory(directory.root(), position.through)?;
    }
    let mut entries = Entries::default();
    segments.read(u64::MAX, |message| {
        let entry = entries.take(message.partition, &message.payload).map_err(shared.streams.damaged())?;
        entry.map_or(Ok(()), |entry| each(message.partition, entry))
    })
}
