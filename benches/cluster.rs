//! A cluster on this machine, with real workers and a real NATS server (on the path, or `NATS_SERVER`):
//!
//! - pages and links per second with 1, 2 and 3 workers, on a web whose hosts allow one request a second and answer after
//!   300 ms, so that workers are scarce and not cores, and the processor time of the server and of a worker;
//! - the time from `kill -9` of a worker until another one has its four partitions, and the messages that it replays,
//!   after 2,000, 8,000 and 16,000 pages, with and without checkpoints.
//!
//! ```text
//! cargo bench --bench cluster -- rates takeover
//! ```

#![allow(missing_docs)] // a bench is not a library
#![allow(clippy::disallowed_methods)] // it measures real time

use std::collections::HashSet;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use suidao::cluster::{self, ClusterStatus, NatsConnection, NewCrawl};
use suidao::config::Config;
use suidao::live;
use suidao::model::CrawlUrl;
use suidao::recorded;
use suidao::world::{Proxied, ServerOptions, SyntheticWeb, WebServer, WebSpec};

const NAME: &str = "bench";

/// A process that is killed when dropped.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts"))
    }

    /// Processor time so far.
    fn seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        // User and system time, in hundredths of a second.
        fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A crawl on a server of its own.
struct Bench {
    files: tempfile::TempDir,
    web: WebServer,
    nats: Process,
    url: String,
    runtime: tokio::runtime::Runtime,
    connection: NatsConnection,
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .expect("a port is free")
        .port()
}

fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = || std::env::split_paths(&path).map(|folder| folder.join("nats-server")).find(|path| path.is_file());
    std::env::var_os("NATS_SERVER").map(PathBuf::from).or_else(on_path).expect("nats-server is on the path")
}

impl Bench {
    fn new(hosts: u64, delay: u64, partitions: u32, settings: &[&str]) -> Self {
        let spec =
            WebSpec { pages: 30_000, hosts, calendar_hosts: 0.0, session_hosts: 0.0, seed: 1, ..WebSpec::demo() };
        let world = Arc::new(SyntheticWeb::new(spec).expect("the web is generated"));
        let options = ServerOptions { delay: Duration::from_millis(delay), ..ServerOptions::default() };
        let web = WebServer::start_with(Arc::new(Proxied(Arc::clone(&world))), options).expect("the web is served");
        let files = tempfile::tempdir().expect("a directory is made");
        let port = free_port();
        let nats = Process::start(
            Command::new(program()).args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"]).arg(files.path()),
        );
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let assignments = ["fetch.contact=bench@example.org", "strategy.name=breadth-first", "limits.hops=10000"];
        let assignments: Vec<String> = assignments.iter().chain(settings).map(|&set| set.to_owned()).collect();
        let new = NewCrawl {
            name: NAME.to_owned(),
            lexicon: recorded::learn(&world).expect("the topic is learnt"),
            config: Config::load(None, &assignments).expect("the keys are the configuration's"),
            partitions,
            replicas: 1,
            archive: files.path().join("pages").to_string_lossy().into_owned(),
            created: live::now(),
        };
        // One page of each host: all can be asked from the beginning.
        let mut seen = HashSet::new();
        let seeds: Vec<CrawlUrl> =
            world.pages().map(|(url, _)| url).filter(|url| seen.insert(url.host().to_owned())).collect();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads start");
        let url = format!("nats://127.0.0.1:{port}");
        let connection = runtime.block_on(async {
            let connection = NatsConnection::connect(&url).await.expect("the server answers");
            cluster::create(&connection, &new, &seeds).await.expect("the crawl is created");
            connection
        });
        Self { files, web, nats, url, runtime, connection }
    }

    fn worker(&self, name: &str) -> Process {
        let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_suidao")));
        command.args(["worker", NAME, "--worker", name, "--proxy", &self.web.proxy(), "--nats", &self.url, "-o"]);
        Process::start(command.arg(self.files.path().join(name)))
    }

    fn status(&self) -> ClusterStatus {
        self.runtime.block_on(cluster::status(&self.connection, NAME)).expect("the server answers")
    }

    fn until(&self, reached: impl Fn(&ClusterStatus) -> bool) {
        while !reached(&self.status()) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Messages in the log of all partitions.
    fn messages(&self) -> u64 {
        self.runtime.block_on(cluster::log_messages(&self.connection, NAME)).expect("the server answers")
    }
}

fn rates() {
    const TIME: Duration = Duration::from_secs(30);
    println!("{:>8}{:>10}{:>10}{:>16}{:>20}", "workers", "pages/s", "links/s", "server, cores", "each worker, cores");
    for count in 1..=3 {
        let bench = Bench::new(600, 300, 64, &["crawl.in_flight=16"]);
        let workers: Vec<Process> = (0..count).map(|number| bench.worker(&format!("w{number}"))).collect();
        bench.until(|status| status.total().pages >= 300 * count);
        let seconds = || (bench.nats.seconds(), workers.iter().map(Process::seconds).sum::<f64>());
        let (before, used, begun) = (bench.status().total(), seconds(), clock());
        std::thread::sleep(TIME);
        let (after, using, took) = (bench.status().total(), seconds(), clock().duration_since(begun).as_secs_f64());
        println!(
            "{count:>8}{:>10.0}{:>10.0}{:>16.2}{:>20.2}",
            (after.pages - before.pages) as f64 / took,
            (after.sent - before.sent) as f64 / took,
            (using.0 - used.0) / took,
            (using.1 - used.1) / took / count as f64,
        );
    }
}

fn takeover() {
    println!("{:>8}{:>14}{:>10}{:>12}", "pages", "checkpoints", "replayed", "takeover, s");
    for pages in [2_000, 8_000, 16_000] {
        for every in ["0", "500"] {
            let every = format!("crawl.checkpoint_every={every}");
            let bench = Bench::new(60, 0, 4, &["politeness.delay=0", "crawl.in_flight=64", &every]);
            let first = bench.worker("first");
            bench.until(|status| status.total().pages >= pages);
            drop(first);
            let (killed, replayed) = (clock(), bench.messages());
            let second = bench.worker("second");
            bench.until(|status| status.workers.get("second").is_some_and(|worker| worker.partitions.len() == 4));
            let took = clock().duration_since(killed).as_secs_f64();
            drop(second);
            println!("{pages:>8}{:>14}{replayed:>10}{took:>12.1}", every.rsplit('=').next().unwrap_or_default());
        }
    }
}

fn clock() -> Instant {
    Instant::now()
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.iter().any(|name| name == "rates") {
        rates();
    }
    if wanted.iter().any(|name| name == "takeover") {
        takeover();
    }
}
