//! Responses as they arrive, as WARC files next to the crawl directory, until [`Guide::finish`](crate::Guide::finish)
//! imports them. Each run has files of its own, so those of a killed one are imported too.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use suidao_live::live::now;
use suidao_page::model::Fetched;
use suidao_store::store::archive::warc_files;
use suidao_store::store::{ArchiveSettings, CrawlDirectory, StoreError, WarcArchive, WarcEntry};

pub struct Staging {
    root: PathBuf,
    archive: Mutex<WarcArchive>,
}

impl Staging {
    /// Begins a run.
    pub fn open(directory: &Path, user_agent: &str, robots: bool) -> Result<Self, StoreError> {
        let root = root(directory);
        let run = root.join(format!("{:05}", runs(&root)?.len()));
        let pages = CrawlDirectory::new(&run).pages();
        fs::create_dir_all(&pages).map_err(StoreError::io(&pages, "create it"))?;
        let settings = ArchiveSettings {
            rotate_at: ArchiveSettings::ROTATE_AT,
            user_agent: user_agent.to_owned(),
            request_headers: Vec::new(),
            robots: Some(robots),
        };
        let archive = WarcArchive::resume(&CrawlDirectory::new(&run), None, settings)?;
        Ok(Self { root, archive: Mutex::new(archive) })
    }

    /// Appends a response; it is on disk afterwards.
    pub fn add(&self, fetched: Fetched) -> Result<(), StoreError> {
        let mut archive = self.archive.lock().unwrap_or_else(PoisonError::into_inner);
        archive.add(&WarcEntry::Whole(fetched), now())?;
        archive.sync()
    }

    /// Closes the run. Returns the files of all runs, in order.
    pub fn close(&self) -> Result<Vec<PathBuf>, StoreError> {
        self.archive.lock().unwrap_or_else(PoisonError::into_inner).close()?;
        let mut files = Vec::new();
        for run in runs(&self.root)? {
            let mut of_run = warc_files(&CrawlDirectory::new(&run).pages())?;
            of_run.sort();
            files.extend(of_run.into_iter().map(|(_, path)| path));
        }
        Ok(files)
    }

    /// Removes the files once they are imported.
    pub fn remove(self) -> Result<(), StoreError> {
        fs::remove_dir_all(&self.root).map_err(StoreError::io(&self.root, "remove it"))
    }
}

/// `DIR.spider`, next to the crawl directory.
fn root(directory: &Path) -> PathBuf {
    let mut name = directory.file_name().unwrap_or_default().to_owned();
    name.push(".spider");
    directory.with_file_name(name)
}

fn runs(root: &Path) -> Result<Vec<PathBuf>, StoreError> {
    if !root.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(root).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let mut runs: Vec<PathBuf> =
        entries.map_err(StoreError::io(root, "read it"))?.into_iter().map(|entry| entry.path()).collect();
    runs.sort();
    Ok(runs)
}
