//! What may go wrong with a crawl directory, and what a person can do about it.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// An error of a crawl directory. Every message names the file or directory and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{}: {source}; {}", attempt(path, doing), advice(source))]
    Io { path: PathBuf, doing: &'static str, source: io::Error },
    /// Another process writes there; `by` is the content of its lock.
    #[error("{} is in use: {} writes to it; wait for it, stop it, or use another directory", root.display(), writer(by.as_deref()))]
    InUse { root: PathBuf, by: Option<String> },
    #[error("{}: contains no crawl ({} is missing); give the output directory of `suidao crawl`, not of `suidao replay`", .dir.display(), .missing.display())]
    NoCrawl { dir: PathBuf, missing: PathBuf },
    /// There is an archive, but no state.
    #[error("{}: {} is missing, without which its pages are not a crawl; restore it from a copy, or make a new crawl of the pages: `suidao import {}/* -m LEXICON -o NEW_DIRECTORY`", .dir.display(), .missing.display(), .dir.join("pages").display())]
    NoState { dir: PathBuf, missing: PathBuf },
    /// The directory is not empty and does not contain a resumable crawl.
    #[error("{}: is not empty and does not contain a resumable crawl; use another output directory, or move the files away", .0.display())]
    UnknownFiles(PathBuf),
    /// The directory was written by another version of suidao.
    #[error("{}: has format {found}, written by suidao {version}, but this suidao reads only format {known}; use that version, or start a new crawl in another output directory", path.display())]
    OtherFormat { path: PathBuf, found: u32, known: u32, version: String },
    #[error("{}: the crawl in this directory has {what} {found}, not {wanted}; use the same {what}{}, or another output directory", path.display(), rescore(what))]
    OtherCrawl { path: PathBuf, what: &'static str, found: String, wanted: String },
    #[error("{}: damaged: {what}; run `suidao check crawl DIRECTORY --repair` to restore the log from its copy, or else to truncate log and archive to the intact part; or restore the directory from a copy, or crawl again into another output directory", path.display())]
    Damaged { path: PathBuf, what: String },
    /// A file that no repair restores.
    #[error("{}: damaged: {what}; restore this file from a copy{}", path.display(), if *can_be_deleted { ", or delete it" } else { "" })]
    DamagedFile { path: PathBuf, what: String, can_be_deleted: bool },
    /// A file that is not a WARC file, or in which nothing can be read; `what` includes what to do.
    #[error("{}: not a readable WARC file: {what}", path.display())]
    Warc { path: PathBuf, what: String },
    /// Something in a crawl directory that no crawl creates, and that could lead outside.
    #[error("{} is {what}. In a crawl directory suidao opens only regular files and directories, because others may have created it; check where it leads and remove it", path.display())]
    NotPlain { path: PathBuf, what: &'static str },
    /// A file larger than any of its kind.
    #[error("{} is larger than {limit} bytes, the limit for this file; restore it from a copy or remove it", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{}: the writer thread failed ({what}); rerun the same command to resume from the last saved page", path.display())]
    WriterLost { path: PathBuf, what: String },
}

impl StoreError {
    /// Converts a system error: the file, and what was tried (an infinitive).
    pub fn io(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, doing, source }
    }

    /// What is wrong with a file.
    pub fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }

    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == ErrorKind::NotFound)
    }

    /// Whether the machine failed, not the user's input: the crawl stops (exit code 1) and can be resumed.
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Io { source, .. } => !is_misdirected(source),
            other => matches!(other, Self::WriterLost { .. }),
        }
    }
}

/// Whether the path was wrong, not the disk.
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

/// What a lock file states about the process that holds it.
fn writer(by: Option<&str>) -> &str {
    by.map(str::trim).filter(|by| !by.is_empty() && by.len() < 200).unwrap_or("another suidao command")
}

/// How a crawl gets another lexicon or threshold.
fn rescore(what: &str) -> &'static str {
    match what {
        "lexicon" => ", judge its pages by the new one first (`suidao rescore DIR -m LEXICON`)",
        "crawl.page_threshold" => ", judge its pages by the new one first (`suidao rescore DIR --page-threshold X`)",
        _ => "",
    }
}

/// What failed: `cannot read FILE`, or `FILE: cannot read a page`.
fn attempt(path: &Path, doing: &str) -> String {
    let path = path.display();
    doing.strip_suffix(" it").map_or_else(|| format!("{path}: cannot {doing}"), |verb| format!("cannot {verb} {path}"))
}

/// What a person can do about a system error.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space and rerun the same command",
        ErrorKind::FileTooLarge => "raise the file size limit (ulimit -f) and rerun the same command",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "make it writable, or use another directory",
        ErrorKind::NotFound => "check the path",
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "a file is in the way; use another path",
        ErrorKind::IsADirectory => "give the path of a file",
        ErrorKind::DirectoryNotEmpty => "it is not empty; use another path, or delete its content",
        ErrorKind::InvalidFilename => "use another name",
        _ => "fix the problem and rerun the same command",
    }
}
