//! One crawl directory from all partitions: their logs become one, in the order in which the server stored them, with
//! new numbers for URLs and hosts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use suidao_live::live::crawl_settings;
use suidao_page::model::{Budget, CrawlUrl, Event, HostId, Millis, RefreshStep, Renumber, UrlId};
use suidao_store::corpus::MAX_BODY;
use suidao_store::store::directory::write_own;
use suidao_store::store::harvest::HarvestCurve;
use suidao_store::store::{
    ArchiveReader, ArchiveSettings, CrawlDirectory, Location, Meta, PartDirectory, Record, Store, StoreError,
    WarcArchive, link_file, skipped, warc_file,
};

use crate::archive::{SharedArchive, is_bucket};
use crate::checkpoints::read_all;
use crate::description::SharedCrawl;
use crate::error::ClusterError;

/// Batches written at a time.
const GROUP: usize = 256;

/// What was collected.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CollectedCrawl {
    pub pages: u64,
    pub relevant: u64,
    /// Pages left out because their files are missing.
    pub missing: usize,
}

/// Writes the current state of the crawl into a new directory. With `skip_missing` pages are left out whose files are missing,
/// because the disk of their worker is lost.
///
/// # Errors
/// [`ClusterError`]: the directory is not empty, the server or the archive does not answer.
pub async fn collect(
    shared: &SharedCrawl,
    directory: &CrawlDirectory,
    skip_missing: bool,
) -> Result<CollectedCrawl, ClusterError> {
    Store::may_begin(directory)?;
    if directory.holds_crawl() {
        return Err(StoreError::UnknownFiles(directory.root().to_owned()).into());
    }
    let fail = || StoreError::io(directory.root(), "create it");
    let part = PartDirectory::next_to(directory.root()).map_err(fail())?;
    let whole = CrawlDirectory::new(part.path());
    let files = tempfile::tempdir().map_err(StoreError::io(&std::env::temp_dir(), "create a directory"))?;
    let from = shared.archive(files.path())?;
    let collected = write(shared, &from, &whole, false, skip_missing).await?;
    part.rename(directory.root()).map_err(fail())?;
    Ok(collected)
}

/// Makes a temporary crawl directory of the crawl as it is now; its WARC files are links to the archive.
///
/// # Errors
/// [`ClusterError`]: the server or the archive does not answer.
pub async fn view(shared: &SharedCrawl, directory: &CrawlDirectory) -> Result<(), ClusterError> {
    let from = shared.archive(&directory.root().join("files"))?;
    write(shared, &from, directory, true, false).await.map(drop)
}

/// How pages get into the crawl directory.
enum Pages {
    /// From the archive of each session.
    Copied { archive: WarcArchive, readers: HashMap<String, ArchiveReader> },
    /// By links to the files of sessions, which get these numbers.
    Linked { pages: PathBuf, files: HashMap<(String, u32), u32> },
}

impl Pages {
    /// Takes over a page of a session's archive, in `from`; returns its location in the crawl directory.
    fn take(
        &mut self,
        session: &str,
        from: &CrawlDirectory,
        there: Location,
        at: Millis,
    ) -> Result<Location, StoreError> {
        match self {
            Self::Copied { archive, readers } => {
                let reader = readers.entry(session.to_owned()).or_insert_with(|| ArchiveReader::new(from, MAX_BODY));
                archive.add_copy(&reader.records(there)?.0, there, at)
            }
            Self::Linked { pages, files } => {
                let next = files.len() as u32;
                let number = *files.entry((session.to_owned(), there.file)).or_insert(next);
                if number == next {
                    link_file(pages, number, &from.pages(), there.file)?;
                }
                Ok(Location { file: number, ..there })
            }
        }
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Copied { archive, .. } => archive.sync(),
            Self::Linked { .. } => Ok(()),
        }
    }
}

async fn write(
    shared: &SharedCrawl,
    archive: &SharedArchive,
    directory: &CrawlDirectory,
    linked: bool,
    skip_missing: bool,
) -> Result<CollectedCrawl, ClusterError> {
    let (topic, config) = (shared.topic()?, shared.config()?);
    let threshold = crawl_settings(&config, &topic).page_threshold;
    let created = shared.description.created;
    let meta = Meta::new(&topic.lexicon().name, &topic.digest(), &config.strategy.label(), threshold, created);
    let mut store = Store::resume(directory, &meta, "suidao cluster collect")?;
    let mut merger = Merger::default();
    let mut harvest = HarvestCurve::default();
    let mut group: Vec<Record> = Vec::new();
    let settings = ArchiveSettings {
        rotate_at: ArchiveSettings::ROTATE_AT,
        user_agent: config.fetch.agent(),
        request_headers: Vec::new(),
        robots: Some(config.politeness.robots),
    };
    let mut pages = match linked {
        true => Pages::Linked { pages: directory.pages(), files: HashMap::new() },
        false => Pages::Copied { archive: WarcArchive::resume(directory, None, settings)?, readers: HashMap::new() },
    };
    let (mut here, mut missing): (HashSet<PathBuf>, usize) = (HashSet::new(), 0);
    read_all(shared, archive, |partition, entry| {
        for mut record in entry.records {
            if let Some(there) = record.archive {
                let from = CrawlDirectory::new(archive.path().join(&entry.session));
                let file = warc_file(&from.pages(), there.file);
                if is_bucket(&shared.description.archive) && here.insert(file.clone()) {
                    download_file(shared, archive, &file, skip_missing)?;
                }
                record.archive = if skip_missing && !exists(&file) {
                    missing += record.batch.events.len();
                    record.batch.events.retain(|event| !matches!(event, Event::PageFetched(_)));
                    missing -= record.batch.events.len();
                    None
                } else {
                    Some(pages.take(&entry.session, &from, there, record.batch.at)?)
                };
            }
            let record = merger.take(partition, record);
            harvest.observe(&record.batch);
            group.push(record);
        }
        if group.len() >= GROUP {
            pages.sync()?;
            store.append(&group)?;
            group.clear();
        }
        Ok(())
    })
    .await?;
    if let Pages::Copied { archive, .. } = &mut pages {
        archive.close()?;
    }
    store.append(&group)?;
    store.sync()?;
    let write = |path: PathBuf, text: &str| write_own(&path, |out| Ok(out.write_all(text.as_bytes())?));
    write(directory.topic_toml(), &topic.lexicon().to_toml())?;
    write(directory.config_toml(), shared.config_text())?;
    harvest.write(directory)?;
    skipped::write(&store)?;
    let (pages, relevant) = merger.pages;
    Ok(CollectedCrawl { pages, relevant, missing })
}

/// Whether a WARC file of a session is in the archive, closed or open.
fn exists(file: &Path) -> bool {
    file.exists() || file.with_extension("gz.open").exists()
}

/// Downloads a file of the archive, which must be there unless missing ones are skipped.
fn download_file(
    shared: &SharedCrawl,
    archive: &SharedArchive,
    file: &Path,
    skip_missing: bool,
) -> Result<(), ClusterError> {
    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(archive.download(file, false)))?;
    if file.exists() || skip_missing {
        return Ok(());
    }
    let file = file.strip_prefix(archive.path()).unwrap_or(file);
    Err(ClusterError::NotUploaded { name: shared.name().to_owned(), file: file.display().to_string() })
}

/// Gives the records of all partitions common numbers.
#[derive(Default)]
struct Merger {
    /// By fingerprint.
    urls: HashMap<u64, UrlId>,
    hosts: HashMap<String, HostId>,
    partitions: BTreeMap<u32, Numbers>,
    /// Partitions that take part in a round of revisits.
    rounds: BTreeSet<u32>,
    /// Pages, and relevant ones.
    pages: (u64, u64),
}

/// The common numbers of the URLs and hosts of a partition.
#[derive(Default)]
struct Numbers {
    urls: Vec<UrlId>,
    hosts: Vec<HostId>,
    names: HashSet<String>,
}

impl Renumber for Numbers {
    fn url(&mut self, id: UrlId) -> UrlId {
        self.urls.get(id.0 as usize).copied().unwrap_or(id)
    }

    fn host(&mut self, id: HostId) -> HostId {
        self.hosts.get(id.0 as usize).copied().unwrap_or(id)
    }
}

impl Merger {
    fn take(&mut self, partition: u32, mut record: Record) -> Record {
        let mut numbers = self.partitions.remove(&partition).unwrap_or_default();
        let events = std::mem::take(&mut record.batch.events);
        for mut event in events {
            if let Event::Discovered(found) = &event
                && !self.discover(&mut numbers, &found.url)
            {
                continue;
            }
            // The log of all partitions has the events that they learnt it from.
            if matches!(event, Event::LearntElsewhere { .. }) {
                continue;
            }
            if let Event::Refresh(step) = &mut event
                && !self.is_of_common_round(partition, step)
            {
                continue;
            }
            event.renumber(&mut numbers);
            if let Event::PageFetched(page) = &event
                && page.changes.is_none()
            {
                self.pages.0 += 1;
                self.pages.1 += u64::from(page.is_relevant_document());
            }
            record.batch.events.push(event);
        }
        self.partitions.insert(partition, numbers);
        record
    }

    /// The rounds of all partitions are one: it begins with the first and ends with the last. Returns whether anything is
    /// left of a step.
    fn is_of_common_round(&mut self, partition: u32, step: &mut RefreshStep) -> bool {
        match step.budget {
            None => return true,
            Some(Budget::Spent) => {
                self.rounds.remove(&partition);
                return self.rounds.is_empty();
            }
            Some(_) => {
                if !self.rounds.is_empty() {
                    step.budget = None;
                }
                self.rounds.insert(partition);
            }
        }
        step.budget.is_some() || !step.sources.is_empty()
    }

    /// Numbers the next URL of a partition; false if another has discovered it before.
    fn discover(&mut self, numbers: &mut Numbers, url: &CrawlUrl) -> bool {
        if numbers.names.insert(url.authority().to_owned()) {
            let next = HostId(self.hosts.len() as u32);
            numbers.hosts.push(*self.hosts.entry(url.authority().to_owned()).or_insert(next));
        }
        let next = UrlId(self.urls.len() as u32);
        let id = *self.urls.entry(url.fingerprint()).or_insert(next);
        numbers.urls.push(id);
        id == next
    }
}
