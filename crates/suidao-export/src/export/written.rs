//! Which files exports of a crawl have written, so that a file of somebody else's is not replaced by one.
//!
//! `DIR/exports/.written.json` holds for each path its bytes and when it was last changed, in nanoseconds since 1970.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use suidao_store::store::directory::write_own;
use suidao_store::store::{CrawlDirectory, StoreError, own};

/// The files, by absolute path.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Written(BTreeMap<String, Mark>);

/// How a file was when it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    bytes: u64,
    modified: u128,
}

impl Mark {
    fn of(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let modified = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        Some(Self { bytes: meta.len(), modified })
    }
}

impl Written {
    /// What is remembered of a crawl's exports; nothing where that does not read, so that nothing is replaced.
    ///
    /// # Errors
    /// [`StoreError::NotOwn`] if something else than a directory and a file is there.
    pub fn read(directory: &CrawlDirectory) -> Result<Self, StoreError> {
        own::check_directory(&directory.exports())?;
        let path = place(directory);
        if !path.exists() {
            return Ok(Self::default());
        }
        Ok(serde_json::from_slice(&own::read(&path, own::LARGE)?).unwrap_or_default())
    }

    /// Whether something would be lost if a file were written there: a plain file that no export has left as it is.
    pub fn is_anothers(&self, path: &Path) -> bool {
        Mark::of(path).is_some_and(|mark| self.0.get(&name(path)) != Some(&mark))
    }

    /// Remembers that these were written, those of them that are plain files.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remember(mut self, directory: &CrawlDirectory, paths: &[PathBuf]) -> Result<(), StoreError> {
        self.0.extend(paths.iter().filter_map(|path| Some((name(path), Mark::of(path)?))));
        // What is gone is no longer ours.
        self.0.retain(|path, _| Path::new(path).exists());
        let exports = directory.exports();
        fs::create_dir_all(&exports).map_err(StoreError::io(&exports, "make the directory"))?;
        write_own(&place(directory), |out| Ok(serde_json::to_writer_pretty(out, &self)?))
    }
}

fn place(directory: &CrawlDirectory) -> PathBuf {
    directory.exports().join(".written.json")
}

/// A path as it is remembered; of a file that does not exist as it is given.
fn name(path: &Path) -> String {
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    whole.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_an_exports_own_until_somebody_changes_it() {
        let root = tempfile::tempdir().unwrap();
        let directory = CrawlDirectory::new(root.path().join("crawl"));
        let (ours, theirs) = (root.path().join("ours"), root.path().join("theirs"));
        fs::write(&ours, "rows").unwrap();
        fs::write(&theirs, "years of work").unwrap();
        let written = Written::read(&directory).unwrap();
        assert!(written.is_anothers(&ours) && !written.is_anothers(&root.path().join("none")));
        written.remember(&directory, &[ours.clone(), root.path().join("none")]).unwrap();
        let written = Written::read(&directory).unwrap();
        assert!(!written.is_anothers(&ours) && written.is_anothers(&theirs));
        fs::write(&ours, "rows, and a remark").unwrap();
        assert!(written.is_anothers(&ours));
        fs::write(directory.exports().join(".written.json"), "{").unwrap();
        assert!(Written::read(&directory).unwrap().is_anothers(&ours));
    }
}
