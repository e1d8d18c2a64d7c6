//! Reads the responses in WARC files of any software from start to end.

use std::path::Path;

use super::archived::{ArchivedContent, ArchivedRecord, ArchivedRecords};
use super::error::StoreError;
use suidao_page::model::Fetched;

/// The responses in a WARC file or WACZ in order. Skips other records, responses larger than the limit, and damage, with
/// a warning. An error ends the iteration.
pub struct Responses {
    records: ArchivedRecords,
    /// Damaged files that were reported.
    reported: usize,
}

impl Responses {
    /// Opens a file; decodes bodies to at most `limit` bytes.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it does not open, [`StoreError::Warc`] if it is empty or not a WARC file.
    pub fn open(path: &Path, limit: usize) -> Result<Self, StoreError> {
        ArchivedRecords::open(path, limit).map(|records| Self { records, reported: 0 })
    }
}

impl Iterator for Responses {
    type Item = Result<Fetched, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.records.find_map(|record| match record {
            Ok(ArchivedRecord { content: ArchivedContent::Response(fetched), .. }) => Some(Ok(fetched)),
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        });
        for (name, damage) in &self.records.damage()[self.reported..] {
            tracing::warn!("{name}: {damage}");
        }
        self.reported = self.records.damage().len();
        next
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;
    use std::io::Write;

    use flate2::Compression;

    use super::super::StoreError;
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
            ("http://example.cn/a".to_owned(), 200, bytes::Bytes::from("<p>a")),
            ("http://example.cn/c".to_owned(), 404, bytes::Bytes::from("no")),
        ];
        assert_eq!(read(&path), expected);
        let packed = root.path().join("other.gz");
        let mut gzip = flate2::write::GzEncoder::new(fs::File::create(&packed).unwrap(), Compression::fast());
        gzip.write_all(FOREIGN.as_bytes()).unwrap();
        gzip.finish().unwrap();
        assert_eq!(read(&packed), expected);

        fs::write(&path, &FOREIGN.as_bytes()[..FOREIGN.len() - 6]).unwrap();
        assert_eq!(read(&path), expected[..1], "the page before the break");
        fs::write(&path, "<html>").unwrap();
        assert!(matches!(Responses::open(&path, 1000), Err(StoreError::Warc { .. })));
        fs::write(&path, "").unwrap();
        assert!(matches!(Responses::open(&path, 1000), Err(StoreError::Warc { .. })));
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
