//! The corpus in the formats of other programs, one file per format. A file gets its final name only when it is complete.

mod card;
mod columns;
pub mod engines;
pub mod export_state;
pub mod graph;
pub mod jsonl;
pub mod links;
mod output;
pub mod parquet;
pub mod text;
pub mod warc;

pub use output::{Output, RowWriter};

use suidao_store::corpus::{Catalogue, SelectedDocument, Selection, Streamed, stream};
use suidao_store::store::Store;
use suidao_store::store::directory::WriteError;

pub struct Export<'a> {
    pub store: &'a Store,
    pub catalogue: &'a Catalogue,
    pub selection: &'a Selection,
    pub progress: &'a (dyn Fn() + Sync),
}

impl Export<'_> {
    /// Maps each selected page on all cores, and passes the results on in order of fetching.
    pub fn each<T: Send>(
        &self,
        render: impl Fn(&SelectedDocument) -> Result<T, WriteError> + Sync,
        mut write: impl FnMut(T) -> Result<(), WriteError> + Send,
    ) -> Result<Streamed, WriteError> {
        stream(self.store, self.catalogue, self.selection, render, |made| {
            write(made)?;
            (self.progress)();
            Ok(())
        })
    }
}
