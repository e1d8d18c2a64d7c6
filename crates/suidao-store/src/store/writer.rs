//! The thread that makes steps durable: waiting ones are written together and synced once (group commit). A step is
//! acknowledged only when all of it is on disk.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::error::StoreError;
use super::{Record, Store, WarcArchive, WarcEntry};
use suidao_page::model::Batch;

/// Maximum number of steps that may wait, and so the largest group; further submissions block.
const QUEUE: usize = 256;

#[derive(Clone, Debug)]
pub struct Work {
    pub batch: Batch,
    /// The response, if it is to be archived.
    pub response: Option<WarcEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// All batches with lower numbers are on disk.
    Durable(u64),
    /// It stopped at an error, which [`Writer::finish`] returns; nothing more is stored.
    Failed,
}

/// The writer has stopped at an error: call [`Writer::finish`] for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the writing thread has stopped")]
pub struct WriterStopped;

/// A thread that writes a store and its archive.
#[derive(Debug)]
pub struct Writer {
    queue: SyncSender<Work>,
    thread: JoinHandle<Result<Store, StoreError>>,
    root: std::path::PathBuf,
}

impl Writer {
    /// Starts the thread. It calls `notify` after every group, which should return quickly.
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

    /// Submits a step; blocks while 256 are waiting. Steps are stored in the order of submission. Fails after an error
    /// of the thread.
    pub fn submit(&self, work: Work) -> Result<(), WriterStopped> {
        self.queue.send(work).map_err(|_| WriterStopped)
    }

    /// Waits until all is written, closes the archive, and returns the store, or the error of the thread.
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
    /// Sends the failure even if the thread panics: the engine does on some errors of the disk.
    struct Notifier<'a, F: FnMut(Notice)>(&'a mut F, bool);
    impl<F: FnMut(Notice)> Drop for Notifier<'_, F> {
        fn drop(&mut self) {
            if self.1 {
                (self.0)(Notice::Failed);
            }
        }
    }
    let mut notifier = Notifier(&mut notify, true);
    while let Ok(first) = waiting.recv() {
        let group = std::iter::once(first).chain(waiting.try_iter().take(QUEUE - 1));
        let mut records = Vec::new();
        for Work { batch, response } in group {
            let revisit = response.as_ref().is_some_and(WarcEntry::is_revisit);
            let archive = response.map(|response| archive.add(&response, batch.at)).transpose()?;
            records.push(Record { batch, archive, revisit });
        }
        archive.sync()?;
        store.append(&records)?;
        (notifier.0)(Notice::Durable(store.len()));
    }
    archive.close()?;
    store.sync()?;
    notifier.1 = false;
    Ok(store)
}
