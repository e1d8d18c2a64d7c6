//! The records of WARC files of any software that hold what a server sent: responses, resources and revisits.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::error::StoreError;
use super::records::{Found, RecordReader, WarcDamage, WarcSource};
use super::warc::{self, HEAD_LIMIT, LONGEST_HEAD, NoResponse, RecordHeader};
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

/// The records of one file in order, however it is packed. Damage is skipped; an error ends the iteration.
pub struct ArchivedRecords {
    path: PathBuf,
    sources: std::vec::IntoIter<WarcSource>,
    /// The file that is read, and its name.
    open: Option<(RecordReader, String)>,
    limit: usize,
    /// The record read to see whether it belongs to the response before.
    ahead: Option<Found>,
    passed: BTreeMap<&'static str, u64>,
    damage: Vec<(String, WarcDamage)>,
}

impl ArchivedRecords {
    /// Opens a WARC file, or the files in a WACZ; decodes bodies to at most `limit` bytes.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it does not open, [`StoreError::Warc`] if it is empty or not a WARC file.
    pub fn open(path: &Path, limit: usize) -> Result<Self, StoreError> {
        let sources = WarcSource::find(path)?.into_iter();
        let (passed, damage) = (BTreeMap::new(), Vec::new());
        Ok(Self { path: path.to_owned(), sources, open: None, limit, ahead: None, passed, damage })
    }

    /// Records passed over so far, by kind.
    pub fn passed(&self) -> &BTreeMap<&'static str, u64> {
        &self.passed
    }

    /// The damaged files that were read to their end, by name.
    pub fn damage(&self) -> &[(String, WarcDamage)] {
        &self.damage
    }

    fn read(&mut self) -> Result<Option<ArchivedRecord>, StoreError> {
        loop {
            if self.open.is_none() {
                let Some(source) = self.sources.next() else { return Ok(None) };
                self.open = Some((RecordReader::open(&source, self.limit + HEAD_LIMIT)?, source.name()));
            }
            let Some((reader, _)) = &mut self.open else { continue };
            match Self::next(reader, &mut self.ahead, &mut self.passed, self.limit) {
                Ok(Some(record)) => return Ok(Some(record)),
                Ok(None) => {
                    let ended = self.open.take().map(|(reader, name)| (name, reader.damage().clone()));
                    self.damage.extend(ended.filter(|(_, damage)| !damage.is_empty()));
                }
                Err(error) => return Err(StoreError::io(&self.path, "read it")(error)),
            }
        }
    }

    /// The next record of a file.
    fn next(
        reader: &mut RecordReader,
        ahead: &mut Option<Found>,
        passed: &mut BTreeMap<&'static str, u64>,
        limit: usize,
    ) -> io::Result<Option<ArchivedRecord>> {
        loop {
            let next = match ahead.take() {
                None => reader.next()?,
                ahead => ahead,
            };
            let Some(found) = next else { return Ok(None) };
            let at = found.head.field("warc-date").and_then(time);
            let mut content = match content(&found, reader.block(), limit) {
                Ok(content) => content,
                Err(kind) => {
                    *passed.entry(kind).or_default() += 1;
                    continue;
                }
            };
            if let ArchivedContent::Response(fetched) = &mut content {
                // A rendered copy follows directly.
                *ahead = reader.next()?;
                if let Some(copy) = ahead.take_if(|next| next.renders(&found, limit)) {
                    fetched.rendered = Some(Bytes::copy_from_slice(reader.block()));
                    drop(copy);
                }
            }
            return Ok(Some(ArchivedRecord { at, content }));
        }
    }
}

impl Iterator for ArchivedRecords {
    type Item = Result<ArchivedRecord, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.read().transpose();
        if matches!(item, Some(Err(_))) {
            (self.open, self.sources) = (None, Vec::new().into_iter());
        }
        item
    }
}

/// The content of a record, or the kind of one that is passed over.
fn content(found: &Found, block: &[u8], limit: usize) -> Result<ArchivedContent, &'static str> {
    let head = &found.head;
    let kind = match head.field("warc-type").unwrap_or_default() {
        "response" => "response",
        "resource" => "resource",
        "revisit" => "revisit",
        other => {
            let kind = ["request", "warcinfo", "metadata", "conversion"].into_iter().find(|kind| *kind == other);
            return Err(kind.unwrap_or("other record"));
        }
    };
    let media = head.field("content-type").unwrap_or_default();
    let is_http = media.get(..16).is_some_and(|media| media.eq_ignore_ascii_case("application/http"));
    let url = head.target().filter(|_| is_http || kind != "response").ok_or("not HTTP")?;
    if found.is_too_large {
        return Err("too large");
    }
    let block = Bytes::copy_from_slice(block);
    let response = match kind {
        "resource" => Ok(Fetched::new(url, 200, vec![("content-type".to_owned(), media.to_owned())], block)),
        "revisit" => return Ok(ArchivedContent::Revisit(revisit(url, head, &block))),
        _ => warc::parse_response(url, &block, limit),
    };
    let mut response = response.map_err(|why| match why {
        NoResponse::NotHttp => "not HTTP",
        NoResponse::Undecodable => "with a broken content encoding",
    })?;
    let length = |fields: &[(String, String)]| fields.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    // It must fit when it is archived again: Latin-1 takes twice the space.
    let head_length: usize = length(&response.headers);
    if head_length > 2 * LONGEST_HEAD + (64 << 10) || response.body.len() > limit || is_bomb(&response, limit) {
        return Err("too large");
    }
    if response.wire.is_none() {
        // The crawler has decoded the body, and left the field.
        response.headers.retain(|(name, _)| name != "content-encoding");
    }
    Ok(ArchivedContent::Response(response))
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
