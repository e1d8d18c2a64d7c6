//! A folder of hosts as a web: `DIR/host/path/index.html`, as static sites are published and mirroring tools save them,
//! served like a common file server behind a forward proxy for http.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use percent_encoding::percent_decode_str;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{BODY_LIMIT, RecordedError};
use suidao_crawl::replay::Web;
use suidao_page::model::{CrawlUrl, Failure, FailureKind, Fetched};

/// A folder with a directory for each host.
///
/// `/a/` is its `index.html` or `index.htm`; `/a` is the file `a`, else a redirect to the directory `/a/`, else
/// `a.html`; queries are ignored. Missing files are 404, with the host's `404.html` if there is one. Unknown hosts are
/// 502, as from a proxy; https fails to connect. A file `aliases.tsv` next to the folder lists hosts that redirect to
/// others: `alias TAB host` per line.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    hosts: FxHashSet<String>,
    aliases: FxHashMap<String, String>,
}

impl Folder {
    /// Opens a folder: reads the names of its hosts and the aliases, but no pages.
    ///
    /// # Errors
    /// [`RecordedError`] if it cannot be listed, contains no directory, or `aliases.tsv` has an invalid line.
    pub fn open(root: &Path) -> Result<Self, RecordedError> {
        let fail = |source| RecordedError::Read { path: root.to_owned(), source };
        let mut hosts = FxHashSet::default();
        for entry in fs::read_dir(root).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            if let Some(name) = entry.file_name().to_str().filter(|_| entry.path().is_dir()) {
                hosts.insert(name.to_owned());
            }
        }
        if hosts.is_empty() {
            let root = root.display();
            return Err(RecordedError::Unusable(format!(
                "{root}: contains no host; give a folder with one directory per host, as in hosts:DIR"
            )));
        }
        let aliases = aliases(&root.with_file_name("aliases.tsv"), &hosts)?;
        Ok(Self { root: root.to_owned(), hosts, aliases })
    }

    /// The file path of a URL; `None` if it would leave the host's directory.
    fn file(&self, url: &CrawlUrl) -> Option<PathBuf> {
        let bytes: Vec<u8> = percent_decode_str(url.path()).collect();
        let leaves = |part: &[u8]| part == b".." || (cfg!(windows) && part.contains(&b'\\'));
        if bytes.contains(&0) || bytes.split(|&byte| byte == b'/').any(leaves) {
            return None;
        }
        // Joined as text, because a path that begins with / would replace the root.
        let mut path = self.root.join(url.host()).into_os_string();
        path.push(os_string(bytes)?);
        Some(path.into())
    }

    fn response(&self, url: &CrawlUrl) -> io::Result<Fetched> {
        let Some(path) = self.file(url) else { return Ok(response(url, 400, "text/plain", b"bad path".to_vec())) };
        let added = |more: &str| {
            let mut path = path.clone().into_os_string();
            path.push(more);
            PathBuf::from(path)
        };
        if url.path().ends_with('/') || percent_decode_str(url.path()).last() == Some(b'/') {
            for index in ["index.html", "index.htm"] {
                let file = added(index);
                if file.is_file() {
                    return whole(url, 200, &file);
                }
            }
        } else if path.is_file() {
            return whole(url, 200, &path);
        } else if path.is_dir() {
            let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
            return Ok(moved(url, &format!("{}{}/{query}", url.origin(), url.path())));
        } else {
            let file = added(".html");
            if file.is_file() {
                return whole(url, 200, &file);
            }
        }
        let own = self.root.join(url.host()).join("404.html");
        if own.is_file() {
            return whole(url, 404, &own);
        }
        Ok(response(url, 404, "text/html", b"<title>404</title>not found".to_vec()))
    }
}

impl Web for Folder {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        let failure = |kind| Failure { kind, retry_after: None };
        if url.is_https() {
            return Err(failure(FailureKind::Connect));
        }
        if let Some(host) = self.aliases.get(url.host()) {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
            return Ok(moved(url, &format!("http://{host}{port}{}{query}", url.path())));
        }
        if !self.hosts.contains(url.host()) {
            return Ok(response(url, 502, "text/plain", b"no such host here".to_vec()));
        }
        let fetched = self.response(url).map_err(|error| {
            tracing::warn!(%url, %error, "cannot be read; counted as a failed response");
            failure(FailureKind::Broken)
        })?;
        if fetched.body.len() > BODY_LIMIT { Err(failure(FailureKind::TooLarge)) } else { Ok(fetched) }
    }
}

fn aliases(path: &Path, hosts: &FxHashSet<String>) -> Result<FxHashMap<String, String>, RecordedError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FxHashMap::default()),
        Err(source) => return Err(RecordedError::Read { path: path.to_owned(), source }),
    };
    let mut aliases = FxHashMap::default();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let (alias, host) = line.split_once('\t').ok_or_else(|| RecordedError::Line {
            path: path.to_owned(),
            line: number,
            what: "expected `alias TAB host`".to_owned(),
        })?;
        let (alias, host) = (alias.trim().to_ascii_lowercase(), host.trim().to_ascii_lowercase());
        if hosts.contains(&host) && !hosts.contains(&alias) {
            aliases.insert(alias, host);
        }
    }
    Ok(aliases)
}

/// The file as a response; its media type is by extension, without a charset, as on such servers.
fn whole(url: &CrawlUrl, status: u16, file: &Path) -> io::Result<Fetched> {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let media = match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html",
        "xml" => "application/xml",
        "txt" => "text/plain",
        "css" => "text/css",
        _ => "application/octet-stream",
    };
    Ok(response(url, status, media, fs::read(file)?))
}

fn moved(url: &CrawlUrl, to: &str) -> Fetched {
    Fetched::new(url.clone(), 301, vec![("location".to_owned(), to.to_owned())], Bytes::new())
}

fn response(url: &CrawlUrl, status: u16, media: &str, body: Vec<u8>) -> Fetched {
    Fetched::new(url.clone(), status, vec![("content-type".to_owned(), media.to_owned())], body)
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)] // fails on other systems
fn os_string(bytes: Vec<u8>) -> Option<std::ffi::OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> Option<std::ffi::OsString> {
    String::from_utf8(bytes).ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("secret.html", "secret"),
            ("hosts/a.test/index.html", "home"),
            ("hosts/a.test/404.html", "gone"),
            ("hosts/a.test/页/index.htm", "page"),
            ("hosts/a.test/b.html", "b"),
            ("hosts/a.test/c d.txt", "c"),
            ("hosts/a.test/e.PDF", "e"),
            ("hosts/b.test/robots.txt", "Disallow: /x"),
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::write(dir.path().join("aliases.tsv"), "www.a.test\ta.test\nx.test\tunknown.test\n").unwrap();
        let web = Folder::open(&dir.path().join("hosts")).unwrap();
        (dir, web)
    }

    fn get(web: &Folder, url: &str) -> (u16, String) {
        let fetched = web.get(&CrawlUrl::parse(url).unwrap()).unwrap();
        let text = fetched.header("location").or(fetched.header("content-type")).unwrap().to_owned();
        (fetched.status, text + " " + std::str::from_utf8(&fetched.body).unwrap())
    }

    #[test]
    fn urls_are_answered_as_a_file_server_answers_them() {
        let (_dir, web) = folder();
        for (url, status, result) in [
            ("http://a.test/", 200, "text/html home"),
            ("http://a.test/?p=1", 200, "text/html home"),
            ("http://a.test:8080/index.html", 200, "text/html home"),
            ("http://a.test/%E9%A1%B5", 301, "http://a.test/%E9%A1%B5/ "),
            ("http://a.test/%E9%A1%B5?q=1", 301, "http://a.test/%E9%A1%B5/?q=1 "),
            ("http://a.test:8080/%E9%A1%B5", 301, "http://a.test:8080/%E9%A1%B5/ "),
            ("http://a.test/%E9%A1%B5/", 200, "text/html page"),
            ("http://a.test/b", 200, "text/html b"),
            ("http://a.test/c%20d.txt", 200, "text/plain c"),
            ("http://a.test/e.PDF", 200, "application/octet-stream e"),
            ("http://a.test/b/", 404, "text/html gone"),
            ("http://a.test/none", 404, "text/html gone"),
            ("http://a.test/robots.txt", 404, "text/html gone"),
            ("http://b.test/", 404, "text/html <title>404</title>not found"),
            ("http://b.test/robots.txt", 200, "text/plain Disallow: /x"),
            ("http://www.a.test/b?q=1", 301, "http://a.test/b?q=1 "),
            ("http://www.a.test:81/b", 301, "http://a.test:81/b "),
            ("http://x.test/", 502, "text/plain no such host here"),
        ] {
            assert_eq!(get(&web, url), (status, result.to_owned()), "{url}");
        }
        let refused = web.get(&CrawlUrl::parse("https://a.test/").unwrap()).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Connect);
    }

    #[test]
    fn nothing_outside_of_the_hosts_is_answered() {
        let (_dir, web) = folder();
        for path in ["/../../secret", "/..%2F..%2Fsecret.html", "/%2e%2e/%2e%2e/secret.html", "/b%00.html"] {
            let (status, body) = get(&web, &format!("http://a.test{path}"));
            assert!(matches!(status, 400 | 404) && !body.contains("secret"), "{path}: {status} {body}");
        }
        for host in ["..", "hosts"] {
            if let Ok(url) = CrawlUrl::parse(&format!("http://{host}/secret.html")) {
                assert_eq!(get(&web, url.as_str()).0, 502);
            }
        }
    }

    #[test]
    fn a_folder_that_is_none_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Folder::open(dir.path()).unwrap_err().to_string().contains("one directory per host"));
        assert!(Folder::open(&dir.path().join("none")).unwrap_err().to_string().contains("none"));
        fs::create_dir_all(dir.path().join("hosts/a.test")).unwrap();
        fs::write(dir.path().join("aliases.tsv"), "a.test\tb.test\n\nb.test c.test\n").unwrap();
        let message = Folder::open(&dir.path().join("hosts")).unwrap_err().to_string();
        assert!(message.contains("aliases.tsv, line 3"), "{message}");
    }
}
