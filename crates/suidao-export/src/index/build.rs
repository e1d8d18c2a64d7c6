//! Builds an index: the selected pages in order of fetching, in a temporary directory that gets its final name when
//! complete.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::merge_policy::NoMergePolicy;
use tantivy::schema::TantivyDocument;
use tantivy::{DateTime, IndexWriter, TantivyError};

use super::IndexError;
use super::schema::{Fields, midnight, schema, sites};
use super::tokenizer::{TOKENIZER, analyzer};
use crate::export::document;
use suidao_extract::Extractor;
use suidao_page::model::Millis;
use suidao_store::corpus::{Catalogue, CorpusDocument, Parts, Selection, Streamed, stream};
use suidao_store::store::directory::WriteError;
use suidao_store::store::{PartDirectory, Store};

/// Format of the index. Increase it when a field or the tokenizer changes.
pub(super) const FORMAT: u32 = 5;

/// Memory of each thread for a segment before it is written, in bytes.
const MEMORY: usize = 64 << 20;
const MAX_THREADS: usize = 4;

/// The latest time that the index can hold, in the year 2262.
const LATEST: i64 = i64::MAX / 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexSource {
    pub format: u32,
    pub version: String,
    pub topic: String,
    pub strategy: String,
    pub created: Millis,
    /// Batches of the log at that time.
    pub batches: u64,
    pub fetched: u64,
    pub pages: u64,
    /// It has all archived pages.
    pub whole: bool,
    /// The rules by which values were extracted, as written by the user.
    pub rules: Option<String>,
}

impl IndexSource {
    /// Whether it has all pages of the crawl in its present state.
    pub fn is_of(&self, store: &Store) -> bool {
        self.whole && self.batches == store.len() && self.created == store.meta().created
    }
}

/// Builds the index of the selected pages at `path` and replaces an existing one. Calls `progress` for each page added.
///
/// # Errors
/// [`IndexError::InTheWay`] if something else is there; [`IndexError::Store`] if the crawl cannot be read or the disk
/// fails. What was there remains.
pub fn build(
    store: &Store,
    catalogue: &Catalogue,
    selection: &Selection,
    path: &Path,
    extractor: Option<&Extractor>,
    progress: &(dyn Fn() + Sync),
) -> Result<Streamed, IndexError> {
    // Only an index is replaced: the state of a crawl has a meta.json too.
    let is_index = path.join("meta.json").is_file() && path.join(".managed.json").is_file();
    if path.exists() && !is_index && fs::read_dir(path).map_or(true, |mut all| all.next().is_some()) {
        return Err(IndexError::InTheWay(path.to_owned()));
    }
    let fail = || IndexError::io(path, "write the index");
    let part = PartDirectory::next_to(path).map_err(fail())?;
    let staging = part.path().join("index");
    fs::create_dir(&staging).map_err(fail())?;
    let streamed =
        write(store, catalogue, selection, &staging, extractor, progress).map_err(|error| error.of(&staging, path))?;
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

fn write(
    store: &Store,
    catalogue: &Catalogue,
    selection: &Selection,
    staging: &Path,
    extractor: Option<&Extractor>,
    progress: &(dyn Fn() + Sync),
) -> Result<Streamed, IndexError> {
    let engine = IndexError::engine(staging);
    let (schema, fields) = schema();
    let index = tantivy::Index::create_in_dir(staging, schema).map_err(&engine)?;
    index.tokenizers().register(TOKENIZER, analyzer());
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_THREADS));
    let mut writer: IndexWriter = index.writer_with_num_threads(threads, MEMORY * threads).map_err(&engine)?;
    // All segments are merged at the end. A merge in the background would remove some meanwhile.
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let render = |chosen: &suidao_store::corpus::SelectedDocument| {
        let document = document(extractor, chosen, Parts { text: true, ..Parts::default() })?;
        let representative = chosen.entry.duplicate_of.unwrap_or(chosen.number as u32);
        Ok(made(&fields, &document, chosen.number, representative, chosen.entry.at))
    };
    let streamed = stream(store, catalogue, selection, render, |document| {
        writer.add_document(document).map_err(into_write)?;
        progress();
        Ok(())
    });
    let streamed = streamed.map_err(IndexError::write(staging))?;
    let meta = store.meta();
    let origin = IndexSource {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        topic: meta.topic.clone(),
        strategy: meta.strategy.clone(),
        created: meta.created,
        batches: catalogue.batches,
        fetched: catalogue.entries.len() as u64,
        pages: streamed.pages,
        whole: catalogue.entries.iter().filter(|entry| entry.is_whole()).count() as u64 == streamed.pages,
        rules: extractor.map(|extractor| extractor.rules().to_owned()),
    };
    let payload = serde_json::to_string(&origin).map_err(|error| IndexError::write(staging)(error.into()))?;
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
    Ok(streamed)
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

fn made(fields: &Fields, document: &CorpusDocument, number: usize, representative: u32, at: Millis) -> TantivyDocument {
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
    made.add_date(fields.fetched, DateTime::from_timestamp_millis(i64::try_from(at.0).unwrap_or(0).min(LATEST)));
    made.add_f64(fields.relevance, f64::from(document.relevance.get()));
    made.add_bool(fields.relevant, document.relevant);
    made.add_u64(fields.chars, u64::from(document.chars));
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
    if let Some(found_on) = &document.found_on {
        made.add_text(fields.found_on, found_on.as_str());
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
