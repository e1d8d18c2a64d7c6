//! One crawl directory from all partitions: their logs become one, in the order in which the engine stored them, with new
//! numbers for URLs and hosts. Every verb that reads a crawl reads it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use suidao_live::live::crawl_settings;
use suidao_page::model::{CrawlUrl, Event, HostId, Renumber, UrlId};
use suidao_store::store::directory::write_own;
use suidao_store::store::harvest::HarvestCurve;
use suidao_store::store::{
    ArchiveReader, ArchiveSettings, CrawlDirectory, Meta, PartDirectory, Record, Store, StoreError, WarcArchive,
    skipped,
};

use crate::description::SharedCrawl;
use crate::error::ClusterError;
use crate::log::read_all;

/// Batches written at a time.
const GROUP: usize = 256;
/// Limit of decoded bodies; nothing larger was stored.
const MAX_BODY: usize = 1 << 30;

/// What was collected.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CollectedCrawl {
    pub pages: u64,
    pub relevant: u64,
}

/// Writes the crawl, as far as it is, into a new directory.
///
/// # Errors
/// [`ClusterError`]: the directory holds something, the engine or the archive does not answer.
pub async fn collect(shared: &SharedCrawl, directory: &CrawlDirectory) -> Result<CollectedCrawl, ClusterError> {
    Store::may_begin(directory)?;
    if directory.holds_crawl() {
        return Err(StoreError::UnknownFiles(directory.root().to_owned()).into());
    }
    let fail = || StoreError::io(directory.root(), "create it");
    let part = PartDirectory::next_to(directory.root()).map_err(fail())?;
    let collected = write(shared, &CrawlDirectory::new(part.path())).await?;
    part.rename(directory.root()).map_err(fail())?;
    Ok(collected)
}

async fn write(shared: &SharedCrawl, directory: &CrawlDirectory) -> Result<CollectedCrawl, ClusterError> {
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
    };
    let mut pages = WarcArchive::resume(directory, None, settings)?;
    let mut from: HashMap<String, ArchiveReader> = HashMap::new();
    read_all(&shared.streams, |partition, entry| {
        for mut record in entry.records {
            if let Some(there) = record.archive {
                let archive = Path::new(&shared.description.archive).join(&entry.session);
                let from = from.entry(entry.session.clone());
                let from = from.or_insert_with(|| ArchiveReader::new(&CrawlDirectory::new(archive), MAX_BODY));
                let (records, _) = from.records(there)?;
                record.archive = Some(pages.add_copy(&records, there, record.batch.at)?);
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
    pages.close()?;
    store.append(&group)?;
    store.sync()?;
    let write = |path: PathBuf, text: &str| write_own(&path, |out| Ok(out.write_all(text.as_bytes())?));
    write(directory.topic_toml(), &topic.lexicon().to_toml())?;
    write(directory.config_toml(), shared.config_text())?;
    harvest.write(directory)?;
    skipped::write(&store)?;
    let (pages, relevant) = merger.pages;
    Ok(CollectedCrawl { pages, relevant })
}

/// Gives the records of all partitions common numbers.
#[derive(Default)]
struct Merger {
    /// By fingerprint.
    urls: HashMap<u64, UrlId>,
    hosts: HashMap<String, HostId>,
    partitions: BTreeMap<u32, Numbers>,
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
