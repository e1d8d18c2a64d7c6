//! A day of crawling in miniature, over real HTTP on loopback: a million generated pages on ten thousand hosts
//! (`worlds/day.toml`), memory and disk over time, SIGKILL half way, and the time to resume.
//!
//! ```text
//! cargo bench --bench day                       about twenty minutes
//! SUIDAO_PAGES=50000 cargo bench --bench day
//! ```
//!
//! Options: `SUIDAO_STRATEGY` (tunnel), `SUIDAO_IN_FLIGHT` (256), `SUIDAO_DIR` (a temporary directory). Web, crawl and
//! bench are separate processes, so memory is the crawl's own.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

mod process;

use std::env;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use suidao::config::Config;
use suidao::live::{self, Job, News};
use suidao::store::CrawlDirectory;
use suidao::topic::{Lexicon, Topic};
use suidao::world::{Proxied, SyntheticWeb, WebServer, WebSpec, topic_words};

const LINES: u64 = 20;

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn world() -> SyntheticWeb {
    let spec = WebSpec::load(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/worlds/day.toml"))).expect("a spec");
    SyntheticWeb::new(spec).expect("a web")
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => serve(),
        ["crawl", directory, proxy, pages] => crawl(directory, proxy, pages.parse().expect("a number")),
        _ if env::args().any(|argument| argument == "--test") => {}
        _ => day(),
    }
}

/// A child process of this binary, killed when dropped.
struct Part {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Part {
    fn start(arguments: &[&str]) -> Self {
        let binary = env::current_exe().expect("this program has a path");
        let child = Command::new(binary).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("this program can be started again");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> Option<String> {
        self.lines.next().map(|line| line.expect("lines are text"))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn day() {
    let pages = number("SUIDAO_PAGES", 1_000_000);
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let directory = env::var("SUIDAO_DIR").unwrap_or_else(|_| scratch.path().join("crawl").display().to_string());
    let mut server = Part::start(&["serve"]);
    let proxy = server.line().expect("the server prints its address");
    let arguments = ["crawl", &directory, &proxy, &pages.to_string()];
    println!("pages, seconds, pages/s since the last line, relevant, known, hosts, memory MB, archive MB, log MB");
    let mut part = Part::start(&arguments);
    let mut killed = false;
    let (mut begun, mut last) = (Instant::now(), (0, 0.0));
    while let Some(line) = part.line() {
        let fields: Vec<u64> = line.split(' ').skip(1).map(|field| field.parse().unwrap_or(0)).collect();
        let seconds = begun.elapsed().as_secs_f64();
        match (line.split(' ').next(), &fields[..]) {
            (Some("ready"), &[resumed, ..]) => println!("  ready after {seconds:.2} s, with {resumed} pages"),
            (Some("first"), _) => println!("  first answer after {seconds:.2} s"),
            (Some("at"), &[at, relevant, known, hosts, memory]) => {
                let rate = (at - last.0) as f64 / (seconds - last.1);
                let archive = megabytes(&Path::new(&directory).join("pages"));
                let log = megabytes(&Path::new(&directory).join("state"));
                println!("{at}, {seconds:.0}, {rate:.0}, {relevant}, {known}, {hosts}, {memory}, {archive}, {log}");
                last = (at, seconds);
                if !killed && at >= pages / 2 {
                    killed = true;
                    println!("  SIGKILL");
                    drop(part);
                    begun = Instant::now();
                    last = (at, 0.0);
                    part = Part::start(&arguments);
                }
            }
            _ => println!("  {line}, after {seconds:.2} s"),
        }
    }
    let archive = megabytes(&Path::new(&directory).join("pages"));
    let state = megabytes(&Path::new(&directory).join("state"));
    println!(
        "disk: {:.2} KB a page in the archive, {:.2} KB in the log and its checkpoint",
        kb(archive, pages),
        kb(state, pages)
    );
    drop(part);
    let begun = Instant::now();
    let mut again = Part::start(&["crawl", &directory, &proxy, &(pages + 100).to_string()]);
    while let Some(line) = again.line() {
        println!("once more: {line}, after {:.2} s", begun.elapsed().as_secs_f64());
    }
}

#[allow(clippy::cast_precision_loss)]
fn kb(megabytes: u64, pages: u64) -> f64 {
    megabytes as f64 * 1024.0 / pages as f64
}

fn megabytes(path: &Path) -> u64 {
    fn bytes(path: &Path) -> u64 {
        let Ok(entries) = std::fs::read_dir(path) else { return 0 };
        let of = |entry: std::fs::DirEntry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => bytes(&entry.path()),
            Ok(meta) => meta.len(),
            Err(_) => 0,
        };
        entries.flatten().map(of).sum()
    }
    bytes(path) >> 20
}

/// A crawl that prints its progress, one line at a time.
fn crawl(directory: &str, proxy: &str, pages: u64) {
    let words: Vec<(&str, f64)> = topic_words().map(|word| (word, 1.0)).collect();
    let mut config = Config::default();
    if let Ok(strategy) = env::var("SUIDAO_STRATEGY") {
        config = Config::load(None, &[format!("strategy.name={strategy}")]).expect("a strategy");
    }
    config.limits.pages = Some(pages);
    config.politeness.delay = 0.0;
    config.crawl.in_flight = usize::try_from(number("SUIDAO_IN_FLIGHT", 256)).expect("a number");
    config.fetch.proxy = Some(proxy.to_owned());
    config.fetch.contact = Some("suidao bench on loopback".to_owned());
    let job = Job::new(
        Arc::new(Topic::new(Lexicon::from_terms("体育", &words))),
        world().seeds(),
        config,
        CrawlDirectory::new(directory),
    );
    let every = (number("SUIDAO_PAGES", 1_000_000) / LINES).max(1);
    let (mut result, mut answered) = (0, false);
    let print = |line: String| {
        println!("{line}");
        let _ = std::io::stdout().flush();
    };
    let listener = |news: News| match news {
        News::Ready { progress, .. } => {
            result = progress.pages / every;
            print(format!("ready {}", progress.pages));
        }
        News::Seeded { .. } | News::Waiting(..) => {}
        News::Batch(_, crawl) => {
            let progress = crawl.progress();
            if !answered && progress.pages > 0 {
                answered = true;
                print("first".to_owned());
            }
            if progress.pages / every > result {
                result = progress.pages / every;
                let memory = process::resident() >> 20;
                let (relevant, known, hosts) = (progress.relevant, progress.known, progress.hosts_visited);
                print(format!("at {} {relevant} {known} {hosts} {memory}", progress.pages));
            }
        }
    };
    let report = live::run(&job, listener, std::future::pending()).expect("the crawl runs");
    print(format!("ended {} at most {} MB", report.progress.pages, process::most_resident() >> 20));
}

/// Serves the generated web until the standard input ends, which happens when the parent process exits.
fn serve() {
    let server = WebServer::start(Arc::new(Proxied(world()))).expect("a port on loopback");
    println!("{}", server.proxy());
    std::io::stdout().flush().expect("the parent listens");
    let _ = std::io::stdin().read(&mut [0]);
}
