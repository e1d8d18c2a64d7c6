//! Writes and parses WARC records (ISO 28500:2017, version 1.1).
//!
//! A record is a head like HTTP's, a block of `Content-Length` bytes, and two line ends. In `.warc.gz` each record is a
//! gzip member, so that it can be read alone. Written records contain nothing random: ids are name-based UUIDs (RFC
//! 9562, in the form of version 5) of URL, time and position in the archive.

use std::io::{self, BufRead, Read, Write};

use bytes::Bytes;
use data_encoding::BASE32;
use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use sha1::{Digest as _, Sha1};

use super::chunked;
use suidao_page::model::{CrawlUrl, Fetched, Millis};
use suidao_page::read::coding::{self, UnpackError};

/// Longest head of a record or HTTP response that is read, in bytes. Every fetched head must fit, because archived
/// pages are read again.
pub(super) const HEAD_LIMIT: usize = 2 << 20;

/// Longest head that the client accepts: hyper's buffer of 8 KiB plus 400 KiB, and a last read of the same size.
pub(super) const LONGEST_HEAD: usize = 2 * (8_192 + 4_096 * 100);

// Bytes that are not UTF-8 take twice the space in the archive, and a field may grow by a blank and a line end.
const _: () = assert!(2 * LONGEST_HEAD + (64 << 10) < HEAD_LIMIT);

/// The kind of record that holds a rendered copy.
pub(super) const CONVERSION: &str = "conversion";

pub(super) struct RecordDraft<'a> {
    pub kind: &'static str,
    /// Determines the id: equal names and kinds give equal ids.
    pub name: &'a str,
    pub at: Millis,
    pub media: &'static str,
    pub fields: Vec<(&'static str, String)>,
    pub head: &'a [u8],
    /// The block: its payload, with a digest of its own after an HTTP head.
    pub payload: &'a [u8],
}

impl RecordDraft<'_> {
    pub fn write(&self, level: Compression, out: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut head = String::with_capacity(512);
        head.push_str("WARC/1.1\r\n");
        let mut field = |name: &str, value: &str| {
            head.push_str(name);
            head.push_str(": ");
            head.push_str(value);
            head.push_str("\r\n");
        };
        field("WARC-Type", self.kind);
        field("WARC-Record-ID", &record_id(self.kind, self.name));
        field("WARC-Date", &rfc3339(self.at));
        for (name, value) in &self.fields {
            field(name, value);
        }
        field("WARC-Block-Digest", &digest(&[self.head, self.payload]));
        if self.kind == "response" {
            field("WARC-Payload-Digest", &digest(&[self.payload]));
        }
        field("Content-Type", self.media);
        field("Content-Length", &(self.head.len() + self.payload.len()).to_string());
        head.push_str("\r\n");
        let mut member = GzEncoder::new(out, level);
        for part in [head.as_bytes(), self.head, self.payload, b"\r\n\r\n"] {
            member.write_all(part)?;
        }
        member.finish()
    }
}

/// A warcinfo record for the start of the file `filename`, as a gzip member: `name` determines its id, `fields` follow
/// the standard ones.
pub fn info(filename: &str, name: &str, at: Millis, fields: &[(&str, &str)]) -> io::Result<Vec<u8>> {
    let own = [
        ("software", concat!("suidao/", env!("CARGO_PKG_VERSION"))),
        ("format", "WARC File Format 1.1"),
        ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
    ];
    let mut info = String::new();
    for (field, value) in own.iter().chain(fields) {
        push_field(&mut info, field, value);
    }
    RecordDraft {
        kind: "warcinfo",
        name,
        at,
        media: "application/warc-fields",
        fields: vec![("WARC-Filename", filename.to_owned())],
        head: &[],
        payload: info.as_bytes(),
    }
    .write(Compression::fast(), Vec::new())
}

/// `<urn:uuid:...>` of a record, from its kind and name alone.
pub(super) fn record_id(kind: &str, name: &str) -> String {
    let mut sha = Sha1::new();
    sha.update(b"suidao warc ");
    sha.update(kind.as_bytes());
    sha.update([0]);
    sha.update(name.as_bytes());
    let mut id = [0; 16];
    id.copy_from_slice(&sha.finalize()[..16]);
    id[6] = id[6] & 0x0f | 0x50;
    id[8] = id[8] & 0x3f | 0x80;
    let hex = data_encoding::HEXLOWER.encode(&id);
    format!("<urn:uuid:{}-{}-{}-{}-{}>", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

pub(super) fn digest(parts: &[&[u8]]) -> String {
    let mut sha = Sha1::new();
    for part in parts {
        sha.update(part);
    }
    digest_name(&sha.finalize())
}

/// The name of a SHA-1, as in WARC files.
pub(super) fn digest_name(sha1: &[u8]) -> String {
    format!("sha1:{}", BASE32.encode(sha1))
}

/// RFC 3339 in UTC, with milliseconds unless they are 0.
pub fn rfc3339(at: Millis) -> String {
    let millis = i64::try_from(at.0).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX).to_string()
}

/// For people, in UTC: `2026-11-22 06:40:12`.
pub fn display_time(at: Millis) -> String {
    rfc3339(at).get(..19).unwrap_or_default().replace('T', " ")
}

/// The archived head of a response: status line and header fields, without the transfer encoding. `content-length` is
/// the size of the payload, `stored`; without that it is unchanged.
pub(super) fn response_head(fetched: &Fetched, stored: Option<usize>) -> Vec<u8> {
    let reason = http::StatusCode::from_u16(fetched.status).ok().and_then(|status| status.canonical_reason());
    let mut head = format!("HTTP/1.1 {:03} {}\r\n", fetched.status, reason.unwrap_or_default());
    let length = stored.map(|stored| stored.to_string()).unwrap_or_default();
    let mut result = false;
    for (name, value) in &fetched.headers {
        match name.as_str() {
            "transfer-encoding" => {}
            "content-length" if result => {}
            "content-length" => {
                result = true;
                push_field(&mut head, name, stored.map_or(value, |_| length.as_str()));
            }
            _ => push_field(&mut head, name, value),
        }
    }
    if !result && stored.is_some() {
        push_field(&mut head, "content-length", &length);
    }
    head.push_str("\r\n");
    head.into_bytes()
}

pub(super) fn request_head(fetched: &Fetched, headers: &[(String, String)]) -> Vec<u8> {
    let url = &fetched.url;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut head = format!("GET {}{query} HTTP/1.1\r\nhost: {}\r\n", url.path(), url.authority());
    for (name, value) in headers {
        push_field(&mut head, name, value);
    }
    for (name, value) in fetched.request_validators.iter().flat_map(|requested| requested.fields()) {
        push_field(&mut head, name, value);
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// A line break inside a value would start another field and becomes a blank.
fn push_field(head: &mut String, name: &str, value: &str) {
    head.push_str(name);
    head.push_str(": ");
    head.extend(value.chars().map(|c| if matches!(c, '\r' | '\n' | '\0') { ' ' } else { c }));
    head.push_str("\r\n");
}

/// Header fields in order, names in lower case.
type Fields = Vec<(String, String)>;

pub(super) struct RecordHeader {
    fields: Fields,
    /// Bytes of its block.
    pub length: u64,
}

impl RecordHeader {
    /// Reads up to the block; `None` at the end of the input.
    pub fn read(input: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut left = HEAD_LIMIT;
        let mut line = Vec::new();
        // The number of line ends between records varies.
        loop {
            if !read_line(input, &mut line, &mut left)? {
                return Ok(None);
            }
            if !line.is_empty() {
                break;
            }
        }
        if !line.starts_with(b"WARC/") {
            return Err(invalid("expected the start of a record"));
        }
        let mut fields = Vec::new();
        loop {
            if !read_line(input, &mut line, &mut left)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if line.is_empty() {
                break;
            }
            if line.starts_with(b"WARC/") {
                return Err(invalid("another record starts within its header"));
            }
            push_line(&mut fields, &line);
        }
        // A record that was cut within its header, and the next one.
        for once in ["warc-type", "content-length"] {
            if fields.iter().filter(|(name, _)| name == once).count() > 1 {
                return Err(invalid("another record starts within its header"));
            }
        }
        let length = value(&fields, "content-length").and_then(|text| text.parse().ok());
        let length = length.ok_or_else(|| invalid("record without content-length"))?;
        Ok(Some(Self { fields, length }))
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        value(&self.fields, name)
    }

    /// The URL, if this is an HTTP response record.
    pub fn response_url(&self) -> Option<CrawlUrl> {
        let http = self.field("content-type").is_some_and(|media| media.starts_with("application/http"));
        if self.field("warc-type") != Some("response") || !http {
            return None;
        }
        self.target()
    }

    /// The URL that the record is about.
    pub fn target(&self) -> Option<CrawlUrl> {
        // Version 1.0 shows the URI in angle brackets, and some programs write them.
        let uri = self.field("warc-target-uri")?.trim_matches(['<', '>']);
        CrawlUrl::parse(uri).ok()
    }

    /// Whether a block has the digest that the record declares; `None` without one, or one of another kind.
    pub fn matches_digest(&self, block: &[u8]) -> Option<bool> {
        let declared = self.field("warc-block-digest")?.strip_prefix("sha1:")?;
        let own = digest(&[block]);
        let own = own.strip_prefix("sha1:")?;
        (declared.len() == own.len()).then(|| declared.eq_ignore_ascii_case(own))
    }

    /// Whether this is the rendered copy of the response in the record `of`.
    pub fn renders(&self, of: &Self) -> bool {
        self.field("warc-type") == Some(CONVERSION)
            && self.field("content-type") == Some(Fetched::RENDERED)
            && self.field("warc-refers-to").is_some_and(|id| of.field("warc-record-id") == Some(id))
    }
}

/// Why the block of a response record is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoResponse {
    NotHttp,
    /// Its content encoding is broken, as a crawl could not decode it either.
    Undecodable,
}

/// The response in a response record's block. The body is joined and decoded to at most `limit` bytes; one that is larger,
/// or that the crawler has decoded already, is unchanged.
pub(super) fn parse_response(url: CrawlUrl, block: &Bytes, limit: usize) -> Result<Fetched, NoResponse> {
    let (status, mut headers, length) = http_head(block).ok_or(NoResponse::NotHttp)?;
    let mut stored = block.slice(length..);
    if value(&headers, "transfer-encoding").is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked")) {
        if let Some(joined) = chunked::chunked(&stored) {
            stored = joined.into();
        }
        headers.retain(|(name, _)| name != "transfer-encoding");
    }
    let coding = value(&headers, "content-encoding").unwrap_or_default();
    let (body, wire, unverified) = match coding::unpack(coding, &stored, limit) {
        Ok(Some(unpacked)) => (unpacked.body, Some(stored), !unpacked.verified),
        Err(UnpackError::Broken) if !coding::is_text(&stored) => return Err(NoResponse::Undecodable),
        Ok(None) | Err(_) => (stored, None, false),
    };
    Ok(Fetched { url, status, headers, body, wire, request_validators: None, rendered: None, unverified })
}

/// The rendered copy of the response in the record `of`, if the next record, with the head `head`, holds one; nothing
/// is read of other records, or of more than `limit` bytes.
pub(super) fn rendered(
    input: &mut impl BufRead,
    head: &RecordHeader,
    of: &RecordHeader,
    limit: usize,
) -> io::Result<Option<Bytes>> {
    if !head.renders(of) || head.length > limit as u64 {
        return Ok(None);
    }
    let mut block = Vec::new();
    let read = input.take(head.length).read_to_end(&mut block)?;
    if (read as u64) < head.length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(Some(block.into())) }
}

/// Whether a block is an HTTP response with fewer bytes than its `Content-Length`.
pub(super) fn lacks_bytes(block: &[u8]) -> bool {
    let Some((_, fields, length)) = http_head(block) else { return false };
    let declared = value(&fields, "content-length").and_then(|text| text.parse().ok());
    declared.is_some_and(|declared: usize| block.len() - length < declared)
}

/// Status, header fields and length of an HTTP head; `None` if it is not HTTP.
pub(super) fn http_head(block: &[u8]) -> Option<(u16, Fields, usize)> {
    let mut lines = &block[..block.len().min(HEAD_LIMIT)];
    let mut left = HEAD_LIMIT;
    let mut line = Vec::new();
    read_line(&mut lines, &mut line, &mut left).ok().filter(|&more| more)?;
    let status = std::str::from_utf8(&line).ok()?.strip_prefix("HTTP/")?.split_ascii_whitespace().nth(1)?;
    let status = status.parse().ok()?;
    let mut headers = Vec::new();
    loop {
        if !read_line(&mut lines, &mut line, &mut left).ok()? {
            break;
        }
        if line.is_empty() {
            break;
        }
        push_line(&mut headers, &line);
    }
    Some((status, headers, block.len().min(HEAD_LIMIT - left)))
}

/// The response in one record (a gzip member or plain), with its rendered copy if a second member holds one; `None` for
/// another kind of record.
pub(super) fn unpack_response(record: &[u8], limit: usize) -> io::Result<Option<Fetched>> {
    let mut plain = Vec::new();
    let mut following: &[u8] = &[];
    let mut input = if record.starts_with(&GZIP) {
        let bound = (limit + 2 * HEAD_LIMIT) as u64;
        following = record;
        flate2::bufread::GzDecoder::new(&mut following).take(bound).read_to_end(&mut plain)?;
        plain.as_slice()
    } else {
        record
    };
    let Some(head) = RecordHeader::read(&mut input)? else { return Ok(None) };
    let Some(url) = head.response_url() else { return Ok(None) };
    let length = usize::try_from(head.length).ok().filter(|&length| length <= input.len());
    let block = &input[..length.ok_or(io::ErrorKind::UnexpectedEof)?];
    let mut response = parse_response(url, &Bytes::copy_from_slice(block), limit).ok();
    if let Some(response) = response.as_mut().filter(|_| !following.is_empty()) {
        let mut member = io::BufReader::new(flate2::bufread::GzDecoder::new(following));
        if let Some(next) = RecordHeader::read(&mut member)? {
            response.rendered = rendered(&mut member, &next, &head, limit)?;
        }
    }
    Ok(response)
}

pub(super) const GZIP: [u8; 2] = [0x1f, 0x8b];

pub(super) fn value<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
}

/// Reads one line without its end; false at the end of the input. `left` is the rest of the permitted head.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>, left: &mut usize) -> io::Result<bool> {
    line.clear();
    let read = input.by_ref().take(*left as u64).read_until(b'\n', line)?;
    *left -= read;
    if read == 0 {
        return if *left == 0 { Err(invalid("unterminated record header")) } else { Ok(false) };
    }
    if line.pop_if(|byte| *byte == b'\n').is_some() {
        line.pop_if(|byte| *byte == b'\r');
    }
    Ok(true)
}

/// Parses a header line: name in lower case, value as UTF-8 or else Latin-1. Folded lines join the field before.
fn push_line(fields: &mut Fields, line: &[u8]) {
    let text = match std::str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => line.iter().map(|&byte| char::from(byte)).collect(),
    };
    match (text.starts_with([' ', '\t']), fields.last_mut()) {
        (true, Some((_, value))) => {
            value.push(' ');
            value.push_str(text.trim());
        }
        _ => {
            if let Some((name, value)) = text.split_once(':') {
                fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
