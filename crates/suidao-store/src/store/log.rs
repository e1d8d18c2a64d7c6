//! The log of events: batches numbered from 0, each stored completely or not at all. The state of the crawl follows
//! from it.
//!
//! One process writes, any number read. The writer holds the lock of the directory, and gives each group of batches to
//! the engine, which makes them durable together; then it appends them to `state/batches`, and then it writes the
//! number of batches ([`CommitMarker`]). Readers use the last two alone and take no lock: what the marker promises is
//! never changed. The file is synced now and then only; what a power failure takes from it, the next writer restores
//! from the engine, and the other way round.

use std::fs::{self, File};
use std::io;
use std::sync::OnceLock;

use super::archive::{Location, warc_files};
use super::batches::{Frames, LogExtent, append, decode, decoded, encode, put};
use super::directory::{CrawlDirectory, Lock, sync_directory};
use super::engine::Engine;
use super::error::StoreError;
use super::marker::{Acknowledged, CommitMarker};
use super::meta::{Meta, Rescoring};
use super::record::Record;
use super::rescoring::NewestScores;
use super::{PartDirectory, plain_file};

/// Batches after which `state/batches` is synced.
const SYNC_EVERY: u64 = 4096;

/// The log, open for reading or for writing.
#[derive(Debug)]
pub struct Store {
    meta: Meta,
    dir: CrawlDirectory,
    extent: LogExtent,
    /// Where each batch ends in the file, for readers, when first needed.
    ends: OnceLock<Vec<u64>>,
    writing: Option<Writing>,
}

/// What the writer has open. The lock is last, so that the engine closes before another process may open it.
#[derive(Debug)]
struct Writing {
    engine: Engine,
    file: File,
    marker: CommitMarker,
    synced: LogExtent,
    #[expect(dead_code, reason = "held")]
    lock: Option<Lock>,
}

impl Store {
    /// Begins a crawl in `dir`, or opens an existing one to resume it. `command` is what other processes read about
    /// the user of the directory, such as `suidao crawl`.
    ///
    /// # Errors
    /// [`StoreError::OtherCrawl`] if the existing crawl differs from `meta`, [`StoreError::UnknownFiles`] if there are
    /// other files, [`StoreError::InUse`] if another process writes there, [`StoreError::OtherFormat`],
    /// [`StoreError::Damaged`], [`StoreError::Io`]. Nothing is changed then.
    pub fn resume(dir: &CrawlDirectory, meta: &Meta, command: &str) -> Result<Self, StoreError> {
        dir.check_state()?;
        if dir.holds_crawl() {
            let there = Meta::read(dir)?;
            meta.resumes(&there, dir)?;
            let lock = dir.lock(command)?;
            return Self::open_to_write(dir, there, Some(lock), false);
        }
        Self::may_begin(dir)?;
        dir.make()?;
        let lock = dir.lock(command)?;
        let store = Self::open_to_write(dir, meta.clone(), Some(lock), false)?;
        if !store.is_empty() {
            let what = "it is missing, but state/log contains a crawl".to_owned();
            return Err(StoreError::DamagedFile { path: dir.meta_json(), what, can_be_deleted: false });
        }
        // Last: `meta.json` makes it a crawl.
        meta.write(dir)?;
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
            // A crawl that was killed before `meta.json` was written leaves empty directories.
            let begun = |name: &std::ffi::OsStr| part == dir.root() && (name == "pages" || name == "state");
            let hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".") || name == "lost+found";
            if entries.flatten().map(|entry| entry.file_name()).any(|name| !begun(&name) && !hidden(&name)) {
                return Err(StoreError::UnknownFiles(part));
            }
        }
        Ok(())
    }

    /// Opens the crawl in `dir` for reading: the batches that are durable now, also while another process writes more.
    /// Changes nothing.
    ///
    /// # Errors
    /// [`StoreError::NoCrawl`] if there is none, [`StoreError::OtherFormat`], [`StoreError::Damaged`],
    /// [`StoreError::Io`].
    pub fn open(dir: &CrawlDirectory) -> Result<Self, StoreError> {
        let meta = Meta::read(dir)?;
        let extent = CommitMarker::of(dir)?.ok_or_else(|| unmarked(dir))?.all;
        let path = dir.batches();
        let file = plain_file::open(&path, File::options().read(true))?;
        let found = file.metadata().map_err(StoreError::io(&path, "read its size"))?.len();
        if found < extent.bytes {
            let what = format!("it ends at byte {found}, but {} bytes were saved", extent.bytes);
            return Err(StoreError::damaged(&path, what));
        }
        Ok(Self::of_extent(dir, meta, extent))
    }

    /// The first batches of the log, for reading.
    pub(super) fn of_extent(dir: &CrawlDirectory, meta: Meta, extent: LogExtent) -> Self {
        Self { meta, dir: dir.clone(), extent, ends: OnceLock::new(), writing: None }
    }

    /// Opens the log for writing, and makes file and engine the same: what one has lost, the other restores. `all` also
    /// checks what was synced.
    pub(super) fn open_to_write(
        dir: &CrawlDirectory,
        meta: Meta,
        lock: Option<Lock>,
        all: bool,
    ) -> Result<Self, StoreError> {
        dir.clear_parts();
        let path = dir.batches();
        let options = || File::options().read(true).write(true).create(true).truncate(false).clone();
        let marker = CommitMarker::open(dir, &mut options())?;
        let mut file = plain_file::open(&path, &mut options())?;
        let saved = marker.read()?;
        let from = saved.filter(|_| !all).unwrap_or_default().synced;
        let intact = Frames::intact(&path, from)?;
        let opened = Engine::try_open(&dir.log())?;
        let found = opened.as_ref().map_or(0, |(_, extent)| extent.batches);
        // Resuming would cut the archive to a log that may be incomplete.
        if saved.is_none()
            && (found.max(intact.batches) > 0 || dir.pages().is_dir() && !warc_files(&dir.pages())?.is_empty())
        {
            return Err(unmarked(dir));
        }
        let saved = saved.unwrap_or_default().all.batches;
        let (engine, extent) = match opened {
            Ok((engine, extent)) if extent.batches >= intact.batches.max(saved) => {
                if engine.end_of(intact.batches)? != intact {
                    return Err(StoreError::damaged(&path, "it does not belong to state/log"));
                }
                truncate(&mut file, &dir.batches(), intact)?;
                let mut end = intact;
                while end.batches < extent.batches {
                    let (_, frame) = engine.get(end.batches)?;
                    let mut bytes = Vec::new();
                    put(&frame, &mut bytes);
                    append(&mut file, &path, &bytes)?;
                    end = end.and(&frame);
                }
                (engine, extent)
            }
            opened if intact.batches >= saved => {
                drop(opened);
                tracing::warn!("{}: damaged; rebuilt from {}", dir.log().display(), path.display());
                truncate(&mut file, &path, intact)?;
                Self::replace_engine(dir, intact, None)?;
                Engine::open(&dir.log(), &dir.log())?
            }
            Ok(_) => {
                let what = format!("the log contains {} batches, but {saved} were saved", found.max(intact.batches));
                return Err(StoreError::damaged(&dir.log(), what));
            }
            Err(what) => return Err(StoreError::damaged(&dir.log(), what)),
        };
        let mut store = Self::of_extent(dir, meta, extent);
        store.writing = Some(Writing { engine, file, marker, synced: extent, lock });
        store.sync()?;
        Ok(store)
    }

    /// Rebuilds the engine's directory from the first batches of the file. The previous one is moved to `previous`, or
    /// removed.
    pub(super) fn replace_engine(
        dir: &CrawlDirectory,
        extent: LogExtent,
        previous: Option<&std::path::Path>,
    ) -> Result<(), StoreError> {
        let log = dir.log();
        let fail = || StoreError::io(&log, "write it");
        let part = PartDirectory::next_to(&log).map_err(fail())?;
        Engine::create(part.path(), Frames::open(&dir.batches(), LogExtent::default(), extent)?)?;
        part.exchange(&log, previous).map_err(fail())?;
        sync_directory(&dir.state())
    }

    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    pub fn directory(&self) -> &CrawlDirectory {
        &self.dir
    }

    /// Number of batches; also the number of the next one.
    pub fn len(&self) -> u64 {
        self.extent.batches
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends batches, in order, all or none; they are on disk on return.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the disk fails, or the log is open for reading. Acknowledged batches remain.
    pub fn append(&mut self, records: &[Record]) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let path = self.dir.batches();
        let Some(Writing { engine, file, marker, synced, .. }) = &mut self.writing else {
            return Err(StoreError::io(&path, "append to the log")(io::ErrorKind::ReadOnlyFilesystem.into()));
        };
        let frames = records.iter().map(encode).collect::<Result<Vec<_>, _>>();
        let frames = frames.map_err(|what| StoreError::damaged(&path, what))?;
        let extent = engine.append(self.extent, &frames)?;
        let mut bytes = Vec::new();
        frames.iter().for_each(|frame| put(frame, &mut bytes));
        append(file, &path, &bytes)?;
        self.extent = extent;
        marker.write(Acknowledged { all: extent, synced: *synced })?;
        if extent.batches - synced.batches >= SYNC_EVERY { self.sync() } else { Ok(()) }
    }

    /// Syncs the file for readers, so that the next writer need not check it.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        let Some(Writing { file, marker, synced, .. }) = &mut self.writing else { return Ok(()) };
        file.sync_data().map_err(StoreError::io(&self.dir.batches(), "append to the log"))?;
        *synced = self.extent;
        marker.write(Acknowledged { all: self.extent, synced: self.extent })
    }

    /// Opens an existing crawl for writing, as it is.
    ///
    /// # Errors
    /// As [`Store::resume`].
    pub fn open_existing(dir: &CrawlDirectory, command: &str) -> Result<Self, StoreError> {
        let meta = Meta::read(dir)?;
        let lock = dir.lock(command)?;
        Self::open_to_write(dir, meta, Some(lock), false)
    }

    /// Replaces the metadata (`meta.json`) of the crawl, whose pages were judged again, and removes the checkpoint,
    /// which depends on the earlier scores.
    pub fn replace_meta(&mut self, meta: Meta) -> Result<(), StoreError> {
        meta.write(&self.dir)?;
        self.meta = meta;
        let checkpoint = self.dir.checkpoint();
        match fs::remove_file(&checkpoint) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io(&checkpoint, "remove it")(error))
            }
            _ => Ok(()),
        }
    }

    fn rescoring(&self) -> Option<&Rescoring> {
        self.meta.rescoring.as_ref().filter(|rescoring| rescoring.is_in(self.len()))
    }

    /// All batches in order, pages with their newest scores. An error ends the iteration.
    pub fn batches(&self) -> impl Iterator<Item = Result<Record, StoreError>> + '_ {
        self.batches_from(0)
    }

    /// The batches from this number on, in order. An error ends the iteration.
    pub fn batches_from(&self, first: u64) -> impl Iterator<Item = Result<Record, StoreError>> + '_ {
        let mut scores = NewestScores::of(self.rescoring());
        (first..)
            .zip(decoded(self.frames_from(first)))
            .map(move |(number, record)| scores.apply(number, record?, |batch| self.stored_batch(batch)))
    }

    /// All batches in order, as they were written.
    pub(super) fn stored_batches(&self) -> impl Iterator<Item = Result<Record, StoreError>> + '_ {
        decoded(self.frames_from(0))
    }

    pub fn batch(&self, number: u64) -> Result<Record, StoreError> {
        NewestScores::of(self.rescoring()).apply(number, self.stored_batch(number)?, |batch| self.stored_batch(batch))
    }

    /// A batch as it was written.
    pub(super) fn stored_batch(&self, number: u64) -> Result<Record, StoreError> {
        let path = self.dir.batches();
        let frame = match &self.writing {
            Some(writing) => writing.engine.get(number)?.1,
            None => match self.frames_from(number)?.next() {
                Some(frame) => frame?,
                None => return Err(StoreError::damaged(&path, format!("batch {number} is missing"))),
            },
        };
        decode(&frame).map_err(|what| StoreError::damaged(&path, format!("batch {number}: {what}")))
    }

    fn frames_from(&self, first: u64) -> Result<Frames, StoreError> {
        Frames::open(&self.dir.batches(), self.end_of(first)?, self.extent)
    }

    /// Position in the file after the first `batches`.
    pub(super) fn end_of(&self, batches: u64) -> Result<LogExtent, StoreError> {
        let start = LogExtent::default();
        if batches == 0 || batches >= self.len() {
            return Ok(if batches == 0 { start } else { self.extent });
        }
        if let Some(writing) = &self.writing {
            return writing.engine.end_of(batches);
        }
        let path = self.dir.batches();
        if self.ends.get().is_none() {
            let ends = Frames::open(&path, start, self.extent)?.ends();
            // Another thread has found the same.
            let _ = self.ends.set(ends);
        }
        let last = usize::try_from(batches - 1).ok();
        let bytes = last.and_then(|last| self.ends.get()?.get(last).copied());
        let bytes = bytes.ok_or_else(|| StoreError::damaged(&path, format!("batch {batches} is missing")))?;
        Ok(LogExtent { batches, bytes })
    }

    /// Location of the last page in the archive; later bytes were never acknowledged.
    pub fn last_location(&self) -> Result<Option<Location>, StoreError> {
        for number in (0..self.len()).rev() {
            if let Some(location) = self.batch(number)?.archive {
                return Ok(Some(location));
            }
        }
        Ok(None)
    }
}

/// Cuts the file after its intact batches and continues there.
pub(super) fn truncate(file: &mut File, path: &std::path::Path, to: LogExtent) -> Result<(), StoreError> {
    let cut = file.set_len(to.bytes).and_then(|()| io::Seek::seek(file, io::SeekFrom::Start(to.bytes)));
    cut.map(drop).map_err(StoreError::io(path, "truncate it after the last saved batch"))
}

fn unmarked(dir: &CrawlDirectory) -> StoreError {
    StoreError::damaged(&dir.acknowledged(), "it does not state the number of saved batches")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::fixture::*;
    use super::super::meta::FORMAT;
    use super::*;
    use suidao_page::model::{Millis, Relevance};

    fn record(n: u32) -> Record {
        Record {
            batch: batch(n, 3),
            archive: n.is_multiple_of(2).then_some(Location { file: n, request: 0, offset: 1, length: 2 }),
            revisit: n.is_multiple_of(4),
        }
    }

    fn store(root: &Path, records: std::ops::Range<u32>) -> Store {
        let mut store = Store::resume(&CrawlDirectory::new(root), &meta(), "test").unwrap();
        store.append(&records.map(record).collect::<Vec<_>>()).unwrap();
        store
    }

    #[test]
    fn readers_see_what_is_durable_when_they_begin() {
        let root = tempfile::tempdir().unwrap();
        let dir = CrawlDirectory::new(root.path());
        let mut writer = store(root.path(), 0..100);
        let early = Store::open(&dir).unwrap();
        let mut reading = early.batches();
        assert_eq!(reading.next().unwrap().unwrap(), record(0));
        writer.append(&(100..200).map(record).collect::<Vec<_>>()).unwrap();
        assert_eq!(reading.count(), 99, "nothing that came meanwhile");
        let late = Store::open(&dir).unwrap();
        for (store, batches) in [(&early, 100), (&late, 200), (&writer, 200)] {
            let read: Vec<_> = store.batches().map(Result::unwrap).collect();
            assert_eq!(read, (0..batches).map(record).collect::<Vec<_>>());
            assert_eq!(store.len(), u64::from(batches));
            for n in [0, 1, 57, batches - 1] {
                assert_eq!(store.batch(n.into()).unwrap(), record(n));
                assert_eq!(store.batches_from(n.into()).count(), (batches - n) as usize);
            }
            assert!(store.batch(batches.into()).is_err() && store.batches_from(batches.into()).next().is_none());
        }
        let mut early = early;
        assert!(early.append(&[record(100)]).unwrap_err().to_string().contains("append to the log"));
        // What the writer has not acknowledged is not read, and the next one cuts it off.
        let mut file = File::options().append(true).open(dir.batches()).unwrap();
        io::Write::write_all(&mut file, &[7; 100]).unwrap();
        assert_eq!(Store::open(&dir).unwrap().batches().count(), 200);
        drop(writer);
        assert_eq!(store(root.path(), 200..201).batches().count(), 201);
        assert_eq!(Store::open(&dir).unwrap().batches().map(Result::unwrap).last(), Some(record(200)));
    }

    #[test]
    fn engine_and_file_restore_each_other() {
        let whole = tempfile::tempdir().unwrap();
        drop(store(whole.path(), 0..300));
        let bytes = |dir: &CrawlDirectory| std::fs::metadata(dir.batches()).unwrap().len();
        type Harm = fn(&CrawlDirectory);
        let harms: [(&str, bool, Harm); 8] = [
            ("the engine is gone", true, |dir| fs::remove_dir_all(dir.log()).unwrap()),
            ("the engine is empty", true, |dir| fs::write(dir.log().join("db"), "").unwrap()),
            ("the engine is cut", true, |dir| {
                File::options().write(true).open(dir.log().join("db")).unwrap().set_len(30_000).unwrap();
            }),
            ("the file is gone", true, |dir| fs::remove_file(dir.batches()).unwrap()),
            ("the end of the file is gone", true, |dir| {
                File::options().write(true).open(dir.batches()).unwrap().set_len(20_000).unwrap();
            }),
            ("the end of the file is zeros", true, |dir| {
                let file = File::options().write(true).open(dir.batches()).unwrap();
                let length = file.metadata().unwrap().len();
                file.set_len(20_000).and_then(|()| file.set_len(length)).unwrap();
            }),
            ("both", false, |dir| {
                fs::remove_dir_all(dir.log()).unwrap();
                File::options().write(true).open(dir.batches()).unwrap().set_len(20_000).unwrap();
            }),
            ("the marker", false, |dir| fs::write(dir.acknowledged(), "").unwrap()),
        ];
        for (name, heals, harm) in harms {
            let root = tempfile::tempdir().unwrap();
            let dir = CrawlDirectory::new(root.path());
            let length = {
                drop(store(root.path(), 0..300));
                bytes(&dir)
            };
            // As after a power failure, when nothing of the file was synced.
            let marker = CommitMarker::open(&dir, File::options().read(true).write(true)).unwrap();
            let all = marker.read().unwrap().unwrap().all;
            marker.write(Acknowledged { all, synced: LogExtent::default() }).unwrap();
            harm(&dir);
            match Store::resume(&dir, &meta(), "test") {
                Ok(store) => {
                    assert!(heals, "{name}");
                    let read = |store: &Store| store.batches().map(Result::unwrap).collect::<Vec<_>>();
                    assert!(read(&store) == (0..300).map(record).collect::<Vec<_>>(), "{name}");
                    assert!((0..300).all(|n| store.batch(n).unwrap() == record(n as u32)), "{name}");
                    assert!(read(&Store::open(&dir).unwrap()) == read(&store) && bytes(&dir) == length, "{name}");
                }
                Err(error) => {
                    let message = error.to_string();
                    assert!(!heals && message.contains("saved") && message.contains("--repair"), "{name}: {message}");
                }
            }
        }
    }

    #[test]
    fn batches_are_read_in_order() {
        let root = tempfile::tempdir().unwrap();
        let many = super::super::batches::READ_AHEAD as u32 + 300;
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
        let message = Store::resume(&dir, &meta(), "suidao refresh").unwrap_err().to_string();
        assert!(message.contains(&format!("test (process {})", std::process::id())), "{message}");
        assert_eq!(Store::open(&dir).unwrap().len(), 2, "readers are not refused");
        drop(first);
        let later = Meta { created: Millis(9), version: "0.9.9".into(), ..meta() };
        assert_eq!(Store::resume(&dir, &later, "test").unwrap().meta(), &meta());
        for (what, other) in [
            ("topic", Meta { topic: "文学".into(), ..meta() }),
            ("lexicon", Meta { lexicon: "sha1:OTHER".into(), ..meta() }),
            ("strategy", Meta { strategy: "breadth-first".into(), ..meta() }),
            ("crawl.page_threshold", Meta { page_threshold: Relevance::new(0.6), ..meta() }),
        ] {
            let error = Store::resume(&dir, &other, "test").unwrap_err();
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
        assert!(matches!(Store::open(&dir), Err(StoreError::DamagedFile { .. })));
        std::fs::remove_file(dir.meta_json()).unwrap();
        assert!(matches!(Store::resume(&dir, &meta(), "test"), Err(StoreError::DamagedFile { .. })));
        assert!(!dir.holds_crawl());
    }

    #[test]
    fn pages_without_a_state_are_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let dir = CrawlDirectory::new(root.path());
        std::fs::create_dir(dir.pages()).unwrap();
        std::fs::write(dir.pages().join("suidao-00000.warc.gz"), "mine").unwrap();
        assert!(matches!(Store::resume(&dir, &meta(), "test"), Err(StoreError::UnknownFiles(_))));
        assert!(!dir.state().exists());
        // If log and marker are lost and the rest is not, a crawl must not start from nothing.
        dir.make().unwrap();
        std::fs::write(dir.meta_json(), serde_json::to_vec(&meta()).unwrap()).unwrap();
        let refused = Store::resume(&dir, &meta(), "test").unwrap_err().to_string();
        assert!(refused.contains("acknowledged") && refused.contains("--repair"), "{refused}");
    }

    #[test]
    fn damage_is_reported_with_directory_and_advice() {
        let root = tempfile::tempdir().unwrap();
        let dir = CrawlDirectory::new(root.path());
        drop(store(root.path(), 0..5));
        let whole = fs::read(dir.batches()).unwrap();
        let start = usize::try_from(Store::open(&dir).unwrap().end_of(2).unwrap().bytes).unwrap();
        for (at, word) in [(start + 40, "checksum"), (start + 3, "length"), (start + 5, "checksum")] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(dir.batches(), bytes).unwrap();
            let store = Store::open(&dir).unwrap();
            let read: Vec<_> = store.batches().collect();
            assert_eq!(read.len(), 3, "two batches and the error");
            let message = read[2].as_ref().unwrap_err().to_string();
            for part in [root.path().to_str().unwrap(), "batch 2", word, "another output directory"] {
                assert!(message.contains(part), "{message}");
            }
            assert!(store.batch(2).is_err() && store.batch(1).is_ok());
        }
        fs::write(dir.batches(), &whole[..whole.len() - 1]).unwrap();
        let message = Store::open(&dir).unwrap_err().to_string();
        assert!(message.contains("bytes were saved") && message.contains("--repair"), "{message}");
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..60), batches: u64) {
            let _ = decode(&bytes);
            let root = tempfile::tempdir().unwrap();
            let path = root.path().join("batches");
            fs::write(&path, &bytes).unwrap();
            let end = LogExtent { batches, bytes: bytes.len() as u64 };
            let _ = decoded(Frames::open(&path, LogExtent::default(), end)).count();
            let _ = (Frames::open(&path, LogExtent::default(), end).unwrap().ends(), Frames::intact(&path, end));
        }
    }
}
