//! Membership: each worker sends a heartbeat on a thread and a connection of its own, so that neither a long
//! computation nor a full connection makes it look dead. A worker without heartbeat for [`SESSION`] counts as gone;
//! after two thirds of that it stops fetching, before another worker can take over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use suidao_live::live::monotonic_now;
use tokio::sync::oneshot;

use crate::error::ClusterError;
use crate::nats::{NatsConnection, SESSION, Streams, subjects};

/// Time between two heartbeats.
const BEAT: Duration = Duration::from_millis(400);
/// Tries to join while an earlier process of the same name may still be a member.
const TRIES: u32 = 10;

/// The heartbeat of this process.
pub(crate) struct Session {
    /// The name of the worker, a point, and a number that no other process has.
    pub id: String,
    beating: Arc<Beating>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

struct Beating {
    since: Instant,
    /// When the last heartbeat that the server has stored was sent, in milliseconds from `since`.
    sent: AtomicU64,
}

impl Session {
    /// Joins as `worker` and begins to send heartbeats.
    ///
    /// # Errors
    /// [`ClusterError::WorkerExists`] if a worker of this name is alive.
    pub async fn begin(streams: &Streams, urls: &str, worker: &str) -> Result<Self, ClusterError> {
        let id = format!("{worker}.{:016x}", number());
        for attempt in 0.. {
            let others = members(streams).await?;
            if !others.contains_key(worker) {
                break;
            }
            if attempt == TRIES {
                return Err(ClusterError::WorkerExists(worker.to_owned()));
            }
            tokio::time::sleep(BEAT).await;
        }
        let beating = Arc::new(Beating { since: monotonic_now(), sent: AtomicU64::new(0) });
        beat(streams, &id, &beating).await?;
        // Two processes of one name may have joined at once: the one with the smaller number stays.
        if members(streams).await?.get(worker).is_some_and(|first| *first < id) {
            leave(streams, &id).await;
            return Err(ClusterError::WorkerExists(worker.to_owned()));
        }
        let (end, ended) = oneshot::channel();
        let (urls, name, own) = (urls.to_owned(), streams.name.clone(), (id.clone(), Arc::clone(&beating)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ClusterError::Threads)?;
        let thread = std::thread::Builder::new().name("heartbeat".to_owned());
        let thread = thread.spawn(move || runtime.block_on(keep_beating(&urls, &name, &own.0, &own.1, ended)));
        Ok(Self { id, beating, end: Some(end), thread: Some(thread.map_err(ClusterError::Threads)?) })
    }

    /// Whether this worker may send requests: the others count it as a member for at least another third of a session.
    pub fn is_alive(&self) -> bool {
        let sent = Duration::from_millis(self.beating.sent.load(Ordering::Relaxed));
        monotonic_now().duration_since(self.beating.since).saturating_sub(sent) < SESSION * 2 / 3
    }

    /// Leaves, so that others need not wait.
    pub fn end(mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to report.
            let _ = thread.join();
        }
    }
}

async fn keep_beating(urls: &str, name: &str, id: &str, beating: &Beating, mut ended: oneshot::Receiver<()>) {
    let mut streams = None;
    loop {
        if streams.is_none() {
            let connected = async { NatsConnection::connect(urls).await?.open(name).await };
            streams = connected.await.map_err(|error| tracing::debug!("heartbeat: {error}")).ok();
        }
        if let Some(streams) = &streams
            && let Err(error) = beat(streams, id, beating).await
        {
            tracing::debug!("heartbeat: {error}");
        }
        tokio::select! {
            _ = &mut ended => break,
            () = tokio::time::sleep(BEAT) => {}
        }
    }
    if let Some(streams) = &streams {
        leave(streams, id).await;
    }
}

async fn beat(streams: &Streams, id: &str, beating: &Beating) -> Result<(), ClusterError> {
    let sent = monotonic_now().duration_since(beating.since);
    streams.publish(streams.subject("session", id), bytes::Bytes::new(), None, None).await.map_err(|failure| {
        let reason = failure.to_string();
        ClusterError::Nats { doing: "store a heartbeat", reason }
    })?;
    beating.sent.store(u64::try_from(sent.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    Ok(())
}

async fn leave(streams: &Streams, id: &str) {
    let purged = streams.sessions.purge().filter(streams.subject("session", id)).await;
    if let Err(error) = purged {
        tracing::debug!("heartbeat: {error}");
    }
}

/// The workers that are alive now: name and session. Takes one request.
pub(crate) async fn members(streams: &Streams) -> Result<BTreeMap<String, String>, ClusterError> {
    let mut members = BTreeMap::new();
    for id in subjects(&streams.sessions, &streams.subject("session", ""), ">").await? {
        let Some((worker, _)) = id.split_once('.') else { continue };
        let first = members.entry(worker.to_owned()).or_insert_with(|| id.clone());
        if id < *first {
            *first = id;
        }
    }
    Ok(members)
}

/// A number that no other process has.
#[allow(clippy::disallowed_methods, reason = "an edge: processes must differ")]
fn number() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
