//! WARC files and crawl directories as a web that replays the recorded answers.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::{BODY_LIMIT, RecordedError};
use suidao_crawl::replay::Web;
use suidao_page::model::{CrawlUrl, Event, Failure, FailureKind, Fetched, RobotsRules};
use suidao_store::store::{CrawlDirectory, Store, WarcIndex, plain_file};

/// Recorded answers as a web.
///
/// URLs without a record are 404. A host recorded only under http fails to connect under https; one recorded only under
/// https redirects from http, as such hosts do.
#[derive(Debug)]
pub struct Warc {
    responses: WarcIndex,
    /// Whether a host was recorded under http, and under https.
    schemes: FxHashMap<String, [bool; 2]>,
    /// Robots rules by origin, if they were stored separately from the responses.
    robots: FxHashMap<String, RobotsRules>,
}

impl Warc {
    /// Opens a WARC file or WACZ, or all of them (`*.warc`, `*.warc.gz`, `*.warc.zst`, `*.wacz`) in a directory.
    ///
    /// # Errors
    /// [`RecordedError`] if there is none, or one cannot be read.
    pub fn open(path: &Path) -> Result<Self, RecordedError> {
        let files = if path.is_dir() { warc_files_in(path)? } else { vec![path.to_owned()] };
        Self::of(files, FxHashMap::default())
    }

    /// Opens a crawl directory: its WARC files, and the last robots rules of its log.
    ///
    /// # Errors
    /// [`RecordedError`] if it contains no crawl, is in use, or is damaged.
    pub fn open_crawl(directory: &CrawlDirectory) -> Result<Self, RecordedError> {
        let store = Store::open(directory)?;
        let mut robots = FxHashMap::default();
        for record in store.batches() {
            for event in record?.batch.events {
                if let Event::Robots { origin, rules, .. } = event {
                    // Fetched rules remain valid while robots.txt is unreachable.
                    if rules != RobotsRules::Unreachable || !robots.contains_key(&origin) {
                        robots.insert(origin, rules);
                    }
                }
            }
        }
        let files = warc_files_in(&directory.pages())?;
        for file in &files {
            plain_file::open_following_links(file)?;
        }
        Self::of(files, robots)
    }

    fn of(files: Vec<PathBuf>, robots: FxHashMap<String, RobotsRules>) -> Result<Self, RecordedError> {
        let mut schemes: FxHashMap<String, [bool; 2]> = FxHashMap::default();
        let responses = WarcIndex::open(files, BODY_LIMIT, |url| {
            // Avoids an allocation, because most URLs are of a known host.
            match schemes.get_mut(url.host()) {
                Some(schemes) => schemes[usize::from(url.is_https())] = true,
                None => {
                    let mut both = [false; 2];
                    both[usize::from(url.is_https())] = true;
                    schemes.insert(url.host().to_owned(), both);
                }
            }
        })?;
        Ok(Self { responses, schemes, robots })
    }

    pub fn len(&self) -> usize {
        self.responses.len()
    }

    pub fn is_empty(&self) -> bool {
        self.responses.is_empty()
    }

    fn unrecorded(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        let is_robots = url.path() == "/robots.txt" && url.query().is_none();
        match self.robots.get(&url.origin()).filter(|_| is_robots) {
            Some(RobotsRules::Rules(text)) => {
                return Ok(response(url, 200, "text/plain", Bytes::copy_from_slice(text)));
            }
            Some(RobotsRules::Unreachable) => return Ok(response(url, 503, "text/plain", Bytes::new())),
            Some(RobotsRules::AllowAll) | None => {}
        }
        match (self.schemes.get(url.host()), url.is_https(), url.under(true)) {
            (Some([true, false]), true, _) => Err(Failure { kind: FailureKind::Connect, retry_after: None }),
            (Some([false, true]), false, Some(https)) => {
                let mut moved = response(url, 301, "text/html", Bytes::new());
                moved.headers.push(("location".to_owned(), https.as_str().to_owned()));
                Ok(moved)
            }
            _ => Ok(response(url, 404, "text/html", Bytes::new())),
        }
    }
}

impl Web for Warc {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        match self.responses.get(url) {
            Ok(Some(fetched)) => Ok(fetched),
            Ok(None) => self.unrecorded(url),
            Err(error) => {
                tracing::warn!(%url, "{error}; counted as a failed response");
                Err(Failure { kind: FailureKind::Broken, retry_after: None })
            }
        }
    }
}

fn response(url: &CrawlUrl, status: u16, media: &str, body: Bytes) -> Fetched {
    Fetched::new(url.clone(), status, vec![("content-type".to_owned(), media.to_owned())], body)
}

/// The WARC files in a directory by name, including one being written (`.open`).
pub(super) fn warc_files_in(directory: &Path) -> Result<Vec<PathBuf>, RecordedError> {
    let fail = |source| RecordedError::Read { path: directory.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.strip_suffix(".open").unwrap_or(&name);
        if [".warc", ".warc.gz", ".warc.zst", ".wacz"].iter().any(|ending| name.ends_with(ending)) {
            files.push(path);
        }
    }
    if files.is_empty() {
        let directory = directory.display();
        return Err(RecordedError::Unusable(format!(
            "{directory}: contains no WARC file (*.warc, *.warc.gz, *.warc.zst, *.wacz); give one, as in warc:FILE"
        )));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(url: &str, head: &str, body: &str) -> String {
        let block = format!("HTTP/1.1 {head}\r\n\r\n{body}");
        format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Type: application/http\r\n\
             Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    }

    #[test]
    fn what_was_not_recorded_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let one = record("http://a.test/", "200 OK\r\nContent-Type: text/html", "<p>a")
            + &record("http://a.test/", "200 OK\r\nContent-Type: text/html", "later");
        fs::write(dir.path().join("one.warc"), one).unwrap();
        let two = record("https://b.test/", "302 Found\r\nLocation: /x", "")
            + &record("http://c.test/", "200 OK", "c")
            + &record("https://c.test/robots.txt", "200 OK", "Disallow: /y");
        fs::write(dir.path().join("two.warc"), two).unwrap();
        let web = Warc::open(dir.path()).unwrap();
        assert_eq!(web.len(), 4);
        let get = |url: &str| web.get(&CrawlUrl::parse(url).unwrap());
        let answered =
            |url: &str| get(url).map(|fetched| (fetched.status, fetched.header("location").map(str::to_owned)));
        for (url, status, location) in [
            ("http://a.test/", 200, None),
            ("http://a.test/x", 404, None),
            ("http://a.test/robots.txt", 404, None),
            ("https://b.test/", 302, Some("/x")),
            ("https://b.test/y", 404, None),
            ("http://b.test/y?z", 301, Some("https://b.test/y?z")),
            ("http://c.test/x", 404, None),
            ("https://c.test/x", 404, None),
            ("http://d.test/", 404, None),
        ] {
            assert_eq!(answered(url), Ok((status, location.map(str::to_owned))), "{url}");
        }
        assert_eq!(get("http://a.test/").unwrap().body, "<p>a");
        assert_eq!(get("https://c.test/robots.txt").unwrap().body, "Disallow: /y");
        assert_eq!(get("https://a.test/").unwrap_err().kind, FailureKind::Connect);
    }

    #[test]
    fn what_is_no_archive_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let message = |path: &Path| Warc::open(path).unwrap_err().to_string();
        assert!(message(dir.path()).contains("contains no WARC file"));
        assert!(message(&dir.path().join("none.warc")).contains("none.warc"));
        fs::write(dir.path().join("page.warc"), "<html>").unwrap();
        assert!(message(&dir.path().join("page.warc")).contains("neither WARC/ nor gzip"));
    }
}
