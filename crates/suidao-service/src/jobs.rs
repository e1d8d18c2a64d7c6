//! Work that takes long: each job has an id, a state, progress, and can be cancelled. Jobs are in memory; what they
//! write is in the crawl directories.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use suidao_live::live::now;
use suidao_store::store::rfc3339;
use tokio::sync::{Semaphore, watch};

use crate::folder::CrawlName;
use crate::problem::Problem;

/// Jobs that work at a time.
const AT_A_TIME: usize = 2;
/// Maximum number of unfinished jobs.
const UNFINISHED: usize = 64;
/// Finished jobs that are remembered.
const REMEMBERED: usize = 200;

#[derive(Clone, Debug)]
pub enum JobState {
    Queued,
    /// What is done, and of how much; 0 if unknown.
    Running(u64, u64),
    Done(Value),
    Failed(Problem),
    Cancelled,
}

impl JobState {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running(..) => "running",
            Self::Done(_) => "done",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn is_over(&self) -> bool {
        !matches!(self, Self::Queued | Self::Running(..))
    }
}

/// One job.
#[derive(Debug)]
pub struct ServiceJob {
    pub id: u64,
    /// Such as `export`.
    pub kind: &'static str,
    pub crawl: Option<CrawlName>,
    begun: String,
    cancel: watch::Sender<bool>,
    state: watch::Sender<JobState>,
}

impl ServiceJob {
    pub fn state(&self) -> JobState {
        self.state.borrow().clone()
    }

    /// Asks it to stop; a finished job stays what it is.
    pub fn cancel(&self) {
        self.cancel.send_replace(true);
    }

    /// Waits until it is over.
    pub async fn over(&self) -> JobState {
        let mut state = self.state.subscribe();
        let over = state.wait_for(JobState::is_over).await;
        over.map_or(JobState::Cancelled, |state| state.clone())
    }

    pub fn json(&self) -> Value {
        let state = self.state();
        let mut json = json!({
            "id": self.id.to_string(),
            "kind": self.kind,
            "crawl": self.crawl.as_ref().map(CrawlName::as_str),
            "begun": self.begun,
            "state": state.name(),
        });
        match state {
            JobState::Running(done, of) if of > 0 => json["progress"] = json!({ "done": done, "of": of }),
            JobState::Done(result) => json["result"] = result,
            JobState::Failed(problem) => json["problem"] = problem.json(),
            _ => {}
        }
        json
    }
}

/// What a job's work gets.
#[derive(Clone, Debug)]
pub struct JobWork {
    job: Arc<ServiceJob>,
}

impl JobWork {
    /// Becomes true when the work should stop.
    pub fn cancelled(&self) -> watch::Receiver<bool> {
        self.job.cancel.subscribe()
    }

    pub fn progress(&self, done: u64, of: u64) {
        self.job.state.send_replace(JobState::Running(done, of));
    }
}

/// All jobs of a service.
#[derive(Debug)]
pub struct Jobs {
    list: Mutex<(u64, BTreeMap<u64, Arc<ServiceJob>>)>,
    permits: Arc<Semaphore>,
}

impl Default for Jobs {
    fn default() -> Self {
        Self { list: Mutex::default(), permits: Arc::new(Semaphore::new(AT_A_TIME)) }
    }
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, (u64, BTreeMap<u64, Arc<ServiceJob>>)> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a job.
    ///
    /// # Errors
    /// Busy, if too many are unfinished.
    pub fn begin<F>(
        &self,
        kind: &'static str,
        crawl: Option<CrawlName>,
        work: impl FnOnce(JobWork) -> F + Send + 'static,
    ) -> Result<Arc<ServiceJob>, Problem>
    where
        F: Future<Output = Result<Value, Problem>> + Send + 'static,
    {
        let job = {
            let mut list = self.lock();
            let (last, jobs) = &mut *list;
            if jobs.values().filter(|job| !job.state().is_over()).count() >= UNFINISHED {
                return Err(Problem::busy("too many jobs are unfinished; wait for one, or cancel one"));
            }
            while jobs.len() >= REMEMBERED {
                let oldest = jobs.iter().find(|(_, job)| job.state().is_over()).map(|(id, _)| *id);
                let Some(oldest) = oldest else { break };
                jobs.remove(&oldest);
            }
            *last += 1;
            let begun = rfc3339(now());
            let (cancel, state) = (watch::Sender::new(false), watch::Sender::new(JobState::Queued));
            let job = Arc::new(ServiceJob { id: *last, kind, crawl, begun, cancel, state });
            jobs.insert(*last, Arc::clone(&job));
            job
        };
        let (permits, started) = (Arc::clone(&self.permits), Arc::clone(&job));
        tokio::spawn(async move {
            let mut cancelled = started.cancel.subscribe();
            let permit = tokio::select! {
                permit = permits.acquire_owned() => permit,
                _ = cancelled.wait_for(|cancelled| *cancelled) => {
                    started.state.send_replace(JobState::Cancelled);
                    return;
                }
            };
            started.state.send_replace(JobState::Running(0, 0));
            let result = tokio::spawn(work(JobWork { job: Arc::clone(&started) })).await;
            let result = result.unwrap_or_else(|error| Err(Problem::internal(format!("the job failed: {error}"))));
            drop(permit);
            let was_cancelled = *started.cancel.borrow();
            started.state.send_replace(match result {
                _ if was_cancelled => JobState::Cancelled,
                Ok(result) => JobState::Done(result),
                Err(problem) => JobState::Failed(problem),
            });
        });
        Ok(job)
    }

    /// Whether a job of this crawl is unfinished.
    pub fn has_unfinished(&self, crawl: &CrawlName) -> bool {
        self.lock().1.values().any(|job| job.crawl.as_ref() == Some(crawl) && !job.state().is_over())
    }

    /// # Errors
    /// Not found.
    pub fn job(&self, id: &str) -> Result<Arc<ServiceJob>, Problem> {
        let found = id.parse().ok().and_then(|id: u64| self.lock().1.get(&id).cloned());
        found.ok_or_else(|| Problem::said("web-unknown-job", 404, &[&id]))
    }

    /// All that are remembered, the newest first.
    pub fn all(&self) -> Vec<Arc<ServiceJob>> {
        self.lock().1.values().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn jobs_wait_for_their_turn_and_can_be_cancelled() {
        let jobs = Jobs::default();
        let (open, opened) = watch::channel(false);
        let gated = |mut gate: watch::Receiver<bool>| {
            move |_: JobWork| async move {
                let _ = gate.wait_for(|open| *open).await;
                Ok(json!(7))
            }
        };
        let started: Vec<_> = (0..4).map(|_| jobs.begin("test", None, gated(opened.clone())).unwrap()).collect();
        started[3].cancel();
        assert_eq!(started[3].over().await.name(), "cancelled", "while it waits");
        open.send(true).unwrap();
        for job in &started[..3] {
            assert!(matches!(job.over().await, JobState::Done(result) if result == 7));
        }
        started[0].cancel();
        assert_eq!(started[0].state().name(), "done");
        let failed = jobs.begin("test", None, |_| async { Err(Problem::bad("no")) }).unwrap();
        failed.over().await;
        assert_eq!(jobs.job("5").unwrap().json()["problem"]["detail"], "no");
        assert_eq!(jobs.job("x").unwrap_err().status, 404);
        assert_eq!(jobs.all().len(), 5);
    }
}
