//! Where the batches of an import go: those that the log has are compared with it, the others are written.

use super::ImportError;
use crate::live::{Job, write_inputs};
use suidao_page::model::Batch;
use suidao_store::store::harvest::HarvestCurve;
use suidao_store::store::{Store, StoreError, WarcArchive, WarcEntry, Work, Writer};

pub(super) struct ImportLog<'a> {
    job: &'a Job,
    state: LogState,
    harvest: HarvestCurve,
}

enum LogState {
    /// The number of batches that were compared.
    Comparing(Box<(Store, WarcArchive)>, u64),
    Writing(Writer),
    /// Between two states, or after an error.
    Closed,
}

impl<'a> ImportLog<'a> {
    pub fn new(job: &'a Job, store: Store, archive: WarcArchive) -> Self {
        Self { job, state: LogState::Comparing(Box::new((store, archive)), 0), harvest: HarvestCurve::default() }
    }

    /// Whether the next batch is a new one. The first time the writer starts.
    pub fn is_writing(&mut self) -> Result<bool, ImportError> {
        let LogState::Comparing(open, compared) = &self.state else { return Ok(true) };
        if *compared < open.0.len() {
            return Ok(false);
        }
        write_inputs(self.job)?;
        if let LogState::Comparing(open, _) = std::mem::replace(&mut self.state, LogState::Closed) {
            let (store, archive) = *open;
            self.state = LogState::Writing(Writer::spawn(store, archive, drop)?);
        }
        Ok(true)
    }

    /// Compares or writes the next batch. Returns false if writing has failed: [`ImportLog::close`] has the reason.
    pub fn add(&mut self, batch: Batch, response: Option<WarcEntry>) -> Result<bool, ImportError> {
        self.harvest.observe(&batch);
        self.is_writing()?;
        match &mut self.state {
            LogState::Comparing(open, compared) => {
                if open.0.batch(*compared)?.batch != batch {
                    let path = self.job.directory.root().to_owned();
                    return Err(ImportError::OtherImport { path, step: *compared });
                }
                *compared += 1;
                Ok(true)
            }
            LogState::Writing(writer) => Ok(writer.submit(Work { batch, response }).is_ok()),
            LogState::Closed => Ok(false),
        }
    }

    /// Whether the log continues after the import.
    pub fn is_continued(&self) -> bool {
        matches!(&self.state, LogState::Comparing(open, compared) if *compared < open.0.len())
    }

    /// Waits until all is on disk, and returns the harvest curve and the store.
    pub fn close(self, store: &mut Option<Store>) -> Result<HarvestCurve, StoreError> {
        *store = match self.state {
            LogState::Comparing(open, _) => Some(open.0),
            LogState::Writing(writer) => Some(writer.finish()?),
            LogState::Closed => None,
        };
        Ok(self.harvest)
    }
}
