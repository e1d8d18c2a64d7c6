//! An index of WARC files by URL: built in one pass; bodies are read on demand.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Seek, SeekFrom};
use std::path::PathBuf;

use flate2::bufread::GzDecoder;
use rustc_hash::FxHashMap;

use super::StoreError;
use super::responses::{CountingReader, open_warc, read_response, skip_block, warc_error};
use super::warc::{self, RecordHeader};
use suidao_page::model::{CrawlUrl, Fetched};

/// The responses in WARC files of any software by URL, the first of each URL. Memory: about 40 bytes per URL.
#[derive(Debug)]
pub struct WarcIndex {
    files: Vec<PathBuf>,
    positions: FxHashMap<u64, MemberPosition>,
    limit: usize,
}

/// Start of a record.
#[derive(Clone, Copy, Debug)]
struct MemberPosition {
    file: u32,
    /// Byte of the file where the gzip member of the record starts; of a plain file, the record itself.
    member: u64,
    /// Byte of the unpacked member where the record starts.
    offset: u64,
}

impl WarcIndex {
    /// Indexes the responses in some files, in order, and passes every URL to `seen`. Skips responses larger than
    /// `limit` bytes, and decodes bodies to at most that. A truncated file counts up to its last complete record, with
    /// a warning.
    ///
    /// # Errors
    /// [`StoreError::Io`] if a file does not open, [`StoreError::Warc`] if it is damaged or not a WARC file.
    pub fn open(files: Vec<PathBuf>, limit: usize, mut seen: impl FnMut(&CrawlUrl)) -> Result<Self, StoreError> {
        let mut index = Self { files: Vec::new(), positions: FxHashMap::default(), limit };
        for (file, path) in (0..).zip(files) {
            let (mut input, gzip) = open_warc(&path)?;
            let scanned = index.scan(file, &mut input, gzip, &mut seen);
            match scanned.map_err(|error| (error.kind(), warc_error(&path, &error, input.at))) {
                Ok(()) => {}
                Err((ErrorKind::UnexpectedEof, error)) => tracing::warn!("{error}; using the records before it"),
                Err((_, error)) => return Err(error),
            }
            index.files.push(path);
        }
        Ok(index)
    }

    fn scan(
        &mut self,
        file: u32,
        input: &mut CountingReader<BufReader<File>>,
        gzip: bool,
        seen: &mut impl FnMut(&CrawlUrl),
    ) -> io::Result<()> {
        if !gzip {
            return self.records(input, seen, |at| MemberPosition { file, member: at, offset: 0 });
        }
        while !input.fill_buf()?.is_empty() {
            let at = input.at;
            let member = BufReader::with_capacity(1 << 14, GzDecoder::new(&mut *input));
            self.records(&mut CountingReader { inner: member, at: 0 }, seen, |offset| MemberPosition {
                file,
                member: at,
                offset,
            })?;
        }
        Ok(())
    }

    fn records<R: BufRead>(
        &mut self,
        input: &mut CountingReader<R>,
        seen: &mut impl FnMut(&CrawlUrl),
        position: impl Fn(u64) -> MemberPosition,
    ) -> io::Result<()> {
        loop {
            let start = input.at;
            let Some(head) = RecordHeader::read(input)? else { return Ok(()) };
            let url = head.answered(self.limit);
            skip_block(input, &head)?;
            if let Some(url) = url {
                seen(&url);
                self.positions.entry(url.fingerprint()).or_insert(position(start));
            }
        }
    }

    pub fn len(&self) -> usize {
        self.positions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The response of a URL. Fails if the file has changed.
    pub fn get(&self, url: &CrawlUrl) -> Result<Option<Fetched>, StoreError> {
        let Some(position) = self.positions.get(&url.fingerprint()) else { return Ok(None) };
        let path = &self.files[position.file as usize];
        let (mut input, gzip) = open_warc(path)?;
        let mut read = || {
            input.inner.seek(SeekFrom::Start(position.member))?;
            if gzip {
                let mut member = BufReader::with_capacity(1 << 14, GzDecoder::new(&mut input));
                io::copy(&mut io::Read::take(&mut member, position.offset), &mut io::sink())?;
                let (mut response, head) = self.response(&mut member)?;
                match RecordHeader::read(&mut member) {
                    Ok(Some(next)) => self.add_rendered(&mut response, &head, next, &mut member),
                    // The next record is the next member.
                    Ok(None) => {
                        drop(member);
                        let mut member = BufReader::with_capacity(1 << 14, GzDecoder::new(&mut input));
                        if let Ok(Some(next)) = RecordHeader::read(&mut member) {
                            self.add_rendered(&mut response, &head, next, &mut member);
                        }
                    }
                    Err(_) => {}
                }
                Ok(response)
            } else {
                let (mut response, head) = self.response(&mut input)?;
                if let Ok(Some(next)) = RecordHeader::read(&mut input) {
                    self.add_rendered(&mut response, &head, next, &mut input);
                }
                Ok(response)
            }
        };
        let fetched: io::Result<Option<Fetched>> = read();
        let fetched = fetched.map_err(|error| warc_error(path, &error, position.member))?;
        Ok(fetched.filter(|fetched| fetched.url == *url))
    }

    fn response(&self, input: &mut impl BufRead) -> io::Result<(Option<Fetched>, RecordHeader)> {
        let head = RecordHeader::read(input)?.ok_or(ErrorKind::UnexpectedEof)?;
        Ok((read_response(input, &head, self.limit)?, head))
    }

    /// Adds the rendered copy of a response if the record `next` holds one; an incomplete copy is ignored.
    fn add_rendered(
        &self,
        response: &mut Option<Fetched>,
        head: &RecordHeader,
        next: RecordHeader,
        input: &mut impl BufRead,
    ) {
        if let Some(response) = response {
            response.rendered = warc::rendered(input, &next, head, self.limit).unwrap_or_default();
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
    fn a_truncated_file_has_its_complete_records() {
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
