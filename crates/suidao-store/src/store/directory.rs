//! Where things lie in a crawl directory, and how a file comes to its final name only when it is complete.
//!
//! ```text
//! pages/suidao-00000.warc.gz   request and response records; `.open` behind the name while it is written
//! state/meta.json, lock, log/  what crawl this is; the lock; the log of events
//! state/checkpoint             what the first so many batches of it came to, for a quick restart
//! state/topic.toml, config.toml  lexicon and configuration it was last gone on with, for `suidao refresh`
//! refresh.csv                  one line per round of `suidao refresh`
//! harvest.csv                  one line per 100 pages
//! skipped.csv                  every URL known and not fetched, with the reason
//! summary.json                 counts and settings
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::part::{self, PartDirectory, parent};
use super::{StoreError, own};

/// The directory one crawl works in. The value is a path with names and touches the disk only in its methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlDirectory {
    root: PathBuf,
}

/// The lock of a crawl directory. Given back by name when dropped, not by closing the file: a process that is just being
/// started by another thread holds a copy of the file for a moment, and with it a lock that was only closed.
#[derive(Debug)]
pub struct Lock(pub(super) File);

impl Drop for Lock {
    fn drop(&mut self) {
        // If it fails the file's end ends the lock.
        let _ = self.0.unlock();
    }
}

impl CrawlDirectory {
    /// The crawl directory at `root`, whether or not it exists.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn pages(&self) -> PathBuf {
        self.root.join("pages")
    }

    pub fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    pub fn meta_json(&self) -> PathBuf {
        self.state().join("meta.json")
    }

    pub fn topic_toml(&self) -> PathBuf {
        self.state().join("topic.toml")
    }

    /// The configuration that the crawl was last gone on with.
    pub fn config_toml(&self) -> PathBuf {
        self.state().join("config.toml")
    }

    /// What a browser that shows pages writes while it runs.
    pub fn profiles(&self) -> PathBuf {
        self.state().join("browser")
    }

    pub fn log(&self) -> PathBuf {
        self.state().join("log")
    }

    /// The state after so many batches of the log.
    pub fn checkpoint(&self) -> PathBuf {
        self.state().join("checkpoint")
    }

    pub fn harvest_csv(&self) -> PathBuf {
        self.root.join("harvest.csv")
    }

    pub fn refresh_csv(&self) -> PathBuf {
        self.root.join("refresh.csv")
    }

    pub fn skipped_csv(&self) -> PathBuf {
        self.root.join("skipped.csv")
    }

    pub fn summary_json(&self) -> PathBuf {
        self.root.join("summary.json")
    }

    /// How many batches were acknowledged.
    pub fn acknowledged(&self) -> PathBuf {
        self.state().join("acknowledged")
    }

    pub fn exports(&self) -> PathBuf {
        self.root.join("exports")
    }

    pub fn holds_crawl(&self) -> bool {
        self.meta_json().exists()
    }

    /// Takes the directory for this process alone; the lock ends with the value, or with the process however it ends.
    /// A lock of the system and not the existence of a file, so that a killed crawl leaves nothing to clear away.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if another has it, [`StoreError::Io`].
    pub fn lock(&self) -> Result<Lock, StoreError> {
        let path = self.state().join("lock");
        let mut options = OpenOptions::new();
        let file = own::open(&path, options.create(true).truncate(false).write(true))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse(self.root.clone())),
            Err(TryLockError::Error(source)) => Err(StoreError::Io { path, doing: "lock it", source }),
        }
    }

    /// Removes what a process that was killed had begun to write in `state/`; for who holds the lock.
    pub(super) fn clear_parts(&self) {
        let entries = fs::read_dir(self.state()).into_iter().flatten().flatten();
        for entry in entries {
            if part::is_part(&entry.file_name()) {
                // It is in nobody's way, and only takes room.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    pub(super) fn make(&self) -> Result<(), StoreError> {
        for path in [self.pages(), self.state()] {
            fs::create_dir_all(&path).map_err(StoreError::io(&path, "create the directory"))?;
        }
        sync_directory(&self.root)
    }
}

/// Writes a whole file that the user has named, as [`write_own`] does; a device or a pipe takes the bytes as they come.
///
/// # Errors
/// [`StoreError::Io`]; the former file, if any, then stands as it was.
pub fn write_whole<T>(
    path: &Path,
    content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, WriteError>,
) -> Result<T, StoreError> {
    // Renamed over, it would be gone.
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        let fail = || StoreError::io(path, "write it");
        let file = OpenOptions::new().write(true).open(path).map_err(fail())?;
        let mut buffer = BufWriter::with_capacity(1 << 16, file);
        let value = content(&mut buffer).map_err(|error| error.at(path))?;
        buffer.flush().map_err(fail())?;
        return Ok(value);
    }
    write_own(path, content)
}

/// Writes a whole file of a crawl directory: `content` goes to a file beside it, which takes the name `path` only when all
/// of it is on disk. A reader sees the former file or the new one, never a part. Whatever had the name, a link or a pipe
/// among them, is replaced and not written to.
///
/// # Errors
/// [`StoreError::Io`]; the former file, if any, then stands as it was.
pub fn write_own<T>(
    path: &Path,
    content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, WriteError>,
) -> Result<T, StoreError> {
    let fail = || StoreError::io(path, "write it");
    let file = part::file_beside(path).map_err(fail())?;
    let mut buffer = BufWriter::with_capacity(1 << 16, file);
    let value = content(&mut buffer).map_err(|error| error.at(path))?;
    let file = buffer.into_inner().map_err(|error| fail()(error.into_error()))?;
    file.as_file().sync_all().map_err(fail())?;
    file.persist(path).map_err(|error| fail()(error.error))?;
    sync_directory(parent(path))?;
    Ok(value)
}

/// Writes a whole directory: `content` fills one beside it, which takes the name `path` only when all its files are on
/// disk. Where `path` exists it must be an empty directory, and that is told before anything is written.
///
/// # Errors
/// [`StoreError::Io`]; nothing is there then that was not before.
pub fn write_whole_directory<T>(
    path: &Path,
    content: impl FnOnce(&Path) -> Result<T, WriteError>,
) -> Result<T, StoreError> {
    let fail = || StoreError::io(path, "write it");
    match fs::read_dir(path).map(|mut entries| entries.next().is_some()) {
        Ok(false) => {}
        Ok(true) => return Err(fail()(io::ErrorKind::DirectoryNotEmpty.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(fail()(error)),
    }
    let part = PartDirectory::beside(path).map_err(fail())?;
    let value = content(part.path()).map_err(|error| error.at(path))?;
    for entry in fs::read_dir(part.path()).map_err(fail())? {
        let file = entry.and_then(|entry| File::open(entry.path())).map_err(fail())?;
        file.sync_all().map_err(fail())?;
    }
    sync_directory(part.path())?;
    part.rename(path).map_err(fail())?;
    sync_directory(parent(path))?;
    Ok(value)
}

/// Why the content of a file could not be written: the file itself, or what it is made from.
#[derive(Debug)]
pub enum WriteError {
    Out(io::Error),
    Source(StoreError),
}

impl WriteError {
    /// As an error of the file `path` that was to be written.
    pub fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Out(source) => StoreError::Io { path: path.to_owned(), doing: "write it", source },
            Self::Source(error) => error,
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Out(error)
    }
}

impl From<csv::Error> for WriteError {
    fn from(error: csv::Error) -> Self {
        Self::Out(error.into())
    }
}

impl From<serde_json::Error> for WriteError {
    fn from(error: serde_json::Error) -> Self {
        Self::Out(error.into())
    }
}

impl From<StoreError> for WriteError {
    fn from(error: StoreError) -> Self {
        Self::Source(error)
    }
}

/// Makes names in a directory durable: new, renamed and removed files.
pub fn sync_directory(path: &Path) -> Result<(), StoreError> {
    // Only unix opens directories as files; elsewhere the system keeps names in order by itself.
    if cfg!(unix) {
        File::open(path).and_then(|dir| dir.sync_all()).map_err(StoreError::io(path, "sync the directory"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_fails_half_way_leaves_the_former_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("harvest.csv");
        write_whole(&path, |out| Ok(out.write_all(b"old")?)).unwrap();
        let failed = write_whole(&path, |out| -> Result<(), WriteError> {
            out.write_all(b"new, but not all of")?;
            Err(WriteError::Out(io::Error::from(io::ErrorKind::StorageFull)))
        });
        let message = failed.unwrap_err().to_string();
        assert!(message.contains("harvest.csv") && message.contains("free some space"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the part is taken away");
        write_whole(&path, |out| Ok(out.write_all(b"new")?)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        if Path::new("/dev/null").exists() && Path::new("/dev/full").exists() {
            write_whole(Path::new("/dev/null"), |out| Ok(out.write_all(b"gone")?)).unwrap();
            let full = write_whole(Path::new("/dev/full"), |out| Ok(out.write_all(b"x")?)).unwrap_err();
            assert!(full.is_environment(), "{full}");
            for path in ["/dev/null", "/dev/full"] {
                assert!(!fs::metadata(path).unwrap().is_file(), "{path}");
            }
        }
    }

    #[test]
    fn one_process_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let dir = CrawlDirectory::new(root.path());
        dir.make().unwrap();
        let lock = dir.lock().unwrap();
        assert!(matches!(dir.lock(), Err(StoreError::InUse(path)) if path == root.path()));
        drop(lock);
        dir.lock().unwrap();
    }
}
