//! The state of a crawl, and its figures: from the running process, or from what the last run left.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use suidao_store::store::{Meta, StoreError, plain_file, rfc3339};

use crate::folder::{CrawlFolder, CrawlName};
use crate::problem::Problem;
use crate::program::sentence;
use crate::service::CrawlService;

/// Newest relevant pages of a status.
const NEWEST: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrawlState {
    /// Not started yet.
    New,
    Running,
    Stopping,
    /// It can be resumed.
    Stopped,
    /// It reached a stop condition, or no URL is left.
    Done,
    /// The last run of this service ended with an error.
    Failed(String),
    /// Another process writes there.
    InUse(String),
    /// Of another version of suidao.
    Incompatible(String),
    Unreadable(String),
}

impl CrawlState {
    pub fn name(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Done => "done",
            Self::Failed(_) => "failed",
            Self::InUse(_) => "in-use",
            Self::Incompatible(_) => "incompatible",
            Self::Unreadable(_) => "unreadable",
        }
    }

    fn detail(&self) -> Option<&str> {
        match self {
            Self::Failed(why) | Self::InUse(why) | Self::Incompatible(why) | Self::Unreadable(why) => Some(why),
            _ => None,
        }
    }
}

impl CrawlService {
    pub(crate) fn state(&self, crawl: &CrawlFolder) -> CrawlState {
        if let Some(running) = self.running.get(&crawl.name) {
            return if running.is_stopping() { CrawlState::Stopping } else { CrawlState::Running };
        }
        let shown = |error: StoreError| error.to_string().replace(&format!("{}/", self.folder.root().display()), "");
        match Meta::read(&crawl.directory) {
            Ok(_) => {}
            Err(StoreError::NoCrawl { .. }) => {
                return self.failure(&crawl.name).map_or(CrawlState::New, CrawlState::Failed);
            }
            Err(error @ StoreError::OtherFormat { .. }) => return CrawlState::Incompatible(shown(error)),
            Err(error) => return CrawlState::Unreadable(shown(error)),
        }
        // Looking at the lock would be in the way of a job that takes it now.
        let by_job =
            self.jobs.all().iter().any(|job| job.crawl.as_ref() == Some(&crawl.name) && !job.state().is_over());
        if let Some(by) = (!by_job).then(|| writer(&crawl.directory.state().join("lock"))).flatten() {
            return CrawlState::InUse(format!("{} is in use: {by} writes to it; wait for it, or stop it", crawl.name));
        }
        if let Some(why) = self.failure(&crawl.name) {
            return CrawlState::Failed(why);
        }
        match summary(crawl)["stopped"].as_str() {
            Some("interrupted") | None => CrawlState::Stopped,
            Some(_) => CrawlState::Done,
        }
    }

    /// The error with which the last run ended.
    fn failure(&self, name: &CrawlName) -> Option<String> {
        let end = self.running.last_end(name)?;
        let failed = !matches!(end.code, Some(0 | 130)) && !end.messages.trim().is_empty();
        failed.then(|| sentence(&end.messages, self.folder.root()))
    }

    /// A line of the list of crawls.
    pub async fn overview(&self, name: &CrawlName) -> Result<Value, Problem> {
        let crawl = self.folder.crawl(name)?;
        let state = self.state(&crawl);
        let mut shown = json!({ "name": name.as_str(), "state": state.name() });
        if let Some(detail) = state.detail() {
            shown["detail"] = detail.into();
        }
        if let Ok(meta) = Meta::read(&crawl.directory) {
            shown["topic"] = meta.topic.into();
            shown["strategy"] = meta.strategy.into();
            shown["created"] = rfc3339(meta.created).into();
        }
        let figures = match self.running.get(name) {
            Some(running) => running.ask(json!({ "status": {} })).await.map(|mut answer| answer["status"].take()),
            None => None,
        };
        let figures = figures.filter(|figures| figures["pages"].is_u64()).unwrap_or_else(|| summary(&crawl));
        for key in ["pages", "relevant", "requests", "queued", "hosts_visited", "bytes"] {
            shown[key] = figures[key].as_u64().unwrap_or_default().into();
        }
        if let Some(limit) = limit(&crawl) {
            shown["limit"] = limit.into();
        }
        Ok(shown)
    }

    /// All that is known about a crawl's progress.
    pub async fn status(self: &Arc<Self>, name: &CrawlName) -> Result<Value, Problem> {
        let crawl = self.folder.crawl(name)?;
        let mut shown = self.overview(name).await?;
        let live = match self.running.get(name) {
            Some(running) => running.ask(json!({ "status": {} })).await.map(|mut answer| answer["status"].take()),
            None => None,
        };
        match live {
            Some(Value::Object(live)) => {
                shown.as_object_mut().into_iter().for_each(|fields| fields.extend(live.clone()));
            }
            _ => {
                let summary = summary(&crawl);
                for (from, to) in [
                    ("stopped", "stopped_by"),
                    ("skip_reasons", "skip_reasons"),
                    ("failures", "failures_by_kind"),
                    ("harvest_trouble", "harvest_trouble"),
                    ("failed", "failed"),
                    ("skipped", "skipped"),
                    ("hosts_relevant", "hosts_relevant"),
                ] {
                    if !summary[from].is_null() {
                        shown[to] = summary[from].clone();
                    }
                }
                shown["curve"] = curve(&crawl);
                // A crawl without a page has none.
                shown["newest"] = self.newest(name, NEWEST).await.unwrap_or_default().into();
            }
        }
        Ok(shown)
    }
}

/// `summary.json` of the last run; null if there is none.
pub(crate) fn summary(crawl: &CrawlFolder) -> Value {
    let text = plain_file::read_text(&crawl.directory.summary_json(), plain_file::SMALL).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// The limit of pages.
fn limit(crawl: &CrawlFolder) -> Option<i64> {
    let text = crawl.read(&crawl.current_config()?).ok()?;
    toml::from_str::<toml::Table>(&text).ok()?.get("limits")?.get("pages")?.as_integer()
}

/// Pages and relevant pages, of at most 200 lines of `harvest.csv`.
fn curve(crawl: &CrawlFolder) -> Value {
    let text = plain_file::read_text(&crawl.directory.harvest_csv(), plain_file::LARGE).unwrap_or_default();
    let number = |line: &str, at: usize| line.split(',').nth(at)?.parse::<u64>().ok();
    let points = text.lines().filter_map(|line| Some([number(line, 0)?, number(line, 1)?]));
    // Others may have made the file.
    let points: Vec<[u64; 2]> = points.filter(|[pages, relevant]| relevant <= pages && *pages < 1 << 40).collect();
    let step = points.len().div_ceil(200).max(1);
    // The last one is always kept.
    let mut kept: Vec<&[u64; 2]> = points.iter().rev().step_by(step).collect();
    kept.reverse();
    json!(kept)
}

/// What the lock of a crawl says, if another process holds it.
fn writer(path: &Path) -> Option<String> {
    let file = plain_file::open(path, std::fs::File::options().read(true)).ok()?;
    match file.try_lock_shared() {
        Err(std::fs::TryLockError::WouldBlock) => {
            let by = plain_file::read_text(path, plain_file::SMALL).unwrap_or_default();
            Some(if by.trim().is_empty() { "another suidao command".to_owned() } else { by.trim().to_owned() })
        }
        // Closing the file unlocks it.
        _ => None,
    }
}
