//! Builds or updates an index: the selected pages in order of fetching, in a temporary directory that gets its final
//! name when complete.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::merge_policy::NoMergePolicy;
use tantivy::schema::TantivyDocument;
use tantivy::{DateTime, IndexWriter, TantivyError, Term};

use super::schema::{Fields, midnight, schema, sites};
use super::source::{FORMAT, IndexSource};
use super::tokenizer::{TOKENIZER, analyzer};
use super::{Index, IndexError, fingerprints};
use crate::export::document;
use suidao_extract::Extractor;
use suidao_store::corpus::{Catalogue, CatalogueEntry, CorpusDocument, Parts, Selection, Streamed, stream};
use suidao_store::store::directory::WriteError;
use suidao_store::store::{PartDirectory, Store};

/// Memory of each thread for a segment before it is written, in bytes.
const MEMORY: usize = 64 << 20;
const MAX_THREADS: usize = 4;

/// The latest time that the index can hold, in the year 2262.
const LATEST: i64 = i64::MAX / 1_000_000;

/// An index of the selected pages to be written at a path, where it replaces an existing one.
pub struct IndexBuild<'a> {
    store: &'a Store,
    catalogue: &'a Catalogue,
    selection: &'a Selection,
    path: &'a Path,
    extractor: Option<&'a Extractor>,
    fingerprints: Vec<u64>,
    /// The fingerprints of the existing index, if it is updated.
    before: Option<Vec<u64>>,
}

impl<'a> IndexBuild<'a> {
    /// Decides whether an existing index is updated: one of the same crawl and rules, if most of its pages are
    /// unchanged.
    ///
    /// # Errors
    /// [`IndexError::InTheWay`] if something else is there.
    pub fn new(
        store: &'a Store,
        catalogue: &'a Catalogue,
        selection: &'a Selection,
        path: &'a Path,
        extractor: Option<&'a Extractor>,
    ) -> Result<Self, IndexError> {
        // Only an index is replaced: the state of a crawl has a meta.json too.
        let is_index = path.join("meta.json").is_file() && path.join(".managed.json").is_file();
        if path.exists() && !is_index && fs::read_dir(path).map_or(true, |mut all| all.next().is_some()) {
            return Err(IndexError::InTheWay(path.to_owned()));
        }
        let is_of_same = |index: &Index| {
            let origin = index.origin();
            origin.created == store.meta().created
                && origin.batches <= store.len()
                && origin.rules.as_deref() == extractor.map(Extractor::rules)
        };
        let mut this = Self { store, catalogue, selection, path, extractor, fingerprints: Vec::new(), before: None };
        this.fingerprints = fingerprints::of_pages(store, catalogue, selection);
        let before = Index::open(path).ok().filter(is_of_same).and_then(|_| fingerprints::read(path));
        this.before = before.filter(|before| {
            let same = before.iter().zip(&this.fingerprints).filter(|(before, now)| before == now).count();
            before.len() <= this.fingerprints.len() && 2 * same >= this.fingerprints.len()
        });
        Ok(this)
    }

    /// Number of pages to add.
    pub fn pages(&self) -> u64 {
        (0..self.fingerprints.len()).filter(|&page| self.is_added(page)).count() as u64
    }

    fn fingerprint_before(&self, page: usize) -> u64 {
        self.before.as_ref().and_then(|before| before.get(page)).copied().unwrap_or(0)
    }

    fn is_added(&self, page: usize) -> bool {
        self.fingerprints[page] != 0 && self.fingerprints[page] != self.fingerprint_before(page)
    }

    /// Writes it. Calls `progress` for each page added.
    ///
    /// # Errors
    /// [`IndexError::Store`] if the crawl cannot be read or the disk fails. What was there remains.
    pub fn run(&self, progress: &(dyn Fn() + Sync)) -> Result<Streamed, IndexError> {
        let path = self.path;
        let fail = || IndexError::io(path, "write the index");
        let part = PartDirectory::next_to(path).map_err(fail())?;
        let staging = part.path().join("index");
        fs::create_dir(&staging).map_err(fail())?;
        if self.before.is_some() {
            share(path, &staging).map_err(fail())?;
        }
        let streamed = match self.write(&staging, progress) {
            // The existing one is damaged.
            Err(IndexError::Engine { .. }) if self.before.is_some() => {
                drop(part);
                return Self { before: None, fingerprints: self.fingerprints.clone(), ..*self }.run(progress);
            }
            written => written.map_err(|error| error.of(&staging, path))?,
        };
        fingerprints::write(&staging, &self.fingerprints).map_err(fail())?;
        // Readers of the previous one keep its files until they close them.
        let previous = part.path().join("former");
        if path.exists() {
            fs::rename(path, &previous).map_err(fail())?;
        }
        if let Err(error) = fs::rename(&staging, path) {
            if previous.exists() {
                fs::rename(&previous, path).map_err(fail())?;
            }
            return Err(fail()(error));
        }
        Ok(streamed)
    }

    fn write(&self, staging: &Path, progress: &(dyn Fn() + Sync)) -> Result<Streamed, IndexError> {
        let engine = IndexError::engine(staging);
        let (schema, fields) = schema();
        let index = match self.before {
            Some(_) => tantivy::Index::open_in_dir(staging),
            None => tantivy::Index::create_in_dir(staging, schema),
        };
        let index = index.map_err(&engine)?;
        index.tokenizers().register(TOKENIZER, analyzer());
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_THREADS));
        let mut writer: IndexWriter = index.writer_with_num_threads(threads, MEMORY * threads).map_err(&engine)?;
        // All segments are merged at the end. A merge in the background would remove some meanwhile.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let mut added = Selection::none(self.catalogue);
        for (page, chosen) in added.chosen.iter_mut().enumerate() {
            if self.fingerprint_before(page) != 0 && self.fingerprint_before(page) != self.fingerprints[page] {
                writer.delete_term(Term::from_field_u64(fields.page, page as u64));
            }
            *chosen = self.is_added(page);
        }
        let render = |chosen: &suidao_store::corpus::SelectedDocument| {
            let document = document(self.extractor, chosen, Parts { text: true, ..Parts::default() })?;
            let representative = chosen.entry.duplicate_of.unwrap_or(chosen.number as u32);
            Ok(made(&fields, &document, chosen.number, representative, chosen.entry))
        };
        let streamed = stream(self.store, self.catalogue, &added, render, |document| {
            writer.add_document(document).map_err(into_write)?;
            progress();
            Ok(())
        });
        let streamed = streamed.map_err(IndexError::write(staging))?;
        let payload =
            serde_json::to_string(&self.source()).map_err(|error| IndexError::write(staging)(error.into()))?;
        let mut commit = writer.prepare_commit().map_err(&engine)?;
        commit.set_payload(&payload);
        commit.commit().map_err(&engine)?;
        // One segment is fastest for every query.
        let parts = index.searchable_segment_ids().map_err(&engine)?;
        if parts.len() > 1 {
            writer.merge(&parts).wait().map_err(&engine)?;
        }
        writer.garbage_collect_files().wait().map_err(&engine)?;
        writer.wait_merging_threads().map_err(&engine)?;
        Ok(Streamed { pages: self.selection.pages, ..streamed })
    }

    fn source(&self) -> IndexSource {
        let meta = self.store.meta();
        let whole = self.catalogue.entries.iter().filter(|entry| entry.is_whole()).count() as u64;
        IndexSource {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            topic: meta.topic.clone(),
            strategy: meta.strategy.clone(),
            created: meta.created,
            batches: self.catalogue.batches,
            fetched: self.catalogue.entries.len() as u64,
            pages: self.selection.pages,
            whole: whole == self.selection.pages,
            rules: self.extractor.map(|extractor| extractor.rules().to_owned()),
        }
    }
}

/// Builds or updates an index, as [`IndexBuild::new`] and [`IndexBuild::run`].
pub fn build(
    store: &Store,
    catalogue: &Catalogue,
    selection: &Selection,
    path: &Path,
    extractor: Option<&Extractor>,
    progress: &(dyn Fn() + Sync),
) -> Result<Streamed, IndexError> {
    IndexBuild::new(store, catalogue, selection, path, extractor)?.run(progress)
}

/// Gives `to` the files of an index: links where possible, because the engine changes no file, only replaces some.
fn share(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_lock = name.as_encoded_bytes().ends_with(b".lock");
        if !is_lock && fs::hard_link(entry.path(), to.join(&name)).is_err() {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}

fn into_write(error: TantivyError) -> WriteError {
    match error {
        TantivyError::IoError(error) => WriteError::Out(match Arc::try_unwrap(error) {
            Ok(error) => error,
            Err(shared) => std::io::Error::new(shared.kind(), shared.to_string()),
        }),
        other => WriteError::Out(std::io::Error::other(other)),
    }
}

fn made(
    fields: &Fields,
    document: &CorpusDocument,
    number: usize,
    representative: u32,
    entry: &CatalogueEntry,
) -> TantivyDocument {
    let mut made = TantivyDocument::new();
    made.add_u64(fields.page, number as u64);
    made.add_text(fields.id, &document.id);
    made.add_text(fields.url, document.url.as_str());
    made.add_text(fields.host, &document.host);
    for site in sites(&document.host) {
        made.add_text(fields.site, site);
    }
    made.add_text(fields.title, &document.title);
    made.add_text(fields.body, &document.text);
    if let Some(language) = &document.language {
        made.add_text(fields.language, language);
    }
    if let Some(published) = document.published {
        made.add_date(fields.published, midnight(published));
    }
    made.add_date(fields.fetched, DateTime::from_timestamp_millis(i64::try_from(entry.at.0).unwrap_or(0).min(LATEST)));
    made.add_f64(fields.relevance, f64::from(document.relevance.get()));
    made.add_bool(fields.relevant, document.relevant);
    made.add_u64(fields.chars, u64::from(document.chars));
    made.add_bool(fields.document, entry.is_document());
    made.add_bool(fields.listing, document.listing);
    made.add_bool(fields.noindex, document.noindex);
    if let Some(original) = &document.duplicate_of {
        made.add_text(fields.duplicate_of, original.as_str());
    }
    made.add_u64(fields.representative, u64::from(representative));
    made.add_u64(fields.depth, u64::from(document.depth));
    made.add_u64(fields.hops, u64::from(document.hops));
    if let Some(k) = document.k {
        made.add_u64(fields.k, u64::from(k));
    }
    for origin in document.found_on.iter().chain(&document.redirect_origins) {
        made.add_text(fields.found_on, origin.as_str());
    }
    if !document.extracted.is_empty() {
        let values = document.extracted.iter().map(|(name, value)| (name.clone(), value.clone().into()));
        made.add_object(fields.extracted, values.collect());
    }
    made.add_text(fields.anchor, &document.anchor);
    for found in &document.terms {
        made.add_text(fields.terms, &found.term);
        made.add_u64(fields.counts, u64::from(found.count));
    }
    made
}
