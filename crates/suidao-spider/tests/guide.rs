//! Spider crawls a small site on loopback under the guide.
#![allow(clippy::unwrap_used)] // for tests

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use suidao_live::config::Config;
use suidao_page::read::coding::packed;
use suidao_page::topic::{Lexicon, Topic};
use suidao_spider::spider::website::Website;
use suidao_spider::{Guide, GuideError};
use suidao_store::corpus::Catalogue;
use suidao_store::store::archive::warc_files;
use suidao_store::store::{CrawlDirectory, Store};

const ON: &str = "足球 和 篮球 的 比赛 ， 球队 夺冠 ， 足球 联赛 的 决赛 ， 篮球 联赛 的 决赛 。";
const OFF: &str = "菜谱里说，先把生姜切好，再用小火慢慢炖汤，最后加盐。";

/// A site that records the heads of all requests.
struct Site {
    address: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&heads);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = Arc::clone(&log);
                thread::spawn(move || answer(stream, &log));
            }
        });
        Self { address, heads }
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

fn answer(mut stream: TcpStream, log: &Mutex<Vec<String>>) {
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
    let (status, fields, body) = match path.as_str() {
        "/robots.txt" => ("200 OK", "Content-Type: text/plain\r\n", b"User-agent: *\nDisallow: /no".to_vec()),
        "/" => ("200 OK", "", page(ON, &["/on", "/off1", "/no", "/inside", "/gone"]).into_bytes()),
        "/on" => ("200 OK", "Content-Encoding: gzip\r\n", packed::gzip(page(ON, &["/"]).as_bytes())),
        "/off1" => ("200 OK", "", page(OFF, &["/off2"]).into_bytes()),
        "/off2" => ("200 OK", "", page(OFF, &["/off3"]).into_bytes()),
        "/off3" => ("200 OK", "", page(ON, &[]).into_bytes()),
        "/inside" => ("302 Found", "Location: http://10.255.255.1/secret\r\n", Vec::new()),
        _ => ("404 Not Found", "", b"<p>nothing".to_vec()),
    };
    let kind = if fields.contains("Content-Type") { "" } else { "Content-Type: text/html; charset=utf-8\r\n" };
    let head =
        format!("HTTP/1.1 {status}\r\n{kind}{fields}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(&[head.as_bytes(), &body].concat());
}

/// Off-topic pages in a row: `k`. Only loopback is allowed of the private addresses.
fn guide(directory: &Path, k: u8) -> Guide {
    let mut config = Config::default();
    config.fetch.allow_addresses = vec!["127.0.0.1".parse().unwrap()];
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
    let (_, file) = warc_files(&CrawlDirectory::new(&directory).pages()).unwrap().swap_remove(0);
    let mut records = Vec::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(file).unwrap()).read_to_end(&mut records).unwrap();
    let as_sent = packed::gzip(b"x");
    let magic = &as_sent[..3];
    assert!(records.windows(3).any(|window| window == magic), "the gzip body is archived as it was sent");
    assert!(!root.path().join("crawl.spider").exists(), "imported answers are removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_crawl_fetched_is_imported_by_the_next() {
    let (site, root) = (Site::start(), tempfile::tempdir().unwrap());
    let directory = root.path().join("crawl");
    let killed = guide(&directory, 3);
    crawl(&killed, &site).await;
    // Like a kill: nothing is closed.
    std::mem::forget(killed);
    guide(&directory, 3).finish().await.unwrap();
    assert_eq!(pages(&directory), ["/", "/off1", "/off2", "/off3", "/on"]);
}

#[tokio::test]
async fn a_website_that_goes_past_the_guide_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let guide = guide(&root.path().join("crawl"), 1);
    let mut website = Website::new("http://a.test/");
    website.with_proxies(Some(vec!["http://127.0.0.1:1".into()]));
    assert!(matches!(guide.attach(&mut website), Err(GuideError::GoesPast("proxies"))));
}
