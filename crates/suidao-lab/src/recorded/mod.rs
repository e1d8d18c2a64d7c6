//! Recorded webs: their names, a cache of read pages ([`Memo`]), and lists of relevant pages ([`LabelledUrls`]).

mod folder;
mod generated;
mod memo;
mod name;
mod queries;
mod tally;
mod truth;
mod warc;

use std::io;
use std::path::PathBuf;

pub use folder::Folder;
pub use generated::learn;
pub use memo::Memo;
pub use name::{OpenedWeb, WebName};
pub use queries::Queries;
pub use tally::{Cutoff, GroundTruth, RecordedTally, RelevanceJudge};
pub use truth::LabelledUrls;
pub use warc::Warc;

/// Maximum bytes of a body: the default of a live crawl (`fetch.max_body`).
const BODY_LIMIT: usize = 10 << 20;

#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    #[error("cannot read {}: {source}; check the path", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// An invalid line.
    #[error("{}, line {line}: {what}", path.display())]
    Line {
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong or expected.
        what: String,
    },
    /// A path that is not what it should be; the message names it and what to give.
    #[error("{0}")]
    Unusable(String),
    #[error("cannot build a lexicon from this generated web: {0}")]
    Learn(#[from] suidao_page::topic::LearnError),
    #[error(transparent)]
    Store(#[from] suidao_store::store::StoreError),
}
