//! A stage for whole-program tests: a generated web on loopback, a lexicon and seeds on disk, and the program run
//! against them. Every process has a time limit and is ended by its own handle, also when a test panics.

#![allow(dead_code)] // each test binary uses a part

pub mod chinese;
pub mod text_web;
pub mod tools;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use suidao::model::{Batch, CrawlUrl, Event};
use suidao::store::{CrawlDirectory, Record, Store};
use suidao::topic::Lexicon;
use suidao::world::{Proxied, ServerOptions, SyntheticWeb, WebServer, WebSpec, topic_words};

/// Time limit of a process.
pub const BOUND: Duration = Duration::from_secs(300);

/// A web without endless parts: what an unlimited crawl fetches does not depend on the order.
pub fn finite() -> WebSpec {
    WebSpec {
        pages: 300,
        hosts: 12,
        islands: 4,
        island_pages: [15, 30],
        calendar_hosts: 0.0,
        session_hosts: 0.0,
        ..WebSpec::default()
    }
}

/// Settings without delays, for a web on loopback.
pub const REPLAY_DEFAULTS: [&str; 6] =
    ["--set", "politeness.delay=0", "--set", "politeness.backoff=0", "--set", "politeness.robots_retry=0"];

/// The served web with the input of a crawl.
pub struct Stage {
    pub world: Arc<SyntheticWeb>,
    pub server: WebServer,
    pub dir: tempfile::TempDir,
    pub lexicon: PathBuf,
    pub seeds: PathBuf,
}

impl Stage {
    pub fn new(spec: WebSpec, options: ServerOptions) -> Self {
        let world = Arc::new(SyntheticWeb::new(spec).unwrap());
        let server = WebServer::start_with(Arc::new(Proxied(Arc::clone(&world))), options).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let lexicon = dir.path().join("lexicon.toml");
        fs::write(&lexicon, lexicon_of("体育").to_toml()).unwrap();
        let seeds = dir.path().join("seeds.txt");
        let lines: Vec<String> = world.seeds().iter().map(|url| format!("{url}\n")).collect();
        fs::write(&seeds, lines.concat()).unwrap();
        Self { world, server, dir, lexicon, seeds }
    }

    /// Replaces the server by another, on another port and without a delay.
    pub fn serve_again(&mut self) {
        self.server = WebServer::start(Arc::new(Proxied(Arc::clone(&self.world)))).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `suidao crawl` into `out`, through the served web, without delays.
    pub fn crawl(&self, out: &str, more: &[&str]) -> Command {
        let mut command = suidao();
        command.arg("crawl").arg("-m").arg(&self.lexicon).arg("-s").arg(&self.seeds).arg("-o").arg(self.path(out));
        command.args(["--proxy", &self.server.proxy(), "--contact", "test@example.org"]);
        command.args(REPLAY_DEFAULTS).args(more);
        command
    }
}

pub fn lexicon_of(name: &str) -> Lexicon {
    let words: Vec<(&str, f64)> = topic_words().map(|word| (word, 1.0)).collect();
    Lexicon::from_terms(name, &words)
}

pub fn suidao() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_suidao"));
    command.env_remove("SUIDAO_LOG");
    command
}

/// A process with its output in files; killed and awaited when dropped.
pub struct Running {
    child: Child,
    files: tempfile::TempDir,
    begun: Instant,
}

/// A closed loopback port, above those that the system assigns.
pub fn unused_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 61_000 + u16::try_from(std::process::id() % 40).unwrap() * 100;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}

/// Requested by [`settle`] only.
pub const SETTLED: &str = "settled.invalid";

/// Returns when a server has handled all earlier requests, such as those of a killed process.
pub fn settle(server: &WebServer) {
    let mut stream = TcpStream::connect(server.addr()).unwrap();
    write!(stream, "GET http://{SETTLED}/ HTTP/1.1\r\nHost: {SETTLED}\r\nConnection: close\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}

/// The result of a process.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// The exit code; -1 after a signal.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    /// Panics with the output unless it ended with `code`.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "{}\n{}\n{}", self.status, self.out, self.err);
        self
    }
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let files = tempfile::tempdir().unwrap();
        let file = |name: &str| Stdio::from(File::create(files.path().join(name)).unwrap());
        command.stdin(Stdio::null()).stdout(file("out")).stderr(file("err"));
        let child = command.spawn().unwrap();
        Self { child, files, begun: Instant::now() }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGKILL; does nothing if it has ended.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits until `reached` or the end of the process; returns whether it was reached.
    pub fn until(&mut self, reached: impl Fn() -> bool) -> bool {
        loop {
            if reached() {
                return true;
            }
            if self.has_ended() {
                return false;
            }
            self.bound();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    pub fn output(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.files.path().join(name)).unwrap()).into_owned()
    }

    pub fn end(mut self) -> Ended {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Ended { status, out: self.output("out"), err: self.output("err") };
            }
            self.bound();
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn bound(&mut self) {
        if self.begun.elapsed() > BOUND {
            self.kill();
            panic!("still running after {BOUND:?}:\n{}\n{}", self.output("out"), self.output("err"));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

pub fn run(command: Command) -> Ended {
    Running::start(command).end()
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

pub fn records(dir: &Path) -> Vec<Record> {
    let store = Store::open(&CrawlDirectory::new(dir)).unwrap();
    store.batches().map(Result::unwrap).collect()
}

/// The events of a crawl directory, as JSON, without their times.
pub fn events(dir: &Path) -> Vec<String> {
    let batches: Vec<Batch> = records(dir).into_iter().map(|record| record.batch).collect();
    as_json(&batches)
}

pub fn as_json(batches: &[Batch]) -> Vec<String> {
    batches.iter().flat_map(|batch| &batch.events).map(|event| serde_json::to_string(event).unwrap()).collect()
}

/// How often each URL was settled as a page.
pub fn pages(dir: &Path) -> BTreeMap<CrawlUrl, usize> {
    let mut urls = Vec::new();
    let mut pages = BTreeMap::new();
    for event in records(dir).into_iter().flat_map(|record| record.batch.events) {
        match event {
            Event::Discovered(found) => urls.push(found.url),
            Event::PageFetched(page) => *pages.entry(urls[page.id.0 as usize].clone()).or_default() += 1,
            _ => {}
        }
    }
    pages
}

/// The lines of an export of a crawl directory.
pub fn export(dir: &Path, file: &Path) -> Vec<serde_json::Value> {
    let mut command = suidao();
    // One file for the exports of several crawls.
    command.arg("export").arg(dir).arg("-o").arg(file).args(["--force", "--where", "listings:yes"]);
    run(command).expect(0);
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every file and directory below `root` with its content.
pub fn snapshot(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            found.insert(path, Vec::new());
        } else if path.exists() {
            let content = fs::read(&path).unwrap();
            found.insert(path, content);
        }
    }
    found
}

/// Checks files with warcio, if it is installed; they must have digests.
pub fn warcio_check(files: &[PathBuf]) {
    for text in warcio_output(files) {
        assert!(text.contains("digest pass"), "{text}");
    }
}

/// warcio's output for each valid file.
pub fn warcio_output(files: &[PathBuf]) -> Vec<String> {
    let Some(warcio) = tools::warcio() else { return Vec::new() };
    let ask = |words: &[&str], file: &PathBuf| {
        let mut command = Command::new(&warcio);
        command.args(words).arg(file);
        run(command).expect(0).out
    };
    let check = |file| {
        ask(&["index", "-f", "warc-type,warc-target-uri"], file);
        let text = ask(&["check", "-v"], file);
        assert!(!text.contains("fail"), "{text}");
        text
    };
    files.iter().map(check).collect()
}

/// An answer of a server of the program; the head in lower case.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// Asks the program's server at an address; `fields`: further header fields, each with its line end.
pub fn ask(address: &str, method: &str, path: &str, host: &str, fields: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// The head of a request as it arrived, and its target.
pub fn request(stream: &mut TcpStream) -> std::io::Result<(String, String)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    Ok((head, target))
}
