//! The threads that parse responses, one per core, with a time limit.
//!
//! The cost of parsing is bounded by bytes, tags and links (`read/`). If a page still takes too long, it fails and
//! another thread replaces the stuck one, so that a few such pages cannot occupy every core.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Stuck threads before the number of parallel pages shrinks.
const MAX_STUCK: usize = 8;

/// Why a page was not parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParseFailure {
    Panicked,
    TimedOut,
    /// All threads are stuck in other pages.
    NoThread,
}

/// Clones share the threads.
#[derive(Clone)]
pub struct ParsePool {
    /// One for each core.
    free: Arc<Semaphore>,
    /// Includes threads that are stuck.
    threads: Arc<Semaphore>,
    time_limit: Duration,
}

impl ParsePool {
    pub fn new(time_limit: Duration) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let (free, threads) = (Semaphore::new(cores), Semaphore::new(cores + MAX_STUCK));
        Self { free: Arc::new(free), threads: Arc::new(threads), time_limit }
    }

    /// Runs `work` on a thread, as soon as one is free.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ParseFailure> {
        let permit = |of: &Arc<Semaphore>| {
            let of = Arc::clone(of);
            async move { of.acquire_owned().await.expect("never closed") }
        };
        // In this order: the holder of the second permit starts at once, and the time limit counts from there.
        let _free: OwnedSemaphorePermit = permit(&self.free).await;
        // If all threads are stuck, waiting for one would block the crawl silently.
        let Ok(thread) = tokio::time::timeout(self.time_limit, permit(&self.threads)).await else {
            return Err(ParseFailure::NoThread);
        };
        let parsing = tokio::task::spawn_blocking(move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            drop(thread);
            done
        });
        match tokio::time::timeout(self.time_limit, parsing).await {
            Ok(Ok(Ok(done))) => Ok(done),
            // The runtime is shutting down, and this task with it: the page is not to blame.
            Ok(Err(ended)) if ended.is_cancelled() => std::future::pending().await,
            Ok(_) => Err(ParseFailure::Panicked),
            Err(_) => Err(ParseFailure::TimedOut),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_reading_that_does_not_end_costs_itself_alone() {
        let parsers = ParsePool::new(Duration::from_millis(200));
        let (end, ended) = mpsc::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(ended));
        // More than there are cores, all at once.
        let stuck: Vec<_> = (0..MAX_STUCK)
            .map(|_| {
                let (parsers, ended) = (parsers.clone(), Arc::clone(&ended));
                tokio::spawn(async move { parsers.run(move || drop(ended.lock().map(|end| end.recv()))).await })
            })
            .collect();
        for stuck in stuck {
            assert_eq!(stuck.await.unwrap(), Err(ParseFailure::TimedOut));
        }
        // On a busy machine a normal page takes its time too.
        let parsers = ParsePool { time_limit: Duration::from_secs(60), ..parsers };
        assert_eq!(parsers.run(|| 1).await, Ok(1));
        let broken: Result<(), ParseFailure> = parsers.run(|| panic!("as a library would")).await;
        assert_eq!(broken, Err(ParseFailure::Panicked));
        assert_eq!(parsers.run(|| 2).await, Ok(2));
        drop(end);
    }
}
