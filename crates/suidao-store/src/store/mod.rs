//! What a crawl leaves on disk: the log of its events, the archive of its pages, and what is made of the two.
//!
//! Whatever lies behind the last acknowledged batch is cut off when the crawl goes on. The store decides nothing about
//! the crawl.

pub mod archive;
pub mod checkpoint;
mod chunked;
pub mod directory;
mod exchange;
pub mod harvest;
mod indexed;
mod kept;
pub mod log;
mod log_copy;
pub mod own;
mod part;
pub mod refreshes;
mod responses;
pub mod skipped;
mod survey;
pub mod verify;
mod warc;
mod writer;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

pub use archive::{Archive, ArchiveReader, ArchiveSettings, Location};
pub use checkpoint::Checkpoint;
pub use directory::CrawlDirectory;
pub use exchange::request;
pub use indexed::Indexed;
pub use kept::Kept;
pub use log::{Meta, Reader, Record, Store};
pub use part::PartDirectory;
pub use responses::Responses;
pub use warc::{date, info as warcinfo};
pub use writer::{Notice, Stopped, Work, Writer};

/// What can go wrong with a crawl directory. Every message names the file or directory and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("{}: cannot {doing}: {source}; {}", path.display(), advice(source))]
    Io {
        /// File or directory.
        path: PathBuf,
        /// What was tried, as an infinitive.
        doing: &'static str,
        /// The system's word.
        source: io::Error,
    },
    /// Another process works in the directory.
    #[error("{}: another crawl runs in this directory; wait for it or stop it, or use another output directory", .0.display())]
    InUse(PathBuf),
    /// There is no crawl in the directory.
    #[error("{}: holds no crawl ({} is missing); give the output directory of `suidao crawl`", .dir.display(), .missing.display())]
    NoCrawl {
        /// The directory.
        dir: PathBuf,
        /// The file that would be there.
        missing: PathBuf,
    },
    /// The directory is not empty, and what is in it belongs to no crawl that could go on.
    #[error("{}: holds files that belong to no crawl which could go on; use another output directory, or move them away", .0.display())]
    Strangers(PathBuf),
    /// The directory was written by an older or a newer suidao.
    #[error("{}: written in format {found} by suidao {version}, and this suidao reads format {known} alone; use that suidao, or crawl anew into another output directory", path.display())]
    OtherFormat {
        /// The file that says so.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The one that this program reads.
        known: u32,
        /// The program that wrote it.
        version: String,
    },
    /// The directory holds another crawl.
    #[error("{}: the crawl in this directory has {what} {found}, not {wanted}; use another output directory, or the same {what} again", path.display())]
    OtherCrawl {
        /// The file that says so.
        path: PathBuf,
        /// What differs: topic, lexicon, strategy.
        what: &'static str,
        /// What the directory was made with.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// Something in it is not what was written.
    #[error("{}: damaged: {what}; `suidao check crawl --repair` cuts log and archive behind what is whole; or restore the directory from a copy, or crawl again into another output directory", path.display())]
    Damaged {
        /// File or directory.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file that is no WARC file, or breaks off.
    #[error("{}: not a readable WARC file: {what} at byte {at} of its unpacked content; leave it out or get it again", path.display())]
    Warc {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// Where.
        at: u64,
    },
    /// Something in a crawl directory that no crawl has put there, and that could lead anywhere.
    #[error("{} is {what}. In a crawl directory suidao opens regular files and directories only, because others may have made it; check where it leads and remove it", path.display())]
    NotOwn {
        /// Where it is.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A file that is larger than any of its kind.
    #[error("{} is larger than {most} bytes, the limit for this file; restore it from a copy or remove it", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most.
        most: u64,
    },
    /// The thread that writes is gone.
    #[error("{}: the writing thread broke down ({what}); run the same command again to go on from the last page kept", path.display())]
    WriterLost {
        /// The crawl directory.
        path: PathBuf,
        /// Its last words.
        what: String,
    },
}

impl StoreError {
    /// Makes an error of the system one of the store: of which file, and what was tried (an infinitive).
    pub fn io(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, doing, source }
    }

    fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }

    /// Whether the machine is at fault and not what the user gave: the crawl stops (exit code 1) and resumes later.
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Io { source, .. } => !is_misdirected(source),
            other => matches!(other, Self::WriterLost { .. }),
        }
    }
}

/// Whether the path was wrong, and not the disk.
fn is_misdirected(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::AlreadyExists
            | ErrorKind::DirectoryNotEmpty
            | ErrorKind::InvalidFilename
    )
}

/// What a person can do about an error of the system.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space and run the same command again",
        ErrorKind::FileTooLarge => "raise the limit on file sizes (ulimit -f) and run the same command again",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "make it writable, or use another directory",
        ErrorKind::NotFound => "check the path",
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "a file is in the way: use another path",
        ErrorKind::IsADirectory => "give the path of a file",
        ErrorKind::DirectoryNotEmpty => "it is not empty: use another path, or remove what is there",
        ErrorKind::InvalidFilename => "use another name",
        _ => "put that right and run the same command again",
    }
}

#[cfg(test)]
mod crash;
#[cfg(test)]
mod fixture;
