//! A page's two records as they lie in the archive, to be copied as they are.
//!
//! The log keeps where the response lies. The request was written just before it, so it is the last record between the end
//! of the answer before and the response; that it is one, and of this response, is looked at and not believed.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::archive::Location;
use super::warc::{self, HEAD_LIMIT, Head};
use super::{StoreError, own};

/// Longest stretch between two responses that is read: a warcinfo and a request, both no longer than a head may be.
const BETWEEN: u64 = 4 * HEAD_LIMIT as u64;

/// Request and response of a page, and what an index says of the response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The request record, one gzip member.
    pub request: Vec<u8>,
    /// `WARC-Target-URI`.
    pub uri: String,
    /// `WARC-Date`.
    pub date: String,
    /// `WARC-Payload-Digest`.
    pub digest: String,
    /// HTTP status.
    pub status: u16,
    /// Bytes of the response record; what a browser made of the answer comes behind it.
    pub length: usize,
    /// Media type without parameters, as the server wrote it; none if it did not.
    pub media: Option<String>,
}

impl Exchange {
    /// Looks at the response record `record`, which lies at `location` of the file `path`, and gets the request before it;
    /// the answer before that ends at byte `from`.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if one of them is not what it should be; [`StoreError::Io`].
    pub fn read(path: &Path, from: u64, location: Location, record: &[u8]) -> Result<Self, StoreError> {
        let damaged = |what: &str| StoreError::damaged(path, format!("the record at byte {}: {what}", location.offset));
        let (head, block) = begin(record).map_err(|error| damaged(&error.to_string()))?;
        let field =
            |name: &str| head.field(name).map(str::to_owned).ok_or_else(|| damaged(&format!("it has no {name}")));
        let answer = warc::http_head(&block).filter(|_| head.response_url().is_some());
        let (status, headers, _) = answer.ok_or_else(|| damaged("it is not the record of a page"))?;
        let media = warc::value(&headers, "content-type").and_then(|value| value.split([';', ' ']).next());
        let length = location.offset.checked_sub(from).filter(|length| *length <= BETWEEN);
        let mut between = vec![0; length.ok_or_else(|| damaged("no request stands before it"))? as usize];
        let mut file = own::open_linked(path)?;
        let read = file.seek(SeekFrom::Start(from)).and_then(|_| file.read_exact(&mut between));
        read.map_err(StoreError::io(path, "read a page"))?;
        let request = last_member(&between).map_err(|error| damaged(&format!("before it: {error}")))?;
        let (asked, _) = begin(request).map_err(|error| damaged(&format!("before it: {error}")))?;
        if asked.field("warc-type") != Some("request")
            || asked.field("warc-concurrent-to") != head.field("warc-record-id")
        {
            return Err(damaged("what stands before it is not its request"));
        }
        Ok(Self {
            uri: field("warc-target-uri")?,
            date: field("warc-date")?,
            digest: field("warc-payload-digest")?,
            request: request.to_vec(),
            length: first_member(record).map_err(|error| damaged(&error.to_string()))?,
            status,
            media: media.filter(|media| !media.is_empty()).map(str::to_owned),
        })
    }
}

/// The head of a packed record, and the beginning of its block.
fn begin(record: &[u8]) -> io::Result<(Head, Vec<u8>)> {
    let mut input = BufReader::new(GzDecoder::new(record));
    let head = Head::read(&mut input)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut block = Vec::new();
    input.take(head.length.min(HEAD_LIMIT as u64)).read_to_end(&mut block)?;
    Ok((head, block))
}

/// How long the first gzip member is; unpacked only where there may be a second.
fn first_member(bytes: &[u8]) -> io::Result<usize> {
    /// How gzip members of ours begin.
    const MEMBER: [u8; 3] = [0x1f, 0x8b, 8];
    if !bytes.windows(MEMBER.len()).skip(1).any(|window| window == MEMBER) {
        return Ok(bytes.len());
    }
    let mut rest = bytes;
    io::copy(&mut GzDecoder::new(&mut rest), &mut io::sink())?;
    Ok(bytes.len() - rest.len())
}

/// The last gzip member of some.
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
    use super::super::{Archive, CrawlDirectory, Kept};
    use super::*;
    use suidao_page::model::Millis;

    #[test]
    fn the_request_of_every_response_is_found() {
        let root = tempfile::tempdir().unwrap();
        let dir = CrawlDirectory::new(root.path());
        dir.make().unwrap();
        let mut archive = Archive::resume(&dir, None, settings(1 << 30)).unwrap();
        let locations: Vec<Location> =
            (0..3).map(|n| archive.add(&Kept::Whole(fetched(n, 3000)), Millis(u64::from(n))).unwrap()).collect();
        archive.close().unwrap();
        let path = dir.pages().join("suidao-00000.warc.gz");
        let bytes = std::fs::read(&path).unwrap();
        let mut from = 0;
        for (n, &location) in (0..).zip(&locations) {
            let record = &bytes[location.offset as usize..location.end() as usize];
            let exchange = Exchange::read(&path, from, location, record).unwrap();
            let page = fetched(n, 3000);
            assert_eq!((exchange.uri.as_str(), exchange.status), (page.url.as_str(), page.status));
            let start = location.offset as usize - exchange.request.len();
            assert_eq!(exchange.request, &bytes[start..location.offset as usize]);
            let mut head = String::new();
            GzDecoder::new(&exchange.request[..]).read_to_string(&mut head).unwrap();
            assert!(head.starts_with("WARC/1.1\r\nWARC-Type: request"), "{head}");
            assert!(exchange.digest.starts_with("sha1:") && exchange.date.starts_with("1970-01-01T00:00:00"));
            from = location.end();
        }
        // The request of another page is not taken for its own.
        let last = locations[2];
        let record = &bytes[last.offset as usize..last.end() as usize];
        let wrong = Location { offset: locations[1].offset, ..last };
        let message = Exchange::read(&path, locations[0].end(), wrong, record).unwrap_err().to_string();
        assert!(message.contains("not its request"), "{message}");
        let message = Exchange::read(&path, last.offset, last, record).unwrap_err().to_string();
        assert!(message.contains("before it"), "{message}");
    }
}
