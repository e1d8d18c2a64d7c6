//! Forums of other people's making: FlaskBB, django-machina and Spirit with generated Chinese threads, each started on a
//! loopback port of its own and ended with its test. What tests/forums/install.sh installs is named by SUIDAO_FORUMS, the
//! python of its environment; without it these tests skip.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // test helpers may; processes are waited for

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use suidao::model::CrawlUrl;
use support::{AT_ONCE, Running, lexicon_of, pages, run, suidao};

/// What the forum's own database says of a thread.
#[derive(Debug, Clone)]
struct Thread {
    url: CrawlUrl,
    readable: bool,
}

/// A forum software that serves, in a directory of its own.
struct Forum {
    running: Running,
    software: &'static str,
    dir: tempfile::TempDir,
}

/// The interpreter with the softwares, or nothing where they are not asked for.
fn python() -> Option<PathBuf> {
    let given = std::env::var_os("SUIDAO_FORUMS").map(PathBuf::from);
    if given.is_none() {
        println!("skipped: SUIDAO_FORUMS does not name the python of tests/forums/install.sh");
    }
    given
}

fn script(python: &Path, software: &str, data: &Path) -> Command {
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/forums/{software}.py")));
    command.arg("--data").arg(data).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

impl Forum {
    /// Fills a database and serves it; returns when it answers.
    fn start(python: &Path, software: &'static str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut command = script(python, software, &dir.path().join("data"));
        command.args(["--threads", "240", "--lifetime", "300"]);
        let forum = Self { running: Running::start(command), software, dir };
        forum.ready()
    }

    fn ready(mut self) -> Self {
        let truth = self.data().join("truth.json");
        assert!(self.running.until(|| truth.exists()), "{}: {}", self.software, self.running.said("err"));
        self
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    fn truth(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.data().join("truth.json")).unwrap()).unwrap()
    }

    fn home(&self) -> String {
        self.truth()["home"].as_str().unwrap().to_owned()
    }

    /// By the forum's id.
    fn threads(&self) -> BTreeMap<u64, Thread> {
        let truth = self.truth();
        let thread = |thread: &Value| {
            let url = CrawlUrl::parse(thread["url"].as_str().unwrap()).unwrap();
            (thread["id"].as_u64().unwrap(), Thread { url, readable: thread["readable"].as_bool().unwrap() })
        };
        truth["threads"].as_array().unwrap().iter().map(thread).collect()
    }

    /// The ids of the threads that any of the addresses, whatever its query, is a page of.
    fn obtained<'a>(&self, urls: impl IntoIterator<Item = &'a CrawlUrl>) -> BTreeSet<u64> {
        let mut ids = BTreeMap::new();
        for thread in self.truth()["threads"].as_array().unwrap() {
            let also = thread["also"].as_array().unwrap();
            for url in also.iter().chain([&thread["url"]]) {
                ids.insert(url.as_str().unwrap().to_owned(), thread["id"].as_u64().unwrap());
            }
        }
        let path = |url: &CrawlUrl| url.as_str().split('?').next().unwrap().to_owned();
        urls.into_iter().filter_map(|url| ids.get(&path(url)).copied()).collect()
    }

    /// New threads and replies, said now; the ids of the new threads.
    fn add(&self, python: &Path, threads: usize, replies: usize) -> BTreeSet<u64> {
        let before = self.threads();
        let mut command = script(python, self.software, &self.data());
        command.args(["--add", &threads.to_string(), "--replies", &replies.to_string()]);
        run(command).expect(0);
        self.threads().into_keys().filter(|id| !before.contains_key(id)).collect()
    }

    /// The requests that it answered so far: path with query, status.
    fn requests(&self) -> Vec<(String, u16)> {
        let log = std::fs::read_to_string(self.data().join("access.log")).unwrap();
        let request = |line: &str| {
            let mut words = line.split(' ').skip(2);
            (words.next().unwrap().to_owned(), words.next().unwrap().parse().unwrap())
        };
        log.lines().map(request).collect()
    }

    /// Breadth-first from the home page, `depth` links deep.
    fn breadth_first(&self, depth: usize, pages: usize) -> PathBuf {
        let (lexicon, seeds) = (self.dir.path().join("lexicon.toml"), self.dir.path().join("seeds.txt"));
        std::fs::write(&lexicon, lexicon_of("体育").to_toml()).unwrap();
        std::fs::write(&seeds, self.home()).unwrap();
        let out = self.dir.path().join("breadth-first");
        let mut command = suidao();
        command.arg("crawl").arg("-m").arg(&lexicon).arg("-s").arg(&seeds).arg("-o").arg(&out);
        command.args(["--strategy", "breadth-first", "--contact", "test@example.org"]);
        command.args(["--max-pages", &pages.to_string(), "--set", &format!("limits.depth={depth}")]);
        command.args(["--set", "fetch.allow_private=true"]).args(AT_ONCE);
        run(command).expect(0);
        out
    }
}

/// What every software must give before anything else may be asked of it: boards and threads of which the truth knows,
/// pages that lead to them, new threads in the lists at once, and nothing of what members alone may read.
fn serves_what_it_says(software: &'static str) {
    let Some(python) = python() else { return };
    let forum = Forum::start(&python, software);
    let known = forum.threads();
    assert!(known.len() > 200, "{}", known.len());
    assert!(known.values().any(|thread| !thread.readable));
    let own = known.values().map(|thread| &thread.url);
    assert_eq!(forum.obtained(own), known.keys().copied().collect(), "no address is written in two ways");

    let new = forum.add(&python, 3, 5);
    assert_eq!(new.len(), 3);
    let known = forum.threads();
    let fetched = pages(&forum.breadth_first(3, 250));
    let threads = forum.obtained(fetched.keys());
    assert!(threads.len() > 20, "{} of {} pages", threads.len(), fetched.len());
    let seen: Vec<u64> = new.iter().copied().filter(|id| known[id].readable && threads.contains(id)).collect();
    assert!(!seen.is_empty(), "none of the new threads {new:?}");
    let refused = |id: &&u64| !known[id].readable;
    assert_eq!(threads.iter().filter(refused).count(), 0);
    assert!(forum.requests().iter().all(|(path, status)| *status < 500 && path.starts_with('/')));
}

#[test]
fn flaskbb_serves_what_it_says() {
    serves_what_it_says("flaskbb");
}

#[test]
fn machina_serves_what_it_says() {
    serves_what_it_says("machina");
}

#[test]
fn spirit_serves_what_it_says() {
    serves_what_it_says("spirit");
}
