//! Makes the steps of a worker's partitions durable: first pages in the archive, then links to other partitions, then
//! the steps in the log. Waiting steps of all partitions are written together.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use suidao_crawl::crawl::SentLink;
use suidao_page::model::Batch;
use suidao_store::store::{Record, StoreError, WarcArchive, WarcEntry};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;

use crate::archive::SharedArchive;
use crate::checkpoints::{self, Saved};
use crate::description::SharedCrawl;
use crate::error::ClusterError;
use crate::exchange::{Delivery, group_links, send};
use crate::log::{AppendFailure, LogEntry, PartitionLog};
use crate::nats::Streams;

/// Maximum number of steps written together.
const GROUP: usize = 256;
/// The longest wait for the server before the worker gives up.
const SERVER_WAIT: Duration = Duration::from_secs(120);

/// A step of a partition.
pub(crate) struct Step {
    pub partition: u32,
    pub batch: Batch,
    /// The response, if it is to be archived.
    pub response: Option<WarcEntry>,
    /// Links of the step to other partitions.
    pub leaving: Vec<SentLink>,
    /// Sequence of the last delivery applied.
    pub links: u64,
}

pub(crate) enum Work {
    Open(u32, PartitionLog),
    Step(Step),
    /// The machine of a partition after its last step.
    Save(u32, Saved),
    /// No step of this partition follows.
    Close(u32),
}

pub(crate) enum Notice {
    /// This many further steps of a partition are durable, and its deliveries up to this sequence.
    Durable {
        partition: u32,
        steps: usize,
        links: u64,
    },
    /// Another worker owns the partition.
    Fenced(u32),
    Closed(u32),
    /// Nothing more is written.
    Failed(ClusterError),
}

pub(crate) struct Writer {
    pub shared: SharedCrawl,
    pub session: String,
    pub archive: WarcArchive,
    /// Where the WARC files are.
    pub files: SharedArchive,
    pub logs: BTreeMap<u32, PartitionLog>,
    /// Sends of links so far.
    pub sends: u64,
    /// Checkpoints in progress, one at a time (`save_lock`).
    pub saves: JoinSet<()>,
    pub save_lock: Arc<Mutex<()>>,
}

impl Writer {
    /// Writes until the sender is gone, and closes the archive.
    pub async fn run(mut self, mut waiting: UnboundedReceiver<Work>, notices: UnboundedSender<Notice>) {
        let mut group = Vec::new();
        while waiting.recv_many(&mut group, GROUP).await > 0 {
            if let Err(error) = self.work(std::mem::take(&mut group), &notices).await {
                // The receiver is gone only if the worker has ended.
                let _ = notices.send(Notice::Failed(error));
                return;
            }
        }
        if let Err(error) = tokio::task::block_in_place(|| self.archive.close()) {
            let _ = notices.send(Notice::Failed(error.into()));
        }
        self.saves.join_all().await;
    }

    async fn work(&mut self, group: Vec<Work>, notices: &UnboundedSender<Notice>) -> Result<(), ClusterError> {
        let mut before = Vec::new();
        for work in group {
            match work {
                Work::Save(partition, saved) => {
                    self.write(std::mem::take(&mut before), notices).await?;
                    self.save(partition, saved);
                }
                work => before.push(work),
            }
        }
        self.write(before, notices).await
    }

    async fn write(&mut self, group: Vec<Work>, notices: &UnboundedSender<Notice>) -> Result<(), ClusterError> {
        let (mut steps, mut closed) = (Vec::new(), Vec::new());
        for work in group {
            match work {
                Work::Open(partition, log) => {
                    // Steps from before it was lost do not belong to the current log.
                    steps.retain(|step: &Step| step.partition != partition);
                    self.logs.insert(partition, log);
                }
                Work::Step(step) if self.logs.contains_key(&step.partition) => steps.push(step),
                // It was fenced off.
                Work::Step(_) => {}
                Work::Close(partition) => closed.push(partition),
                Work::Save(..) => {}
            }
        }
        let leaving: Vec<SentLink> = steps.iter_mut().flat_map(|step| std::mem::take(&mut step.leaving)).collect();
        let entries = tokio::task::block_in_place(|| self.archive(steps))?;
        self.send_links(&leaving).await.map_err(ClusterError::nats("store links"))?;
        let streams = &self.shared.streams;
        let appends =
            self.logs.iter_mut().filter_map(|(partition, log)| Some((*partition, log, entries.get(partition)?)));
        let appended = join_all(appends.map(async |(partition, log, entry)| {
            let appended = append(streams, log, entry).await;
            (partition, entry, appended)
        }));
        let mut fenced = Vec::new();
        for (partition, entry, appended) in appended.await {
            let notice = match appended {
                Ok(()) => Notice::Durable { partition, steps: entry.records.len(), links: entry.links },
                Err(AppendFailure::Fenced) => {
                    fenced.push(partition);
                    Notice::Fenced(partition)
                }
                Err(AppendFailure::Failed(reason)) => return Err(ClusterError::nats("store the log")(reason)),
            };
            let _ = notices.send(notice);
        }
        fenced.iter().for_each(|partition| drop(self.logs.remove(partition)));
        for partition in closed {
            self.logs.remove(&partition);
            let _ = notices.send(Notice::Closed(partition));
        }
        Ok(())
    }

    /// Saves a partition whose steps are all in its log. Meanwhile others are written.
    fn save(&mut self, partition: u32, mut saved: Saved) {
        // None: it was fenced off.
        let Some(log) = self.logs.get(&partition) else { return };
        saved.position.through = log.end();
        let (shared, archive) = (self.shared.clone(), self.files.clone());
        let save_lock = Arc::clone(&self.save_lock);
        self.saves.spawn(async move {
            let _lock = save_lock.lock().await;
            if let Err(error) = checkpoints::save(&shared, &archive, partition, saved).await {
                tracing::warn!("cannot save a checkpoint of partition {partition}, so a restart takes longer: {error}");
            }
        });
    }

    /// Sends links; all are stored on return.
    async fn send_links(&mut self, leaving: &[SentLink]) -> Result<(), String> {
        let deliveries = group_links(leaving, self.shared.description.partitions);
        self.sends += 1;
        let id = format!("{}-{}", self.session, self.sends);
        send_patiently(&self.shared.streams, &deliveries, &id).await
    }

    /// Writes the pages of steps into the archive; all are on disk on return.
    fn archive(&mut self, steps: Vec<Step>) -> Result<BTreeMap<u32, LogEntry>, StoreError> {
        let mut entries: BTreeMap<u32, LogEntry> = BTreeMap::new();
        for Step { partition, batch, response, links, .. } in steps {
            let revisit = response.as_ref().is_some_and(WarcEntry::is_revisit);
            let archive = response.map(|response| self.archive.add(&response, batch.at)).transpose()?;
            let entry = entries.entry(partition).or_default();
            entry.session.clone_from(&self.session);
            entry.links = entry.links.max(links);
            entry.records.push(Record { batch, archive, revisit });
        }
        self.archive.sync()?;
        Ok(entries)
    }
}

/// The reason in the error message after [`SERVER_WAIT`].
fn no_answer() -> String {
    format!("it did not answer for {} s", SERVER_WAIT.as_secs())
}

/// Appends an entry; retries while the server is away.
async fn append(streams: &Streams, log: &mut PartitionLog, entry: &LogEntry) -> Result<(), AppendFailure> {
    let appended = async {
        loop {
            match log.append(streams, entry).await {
                Err(AppendFailure::Failed(reason)) => {
                    tracing::warn!("cannot append to the log ({reason}); trying again");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                done => return done,
            }
        }
    };
    tokio::time::timeout(SERVER_WAIT, appended).await.unwrap_or_else(|_| Err(AppendFailure::Failed(no_answer())))
}

/// Sends deliveries; retries while the server is away.
async fn send_patiently(streams: &Streams, deliveries: &[(u32, Delivery)], id: &str) -> Result<(), String> {
    let sent = async {
        while let Err(reason) = send(streams, deliveries, id).await {
            tracing::warn!("cannot send links ({reason}); trying again");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::time::timeout(SERVER_WAIT, sent).await.map_err(|_| no_answer())
}
