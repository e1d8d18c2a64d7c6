//! Real forum software: FlaskBB, django-machina and Spirit with generated Chinese threads, each on a loopback port of
//! its own and ended with its test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{REPLAY_DEFAULTS, Running, lexicon_of, pages, run, suidao, tools};
use serde_json::Value;
use suidao::model::CrawlUrl;

/// A thread according to the forum's database.
#[derive(Debug, Clone)]
struct Thread {
    url: CrawlUrl,
    readable: bool,
}

/// The purpose of requests.
#[derive(Debug, Default)]
struct Fetched {
    /// Threads, by their first pages.
    threads: BTreeSet<u64>,
    further: usize,
    /// The home page and pages of boards.
    index: usize,
    /// URLs of the rest.
    wasted: Vec<String>,
}

impl Fetched {
    /// Li, Cheng, Guo, Zhang 2007: pages that list threads or continue them do not count.
    fn precision(&self) -> f64 {
        self.threads.len() as f64 / (self.threads.len() + self.wasted.len()).max(1) as f64
    }
}

fn without_query(url: &CrawlUrl) -> &str {
    url.as_str().split('?').next().unwrap()
}

/// A running forum software, in a directory of its own.
struct Forum {
    running: Running,
    software: &'static str,
    dir: tempfile::TempDir,
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
        command.args(["--threads", "160", "--lifetime", "300"]);
        let forum = Self { running: Running::start(command), software, dir };
        forum.ready()
    }

    fn ready(mut self) -> Self {
        let truth = self.data().join("truth.json");
        assert!(self.running.until(|| truth.exists()), "{}: {}", self.software, self.running.output("err"));
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

    /// The ids of the threads that have one of the addresses (without query) as a page.
    fn obtained<'a>(&self, urls: impl IntoIterator<Item = &'a CrawlUrl>) -> BTreeSet<u64> {
        let ids = self.ids("threads");
        urls.into_iter().filter_map(|url| ids.get(without_query(url)).copied()).collect()
    }

    /// Ids of boards or threads by every address of their first pages.
    fn ids(&self, of: &str) -> BTreeMap<String, u64> {
        let mut ids = BTreeMap::new();
        for entry in self.truth()[of].as_array().unwrap() {
            for url in entry["also"].as_array().unwrap().iter().chain([&entry["url"]]) {
                ids.insert(url.as_str().unwrap().to_owned(), entry["id"].as_u64().unwrap());
            }
        }
        ids
    }

    /// The purpose of these requests: every page once, regardless of its address; other pages and repeated ones are
    /// wasted. Redirects and robots.txt are left out.
    fn fetched(&self, requests: &[(CrawlUrl, u16)]) -> Fetched {
        let (boards, threads, home) = (self.ids("boards"), self.ids("threads"), self.home());
        let mut fetched = Fetched::default();
        let mut seen = BTreeSet::new();
        for (url, status) in requests {
            if url.path() == "/robots.txt" || (300..400).contains(status) {
                continue;
            }
            let page = url.query().map_or(Some("1"), |query| query.strip_prefix("page="));
            let (board, thread) = (boards.get(without_query(url)), threads.get(without_query(url)));
            let new = *status == 200 && page.is_some() && seen.insert((board, thread, page));
            match (new, thread, board) {
                (true, Some(&thread), _) if page == Some("1") => drop(fetched.threads.insert(thread)),
                (true, Some(_), _) => fetched.further += 1,
                (true, None, Some(_)) => fetched.index += 1,
                (true, None, None) if without_query(url) == home => fetched.index += 1,
                _ => fetched.wasted.push(url.to_string()),
            }
        }
        fetched
    }

    /// `suidao forum VERB` without delays.
    fn forum(&self, verb: &str, args: &[&Path]) {
        let mut command = suidao();
        command
            .args(["forum", verb])
            .args(args)
            .args(["--contact", "test@example.org", "--allow-private"])
            .args(REPLAY_DEFAULTS);
        run(command).expect(0);
    }

    /// Adds threads and replies now; returns the ids of the new threads.
    fn add(&self, python: &Path, threads: usize, replies: usize) -> BTreeSet<u64> {
        let before = self.threads();
        let mut command = script(python, self.software, &self.data());
        command.args(["--add", &threads.to_string(), "--replies", &replies.to_string()]);
        run(command).expect(0);
        self.threads().into_keys().filter(|id| !before.contains_key(id)).collect()
    }

    /// The requests that it answered after the first `skip`: URL, status.
    fn requests(&self, skip: usize) -> Vec<(CrawlUrl, u16)> {
        let log = std::fs::read_to_string(self.data().join("access.log")).unwrap();
        let home = CrawlUrl::parse(&self.home()).unwrap();
        let request = |line: &str| {
            let mut words = line.split(' ').skip(2);
            (home.join(words.next().unwrap()).unwrap(), words.next().unwrap().parse().unwrap())
        };
        log.lines().skip(skip).map(request).collect()
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
        command.args(["--set", "fetch.allow_private=true"]).args(REPLAY_DEFAULTS);
        run(command).expect(0);
        out
    }
}

/// The software matches its ground truth: boards and threads are those listed there, pages lead to them, new threads
/// are listed at once, and nothing is visible that only members may read.
fn serves_its_truth(forum: &Forum, new: &BTreeSet<u64>) {
    let known = forum.threads();
    assert!(known.len() > 120, "{}", known.len());
    assert!(known.values().any(|thread| !thread.readable));
    let own = known.values().map(|thread| &thread.url);
    assert_eq!(forum.obtained(own), known.keys().copied().collect(), "no address is written in two ways");

    let fetched = pages(&forum.breadth_first(3, 250));
    let threads = forum.obtained(fetched.keys());
    assert!(threads.len() > 20, "{} of {} pages", threads.len(), fetched.len());
    let seen: Vec<u64> = new.iter().copied().filter(|id| known[id].readable && threads.contains(id)).collect();
    assert!(!seen.is_empty(), "none of the new threads {new:?}");
    let refused = |id: &&u64| !known[id].readable;
    assert_eq!(threads.iter().filter(refused).count(), 0);
    assert!(forum.requests(0).iter().all(|(_, status)| *status < 500));
}

/// Every thread once, and little else; later new posts, and little else.
fn is_read_and_read_again(software: &'static str) {
    let Some(python) = tools::forums() else { return };
    let forum = Forum::start(&python, software);
    let (file, out) = (forum.dir.path().join("forum.toml"), forum.dir.path().join("crawl"));
    forum.forum("discover", &[Path::new(&forum.home()), Path::new("-o"), &file]);
    let discovery = forum.requests(0).len();
    assert!(discovery <= 32, "{discovery} requests to discover a forum");
    forum.forum("crawl", &[&file, Path::new("-o"), &out]);
    let requests = forum.requests(0);
    let fetched = forum.fetched(&requests[discovery..]);
    let readable = |known: &BTreeMap<u64, Thread>| -> BTreeSet<u64> {
        known.iter().filter(|(_, thread)| thread.readable).map(|(id, _)| *id).collect()
    };
    let open = readable(&forum.threads());
    let coverage = fetched.threads.intersection(&open).count() as f64 / open.len() as f64;
    println!("{software}: coverage {coverage:.3}, precision {:.3}", fetched.precision());
    assert!(coverage >= 0.98, "coverage {coverage}, wasted {:?}", fetched.wasted);
    assert!(fetched.precision() >= 0.95, "{} threads, wasted {:?}", fetched.threads.len(), fetched.wasted);

    let new = forum.add(&python, 4, 6);
    assert_eq!(new.len(), 4);
    forum.forum("crawl", &[&file, Path::new("-o"), &out]);
    let again = forum.fetched(&forum.requests(requests.len()));
    let open = readable(&forum.threads());
    let missed: Vec<&u64> = new.iter().filter(|id| open.contains(id) && !again.threads.contains(id)).collect();
    assert!(missed.is_empty(), "new threads {missed:?} of {new:?} were not fetched: {again:?}");
    let pages = again.threads.len() + again.further + again.index + again.wasted.len();
    assert!(pages <= 60, "{pages} pages for 4 threads and 6 replies: {again:?}");
    serves_its_truth(&forum, &new);
}

#[test]
fn flaskbb_is_read_and_read_again() {
    is_read_and_read_again("flaskbb");
}

#[test]
fn machina_is_read_and_read_again() {
    is_read_and_read_again("machina");
}

#[test]
fn spirit_is_read_and_read_again() {
    is_read_and_read_again("spirit");
}
