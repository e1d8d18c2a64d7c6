//! Checks a crawl directory and repairs it.
//!
//! Log and archive are read in parallel: both are in order of settling, so the first damage of either ends the intact
//! part. A batch that is damaged in `state/batches` may be intact in the writer's copy (`state/log`). Otherwise a
//! repair cuts log and archive there, moves the rest to `damaged-N`, and the crawl fetches it again when it resumes.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::archive::{ArchiveSettings, Location, WarcArchive, warc_files};
use super::batches::{Frames, LogExtent};
use super::directory::{CrawlDirectory, sync_directory};
use super::error::StoreError;
use super::log::truncate;
use super::marker::{Acknowledged, CommitMarker};
use super::survey::{RecordSpan, survey};
use super::{Meta, Record, Store, plain_file};
use suidao_page::model::Event;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CrawlCheck {
    /// Intact batches, from the first one on.
    pub batches: u64,
    /// Pages settled in them.
    pub pages: u64,
    pub files: usize,
    /// The first damage, if any.
    pub damage: Option<String>,
    /// How a repair mends it.
    pub repair: Option<RepairPlan>,
    /// `state/log`, the writer's copy of the log, is missing. Readers do not need it, and the next writer restores it.
    pub writers_log_missing: bool,
    /// End of the intact archive.
    #[serde(skip)]
    last: Option<Location>,
}

/// How a repair mends the first damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepairPlan {
    /// It restores the log from `state/log` if that has all batches, and cuts log and archive otherwise.
    RestoreOrCut,
    /// It cuts log and archive after the last intact batch.
    Cut,
}

/// What a repair did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepairOutcome {
    /// Nothing was damaged.
    Intact,
    /// All batches are there again: the two copies of the log restored each other.
    Restored,
    /// Log and archive were cut after the last intact batch.
    Cut {
        /// The directory with the rest.
        moved_to: PathBuf,
        /// The rest has the scores of `suidao rescore`, so pages have those of the crawl again.
        scores_lost: bool,
    },
}

/// Checks what readers of a crawl directory use, and changes nothing. Of a running crawl, what is durable now.
///
/// # Errors
/// [`StoreError`] if there is no crawl, or the disk fails; damage is not an error.
pub fn check(dir: &CrawlDirectory) -> Result<CrawlCheck, StoreError> {
    let meta = Meta::read(dir)?;
    let marked = CommitMarker::of(dir)?;
    let batches = if dir.batches().symlink_metadata().is_err() {
        LogExtent::default()
    } else if let Some(marked) = marked {
        marked.all
    } else {
        Frames::intact(&dir.batches(), LogExtent::default())?
    };
    let store = Store::of_extent(dir, meta, batches);
    let mut checked = check_files(&store)?;
    let is_missing = |path: &Path| path.symlink_metadata().is_err();
    checked.writers_log_missing = checked.batches > 0 && is_missing(&dir.log());
    if checked.damage.is_none() {
        let saved = marked.map(|marked| marked.all.batches);
        let what = match saved {
            Some(saved) if saved > checked.batches => {
                let path = dir.batches();
                let found = if is_missing(&path) {
                    "is missing".into()
                } else {
                    format!("contains {} batches", checked.batches)
                };
                Some(format!("{}: {found}, but {saved} were saved", path.display()))
            }
            None if checked.batches > 0 || checked.files > 0 => {
                let path = dir.acknowledged();
                let found = if is_missing(&path) { "is missing" } else { "does not state the number of saved batches" };
                Some(format!("{}: {found}", path.display()))
            }
            _ => None,
        };
        checked.damage = what;
        checked.repair = checked.damage.is_some().then_some(RepairPlan::RestoreOrCut);
    }
    if checked.repair == Some(RepairPlan::RestoreOrCut) && is_missing(&dir.log()) {
        checked.repair = Some(RepairPlan::Cut);
    }
    Ok(checked)
}

/// Restores the log if `state/log` or `state/batches` has all of it, or cuts log and archive after the last intact batch. Returns what
/// was found first, and what was done.
///
/// # Errors
/// As [`check`], and [`StoreError::InUse`]. A repair that failed or was killed may be run again.
pub fn repair(dir: &CrawlDirectory) -> Result<(CrawlCheck, RepairOutcome), StoreError> {
    let meta = Meta::read(dir)?;
    // Held until the end, so that no crawl resumes meanwhile.
    let _lock = dir.lock("suidao check crawl --repair")?;
    let first = check(dir)?;
    if first.damage.is_none() {
        return Ok((first, RepairOutcome::Intact));
    }
    match Store::open_to_write(dir, meta.clone(), None, true) {
        Ok(_) | Err(StoreError::Damaged { .. }) => {}
        Err(error) => return Err(error),
    }
    let checked = check(dir)?;
    if checked.damage.is_none() {
        return Ok((checked, RepairOutcome::Restored));
    }
    let damaged = create_damaged_directory(dir)?;
    let path = dir.batches();
    let mut file = plain_file::open(&path, File::options().read(true).write(true).create(true).truncate(false))?;
    let all = LogExtent { batches: checked.batches + 1, bytes: u64::MAX };
    let keep = Store::of_extent(dir, meta.clone(), all).end_of(checked.batches)?;
    let scores_lost = meta.rescoring.as_ref().is_some_and(|rescoring| !rescoring.is_in(keep.batches));
    if scores_lost {
        Meta { rescoring: None, ..meta.clone() }.write(dir)?;
    }
    copy_from(&mut file, keep.bytes, &damaged.join(format!("batches.from-{}", keep.bytes)))?;
    copy_cut_archive(dir, checked.last, &damaged)?;
    // `state/log` first: it must not have less than `state/batches`.
    Store::replace_engine(dir, keep, Some(&damaged.join("log")))?;
    truncate(&mut file, &path, keep)?;
    file.sync_all().map_err(StoreError::io(&path, "write it"))?;
    let marker = CommitMarker::open(dir, File::options().read(true).write(true).create(true).truncate(true))?;
    marker.write(Acknowledged { all: keep, synced: keep })?;
    let settings =
        ArchiveSettings { rotate_at: 0, user_agent: String::new(), request_headers: Vec::new(), robots: None };
    WarcArchive::resume(dir, checked.last, settings)?;
    Ok((checked, RepairOutcome::Cut { moved_to: damaged, scores_lost }))
}

fn check_files(store: &Store) -> Result<CrawlCheck, StoreError> {
    let dir = store.directory();
    let mut files = if dir.pages().is_dir() { warc_files(&dir.pages())? } else { Vec::new() };
    files.sort();
    let checked = CrawlCheck { files: files.len(), ..CrawlCheck::default() };
    // Scores of `suidao rescore` come last; without them the pages before are intact.
    let mut checker = Checker { records: Box::new(store.stored_batches()), waiting: None, begun: false, checked };
    if !store.is_empty() {
        checker.advance()?;
    }
    for (number, path) in files {
        if checker.waiting.is_none() {
            break;
        }
        let mut result = Ok(());
        survey(&path, |span| {
            if result.is_ok() {
                result = checker.check_span(number, &path, &span);
            }
        })?;
        result?;
    }
    let Checker { mut checked, waiting, .. } = checker;
    if let Some((_, at)) = waiting.filter(|_| checked.damage.is_none()) {
        let Location { file, offset, .. } = at;
        let pages = dir.pages();
        checked.damage = Some(format!("{}: the record at byte {offset} of file {file} is missing", pages.display()));
        checked.repair = Some(RepairPlan::Cut);
    }
    Ok(checked)
}

struct Checker<'a> {
    records: Box<dyn Iterator<Item = Result<Record, StoreError>> + 'a>,
    /// A batch whose archive record has not been read yet.
    waiting: Option<(Record, Location)>,
    /// Its first record was read; a second one is the rendered copy.
    begun: bool,
    checked: CrawlCheck,
}

impl Checker<'_> {
    /// Accepts batches up to the next one with an archive record.
    fn advance(&mut self) -> Result<(), StoreError> {
        while self.waiting.is_none() {
            match self.records.next() {
                None => break,
                Some(Ok(record)) => match record.archive {
                    Some(location) => self.waiting = Some((record, location)),
                    None => self.take(&record),
                },
                Some(Err(StoreError::Damaged { path, what })) => {
                    self.checked.damage = Some(format!("{}: {what}", path.display()));
                    self.checked.repair = Some(RepairPlan::RestoreOrCut);
                    break;
                }
                Some(Err(error)) => return Err(error),
            }
        }
        Ok(())
    }

    fn take(&mut self, record: &Record) {
        let is_page = |event: &&Event| matches!(event, Event::PageFetched(page) if page.changes.is_none());
        self.checked.pages += record.batch.events.iter().filter(is_page).count() as u64;
        self.checked.batches += 1;
    }

    /// Processes a span of the archive. After the first damage, or the last batch, nothing matters.
    fn check_span(&mut self, file: u32, path: &Path, span: &RecordSpan) -> Result<(), StoreError> {
        let Some((record, location)) = self.waiting.take_if(|_| self.checked.damage.is_none()) else { return Ok(()) };
        if let Err(what) = &span.content {
            let of = span.uri.as_ref().map(|uri| format!(" of {uri}")).unwrap_or_default();
            let (path, RecordSpan { offset, length, .. }) = (path.display(), span);
            let what = format!("{path}: {length} bytes at byte {offset} are not a complete record{of}: {what}");
            self.checked.damage = Some(what);
            self.checked.repair = Some(RepairPlan::Cut);
            return Ok(());
        }
        self.begun |= (file, span.offset) == (location.file, location.offset);
        if self.begun && span.offset + span.length == location.end() {
            self.begun = false;
            self.checked.last = Some(location);
            self.take(&record);
            return self.advance();
        }
        self.waiting = Some((record, location));
        Ok(())
    }
}

/// Creates a directory `damaged-N` for what this repair removes.
fn create_damaged_directory(dir: &CrawlDirectory) -> Result<PathBuf, StoreError> {
    let mut number = 1;
    loop {
        let path = dir.root().join(format!("damaged-{number}"));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(StoreError::io(&path, "create the directory")(error)),
            Ok(()) => return sync_directory(dir.root()).map(|()| path),
        }
    }
}

/// Copies the part of the archive that will be cut to `damaged`.
fn copy_cut_archive(dir: &CrawlDirectory, last: Option<Location>, damaged: &Path) -> Result<(), StoreError> {
    for (number, path) in warc_files(&dir.pages())? {
        let from = match last {
            Some(last) if last.file > number => continue,
            Some(last) if last.file == number => last.end(),
            _ => 0,
        };
        let to = damaged.join(format!("suidao-{number:05}.warc.gz.from-{from}"));
        copy_from(&mut plain_file::open_following_links(&path)?, from, &to)?;
    }
    sync_directory(damaged)
}

/// Copies what a file has after `from`.
fn copy_from(file: &mut File, from: u64, to: &Path) -> Result<(), StoreError> {
    let copied = file.seek(SeekFrom::Start(from)).and_then(|_| {
        let mut out = File::create(to)?;
        io::copy(file, &mut out)?;
        out.sync_all()
    });
    copied.map_err(StoreError::io(to, "save the removed part"))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::super::{WarcEntry, Work, Writer};
    use super::*;

    /// A crawl of `batches` steps, each with a page in the archive, in files of a few pages.
    fn crawl(root: &Path, batches: u32) -> CrawlDirectory {
        let dir = CrawlDirectory::new(root);
        let store = Store::resume(&dir, &meta(), "test").unwrap();
        let last = store.last_location().unwrap();
        let first = u32::try_from(store.len()).unwrap();
        let writer = Writer::spawn(store, WarcArchive::resume(&dir, last, settings(20_000)).unwrap(), |_| {}).unwrap();
        for n in first..batches {
            writer.submit(Work { batch: batch(n, 3), response: Some(WarcEntry::Whole(fetched(n, 3000))) }).unwrap();
        }
        writer.finish().unwrap();
        dir
    }

    fn flip(path: &Path, at: u64) {
        let mut bytes = fs::read(path).unwrap();
        bytes[at as usize] ^= 0x5A;
        fs::write(path, bytes).unwrap();
    }

    fn file(dir: &CrawlDirectory, number: u32) -> PathBuf {
        warc_files(&dir.pages()).unwrap().into_iter().find(|(found, _)| *found == number).unwrap().1
    }

    #[test]
    fn bytes_after_the_first_damage_are_cut_off_and_saved() {
        let whole = tempfile::tempdir().unwrap();
        let dir = crawl(whole.path(), 40);
        let at: Vec<_> = Store::open(&dir).unwrap().batches().map(|record| record.unwrap().archive.unwrap()).collect();
        assert!(at[39].file > 2);
        let sound = check(&dir).unwrap();
        assert_eq!((sound.batches, sound.damage), (40, None));
        assert_eq!(repair(&dir).unwrap().1, RepairOutcome::Intact);
        for n in [0, 1, 17, 39] {
            for position in [at[n].offset + at[n].length / 2, at[n].offset - 20] {
                let root = tempfile::tempdir().unwrap();
                let dir = crawl(root.path(), 40);
                flip(&file(&dir, at[n].file), position);
                let found = check(&dir).unwrap();
                assert_eq!(found.batches, n as u64, "{found:?}");
                assert!(found.damage.as_ref().unwrap().contains("not a complete record"), "{found:?}");
                let (cut, outcome) = repair(&dir).unwrap();
                assert_eq!(cut, found);
                let RepairOutcome::Cut { moved_to, .. } = outcome else { panic!("{outcome:?}") };
                assert!(moved_to.join("log/db").exists());
                assert_eq!(check(&dir).unwrap().damage, None);
                assert_eq!(Store::open(&dir).unwrap().len(), n as u64);
                assert_eq!(check(&crawl(root.path(), 40)).unwrap().batches, 40);
            }
        }
    }

    #[test]
    fn a_log_that_has_lost_batches_is_cut_with_its_archive() {
        let root = tempfile::tempdir().unwrap();
        let dir = crawl(root.path(), 5);
        fs::write(dir.acknowledged(), "").unwrap();
        assert!(Store::open(&dir).is_err());
        assert!(check(&dir).unwrap().damage.unwrap().contains("does not state"));
        repair(&dir).unwrap();
        assert_eq!((check(&dir).unwrap().damage, Store::open(&dir).unwrap().len()), (None, 5));

        let middle = Store::open(&dir).unwrap().end_of(2).unwrap().bytes + 50;
        flip(&dir.batches(), middle);
        let found = check(&dir).unwrap();
        assert!(found.batches == 2 && found.damage.unwrap().contains("batch 2: its checksum is wrong"));
        // `state/log` has it.
        assert_eq!(repair(&dir).unwrap().1, RepairOutcome::Restored);
        assert_eq!((check(&dir).unwrap().damage, Store::open(&dir).unwrap().len()), (None, 5));
        flip(&dir.batches(), middle);
        fs::remove_dir_all(dir.log()).unwrap();
        assert!(matches!(repair(&dir).unwrap().1, RepairOutcome::Cut { .. }));
        assert_eq!((check(&dir).unwrap().damage, Store::open(&dir).unwrap().len()), (None, 2));
        assert_eq!(check(&crawl(root.path(), 5)).unwrap().batches, 5);

        fs::remove_dir_all(dir.log()).unwrap();
        fs::remove_file(dir.batches()).unwrap();
        let found = check(&dir).unwrap();
        assert!(found.batches == 0 && found.damage.unwrap().contains("5 were saved"));
        let RepairOutcome::Cut { moved_to, .. } = repair(&dir).unwrap().1 else { panic!() };
        assert!(moved_to.join("suidao-00000.warc.gz.from-0").exists());
        assert_eq!((check(&dir).unwrap().damage, Store::open(&dir).unwrap().len()), (None, 0));
        crawl(root.path(), 5);
        assert_eq!(check(&dir).unwrap().batches, 5);
    }

    #[test]
    fn what_a_kill_leaves_is_sound() {
        let root = tempfile::tempdir().unwrap();
        let dir = crawl(root.path(), 5);
        let last = file(&dir, 0);
        let torn = [&fs::read(&last).unwrap()[..], &[0x1f, 0x8b, 8, 0, 1, 2]].concat();
        fs::write(&last, torn).unwrap();
        assert_eq!(check(&dir).unwrap().damage, None);
        let _lock = dir.lock("suidao crawl").unwrap();
        assert_eq!(check(&dir).unwrap().damage, None, "a running crawl can be checked");
        assert!(matches!(repair(&dir), Err(StoreError::InUse { .. })));
        assert!(matches!(check(&CrawlDirectory::new(root.path().join("none"))), Err(StoreError::NoCrawl { .. })));
    }
}
