//! One crawl visits every host of the misbehaving server and some good hosts. The result must equal the table of
//! tests/crawl/faults.md; `SUIDAO_WRITE_DOCS=1` writes the table instead.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::misbehaving::{MISBEHAVIOURS, Misbehaving, Request, good_pages};
use crate::support::{Running, export, lexicon_of, records, run, suidao, unused_port, warcio_check};
use suidao::model::{CrawlUrl, Event, UrlId};
use suidao::store::{ArchiveReader, CrawlDirectory, Record, Responses};

/// Shortest time between two requests to a host.
const DELAY: Duration = Duration::from_millis(50);
/// `limits.pages_per_host`.
const PAGES_PER_HOST: usize = 30;
/// Most memory, in bytes. The unoptimised program with its dictionaries needs a third of it.
const MEMORY: u64 = 900 << 20;

const SETTINGS: [&str; 15] = [
    "politeness.delay=0.05",
    "politeness.backoff=0.1",
    "politeness.robots_retry=0.1",
    "politeness.max_delay=0.5",
    "politeness.max_backoff=1",
    "politeness.give_up=3",
    "limits.pages_per_host=30",
    "limits.hops=1000",
    "limits.redirects=5",
    "limits.retries=2",
    "fetch.connect_timeout=10",
    "fetch.read_timeout=4",
    "fetch.timeout=8",
    "crawl.in_flight=128",
    "crawl.forums=false",
];

fn crawl(dir: &Path, seeds: &str, more: &[&str]) -> std::process::Command {
    let lexicon = dir.join("lexicon.toml");
    std::fs::write(&lexicon, lexicon_of("体育").to_toml()).unwrap();
    let file = dir.join("seeds.txt");
    std::fs::write(&file, seeds).unwrap();
    let mut command = suidao();
    command.arg("crawl").arg("-m").arg(lexicon).arg("-s").arg(file).arg("-o").arg(dir.join("crawl"));
    command.args(["--strategy", "breadth-first", "--contact", "test@example.org"]);
    command.args(SETTINGS.iter().flat_map(|set| ["--set", set])).args(more);
    command
}

/// The outcome of every URL, from the log.
struct UrlOutcomes {
    urls: Vec<CrawlUrl>,
    /// The last event of each URL.
    last: BTreeMap<UrlId, Event>,
    /// Skipped redirect targets: the reason, by the number of the redirecting URL.
    refused: BTreeMap<UrlId, String>,
}

impl UrlOutcomes {
    fn of(records: &[Record]) -> Self {
        let mut outcomes = Self { urls: Vec::new(), last: BTreeMap::new(), refused: BTreeMap::new() };
        for event in records.iter().flat_map(|record| &record.batch.events) {
            match event {
                Event::Discovered(found) => outcomes.urls.push(found.url.clone()),
                Event::PageFetched(page) => drop(outcomes.last.insert(page.id, event.clone())),
                Event::Redirected { id, .. } | Event::FetchFailed { id, .. } | Event::UrlExcluded { id, .. } => {
                    outcomes.last.insert(*id, event.clone());
                }
                Event::LinkRejected { from: Some(from), reason, .. } => {
                    outcomes.refused.insert(*from, word(reason));
                }
                _ => {}
            }
        }
        outcomes
    }

    fn id(&self, url: &str) -> Option<UrlId> {
        let at = self.urls.iter().position(|known| known.as_str() == url)?;
        Some(UrlId(u32::try_from(at).unwrap()))
    }

    fn fetched(&self, url: &str) -> bool {
        self.id(url).is_some_and(|id| matches!(self.last.get(&id), Some(Event::PageFetched(_))))
    }

    /// In words, with redirects followed.
    fn words(&self, url: &str) -> String {
        let mut redirects = 0;
        let mut at = self.id(url);
        let end = loop {
            match at.and_then(|id| self.last.get(&id)) {
                Some(Event::PageFetched(page)) => break format!("fetched ({})", page.status),
                Some(Event::FetchFailed { failure, .. }) => break format!("failed: {failure}"),
                Some(Event::UrlExcluded { reason, .. }) => break format!("skipped: {}", word(reason)),
                Some(Event::Redirected { link: Some(link), .. }) if redirects < 20 => {
                    redirects += 1;
                    at = Some(link.to);
                }
                Some(Event::Redirected { id, .. }) => {
                    redirects += 1;
                    let refused = self.refused.get(id).map(|reason| format!("skipped: {reason}"));
                    break refused.unwrap_or_else(|| "to what was asked for before".to_owned());
                }
                _ => break "never asked for".to_owned(),
            }
        };
        match redirects {
            0 => end,
            1 => format!("redirected, {end}"),
            n => format!("redirected {n} times, {end}"),
        }
    }
}

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

#[test]
fn the_crawl_survives_every_misbehaviour() {
    let server = Misbehaving::start();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("crawl");
    let mut running = Running::start(crawl(dir.path(), "http://good-0.test/0\n", &["--proxy", &server.proxy()]));
    let status = format!("/proc/{}/status", running.id());
    let mut memory = 0;
    while !running.has_ended() {
        memory = memory.max(most_memory(&status));
        running.until(|| after(Duration::from_millis(200)));
    }
    let ended = running.end().expect(0);
    assert!(ended.err.contains("Nothing is left to fetch"), "{}", ended.err);
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
    assert!(memory < MEMORY, "{} MB of memory", memory >> 20);
    println!("{} MB of memory at most\n{}", memory >> 20, ended.err);

    let log = records(&out);
    let outcomes = UrlOutcomes::of(&log);
    for page in good_pages() {
        assert!(outcomes.fetched(&page), "{page}: {}", outcomes.words(&page));
    }
    let harmed = harmed(&server.log());
    let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
    for one in MISBEHAVIOURS {
        let words = outcomes.words(&one.url());
        let lost = match (outcomes.fetched(&one.url()), outcomes.fetched(&one.good())) {
            _ if words == "skipped: robots" => "nothing, it is forbidden",
            (_, false) => "the host",
            (false, true) => "this page",
            (true, true) => "nothing",
        };
        let outcome = format!("| {words} | {lost} |");
        match rows.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, servers)) => servers.push(one.what),
            None => rows.push((outcome, vec![one.what])),
        }
    }
    let rows: Vec<String> =
        rows.into_iter().map(|(outcome, servers)| format!("{outcome} {} |", servers.join("; "))).collect();
    assert!(MISBEHAVIOURS.len() >= 30);
    compare_with_document(&rows);
    assert!(harmed.is_empty(), "{harmed:?}");

    everything_reads_back(&out, &log, &outcomes, dir.path());
}

/// Hosts that were asked too often, too early or for too much, and how.
fn harmed(log: &[Request]) -> BTreeMap<String, String> {
    let mut harmed = BTreeMap::new();
    let mut last: BTreeMap<&str, &Request> = BTreeMap::new();
    let mut of_host: BTreeMap<&str, usize> = BTreeMap::new();
    let mut of_page: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for request in log {
        let (host, path) = (request.host.as_str(), request.path.as_str());
        let mut harm = |what: String| drop(harmed.insert(host.to_owned(), what));
        if !host.ends_with(".test") {
            harm("asked, and its address is private".to_owned());
        }
        if path.contains("smuggled") {
            harm("requested what a smuggled response links to".to_owned());
        }
        if let Some(previous) = last.insert(host, request) {
            // The server saw the previous request at its start, so the real pause is shorter than this one.
            let pause = request.at - previous.at;
            let least = match (previous.host.as_str(), previous.path.as_str()) {
                ("too-many-requests.test", "/") => {
                    let before = of_page[&(host, "/")];
                    Duration::from_millis(if before <= 2 { 1000 } else { 50 })
                }
                ("unavailable-until.test", "/") => {
                    let before = of_page[&(host, "/")];
                    Duration::from_millis(if before == 1 { 1900 } else { 50 })
                }
                _ => DELAY,
            };
            if pause < least {
                harm(format!("{path} was asked for {pause:?} after {}", previous.path));
            }
        }
        *of_host.entry(host).or_default() += 1;
        *of_page.entry((host, path)).or_default() += 1;
    }
    for ((host, path), times) in of_page {
        // Once, two retries, and one more after the host has answered something else; robots.txt at growing intervals,
        // until the host is given up (`limits.host_failures`).
        let most = if path.starts_with("/robots.txt") { 10 } else { 4 };
        if times > most {
            harmed.insert(host.to_owned(), format!("{path} was asked for {times} times"));
        }
    }
    for (host, requests) in of_host {
        if requests > PAGES_PER_HOST + 20 {
            harmed.insert(host.to_owned(), format!("{requests} requests"));
        }
    }
    harmed
}

/// The table is between its head and the next empty line.
fn compare_with_document(rows: &[String]) {
    const HEAD: &str = "| what the crawl did | lost | what the server does |\n|---|---|---|\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crawl/faults.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(HEAD).expect("tests/crawl/faults.md has the table");
    let (table, after) = rest.split_once("\n\n").expect("an empty line follows the table");
    if std::env::var_os("SUIDAO_WRITE_DOCS").is_some() {
        return std::fs::write(&path, format!("{before}{HEAD}{}\n\n{after}", rows.join("\n"))).unwrap();
    }
    let table: Vec<&str> = table.lines().collect();
    let differing: Vec<String> = rows
        .iter()
        .enumerate()
        .filter(|(at, row)| table.get(*at) != Some(&row.as_str()))
        .map(|(at, row)| format!("document: {}\ncrawl:    {row}", table.get(at).unwrap_or(&"nothing")))
        .collect();
    assert!(differing.is_empty() && table.len() == rows.len(), "tests/crawl/faults.md:\n{}", differing.join("\n"));
}

/// Log, archive and export agree, and other software reads the files.
fn everything_reads_back(out: &Path, log: &[Record], outcomes: &UrlOutcomes, dir: &Path) {
    let mut reader = ArchiveReader::new(&CrawlDirectory::new(out), 32 << 20);
    let answers: Vec<_> = log.iter().filter_map(Record::response).collect();
    for &location in &answers {
        reader.read_at(location).unwrap();
    }
    let files: Vec<PathBuf> =
        std::fs::read_dir(out.join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let archived: usize =
        files.iter().map(|file| Responses::open(file, 32 << 20).unwrap().map(Result::unwrap).count()).sum();
    assert_eq!(archived, answers.len());
    warcio_check(&files);

    let lines = export(out, &dir.join("crawl.jsonl"));
    let urls: BTreeSet<&str> = lines.iter().map(|line| line["url"].as_str().unwrap()).collect();
    assert_eq!(urls.len(), lines.len(), "each page once");
    for page in good_pages() {
        assert!(urls.contains(page.as_str()), "{page} is in the export");
    }
    let page = |url: &str| lines.iter().find(|line| line["url"] == url).unwrap_or_else(|| panic!("{url} is exported"));
    assert_eq!(page("http://wrong-charset.test/")["title"], "编码错误");
    // Nothing but the crawl's own files was written.
    let names = |path: &Path| -> BTreeSet<String> {
        let entries = std::fs::read_dir(path).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    for name in names(out) {
        let own = ["pages", "state", "harvest.csv", "skipped.csv", "summary.json", "exports", "log"];
        assert!(own.contains(&name.as_str()), "{name}");
    }
    assert!(names(&out.join("pages")).iter().all(|name| name.starts_with("suidao-") && name.ends_with(".warc.gz")));
    // `skipped.csv` lists every URL given up or skipped.
    let skipped = std::fs::read_to_string(out.join("skipped.csv")).unwrap();
    for one in MISBEHAVIOURS {
        let words = outcomes.words(&one.url());
        if words.starts_with("failed: ") || words.starts_with("skipped: ") {
            let line = skipped.lines().find(|line| line.starts_with(&format!("{},", one.url())));
            assert!(line.is_some(), "{} is not in skipped.csv", one.url());
        }
    }
    let check = run({
        let mut check = suidao();
        check.args(["check", "crawl"]).arg(out);
        check
    });
    check.expect(0);
}

/// What a proxy cannot show: names without an address, closed ports, private addresses.
#[test]
fn missing_hosts_are_reported() {
    let server = Misbehaving::start();
    let closed = format!("127.0.0.1:{}", unused_port());
    let dir = tempfile::tempdir().unwrap();
    let seeds = format!("http://{closed}/\nhttp://no-such-host.invalid/\n");
    run(crawl(dir.path(), &seeds, &["--allow-private"])).expect(1);
    let skipped = std::fs::read_to_string(dir.path().join("crawl/skipped.csv")).unwrap();
    assert!(skipped.contains(&format!("http://{closed}/,")), "{skipped}");
    assert!(skipped.contains("http://no-such-host.invalid/,"), "{skipped}");

    let dir = tempfile::tempdir().unwrap();
    let private = server.proxy();
    run(crawl(dir.path(), &format!("{private}/\n"), &[])).expect(1);
    let skipped = std::fs::read_to_string(dir.path().join("crawl/skipped.csv")).unwrap();
    assert!(skipped.contains("the address is private"), "{skipped}");
    assert!(server.log().is_empty(), "it was not asked");
}

/// One page with a long head once made the export fail.
#[test]
fn pages_with_long_heads_are_exported() {
    let server = Misbehaving::start();
    let dir = tempfile::tempdir().unwrap();
    let seeds = ["header-of-300-kb", "header-of-noise", "cookie-flood"].map(|host| format!("http://{host}.test/"));
    run(crawl(dir.path(), &seeds.join("\n"), &["--proxy", &server.proxy()])).expect(0);
    let lines = export(&dir.path().join("crawl"), &dir.path().join("crawl.jsonl"));
    for page in &seeds {
        assert!(lines.iter().any(|line| line["url"] == **page), "{page}");
    }
    let mut web = suidao();
    web.arg("export").arg(dir.path().join("crawl")).args(["--format", "warc", "--where", "listings:yes", "-o"]);
    web.arg(dir.path().join("crawl.warc.gz"));
    run(web).expect(0);
    warcio_check(&[dir.path().join("crawl.warc.gz")]);
}

fn most_memory(status: &str) -> u64 {
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or_default() * 1024
}

/// Waits and returns true.
fn after(time: Duration) -> bool {
    std::thread::sleep(time);
    true
}
