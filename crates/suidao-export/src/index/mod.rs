//! The full-text index of a crawl. It has every archived page; a query selects. It records the number of batches it was
//! built from. An update adds new and changed pages to a copy, which replaces the previous index when complete.

mod build;
mod clauses;
mod collect;
mod extracted;
mod fingerprints;
mod query;
mod read_only;
mod schema;
mod search;
mod snippet;
mod source;
mod spelling;
mod terms;
pub mod tokenizer;

use std::path::{Path, PathBuf};

pub use build::{IndexBuild, build};
pub use clauses::Loosened;
pub use extracted::ValueCondition;
pub use query::{Clause, Query, QueryItem, TextField};
pub use search::{ExplainedStep, Facets, Hit, Index, Matched, Request, ScorePart, SearchResults, Stored};
pub use snippet::Marked;
pub use source::IndexSource;

use suidao_store::store::StoreError;
use suidao_store::store::directory::WriteError;

/// An index error. Every message names the directory and what to do.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("{}: contains no index; create one with `suidao export DIR --format index -o {}`", .0.display(), .0.display())]
    Missing(PathBuf),
    #[error("{}: an incompatible index ({what}); delete it to rebuild it", path.display())]
    Incompatible { path: PathBuf, what: String },
    /// Something other than an index is at its place.
    #[error("{}: is in the way and is not an index; choose another path, or move it away", .0.display())]
    InTheWay(PathBuf),
    #[error("{}: cannot read or write the index: {source}; delete it to rebuild it", path.display())]
    Engine { path: PathBuf, source: tantivy::TantivyError },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IndexError {
    fn engine(path: &Path) -> impl Fn(tantivy::TantivyError) -> Self + use<> {
        let path = path.to_owned();
        move |source| match source {
            tantivy::TantivyError::IoError(error) => {
                let source = std::io::Error::new(error.kind(), error.to_string());
                StoreError::Io { path: path.clone(), doing: "write the index", source }.into()
            }
            source => Self::Engine { path: path.clone(), source },
        }
    }

    fn io(path: &Path, doing: &'static str) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| StoreError::Io { path, doing, source }.into()
    }

    /// The same error with the path that users know, if it happened at a temporary one.
    fn of(self, staging: &Path, known: &Path) -> Self {
        match self {
            Self::Engine { source, .. } => Self::Engine { path: known.to_owned(), source },
            Self::Store(StoreError::Io { path, doing, source }) if path == staging => {
                StoreError::Io { path: known.to_owned(), doing, source }.into()
            }
            other => other,
        }
    }

    fn write(path: &Path) -> impl FnOnce(WriteError) -> Self + use<> {
        let path = path.to_owned();
        move |error| error.at(&path).into()
    }
}

#[cfg(test)]
mod tests;
