//! The driver for archives of other crawlers: the responses in WARC files become a crawl directory, as if they had been
//! fetched in the order of the files. Each gets a ticket of the machine and the time of its record.
//!
//! Equal files and settings give equal batches. So an import that was killed starts again, compares what it makes with
//! the log, and writes from where the log ends; another import is rejected at the first batch that differs. Further files
//! follow at the end of the log, as if the crawl had continued with them.

mod importer;
mod log;
mod plan;
mod windows;

use std::collections::BTreeMap;
use std::future::Future;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use thiserror::Error;

use crate::live::{CrawlReport, Job, News, crawl_settings, meta, monotonic_now};
use importer::Importer;
use log::ImportLog;
use plan::Plan;
use suidao_crawl::crawl::{Crawl, Refresh};
use suidao_page::model::{Budget, Millis, Stop};
use suidao_store::store::harvest::HarvestCurve;
use suidao_store::store::{ArchiveSettings, Store, StoreError, WarcArchive, WarcIndex, skipped};
use windows::Windows;

/// An import to run.
pub struct ImportJob {
    /// Topic, seeds, configuration and directory, as for a crawl.
    pub job: Job,
    /// The WARC files or WACZ, in the order of the crawl.
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Error)]
pub enum ImportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no HTTP response in the {0}; give WARC files with response records")]
    NoResponse(String),
    #[error(
        "{}: contains another import or crawl, which differs at step {step}; use the same files in the same order with the same settings, or another output directory",
        .path.display()
    )]
    OtherImport { path: PathBuf, step: u64 },
    #[error("{}: contains a crawl, not an import; use another output directory", .0.display())]
    HoldsCrawl(PathBuf),
    #[error("{}: these files were imported with other seeds; use the same seeds, or another output directory", .0.display())]
    OtherSeeds(PathBuf),
    #[error(
        "{}: an import of other files ({files}) was interrupted; run it again until it is complete, and import these files afterwards, or use another output directory",
        .path.display()
    )]
    Unfinished { path: PathBuf, files: String },
    #[error("cannot start threads ({0}); close other programs and rerun the same command")]
    Threads(std::io::Error),
}

/// The records of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportCounts {
    pub files: u64,
    /// Files that earlier imports into the directory took.
    pub known_files: u64,
    /// Responses of HTTP servers in the other files.
    pub responses: u64,
    /// Responses that were settled, pages and others.
    pub taken: u64,
    pub robots: u64,
    /// Records that were not used, by reason.
    pub unused: BTreeMap<String, u64>,
}

/// The result of an import.
#[derive(Clone, Debug)]
pub struct ImportReport {
    /// As of a crawl; `stop` is `None` if it was interrupted.
    pub crawl: CrawlReport,
    pub counts: ImportCounts,
    /// All files were imported before, so nothing was written.
    pub is_known: bool,
}

impl ImportReport {
    /// The report of two imports that follow each other in one run.
    fn followed_by(self, next: Self) -> Self {
        let mut counts = self.counts;
        counts.files += next.counts.files;
        counts.responses += next.counts.responses;
        counts.taken += next.counts.taken;
        counts.robots += next.counts.robots;
        next.counts.unused.into_iter().for_each(|(kind, count)| *counts.unused.entry(kind).or_default() += count);
        let crawl = CrawlReport {
            pages_now: self.crawl.pages_now + next.crawl.pages_now,
            seconds: self.crawl.seconds + next.crawl.seconds,
            resumed: self.crawl.resumed,
            ..next.crawl
        };
        Self { crawl, counts, is_known: false }
    }
}

/// Imports the files until all are read, `interrupt` resolves, or the disk fails.
///
/// # Errors
/// [`ImportError`]: if the import could not start nothing was changed; otherwise everything acknowledged is on disk.
pub fn run(
    import: &ImportJob,
    mut report: impl FnMut(News),
    interrupt: impl Future<Output = ()> + Send + 'static,
) -> Result<ImportReport, ImportError> {
    let ImportJob { job, files } = import;
    job.directory.check_pages()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(ImportError::Threads)?;
    let interrupted = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&interrupted);
    runtime.spawn(async move {
        interrupt.await;
        stop.store(true, Ordering::Relaxed);
    });
    // Before anything is written: every file is read once, and damage is reported.
    let index = WarcIndex::open(files.clone(), job.config.fetch.max_body, |_| {})?;
    if index.is_empty() {
        let files = if index.files().len() == 1 { "file" } else { "files" };
        return Err(ImportError::NoResponse(format!("{files} {}", names(import))));
    }
    let (mut total, mut has_more) = run_next(job, &index, &mut report, &interrupted)?;
    while has_more && total.crawl.stop.is_some() {
        let (next, more) = run_next(job, &index, &mut report, &interrupted)?;
        total = total.followed_by(next);
        has_more = more;
    }
    runtime.shutdown_background();
    if index.damaged() > 0 {
        total.counts.unused.insert("damaged".to_owned(), index.damaged());
    }
    Ok(total)
}

/// Imports the files that the directory does not have; after a kill, only those of the killed import. Returns whether
/// files remain.
fn run_next(
    job: &Job,
    index: &WarcIndex,
    report: &mut impl FnMut(News),
    interrupted: &AtomicBool,
) -> Result<(ImportReport, bool), ImportError> {
    let meta = meta(job);
    let store = Store::resume(&job.directory, &meta, "suidao import")?;
    let resumed = !store.is_empty();
    let begun = monotonic_now();
    let mut plan = Plan::new(index.files(), job, &store)?;
    let first = plan.import().map_or(store.len(), |import| import.first);
    let (mut crawl, mut harvest, mut last) = (machine(job), HarvestCurve::default(), Millis(0));
    for record in store.batches_from(0).take(usize::try_from(first).unwrap_or(usize::MAX)) {
        let batch = record?.batch;
        crawl.restore(&batch);
        harvest.observe(&batch);
        last = batch.at;
    }
    let counts = ImportCounts { files: plan.files.len() as u64, known_files: plan.known, ..ImportCounts::default() };
    let Some(import) = plan.import() else {
        let crawl = CrawlReport { stop: Some(Stop::FrontierEmpty), resumed, ..CrawlReport::of(&crawl) };
        return Ok((ImportReport { crawl, counts, is_known: true }, false));
    };
    let settings = ArchiveSettings {
        rotate_at: ArchiveSettings::ROTATE_AT,
        user_agent: String::new(),
        request_headers: Vec::new(),
        robots: None,
    };
    let archive = WarcArchive::resume(&job.directory, store.last_location()?, settings)?;
    let log = ImportLog::new(job, plan.imports.clone(), store, archive, harvest);
    let mut importer = Importer::new(crawl, job, log, (last, import.begun), report);
    importer.counts = counts;
    let mut windows = Windows::new(&plan.files, index, job);
    let mut is_complete = true;
    'windows: while let Some(window) = windows.next_window()? {
        for response in window {
            if interrupted.load(Ordering::Relaxed) {
                is_complete = false;
                break 'windows;
            }
            if let ControlFlow::Break(()) = importer.take(response)? {
                break 'windows;
            }
        }
    }
    importer.finish(is_complete)?;
    importer.pass(windows.unused());
    let Importer { crawl, mut counts, log, before, .. } = importer;
    counts.responses = windows.responses();
    let is_known = log.is_continued();
    let (harvest, store, batches) = log.close()?;
    let mut failures = BTreeMap::new();
    if let Some(store) = store {
        if is_complete {
            plan.imports.complete(batches);
            plan.imports.write(&job.directory)?;
        }
        if !is_known {
            harvest.write(&job.directory)?;
            failures = skipped::write(&store)?.failures;
        }
    }
    let report = CrawlReport {
        pages_now: crawl.progress().pages - before.unwrap_or(crawl.progress().pages),
        stop: is_complete.then_some(Stop::FrontierEmpty),
        seconds: monotonic_now().duration_since(begun).as_secs_f64(),
        resumed,
        failures,
        ..CrawlReport::of(&crawl)
    };
    Ok((ImportReport { crawl: report, counts, is_known }, plan.has_more))
}

/// A machine that knows the history of each page, so that a second answer for a URL is a visit.
fn machine(job: &Job) -> Crawl {
    let budget = Budget::Round { requests: None, seconds: None };
    let mut settings = crawl_settings(&job.config, &job.topic);
    settings.refresh = Some(Refresh { settings: job.config.refresh.clone(), budget });
    let strategy = job.config.strategy.build(settings.page_threshold);
    Crawl::new(settings, strategy)
}

/// The first files by name.
fn names(import: &ImportJob) -> String {
    const NAMED: usize = 3;
    let named: Vec<String> = import.files.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = if import.files.len() > NAMED { " ..." } else { "" };
    named.join(", ") + more
}
