//! Spider crawls a small site on loopback under the guide.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // for tests, which wait for processes

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use suidao_live::config::Config;
use suidao_page::read::coding::packed;
use suidao_page::topic::{Lexicon, Topic};
use suidao_spider::spider::website::Website;
use suidao_spider::{Guide, GuideError};
use suidao_store::corpus::Catalogue;
use suidao_store::store::archive::warc_files;
use suidao_store::store::{CrawlDirectory, Store};

#[allow(dead_code)] // others are for the tests of the program
#[path = "../../../tests/support/tools.rs"]
mod tools;

const ON: &str = "足球 和 篮球 的 比赛 ， 球队 夺冠 ， 足球 联赛 的 决赛 ， 篮球 联赛 的 决赛 。";
const OFF: &str = "菜谱里说，先把生姜切好，再用小火慢慢炖汤，最后加盐。";

/// A site that records the heads of all requests.
struct Site {
    address: String,
    heads: Arc<Mutex<Vec<String>>>,
    /// Whether /off2 is answered only in part.
    stalls: Arc<AtomicBool>,
}

impl Site {
    fn start() -> Self {
        Self::start_at("127.0.0.1:0")
    }

    fn start_at(address: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (heads, stalls) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (log, stalling) = (Arc::clone(&heads), Arc::clone(&stalls));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, stalling) = (Arc::clone(&log), Arc::clone(&stalling));
                thread::spawn(move || response(stream, &log, &stalling));
            }
        });
        Self { address, heads, stalls }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn paths(&self) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        let mut paths: Vec<String> = heads.iter().filter_map(|head| Some(head.split(' ').nth(1)?.to_owned())).collect();
        paths.sort();
        paths
    }
}

fn response(mut stream: TcpStream, log: &Mutex<Vec<String>>, stalls: &AtomicBool) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    log.lock().unwrap().push(head);
    let page = |text: &str, links: &[&str]| {
        let links: String = links.iter().map(|link| format!("<p><a href=\"{link}\">链接 {link}</a></p>")).collect();
        format!(
            "<!DOCTYPE html><html><head><meta charset=utf-8><title>{path}</title></head><body><p>{text} {path}</p>{links}</body></html>"
        )
    };
    let elsewhere;
    let (status, fields, body) = match path.as_str() {
        "/robots.txt" => ("200 OK", "Content-Type: text/plain\r\n", b"User-agent: *\nDisallow: /no".to_vec()),
        "/" => ("200 OK", "", page(ON, &["/on", "/off1", "/no", "/inside", "/gone"]).into_bytes()),
        "/on" => ("200 OK", "Content-Encoding: gzip\r\n", packed::gzip(page(ON, &["/"]).as_bytes())),
        "/off1" => ("200 OK", "", page(OFF, &["/off2"]).into_bytes()),
        "/off2" => ("200 OK", "", page(OFF, &["/off3"]).into_bytes()),
        "/off3" => ("200 OK", "", page(ON, &[]).into_bytes()),
        "/inside" => ("302 Found", "Location: http://10.255.255.1/secret\r\n", Vec::new()),
        name if name.starts_with("/name/") => ("200 OK", "", page(ON, &[&name.replace("name", "to")]).into_bytes()),
        to if to.starts_with("/to/") => {
            elsewhere = format!("Location: http://localhost:{}/secret\r\n", &to[4..]);
            ("302 Found", elsewhere.as_str(), Vec::new())
        }
        _ => ("404 Not Found", "", b"<p>nothing".to_vec()),
    };
    let kind = if fields.contains("Content-Type") { "" } else { "Content-Type: text/html; charset=utf-8\r\n" };
    let head =
        format!("HTTP/1.1 {status}\r\n{kind}{fields}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let whole = [head.as_bytes(), &body].concat();
    if path == "/off2" && stalls.load(Ordering::Relaxed) {
        let _ = stream.write_all(&whole[..whole.len() - 9]);
        // Until the client is gone.
        let _ = stream.read(&mut byte);
        return;
    }
    let _ = stream.write_all(&whole);
}

/// Off-topic pages in a row: `k`. Only loopback is allowed of the private addresses.
fn guide(directory: &Path, k: u8) -> Guide {
    guide_to(directory, k, &["127.0.0.1"])
}

fn guide_to(directory: &Path, k: u8, addresses: &[&str]) -> Guide {
    let mut config = Config::default();
    config.fetch.allow_addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
    config.fetch.connect_timeout = 2.0;
    config.politeness.delay = 0.0;
    config.strategy.static_tunnel.k = k;
    let topic = Topic::new(Lexicon::from_terms("体育", &[("足球", 1.0), ("篮球", 1.0), ("比赛", 1.0)]));
    Guide::new(config, Arc::new(topic), directory).unwrap()
}

async fn crawl(guide: &Guide, site: &Site) {
    let mut website = Website::new(&site.url("/"));
    guide.attach(&mut website).unwrap();
    website.crawl().await;
}

fn pages(directory: &Path) -> Vec<String> {
    let store = Store::open(&CrawlDirectory::new(directory)).unwrap();
    let catalogue = Catalogue::read(&store).unwrap();
    let names = suidao_store::corpus::UrlNames::read(&store, &catalogue).unwrap();
    let path = |entry: &suidao_store::corpus::CatalogueEntry| names.url(entry.id).unwrap().path().to_owned();
    let mut paths: Vec<String> = catalogue.entries.iter().map(path).collect();
    paths.sort();
    paths
}

#[tokio::test(flavor = "multi_thread")]
async fn spider_drives_and_suidao_guards_judges_and_archives() {
    let (site, root) = (Site::start(), tempfile::tempdir().unwrap());
    let directory = root.path().join("crawl");
    let guide = guide(&directory, 1);
    crawl(&guide, &site).await;
    let report = guide.finish().await.unwrap();
    // Beyond one off-topic page in a row no link is followed; a forbidden page is not requested.
    assert_eq!(site.paths(), ["/", "/gone", "/inside", "/off1", "/off2", "/on", "/robots.txt"]);
    for head in site.heads.lock().unwrap().iter() {
        assert!(head.to_lowercase().contains("user-agent: suidao/"), "{head}");
    }
    assert_eq!(pages(&directory), ["/", "/off1", "/off2", "/on"]);
    assert_eq!(report.crawl.progress.pages, 4);
    warcio_check(&directory);
    let (_, file) = warc_files(&CrawlDirectory::new(&directory).pages()).unwrap().swap_remove(0);
    let mut records = Vec::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(file).unwrap()).read_to_end(&mut records).unwrap();
    let as_sent = packed::gzip(b"x");
    let magic = &as_sent[..3];
    assert!(records.windows(3).any(|window| window == magic), "the gzip body is archived as it was sent");
    assert!(!root.path().join("crawl.spider").exists(), "imported responses are removed");
}

/// warcio checks the files of a crawl directory, if it is installed.
fn warcio_check(directory: &Path) {
    let files = warc_files(&CrawlDirectory::new(directory).pages()).unwrap();
    assert!(!files.is_empty());
    let Some(warcio) = tools::warcio() else { return };
    let files: Vec<PathBuf> = files.into_iter().map(|(_, file)| file).collect();
    let checked = Command::new(warcio).args(["check", "-v"]).args(files).output().unwrap();
    let text = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success() && text.contains("digest pass") && !text.contains("fail"), "{text}");
}

/// Directory and address of a crawl in a process of its own.
const CHILD: &str = "SUIDAO_SPIDER_CHILD";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that what_a_killed_process_fetched_is_imported kills"]
async fn crawls_until_it_is_killed() {
    let Ok(child) = std::env::var(CHILD) else { return };
    let (directory, url) = child.split_once(' ').unwrap();
    let guide = guide(Path::new(directory), 3);
    let mut website = Website::new(url);
    guide.attach(&mut website).unwrap();
    website.crawl().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_process_fetched_is_imported() {
    for goes_on in [false, true] {
        let (site, root) = (Site::start(), tempfile::tempdir().unwrap());
        let directory = root.path().join("crawl");
        site.stalls.store(true, Ordering::Relaxed);
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "crawls_until_it_is_killed", "--ignored"]).stdout(Stdio::null());
        child.env(CHILD, format!("{} {}", directory.display(), site.url("/")));
        let mut child = child.spawn().unwrap();
        // A host gets one request at a time, so the responses before are on disk.
        while !site.paths().contains(&"/off2".to_owned()) {
            assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        assert!(child.wait().unwrap().code().is_none(), "ended by a signal");
        assert!(!directory.exists());
        warcio_check(&root.path().join("crawl.spider/00000"));
        let requested = site.paths();
        let fetched =
            ["/", "/off1", "/on"].into_iter().filter(|path| requested.iter().any(|requested| requested == path));
        let fetched: Vec<&str> = fetched.collect();
        assert!(fetched.len() >= 2);
        site.stalls.store(false, Ordering::Relaxed);
        let next = guide(&directory, 3);
        if goes_on {
            crawl(&next, &site).await;
        }
        next.finish().await.unwrap();
        let all = ["/", "/off1", "/off2", "/off3", "/on"];
        assert_eq!(pages(&directory), if goes_on { &all[..] } else { &fetched[..] });
        warcio_check(&directory);
        assert!(!root.path().join("crawl.spider").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_resolves_to_a_private_address_is_refused() {
    let (site, victim) = (Site::start_at("127.0.0.2:0"), Site::start());
    let port = victim.address.split_once(':').unwrap().1;
    for (addresses, secrets) in [(&["127.0.0.2"][..], 0), (&["127.0.0.2", "127.0.0.1"], 1)] {
        let root = tempfile::tempdir().unwrap();
        let guide = guide_to(&root.path().join("crawl"), 1, addresses);
        // By a redirect, and as the URL of the website.
        let name = format!("http://localhost:{port}/of-website");
        for url in [site.url(&format!("/name/{port}")), name] {
            let mut website = Website::new(&url);
            guide.attach(&mut website).unwrap();
            website.crawl().await;
        }
        guide.finish().await.unwrap();
        assert!(site.paths().contains(&format!("/to/{port}")), "{:?}", site.paths());
        let requested = |path: &str| victim.paths().iter().filter(|requested| *requested == path).count();
        assert_eq!(
            (requested("/secret"), requested("/of-website")),
            (secrets, secrets),
            "{addresses:?}: {:?}",
            victim.paths()
        );
        assert_eq!(victim.paths().is_empty(), secrets == 0);
    }
}

#[tokio::test]
async fn a_website_that_goes_past_the_guide_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let guide = guide(&root.path().join("crawl"), 1);
    let mut website = Website::new("http://a.test/");
    website.with_proxies(Some(vec!["http://127.0.0.1:1".into()]));
    assert!(matches!(guide.attach(&mut website), Err(GuideError::Bypasses("proxies"))));
}
