//! Starts, stops, changes and deletes crawls.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use suidao_live::config::merge;
use suidao_page::topic::Lexicon;
use suidao_store::store::{Meta, StoreError};

use crate::create::{checked, set_pages, stored, table};
use crate::folder::{CrawlFolder, CrawlName};
use crate::jobs::ServiceJob;
use crate::problem::Problem;
use crate::program::run;
use crate::service::CrawlService;
use crate::status::CrawlState;

/// Maximum number of seeds at a time.
const MOST_SEEDS: usize = 10_000;

/// What to change of a crawl.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlChange {
    /// Stop after this number of pages.
    pub pages: Option<u64>,
    /// Settings that replace those of the same name.
    pub config: Map<String, Value>,
}

impl CrawlService {
    /// Starts or resumes a crawl, after other changes of it.
    ///
    /// # Errors
    /// A conflict if it runs, is in use by another process, or cannot be read.
    pub async fn start(self: &Arc<Self>, name: &CrawlName) -> Result<(), Problem> {
        self.folder.crawl(name)?;
        let _alone = self.alone(name).await;
        self.begin(name)
    }

    /// [`Self::start`] by one who keeps other changes out.
    pub(crate) fn begin(self: &Arc<Self>, name: &CrawlName) -> Result<(), Problem> {
        let crawl = self.folder.crawl(name)?;
        match self.state(&crawl) {
            CrawlState::New | CrawlState::Stopped | CrawlState::Done | CrawlState::Failed(_) => {}
            CrawlState::Running | CrawlState::Stopping => {
                return Err(Problem::said("web-runs-already", 409, &[name]));
            }
            CrawlState::InUse(why) | CrawlState::Incompatible(why) | CrawlState::Unreadable(why) => {
                return Err(Problem::conflict(why));
            }
        }
        let config = crawl.current_config();
        if let Some(path) = &config {
            stored(&crawl, path)?;
        }
        let mut command = self.program.verb(["crawl", "--control", "-q", "-o"]);
        command.arg(crawl.directory.root());
        let (lexicon, seeds) = (judging_lexicon(&crawl)?, crawl.seeds());
        if lexicon.exists() {
            command.arg("-m").arg(lexicon);
        }
        if seeds.exists() {
            command.arg("-s").arg(seeds);
        }
        self.program.configured(&mut command, config.as_deref());
        crawl.set_running(true)?;
        let (service, ended) = (Arc::downgrade(self), crawl.clone());
        let started = self.running.start(name, command, move |end| {
            // A crawl that a signal or the end of the service stopped runs again later.
            let by_itself = end.code.is_some_and(|code| code != 130);
            if by_itself && let Err(problem) = ended.set_running(false) {
                tracing::warn!("{}: {problem}", ended.name);
            }
            if let Some(service) = service.upgrade() {
                service.readings.forget(&ended.name);
            }
        });
        if started.is_err() && self.running.get(name).is_none() {
            crawl.set_running(false)?;
        }
        started
    }

    /// Stops a crawl after its requests in flight, and returns when it has stopped. A crawl that does not run stays as it
    /// is.
    pub async fn stop(&self, name: &CrawlName) -> Result<(), Problem> {
        let crawl = self.folder.crawl(name)?;
        crawl.set_running(false)?;
        self.pause(name).await;
        Ok(())
    }

    /// Stops a crawl that should run again later.
    pub(crate) async fn pause(&self, name: &CrawlName) {
        if let Some(running) = self.running.get(name) {
            running.stop_in_time().await;
        }
    }

    /// Adds seeds to a crawl, running or not. Returns the number of those that the running crawl did not know.
    ///
    /// # Errors
    /// Names the seed that is not a URL.
    pub async fn add_seeds(&self, name: &CrawlName, seeds: &[String]) -> Result<Value, Problem> {
        let crawl = self.folder.crawl(name)?;
        if seeds.len() > MOST_SEEDS {
            return Err(Problem::parameter("seeds", format!("give at most {MOST_SEEDS} seeds at a time")));
        }
        let _alone = self.alone(name).await;
        if seeds.is_empty() || seeds.iter().any(|seed| seed.contains(['\n', '\r']) || seed.trim().is_empty()) {
            return Err(Problem::parameter("seeds", "give a list of URLs"));
        }
        let added = match self.running.get(name) {
            Some(running) => {
                let answer = running.ask(json!({ "add": seeds })).await;
                let answer = answer.ok_or_else(|| Problem::busy(format!("{name} does not answer; try again")))?;
                if let Some(error) = answer["error"].as_str() {
                    return Err(Problem::parameter("seeds", error));
                }
                answer["added"].clone()
            }
            None => {
                if let Some(wrong) = seeds.iter().find(|seed| !is_seed(seed)) {
                    return Err(Problem::said("web-no-seed", 400, &[wrong]).of("seeds"));
                }
                Value::Null
            }
        };
        // A run that follows knows them too. The list that is there counts, with what others appended to it.
        let path = crawl.seeds();
        let before = if path.exists() { crawl.read(&path)? } else { String::new() };
        let kept: HashSet<&str> = before.lines().collect();
        let new = seeds.iter().map(|seed| seed.trim()).filter(|seed| !kept.contains(seed));
        let text: String = before.lines().chain(new).map(|line| format!("{line}\n")).collect();
        crawl.write(&path, &text)?;
        Ok(json!({ "added": added, "running": !added.is_null() }))
    }

    /// Changes limits and settings, as a job: a running crawl is stopped and resumed with them.
    pub fn change(self: &Arc<Self>, name: &CrawlName, change: CrawlChange) -> Result<Arc<ServiceJob>, Problem> {
        let crawl = self.folder.crawl(name)?;
        // So that a wrong value is told now.
        changed(&crawl, &change)?;
        let (service, name) = (Arc::clone(self), name.clone());
        self.jobs.begin("change", Some(name.clone()), move |_| async move {
            let _alone = service.alone(&name).await;
            let text = changed(&crawl, &change)?;
            service.pause(&name).await;
            crawl.write(&crawl.config(), &text)?;
            if crawl.should_run() {
                service.begin(&name)?;
            }
            Ok(json!({ "crawl": name.as_str() }))
        })
    }

    /// Visits known pages again, as a job.
    pub fn refresh(self: &Arc<Self>, name: &CrawlName, requests: u64) -> Result<Arc<ServiceJob>, Problem> {
        let crawl = self.folder.crawl(name)?;
        if self.running.get(name).is_some() {
            return Err(Problem::said("web-stop-first", 409, &[name]));
        }
        if requests == 0 {
            return Err(Problem::parameter("requests", "must be at least 1"));
        }
        let config = crawl.current_config();
        if let Some(path) = &config {
            stored(&crawl, path)?;
        }
        let (service, name) = (Arc::clone(self), name.clone());
        self.jobs.begin("refresh", Some(name.clone()), move |work| async move {
            let _alone = service.alone(&name).await;
            let mut command = service.program.verb(["refresh", "--json", "-q"]);
            command.arg(crawl.directory.root()).arg("--requests").arg(requests.to_string());
            service.program.configured(&mut command, config.as_deref());
            let ended = run(command, work.cancelled(), |_, _| {}).await?.checked(service.folder.root())?;
            service.readings.forget(&name);
            let summary = ended.json()?["summary"].take();
            // Not its configuration, which has the administrator's.
            Ok(json!({ "round": summary["round"], "stopped": summary["stopped"], "next_due": summary["next_due"] }))
        })
    }

    /// Deletes a crawl with all its pages.
    ///
    /// # Errors
    /// A conflict if it is in use; a problem with `confirm` if that is not its name.
    pub async fn delete(&self, name: &CrawlName, confirm: &str) -> Result<(), Problem> {
        let crawl = self.folder.crawl(name)?;
        if confirm != name.as_str() {
            return Err(Problem::said("web-confirm", 400, &[name]).of("confirm"));
        }
        if self.jobs.has_unfinished(name) {
            return Err(Problem::said("web-job-works", 409, &[name]));
        }
        let _alone = self.alone(name).await;
        if self.running.get(name).is_some() {
            return Err(Problem::said("web-stop-first", 409, &[name]));
        }
        if let CrawlState::InUse(why) = self.state(&crawl) {
            return Err(Problem::conflict(why));
        }
        self.readings.forget(name);
        // First out of sight, so that nobody sees half of it.
        let root = crawl.directory.root();
        let gone = tempfile::Builder::new().prefix(".deleted-").tempdir_in(self.folder.root());
        let gone = gone.map_err(StoreError::io(self.folder.root(), "make a directory in it"))?;
        fs::rename(root, gone.path().join("crawl")).map_err(StoreError::io(root, "delete it"))?;
        gone.close().map_err(StoreError::io(root, "delete it"))?;
        Ok(())
    }
}

/// The settings of a crawl with a change, checked.
fn changed(crawl: &CrawlFolder, change: &CrawlChange) -> Result<String, Problem> {
    let mut settings = match crawl.current_config() {
        Some(path) => stored(crawl, &path)?,
        None => toml::Table::new(),
    };
    merge(&mut settings, table(&change.config)?);
    if let Some(pages) = change.pages {
        set_pages(&mut settings, pages)?;
    }
    checked(&settings)
}

/// The lexicon by which a crawl goes on: that of its pages, also when the terms were changed since.
fn judging_lexicon(crawl: &CrawlFolder) -> Result<PathBuf, Problem> {
    let Ok(meta) = Meta::read(&crawl.directory) else { return Ok(crawl.current_lexicon()) };
    for path in [crawl.lexicon(), crawl.former_lexicon(), crawl.directory.topic_toml()] {
        if path.exists() && Lexicon::parse(&crawl.read(&path)?).is_ok_and(|lexicon| lexicon.digest() == meta.lexicon) {
            return Ok(path);
        }
    }
    let detail = "the topic was changed since the pages were judged; judge them again first (rescore)";
    Err(Problem::conflict(detail))
}

/// Whether this may be a seed; a crawl that starts checks it in full.
fn is_seed(word: &str) -> bool {
    use suidao_page::model::CrawlUrl;
    let word = word.trim();
    CrawlUrl::parse(word).is_ok()
        || !word.contains("://") && word.contains('.') && CrawlUrl::parse(&format!("http://{word}")).is_ok()
}
