//! The corpus as JSON lines: one object for each page kept, in order of fetching.
//!
//! The log is read twice: once for which URLs need their text (pages and redirects, for a page is found on one of
//! them: a byte for each known URL), once to write, with only those texts in memory (about 100 bytes for each page).
//! The main text is not in the log: each page is read back from the archive and parsed again, a portion at a time and
//! on all cores.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::archive::{ArchiveReader, Location, unpack_record};
use super::directory::{WriteError, write_whole};
use super::{Store, StoreError, warc};
use crate::model::{Batch, Event, Fetched, Millis, Origin, Relevance, Settled, Tunnel, UrlId};

/// Pages read and parsed at a time.
const PORTION: usize = 128;

/// What an export did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Lines written.
    pub pages: u64,
    /// Pages settled of which the archive holds no answer, left out.
    pub without_archive: u64,
}

/// A line.
#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    fetched: String,
    title: &'a str,
    text: String,
    language: Option<&'a str>,
    relevance: Relevance,
    relevant: bool,
    scores: Scores,
    /// None where it is unbounded.
    k: Option<u8>,
    hops: u16,
    depth: u16,
    /// Page or redirect by which it became known; none for a seed.
    found_on: Option<&'a str>,
    digest: String,
    /// The page asks search engines not to keep it.
    noindex: bool,
    warc: Place<'a>,
}

#[derive(Serialize)]
struct Scores {
    priority: f32,
    lane: u8,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    offset: u64,
}

/// A page waiting for its portion to be full.
struct Waiting {
    at: Millis,
    page: Box<Settled>,
    location: Location,
    record: Vec<u8>,
    path: PathBuf,
}

/// Writes every archived page of `store` to `path`: `-` is the standard output; `.gz` and `.zst` are packed; a file
/// takes its name only when it is complete. `text` makes the main text of an answer; bodies are unpacked to at most
/// `limit` bytes.
///
/// # Errors
/// [`StoreError`] if log or archive do not read, or the output cannot be written.
pub fn jsonl(
    store: &Store,
    path: &Path,
    limit: usize,
    text: impl Fn(&Fetched) -> String + Sync,
) -> Result<Exported, StoreError> {
    if path == Path::new("-") {
        let mut out = BufWriter::new(io::stdout().lock());
        let done = lines(store, &mut out, limit, &text).and_then(|done| Ok(out.flush().map(|()| done)?));
        return done.map_err(|error| error.at(Path::new("standard output")));
    }
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    write_whole(path, |out| match extension {
        "gz" => {
            let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            let done = lines(store, &mut packed, limit, &text)?;
            packed.finish()?;
            Ok(done)
        }
        "zst" => {
            let mut packed = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            let done = lines(store, &mut packed, limit, &text)?;
            packed.finish()?;
            Ok(done)
        }
        _ => lines(store, out, limit, &text),
    })
}

fn lines(
    store: &Store,
    out: &mut dyn Write,
    limit: usize,
    text: &(impl Fn(&Fetched) -> String + Sync),
) -> Result<Exported, WriteError> {
    let needed = needed(store)?;
    let mut archive = ArchiveReader::new(store.directory(), limit);
    let mut urls: FxHashMap<UrlId, (Box<str>, Origin)> = FxHashMap::default();
    let mut done = Exported::default();
    let mut portion = Vec::with_capacity(PORTION);
    for record in store.batches() {
        let record = record?;
        let Batch { at, events } = record.batch;
        for event in events {
            match event {
                Event::Discovered(found) if needed.get(found.id.0 as usize).copied().unwrap_or(false) => {
                    urls.insert(found.id, (found.url.as_str().into(), found.origin));
                }
                Event::Settled(page) => match record.archive {
                    None => done.without_archive += 1,
                    Some(location) => {
                        let (record, path) = archive.record(location)?;
                        portion.push(Waiting { at, page, location, record, path });
                    }
                },
                _ => {}
            }
        }
        if portion.len() >= PORTION {
            done.pages += write_portion(&mut portion, &urls, out, limit, text)?;
        }
    }
    done.pages += write_portion(&mut portion, &urls, out, limit, text)?;
    Ok(done)
}

/// Which URLs may be named in a line: pages, and what a page may have been found on, which is a page or a redirect.
fn needed(store: &Store) -> Result<Vec<bool>, StoreError> {
    let mut needed = Vec::new();
    for record in store.batches() {
        for event in record?.batch.events {
            match event {
                Event::Discovered(_) => needed.push(false),
                Event::Settled(page) => mark(&mut needed, page.id),
                Event::Redirected { id, .. } => mark(&mut needed, id),
                _ => {}
            }
        }
    }
    Ok(needed)
}

fn mark(needed: &mut [bool], id: UrlId) {
    if let Some(needed) = needed.get_mut(id.0 as usize) {
        *needed = true;
    }
}

fn write_portion(
    portion: &mut Vec<Waiting>,
    urls: &FxHashMap<UrlId, (Box<str>, Origin)>,
    out: &mut dyn Write,
    limit: usize,
    text: &(impl Fn(&Fetched) -> String + Sync),
) -> Result<u64, WriteError> {
    let lines: Vec<Result<Vec<u8>, WriteError>> =
        portion.par_iter().map(|waiting| line(waiting, urls, limit, text)).collect();
    let count = portion.len() as u64;
    portion.clear();
    for line in lines {
        out.write_all(&line?)?;
    }
    Ok(count)
}

fn line(
    waiting: &Waiting,
    urls: &FxHashMap<UrlId, (Box<str>, Origin)>,
    limit: usize,
    text: &impl Fn(&Fetched) -> String,
) -> Result<Vec<u8>, WriteError> {
    let Waiting { at, page, location, record, path } = waiting;
    let fetched = unpack_record(record, path, *location, limit)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let found_on = match urls.get(&page.id) {
        Some((_, Origin::Link(from) | Origin::Redirect(from))) => urls.get(from).map(|(url, _)| &**url),
        _ => None,
    };
    let line = Line {
        url: fetched.url.as_str(),
        fetched: warc::date(*at),
        title: &page.title,
        text: text(&fetched),
        language: page.language.as_deref(),
        relevance: page.relevance,
        relevant: page.relevant,
        scores: Scores { priority: page.place.priority.get(), lane: page.place.lane.0 },
        k: match page.place.trail.k {
            Tunnel::Left(k) => Some(k),
            Tunnel::Unbounded => None,
        },
        hops: page.place.trail.hops,
        depth: page.place.trail.depth,
        found_on,
        digest: page.digest.to_string(),
        noindex: page.noindex,
        warc: Place { file: &file, offset: location.offset },
    };
    let mut bytes = serde_json::to_vec(&line)?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::fixture::*;
    use super::*;

    fn text(fetched: &Fetched) -> String {
        String::from_utf8_lossy(&fetched.body[..12]).into_owned()
    }

    #[test]
    fn every_page_is_a_line_whatever_the_packing() {
        let root = tempfile::tempdir().unwrap();
        let mut store = crawl(root.path(), 0..300, 2000, 100_000);
        store.append(&[super::super::Record { batch: batch(300, 3), archive: None }]).unwrap();
        let out = tempfile::tempdir().unwrap();
        let export = |name: &str| {
            let path = out.path().join(name);
            let done = jsonl(&store, &path, 1 << 20, text).unwrap();
            assert_eq!(done, Exported { pages: 300, without_archive: 1 });
            std::fs::read(path).unwrap()
        };
        let plain = export("pages.jsonl");
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&export("pages.jsonl.gz")[..]).read_to_end(&mut unpacked).unwrap();
        assert_eq!(unpacked, plain);
        assert_eq!(zstd::decode_all(&export("pages.jsonl.zst")[..]).unwrap(), plain);
        let lines: Vec<serde_json::Value> =
            plain.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        assert_eq!(lines.len(), 300);
        let (first, last) = (&lines[0], &lines[299]);
        assert!(first["found_on"].is_null());
        assert_eq!(last["found_on"], url(99).as_str());
        assert_eq!(last["warc"]["file"], archived(root.path()).last().unwrap().0);
        let expected = serde_json::json!({
            "url": url(299).as_str(), "fetched": "2023-11-14T22:18:19.123Z", "title": "第299页", "text": "<title>第29",
            "language": "cmn", "relevance": 0.5, "relevant": false, "scores": {"priority": 0.25, "lane": 1}, "k": 4,
            "hops": 2, "depth": 3, "found_on": url(99).as_str(), "digest": "sha1:A4DQOBYHA4DQOBYHA4DQOBYHA4DQOBYH",
                "noindex": false,
            "warc": last["warc"],
        });
        assert_eq!(last, &expected);
    }

    #[test]
    fn an_export_that_fails_leaves_no_file() {
        let root = tempfile::tempdir().unwrap();
        let store = crawl(root.path(), 0..10, 2000, 1 << 30);
        let archive = root.path().join("pages/suidao-00000.warc.gz");
        let mut bytes = std::fs::read(&archive).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0);
        std::fs::write(&archive, bytes).unwrap();
        let out = root.path().join("out.jsonl");
        let message = jsonl(&store, &out, 1 << 20, text).unwrap_err().to_string();
        assert!(message.contains("suidao-00000.warc.gz"), "{message}");
        assert!(!out.exists());
    }
}
