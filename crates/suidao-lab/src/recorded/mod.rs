//! Recorded webs: how one is named and opened; what was read of it once ([`Memo`]); which of its pages are relevant
//! by somebody else's word ([`Truth`]).

mod folder;
mod generated;
mod memo;
mod name;
mod tally;
mod truth;
mod warc;

use std::io;
use std::path::PathBuf;

pub use folder::Folder;
pub use generated::learn;
pub use memo::Memo;
pub use name::{OpenedWeb, WebName};
pub use tally::{Cutoff, GroundTruth, RecordedTally, RelevanceJudge};
pub use truth::LabelledUrls;
pub use warc::Warc;

/// Longest body that is read, in bytes: what a live crawl takes unless told otherwise (`fetch.max_body`).
const BODY_LIMIT: usize = 10 << 20;

#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    #[error("cannot read {}: {source}; check the path", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A line that is not what it should be.
    #[error("{}, line {line}: {what}", path.display())]
    Line {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it, or what should stand there.
        what: String,
    },
    /// What lies there, or is meant, is not what it should be; the sentence names it and says what to give.
    #[error("{0}")]
    Unusable(String),
    /// No lexicon could be learnt of a generated world.
    #[error("cannot build a lexicon from this generated web: {0}")]
    Learn(#[from] suidao_page::topic::LearnError),
    #[error(transparent)]
    Store(#[from] suidao_store::store::StoreError),
}
