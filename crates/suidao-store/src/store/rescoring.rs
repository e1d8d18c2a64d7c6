//! Pages that `suidao rescore` judged again. Their scores are events of the log, later than the pages; every reader of
//! the log gets each page with its newest score, so only this file knows of them.

use super::error::StoreError;
use super::meta::Rescoring;
use super::record::Record;
use suidao_page::model::{Event, PageScore};

/// The newest scores. Whoever reads pages in the order of batches decodes each batch of scores once.
pub(super) struct NewestScores<'a> {
    rescoring: Option<&'a Rescoring>,
    read: Option<(u64, Vec<PageScore>)>,
}

impl<'a> NewestScores<'a> {
    pub fn of(rescoring: Option<&'a Rescoring>) -> Self {
        Self { rescoring, read: None }
    }

    /// Gives the pages of batch `number` their newest scores. `stored` reads a batch as it was written.
    pub fn apply(
        &mut self,
        number: u64,
        mut record: Record,
        stored: impl Fn(u64) -> Result<Record, StoreError>,
    ) -> Result<Record, StoreError> {
        let Some(batch) = self.rescoring.and_then(|rescoring| rescoring.batch_of(number)) else {
            return Ok(record);
        };
        for event in &mut record.batch.events {
            let Event::PageFetched(page) = event else { continue };
            if self.read.as_ref().is_none_or(|(read, _)| *read != batch) {
                self.read = Some((batch, scores_in(stored(batch)?)));
            }
            let Some((_, scores)) = &mut self.read else { continue };
            if let Ok(at) = scores.binary_search_by_key(&number, |score| score.batch) {
                page.rescore(scores[at].clone());
            }
        }
        Ok(record)
    }
}

fn scores_in(record: Record) -> Vec<PageScore> {
    let scores = |event| if let Event::Rescored { pages } = event { pages } else { Vec::new() };
    record.batch.events.into_iter().flat_map(scores).collect()
}
