//! The archive: every stored response with its request, as records in WARC files, in order of settling.
//!
//! Files are numbered; the current one ends in `.open` until it is closed. The archive does not know batches: the log
//! has each page's [`Location`], and [`WarcArchive::resume`] gets the last one. Everything after it was never
//! acknowledged and is cut off, so that no page is archived twice.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::{CrawlDirectory, WarcEntry, plain_file, warc};
use suidao_page::model::{Fetched, Millis};

/// The records of one response in a WARC file: its request, and right after it the response or revisit record (one gzip
/// member, or two if a rendered copy follows). The file may be cut at its end, because nothing else of the response
/// comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    pub file: u32,
    /// Bytes of the request record, which ends at `offset`.
    pub request: u64,
    /// Where the response or revisit record starts.
    pub offset: u64,
    /// Bytes of the response or revisit record.
    pub length: u64,
}

impl Location {
    /// Where the request record starts.
    pub fn start(self) -> u64 {
        self.offset.saturating_sub(self.request)
    }

    pub fn end(self) -> u64 {
        self.offset + self.length
    }
}

#[derive(Clone, Debug)]
pub struct ArchiveSettings {
    /// Bytes after which a file is closed and the next one begins.
    pub rotate_at: u64,
    /// Empty if it is unknown, because another crawler sent the requests.
    pub user_agent: String,
    /// The other header fields of every request, in lower case.
    pub request_headers: Vec<(String, String)>,
    /// Whether robots.txt is obeyed; `None` if it is unknown, because another crawler sent the requests.
    pub robots: Option<bool>,
}

impl ArchiveSettings {
    /// 1 GB, the usual size.
    pub const ROTATE_AT: u64 = 1_000_000_000;
}

/// File names before the number.
const PREFIX: &str = "suidao";

#[derive(Debug)]
pub struct WarcArchive {
    pages: PathBuf,
    /// Kept open, because connections may occupy every descriptor.
    directory: Option<File>,
    settings: ArchiveSettings,
    request_headers: Vec<(String, String)>,
    number: u32,
    open: Option<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    path: PathBuf,
    /// Bytes added so far, `pending` included.
    length: u64,
    pending: Vec<u8>,
}

impl WarcArchive {
    /// Opens the archive of `dir` after `last`, the last location in the log. Later bytes were never acknowledged:
    /// later files are removed, and the file of `last` is cut.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if a file is missing or shorter than the log requires; [`StoreError::Io`].
    pub fn resume(dir: &CrawlDirectory, last: Option<Location>, settings: ArchiveSettings) -> Result<Self, StoreError> {
        let pages = dir.pages();
        let keep = last.map(|location| location.file);
        let mut files = warc_files(&pages)?;
        let last_file = files.iter().position(|(number, _)| Some(*number) == keep).map(|at| files.swap_remove(at).1);
        // The highest first, so that what is left is always a prefix.
        files.sort();
        for (_, path) in files.iter().rev().filter(|(number, _)| keep.is_none_or(|keep| *number > keep)) {
            fs::remove_file(path).map_err(StoreError::io(path, "remove unconfirmed pages"))?;
        }
        let agent = Some(settings.user_agent.clone()).filter(|agent| !agent.is_empty());
        let mut request_headers: Vec<_> = agent.map(|agent| ("user-agent".to_owned(), agent)).into_iter().collect();
        request_headers.extend(settings.request_headers.iter().cloned());
        // Only Unix opens directories as files; elsewhere the system makes names durable itself.
        let directory = cfg!(unix).then(|| File::open(&pages)).transpose();
        let directory = directory.map_err(StoreError::io(&pages, "open it"))?;
        let mut archive = Self { pages, directory, settings, request_headers, number: 0, open: None };
        if let Some(last) = last {
            archive.number = last.file;
            let path = last_file.ok_or_else(|| missing(&archive.pages, last))?;
            archive.reopen(path, last)?;
        }
        archive.sync_names()?;
        Ok(archive)
    }

    fn sync_names(&self) -> Result<(), StoreError> {
        let fail = StoreError::io(&self.pages, "sync the directory");
        self.directory.as_ref().map_or(Ok(()), File::sync_all).map_err(fail)
    }

    /// Opens the file of the last location and cuts it; a file that ends there stays closed.
    fn reopen(&mut self, path: PathBuf, last: Location) -> Result<(), StoreError> {
        let open_path = self.pages.join(open_name(last.file));
        let found =
            plain_file::open_following_links(&path)?.metadata().map_err(StoreError::io(&path, "read its size"))?.len();
        if found < last.end() {
            let what = format!("it ends at byte {found}, but the log refers to a page up to byte {}", last.end());
            return Err(StoreError::damaged(&path, what));
        }
        if path != open_path {
            if found == last.end() {
                self.number += 1;
                return Ok(());
            }
            plain_file::open(&path, OpenOptions::new().read(true))?;
            fs::rename(&path, &open_path).map_err(StoreError::io(&path, "rename it"))?;
        }
        let fail = || StoreError::io(&open_path, "truncate it after the last saved page");
        // A symbolic link is rejected: move the file back before it is truncated and written.
        let mut file = plain_file::open(&open_path, OpenOptions::new().write(true))?;
        file.set_len(last.end()).map_err(fail())?;
        file.sync_all().map_err(fail())?;
        file.seek(SeekFrom::End(0)).map_err(fail())?;
        self.open = Some(OpenFile { file, path: open_path, length: last.end(), pending: Vec::new() });
        Ok(())
    }

    /// Adds a request and its response. They are on disk after the next [`WarcArchive::sync`].
    pub fn add(&mut self, entry: &WarcEntry, at: Millis) -> Result<Location, StoreError> {
        let mut open = self.open_file(at)?;
        // With time and position, a page fetched twice gets two ids.
        let name = format!("{} {} {} {}", entry.url(), at.0, self.number, open.length);
        let start = open.pending.len();
        let written = entry.write(at, &name, &self.request_headers, open.pending);
        let (pending, middle) = written.map_err(StoreError::io(&open.path, "compress a page"))?;
        open.pending = pending;
        let (request, length) = ((middle - start) as u64, (open.pending.len() - middle) as u64);
        self.added(open, request, length)
    }

    /// Adds the records of a response from another archive, as [`ArchiveReader::records`] gives them; `there` is their
    /// location.
    pub fn add_copy(&mut self, records: &[u8], there: Location, at: Millis) -> Result<Location, StoreError> {
        let mut open = self.open_file(at)?;
        open.pending.extend_from_slice(records);
        self.added(open, there.request, there.length)
    }

    /// The current file; the next one if it is full.
    fn open_file(&mut self, at: Millis) -> Result<OpenFile, StoreError> {
        if self.open.as_ref().is_some_and(|open| open.length >= self.settings.rotate_at) {
            self.close()?;
        }
        match self.open.take() {
            Some(open) => Ok(open),
            None => self.begin(at),
        }
    }

    /// Records of these lengths were appended to the pending bytes of a file.
    fn added(&mut self, mut open: OpenFile, request: u64, length: u64) -> Result<Location, StoreError> {
        let offset = open.length + request;
        open.length = offset + length;
        if open.pending.len() >= PENDING {
            open.flush_pending()?;
        }
        self.open = Some(open);
        Ok(Location { file: self.number, request, offset, length })
    }

    /// Starts the current file with a warcinfo record.
    fn begin(&self, at: Millis) -> Result<OpenFile, StoreError> {
        let name = open_name(self.number);
        let path = self.pages.join(&name);
        let fail = || StoreError::io(&path, "create it");
        let file = create_when_free(&path).map_err(fail())?;
        let agent = self.settings.user_agent.as_str();
        let mut fields = vec![if agent.is_empty() {
            ("description", "imported from archives of another crawler; requests are reconstructed")
        } else {
            ("http-header-user-agent", agent)
        }];
        fields.extend(self.settings.robots.map(|obeyed| ("robots", if obeyed { "obeyed" } else { "ignored" })));
        let pending =
            warc::info(name.trim_end_matches(OPEN), &format!("{name} {}", at.0), at, &fields).map_err(fail())?;
        self.sync_names()?;
        Ok(OpenFile { file, path, length: pending.len() as u64, pending })
    }

    pub fn sync(&mut self) -> Result<(), StoreError> {
        match &mut self.open {
            Some(open) => open.sync(),
            None => Ok(()),
        }
    }

    /// Syncs the current file and gives it its final name; a later page begins the next.
    pub fn close(&mut self) -> Result<(), StoreError> {
        let Some(open) = &mut self.open else { return Ok(()) };
        open.sync()?;
        let closed = self.pages.join(closed_name(self.number));
        fs::rename(&open.path, &closed).map_err(StoreError::io(&open.path, "rename it"))?;
        self.sync_names()?;
        self.open = None;
        self.number += 1;
        Ok(())
    }
}

/// Bytes buffered before a write.
const PENDING: usize = 1 << 20;

impl OpenFile {
    fn flush_pending(&mut self) -> Result<(), StoreError> {
        self.file.write_all(&self.pending).map_err(StoreError::io(&self.path, "write a page"))?;
        self.pending.clear();
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.flush_pending()?;
        self.file.sync_data().map_err(StoreError::io(&self.path, "write a page"))
    }
}

/// How often opening a file is tried while connections occupy all descriptors, every tenth of a second: longer than an
/// idle connection is kept.
const TRIES_FOR_A_DESCRIPTOR: usize = 150;

/// Creates a file, and waits for a descriptor if connections occupy all of them.
#[allow(clippy::disallowed_methods, reason = "an edge, and the system offers nothing to wait on")]
fn create_when_free(path: &Path) -> io::Result<File> {
    let mut tries = 0;
    loop {
        let created = OpenOptions::new().write(true).create_new(true).open(path);
        let code = created.as_ref().err().and_then(io::Error::raw_os_error);
        let is_exhausted = [Errno::MFILE, Errno::NFILE].map(|errno| Some(errno.raw_os_error())).contains(&code);
        if !is_exhausted || tries == TRIES_FOR_A_DESCRIPTOR {
            return created;
        }
        tries += 1;
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

const OPEN: &str = ".open";

fn closed_name(number: u32) -> String {
    format!("{PREFIX}-{number:05}.warc.gz")
}

fn open_name(number: u32) -> String {
    format!("{PREFIX}-{number:05}.warc.gz{OPEN}")
}

/// The path of file `number` of the archive in `pages`, once it is closed.
pub fn warc_file(pages: &Path, number: u32) -> PathBuf {
    pages.join(closed_name(number))
}

/// Makes file `number` of the archive in `pages` a link to file `of` of the archive in `from`, which may still grow.
pub fn link_file(pages: &Path, number: u32, from: &Path, of: u32) -> Result<(), StoreError> {
    for (name, target) in [(closed_name(number), closed_name(of)), (open_name(number), open_name(of))] {
        let path = pages.join(name);
        std::os::unix::fs::symlink(from.join(target), &path).map_err(StoreError::io(&path, "create a link"))?;
    }
    Ok(())
}

/// The archive's files by number; other files are ignored.
pub fn warc_files(pages: &Path) -> Result<Vec<(u32, PathBuf)>, StoreError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(pages).map_err(StoreError::io(pages, "list the directory"))? {
        let path = entry.map_err(StoreError::io(pages, "list the directory"))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(OPEN).unwrap_or(&name);
        let number = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix('-'));
        let number = number.and_then(|rest| rest.strip_suffix(".warc.gz")).and_then(|digits| digits.parse().ok());
        if let Some(number) = number {
            files.push((number, path));
        }
    }
    Ok(files)
}

/// Opens a WARC file, possibly of a crawl that is running: it is renamed when it is closed, and when it is continued.
pub(super) fn open_archive_file(path: &Path) -> Result<(PathBuf, File), StoreError> {
    let closed = path.as_os_str().as_encoded_bytes().strip_suffix(OPEN.as_bytes()).map(|_| path.with_extension(""));
    let mut open = path.as_os_str().to_owned();
    open.push(OPEN);
    let other = closed.unwrap_or_else(|| open.into());
    for path in [path, &other] {
        match plain_file::open_following_links(path) {
            Err(error) if error.is_not_found() => {}
            opened => return Ok((path.to_owned(), opened?)),
        }
    }
    plain_file::open_following_links(path).map(|file| (path.to_owned(), file))
}

fn missing(pages: &Path, location: Location) -> StoreError {
    let what = format!("{} is missing, but the log refers to a page in it", closed_name(location.file));
    StoreError::damaged(pages, what)
}

#[derive(Debug)]
pub struct ArchiveReader {
    pages: PathBuf,
    limit: usize,
    open: Option<(u32, PathBuf, File)>,
}

impl ArchiveReader {
    /// Reads the archive of `dir`; decodes bodies to at most `limit` bytes.
    pub fn new(dir: &CrawlDirectory, limit: usize) -> Self {
        Self { pages: dir.pages(), limit, open: None }
    }

    pub fn read_at(&mut self, location: Location) -> Result<Fetched, StoreError> {
        let (records, path) = self.records(location)?;
        unpack_records(&records, &path, location, self.limit)
    }

    /// The compressed request and response at a location and their file, so that other threads can unpack them.
    pub fn records(&mut self, location: Location) -> Result<(Vec<u8>, PathBuf), StoreError> {
        if self.open.as_ref().is_none_or(|(number, ..)| *number != location.file) {
            let path = self.pages.join(closed_name(location.file));
            match open_archive_file(&path) {
                Ok((path, file)) => self.open = Some((location.file, path, file)),
                Err(error) if error.is_not_found() => return Err(missing(&self.pages, location)),
                Err(error) => return Err(error),
            }
        }
        let Some((_, path, file)) = &mut self.open else { return Err(missing(&self.pages, location)) };
        // A record that unpacks to at most `limit` bytes is not longer than this. The length in the log is not trusted.
        let longest = 2 * (self.limit as u64).saturating_add(2 * warc::HEAD_LIMIT as u64);
        let length = location.request.saturating_add(location.length);
        if length > longest {
            let what = format!("the record at byte {}: {length} bytes exceed the size of any page", location.offset);
            return Err(StoreError::damaged(path, what));
        }
        let mut records = Vec::new();
        let read = file.seek(SeekFrom::Start(location.start()));
        let read = read.and_then(|_| file.take(length).read_to_end(&mut records));
        read.map_err(StoreError::io(path, "read a page"))?;
        if (records.len() as u64) < length {
            let what = format!("it ends within the record at byte {}", location.offset);
            return Err(StoreError::damaged(path, what));
        }
        Ok((records, path.clone()))
    }
}

/// Unpacks the response in the result of [`ArchiveReader::records`].
pub fn unpack_records(records: &[u8], path: &Path, location: Location, limit: usize) -> Result<Fetched, StoreError> {
    let response = usize::try_from(location.request).ok().and_then(|request| records.get(request..));
    let what = match warc::unpack_response(response.unwrap_or_default(), limit) {
        Ok(Some(fetched)) => return Ok(fetched),
        Ok(None) => "not the record of a page".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(StoreError::damaged(path, format!("the record at byte {}: {what}", location.offset)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use bytes::Bytes;
    use flate2::Compression;

    use super::super::fixture::*;
    use super::*;
    use suidao_page::model::Validators;

    fn add(archive: &mut WarcArchive, pages: std::ops::Range<u32>) -> Vec<Location> {
        let locations =
            pages.map(|n| archive.add(&WarcEntry::Whole(fetched(n, 2000)), Millis(u64::from(n))).unwrap()).collect();
        archive.sync().unwrap();
        locations
    }

    fn open(root: &Path, last: Option<Location>, rotate_at: u64) -> Result<WarcArchive, StoreError> {
        let dir = CrawlDirectory::new(root);
        dir.make()?;
        WarcArchive::resume(&dir, last, settings(rotate_at))
    }

    fn names(root: &Path) -> Vec<String> {
        archived(root).into_iter().map(|(name, _)| name).collect()
    }

    fn urls(root: &Path) -> Vec<String> {
        archived(root).into_iter().flat_map(|(_, urls)| urls).collect()
    }

    #[test]
    fn answers_are_read_unchanged() {
        let root = tempfile::tempdir().unwrap();
        let mut archive = open(root.path(), None, 1 << 30).unwrap();
        let mut packed = fetched(1, 3000);
        packed.headers.push(("content-encoding".into(), "zstd".into()));
        packed.wire = Some(zstd::encode_all(&packed.body[..], 1).unwrap().into());
        packed.headers[1].1 = packed.wire.as_ref().unwrap().len().to_string();
        let mut odd = fetched(2, 10);
        odd.status = 299;
        odd.headers = vec![("x-a".into(), "ü\r\ninjected: 1".into()), ("content-length".into(), "5".into())];
        odd.headers.push(("transfer-encoding".into(), "chunked".into()));
        // It declares gzip and is not.
        odd.headers.push(("content-encoding".into(), "gzip".into()));
        let mut empty = fetched(3, 0);
        empty.body = Bytes::new();
        empty.headers.clear();
        let at = [&packed, &odd, &empty].map(|page| archive.add(&WarcEntry::Whole(page.clone()), Millis(5)).unwrap());
        archive.close().unwrap();
        let mut reader = ArchiveReader::new(&CrawlDirectory::new(root.path()), 1 << 20);
        assert_eq!(reader.read_at(at[0]).unwrap(), packed);
        let back = reader.read_at(at[1]).unwrap();
        assert_eq!((back.status, &back.body, &back.wire), (299, &odd.body, &None));
        assert_eq!(back.header("x-a"), Some("ü  injected: 1"));
        assert_eq!(back.header("content-length"), Some(odd.body.len().to_string().as_str()));
        assert_eq!(back.header("transfer-encoding"), None);
        assert!(reader.read_at(at[2]).unwrap().body.is_empty());
        let elsewhere = Location { offset: at[1].offset + 3, ..at[1] };
        assert!(matches!(reader.read_at(elsewhere), Err(StoreError::Damaged { .. })));
        assert!(matches!(reader.read_at(Location { file: 9, ..at[0] }), Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn the_longest_permitted_head_is_read_unchanged() {
        let root = tempfile::tempdir().unwrap();
        let mut archive = open(root.path(), None, 1 << 30).unwrap();
        let mut cookie = fetched(0, 2000);
        cookie.headers.push(("set-cookie".into(), "x".repeat(300 << 10)));
        // Latin-1, twice as long in UTF-8.
        let mut noise = fetched(1, 2000);
        noise.headers.push(("x-noise".into(), "é".repeat(warc::LONGEST_HEAD)));
        let pages = [cookie, noise];
        let at = pages.each_ref().map(|page| archive.add(&WarcEntry::Whole(page.clone()), Millis(5)).unwrap());
        archive.close().unwrap();
        let mut reader = ArchiveReader::new(&CrawlDirectory::new(root.path()), 2100);
        for (page, location) in pages.iter().zip(at) {
            assert!(reader.read_at(location).unwrap() == *page);
        }
        let file = root.path().join("pages").join(closed_name(0));
        let read: Vec<_> = super::super::Responses::open(&file, 2100).unwrap().map(Result::unwrap).collect();
        assert!(read == pages, "also one by one, with bodies of the limit");
    }

    #[test]
    fn a_location_covers_request_and_response() {
        let root = tempfile::tempdir().unwrap();
        let mut archive = open(root.path(), None, 1 << 30).unwrap();
        let at = add(&mut archive, 0..3);
        archive.close().unwrap();
        let whole = std::fs::read(root.path().join("pages").join(closed_name(0))).unwrap();
        let mut reader = ArchiveReader::new(&CrawlDirectory::new(root.path()), 1 << 20);
        for (n, &location) in (0..).zip(&at) {
            let (records, _) = reader.records(location).unwrap();
            assert_eq!(records, whole[location.start() as usize..location.end() as usize]);
            let mut request = String::new();
            flate2::read::GzDecoder::new(&records[..]).read_to_string(&mut request).unwrap();
            assert!(request.starts_with("WARC/1.1\r\nWARC-Type: request") && request.contains(url(n).as_str()));
        }
        assert_eq!((at[1].start(), at[2].start()), (at[0].end(), at[1].end()));
        let longer = Location { length: at[2].length + 1, ..at[2] };
        let message = reader.records(longer).unwrap_err().to_string();
        assert!(message.contains("ends within the record"), "{message}");
    }

    #[test]
    fn requests_are_kept_as_they_were_sent() {
        let root = tempfile::tempdir().unwrap();
        let mut archive = open(root.path(), None, 1 << 30).unwrap();
        let requested = Validators { etag: Some("\"1\"".to_owned()), modified: Some("Sun, 06 Nov 1994".to_owned()) };
        let page = Fetched { request_validators: Some(Box::new(requested)), ..fetched(1, 100) };
        archive.add(&WarcEntry::Whole(page), Millis(5)).unwrap();
        archive.close().unwrap();
        let mut text = String::new();
        let file = File::open(root.path().join("pages").join(closed_name(0))).unwrap();
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
        let request = text.split("GET ").nth(1).unwrap().split("\r\n\r\n").next().unwrap();
        let fields: Vec<_> = request.lines().skip(3).collect();
        assert_eq!(fields, ["accept: text/html", "if-none-match: \"1\"", "if-modified-since: Sun, 06 Nov 1994"]);
    }

    #[test]
    fn equal_crawls_write_equal_files() {
        let roots = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let files = roots.each_ref().map(|root| {
            let mut archive = open(root.path(), None, 1 << 30).unwrap();
            add(&mut archive, 0..5);
            archive.close().unwrap();
            fs::read(root.path().join("pages/suidao-00000.warc.gz")).unwrap()
        });
        assert_eq!(files[0], files[1]);
    }

    #[test]
    fn what_was_not_acknowledged_is_cut_off() {
        let root = tempfile::tempdir().unwrap();
        let mut archive = open(root.path(), None, 6000).unwrap();
        let at = add(&mut archive, 0..20);
        drop(archive);
        assert!(at[19].file >= 2, "{at:?}");
        // An incomplete record at the end of the last file, as after a crash.
        let open_file = root.path().join("pages").join(open_name(at[19].file));
        let mut torn = OpenOptions::new().append(true).open(&open_file).unwrap();
        torn.write_all(&[0x1f, 0x8b, 8, 0, 1, 2]).unwrap();
        let all: Vec<String> = (0..30).map(|n| url(n).to_string()).collect();

        let mut archive = open(root.path(), Some(at[19]), 6000).unwrap();
        assert_eq!(urls(root.path()), all[..20]);
        add(&mut archive, 20..21);
        drop(archive);
        // Back into a closed file: it is open again, and those after it are gone.
        let back = at.iter().rposition(|at| at.file == 1).unwrap() - 1;
        drop(open(root.path(), Some(at[back]), 6000).unwrap());
        assert_eq!(names(root.path()), [closed_name(0), open_name(1)]);
        assert_eq!(urls(root.path()), all[..=back]);
        // To the end of a closed file: it stays closed.
        let last = at.iter().rposition(|at| at.file == 0).unwrap();
        let mut archive = open(root.path(), Some(at[last]), 6000).unwrap();
        assert_eq!(names(root.path()), [closed_name(0)]);
        add(&mut archive, 20..21);
        assert_eq!(names(root.path()), [closed_name(0), open_name(1)]);
        drop(archive);
        fs::remove_file(root.path().join("pages").join(closed_name(0))).unwrap();
        assert!(matches!(open(root.path(), Some(at[last]), 6000), Err(StoreError::Damaged { .. })));
        fs::write(root.path().join("pages").join(closed_name(0)), "short").unwrap();
        let message = open(root.path(), Some(at[last]), 6000).unwrap_err().to_string();
        assert!(message.contains("ends at byte 5"), "{message}");
        // Nothing acknowledged; other files stay.
        fs::write(root.path().join("pages/notes.txt"), "mine").unwrap();
        drop(open(root.path(), None, 6000).unwrap());
        let left: Vec<_> = fs::read_dir(root.path().join("pages")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.txt"]);
    }

    #[test]
    fn warcio_finds_the_files_valid() {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let Some(program) =
            above.map(|dir| dir.join("target/tools/python/bin/warcio")).find(|program| program.exists())
        else {
            assert!(!suidao_features::is_ci(), "there is no warcio (tests/tools.sh)");
            return eprintln!("skipped: there is no warcio (tests/tools.sh)");
        };
        let root = tempfile::tempdir().unwrap();
        let mut archive = open(root.path(), None, 20_000).unwrap();
        add(&mut archive, 0..10);
        for n in 0..10 {
            archive.add(&warc_entry(n, 2000), Millis(1_600_000_000_000)).unwrap();
        }
        let mut packed = fetched(10, 3000);
        packed.headers.push(("content-encoding".into(), "gzip".into()));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&packed.body).unwrap();
        packed.wire = Some(gzip.finish().unwrap().into());
        archive.add(&WarcEntry::Whole(packed), Millis(1_700_000_000_000)).unwrap();
        archive.close().unwrap();
        for (name, _) in archived(root.path()) {
            let path = root.path().join("pages").join(name);
            let check = Command::new(&program).args(["check", "-v"]).arg(&path).output().unwrap();
            let text = String::from_utf8_lossy(&check.stdout).into_owned();
            assert!(check.status.success() && text.contains("digest pass"), "{text}");
            let index = Command::new(&program).args(["index", "-f", "warc-type,warc-target-uri"]).arg(&path).output();
            assert!(index.unwrap().status.success());
        }
    }
}
