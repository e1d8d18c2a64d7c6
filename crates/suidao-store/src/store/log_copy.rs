//! The log of a crawl directory that cannot be written, as a copy: the engine writes when it opens.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::{CrawlDirectory, StoreError, own};

/// The copy, removed when it is dropped, and the lock that keeps a crawl from writing meanwhile where there is one to hold.
#[derive(Debug)]
pub(super) struct LogCopy {
    /// Where the engine finds it.
    pub place: tempfile::TempDir,
    _lock: Option<File>,
}

impl LogCopy {
    /// Copies the log.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while a crawl runs there, [`StoreError::Io`].
    pub fn of(dir: &CrawlDirectory) -> Result<Self, StoreError> {
        let lock = dir.state().join("lock");
        let lock = match own::open(&lock, File::options().read(true)) {
            Ok(file) => match file.try_lock_shared() {
                Ok(()) => Some(file),
                Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(dir.root().to_owned())),
                // A file system without locks: nobody who writes there holds one.
                Err(TryLockError::Error(_)) => None,
            },
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let place = tempfile::tempdir().map_err(no_copy(&std::env::temp_dir()))?;
        copy_directory(&dir.log(), place.path())?;
        Ok(Self { place, _lock: lock })
    }
}

/// Whether the system refuses to write because of where the file lies, and not for want of room.
pub fn is_read_only(error: &StoreError) -> bool {
    let StoreError::Io { source, .. } = error else { return false };
    matches!(source.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
}

/// Copies a directory and all below it.
///
/// # Errors
/// [`StoreError::Io`]; what stands in the copy's way names the copy, and how to have it elsewhere.
pub fn copy_directory(from: &Path, to: &Path) -> Result<(), StoreError> {
    fs::create_dir_all(to).map_err(no_copy(to))?;
    for entry in fs::read_dir(from).map_err(StoreError::io(from, "list the directory"))? {
        let path = entry.map_err(StoreError::io(from, "list the directory"))?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_directory(&path, &to)?;
        } else {
            let mut file = File::open(&path).map_err(StoreError::io(&path, "open it"))?;
            File::create(&to).and_then(|mut to| io::copy(&mut file, &mut to)).map_err(no_copy(&to))?;
        }
    }
    Ok(())
}

/// An error of the machine: of the copy, and not of the log.
pub fn no_copy(dir: &Path) -> impl FnOnce(io::Error) -> StoreError + use<> {
    let dir = dir.to_owned();
    move |error| StoreError::Io {
        path: dir,
        doing: "look at a copy of the log there",
        source: io::Error::other(format!("{error}; set TMPDIR to a directory that has room for it")),
    }
}
