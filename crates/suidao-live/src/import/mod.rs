//! The driver for archives of other crawlers: the responses in WARC files become a crawl directory, as if they had been
//! fetched in the order of the files. Each gets a ticket of the machine and the time of its record.
//!
//! Equal files and settings give equal batches. So an import that was killed starts again, compares what it makes with
//! the log, and writes from where the log ends; another import is rejected at the first batch that differs.

mod importer;
mod log;
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
use suidao_crawl::crawl::{Crawl, Refresh};
use suidao_page::model::{Budget, Stop};
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
    #[error("cannot start threads ({0}); close other programs and rerun the same command")]
    Threads(std::io::Error),
}

/// The records of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportCounts {
    pub files: u64,
    /// Responses of HTTP servers in them.
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
    /// The crawl was continued after this import, so nothing was written.
    pub continued: bool,
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
    let mut responses = 0;
    let index = WarcIndex::open(files.clone(), job.config.fetch.max_body, |_| responses += 1)?;
    if responses == 0 {
        let files = if index.files().len() == 1 { "file" } else { "files" };
        return Err(ImportError::NoResponse(format!("{files} {}", names(import))));
    }
    let meta = meta(job);
    let store = Store::resume(&job.directory, &meta, "suidao import")?;
    let (resumed, created) = (!store.is_empty(), store.meta().created);
    let settings = ArchiveSettings {
        rotate_at: ArchiveSettings::ROTATE_AT,
        user_agent: String::new(),
        request_headers: Vec::new(),
    };
    let archive = WarcArchive::resume(&job.directory, store.last_location()?, settings)?;
    let begun = monotonic_now();
    let log = ImportLog::new(job, store, archive);
    let mut importer = Importer::new(machine(job), job, log, created, &mut report);
    importer.counts = ImportCounts { files: index.files().len() as u64, responses, ..ImportCounts::default() };
    let mut windows = Windows::new(&index, job);
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
    runtime.shutdown_background();
    importer.finish(is_complete)?;
    importer.pass(windows.unused());
    importer.pass(&BTreeMap::from([("damaged", index.damaged())]));
    let Importer { crawl, counts, log, before, .. } = importer;
    let (mut store, continued) = (None, log.is_continued());
    let harvest = log.close(&mut store)?;
    let mut failures = BTreeMap::new();
    if let Some(store) = store.filter(|_| !continued) {
        harvest.write(&job.directory)?;
        failures = skipped::write(&store)?.failures;
    }
    let report = CrawlReport {
        pages_now: crawl.progress().pages - before.unwrap_or(crawl.progress().pages),
        stop: is_complete.then_some(Stop::FrontierEmpty),
        seconds: monotonic_now().duration_since(begun).as_secs_f64(),
        resumed,
        failures,
        ..CrawlReport::of(&crawl)
    };
    Ok(ImportReport { crawl: report, counts, continued })
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
