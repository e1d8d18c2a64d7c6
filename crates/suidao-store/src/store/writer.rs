//! The thread that makes steps durable, many at a time: what waits is written together and synced once (group commit).
//! Nothing is acknowledged that is not whole on disk.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::{CorruptionPolicy, Record, Store, StoreError, WarcArchive};
use suidao_page::model::Batch;

/// How many works may wait, and so the most that one group holds; whoever submits more waits.
const QUEUE: usize = 256;

#[derive(Clone, Debug)]
pub struct Work {
    pub batch: Batch,
    /// The answer it was made of, if that is to be archived.
    pub answer: Option<CorruptionPolicy>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// All batches with numbers below this are on disk.
    Durable(u64),
    /// It stopped at an error, which [`Writer::finish`] gives; nothing more will be kept.
    Failed,
}

/// The writer has stopped at an error: call [`Writer::finish`] for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the writing thread has stopped")]
pub struct WriterStopped;

/// A store and its archive, written by a thread of their own.
#[derive(Debug)]
pub struct Writer {
    queue: SyncSender<Work>,
    thread: JoinHandle<Result<Store, StoreError>>,
    root: std::path::PathBuf,
}

impl Writer {
    /// Starts the thread. `notify` is called on it after every group, and should not take long.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the system gives no thread.
    pub fn spawn(
        store: Store,
        archive: WarcArchive,
        notify: impl FnMut(Notice) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let root = store.directory().root().to_owned();
        let (queue, waiting) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new().name("store".to_owned());
        let thread = thread.spawn(move || write(store, archive, &waiting, notify));
        let thread = thread.map_err(StoreError::io(&root, "start the writer thread"))?;
        Ok(Self { queue, thread, root })
    }

    /// Hands a step over; waits while 256 are waiting. Steps are kept in the order of submission.
    ///
    /// # Errors
    /// [`Stopped`] after an error of the thread.
    pub fn submit(&self, work: Work) -> Result<(), WriterStopped> {
        self.queue.send(work).map_err(|_| WriterStopped)
    }

    /// Waits until all is written, closes the archive, and gives the store back.
    ///
    /// # Errors
    /// What stopped the thread, if anything did.
    pub fn finish(self) -> Result<Store, StoreError> {
        drop(self.queue);
        self.thread.join().unwrap_or_else(|panic| {
            let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Err(StoreError::WriterLost { path: self.root, what: what.unwrap_or("no message").to_owned() })
        })
    }
}

fn write(
    mut store: Store,
    mut archive: WarcArchive,
    waiting: &Receiver<Work>,
    mut notify: impl FnMut(Notice),
) -> Result<Store, StoreError> {
    /// Tells the failure however the thread ends: the engine breaks down on some errors of the disk.
    struct Tell<'a, F: FnMut(Notice)>(&'a mut F, bool);
    impl<F: FnMut(Notice)> Drop for Tell<'_, F> {
        fn drop(&mut self) {
            if self.1 {
                (self.0)(Notice::Failed);
            }
        }
    }
    let mut tell = Tell(&mut notify, true);
    while let Ok(first) = waiting.recv() {
        let group = std::iter::once(first).chain(waiting.try_iter().take(QUEUE - 1));
        let mut records = Vec::new();
        for Work { batch, answer } in group {
            let revisit = answer.as_ref().is_some_and(CorruptionPolicy::is_revisit);
            let archive = answer.map(|answer| archive.add(&answer, batch.at)).transpose()?;
            records.push(Record { batch, archive, revisit });
        }
        archive.sync()?;
        store.append(&records)?;
        (tell.0)(Notice::Durable(store.len()));
    }
    archive.close()?;
    tell.1 = false;
    Ok(store)
}
