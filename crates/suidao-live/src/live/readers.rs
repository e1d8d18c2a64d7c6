//! Who reads the answers: as many threads as there are cores, and an eye on the clock.
//!
//! What reading a page may cost is bounded by its bytes, tags and links (`read/`), but a hole in that would occupy a
//! thread for minutes, and a few such pages every core. A reading that takes too long is given up, its page fails, and
//! another thread takes its place; the old one ends when it ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Readings that were given up and have not ended, before those under way become fewer.
const RUNAWAYS: usize = 8;

/// Why something was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// A library panicked.
    Broken,
    /// It took too long.
    TooLong,
}

/// Threads that read. Clones share them.
#[derive(Clone)]
pub(super) struct ParsePool {
    /// One for each core.
    free: Arc<Semaphore>,
    /// These and the ones that are not waited for any more.
    threads: Arc<Semaphore>,
    patience: Duration,
}

impl ParsePool {
    /// Readers that are waited for so long.
    pub(super) fn new(patience: Duration) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let (free, threads) = (Semaphore::new(cores), Semaphore::new(cores + RUNAWAYS));
        Self { free: Arc::new(free), threads: Arc::new(threads), patience }
    }

    /// Does this on one of the threads, when one is free.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Unread> {
        let permit = |of: &Arc<Semaphore>| {
            let of = Arc::clone(of);
            async move { of.acquire_owned().await.expect("never closed") }
        };
        // In this order: whoever has the second begins at once, and the time counts from there.
        let _free: OwnedSemaphorePermit = permit(&self.free).await;
        // Where all threads run away a crawl that waits for one would stand still without a word.
        let Ok(thread) = tokio::time::timeout(self.patience, permit(&self.threads)).await else {
            tracing::error!(
                "all parser threads are stuck in pages that exceed crawl.reading_timeout, so this page fails too"
            );
            return Err(Unread::TooLong);
        };
        let reading = tokio::task::spawn_blocking(move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            drop(thread);
            done
        });
        match tokio::time::timeout(self.patience, reading).await {
            Ok(Ok(Ok(done))) => Ok(done),
            // The runtime is shutting down, and this task with it: the page is not to blame.
            Ok(Err(ended)) if ended.is_cancelled() => std::future::pending().await,
            Ok(_) => Err(Unread::Broken),
            Err(_) => Err(Unread::TooLong),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_reading_that_does_not_end_costs_itself_alone() {
        let readers = ParsePool::new(Duration::from_millis(200));
        let (end, ended) = mpsc::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(ended));
        // More than there are cores, all at once.
        let stuck: Vec<_> = (0..RUNAWAYS)
            .map(|_| {
                let (readers, ended) = (readers.clone(), Arc::clone(&ended));
                tokio::spawn(async move { readers.run(move || drop(ended.lock().map(|end| end.recv()))).await })
            })
            .collect();
        for stuck in stuck {
            assert_eq!(stuck.await.unwrap(), Err(Unread::TooLong));
        }
        // On a busy machine an honest reading takes its time too.
        let readers = ParsePool { patience: Duration::from_secs(60), ..readers };
        assert_eq!(readers.run(|| 1).await, Ok(1));
        let broken: Result<(), Unread> = readers.run(|| panic!("as a library would")).await;
        assert_eq!(broken, Err(Unread::Broken));
        assert_eq!(readers.run(|| 2).await, Ok(2));
        drop(end);
    }
}
