//! The log as a copy that may be opened: the engine writes when it opens, and takes damage for the end of its file. Apart
//! because here it is told whether the log is damaged or the machine is at fault: by a full disk no log is broken, and none
//! may be made anew for it.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::model::Millis;
use crate::store::{CrawlDirectory, Meta, Store, StoreError};

/// What has to fit beside a copy that the engine calls damaged, before that is believed: more than it writes at a time.
const ROOM: usize = 4 << 20;

/// The copy of a log.
pub(super) struct Copy {
    pub store: Store,
    dir: tempfile::TempDir,
}

/// Opens a copy of the log; what is wrong with the log if it does not open.
///
/// # Errors
/// [`StoreError::Io`] if the log cannot be read, or no copy be made.
pub(super) fn open(dir: &CrawlDirectory, meta: Option<&Meta>) -> Result<Result<Copy, String>, StoreError> {
    if !dir.log().is_dir() {
        return Ok(Err("it is missing".to_owned()));
    }
    let temporary = tempfile::tempdir().map_err(no_copy(&std::env::temp_dir()))?;
    let to = CrawlDirectory::new(temporary.path());
    copy_directory(&dir.log(), &to.log())?;
    let unknown = Meta::new("", "", "", Millis(0));
    let described = serde_json::to_vec(meta.unwrap_or(&unknown)).map_err(io::Error::from);
    let written = described.and_then(|text| fs::write(to.meta_json(), text));
    written.and_then(|()| fs::write(to.acknowledged(), "0\n")).map_err(no_copy(temporary.path()))?;
    let opened = attempt(temporary.path(), || Store::open(&to))?;
    Ok(opened.map(|store| Copy { store, dir: temporary }))
}

impl Copy {
    /// Asks the engine for something; the words on damage if that is why it fails.
    pub fn attempt<T>(&self, ask: impl FnOnce() -> Result<T, StoreError>) -> Result<Result<T, String>, StoreError> {
        attempt(self.dir.path(), ask)
    }
}

fn attempt<T>(dir: &Path, ask: impl FnOnce() -> Result<T, StoreError>) -> Result<Result<T, String>, StoreError> {
    let what = match catch_unwind(AssertUnwindSafe(ask)) {
        Ok(Ok(value)) => return Ok(Ok(value)),
        Ok(Err(StoreError::Damaged { what, .. })) => what,
        Ok(Err(StoreError::Io { source, .. })) if !is_the_systems(&source) => source.to_string(),
        Ok(Err(StoreError::Io { source, .. })) => return Err(no_copy(dir)(source)),
        Ok(Err(error)) => return Err(error),
        Err(_) => "the engine breaks down on it".to_owned(),
    };
    // The engine does not always say that it could not write.
    let room = tempfile::NamedTempFile::new_in(dir).and_then(|mut file| {
        io::Write::write_all(&mut file, &vec![1; ROOM])?;
        file.as_file().sync_data()
    });
    room.map_err(no_copy(dir))?;
    Ok(Err(what))
}

/// Whether an error is one of the system, and not the engine's word on bytes that do not read or a file of its that is gone.
fn is_the_systems(error: &io::Error) -> bool {
    error.raw_os_error().is_some() && !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput)
}

/// An error of the machine: of the copy, and not of the log.
fn no_copy(dir: &Path) -> impl FnOnce(io::Error) -> StoreError + use<> {
    let dir: PathBuf = dir.to_owned();
    move |error| StoreError::Io {
        path: dir,
        doing: "look at a copy of the log there",
        source: io::Error::other(format!("{error}; set TMPDIR to a directory that has room for it")),
    }
}

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
