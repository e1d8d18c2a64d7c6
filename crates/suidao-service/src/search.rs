//! Searches in the index of a crawl. A child process builds and updates it, so the service needs no memory for that.

use std::sync::Arc;

use serde_json::Value;
use suidao_export::index::{Index, IndexError, Request};
use suidao_page::model::number;
use suidao_store::corpus::{DuplicatePolicy, Filter};
use suidao_store::store::{CrawlDirectory, Store};

use crate::folder::CrawlName;
use crate::problem::Problem;
use crate::program::run;
use crate::service::{CrawlService, blocking};

/// Maximum rank of a hit.
pub const DEEPEST: usize = 1_000;
/// Maximum number of hits of an answer.
pub const MOST: usize = 100;

/// A search as a client asks for it.
#[derive(Clone, Debug, Default)]
pub struct SearchQuery {
    pub words: String,
    /// Conditions as in `--where`.
    pub conditions: String,
    pub offset: usize,
    pub limit: usize,
}

impl CrawlService {
    /// # Errors
    /// A problem with `where`, `q` or the range.
    pub async fn search(self: &Arc<Self>, name: &CrawlName, query: SearchQuery) -> Result<Value, Problem> {
        if query.words.chars().count() > 500 {
            return Err(Problem::parameter("q", "the query is longer than 500 characters"));
        }
        if query.offset > DEEPEST || query.limit > MOST {
            let detail = format!("at most {MOST} hits at a time, of the first {DEEPEST}");
            return Err(Problem::parameter(if query.limit > MOST { "limit" } else { "offset" }, detail));
        }
        // Listings are found too, after the documents.
        let mut filter = Filter { no_noindex: true, duplicates: DuplicatePolicy::Best, ..Filter::default() };
        filter.add(&query.conditions).map_err(|error| Problem::parameter("where", error))?;
        let index = self.index(name).await?;
        let request = Request { query: query.words, filter, offset: query.offset, limit: query.limit, explain: false };
        let answer = blocking(move || Ok(index.search(&request)?)).await?;
        Ok(number::plain(serde_json::to_value(&answer).map_err(Problem::internal)?))
    }

    /// The index of a crawl. If there is none it is built first; an outdated one is used, and updated for the next
    /// search.
    pub async fn index(self: &Arc<Self>, name: &CrawlName) -> Result<Arc<Index>, Problem> {
        let crawl = self.folder.crawl(name)?;
        let (service, directory) = (Arc::clone(self), crawl.directory.clone());
        let of = name.clone();
        let found = blocking(move || Ok((service.readings.index(&of, &directory), Store::open(&directory)?))).await?;
        match found {
            (Ok(index), store) => {
                let is_running = self.running.get(name).is_some();
                if !index.origin().is_of(&store)
                    && !self.is_updating(name)
                    && self.readings.should_update(name, is_running)
                {
                    self.update(name)?;
                }
                Ok(index)
            }
            (Err(IndexError::Missing(_) | IndexError::Incompatible { .. } | IndexError::Engine { .. }), store) => {
                if store.is_empty() {
                    return Err(Problem::said("web-no-page-yet", 409, &[]));
                }
                let job = match self.jobs.all().into_iter().find(|job| is_update(job, name)) {
                    Some(job) => job,
                    None => self.update(name)?,
                };
                if let crate::jobs::JobState::Failed(problem) = job.over().await {
                    return Err(problem);
                }
                let (service, name) = (Arc::clone(self), name.clone());
                blocking(move || Ok(service.readings.index(&name, &crawl.directory)?)).await
            }
            (Err(error), _) => Err(error.into()),
        }
    }

    fn is_updating(&self, name: &CrawlName) -> bool {
        self.jobs.all().iter().any(|job| is_update(job, name))
    }

    /// Brings the index up to date, as a job.
    fn update(self: &Arc<Self>, name: &CrawlName) -> Result<Arc<crate::jobs::ServiceJob>, Problem> {
        let crawl = self.folder.crawl(name)?;
        let (service, name) = (Arc::clone(self), name.clone());
        self.jobs.begin("index", Some(name.clone()), move |work| async move {
            let mut command = service.program.verb(["search", "-q", "--progress", "--json", "-n", "1"]);
            command.arg(CrawlDirectory::root(&crawl.directory));
            let ended = run(command, work.cancelled(), |done, of| work.progress(done, of)).await?;
            ended.checked(service.folder.root())?;
            service.readings.forget_index(&name);
            Ok(Value::Null)
        })
    }
}

fn is_update(job: &crate::jobs::ServiceJob, name: &CrawlName) -> bool {
    job.kind == "index" && job.crawl.as_ref() == Some(name) && !job.state().is_over()
}
