//! Judges the pages of a crawl again, and writes all that follows from their scores.

use serde::Serialize;

use suidao_page::model::Relevance;
use suidao_store::corpus::{self, Catalogue, SecondOpinions};
use suidao_store::store::harvest::HarvestCurve;
use suidao_store::store::{Store, StoreError};

use super::{Job, crawl_settings, now, write_inputs};

/// The result of [`rescore`]. Of a page fetched several times the last version counts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RescoreReport {
    pub pages: u64,
    /// Relevant documents with the new scores.
    pub relevant: u64,
    /// Relevant documents now, and not before.
    pub gained: u64,
    /// Relevant documents before, and not now.
    pub lost: u64,
    /// Their content is not in the archive, so they keep their scores.
    pub not_stored: u64,
    pub hosts_relevant: u64,
    pub page_threshold: Relevance,
}

/// Judges all stored pages of the job's directory by its lexicon and page threshold. Log, `harvest.csv`, and the
/// lexicon and configuration for the next run follow; `opinions` are asked about pages near the threshold; `watch` gets the number of batches read so far.
///
/// # Errors
/// [`StoreError`]: the crawl keeps its scores, unless only `harvest.csv` or the inputs could not be written.
pub fn rescore(
    job: &Job,
    opinions: Option<&mut dyn SecondOpinions>,
    watch: impl FnMut(u64),
) -> Result<RescoreReport, StoreError> {
    job.directory.check_pages()?;
    let page_threshold = crawl_settings(&job.config, &job.topic).page_threshold;
    let mut store = Store::open_existing(&job.directory, "suidao rescore")?;
    let before = relevant(&Catalogue::read(&store)?);
    let not_stored = corpus::rescore(&mut store, &job.topic, page_threshold, now(), opinions, watch)?;
    // A forum crawl has none.
    if job.directory.topic_toml().exists() {
        write_inputs(job)?;
    }
    let mut harvest = HarvestCurve::default();
    for record in store.batches() {
        harvest.observe(&record?.batch);
    }
    harvest.write(&job.directory)?;
    let catalogue = Catalogue::read(&store)?;
    let after = relevant(&catalogue);
    let mut hosts: Vec<u32> =
        catalogue.entries.iter().filter(|entry| entry.is_relevant()).map(|entry| entry.host).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let number = |pages: &[bool]| pages.iter().filter(|relevant| **relevant).count() as u64;
    let only = |these: &[bool], those: &[bool]| {
        these.iter().zip(those).filter(|(these, those)| **these && !**those).count() as u64
    };
    Ok(RescoreReport {
        pages: after.len() as u64,
        relevant: number(&after),
        gained: only(&after, &before),
        lost: only(&before, &after),
        not_stored,
        hosts_relevant: hosts.len() as u64,
        page_threshold,
    })
}

fn relevant(catalogue: &Catalogue) -> Vec<bool> {
    catalogue.entries.iter().map(suidao_store::corpus::CatalogueEntry::is_relevant).collect()
}
