//! Reads crawls: catalogues and indexes that were read stay in memory for a while, so that a client that pages through a
//! crawl does not read its log each time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use suidao_export::index::{Index, IndexError};
use suidao_live::live::monotonic_now;
use suidao_page::model::Millis;
use suidao_store::corpus::{Catalogue, UrlNames, document_id};
use suidao_store::store::{CrawlDirectory, Store, StoreError};

use crate::folder::CrawlName;

/// A reading that nobody used for this long is dropped.
const IDLE: Duration = Duration::from_secs(120);
/// While a crawl runs, its index is updated no more often.
const BETWEEN_UPDATES: Duration = Duration::from_secs(60);
/// While a crawl runs, a reading may be as old as this many times the duration of reading it.
const OLD: u32 = 20;

/// A crawl as it was read.
pub struct Reading {
    pub store: Store,
    pub catalogue: Catalogue,
    positions: OnceLock<FxHashMap<u128, usize>>,
    read: Instant,
    took: Duration,
}

impl Reading {
    fn of(directory: &CrawlDirectory) -> Result<Self, StoreError> {
        let begun = monotonic_now();
        let store = Store::open(directory)?;
        let catalogue = Catalogue::read(&store)?;
        Ok(Self { store, catalogue, positions: OnceLock::new(), read: begun, took: begun.elapsed() })
    }

    /// What it was read from; the same as long as nothing changed.
    pub fn version(&self) -> (u64, Option<Millis>) {
        version(&self.store)
    }

    /// Index in the catalogue of the document with this id.
    pub fn position(&self, wanted: &str) -> Result<Option<usize>, StoreError> {
        let key = |text: &str| u128::from_str_radix(text, 16).ok();
        if self.positions.get().is_none() {
            let names = UrlNames::read(&self.store, &self.catalogue)?;
            let entries = self.catalogue.entries.iter().enumerate();
            let ids = entries.filter_map(|(at, entry)| Some((key(&document_id(names.url(entry.id)?))?, at)));
            let _ = self.positions.set(ids.collect());
        }
        let positions = self.positions.get();
        Ok(key(wanted).filter(|_| wanted.len() == 32).and_then(|key| positions?.get(&key).copied()))
    }
}

fn version(store: &Store) -> (u64, Option<Millis>) {
    (store.len(), store.meta().rescoring.as_ref().map(|rescoring| rescoring.at))
}

#[derive(Default)]
struct Kept {
    reading: Option<Arc<Reading>>,
    index: Option<Arc<Index>>,
    /// When its last update began.
    updated: Option<Instant>,
    /// With its language and version.
    report: Option<(String, String)>,
    used: Option<Instant>,
}

/// The readings of all crawls.
#[derive(Default)]
pub struct Readings(Mutex<BTreeMap<CrawlName, Kept>>);

impl std::fmt::Debug for Readings {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("Readings").field(&self.lock().len()).finish()
    }
}

impl Readings {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<CrawlName, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The crawl as it is, or nearly so while it runs.
    pub fn reading(&self, name: &CrawlName, directory: &CrawlDirectory) -> Result<Arc<Reading>, StoreError> {
        let known = self.kept(name, |kept| kept.reading.clone());
        if let Some(known) = known {
            let is_recent = monotonic_now().duration_since(known.read) < known.took * OLD;
            if is_recent || version(&Store::open(directory)?) == known.version() {
                return Ok(known);
            }
        }
        let read = Arc::new(Reading::of(directory)?);
        self.kept(name, |kept| kept.reading = Some(Arc::clone(&read)));
        Ok(read)
    }

    /// The index of the crawl, current or not.
    ///
    /// # Errors
    /// [`IndexError::Missing`] if there is none yet.
    pub fn index(&self, name: &CrawlName, directory: &CrawlDirectory) -> Result<Arc<Index>, IndexError> {
        if let Some(index) = self.kept(name, |kept| kept.index.clone()) {
            return Ok(index);
        }
        let index = Arc::new(Index::open(&directory.root().join("index"))?);
        self.kept(name, |kept| kept.index = Some(Arc::clone(&index)));
        Ok(index)
    }

    /// The report of this language and version, if it was made already.
    pub fn report(&self, name: &CrawlName, key: &str) -> Option<String> {
        self.kept(name, |kept| kept.report.clone()).filter(|(known, _)| known == key).map(|(_, report)| report)
    }

    pub fn keep_report(&self, name: &CrawlName, key: String, report: &str) {
        self.kept(name, |kept| kept.report = Some((key, report.to_owned())));
    }

    /// Whether an index of a running crawl, which is always behind, should be updated now: not so often that updates take
    /// the time of the crawl.
    pub fn should_update(&self, name: &CrawlName, is_running: bool) -> bool {
        let now = monotonic_now();
        self.kept(name, |kept| {
            let is_due = kept.updated.is_none_or(|updated| now.duration_since(updated) >= BETWEEN_UPDATES);
            if is_due || !is_running {
                kept.updated = Some(now);
            }
            is_due || !is_running
        })
    }

    /// The index was replaced.
    pub fn forget_index(&self, name: &CrawlName) {
        self.kept(name, |kept| kept.index = None);
    }

    /// The crawl changed or is gone.
    pub fn forget(&self, name: &CrawlName) {
        self.lock().remove(name);
    }

    /// Drops what nobody used for a while.
    pub fn tidy(&self) {
        let now = monotonic_now();
        self.lock().retain(|_, kept| kept.used.is_some_and(|used| now.duration_since(used) < IDLE));
    }

    fn kept<T>(&self, name: &CrawlName, change: impl FnOnce(&mut Kept) -> T) -> T {
        let mut all = self.lock();
        let kept = all.entry(name.clone()).or_default();
        kept.used = Some(monotonic_now());
        change(kept)
    }
}
