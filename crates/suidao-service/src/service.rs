//! The service: what all interfaces (HTTP API, web pages, agents) can do with the crawls of a folder.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::{OwnedMutexGuard, Semaphore, watch};

use crate::folder::{CrawlFolder, CrawlName, ServedFolder};
use crate::jobs::Jobs;
use crate::problem::Problem;
use crate::program::{Ended, Program, run};
use crate::reading::Readings;
use crate::running::RunningCrawls;
use crate::status::CrawlState;

/// How often, and at what intervals, a crawl that is in use is tried again.
const ATTEMPTS: u32 = 240;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(250);

/// Short verbs at a time.
const SHORT_VERBS: usize = 4;

/// The service of a folder. It keeps nothing but what is in the crawl directories and what runs now.
#[derive(Debug)]
pub struct CrawlService {
    pub(crate) folder: ServedFolder,
    pub(crate) program: Program,
    pub(crate) running: Arc<RunningCrawls>,
    pub(crate) jobs: Jobs,
    pub(crate) readings: Readings,
    /// Of each crawl: held while something changes it.
    changing: Mutex<BTreeMap<CrawlName, Arc<tokio::sync::Mutex<()>>>>,
    /// For short verbs that answer a request.
    short: Semaphore,
}

impl CrawlService {
    pub fn new(folder: ServedFolder, program: Program) -> Arc<Self> {
        Arc::new(Self {
            folder,
            program,
            running: Arc::default(),
            jobs: Jobs::default(),
            readings: Readings::default(),
            changing: Mutex::default(),
            short: Semaphore::new(SHORT_VERBS),
        })
    }

    /// Starts the crawls that ran when the service ended, however that was. The processes of a service that was killed may
    /// still be stopping; they are waited for. A crawl that cannot be started is logged.
    pub async fn resume(self: &Arc<Self>) {
        let names = self.folder.names().into_iter();
        let mut pending: Vec<CrawlName> = names.filter(|name| self.folder.of(name).should_run()).collect();
        for _ in 0..ATTEMPTS {
            pending.retain(|name| {
                let is_used = matches!(self.state(&self.folder.of(name)), CrawlState::InUse(_));
                if !is_used && let Err(problem) = self.begin(name) {
                    tracing::warn!("{name} cannot be resumed: {problem}");
                }
                is_used
            });
            if pending.is_empty() {
                return;
            }
            tokio::time::sleep(BETWEEN_ATTEMPTS).await;
        }
        for name in pending {
            tracing::warn!("{name} cannot be resumed: another process uses it");
        }
    }

    /// Stops all crawls and jobs, and waits until everything is on disk. They run again after [`Self::resume`].
    pub async fn close(&self) {
        for job in self.jobs.all() {
            job.cancel();
        }
        let running = self.running.all();
        running.iter().for_each(super::running::RunningCrawl::stop);
        for crawl in running {
            crawl.stop_in_time().await;
        }
        for job in self.jobs.all() {
            job.over().await;
        }
    }

    /// Waits for other changes of a crawl, and keeps them out as long as the guard lives.
    pub(crate) async fn alone(&self, name: &CrawlName) -> OwnedMutexGuard<()> {
        let lock = {
            let mut all = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(name.clone()).or_default())
        };
        lock.lock_owned().await
    }

    /// Runs a verb that takes about a second, few of them at a time.
    pub(crate) async fn short_verb(&self, command: Command) -> Result<Ended, Problem> {
        let _permit = self.short.acquire().await.map_err(Problem::internal)?;
        let (_never, cancelled) = watch::channel(false);
        run(command, cancelled, |_, _| {}).await?.checked(self.folder.root())
    }

    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    pub fn crawl(&self, name: &CrawlName) -> Result<CrawlFolder, Problem> {
        self.folder.crawl(name)
    }
}

/// Runs work that blocks on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Problem::internal(format!("reading failed: {error}"))))
}
