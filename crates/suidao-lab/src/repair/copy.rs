//! The log as a copy that may be opened: the engine writes when it opens, and takes damage for the end of its file.

use std::fs;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use suidao_page::model::Millis;
use suidao_store::store::{CrawlDirectory, Meta, Store, StoreError, copy_directory, no_copy};

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
