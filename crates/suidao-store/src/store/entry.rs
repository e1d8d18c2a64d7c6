//! How an exchange is stored: request and response as two WARC records, followed by the rendered copy of the page, if
//! any, as a conversion record (WARC 1.1, 6.8).
//!
//! A response without new content is stored as a revisit record (WARC 1.1, 6.7): its head, and a reference to the
//! response with the payload. So every answered request is in the archive, and every payload is there once.

use std::io;

use flate2::Compression;

use super::warc::{self, RecordDraft};
use suidao_page::model::{CrawlUrl, Fetched, Millis};

/// A fast compression level: a faster deflate took 28 % off the writer's time.
const LEVEL: u32 = 3;

/// The server answered 304.
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
/// The server sent the same bytes.
const IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

#[derive(Clone, Debug, PartialEq)]
pub enum WarcEntry {
    Whole(Fetched),
    /// Only the head, because the archive has the payload: status 304, or the same bytes as sent ([`Fetched::wire`] if
    /// set).
    Revisit {
        fetched: Fetched,
        /// When the response with the payload was stored: the time of its batch.
        of: Millis,
    },
}

impl WarcEntry {
    /// Appends request and answer to `out`, one gzip member each: `name` determines their ids, `headers` are the fields
    /// of every request. Also returns the length of `out` up to the end of the request.
    pub(super) fn write(
        &self,
        at: Millis,
        name: &str,
        headers: &[(String, String)],
        out: Vec<u8>,
    ) -> io::Result<(Vec<u8>, usize)> {
        let fetched = self.fetched();
        let uri = || ("WARC-Target-URI", fetched.url.as_str().to_owned());
        let payload = fetched.wire.as_ref().unwrap_or(&fetched.body);
        let kind = if self.is_revisit() { "revisit" } else { "response" };
        let out = RecordDraft {
            kind: "request",
            name,
            at,
            media: "application/http; msgtype=request",
            fields: vec![uri(), ("WARC-Concurrent-To", warc::record_id(kind, name))],
            head: &warc::request_head(fetched, headers),
            payload: &[],
        }
        .write(Compression::fast(), out)?;
        let middle = out.len();
        let mut fields = vec![uri(), ("WARC-Concurrent-To", warc::record_id("request", name))];
        if let Self::Revisit { of, .. } = self {
            let modified = fetched.status != 304;
            fields.push(("WARC-Profile", if modified { IDENTICAL } else { NOT_MODIFIED }.to_owned()));
            fields.push(("WARC-Refers-To-Target-URI", fetched.url.as_str().to_owned()));
            fields.push(("WARC-Refers-To-Date", warc::rfc3339(*of)));
            if modified {
                fields.push(("WARC-Payload-Digest", warc::digest(&[payload])));
            }
        }
        let draft = RecordDraft {
            kind,
            name,
            at,
            media: "application/http; msgtype=response",
            fields,
            // A 304 has a length only if the server sent one.
            head: &warc::response_head(fetched, (fetched.status != 304 || !self.is_revisit()).then_some(payload.len())),
            payload: if self.is_revisit() { &[] } else { payload },
        };
        // Compressed bodies do not shrink further.
        let level = if fetched.wire.is_some() { Compression::fast() } else { Compression::new(LEVEL) };
        let mut out = draft.write(level, out)?;
        if let (Self::Whole(_), Some(rendered)) = (self, &fetched.rendered) {
            let conversion = RecordDraft {
                kind: warc::CONVERSION,
                name,
                at,
                media: Fetched::RENDERED,
                fields: vec![uri(), ("WARC-Refers-To", warc::record_id(kind, name))],
                head: &[],
                payload: rendered,
            };
            out = conversion.write(Compression::new(LEVEL), out)?;
        }
        Ok((out, middle))
    }

    fn fetched(&self) -> &Fetched {
        let (Self::Whole(fetched) | Self::Revisit { fetched, .. }) = self;
        fetched
    }

    pub fn url(&self) -> &CrawlUrl {
        &self.fetched().url
    }

    pub fn is_revisit(&self) -> bool {
        matches!(self, Self::Revisit { .. })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use flate2::read::{GzDecoder, MultiGzDecoder};

    use super::super::fixture::*;
    use super::super::*;
    use super::*;

    #[test]
    fn an_answer_without_new_content_is_stored_as_its_head() {
        let identical = fetched(1, 3000);
        let digest = warc::digest(&[&identical.body]);
        for (n, profile) in [(1, "identical-payload-digest"), (2, "server-not-modified")] {
            let (out, middle) = warc_entry(n, 3000).write(Millis(2000), "name", &[], b"before".to_vec()).unwrap();
            assert!(out.starts_with(b"before") && out.len() < 1500, "{}", out.len());
            let mut input = BufReader::new(GzDecoder::new(&out[middle..]));
            let head = warc::RecordHeader::read(&mut input).unwrap().unwrap();
            let field = |name| head.field(name).unwrap_or_default();
            assert_eq!(field("warc-type"), "revisit");
            assert_eq!(field("warc-profile"), format!("http://netpreserve.org/warc/1.1/revisit/{profile}"));
            assert_eq!(
                (field("warc-target-uri"), field("warc-refers-to-target-uri")),
                (url(n).as_str(), url(n).as_str())
            );
            assert_eq!(field("warc-refers-to-date"), warc::rfc3339(Millis(u64::from(n))));
            assert_eq!(head.field("warc-payload-digest").is_some(), n == 1);
            assert!(n == 2 || field("warc-payload-digest") == digest);
            let mut block = String::new();
            input.read_to_string(&mut block).unwrap();
            let (status, headers, length) = warc::http_head(block.as_bytes()).unwrap();
            assert_eq!((status, &headers), (if n == 1 { 200 } else { 304 }, &fetched(n, 3000).headers));
            assert_eq!((&block[length..], head.length), ("\r\n\r\n", length as u64), "no payload");
            let mut request = String::new();
            GzDecoder::new(&out[6..middle]).read_to_string(&mut request).unwrap();
            assert!(request.contains(&format!("WARC-Concurrent-To: {}", field("warc-record-id"))), "{request}");
            assert!(
                field("warc-concurrent-to").len() > 40 && request.contains(field("warc-concurrent-to")),
                "{request}"
            );
            assert_eq!(request.contains("if-none-match: \"1\"\r\n"), n == 2, "{request}");
        }
        // A 304 has a length only if the server sent one.
        let WarcEntry::Revisit { fetched, of } = warc_entry(2, 10) else { panic!() };
        let bare = WarcEntry::Revisit { fetched: Fetched { headers: Vec::new(), ..fetched }, of };
        let (out, _) = bare.write(Millis(0), "name", &[], Vec::new()).unwrap();
        let mut text = String::new();
        MultiGzDecoder::new(&out[..]).read_to_string(&mut text).unwrap();
        assert!(text.contains("HTTP/1.1 304 Not Modified\r\n\r\n"), "{text}");
    }

    #[test]
    fn a_rendered_copy_is_read_with_its_answer() {
        let root = tempfile::tempdir().unwrap();
        let (store, mut archive) = resume(root.path(), 1 << 30).unwrap();
        let page = |n: u32| {
            let mut page = fetched(n, 2000);
            page.rendered =
                n.is_multiple_of(2).then(|| format!("<!DOCTYPE html><p>{}", "正文".repeat(n as usize)).into());
            page
        };
        let at: Vec<Location> =
            (0..6).map(|n| archive.add(&WarcEntry::Whole(page(n)), Millis(u64::from(n))).unwrap()).collect();
        archive.close().unwrap();
        let path = store.directory().pages().join("suidao-00000.warc.gz");
        let whole: Vec<_> = (0..6).map(page).collect();
        let read = |path: &std::path::Path| -> Vec<_> {
            Responses::open(path, 1 << 20).unwrap().map(Result::unwrap).collect()
        };
        assert_eq!(read(&path), whole);
        // As another program may write it: uncompressed, and as one member.
        let mut plain = Vec::new();
        MultiGzDecoder::new(std::fs::File::open(&path).unwrap()).read_to_end(&mut plain).unwrap();
        let mut one = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
        std::io::Write::write_all(&mut one, &plain).unwrap();
        let others = [("plain.warc", plain), ("one.warc.gz", one.finish().unwrap())].map(|(name, bytes)| {
            std::fs::write(root.path().join(name), bytes).unwrap();
            root.path().join(name)
        });
        for path in others.iter().chain([&path]) {
            assert_eq!(read(path), whole, "{}", path.display());
            let web = WarcIndex::open(vec![path.clone()], 1 << 20, |_| ()).unwrap();
            for page in &whole {
                assert_eq!(web.get(&page.url).unwrap().as_ref(), Some(page), "{}", path.display());
            }
        }
        let bytes = std::fs::read(&path).unwrap();
        let mut reader = ArchiveReader::new(store.directory(), 1 << 20);
        for (page, &location) in whole.iter().zip(&at) {
            assert_eq!(reader.read_at(location).unwrap(), *page);
        }
        // A file truncated within the second record still has the response.
        let cut = root.path().join("cut.warc.gz");
        std::fs::write(&cut, &bytes[..at[0].end() as usize - 20]).unwrap();
        let web = WarcIndex::open(vec![cut], 1 << 20, |_| ()).unwrap();
        assert_eq!(web.get(&whole[0].url).unwrap(), Some(Fetched { rendered: None, ..whole[0].clone() }));
    }

    #[test]
    fn readers_of_answers_pass_over_revisits() {
        let root = tempfile::tempdir().unwrap();
        let (store, mut archive) = resume(root.path(), 1 << 30).unwrap();
        let at: Vec<Location> =
            (0..12).map(|n| archive.add(&warc_entry(n, 2000), Millis(u64::from(n))).unwrap()).collect();
        archive.close().unwrap();
        let path = store.directory().pages().join("suidao-00000.warc.gz");
        let whole: Vec<_> = (0..12).filter(|&n| !warc_entry(n, 10).is_revisit()).map(|n| fetched(n, 2000)).collect();
        let read: Vec<_> = Responses::open(&path, 1 << 20).unwrap().map(Result::unwrap).collect();
        assert_eq!(read, whole);
        let mut seen = Vec::new();
        let web = WarcIndex::open(vec![path.clone()], 1 << 20, |url| seen.push(url.clone())).unwrap();
        assert!(seen.iter().eq(whole.iter().map(|page| &page.url)));
        assert_eq!(web.get(&url(1)).unwrap(), None);
        assert_eq!(web.get(&url(4)).unwrap(), Some(fetched(4, 2000)));
        let mut reader = ArchiveReader::new(store.directory(), 1 << 20);
        for (n, &location) in (0..).zip(&at) {
            let read = reader.read_at(location);
            if warc_entry(n, 10).is_revisit() {
                let message = read.unwrap_err().to_string();
                assert!(message.contains("not the record of a page"), "{message}");
            } else {
                assert!(read.unwrap() == fetched(n, 2000));
            }
        }
    }
}
