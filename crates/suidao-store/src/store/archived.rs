//! The records of WARC files of any software that hold what a server sent: responses, resources and revisits.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::StoreError;
use super::responses::{CountingReader, open_warc, skip_block, warc_error};
use super::warc::{self, HEAD_LIMIT, LONGEST_HEAD, RecordHeader};
use suidao_page::model::{CrawlUrl, Fetched, Millis};
use suidao_page::read::coding::{self, UnpackError};

/// What a record contains about a URL.
#[derive(Clone, Debug, PartialEq)]
pub struct ArchivedRecord {
    /// `WARC-Date`, if it is a valid time after 1969.
    pub at: Option<Millis>,
    pub content: ArchivedContent,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ArchivedContent {
    /// The response, without transfer and content encoding.
    Response(Fetched),
    /// A response whose payload is in another record.
    Revisit(RevisitRecord),
}

/// A revisit record: status and header fields of the response, and where the payload is.
#[derive(Clone, Debug, PartialEq)]
pub struct RevisitRecord {
    /// The response without its body. Without an HTTP head in the record the status is 304.
    pub head: Fetched,
    /// URL of the record with the payload.
    pub of: CrawlUrl,
    /// `WARC-Payload-Digest`.
    pub digest: Option<String>,
    /// The server answered 304, so the payload is that of the visit before.
    pub not_modified: bool,
}

impl RevisitRecord {
    /// Whether a response has the payload that the record refers to.
    pub fn is_of(&self, response: &Fetched) -> bool {
        let payload = response.wire.as_ref().unwrap_or(&response.body);
        self.digest.as_deref() == Some(&warc::digest(&[payload]))
    }

    /// The response, with the payload of another.
    pub fn with_payload_of(self, other: Fetched) -> Fetched {
        let (status, headers) =
            if self.head.status == 304 { (other.status, other.headers) } else { (self.head.status, self.head.headers) };
        Fetched { url: self.head.url, status, headers, ..other }
    }
}

/// The records of one file, compressed or not, in order. An error ends the iteration.
pub struct ArchivedRecords {
    input: CountingReader<Box<dyn BufRead + Send>>,
    path: PathBuf,
    limit: usize,
    /// The head read to see whether its record belongs to the response before.
    ahead: Option<io::Result<RecordHeader>>,
    ended: bool,
    passed: BTreeMap<&'static str, u64>,
}

impl ArchivedRecords {
    /// Opens a file; decodes bodies to at most `limit` bytes.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it does not open, [`StoreError::Warc`] if it is empty or not a WARC file.
    pub fn open(path: &Path, limit: usize) -> Result<Self, StoreError> {
        let (file, packed) = open_warc(path)?;
        let inner: Box<dyn BufRead + Send> = if packed {
            Box::new(BufReader::with_capacity(1 << 16, flate2::bufread::MultiGzDecoder::new(file.inner)))
        } else {
            Box::new(file.inner)
        };
        let input = CountingReader { inner, at: 0 };
        Ok(Self { input, path: path.to_owned(), limit, ahead: None, ended: false, passed: BTreeMap::new() })
    }

    /// Records passed over so far, by kind.
    pub fn passed(&self) -> &BTreeMap<&'static str, u64> {
        &self.passed
    }

    fn read(&mut self) -> io::Result<Option<ArchivedRecord>> {
        loop {
            let next = self.ahead.take().map_or_else(|| RecordHeader::read(&mut self.input), |ahead| ahead.map(Some));
            let Some(head) = next? else { return Ok(None) };
            let content = match self.content(&head)? {
                Ok(ArchivedContent::Response(mut fetched)) => {
                    fetched.rendered = self.rendered_copy(&head);
                    ArchivedContent::Response(fetched)
                }
                Ok(revisit) => revisit,
                Err(kind) => {
                    *self.passed.entry(kind).or_default() += 1;
                    continue;
                }
            };
            return Ok(Some(ArchivedRecord { at: head.field("warc-date").and_then(time), content }));
        }
    }

    /// The content of a record, or the kind of one that is passed over.
    fn content(&mut self, head: &RecordHeader) -> io::Result<Result<ArchivedContent, &'static str>> {
        let kind = match head.field("warc-type").unwrap_or_default() {
            "response" => "response",
            "resource" => "resource",
            "revisit" => "revisit",
            other => {
                let kind = ["request", "warcinfo", "metadata", "conversion"].into_iter().find(|kind| *kind == other);
                skip_block(&mut self.input, head)?;
                return Ok(Err(kind.unwrap_or("other record")));
            }
        };
        let media = head.field("content-type").unwrap_or_default();
        let is_http = media.get(..16).is_some_and(|media| media.eq_ignore_ascii_case("application/http"));
        let url = head.target().filter(|_| is_http || kind != "response");
        let Some(url) = url else {
            skip_block(&mut self.input, head)?;
            return Ok(Err("not HTTP"));
        };
        if head.length > (self.limit + HEAD_LIMIT) as u64 {
            skip_block(&mut self.input, head)?;
            return Ok(Err("too large"));
        }
        let mut block = Vec::new();
        if ((&mut self.input).take(head.length).read_to_end(&mut block)? as u64) < head.length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let block = Bytes::from(block);
        let response = match kind {
            "resource" => Some(Fetched::new(url, 200, vec![("content-type".to_owned(), media.to_owned())], block)),
            "revisit" => return Ok(Ok(ArchivedContent::Revisit(revisit(url, head, &block)))),
            _ => warc::parse_response(url, &block, self.limit),
        };
        let Some(mut response) = response else { return Ok(Err("not HTTP")) };
        let length =
            |fields: &[(String, String)]| fields.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
        // It must fit when it is archived again: Latin-1 takes twice the space.
        let head_length: usize = length(&response.headers);
        if head_length > 2 * LONGEST_HEAD + (64 << 10)
            || response.body.len() > self.limit
            || is_bomb(&response, self.limit)
        {
            return Ok(Err("too large"));
        }
        if response.wire.is_none() {
            // The crawler has decoded the body, and left the field.
            response.headers.retain(|(name, _)| name != "content-encoding");
        }
        Ok(Ok(ArchivedContent::Response(response)))
    }

    /// The rendered copy that follows a response directly. If the next record is damaged the response still counts.
    fn rendered_copy(&mut self, of: &RecordHeader) -> Option<Bytes> {
        let next = match RecordHeader::read(&mut self.input) {
            Ok(next) => next?,
            Err(error) => {
                self.ahead = Some(Err(error));
                return None;
            }
        };
        match warc::rendered(&mut self.input, &next, of, self.limit) {
            Ok(Some(rendered)) => Some(rendered),
            Ok(None) => {
                self.ahead = Some(Ok(next));
                None
            }
            Err(error) => {
                self.ahead = Some(Err(error));
                None
            }
        }
    }
}

impl Iterator for ArchivedRecords {
    type Item = Result<ArchivedRecord, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.read().transpose();
        let item = item.map(|item| item.map_err(|error| warc_error(&self.path, &error, self.input.at)));
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

fn revisit(url: CrawlUrl, head: &RecordHeader, block: &[u8]) -> RevisitRecord {
    let of = head.field("warc-refers-to-target-uri").and_then(|uri| CrawlUrl::parse(uri.trim_matches(['<', '>'])).ok());
    let (status, headers) = warc::http_head(block).map_or((304, Vec::new()), |(status, headers, _)| (status, headers));
    let not_modified = head.field("warc-profile").is_some_and(|profile| profile.ends_with("server-not-modified"));
    RevisitRecord {
        of: of.unwrap_or_else(|| url.clone()),
        digest: head.field("warc-payload-digest").map(str::to_owned),
        not_modified: not_modified || status == 304,
        head: Fetched::new(url, status, headers, Bytes::new()),
    }
}

/// Whether a body was left encoded because it would be too large.
fn is_bomb(response: &Fetched, limit: usize) -> bool {
    let coding = response.header("content-encoding").filter(|_| response.wire.is_none());
    coding.is_some_and(|coding| coding::unpack(coding, &response.body, limit) == Err(UnpackError::TooLarge))
}

/// A time of a WARC record: RFC 3339, or 14 digits as in the oldest files.
fn time(text: &str) -> Option<Millis> {
    let millis = match text.parse::<jiff::Timestamp>() {
        Ok(time) => time.as_millisecond(),
        Err(_) => {
            let time = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", text).ok()?;
            time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond()
        }
    };
    u64::try_from(millis).ok().map(Millis)
}
