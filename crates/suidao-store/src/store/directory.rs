//! The layout of a crawl directory, and writing files that get their final name only when complete.
//!
//! ```text
//! pages/suidao-00000.warc.gz   request and response records; the name ends in `.open` while it is written
//! state/meta.json, lock        metadata of the crawl; the lock, with the command and process that writes
//! state/log/                   the log of events, by the engine, for the writer
//! state/batches, acknowledged  the same for readers, and how much of it is durable
//! state/checkpoint             state after the first batches of the log, for a quick restart
//! state/imports.json           the archives that `suidao import` took
//! state/topic.toml, config.toml  lexicon and configuration of the last run, for `suidao refresh`
//! refresh.csv                  one line per round of `suidao refresh`
//! harvest.csv                  one line per 100 pages
//! skipped.csv                  every URL known and not fetched, with the reason
//! summary.json                 counts and settings
//! ```

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::part::{self, PartDirectory, parent};
use super::plain_file;

/// Paths of the directory of one crawl. Only its methods touch the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlDirectory {
    root: PathBuf,
}

/// The lock of a crawl directory. Dropping it unlocks explicitly: closing the file is not enough, because a child
/// process that another thread is starting holds a copy of it for a moment.
#[derive(Debug)]
pub struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // The name of a process that has ended would mislead.
        let _ = self.0.set_len(0);
        // If this fails, closing the file ends the lock.
        let _ = self.0.unlock();
    }
}

impl CrawlDirectory {
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

    pub fn imports_json(&self) -> PathBuf {
        self.state().join("imports.json")
    }

    /// The configuration of the last run.
    pub fn config_toml(&self) -> PathBuf {
        self.state().join("config.toml")
    }

    /// Browser profiles while it runs.
    pub fn profiles(&self) -> PathBuf {
        self.state().join("browser")
    }

    pub fn log(&self) -> PathBuf {
        self.state().join("log")
    }

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

    /// Second opinions about pages, for later runs.
    pub fn verdicts(&self) -> PathBuf {
        self.state().join("verdicts.tsv")
    }

    pub fn acknowledged(&self) -> PathBuf {
        self.state().join("acknowledged")
    }

    /// The log as readers see it.
    pub fn batches(&self) -> PathBuf {
        self.state().join("batches")
    }

    pub fn exports(&self) -> PathBuf {
        self.root.join("exports")
    }

    /// Checks that `state/` contains only plain files and directories, except the browser profiles.
    ///
    /// # Errors
    /// [`StoreError::NotPlain`] names the first other file; [`StoreError::Io`].
    pub fn check_state(&self) -> Result<(), StoreError> {
        let browser = self.profiles();
        plain_file::check_tree(&self.state(), |path| path != browser)
    }

    /// Checks that `pages/` is a directory and not a link.
    pub fn check_pages(&self) -> Result<(), StoreError> {
        plain_file::check_plain_directory(&self.pages())
    }

    pub fn holds_crawl(&self) -> bool {
        self.meta_json().exists()
    }

    /// Whether nothing can be created in the directory.
    pub fn is_read_only(&self) -> bool {
        let failed = |error: io::Error| {
            matches!(error.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
        };
        tempfile::tempfile_in(&self.root).is_err_and(failed)
    }

    /// Locks the directory for writing by this process, and notes its `command` for others. The lock ends with the
    /// value or the process: it is the system's, so that a killed crawl leaves no lock.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if another process has it, [`StoreError::Io`].
    pub fn lock(&self, command: &str) -> Result<Lock, StoreError> {
        let path = self.state().join("lock");
        let mut options = OpenOptions::new();
        let file = plain_file::open(&path, options.create(true).truncate(false).write(true))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::InUse {
                    root: self.root.clone(),
                    by: plain_file::read_text(&path, plain_file::SMALL).ok(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(StoreError::Io { path, doing: "lock it", source }),
        }
        let mut lock = Lock(file);
        let noted = lock.0.set_len(0).and_then(|()| write!(lock.0, "{command} (process {})", std::process::id()));
        noted.map_err(StoreError::io(&path, "write it"))?;
        Ok(lock)
    }

    /// Removes incomplete files of a killed process from `state/`; requires the lock.
    pub(super) fn clear_parts(&self) {
        let entries = fs::read_dir(self.state()).into_iter().flatten().flatten();
        for entry in entries {
            if part::is_part(&entry.file_name()) {
                // A leftover does no harm.
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

/// Writes a whole file that the user has named, as [`write_own`]; a device or pipe receives the bytes directly. After
/// an error the previous file remains.
pub fn write_whole<T>(
    path: &Path,
    content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, WriteError>,
) -> Result<T, StoreError> {
    // Renaming over a device would replace it.
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

/// Writes a whole file of a crawl directory: `content` goes to a temporary file that is renamed to `path` when all of
/// it is on disk. A reader sees the previous file or the new one. A link or pipe of that name is replaced, not written
/// to. After an error the previous file remains.
pub fn write_own<T>(
    path: &Path,
    content: impl FnOnce(&mut (dyn Write + Send)) -> Result<T, WriteError>,
) -> Result<T, StoreError> {
    let fail = || StoreError::io(path, "write it");
    let file = part::file_next_to(path).map_err(fail())?;
    let mut buffer = BufWriter::with_capacity(1 << 16, file);
    let value = content(&mut buffer).map_err(|error| error.at(path))?;
    let file = buffer.into_inner().map_err(|error| fail()(error.into_error()))?;
    file.as_file().sync_all().map_err(fail())?;
    file.persist(path).map_err(|error| fail()(error.error))?;
    sync_directory(parent(path))?;
    Ok(value)
}

/// Writes a whole directory: `content` fills a temporary one that is renamed to `path` when all its files are on disk.
/// An existing `path` must be an empty directory; this is checked first. After an error nothing new is left.
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
    let part = PartDirectory::next_to(path).map_err(fail())?;
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

/// Why a file could not be written: the file itself, or the source of its content.
#[derive(Debug)]
pub enum WriteError {
    Out(io::Error),
    Source(StoreError),
}

impl WriteError {
    /// As an error of the file `path`.
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

/// Makes new, renamed and removed names of a directory durable.
pub fn sync_directory(path: &Path) -> Result<(), StoreError> {
    // Only Unix opens directories as files; elsewhere the system makes names durable itself.
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
        let lock = dir.lock("suidao crawl").unwrap();
        let message = dir.lock("suidao refresh").unwrap_err().to_string();
        let by = format!("suidao crawl (process {}) writes to it", std::process::id());
        assert!(message.contains(root.path().to_str().unwrap()) && message.contains(&by), "{message}");
        drop(lock);
        dir.lock("suidao refresh").unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_state_with_a_link_is_refused() {
        use std::os::unix::fs::symlink;

        let outside = tempfile::tempdir().unwrap();
        for name in ["state", "state/meta.json", "state/log", "state/log/db", "state/browser", "state/other/log"] {
            let root = tempfile::tempdir().unwrap();
            let dir = CrawlDirectory::new(root.path());
            dir.check_state().unwrap();
            let link = root.path().join(name);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            dir.check_state().unwrap();
            symlink(outside.path(), &link).unwrap();
            let message = dir.check_state().unwrap_err().to_string();
            assert!(message.contains(name) && message.contains("symbolic link"), "{message}");
        }
        let root = tempfile::tempdir().unwrap();
        let dir = CrawlDirectory::new(root.path());
        // A browser's profile contains links.
        fs::create_dir_all(dir.profiles().join("profile")).unwrap();
        symlink("nowhere", dir.profiles().join("profile/lock")).unwrap();
        dir.check_state().unwrap();
        symlink(outside.path(), dir.pages()).unwrap();
        assert!(matches!(dir.check_pages(), Err(StoreError::NotPlain { .. })));
    }
}
