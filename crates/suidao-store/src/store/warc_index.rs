//! An index of WARC files by URL: built in one pass; bodies are read on demand.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::error::StoreError;
use super::records::{RecordPosition, RecordReader, WarcDamage, WarcSource};
use super::warc::{self, HEAD_LIMIT};
use suidao_page::model::{CrawlUrl, Fetched};

/// The responses in WARC files of any software by URL, the first of each URL. Memory: about 40 bytes per URL.
#[derive(Debug)]
pub struct WarcIndex {
    files: Vec<PathBuf>,
    sources: Vec<WarcSource>,
    /// The source of each, and where in it the record starts.
    positions: FxHashMap<u64, (u32, RecordPosition)>,
    damaged: u64,
    limit: usize,
}

impl WarcIndex {
    /// Indexes the responses in some WARC files or WACZ, in order, and passes every URL to `seen`. Skips responses
    /// larger than `limit` bytes, and decodes bodies to at most that. Damage is skipped with a warning; so is a file
    /// that is not a WARC file, if another has a response.
    ///
    /// # Errors
    /// [`StoreError::Io`] if a file does not open; [`StoreError::Warc`] if one is unusable and none has a response.
    pub fn open(files: Vec<PathBuf>, limit: usize, mut seen: impl FnMut(&CrawlUrl)) -> Result<Self, StoreError> {
        let (files, sources, positions) = (files, Vec::new(), FxHashMap::default());
        let mut index = Self { files: Vec::new(), sources, positions, damaged: 0, limit };
        let mut unusable = Vec::new();
        for path in files {
            match index.add(&path, &mut seen) {
                Ok(()) => index.files.push(path),
                Err(error @ StoreError::Warc { .. }) => unusable.push(error),
                Err(error) => return Err(error),
            }
        }
        if index.is_empty() && !unusable.is_empty() {
            return Err(unusable.swap_remove(0));
        }
        for error in unusable {
            tracing::warn!("{error}; skipped this file");
        }
        Ok(index)
    }

    /// Indexes one file.
    fn add(&mut self, path: &Path, seen: &mut impl FnMut(&CrawlUrl)) -> Result<(), StoreError> {
        let (mut records, mut total) = (0, WarcDamage::default());
        for source in WarcSource::find(path)? {
            let name = source.name();
            let mut reader = RecordReader::open(&source, self.limit + HEAD_LIMIT)?;
            let number = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
            while let Some(found) = reader.next().map_err(StoreError::io(path, "read it"))? {
                records += 1;
                if let Some(url) = found.head.response_url().filter(|_| !found.is_too_large) {
                    seen(&url);
                    self.positions.entry(url.fingerprint()).or_insert((number, found.position));
                }
            }
            self.sources.push(source);
            let damage = reader.damage();
            self.damaged += damage.records;
            if records == 0 {
                total = damage.clone();
            } else if !damage.is_empty() {
                tracing::warn!("{name}: {damage}");
            }
        }
        if records == 0 && !total.is_empty() {
            let what = format!("no record in it can be read ({total}); leave it out or download it again");
            return Err(StoreError::Warc { path: path.to_owned(), what });
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.positions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The files that can be read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Damaged records that were skipped.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// The response of a URL. Fails if the file has changed.
    pub fn get(&self, url: &CrawlUrl) -> Result<Option<Fetched>, StoreError> {
        let Some((source, position)) = self.positions.get(&url.fingerprint()) else { return Ok(None) };
        let source = &self.sources[*source as usize];
        let fail = || StoreError::io(&source.path, "read it");
        let mut reader = RecordReader::open(source, self.limit + HEAD_LIMIT)?;
        reader.seek(*position).map_err(fail())?;
        let Some(found) = reader.next().map_err(fail())? else { return Ok(None) };
        let own = found.head.response_url().filter(|own| own == url && !found.is_too_large);
        let block = Bytes::copy_from_slice(reader.block());
        let Some(mut fetched) = own.and_then(|url| warc::parse_response(url, &block, self.limit).ok()) else {
            return Ok(None);
        };
        let next = reader.next().map_err(fail())?;
        if next.is_some_and(|next| next.renders(&found, self.limit)) {
            fetched.rendered = Some(Bytes::copy_from_slice(reader.block()));
        }
        Ok(Some(fetched))
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
        let web = WarcIndex::open(vec![path], 1000, |_| ()).unwrap();
        assert_eq!((web.len(), web.damaged()), (2, 1), "the records after a damaged one are there too");
    }
}
