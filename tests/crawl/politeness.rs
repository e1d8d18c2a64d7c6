//! Politeness from end to end: the crawl obeys what a server asks over HTTP, also when it is killed meanwhile.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::text_web::TextWeb;
use crate::support::{Running, lexicon_of, pages, records, run, suidao, unused_port};
use suidao::model::{CrawlUrl, Event, Failure, Fetched};
use suidao::replay::Web;
use suidao::world::WebServer;

/// An answer that replaces the normal one.
type Mood = Box<dyn Fn(&CrawlUrl, &Moody) -> Option<Fetched> + Send + Sync>;

/// A web with changing answers, which records its requests and their times.
struct Moody {
    web: TextWeb,
    mood: Mood,
    requested: Mutex<Vec<(Instant, String)>>,
    well: AtomicBool,
}

impl Moody {
    fn start(
        text: &str,
        mood: impl Fn(&CrawlUrl, &Self) -> Option<Fetched> + Send + Sync + 'static,
    ) -> (Arc<Self>, WebServer) {
        let web = TextWeb::parse(text).unwrap();
        let requested = Mutex::default();
        let moody = Arc::new(Self { web, mood: Box::new(mood), requested, well: AtomicBool::new(false) });
        let server = WebServer::start(Arc::clone(&moody) as Arc<dyn Web>).unwrap();
        (moody, server)
    }

    /// When URLs that contain this were requested, and the number of other requests after the first of them.
    fn times(&self, part: &str) -> Vec<Instant> {
        self.requested.lock().unwrap().iter().filter(|(_, url)| url.contains(part)).map(|(at, _)| *at).collect()
    }

    fn is_followed(&self, part: &str) -> bool {
        let requested = self.requested.lock().unwrap();
        requested.iter().position(|(_, url)| url.contains(part)).is_some_and(|first| requested.len() > first + 1)
    }
}

impl Web for Moody {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        let answer = (self.mood)(url, self);
        self.requested.lock().unwrap().push((Instant::now(), url.to_string()));
        answer.map_or_else(|| self.web.get(url), Ok)
    }
}

fn reply(url: &CrawlUrl, status: u16, fields: &[(&str, String)]) -> Fetched {
    let headers = fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Fetched {
        url: url.clone(),
        status,
        headers,
        body: "busy".into(),
        wire: None,
        request_validators: None,
        rendered: None,
        unverified: false,
    }
}

fn crawl(dir: &Path, server: &WebServer, seeds: &str, sets: &[&str]) -> Command {
    fs::write(dir.join("lexicon.toml"), lexicon_of("体育").to_toml()).unwrap();
    fs::write(dir.join("seeds.txt"), seeds).unwrap();
    let mut command = suidao();
    command.arg("crawl").arg("-m").arg(dir.join("lexicon.toml")).arg("-s").arg(dir.join("seeds.txt"));
    command.arg("-o").arg(dir.join("crawl"));
    command.args(["--proxy", &server.proxy(), "--contact", "test@example.org", "--strategy", "breadth-first"]);
    // One in flight: a later request proves that the previous answer is on disk. The pages of a host have no content.
    for set in ["crawl.in_flight=1", "scope.schemes=['http']", "traps.series=0"].iter().chain(sets) {
        command.args(["--set", set]);
    }
    command
}

/// A host with a few pages, and one with many to keep the crawl busy.
fn two_hosts() -> String {
    let links = |host: &str, count: usize| {
        let links: Vec<String> = (0..count).map(|n| format!("http://{host}.test/{n} 足球")).collect();
        let pages: String = (0..count).map(|n| format!("http://{host}.test/{n} on\n")).collect();
        format!("http://{host}.test/ on -> {}\n{pages}", links.join(" | "))
    };
    format!("{}{}", links("busy", 4), links("other", 40))
}

/// Two of the busy host: with one page it is unknown whether the page or the host fails.
const SEEDS: &str = "http://busy.test/\nhttp://busy.test/0\nhttp://other.test/\n";

#[test]
fn retry_after_of_robots_txt_is_respected() {
    is_waited_for_even_by_a_crawl_that_was_killed("busy.test/robots.txt", false);
}

#[test]
fn retry_after_of_a_page_is_respected() {
    is_waited_for_even_by_a_crawl_that_was_killed("busy.test/1", false);
}

#[test]
fn retry_after_with_a_date_is_respected() {
    is_waited_for_even_by_a_crawl_that_was_killed("busy.test/1", true);
}

fn is_waited_for_even_by_a_crawl_that_was_killed(part: &'static str, date: bool) {
    /// Seconds.
    const WAIT: u64 = 4;
    let (moody, server) = Moody::start(&two_hosts(), move |url, moody| {
        let busy = url.as_str().ends_with(part) && moody.times(part).is_empty();
        let wait = if date {
            // The format rounds down to the second, so one more.
            let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(i64::try_from(WAIT).unwrap() + 1);
            jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&at).unwrap()
        } else {
            WAIT.to_string()
        };
        let status = if date { 503 } else { 429 };
        busy.then(|| reply(url, status, &[("retry-after", wait)]))
    });
    let dir = tempfile::tempdir().unwrap();
    let sets =
        ["politeness.delay=0.03", "politeness.domain_delay=0", "politeness.backoff=0.1", "politeness.robots_retry=0.1"];
    let mut running = Running::start(crawl(dir.path(), &server, SEEDS, &sets));
    assert!(running.until(|| moody.is_followed(part)), "{}", running.output("err"));
    running.kill();
    run(crawl(dir.path(), &server, SEEDS, &sets)).expect(0);
    let times = moody.times(part);
    let again = times.get(1).expect("it is requested again");
    assert!(
        again.duration_since(times[0]) >= Duration::from_secs(WAIT),
        "{part}: {:?}",
        again.duration_since(times[0])
    );
    assert_eq!(pages(&dir.path().join("crawl")).len(), 46, "{part}: and nothing is lost");
}

#[test]
fn a_host_that_is_down_is_requested_ever_less_and_loses_no_page_even_if_the_crawl_is_killed() {
    let (moody, server) = Moody::start(&two_hosts(), |url, moody| {
        let down = url.host() == "busy.test" && url.path() != "/robots.txt" && !moody.well.load(Ordering::Relaxed);
        down.then(|| reply(url, 503, &[]))
    });
    let dir = tempfile::tempdir().unwrap();
    let sets =
        ["politeness.delay=0.01", "politeness.domain_delay=0", "politeness.backoff=0.4", "politeness.max_backoff=1.6"];
    let page = "http://busy.test/";
    let tries = |count: usize| {
        let moody = Arc::clone(&moody);
        move || moody.times(page).len() > count && moody.is_followed(page)
    };
    let mut running = Running::start(crawl(dir.path(), &server, SEEDS, &sets));
    assert!(running.until(tries(4)), "{}", running.output("err"));
    running.kill();
    moody.well.store(true, Ordering::Relaxed);
    run(crawl(dir.path(), &server, SEEDS, &sets)).expect(0);

    let times = moody.times(page);
    let gaps: Vec<Duration> = times[1..].windows(2).map(|pair| pair[1].duration_since(pair[0])).collect();
    // robots.txt first, then a seed that fails: waits of 0.4, 0.8, 1.6 and 1.6 s. The last may have been in flight at
    // the kill and is repeated.
    for (gap, least) in gaps.iter().zip([400, 800, 1600]) {
        assert!(*gap >= Duration::from_millis(least), "{gaps:?}");
    }
    assert_eq!(pages(&dir.path().join("crawl")).len(), 46, "no page was given up for what was its host's");
    let events = records(&dir.path().join("crawl")).into_iter().flat_map(|record| record.batch.events);
    assert!(events.into_iter().all(|event| !matches!(event, Event::FetchFailed { .. })));
}

#[test]
fn loopback_hosts_are_requested_in_parallel_and_their_addresses_are_logged() {
    let web = |port: u16| format!("http://127.0.0.1:{port}/ on\n");
    let port = unused_port();
    let options = suidao::world::ServerOptions { port, ..Default::default() };
    let server = WebServer::start_with(Arc::new(TextWeb::parse(&web(port)).unwrap()), options).unwrap();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("lexicon.toml"), lexicon_of("体育").to_toml()).unwrap();
    fs::write(dir.path().join("seeds.txt"), format!("http://127.0.0.1:{port}/\n")).unwrap();
    let mut command = suidao();
    command.arg("crawl").arg("-m").arg(dir.path().join("lexicon.toml")).arg("-s").arg(dir.path().join("seeds.txt"));
    command.arg("-o").arg(dir.path().join("crawl")).args(["--allow-private", "--contact", "test@example.org"]);
    run(command).expect(0);
    drop(server);
    let records = records(&dir.path().join("crawl"));
    let resolved: Vec<_> = records.iter().flat_map(|record| &record.batch.events).collect();
    let from = "127.0.0.1".parse::<std::net::IpAddr>().unwrap();
    let resolved = resolved
        .iter()
        .filter(|event| matches!(event, Event::HostResolved { address, .. } if *address == from))
        .count();
    assert_eq!(resolved, 1);
    assert!(records.iter().filter(|record| record.archive.is_some()).all(|record| record.batch.latency.is_some()));
}
