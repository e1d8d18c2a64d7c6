//! External disturbances: network outage, suspended process, clock jumps. No page is given up because of them, and none
//! is fetched twice.
#![cfg(target_os = "linux")] // every address of 127/8 is local

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::tools::is_for_ci;
use crate::support::{REPLAY_DEFAULTS, Running, Stage, finite, lexicon_of, pages, records, run, suidao, unused_port};
use suidao::model::{Batch, Event, Millis};
use suidao::store::{CrawlDirectory, Meta, Record, Store};
use suidao::world::ServerOptions;

const HOSTS: u8 = 4;
const PAGES: usize = 60;

/// Hosts at 127.0.N.1 and following, on one port, that can all be unreachable. Each page links to the next of its host.
struct Net {
    /// N, unique, so that nobody takes the port of an unreachable host.
    number: u8,
    hosts: u8,
    port: u16,
    away: Arc<AtomicBool>,
    requests: Arc<AtomicUsize>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Net {
    fn start(hosts: u8) -> Self {
        static NEXT: AtomicU8 = AtomicU8::new(1);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let (away, requests, open) = Default::default();
        let net = Self { number, hosts, port: unused_port(), away, requests, open };
        for host in 1..=hosts {
            net.serve(host);
        }
        net
    }

    fn address(&self, host: u8) -> SocketAddr {
        (Ipv4Addr::new(127, 0, self.number, host), self.port).into()
    }

    fn serve(&self, host: u8) {
        let address = self.address(host);
        let (away, requests, open) = (Arc::clone(&self.away), Arc::clone(&self.requests), Arc::clone(&self.open));
        let mut listener = TcpListener::bind(address).unwrap();
        std::thread::spawn(move || {
            loop {
                // What connects while the network is away, `until` for one, wakes the host that waits here.
                while let Ok((stream, _)) = listener.accept()
                    && !away.load(Ordering::SeqCst)
                {
                    open.lock().unwrap().push(stream.try_clone().unwrap());
                    let requests = Arc::clone(&requests);
                    let away = Arc::clone(&away);
                    std::thread::spawn(move || answer(stream, &requests, &away));
                }
                drop(listener);
                while away.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(2));
                }
                listener = TcpListener::bind(address).unwrap();
            }
        });
    }

    /// Waits until every host accepts connections, or none does.
    fn until(&self, there: bool) {
        for host in 1..=self.hosts {
            while TcpStream::connect(self.address(host)).is_ok() != there {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }

    fn go_away(&self) {
        self.away.store(true, Ordering::SeqCst);
        self.until(false);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }

    fn come_back(&self) {
        self.away.store(false, Ordering::SeqCst);
        self.until(true);
    }

    fn crawl(&self, dir: &Path, hosts: u8, more: &[&str]) -> std::process::Command {
        let lexicon = dir.join("lexicon.toml");
        std::fs::write(&lexicon, lexicon_of("体育").to_toml()).unwrap();
        let seeds: String = (1..=hosts).map(|host| format!("http://{}/0\n", self.address(host))).collect();
        std::fs::write(dir.join("seeds.txt"), seeds).unwrap();
        let mut command = suidao();
        command
            .arg("crawl")
            .arg("-m")
            .arg(lexicon)
            .arg("-s")
            .arg(dir.join("seeds.txt"))
            .arg("-o")
            .arg(dir.join("crawl"));
        command.args(["--strategy", "breadth-first", "--contact", "test@example.org", "--allow-private"]);
        // The pages of a host have no content.
        command.args(REPLAY_DEFAULTS).args(["--set", "limits.hops=10000", "--set", "traps.series=0"]).args(more);
        command
    }
}

fn answer(mut stream: TcpStream, requests: &AtomicUsize, away: &AtomicBool) {
    let mut head = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.push(byte[0]);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        requests.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(10));
        if away.load(Ordering::SeqCst) {
            return;
        }
        let text = String::from_utf8_lossy(&head).into_owned();
        head.clear();
        let page: Option<usize> = text.split(' ').nth(1).and_then(|path| path.rsplit('/').next()?.parse().ok());
        let (status, body) = match page {
            Some(page) if page + 1 < PAGES => {
                ("200 OK", format!("<title>{page}</title><p>足球<a href=/{}>下一页</a>", page + 1))
            }
            Some(page) => ("200 OK", format!("<title>{page}</title><p>最后一页")),
            None => ("404 Not Found", "no".to_owned()),
        };
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\r\n");
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

fn failures(dir: &Path) -> Vec<Event> {
    let events = records(dir).into_iter().flat_map(|record| record.batch.events);
    events
        .filter(|event| {
            matches!(event, Event::FetchFailed { .. } | Event::FetchRetried { .. } | Event::UrlExcluded { .. })
        })
        .collect()
}

#[test]
fn a_network_outage_loses_no_page() {
    let net = Net::start(HOSTS);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("crawl");
    let mut running = Running::start(net.crawl(dir.path(), HOSTS, &[]));
    for enough in [40, 120] {
        assert!(running.until(|| net.requests.load(Ordering::SeqCst) > enough), "{}", running.output("err"));
        net.go_away();
        let before = running.output("err").matches("waiting for it").count();
        while running.output("err").matches("waiting for it").count() == before {
            assert!(!running.has_ended(), "{}", running.output("err"));
            std::thread::sleep(Duration::from_millis(20));
        }
        // Several checks fail.
        std::thread::sleep(Duration::from_millis(3500));
        assert!(!running.has_ended(), "it waits");
        net.come_back();
    }
    let ended = running.end().expect(0);
    assert_eq!(ended.err.matches("the network is available again after").count(), 2, "{}", ended.err);
    let fetched = pages(&out);
    assert_eq!(fetched.len(), usize::from(HOSTS) * PAGES);
    assert!(fetched.values().all(|&times| times == 1));
    // The last failures of the network may count against a host and use up one of its tries.
    let failures = failures(&out);
    assert!(failures.iter().all(|event| matches!(event, Event::FetchRetried { .. })), "{failures:?}");
    assert!(failures.len() <= 2 * usize::from(HOSTS), "{failures:?}");
}

#[test]
fn a_crawl_resumed_during_an_outage_waits_and_an_interrupt_stops_it() {
    let net = Net::start(HOSTS);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("crawl");
    run(net.crawl(dir.path(), HOSTS, &["--max-pages", "40"])).expect(0);
    net.go_away();
    let mut running = Running::start(net.crawl(dir.path(), HOSTS, &[]));
    while !running.output("err").contains("waiting for it") {
        assert!(!running.has_ended(), "{}", running.output("err"));
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal("INT");
    running.end().expect(130);
    assert_eq!(pages(&out).len(), 40);
    net.come_back();
    run(net.crawl(dir.path(), HOSTS, &[])).expect(0);
    assert_eq!(pages(&out).len(), usize::from(HOSTS) * PAGES);
    assert_eq!(failures(&out), []);
}

#[test]
fn an_outage_of_the_only_host_is_not_waited_for_without_limit() {
    let net = Net::start(1);
    let dir = tempfile::tempdir().unwrap();
    let patience = ["--set", "crawl.outage_patience=2"];
    let mut running = Running::start(net.crawl(dir.path(), 1, &patience));
    assert!(running.until(|| net.requests.load(Ordering::SeqCst) > 20), "{}", running.output("err"));
    net.go_away();
    let ended = running.end();
    assert!(ended.err.contains("assuming that these hosts are down"), "{}", ended.err);
    assert!(ended.code() == 0 || ended.code() == 1, "it ends by itself: {}", ended.err);
    assert!(!failures(&dir.path().join("crawl")).is_empty());
}

#[test]
fn missing_hosts_are_reported_with_the_cause_and_do_not_delay_the_end() {
    if is_for_ci("hosts without an address") {
        return;
    }
    let net = Net::start(1);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("crawl");
    // With the delays of an ordinary crawl.
    let waits =
        ["--set", "politeness.backoff=5", "--set", "politeness.robots_retry=10", "--set", "politeness.patience=60"];
    let command = net.crawl(dir.path(), 1, &waits);

    let dead = [format!("http://{}/0", net.address(9)), "http://nothing.invalid/0".to_owned()];
    let seeds = format!("http://{}/0\n{}\n", net.address(1), dead.join("\n"));
    std::fs::write(dir.path().join("seeds.txt"), seeds).unwrap();
    let ended = run(command).expect(0);
    assert_eq!(pages(&out).len(), PAGES);
    assert!(ended.err.contains(&format!("waiting to retry {}", net.address(9).ip())), "{}", ended.err);
    let line = ended.err.lines().find(|line| line.starts_with("Unreached at the last attempt: 2 hosts")).unwrap();
    assert!(line.contains("(the connection was refused)") && line.contains("nothing.invalid ("), "{line}");
    let skipped = std::fs::read_to_string(out.join("skipped.csv")).unwrap();
    assert!(skipped.contains(&format!("{},robots-unreachable: the connection was refused\n", dead[0])), "{skipped}");
    assert!(skipped.contains(&format!("{},robots-unreachable: the host name ", dead[1])), "{skipped}");
    let summary: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(
        (&summary["unreachable_hosts"]["count"], &summary["unreachable_hosts"]["first"][0]["kind"]),
        (&2.into(), &"refused".into())
    );
    // `check page` reports the cause too.
    let mut check = suidao();
    check.args(["check", "page", &dead[0], "--allow-private", "--contact", "test@example.org"]);
    let ended = run(check).expect(1);
    assert!(ended.err.contains("robots.txt cannot be fetched (the connection was refused)"), "{}", ended.err);
}

#[test]
fn a_proxy_outage_loses_no_page() {
    let net = Net::start(1);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("crawl");
    let mut command = net.crawl(dir.path(), 1, &["--proxy", &format!("http://{}", net.address(1))]);
    std::fs::write(dir.path().join("seeds.txt"), "http://a.test/0\nhttp://b.test/0\n").unwrap();
    command.env_remove("NO_PROXY");
    let mut running = Running::start(command);
    assert!(running.until(|| net.requests.load(Ordering::SeqCst) > 30), "{}", running.output("err"));
    net.go_away();
    while !running.output("err").contains("the proxy no longer responds; waiting for it") {
        assert!(!running.has_ended(), "{}", running.output("err"));
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(1500));
    net.come_back();
    let ended = running.end().expect(0);
    assert!(ended.err.contains("the proxy is available again after"), "{}", ended.err);
    let fetched = pages(&out);
    assert_eq!(fetched.len(), 2 * PAGES);
    assert!(failures(&out).iter().all(|event| matches!(event, Event::FetchRetried { .. })));
}

#[test]
fn more_hosts_than_connections_lose_no_page() {
    if is_for_ci("more hosts than connections") {
        return;
    }
    let hosts = 60;
    let net = Net::start(hosts);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("crawl");
    let crawl = net.crawl(dir.path(), hosts, &["--set", "crawl.in_flight=60", "--max-pages", "300"]);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]).arg(crawl.get_program()).args(crawl.get_args());
    let ended = run(command).expect(0);
    assert!(ended.err.contains("too many open files and connections"), "{}", ended.err);
    assert_eq!(pages(&out).len(), 300);
    assert_eq!(failures(&out), []);
}

#[test]
fn a_suspended_and_resumed_process_gives_up_no_page() {
    if is_for_ci("a suspended crawl") {
        return;
    }
    let options = ServerOptions { delay: Duration::from_millis(30), log: true, ..ServerOptions::default() };
    let stage = Stage::new(finite(), options);
    let all = [
        "--strategy",
        "breadth-first",
        "--set",
        "limits.hops=10000",
        "--set",
        "crawl.in_flight=8",
        "--set",
        "fetch.read_timeout=4",
        "--set",
        "fetch.timeout=5",
        "--set",
        "fetch.connect_timeout=4",
    ];
    run(stage.crawl("undisturbed", &all)).expect(0);
    let wanted = pages(&stage.path("undisturbed"));
    let before = stage.server.log().len();
    let mut running = Running::start(stage.crawl("stopped", &all));
    let mut stops = 0;
    for requests in [100, 300] {
        assert!(running.until(|| stage.server.log().len() > before + requests), "{}", running.output("err"));
        running.signal("STOP");
        // Longer than every time limit, and than a turn of the loop may take.
        std::thread::sleep(Duration::from_secs(8));
        running.signal("CONT");
        stops += 1;
    }
    let ended = running.end().expect(0);
    assert!(ended.err.contains("was suspended"), "{}", ended.err);
    let fetched = pages(&stage.path("stopped"));
    assert!(fetched.keys().eq(wanted.keys()), "{} pages, not {}", fetched.len(), wanted.len());
    assert!(fetched.values().all(|&times| times == 1));
    let timeouts =
        failures(&stage.path("stopped")).into_iter().filter(|event| format!("{event:?}").contains("Timeout"));
    assert_eq!(timeouts.count(), 0, "no time limit was held against a host");
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for access in stage.server.log().into_iter().skip(before).filter(|access| access.status < 500) {
        *times.entry(format!("{}{}", access.host, access.path)).or_default() += 1;
    }
    let again: usize = times.values().map(|times| times - 1).sum();
    assert!(again <= 8 * stops, "{again} requests were repeated after {stops} stops with 8 in flight");
}

#[test]
fn a_clock_that_was_set_back_neither_stops_nor_delays() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let out = stage.path("crawl");
    run(stage.crawl("crawl", &["--max-pages", "30"])).expect(0);
    // The year 2100: the clock was wrong then, and is right now.
    let future = Millis(4_102_444_800_000);
    let dir = CrawlDirectory::new(&out);
    let mut store = Store::resume(&dir, &Meta::read(&dir).unwrap(), "test").unwrap();
    store
        .append(&[Record {
            batch: Batch { at: future, latency: None, events: Vec::new() },
            archive: None,
            revisit: false,
        }])
        .unwrap();
    drop(store);
    // With delays: a second for each host after each request, not seventy years.
    let ended = run(stage.crawl("crawl", &["--max-pages", "60", "--set", "politeness.delay=0.05"])).expect(0);
    assert!(ended.err.contains("system clock is"), "{}", ended.err);
    assert_eq!(pages(&out).len(), 60);
    let times: Vec<Millis> = records(&out).iter().map(|record| record.batch.at).collect();
    assert!(times.is_sorted(), "times never go back");
    assert!(times.last().unwrap().since(future) < 600_000);
}
