//! Recorded webs: how one is named, opened and told from others; what was read of it once ([`Cache`]); which of its
//! pages are relevant by somebody else's word ([`Truth`]).

mod cache;
mod folder;
mod generated;
mod name;
mod tally;
mod truth;
mod warc;

use std::io;
use std::path::PathBuf;

pub use cache::{Cache, Cached};
pub use folder::Folder;
pub use generated::learn;
pub use name::{Opened, WebName};
pub use tally::{Judge, Mark, Tally, Witness};
pub use truth::Truth;
pub use warc::Warc;

/// Longest body that is read, in bytes: what a live crawl takes unless told otherwise (`fetch.max_body`).
const BODY_LIMIT: usize = 10 << 20;

/// Why a recorded web cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// A file or directory cannot be read.
    #[error("cannot read {}: {source}; check the path", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line that is not what it should be.
    #[error("{}, line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it, or what should stand there.
        what: String,
    },
    /// A folder without directories.
    #[error("{}: holds no host; give a folder with a directory for each host, as in hosts:DIR", .0.display())]
    NoHosts(PathBuf),
    /// A directory without WARC files.
    #[error("{}: holds no WARC file (*.warc, *.warc.gz); give one, as in warc:FILE", .0.display())]
    NoWarc(PathBuf),
    /// A list of relevant pages without a page.
    #[error("{}: names no page on a host that counts; write one URL a line", .0.display())]
    NoTruth(PathBuf),
    /// A web whose kind cannot be told.
    #[error("{0}: no web that is known; write hosts:DIR, warc:FILE, crawl:DIR or world:FILE.toml")]
    Unknown(String),
    /// A spec of a generated world that does not fit.
    #[error("the world {from} does not fit: {reason}")]
    World {
        /// The file.
        from: String,
        /// What does not fit, with its line where there is one.
        reason: String,
    },
    /// No lexicon could be learnt of a generated world.
    #[error("no lexicon can be learnt of this world: {0}")]
    Learn(#[from] crate::topic::LearnError),
    /// A crawl directory or WARC file.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// The cache.
    #[error("cannot keep evidence in {}: {source}; give another directory with --cache, or --no-cache", path.display())]
    Cache {
        /// Directory or file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
