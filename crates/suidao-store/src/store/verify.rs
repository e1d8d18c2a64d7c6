//! Checks a crawl directory and repairs it.
//!
//! Log and archive are read in parallel: both are in order of settling, so the first damage of either ends the intact
//! part. A repair cuts both there, moves the rest to `damaged-N`, and the crawl fetches it again when it resumes.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::archive::{ArchiveSettings, Location, WarcArchive, warc_files};
use super::directory::{CrawlDirectory, sync_directory, write_own};
use super::log_copy::{LogCopy, attempt};
use super::survey::{RecordSpan, survey};
use super::{Meta, PartDirectory, Record, Store, StoreError, plain_file};
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
    /// End of the intact archive.
    #[serde(skip)]
    last: Option<Location>,
}

/// Checks a crawl directory and changes nothing.
///
/// # Errors
/// [`StoreError`] if there is no crawl, one runs there, or the disk fails; damage is not an error.
pub fn check(dir: &CrawlDirectory) -> Result<CrawlCheck, StoreError> {
    let meta = Meta::read(dir)?;
    Ok(check_files(dir, meta, LogCopy::of(dir)?)?.0)
}

/// Cuts log and archive after the last intact batch. Returns what was found, and where the cut data is.
///
/// # Errors
/// As [`check`]. A repair that failed or was killed may be run again.
pub fn repair(dir: &CrawlDirectory) -> Result<(CrawlCheck, Option<PathBuf>), StoreError> {
    let meta = Meta::read(dir)?;
    // Held until the end, so that no crawl resumes meanwhile.
    let _lock = dir.lock()?;
    let (checked, store) = check_files(dir, meta, LogCopy::make(dir, None)?)?;
    if checked.damage.is_none() {
        return Ok((checked, None));
    }
    let log = dir.log();
    let part = PartDirectory::next_to(&log).map_err(StoreError::io(&log, "write it"))?;
    if let Some(store) = &store {
        store.copy_to(part.path(), checked.batches)?;
    }
    let aside = aside(dir)?;
    keep_archive(dir, checked.last, &aside)?;
    let replaced = exchange(part, &log, &aside.join("log"));
    replaced.map_err(StoreError::io(&log, "write it"))?;
    sync_directory(&dir.state())?;
    write_own(&dir.acknowledged(), |out| Ok(writeln!(out, "{:020}", checked.batches)?))?;
    let settings = ArchiveSettings { rotate_at: 0, user_agent: String::new(), request_headers: Vec::new() };
    WarcArchive::resume(dir, checked.last, settings)?;
    Ok((checked, Some(aside)))
}

fn check_files(dir: &CrawlDirectory, meta: Meta, copy: LogCopy) -> Result<(CrawlCheck, Option<Store>), StoreError> {
    let mut files = if dir.pages().is_dir() { warc_files(&dir.pages())? } else { Vec::new() };
    files.sort();
    let saved = acknowledged_batches(dir)?;
    let mut checked = CrawlCheck { files: files.len(), ..CrawlCheck::default() };
    let store = match attempt(|| Store::of_copy(dir, meta, copy))? {
        Ok(store) => store,
        Err(what) => {
            checked.damage = Some(format!("{}: {what}", dir.log().display()));
            return Ok((checked, None));
        }
    };
    let (mut checked, waiting) = {
        let mut checker =
            Checker { records: Box::new(store.batches()), log: dir.log(), waiting: None, begun: false, checked };
        checker.advance()?;
        for (number, path) in files {
            let mut result = Ok(());
            survey(&path, |span| {
                if result.is_ok() {
                    result = checker.check_span(number, &path, &span);
                }
            })?;
            result?;
        }
        (checker.checked, checker.waiting)
    };
    if checked.damage.is_none() {
        checked.damage = match (waiting, saved) {
            (Some((_, at)), _) => Some(format!(
                "{}: the record at byte {} of file {} is missing",
                dir.pages().display(),
                at.offset,
                at.file
            )),
            (None, Some(saved)) if saved > checked.batches => {
                Some(format!("{}: contains {} batches, but {saved} were saved", dir.log().display(), checked.batches))
            }
            (None, None) if checked.batches > 0 || checked.files > 0 => {
                Some(format!("{}: does not state the number of saved batches", dir.acknowledged().display()))
            }
            _ => None,
        };
    }
    Ok((checked, Some(store)))
}

struct Checker<'a> {
    records: Box<dyn Iterator<Item = Result<Record, StoreError>> + 'a>,
    log: PathBuf,
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
            match attempt(|| self.records.next().transpose())? {
                Ok(None) => break,
                Ok(Some(record)) => match record.archive {
                    Some(location) => self.waiting = Some((record, location)),
                    None => self.take(&record),
                },
                Err(what) => {
                    self.checked.damage = Some(format!("{}: {what}", self.log.display()));
                    break;
                }
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

/// Number of acknowledged batches; `None` if the file is invalid.
fn acknowledged_batches(dir: &CrawlDirectory) -> Result<Option<u64>, StoreError> {
    match plain_file::read(&dir.acknowledged(), plain_file::SMALL) {
        Ok(digits) => Ok(std::str::from_utf8(&digits).ok().and_then(|digits| digits.trim().parse().ok())),
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates a directory for the data of this repair.
fn aside(dir: &CrawlDirectory) -> Result<PathBuf, StoreError> {
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

/// Copies the part of the archive that will be cut.
fn keep_archive(dir: &CrawlDirectory, last: Option<Location>, aside: &Path) -> Result<(), StoreError> {
    for (number, path) in warc_files(&dir.pages())? {
        let from = match last {
            Some(last) if last.file > number => continue,
            Some(last) if last.file == number => last.end(),
            _ => 0,
        };
        let to = aside.join(format!("suidao-{number:05}.warc.gz.from-{from}"));
        let mut file = plain_file::open_following_links(&path)?;
        let copied = file.seek(SeekFrom::Start(from)).and_then(|_| {
            let mut out = File::create(&to)?;
            io::copy(&mut file, &mut out)?;
            out.sync_all()
        });
        copied.map_err(StoreError::io(&to, "save the removed part"))?;
    }
    sync_directory(aside)
}

/// Exchanges a new directory and the existing one, atomically if the system can, so that a kill leaves one of them.
fn exchange(part: PartDirectory, path: &Path, previous: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, part.path(), CWD, path, RenameFlags::EXCHANGE).is_ok() {
            return part.rename(previous);
        }
    }
    if path.exists() {
        fs::rename(path, previous)?;
    }
    part.rename(path)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::super::{WarcEntry, Work, Writer};
    use super::*;

    /// A crawl of `batches` steps, each with a page in the archive, in files of a few pages.
    fn crawl(root: &Path, batches: u32) -> CrawlDirectory {
        let dir = CrawlDirectory::new(root);
        let store = Store::resume(&dir, &meta()).unwrap();
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
        assert_eq!(repair(&dir).unwrap().1, None);
        for n in [0, 1, 17, 39] {
            for position in [at[n].offset + at[n].length / 2, at[n].offset - 20] {
                let root = tempfile::tempdir().unwrap();
                let dir = crawl(root.path(), 40);
                flip(&file(&dir, at[n].file), position);
                let found = check(&dir).unwrap();
                assert_eq!(found.batches, n as u64, "{found:?}");
                assert!(found.damage.as_ref().unwrap().contains("not a complete record"), "{found:?}");
                let (cut, aside) = repair(&dir).unwrap();
                assert_eq!(cut, found);
                assert!(aside.unwrap().join("log/db").exists());
                assert_eq!(check(&dir).unwrap().damage, None);
                assert_eq!(Store::open(&dir).unwrap().len(), n as u64);
                assert_eq!(check(&crawl(root.path(), 40)).unwrap().batches, 40);
            }
        }
    }

    #[test]
    fn a_log_that_has_lost_batches_is_cut_with_its_archive() {
        for (saved, word) in [(41, "but 41 were saved"), (0, "does not state")] {
            let root = tempfile::tempdir().unwrap();
            let dir = crawl(root.path(), 5);
            let text = if saved > 0 { format!("{saved:020}\n") } else { String::new() };
            fs::write(dir.acknowledged(), text).unwrap();
            assert!(Store::open(&dir).is_err());
            assert!(check(&dir).unwrap().damage.unwrap().contains(word));
            repair(&dir).unwrap();
            assert_eq!((check(&dir).unwrap().damage, Store::open(&dir).unwrap().len()), (None, 5));
        }
        let root = tempfile::tempdir().unwrap();
        let dir = crawl(root.path(), 5);
        fs::remove_dir_all(dir.log()).unwrap();
        assert_eq!(check(&dir).unwrap().batches, 0);
        let aside = repair(&dir).unwrap().1.unwrap();
        assert!(aside.join("suidao-00000.warc.gz.from-0").exists());
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
        assert!(matches!(
            {
                let _lock = dir.lock().unwrap();
                check(&dir)
            },
            Err(StoreError::InUse(_))
        ));
        assert!(matches!(check(&CrawlDirectory::new(root.path().join("none"))), Err(StoreError::NoCrawl { .. })));
    }
}
