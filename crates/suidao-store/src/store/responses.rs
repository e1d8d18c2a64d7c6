//! Reads WARC files of any software from start to end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use bytes::Bytes;

use super::StoreError;
use super::archive::open_archive_file;
use super::archived::{ArchivedContent, ArchivedRecord, ArchivedRecords};
use super::warc::{self, RecordHeader};
use suidao_page::model::Fetched;

/// The responses in a WARC file, compressed or not, in order. Skips other records, and responses larger than the limit.
/// An error ends the iteration.
pub struct Responses(ArchivedRecords);

impl Responses {
    /// Opens a file; decodes bodies to at most `limit` bytes.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it does not open, [`StoreError::Warc`] if it is empty or not a WARC file.
    pub fn open(path: &Path, limit: usize) -> Result<Self, StoreError> {
        ArchivedRecords::open(path, limit).map(Self)
    }
}

impl Iterator for Responses {
    type Item = Result<Fetched, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.find_map(|record| match record {
            Ok(ArchivedRecord { content: ArchivedContent::Response(fetched), .. }) => Some(Ok(fetched)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        })
    }
}

/// Opens a WARC file; also returns whether it is gzip.
pub(super) fn open_warc(path: &Path) -> Result<(CountingReader<BufReader<File>>, bool), StoreError> {
    let fail = || StoreError::io(path, "read it");
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => open_archive_file(path)?.1,
        opened => opened.map_err(fail())?,
    };
    let mut inner = BufReader::with_capacity(1 << 16, file);
    let start = inner.fill_buf().map_err(fail())?;
    let packed = start.starts_with(&warc::GZIP);
    if !packed && !start.starts_with(b"WARC/") {
        let what = if start.is_empty() { "it is empty" } else { "it starts with neither WARC/ nor gzip" };
        return Err(StoreError::Warc { path: path.to_owned(), what: what.to_owned(), at: 0 });
    }
    Ok((CountingReader { inner, at: 0 }, packed))
}

/// The response after a head; skipped if the record is of another kind or too large.
pub(super) fn read_response(
    input: &mut impl BufRead,
    head: &RecordHeader,
    limit: usize,
) -> io::Result<Option<Fetched>> {
    let Some(url) = head.answered(limit) else {
        skip_block(input, head)?;
        return Ok(None);
    };
    let mut block = Vec::new();
    if (input.take(head.length).read_to_end(&mut block)? as u64) < head.length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(warc::parse_response(url, &Bytes::from(block), limit))
}

pub(super) fn skip_block(input: &mut impl BufRead, head: &RecordHeader) -> io::Result<()> {
    let passed = io::copy(&mut input.take(head.length), &mut io::sink())?;
    if passed < head.length { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// The error of a file that cannot be read at `at`.
pub(super) fn warc_error(path: &Path, error: &io::Error, at: u64) -> StoreError {
    let cut = error.kind() == ErrorKind::UnexpectedEof;
    let what = if cut { "it ends in the middle of a record".to_owned() } else { error.to_string() };
    StoreError::Warc { path: path.to_owned(), what, at }
}

pub(super) struct CountingReader<R> {
    pub inner: R,
    pub at: u64,
}

impl<R: BufRead> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CountingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount as u64;
        self.inner.consume(amount);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;
    use std::io::Write;

    use flate2::Compression;

    use super::*;

    /// Records of four kinds as other software writes them, two of them answers.
    pub const FOREIGN: &str = "WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 3\r\n\r\na:b\r\n\r\n\
        WARC/1.0\nWARC-Type: response\nWARC-Target-URI: <dns:example.cn>\nContent-Type: text/dns\nContent-Length: 2\n\nxx\n\n\
        WARC/1.0\r\nwarc-type: response\r\nWARC-Target-URI: <http://Example.cn/a#b>\r\n\
        Content-Type: application/http;\r\n msgtype=response\r\nContent-Length: 83\r\n\r\n\
        HTTP/1.1 200\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n<p>a\r\n0\r\n\r\n\r\n\r\n\
        WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.cn/c\r\n\
        Content-Type: application/http\r\nContent-Length: 22\r\n\r\nHTTP/1.0 404 Not\r\n\r\nno\r\n\r\n";

    #[test]
    fn archives_of_other_software_are_read() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("other.warc");
        fs::write(&path, FOREIGN).unwrap();
        let read = |path: &Path| -> Vec<_> {
            let pages = Responses::open(path, 1000).unwrap().map(Result::unwrap);
            pages.map(|page| (page.url.to_string(), page.status, page.body)).collect()
        };
        let expected = vec![
            ("http://example.cn/a".to_owned(), 200, Bytes::from("<p>a")),
            ("http://example.cn/c".to_owned(), 404, Bytes::from("no")),
        ];
        assert_eq!(read(&path), expected);
        let packed = root.path().join("other.gz");
        let mut gzip = flate2::write::GzEncoder::new(File::create(&packed).unwrap(), Compression::fast());
        gzip.write_all(FOREIGN.as_bytes()).unwrap();
        gzip.finish().unwrap();
        assert_eq!(read(&packed), expected);

        fs::write(&path, &FOREIGN.as_bytes()[..FOREIGN.len() - 6]).unwrap();
        let items: Vec<_> = Responses::open(&path, 1000).unwrap().collect();
        assert_eq!(items.len(), 2, "the page before the break, and the break");
        let message = items[1].as_ref().unwrap_err().to_string();
        assert!(message.contains("ends in the middle") && message.contains("other.warc"), "{message}");
        fs::write(&path, "<html>").unwrap();
        assert!(matches!(Responses::open(&path, 1000), Err(StoreError::Warc { at: 0, .. })));
        fs::write(&path, "").unwrap();
        assert!(matches!(Responses::open(&path, 1000), Err(StoreError::Warc { at: 0, .. })));
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(64))]
        #[test]
        fn no_archive_panics(at in 0..FOREIGN.len(), byte: u8, rest in "[ -~\r\n]{0,40}") {
            let mut text = FOREIGN.as_bytes().to_vec();
            text[at] = byte;
            text.truncate(text.len() - at % 7);
            text.extend_from_slice(rest.as_bytes());
            let root = tempfile::tempdir().unwrap();
            let path = root.path().join("x.warc");
            fs::write(&path, &text).unwrap();
            if let Ok(pages) = Responses::open(&path, 100) {
                proptest::prop_assert!(pages.count() <= 10);
            }
        }
    }
}
