//! An index of WARC files by URL: built in one pass; bodies are read on demand.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Seek, SeekFrom};
use std::path::PathBuf;

use flate2::bufread::GzDecoder;
use rustc_hash::FxHashMap;

use super::StoreError;
use super::responses::{Counted, answer_behind, begin, broken, pass};
use super::warc::{self, RecordHeader};
use suidao_page::model::{CrawlUrl, Fetched};

/// The answers in WARC files of any software by URL, the first of each URL. Memory: about 40 bytes per URL.
#[derive(Debug)]
pub struct WarcIndex {
    files: Vec<PathBuf>,
    places: FxHashMap<u64, MemberPosition>,
    limit: usize,
}

/// Start of a record: the byte of the file where its gzip member starts.
#[derive(Clone, Copy, Debug)]
struct MemberPosition {
    file: u32,
    at: u64,
    within: u64,
}

impl WarcIndex {
    /// Indexes the answers in some files, in order, and passes every URL to `seen`. Skips answers larger than `limit`
    /// bytes, and decodes bodies to at most that. A truncated file counts up to its last complete record, with a warning.
    ///
    /// # Errors
    /// [`StoreError::Io`] if a file does not open, [`StoreError::Warc`] if it is damaged or not a WARC file.
    pub fn open(files: Vec<PathBuf>, limit: usize, mut seen: impl FnMut(&CrawlUrl)) -> Result<Self, StoreError> {
        let mut indexed = Self { files: Vec::new(), places: FxHashMap::default(), limit };
        for (file, path) in (0..).zip(files) {
            let (mut input, packed) = begin(&path)?;
            let scanned = indexed.scan(file, &mut input, packed, &mut seen);
            match scanned.map_err(|error| (error.kind(), broken(&path, &error, input.at))) {
                Ok(()) => {}
                Err((ErrorKind::UnexpectedEof, error)) => tracing::warn!("{error}; using the records before it"),
                Err((_, error)) => return Err(error),
            }
            indexed.files.push(path);
        }
        Ok(indexed)
    }

    fn scan(
        &mut self,
        file: u32,
        input: &mut Counted<BufReader<File>>,
        packed: bool,
        seen: &mut impl FnMut(&CrawlUrl),
    ) -> io::Result<()> {
        if !packed {
            return self.records(input, seen, |at| MemberPosition { file, at, within: 0 });
        }
        while !input.fill_buf()?.is_empty() {
            let at = input.at;
            let member = BufReader::with_capacity(1 << 14, GzDecoder::new(&mut *input));
            self.records(&mut Counted { inner: member, at: 0 }, seen, |within| MemberPosition { file, at, within })?;
        }
        Ok(())
    }

    fn records<R: BufRead>(
        &mut self,
        input: &mut Counted<R>,
        seen: &mut impl FnMut(&CrawlUrl),
        place: impl Fn(u64) -> MemberPosition,
    ) -> io::Result<()> {
        loop {
            let begins = input.at;
            let Some(head) = RecordHeader::read(input)? else { return Ok(()) };
            let url = head.answered(self.limit);
            pass(input, &head)?;
            if let Some(url) = url {
                seen(&url);
                self.places.entry(url.fingerprint()).or_insert(place(begins));
            }
        }
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The answer of a URL. Fails if the file has changed.
    pub fn get(&self, url: &CrawlUrl) -> Result<Option<Fetched>, StoreError> {
        let Some(position) = self.places.get(&url.fingerprint()) else { return Ok(None) };
        let path = &self.files[position.file as usize];
        let (mut input, packed) = begin(path)?;
        let mut read = || {
            input.inner.seek(SeekFrom::Start(position.at))?;
            if packed {
                let mut member = BufReader::with_capacity(1 << 14, GzDecoder::new(&mut input));
                io::copy(&mut io::Read::take(&mut member, position.within), &mut io::sink())?;
                let (mut answer, head) = self.answer(&mut member)?;
                match RecordHeader::read(&mut member) {
                    Ok(Some(next)) => self.put_rendered(&mut answer, &head, next, &mut member),
                    // The next record is the next member.
                    Ok(None) => {
                        drop(member);
                        let mut member = BufReader::with_capacity(1 << 14, GzDecoder::new(&mut input));
                        if let Ok(Some(next)) = RecordHeader::read(&mut member) {
                            self.put_rendered(&mut answer, &head, next, &mut member);
                        }
                    }
                    Err(_) => {}
                }
                Ok(answer)
            } else {
                let (mut answer, head) = self.answer(&mut input)?;
                if let Ok(Some(next)) = RecordHeader::read(&mut input) {
                    self.put_rendered(&mut answer, &head, next, &mut input);
                }
                Ok(answer)
            }
        };
        let fetched: io::Result<Option<Fetched>> = read();
        let fetched = fetched.map_err(|error| broken(path, &error, position.at))?;
        Ok(fetched.filter(|fetched| fetched.url == *url))
    }

    fn answer(&self, input: &mut impl BufRead) -> io::Result<(Option<Fetched>, RecordHeader)> {
        let head = RecordHeader::read(input)?.ok_or(ErrorKind::UnexpectedEof)?;
        Ok((answer_behind(input, &head, self.limit)?, head))
    }

    /// Adds the rendered copy of an answer if the record `next` holds one; an incomplete copy is ignored.
    fn put_rendered(
        &self,
        answer: &mut Option<Fetched>,
        head: &RecordHeader,
        next: RecordHeader,
        input: &mut impl BufRead,
    ) {
        if let Some(answer) = answer {
            answer.rendered = warc::rendered(input, &next, head, self.limit).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::responses::tests::FOREIGN;
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text).unwrap()
    }

    fn gzip(parts: &[&[u8]]) -> Vec<u8> {
        let member = |part: &&[u8]| {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(part).unwrap();
            packed.finish().unwrap()
        };
        parts.iter().flat_map(member).collect()
    }

    #[test]
    fn answers_are_found_however_the_file_is_packed() {
        let dir = tempfile::tempdir().unwrap();
        let bytes = FOREIGN.as_bytes();
        let at = FOREIGN.find("WARC/1.0\r\nwarc-type").unwrap();
        let second = FOREIGN.rfind("WARC/1.0").unwrap();
        for (name, content) in [
            ("plain.warc", bytes.to_vec()),
            ("records.warc.gz", gzip(&[&bytes[..at], &bytes[at..second], &bytes[second..]])),
            ("whole.warc.gz", gzip(&[bytes])),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, content).unwrap();
            let mut seen = Vec::new();
            let web = WarcIndex::open(vec![path], 1000, |url| seen.push(url.to_string())).unwrap();
            assert_eq!(seen, ["http://example.cn/a", "http://example.cn/c"], "{name}");
            let page = web.get(&url("http://example.cn/a")).unwrap().unwrap();
            assert_eq!((page.status, &page.body[..]), (200, &b"<p>a"[..]), "{name}");
            assert_eq!(web.get(&url("http://example.cn/c")).unwrap().unwrap().status, 404, "{name}");
            assert_eq!(web.get(&url("http://example.cn/b")).unwrap(), None, "{name}");
        }
    }

    #[test]
    fn a_file_that_breaks_off_has_what_comes_before() {
        let dir = tempfile::tempdir().unwrap();
        let at = FOREIGN.rfind("HTTP/1.0 404").unwrap();
        let whole = gzip(&[FOREIGN.as_bytes()]);
        let second = FOREIGN.rfind("WARC/1.0").unwrap();
        let mut packed = gzip(&[&FOREIGN.as_bytes()[..second]]);
        packed.extend(&whole[..whole.len() / 2]);
        for (name, content) in [("cut.warc", FOREIGN.as_bytes()[..at].to_vec()), ("cut.warc.gz", packed)] {
            let path = dir.path().join(name);
            std::fs::write(&path, content).unwrap();
            let web = WarcIndex::open(vec![path], 1000, |_| ()).unwrap();
            assert_eq!(web.len(), 1, "{name}");
            assert!(web.get(&url("http://example.cn/a")).unwrap().is_some(), "{name}");
        }
        let path = dir.path().join("damaged.warc");
        std::fs::write(&path, FOREIGN.replacen("WARC/1.0\n", "WORC/1.0\n", 1)).unwrap();
        let message = WarcIndex::open(vec![path], 1000, |_| ()).unwrap_err().to_string();
        assert!(message.contains("damaged.warc"), "{message}");
    }
}
