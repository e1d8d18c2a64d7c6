//! Where the batches of an import go: those that the log has are compared with it, the others are written.

use super::ImportError;
use crate::live::{Job, write_inputs};
use suidao_page::model::Batch;
use suidao_store::store::harvest::HarvestCurve;
use suidao_store::store::{Imports, Store, StoreError, WarcArchive, WarcEntry, Work, Writer};

pub(super) struct ImportLog<'a> {
    job: &'a Job,
    imports: Imports,
    state: LogState,
    harvest: HarvestCurve,
}

enum LogState {
    /// The number of the next batch to compare.
    Comparing(Box<(Store, WarcArchive)>, u64),
    Writing(Writer),
    /// Between two states, or after an error.
    Closed,
}

impl<'a> ImportLog<'a> {
    /// The last of `imports` is this one. `harvest`: of the batches before it.
    pub fn new(job: &'a Job, imports: Imports, store: Store, archive: WarcArchive, harvest: HarvestCurve) -> Self {
        let first = imports.last().map_or(0, |import| import.first);
        Self { job, imports, state: LogState::Comparing(Box::new((store, archive)), first), harvest }
    }

    /// Whether the next batch is a new one. The first time the writer starts.
    pub fn is_writing(&mut self) -> Result<bool, ImportError> {
        let LogState::Comparing(open, compared) = &self.state else { return Ok(true) };
        if *compared < open.0.len() {
            return Ok(false);
        }
        write_inputs(self.job)?;
        self.imports.write(&self.job.directory)?;
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

    /// Waits until all is on disk, and returns the harvest curve, the store and the number of batches up to the end of
    /// the import.
    pub fn close(self) -> Result<(HarvestCurve, Option<Store>, u64), StoreError> {
        let (store, end) = match self.state {
            LogState::Comparing(open, compared) => (Some(open.0), compared),
            LogState::Writing(writer) => {
                let store = writer.finish()?;
                let end = store.len();
                (Some(store), end)
            }
            LogState::Closed => (None, 0),
        };
        Ok((self.harvest, store, end))
    }
}
