//! The log of events: batches numbered from 0, each stored completely or not at all. The state of the crawl follows
//! from it.
//!
//! A value is the crc32 of the rest (u32, little endian), then postcard of the [`Record`]. The engine (sled) has
//! checksums too; ours is cheap, and sled is young. It treats damage in the middle of its file as the end, and opens
//! with what came before, or with nothing. So a separate file holds the number of batches ([`CommitMarker`]), and a log
//! that has lost some is rejected. The marker is written after the batches and not synced, so it never promises too
//! much.
//!
//! `meta.json` is outside the engine, so that a later version can change the engine and still recognise the format.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::archive::{Location, warc_files};
use super::directory::{CrawlDirectory, Lock, write_own};
use super::log_copy::{LogCopy, is_read_only};
use super::{StoreError, plain_file};
use suidao_page::model::{Batch, Millis};

/// Format of directory and log that this program writes, and the only one that it reads.
pub const FORMAT: u32 = 3;

/// Values unpacked at a time, in parallel, when the log is read.
const READ_AHEAD: usize = 1024;

/// A batch, and the location of its page in the archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub batch: Batch,
    /// The last archive record of this step.
    pub archive: Option<Location>,
    /// It is a revisit record; the payload is elsewhere.
    pub revisit: bool,
}

impl Record {
    /// Location of this step's response, if it is stored in full.
    pub fn response(&self) -> Option<Location> {
        self.archive.filter(|_| !self.revisit)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    pub format: u32,
    pub version: String,
    pub topic: String,
    pub lexicon: String,
    pub strategy: String,
    pub created: Millis,
}

impl Meta {
    pub fn new(topic: &str, lexicon: &str, strategy: &str, created: Millis) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            topic: topic.to_owned(),
            lexicon: lexicon.to_owned(),
            strategy: strategy.to_owned(),
            created,
        }
    }

    /// Reads the description of a directory; changes nothing.
    ///
    /// # Errors
    /// [`StoreError::NoCrawl`], [`StoreError::OtherFormat`], [`StoreError::Damaged`], [`StoreError::Io`].
    pub fn read(dir: &CrawlDirectory) -> Result<Self, StoreError> {
        /// The part that every format has.
        #[derive(Deserialize)]
        struct Head {
            format: u32,
            #[serde(default)]
            version: String,
        }
        // Every access to a crawl starts here.
        dir.check_state()?;
        let path = dir.meta_json();
        if !path.exists() {
            return Err(StoreError::NoCrawl { dir: dir.root().to_owned(), missing: path });
        }
        let text = plain_file::read(&path, plain_file::SMALL)?;
        let damaged = |error: serde_json::Error| StoreError::damaged(&path, error.to_string());
        let head: Head = serde_json::from_slice(&text).map_err(damaged)?;
        if head.format != FORMAT {
            return Err(StoreError::OtherFormat { path, found: head.format, known: FORMAT, version: head.version });
        }
        serde_json::from_slice(&text).map_err(damaged)
    }

    /// Checks that a crawl described by `self` may resume one described by `there`: only date and program version may
    /// differ.
    ///
    /// # Errors
    /// [`StoreError::OtherCrawl`] with the first difference.
    pub fn resumes(&self, there: &Self, dir: &CrawlDirectory) -> Result<(), StoreError> {
        let pairs = [
            ("topic", &there.topic, &self.topic),
            ("lexicon", &there.lexicon, &self.lexicon),
            ("strategy", &there.strategy, &self.strategy),
        ];
        match pairs.into_iter().find(|(_, found, wanted)| found != wanted) {
            None => Ok(()),
            Some((what, found, wanted)) => Err(StoreError::OtherCrawl {
                path: dir.meta_json(),
                what,
                found: found.clone(),
                wanted: wanted.clone(),
            }),
        }
    }
}

/// The log, open in this process only.
#[derive(Debug)]
pub struct Store {
    db: sled::Db,
    meta: Meta,
    dir: CrawlDirectory,
    log: PathBuf,
    next: u64,
    hold: LogAccess,
}

/// How the directory is held. The last field of the log, so that the engine closes before another process may open it.
#[derive(Debug)]
enum LogAccess {
    /// For writing.
    Whole(CommitMarker, #[expect(dead_code, reason = "held")] Lock),
    /// It cannot be written; the engine works on a copy.
    Copy(#[expect(dead_code, reason = "held")] LogCopy),
}

impl Store {
    /// Memory limit of the engine's cache, in bytes.
    pub const CACHE: u64 = 32 << 20;

    /// Begins a crawl in `dir`, or opens an existing one to resume it.
    ///
    /// # Errors
    /// [`StoreError::OtherCrawl`] if the existing crawl differs from `meta`, [`StoreError::UnknownFiles`] if there are
    /// other files, [`StoreError::InUse`] if a crawl runs there, and as [`Store::open`]. Nothing is changed then.
    pub fn resume(dir: &CrawlDirectory, meta: &Meta) -> Result<Self, StoreError> {
        dir.check_state()?;
        if dir.holds_crawl() {
            let there = Meta::read(dir)?;
            meta.resumes(&there, dir)?;
            return Self::open_to_write(dir);
        }
        Self::may_begin(dir)?;
        dir.make()?;
        let lock = dir.lock()?;
        let store = Self::open_engine(dir, meta.clone(), lock)?;
        if store.next != 0 {
            return Err(StoreError::damaged(&dir.meta_json(), "it is missing, but state/log contains a crawl"));
        }
        // Last: the description makes it a crawl.
        write_own(&dir.meta_json(), |out| Ok(serde_json::to_writer_pretty(out, meta)?))?;
        Ok(store)
    }

    /// Checks that a crawl may begin in a directory without one.
    ///
    /// # Errors
    /// [`StoreError::UnknownFiles`] if there are other files.
    pub fn may_begin(dir: &CrawlDirectory) -> Result<(), StoreError> {
        let there = dir.root().ancestors().find(|path| path.symlink_metadata().is_ok());
        if let Some(file) = there.filter(|path| !path.is_dir()) {
            return Err(StoreError::io(file, "create a directory there")(io::ErrorKind::NotADirectory.into()));
        }
        for part in [dir.root().to_owned(), dir.pages()] {
            let Ok(entries) = fs::read_dir(&part) else { continue };
            // A crawl that was killed before its description was written leaves empty directories.
            let begun = |name: &std::ffi::OsStr| part == dir.root() && (name == "pages" || name == "state");
            let hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".") || name == "lost+found";
            if entries.flatten().map(|entry| entry.file_name()).any(|name| !begun(&name) && !hidden(&name)) {
                return Err(StoreError::UnknownFiles(part));
            }
        }
        Ok(())
    }

    /// Opens the crawl in `dir` for reading. If the directory cannot be written, the log is read from a copy, and
    /// nothing can be appended.
    ///
    /// # Errors
    /// [`StoreError::NoCrawl`] if there is none, [`StoreError::InUse`] while one runs there,
    /// [`StoreError::OtherFormat`], [`StoreError::Damaged`], [`StoreError::Io`].
    pub fn open(dir: &CrawlDirectory) -> Result<Self, StoreError> {
        match Self::open_to_write(dir) {
            Err(error) if is_read_only(&error) => Self::open_copy(dir),
            opened => opened,
        }
    }

    fn open_to_write(dir: &CrawlDirectory) -> Result<Self, StoreError> {
        let meta = Meta::read(dir)?;
        let lock = dir.lock()?;
        Self::open_engine(dir, meta, lock)
    }

    fn open_copy(dir: &CrawlDirectory) -> Result<Self, StoreError> {
        let store = Self::of_copy(dir, Meta::read(dir)?, LogCopy::of(dir)?)?;
        let mark = CommitMarker::open(dir, File::options().read(true))?;
        check_mark(dir, &mark, store.next)?;
        Ok(store)
    }

    /// The log in a copy, which may have lost batches.
    pub(super) fn of_copy(dir: &CrawlDirectory, meta: Meta, copy: LogCopy) -> Result<Self, StoreError> {
        let log = dir.log();
        let (db, next) = engine(copy.path(), &log)?;
        Ok(Self { db, meta, dir: dir.clone(), log, next, hold: LogAccess::Copy(copy) })
    }

    pub(super) fn copy_to(&self, directory: &Path, batches: u64) -> Result<(), StoreError> {
        let (db, _) = engine(directory, directory)?;
        let rows = self.db.range(..batches.to_be_bytes());
        let copied = rows.map(|row| row.and_then(|(key, value)| db.insert(key, value)).map(drop));
        let written = copied.collect::<sled::Result<()>>().and_then(|()| db.flush());
        written.map(drop).map_err(|error| engine_error(directory, "write a log", error))
    }

    /// Whether the directory cannot be written, so that the log is a copy.
    pub fn is_read_only(&self) -> bool {
        matches!(self.hold, LogAccess::Copy(_))
    }

    fn open_engine(dir: &CrawlDirectory, meta: Meta, lock: Lock) -> Result<Self, StoreError> {
        dir.clear_parts();
        let log = dir.log();
        let (db, next) = engine(&log, &log)?;
        let mark = CommitMarker::open(dir, File::options().read(true).write(true).create(true).truncate(false))?;
        if check_mark(dir, &mark, next)?.is_none() {
            mark.write(0)?;
        }
        Ok(Self { db, meta, dir: dir.clone(), log, next, hold: LogAccess::Whole(mark, lock) })
    }

    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    pub fn directory(&self) -> &CrawlDirectory {
        &self.dir
    }

    /// Number of batches; also the number of the next one.
    pub fn len(&self) -> u64 {
        self.next
    }

    pub fn is_empty(&self) -> bool {
        self.next == 0
    }

    /// Appends batches, in order, all or none; they are on disk on return.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the disk fails. Acknowledged batches remain.
    pub fn append(&mut self, records: &[Record]) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let LogAccess::Whole(mark, _) = &self.hold else {
            return Err(StoreError::io(&self.log, "append to the log")(io::ErrorKind::ReadOnlyFilesystem.into()));
        };
        let mut batch = sled::Batch::default();
        for (number, record) in (self.next..).zip(records) {
            let value = encode(record).map_err(|error| StoreError::damaged(&self.log, error.to_string()))?;
            batch.insert(&number.to_be_bytes(), value);
        }
        let written = self.db.apply_batch(batch).and_then(|()| self.db.flush());
        written.map_err(|error| engine_error(&self.log, "append to the log", error))?;
        self.next += records.len() as u64;
        mark.write(self.next)
    }

    /// All batches in order. An error ends the iteration.
    pub fn batches(&self) -> impl Iterator<Item = Result<Record, StoreError>> + '_ {
        self.batches_from(0)
    }

    /// The batches from this number on, in order. An error ends the iteration.
    pub fn batches_from(&self, first: u64) -> impl Iterator<Item = Result<Record, StoreError>> + '_ {
        // Unpacking costs more than reading (most of it is URLs), so it is done on all cores, a portion at a time.
        let mut rows = self.db.range(first.to_be_bytes()..);
        let mut expected = first;
        let mut portion: std::vec::IntoIter<Result<Record, StoreError>> = Vec::new().into_iter();
        let mut ended = false;
        std::iter::from_fn(move || {
            if ended {
                return None;
            }
            if portion.len() == 0 {
                let raw: Vec<_> = rows.by_ref().take(READ_AHEAD).collect();
                let first = expected;
                expected += raw.len() as u64;
                let decoded =
                    raw.into_par_iter().enumerate().map(|(position, row)| self.read(first + position as u64, row));
                portion = decoded.collect::<Vec<_>>().into_iter();
            }
            let item = match portion.next() {
                Some(item) => item,
                None if expected == self.next => return None,
                None => Err(StoreError::damaged(&self.log, format!("batch {expected} is missing"))),
            };
            ended = item.is_err();
            Some(item)
        })
    }

    /// Reads the log in the same process while another thread writes it.
    pub fn reader(&self) -> LogReader {
        LogReader { db: Arc::new(RwLock::new(Some(self.db.clone()))), log: self.log.clone() }
    }

    pub fn batch(&self, number: u64) -> Result<Record, StoreError> {
        let value =
            self.db.get(number.to_be_bytes()).map_err(|error| engine_error(&self.log, "read the log", error))?;
        let value = value.ok_or_else(|| StoreError::damaged(&self.log, format!("batch {number} is missing")))?;
        decode(&value).map_err(|what| StoreError::damaged(&self.log, format!("batch {number}: {what}")))
    }

    /// Location of the last page in the archive; later bytes were never acknowledged.
    pub fn last_location(&self) -> Result<Option<Location>, StoreError> {
        for (number, row) in (0..self.next).rev().zip(self.db.iter().rev()) {
            if let Some(location) = self.read(number, row)?.archive {
                return Ok(Some(location));
            }
        }
        Ok(None)
    }

    fn read(&self, expected: u64, row: sled::Result<(sled::IVec, sled::IVec)>) -> Result<Record, StoreError> {
        let (key, value) = row.map_err(|error| engine_error(&self.log, "read the log", error))?;
        let found = number(&self.log, &key)?;
        if found != expected {
            return Err(StoreError::damaged(&self.log, format!("batch {expected} is missing; the next is {found}")));
        }
        decode(&value).map_err(|what| StoreError::damaged(&self.log, format!("batch {found}: {what}")))
    }
}

/// Reads the log of a running crawl. Cheap to clone; all clones close together.
#[derive(Clone, Debug)]
pub struct LogReader {
    /// `None` once it is closed, so that the engine can close.
    db: Arc<RwLock<Option<sled::Db>>>,
    log: PathBuf,
}

impl LogReader {
    /// The batches that are in the log by now, in order, unpacked by the calling thread, because the crawl needs the
    /// other cores. Ends early when it is closed.
    pub fn batches(&self) -> impl Iterator<Item = Result<Record, StoreError>> + '_ {
        /// Between two portions the writer may continue, and the log may be closed.
        const PORTION: usize = 64;
        let mut next: u64 = 0;
        let mut portion: std::vec::IntoIter<Result<Record, StoreError>> = Vec::new().into_iter();
        std::iter::from_fn(move || {
            if portion.len() == 0 {
                let db = self.db.read().unwrap_or_else(PoisonError::into_inner);
                let rows = db.as_ref()?.range(next.to_be_bytes()..).take(PORTION);
                let read = rows.map(|row| {
                    let (_, value) = row.map_err(|error| engine_error(&self.log, "read the log", error))?;
                    decode(&value).map_err(|what| StoreError::damaged(&self.log, what))
                });
                let read: Vec<_> = read.collect();
                next += read.len() as u64;
                portion = read.into_iter();
            }
            portion.next()
        })
    }

    /// Releases the engine after the current portion.
    pub fn close(&self) {
        *self.db.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The number of acknowledged batches, as 20 digits in a file next to the log.
#[derive(Debug)]
struct CommitMarker {
    file: File,
    path: PathBuf,
}

impl CommitMarker {
    fn open(dir: &CrawlDirectory, options: &mut fs::OpenOptions) -> Result<Self, StoreError> {
        let path = dir.acknowledged();
        let file = plain_file::open(&path, options)?;
        Ok(Self { file, path })
    }

    /// `None` if its content is invalid.
    fn read(&self) -> Result<Option<u64>, StoreError> {
        let mut digits = Vec::new();
        let mut file = &self.file;
        let read = file.rewind().and_then(|()| file.take(20).read_to_end(&mut digits));
        read.map_err(StoreError::io(&self.path, "read it"))?;
        Ok(std::str::from_utf8(&digits).ok().and_then(|digits| digits.trim_end().parse().ok()))
    }

    fn write(&self, number: u64) -> Result<(), StoreError> {
        let mut file = &self.file;
        let written = file.rewind().and_then(|()| file.write_all(format!("{number:020}\n").as_bytes()));
        written.map_err(StoreError::io(&self.path, "write it"))
    }
}

fn encode(record: &Record) -> postcard::Result<Vec<u8>> {
    let mut value = postcard::to_extend(record, vec![0; 4])?;
    let sum = checksum(&value[4..]);
    value[..4].copy_from_slice(&sum.to_le_bytes());
    Ok(value)
}

fn decode(value: &[u8]) -> Result<Record, String> {
    let (sum, content) = value.split_at_checked(4).ok_or("too short")?;
    if sum != checksum(content).to_le_bytes() {
        return Err("its checksum is wrong".to_owned());
    }
    postcard::from_bytes(content).map_err(|error| error.to_string())
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn number(log: &Path, key: &[u8]) -> Result<u64, StoreError> {
    let key: [u8; 8] = key.try_into().map_err(|_| StoreError::damaged(log, format!("a key of {} bytes", key.len())))?;
    Ok(u64::from_be_bytes(key))
}

/// Opens the engine in a directory and returns the number of the next batch. `log` is the path for messages.
fn engine(directory: &Path, log: &Path) -> Result<(sled::Db, u64), StoreError> {
    let config = sled::Config::new().path(directory).cache_capacity(Store::CACHE).flush_every_ms(None);
    let db = open_patiently(&config).map_err(|error| engine_error(log, "open the log", error))?;
    let last = db.last().map_err(|error| engine_error(log, "read the log", error))?;
    let next = match last {
        None => 0,
        Some((key, _)) => number(log, &key)? + 1,
    };
    Ok((db, next))
}

/// Checks that a log with `next` batches has lost none; returns the marker's number.
fn check_mark(dir: &CrawlDirectory, mark: &CommitMarker, next: u64) -> Result<Option<u64>, StoreError> {
    match mark.read()? {
        // Resuming would cut the archive to a log that may be incomplete.
        None if next > 0 || dir.pages().is_dir() && !warc_files(&dir.pages())?.is_empty() => {
            Err(StoreError::damaged(&mark.path, "it does not state the number of saved batches"))
        }
        Some(saved) if saved > next => {
            Err(StoreError::damaged(&dir.log(), format!("the log contains {next} batches, but {saved} were saved")))
        }
        saved => Ok(saved),
    }
}

/// The engine's threads release its own lock a moment after it was closed; we hold ours, so no other process has it.
#[allow(clippy::disallowed_methods, reason = "an edge, and the engine offers nothing to wait on")]
fn open_patiently(config: &sled::Config) -> sled::Result<sled::Db> {
    for _ in 0..100 {
        match config.open() {
            Err(sled::Error::Io(error)) if error.to_string().contains("could not acquire lock") => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            other => return other,
        }
    }
    config.open()
}

fn engine_error(log: &Path, doing: &'static str, error: sled::Error) -> StoreError {
    match error {
        sled::Error::Io(source) => {
            // The engine wraps the system's error; its text is in the fields.
            let plain = source.raw_os_error().is_none() && source.kind() != io::ErrorKind::Other;
            let source = if plain { source.kind().into() } else { source };
            StoreError::Io { path: log.to_owned(), doing, source }
        }
        other => StoreError::damaged(log, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::*;

    fn record(n: u32) -> Record {
        Record {
            batch: batch(n, 3),
            archive: n.is_multiple_of(2).then_some(Location { file: n, offset: 1, length: 2 }),
            revisit: n.is_multiple_of(4),
        }
    }

    fn store(root: &Path, records: std::ops::Range<u32>) -> Store {
        let mut store = Store::resume(&CrawlDirectory::new(root), &meta()).unwrap();
        store.append(&records.map(record).collect::<Vec<_>>()).unwrap();
        store
    }

    #[test]
    fn a_reader_follows_the_writer_and_releases_the_log() {
        let root = tempfile::tempdir().unwrap();
        let mut first = store(root.path(), 0..100);
        let reader = first.reader();
        let read = || reader.batches().map(Result::unwrap).collect::<Vec<_>>();
        assert_eq!(read(), (0..100).map(record).collect::<Vec<_>>());
        let mut while_it_grows = reader.batches();
        assert_eq!(while_it_grows.next().unwrap().unwrap(), record(0));
        first.append(&(100..200).map(record).collect::<Vec<_>>()).unwrap();
        assert_eq!(while_it_grows.count(), 199, "what came meanwhile is read too");
        let mut cut = reader.batches();
        cut.next();
        reader.close();
        assert!(cut.count() < 199 && read().is_empty());
        drop(first);
        assert_eq!(store(root.path(), 200..201).len(), 201, "nobody keeps the engine open");
    }

    #[test]
    fn batches_are_read_in_order() {
        let root = tempfile::tempdir().unwrap();
        let many = READ_AHEAD as u32 + 300;
        drop(store(root.path(), 0..300));
        let store = store(root.path(), 300..many);
        assert_eq!(store.len(), u64::from(many));
        let read: Vec<_> = store.batches().map(Result::unwrap).collect();
        assert_eq!(read, (0..many).map(record).collect::<Vec<_>>());
        assert_eq!(store.last_location().unwrap(), record((many - 1) & !1).archive);
    }

    #[test]
    fn resume_rejects_another_crawl_and_a_second_process() {
        let root = tempfile::tempdir().unwrap();
        let dir = CrawlDirectory::new(root.path());
        let message = Store::open(&dir).unwrap_err().to_string();
        assert!(message.contains("meta.json is missing"), "{message}");
        assert!(!dir.state().exists(), "nothing is made by looking");
        let first = store(root.path(), 0..2);
        assert!(matches!(Store::open(&dir), Err(StoreError::InUse(_))));
        drop(first);
        let later = Meta { created: Millis(9), version: "0.9.9".into(), ..meta() };
        assert_eq!(Store::resume(&dir, &later).unwrap().meta(), &meta());
        for (what, other) in [
            ("topic", Meta { topic: "文学".into(), ..meta() }),
            ("lexicon", Meta { lexicon: "sha1:OTHER".into(), ..meta() }),
            ("strategy", Meta { strategy: "breadth-first".into(), ..meta() }),
        ] {
            let error = Store::resume(&dir, &other).unwrap_err();
            assert!(matches!(&error, StoreError::OtherCrawl { what: found, .. } if *found == what), "{error}");
        }
        for (format, version) in [(FORMAT - 1, "0.0.1"), (FORMAT + 1, "7.0")] {
            let text = format!(r#"{{"format": {format}, "version": "{version}", "shape": "unknown"}}"#);
            std::fs::write(dir.meta_json(), text).unwrap();
            let message = Store::open(&dir).unwrap_err().to_string();
            let wanted = format!("format {format}, written by suidao {version}");
            assert!(message.contains(&wanted) && message.contains("meta.json"), "{message}");
        }
        std::fs::write(dir.meta_json(), "{").unwrap();
        assert!(matches!(Store::open(&dir), Err(StoreError::Damaged { .. })));
        std::fs::remove_file(dir.meta_json()).unwrap();
        assert!(matches!(Store::resume(&dir, &meta()), Err(StoreError::Damaged { .. })));
        assert!(!dir.holds_crawl());
    }

    #[test]
    fn pages_without_a_state_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let dir = CrawlDirectory::new(root.path());
        std::fs::create_dir(dir.pages()).unwrap();
        std::fs::write(dir.pages().join("suidao-00000.warc.gz"), "mine").unwrap();
        assert!(matches!(Store::resume(&dir, &meta()), Err(StoreError::UnknownFiles(_))));
        assert!(!dir.state().exists());
        // If log and marker are lost and the rest is not, a crawl must not start from nothing.
        dir.make().unwrap();
        std::fs::write(dir.meta_json(), serde_json::to_vec(&meta()).unwrap()).unwrap();
        let refused = Store::resume(&dir, &meta()).unwrap_err().to_string();
        assert!(refused.contains("acknowledged") && refused.contains("--repair"), "{refused}");
    }

    #[test]
    fn damage_is_reported_with_directory_and_advice() {
        let root = tempfile::tempdir().unwrap();
        let first = store(root.path(), 0..5);
        let mut value = first.db.get(2u64.to_be_bytes()).unwrap().unwrap().to_vec();
        value[40] ^= 1;
        first.db.insert(2u64.to_be_bytes(), value).unwrap();
        let read: Vec<_> = first.batches().collect();
        assert_eq!(read.len(), 3, "two batches and the error");
        let message = read[2].as_ref().unwrap_err().to_string();
        for part in [root.path().to_str().unwrap(), "batch 2", "checksum", "another output directory"] {
            assert!(message.contains(part), "{message}");
        }
        first.db.remove(2u64.to_be_bytes()).unwrap();
        let message = first.batches().last().unwrap().unwrap_err().to_string();
        assert!(message.contains("batch 2 is missing"), "{message}");
        first.db.insert(4u64.to_be_bytes(), vec![0; 3]).unwrap();
        assert!(first.last_location().unwrap_err().to_string().contains("too short"));
    }

    proptest::proptest! {
        #[test]
        fn no_value_panics(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..60), fix: bool) {
            let mut value = bytes;
            if fix && value.len() >= 4 {
                let sum = checksum(&value[4..]);
                value[..4].copy_from_slice(&sum.to_le_bytes());
            }
            let _ = decode(&value);
        }
    }
}
