//! Pages that `suidao rescore` judged again. Their scores are events of the log, later than the pages; every reader of
//! the log gets each page with its newest score, so only this file knows of them.

use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::{Record, Store};
use suidao_page::model::{Event, Millis, PageScore};

/// Where the newest scores are in the log. Part of meta.json, which is written last: an unfinished run has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rescoring {
    pub at: Millis,
    /// Number of the first batch of scores.
    pub first: u64,
    /// Of each batch of scores: the number of the batch with its first page.
    pub pages: Vec<u64>,
}

impl Rescoring {
    /// Whether these batches contain all its scores.
    pub fn is_in(&self, batches: u64) -> bool {
        self.first + self.pages.len() as u64 <= batches
    }

    /// The batch of scores that may contain the score of the page in batch `number`.
    fn batch_of(&self, number: u64) -> Option<u64> {
        let later = self.pages.partition_point(|first| *first <= number) as u64;
        (number < self.first && later > 0).then(|| self.first + later - 1)
    }
}

/// The newest scores. Whoever reads pages in the order of batches decodes each batch of scores once.
pub(super) struct NewestScores<'a> {
    store: &'a Store,
    read: Option<(u64, Vec<PageScore>)>,
}

impl<'a> NewestScores<'a> {
    pub fn of(store: &'a Store) -> Self {
        Self { store, read: None }
    }

    /// Gives the pages of batch `number` their newest scores.
    pub fn apply(&mut self, number: u64, mut record: Record) -> Result<Record, StoreError> {
        let Some(batch) = self.store.rescoring().and_then(|rescoring| rescoring.batch_of(number)) else {
            return Ok(record);
        };
        for event in &mut record.batch.events {
            let Event::PageFetched(page) = event else { continue };
            if self.read.as_ref().is_none_or(|(read, _)| *read != batch) {
                self.read = Some((batch, self.scores(batch)?));
            }
            let Some((_, scores)) = &mut self.read else { continue };
            if let Ok(at) = scores.binary_search_by_key(&number, |score| score.batch) {
                page.rescore(scores[at].clone());
            }
        }
        Ok(record)
    }

    fn scores(&self, batch: u64) -> Result<Vec<PageScore>, StoreError> {
        let events = self.store.stored_batch(batch)?.batch.events;
        let scores = |event| if let Event::Rescored { pages } = event { pages } else { Vec::new() };
        Ok(events.into_iter().flat_map(scores).collect())
    }
}
