//! A crawl of several workers over a real NATS server on loopback: it finds what one process finds, and no fault loses
//! a page. The web records all requests and their times.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use suidao::world::{ServerOptions, WebSpec};

use crate::support::{Ended, Running, Stage, export, finite, pages, run, suidao, tools, unused_port, warcio_check};

/// Breadth-first to the end of a finite web: the set of fetched pages does not depend on their order.
pub const ALL: [&str; 6] = ["--strategy", "breadth-first", "--set", "crawl.in_flight=8", "--set", "limits.hops=10000"];

/// A NATS server with its files.
pub struct Nats {
    program: PathBuf,
    port: u16,
    files: tempfile::TempDir,
    pub server: Running,
}

impl Nats {
    /// None without the program; then it prints a message.
    pub fn start(more: &[&str]) -> Option<Self> {
        let (program, port, files) = (tools::nats_server()?, unused_port(), tempfile::tempdir().unwrap());
        let server = Self::serve(&program, port, files.path(), more);
        Some(Self { program, port, files, server })
    }

    fn serve(program: &Path, port: u16, files: &Path, more: &[&str]) -> Running {
        let mut command = Command::new(program);
        command.args(["-a", "127.0.0.1", "-p", &port.to_string(), "-sd"]).arg(files).args(more);
        let mut server = Running::start(command);
        assert!(server.until(|| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()), "the NATS server ended");
        server
    }

    /// Starts it again with its files.
    pub fn again(&mut self, more: &[&str]) {
        self.server = Self::serve(&self.program, self.port, self.files.path(), more);
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

/// A crawl over a NATS server.
pub struct Cluster {
    pub stage: Stage,
    pub nats: Nats,
    /// What its commands connect to.
    pub url: String,
}

impl Cluster {
    pub fn new(spec: WebSpec, delay: u64) -> Option<Self> {
        Some(Self::over(Nats::start(&["-js"])?, spec, delay))
    }

    /// Over this server.
    pub fn over(nats: Nats, spec: WebSpec, delay: u64) -> Self {
        let (url, delay) = (nats.url(), Duration::from_millis(delay));
        Self { stage: Stage::new(spec, ServerOptions { delay, log: true, ..ServerOptions::default() }), nats, url }
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = suidao();
        command.args(words).env("NATS_URL", &self.url);
        command
    }

    pub fn create(&self, name: &str, more: &[&str]) {
        let mut command = self.command(&["cluster", "create", name]);
        if !more.contains(&"--partitions") {
            command.args(["--partitions", "16"]);
        }
        command.arg("-m").arg(&self.stage.lexicon).arg("-s").arg(&self.stage.seeds);
        if !more.contains(&"--archive") {
            command.arg("--archive").arg(self.stage.path(&format!("{name}-pages")));
        }
        command.args(["--contact", "test@example.org", "--set", "politeness.delay=0", "--set", "politeness.backoff=0"]);
        command.args(["--set", "politeness.robots_retry=0"]);
        let common = if more.contains(&"--strategy") { &ALL[2..] } else { &ALL[..] };
        run({
            command.args(common).args(more);
            command
        })
        .expect(0);
    }

    pub fn worker_command(&self, name: &str, worker: &str) -> Command {
        let mut command = self.command(&["worker", name, "--worker", worker, "--proxy", &self.stage.server.proxy()]);
        command.arg("-o").arg(self.stage.path("files").join(worker));
        command
    }

    pub fn worker(&self, name: &str, worker: &str) -> Running {
        Running::start(self.worker_command(name, worker))
    }

    pub fn status(&self, name: &str) -> Value {
        let ended = run(self.command(&["cluster", "status", name, "--json"])).expect(0);
        serde_json::from_str(&ended.out).unwrap()
    }

    /// Waits until the crawl has fetched so many pages, as far as its workers report.
    pub fn until(&self, name: &str, wanted: u64) {
        let begun = Instant::now();
        while fetched(&self.status(name)) < wanted {
            assert!(begun.elapsed() < Duration::from_secs(120), "{}", self.status(name));
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// Collects the crawl and checks what was collected; returns its pages, each of which is in the log once.
    pub fn collected(&self, name: &str) -> BTreeSet<String> {
        let out = self.stage.path(&format!("{name}-collected"));
        let mut command = self.command(&["cluster", "collect", name]);
        command.arg("-o").arg(&out);
        run(command).expect(0);
        let checked = run({
            let mut command = suidao();
            command.args(["check", "crawl"]).arg(&out);
            command
        })
        .expect(0);
        assert!(checked.out.contains("intact"), "{}", checked.out);
        let files: Vec<PathBuf> =
            std::fs::read_dir(out.join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
        warcio_check(&files);
        let documents = export(&out, &self.stage.path(&format!("{name}.jsonl")));
        let urls: BTreeSet<&str> = documents.iter().map(|document| document["url"].as_str().unwrap()).collect();
        assert_eq!(urls.len(), documents.len(), "no page is exported twice");
        let fetched = pages(&out);
        assert!(fetched.values().all(|times| *times == 1), "a page is in the log twice");
        fetched.keys().map(ToString::to_string).collect()
    }

    /// The pages that one process fetches.
    pub fn of_one_process(&self) -> BTreeSet<String> {
        run(self.stage.crawl("one", &ALL)).expect(0);
        pages(&self.stage.path("one")).keys().map(ToString::to_string).collect()
    }
}

pub fn fetched(status: &Value) -> u64 {
    let parts =
        status["workers"].as_object().unwrap().values().flat_map(|worker| worker["partitions"].as_object().unwrap());
    let mut latest: BTreeMap<&str, u64> = BTreeMap::new();
    for (partition, part) in parts {
        let pages = latest.entry(partition).or_default();
        *pages = part["pages"].as_u64().unwrap().max(*pages);
    }
    latest.values().sum()
}

pub fn fails(command: Command, what: &str) {
    let Ended { err, .. } = run(command).expect(2);
    assert!(err.contains(what) && err.lines().count() == 1, "{err}");
}

#[test]
fn three_workers_find_the_pages_of_one_process_although_one_is_killed() {
    let Some(cluster) = Cluster::new(finite(), 20) else { return };
    let wanted = cluster.of_one_process();
    cluster.create("all", &["--strategy", "tunnel"]);
    let mut workers: Vec<Running> = ["w1", "w2", "w3"].iter().map(|name| cluster.worker("all", name)).collect();
    cluster.until("all", 60);
    workers[1].kill();
    // Its name is free again a little later, and its partitions are taken over.
    let again = cluster.worker("all", "w2");
    for worker in [workers.remove(0), workers.remove(1), again] {
        worker.end().expect(0);
    }
    let status = cluster.status("all");
    let parts = status["workers"]["w1"]["partitions"].as_object().unwrap();
    assert!(parts.values().any(|part| part["learnt"].as_u64().unwrap() > 0), "nothing was learnt elsewhere: {status}");
    assert_eq!(cluster.collected("all"), wanted);
    let mut requests: BTreeMap<String, usize> = BTreeMap::new();
    let log = cluster.stage.server.log();
    for request in log.iter().filter(|request| !request.path.ends_with("robots.txt")) {
        *requests.entry(format!("http://{}{}", request.host, request.path)).or_default() += 1;
    }
    // One process has requested each once.
    let repeated = wanted.iter().filter(|url| requests[*url] > 2).count();
    assert!(repeated <= 8, "{repeated} pages were requested again, and 8 requests were in flight");
}

#[test]
fn a_limit_of_pages_is_kept_exactly_and_workers_come_and_go() {
    let Some(cluster) = Cluster::new(finite(), 20) else { return };
    cluster.create("some", &["--max-pages", "150"]);
    let first = cluster.worker("some", "first");
    cluster.until("some", 30);
    let second = cluster.worker("some", "second");
    cluster.until("some", 60);
    first.signal("INT");
    first.end().expect(130);
    second.end().expect(0);
    let found = cluster.collected("some");
    assert_eq!(found.len(), 150);
    // More workers find it done.
    cluster.worker("some", "third").end().expect(0);
    assert_eq!(fetched(&cluster.status("some")), 150);
}

#[test]
fn a_stopped_worker_is_replaced_and_works_on_as_a_new_member() {
    let Some(cluster) = Cluster::new(finite(), 20) else { return };
    let wanted = cluster.of_one_process();
    cluster.create("pause", &[]);
    let (paused, other) = (cluster.worker("pause", "paused"), cluster.worker("pause", "other"));
    cluster.until("pause", 40);
    paused.signal("STOP");
    std::thread::sleep(Duration::from_secs(7));
    paused.signal("CONT");
    other.end().expect(0);
    paused.end().expect(0);
    assert_eq!(cluster.collected("pause"), wanted);
}

#[test]
fn workers_wait_for_a_server_that_is_started_again() {
    let Some(mut cluster) = Cluster::new(finite(), 20) else { return };
    let wanted = cluster.of_one_process();
    cluster.create("server", &[]);
    let workers = [cluster.worker("server", "a"), cluster.worker("server", "b")];
    cluster.until("server", 40);
    cluster.nats.server.kill();
    std::thread::sleep(Duration::from_secs(3));
    cluster.nats.again(&["-js"]);
    for worker in workers {
        worker.end().expect(0);
    }
    assert_eq!(cluster.collected("server"), wanted);
}

#[test]
fn hosts_that_never_answer_do_not_hold_pages_that_others_could_fetch() {
    let Some(cluster) = Cluster::new(finite(), 0) else { return };
    // Most partitions have dead hosts alone, whose robots.txt they ask for again after a while.
    let more = ["--max-pages", "100", "--partitions", "64", "--set", "politeness.robots_retry=600"];
    cluster.create("dead", &more);
    let dead: Vec<String> = (0..300).map(|number| format!("http://dead{number}.test/")).collect();
    let words: Vec<&str> = ["cluster", "add", "dead"].into_iter().chain(dead.iter().map(String::as_str)).collect();
    run(cluster.command(&words)).expect(0);
    let workers = [cluster.worker("dead", "a"), cluster.worker("dead", "b")];
    for worker in workers {
        worker.end().expect(0);
    }
    assert_eq!(cluster.collected("dead").len(), 100);
}

#[test]
fn a_name_is_used_once_and_an_empty_one_never() {
    // Slow enough that the first worker is at work when the second gives up.
    let Some(cluster) = Cluster::new(finite(), 400) else { return };
    cluster.create("names", &[]);
    let first = cluster.worker("names", "same");
    cluster.until("names", 10);
    fails(cluster.worker_command("names", "same"), "a worker named same already works for this crawl");
    fails(cluster.worker_command("names", ""), "the name of a worker cannot be empty");
    let pages = fetched(&cluster.status("names"));
    cluster.until("names", pages + 1);
    first.signal("INT");
    first.end().expect(130);
}

#[test]
fn stop_add_and_delete() {
    let Some(cluster) = Cluster::new(finite(), 20) else { return };
    cluster.create("x", &["--max-pages", "60"]);
    let worker = cluster.worker("x", "w");
    cluster.until("x", 10);
    run(cluster.command(&["cluster", "stop", "x"])).expect(0);
    worker.end().expect(0);
    assert!(run(cluster.command(&["cluster", "status", "x"])).expect(0).out.contains("Stopped"));
    cluster.worker("x", "w").end().expect(0);
    assert_eq!(fetched(&cluster.status("x")), 60);
    run(cluster.command(&["cluster", "add", "x", "http://new.test/"])).expect(0);
    assert_eq!(cluster.status("x")["end"], Value::Null);
    fails(cluster.command(&["cluster", "add", "x", "not a url"]), "not a URL");
    run(cluster.command(&["cluster", "delete", "x"])).expect(0);
    fails(cluster.command(&["cluster", "status", "x"]), "no crawl named x");
    // A worker does not join another crawl of the same name, nor wait for one.
    cluster.create("y", &[]);
    let worker = cluster.worker("y", "w");
    cluster.until("y", 5);
    run(cluster.command(&["cluster", "delete", "y"])).expect(0);
    cluster.create("y", &["--archive", cluster.stage.path("other").to_str().unwrap()]);
    let ended = worker.end();
    assert!(ended.code() == 2 && ended.err.contains("the crawl y was deleted from the server"), "{}", ended.err);
    assert_eq!(fetched(&cluster.status("y")), 0);
}

#[test]
fn bad_input_creates_nothing() {
    let Some(cluster) = Cluster::new(finite(), 0) else { return };
    let lexicon = cluster.stage.lexicon.to_str().unwrap().to_owned();
    let seeds = cluster.stage.seeds.to_str().unwrap().to_owned();
    let archive = cluster.stage.path("pages").to_str().unwrap().to_owned();
    let create = |name: &str, more: &[&str]| {
        let mut words =
            vec!["cluster", "create", name, "-s", &seeds, "--archive", &archive, "--contact", "t@example.org"];
        if !more.contains(&"-m") {
            words.extend(["-m", &lexicon]);
        }
        cluster.command(&[&words, more].concat())
    };
    fails(create("Has Space", &[]), "cannot name a crawl");
    fails(create("n", &["--partitions", "0"]), "0 partitions");
    fails(create("n", &["--partitions", "65537"]), "65537 partitions");
    fails(create("n", &["--max-requests", "9"]), "--max-requests is not possible");
    fails(create("n", &["-m", "missing.toml"]), "missing.toml");
    let closed = format!("nats://user:secret@127.0.0.1:{}", unused_port());
    let err = run(create("n", &["--nats", &closed])).expect(2).err;
    assert!(err.contains("cannot reach a NATS server at nats://127.0.0.1") && !err.contains("secret"), "{err}");
    fails(create("n", &["--nats", "::"]), "not the URL of a NATS server");
    fails(cluster.command(&["cluster", "status", "n"]), "no crawl named n");
    fails(cluster.command(&["worker", "n", "-o", cluster.stage.path("w").to_str().unwrap()]), "no crawl named n");
    run(create("n", &[])).expect(0);
    // Nobody writes below a mount point that has nothing mounted.
    std::fs::remove_dir(&archive).unwrap();
    fails(cluster.worker_command("n", "w"), "which this machine cannot use");
    assert!(!Path::new(&archive).exists());
    fails(create("n", &[]), "a crawl named n exists");
    // A single server cannot store three copies. What was begun is removed, so the name is free.
    fails(create("r", &["--replicas", "3"]), "cannot store 3 copies");
    run(create("r", &[])).expect(0);
    let without = Nats::start(&[]).unwrap();
    fails(create("n", &["--nats", &without.url()]), "JetStream off");
    let locked = Nats::start(&["-js", "--user", "me", "--pass", "secret"]).unwrap();
    fails(create("n", &["--nats", &locked.url()]), "refused the login");
    let wrong = format!("nats://me:wrong@127.0.0.1:{}", locked.port);
    let err = run(create("n", &["--nats", &wrong])).expect(2).err;
    assert!(err.contains("refused the login") && !err.contains("wrong@"), "{err}");
}
