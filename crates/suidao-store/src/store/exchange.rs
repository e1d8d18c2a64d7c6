//! Finds the request of a response in the archive, to copy it.
//!
//! The log has the location of the response. The request is the last record between the end of the previous response
//! and the response; this is checked.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::archive::Location;
use super::warc::{HEAD_LIMIT, RecordHeader};
use super::{StoreError, plain_file};

/// Maximum number of bytes read between two responses: a warcinfo and a request, neither longer than the longest head.
const BETWEEN: u64 = 4 * HEAD_LIMIT as u64;

/// The request record, one gzip member, of the response record `record` at `location` of the file `path`; the previous
/// answer ends at byte `from`.
///
/// # Errors
/// [`StoreError::Damaged`] if one of the records is not as expected; [`StoreError::Io`].
pub fn request(path: &Path, from: u64, location: Location, record: &[u8]) -> Result<Vec<u8>, StoreError> {
    let damaged = |what: &str| StoreError::damaged(path, format!("the record at byte {}: {what}", location.offset));
    let before = |error: io::Error| damaged(&format!("before it: {error}"));
    let head = head(record).map_err(|error| damaged(&error.to_string()))?;
    if head.response_url().is_none() {
        return Err(damaged("not the record of a page"));
    }
    let length = location.offset.checked_sub(from).filter(|length| *length <= BETWEEN);
    let mut between = vec![0; length.ok_or_else(|| damaged("no request record before it"))? as usize];
    let mut file = plain_file::open_following_links(path)?;
    let read = file.seek(SeekFrom::Start(from)).and_then(|_| file.read_exact(&mut between));
    read.map_err(StoreError::io(path, "read a page"))?;
    let request = last_member(&between).map_err(before)?;
    let asked = self::head(request).map_err(before)?;
    if asked.field("warc-type") != Some("request") || asked.field("warc-concurrent-to") != head.field("warc-record-id")
    {
        return Err(damaged("the record before it is not its request"));
    }
    Ok(request.to_vec())
}

fn head(record: &[u8]) -> io::Result<RecordHeader> {
    RecordHeader::read(&mut BufReader::new(GzDecoder::new(record)))?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

fn last_member(bytes: &[u8]) -> io::Result<&[u8]> {
    let (mut rest, mut last) = (bytes, bytes);
    while !rest.is_empty() {
        last = rest;
        io::copy(&mut GzDecoder::new(&mut rest), &mut io::sink())?;
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::super::{CrawlDirectory, WarcArchive, WarcEntry};
    use super::*;
    use suidao_page::model::Millis;

    #[test]
    fn the_request_of_every_response_is_found() {
        let root = tempfile::tempdir().unwrap();
        let dir = CrawlDirectory::new(root.path());
        dir.make().unwrap();
        let mut archive = WarcArchive::resume(&dir, None, settings(1 << 30)).unwrap();
        let locations: Vec<Location> =
            (0..3).map(|n| archive.add(&WarcEntry::Whole(fetched(n, 3000)), Millis(u64::from(n))).unwrap()).collect();
        archive.close().unwrap();
        let path = dir.pages().join("suidao-00000.warc.gz");
        let bytes = std::fs::read(&path).unwrap();
        let mut from = 0;
        for (n, &location) in (0..).zip(&locations) {
            let record = &bytes[location.offset as usize..location.end() as usize];
            let found = request(&path, from, location, record).unwrap();
            let start = location.offset as usize - found.len();
            assert_eq!(found, &bytes[start..location.offset as usize]);
            let mut head = String::new();
            GzDecoder::new(&found[..]).read_to_string(&mut head).unwrap();
            assert!(head.starts_with("WARC/1.1\r\nWARC-Type: request") && head.contains(url(n).as_str()), "{head}");
            from = location.end();
        }
        // The request of another page is rejected.
        let last = locations[2];
        let record = &bytes[last.offset as usize..last.end() as usize];
        let wrong = Location { offset: locations[1].offset, ..last };
        let message = request(&path, locations[0].end(), wrong, record).unwrap_err().to_string();
        assert!(message.contains("not its request"), "{message}");
        let message = request(&path, last.offset, last, record).unwrap_err().to_string();
        assert!(message.contains("before it"), "{message}");
    }
}
