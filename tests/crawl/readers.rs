//! Readers during a crawl: every verb that reads a crawl directory works while a crawl writes there, is killed and
//! resumes; it sees all that was durable when it began, and does not disturb the crawl.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::support::tools::is_for_ci;
use crate::support::{Running, Stage, finite, pages, run, suidao, warcio_check};
use suidao::store::{CrawlDirectory, Store};
use suidao::world::ServerOptions;

const ALL: [&str; 8] = [
    "--strategy",
    "breadth-first",
    "--set",
    "limits.hops=10000",
    "--set",
    "crawl.in_flight=4",
    "--set",
    "crawl.checkpoint_every=50",
];
/// Requests after which the crawl is killed.
const KILLS: [u64; 2] = [120, 110];
/// Most rounds of a reader.
const ROUNDS: usize = 500;

/// A verb that reads, run again and again, and the number of pages in what it prints.
struct Reader {
    name: &'static str,
    words: Vec<String>,
    pages: fn(&str, &Path) -> Option<u64>,
}

fn json(out: &str, pointer: &str) -> Option<u64> {
    serde_json::from_str::<Value>(out).unwrap().pointer(pointer)?.as_u64()
}

fn readers(dir: &Path, scratch: &Path, seed: &str) -> Vec<Reader> {
    let dir = dir.to_str().unwrap();
    let reader = |name, words: &[&str], pages| Reader {
        name,
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        pages,
    };
    let file = |name: &str| scratch.join(name).to_str().unwrap().to_owned();
    let lines: fn(&str, &Path) -> Option<u64> = |_, file| {
        let text = std::fs::read_to_string(file.join("pages.jsonl")).unwrap();
        let whole = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        Some(whole.filter(|page| page["text"].is_string()).count() as u64)
    };
    vec![
        reader("why", &["why", dir, seed, "--json"], |out, _| json(out, "/none")),
        reader("report", &["report", dir, "--json"], |out, _| json(out, "/counts/pages")),
        reader("page", &["report", dir, "-o", &file("report.html")], |_, _| None),
        reader(
            "export",
            &["export", dir, "-o", &file("pages.jsonl"), "--force", "--where", "listings:yes", "--duplicates", "keep"],
            lines,
        ),
        reader("check", &["check", "crawl", dir, "--json"], |out, _| json(out, "/pages")),
        reader("search", &["search", dir, "足球", "--json"], |out, _| json(out, "/pages")),
        reader("search again", &["search", dir, "比赛", "--json"], |out, _| json(out, "/pages")),
        reader("graph", &["graph", dir, "--json"], |out, _| json(out, "/pages")),
    ]
}

#[test]
fn eight_readers_beside_a_crawl_that_is_killed_twice() {
    if is_for_ci("eight readers beside a crawl") {
        return;
    }
    let options = ServerOptions { delay: Duration::from_millis(20), ..ServerOptions::default() };
    let stage = Stage::new(finite(), options);
    run(stage.crawl("undisturbed", &ALL)).expect(0);
    let wanted = pages(&stage.path("undisturbed"));
    let dir = stage.path("crawl");
    let durable = || Store::open(&CrawlDirectory::new(&dir)).map_or(0, |store| store.len());

    let begun = stage.server.requests();
    let mut crawl = Running::start(stage.crawl("crawl", &ALL));
    // Export and search refuse a crawl without a page.
    assert!(crawl.until(|| durable() > 30), "{}", crawl.output("err"));
    let over = AtomicBool::new(false);
    let (stage, over) = (&stage, &over);
    std::thread::scope(|scope| {
        let readers = readers(&dir, stage.dir.path(), stage.world.seeds()[0].as_str());
        let reading: Vec<_> = readers
            .into_iter()
            .map(|reader| {
                scope.spawn(move || {
                    let (mut last, mut rounds) = (0, 0);
                    while rounds < ROUNDS && (rounds == 0 || !over.load(Ordering::Relaxed)) {
                        let mut command = suidao();
                        command.args(&reader.words);
                        let ended = run(command);
                        assert_eq!(ended.code(), 0, "{}: {}{}", reader.name, ended.out, ended.err);
                        if let Some(pages) = (reader.pages)(&ended.out, stage.dir.path()) {
                            assert!(pages >= last, "{}: {pages} pages after {last}", reader.name);
                            last = pages;
                        }
                        rounds += 1;
                        // So that the crawl gets its share of the processor.
                        std::thread::sleep(Duration::from_millis(100));
                    }
                    println!("{}: {rounds} rounds, {last} pages at last", reader.name);
                })
            })
            .collect();
        let mut before = begun;
        for requests in KILLS {
            crawl.until(|| stage.server.requests() - before > requests);
            crawl.kill();
            before = stage.server.requests();
            crawl = Running::start(stage.crawl("crawl", &ALL));
        }
        let ended = crawl.end();
        over.store(true, Ordering::Relaxed);
        ended.expect(0);
        reading.into_iter().for_each(|reader| reader.join().unwrap());
    });
    let fetched = pages(&dir);
    assert!(fetched.keys().eq(wanted.keys()), "the crawl has found what it finds alone");
    assert!(fetched.values().all(|&times| times == 1));
    for reader in readers(&dir, stage.dir.path(), stage.world.seeds()[0].as_str()) {
        let mut command = suidao();
        command.args(&reader.words);
        let out = run(command).expect(0).out;
        if matches!(reader.name, "report" | "check" | "export") {
            assert_eq!((reader.pages)(&out, stage.dir.path()), Some(fetched.len() as u64), "{}", reader.name);
        }
    }
    let files: Vec<PathBuf> = std::fs::read_dir(dir.join("pages")).unwrap().map(|file| file.unwrap().path()).collect();
    warcio_check(&files);
}

#[test]
fn an_open_prompt_and_a_crawl_do_not_wait_for_each_other() {
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &["--max-pages", "60"])).expect(0);
    let dir = stage.path("crawl");
    let mut label = Command::new(env!("CARGO_BIN_EXE_suidao"));
    label.arg("label").arg(&dir).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut label = label.spawn().unwrap();
    run(stage.crawl("crawl", &["--max-pages", "100"])).expect(0);
    assert_eq!(pages(&dir).len(), 100);
    assert!(label.try_wait().unwrap().is_none(), "the prompt is open");
    label.stdin.take().unwrap().write_all(b"y\nn\nq\n").unwrap();
    let ended = label.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(std::fs::read_to_string(dir.join("labels.tsv")).unwrap().lines().count(), 2);
}

#[test]
fn two_searches_at_once_share_one_index() {
    let stage = Stage::new(finite(), ServerOptions::default());
    run(stage.crawl("crawl", &["--max-pages", "100"])).expect(0);
    let search = || {
        let mut command = suidao();
        command.arg("search").arg(stage.path("crawl")).args(["足球", "--json"]);
        Running::start(command)
    };
    let all: Vec<_> = (0..4).map(|_| search()).collect();
    let all: Vec<_> = all.into_iter().map(|search| search.end().expect(0)).collect();
    assert!(all.iter().all(|ended| ended.out == all[0].out));
    let built = all.iter().filter(|ended| ended.err.contains("Building the index")).count();
    assert_eq!(built, 1, "{all:?}");
}
