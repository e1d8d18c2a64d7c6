//! A copy of the log of a read-only crawl directory, because the engine writes when it opens.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::directory::Lock;
use super::{CrawlDirectory, StoreError, plain_file};

/// The copy, deleted on drop, and the lock that keeps crawls from writing, if the file system has locks.
#[derive(Debug)]
pub(super) struct LogCopy {
    place: tempfile::TempDir,
    _lock: Option<Lock>,
}

impl LogCopy {
    /// Copies the log and locks out crawls.
    pub fn of(dir: &CrawlDirectory) -> Result<Self, StoreError> {
        let lock = dir.state().join("lock");
        let lock = match plain_file::open(&lock, File::options().read(true)) {
            Ok(file) => match file.try_lock_shared() {
                Ok(()) => Some(Lock(file)),
                Err(TryLockError::WouldBlock) => return Err(StoreError::InUse(dir.root().to_owned())),
                // A file system without locks: no writer holds one either.
                Err(TryLockError::Error(_)) => None,
            },
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Self::make(dir, lock)
    }

    /// Copies the log under the given lock.
    pub fn make(dir: &CrawlDirectory, lock: Option<Lock>) -> Result<Self, StoreError> {
        let place = tempfile::tempdir().map_err(no_copy(&std::env::temp_dir()))?;
        if dir.log().is_dir() {
            copy_directory(&dir.log(), place.path())?;
        }
        Ok(Self { place, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

/// Runs `ask` on the engine; returns a description if damage makes it fail. Some damage makes the engine panic.
///
/// # Errors
/// [`StoreError::Io`] if the system failed, rather than the bytes of the copy.
pub(super) fn attempt<T>(ask: impl FnOnce() -> Result<T, StoreError>) -> Result<Result<T, String>, StoreError> {
    /// Free space required before an error counts as damage: more than the engine writes at a time.
    const ROOM: usize = 4 << 20;
    let is_the_systems = |error: &io::Error| {
        error.raw_os_error().is_some() && !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput)
    };
    let what = match catch_unwind(AssertUnwindSafe(ask)) {
        Ok(Ok(value)) => return Ok(Ok(value)),
        Ok(Err(StoreError::Damaged { what, .. })) => what,
        Ok(Err(StoreError::Io { source, .. })) if !is_the_systems(&source) => source.to_string(),
        Ok(Err(StoreError::Io { source, .. })) => return Err(no_copy(&std::env::temp_dir())(source)),
        Ok(Err(error)) => return Err(error),
        Err(_) => "the database engine fails on it".to_owned(),
    };
    // The engine does not always report that it could not write.
    let room = tempfile::NamedTempFile::new().and_then(|mut file| {
        file.write_all(&vec![1; ROOM])?;
        file.as_file().sync_data()
    });
    room.map_err(no_copy(&std::env::temp_dir()))?;
    Ok(Err(what))
}

/// Whether writing is impossible because of the file's location, not for lack of space.
pub fn is_read_only(error: &StoreError) -> bool {
    let StoreError::Io { source, .. } = error else { return false };
    matches!(source.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
}

/// Copies a directory recursively; errors name the copy and suggest another place for it.
fn copy_directory(from: &Path, to: &Path) -> Result<(), StoreError> {
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

/// An error of the copy, not of the log.
fn no_copy(dir: &Path) -> impl FnOnce(io::Error) -> StoreError + use<> {
    let dir = dir.to_owned();
    move |error| StoreError::Io {
        path: dir,
        doing: "read a copy of the log there",
        source: io::Error::other(format!("{error}; set TMPDIR to a directory with enough free space")),
    }
}
