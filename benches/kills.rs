//! Two hundred kills of one crawl: `SIGKILL` at moments drawn at random, over a generated web on loopback. After every kill
//! (some with a checkpoint of the state, some without) the log must hold all that was acknowledged and begin with what it held before; at the end the pages are those of an
//! undisturbed crawl, each once, and nothing was asked for again but what was in flight.
//!
//! ```text
//! cargo bench --bench kills
//! ```
//! `SUIDAO_KILLS` (200), `SUIDAO_PAGES` (4,000), `SUIDAO_KILL_SEED` change what is done. It fails as a test does.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)] // a bench reads the clock, and is no library

#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use suidao::store::{CrawlDirectory, Store};
use suidao::world::{Access, ServerOptions, Spec};
use support::{Random, Running, Stage, export, pages, run, suidao};

const IN_FLIGHT: usize = 16;
const ALL: [&str; 6] = ["--strategy", "breadth-first", "--set", "crawl.in_flight=16", "--set", "limits.hops=10000"];

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// How often each URL was asked for. Answers that are tried again, as 502, are left out.
fn requests(log: &[Access]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for access in log.iter().filter(|access| access.status < 500) {
        *counts.entry(format!("http://{}{}", access.host, access.path)).or_default() += 1;
    }
    counts
}

/// The batches of the log as digests, and how many had been acknowledged when it was killed.
fn kept(dir: &Path) -> (Vec<u64>, u64) {
    let directory = CrawlDirectory::new(dir);
    let mark = std::fs::read_to_string(directory.acknowledged()).unwrap_or_default().trim().parse().unwrap_or(0);
    if !directory.holds_crawl() {
        return (Vec::new(), mark);
    }
    let store = Store::open(&directory).unwrap();
    let digest = |batch: &suidao::model::Batch| xxhash_rust::xxh3::xxh3_64(format!("{batch:?}").as_bytes());
    (store.batches().map(|record| digest(&record.unwrap().batch)).collect(), mark)
}

fn main() {
    let kills = number("SUIDAO_KILLS", 200);
    let wanted_pages = number("SUIDAO_PAGES", 4_000);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let seed = number("SUIDAO_KILL_SEED", u64::try_from(now % 1_000_000_007).unwrap());
    println!("SUIDAO_KILL_SEED={seed} repeats these moments");
    let mut random = Random(seed);
    let spec = Spec {
        pages: wanted_pages,
        hosts: 60,
        islands: 10,
        calendar_hosts: 0.0,
        session_hosts: 0.0,
        ..Spec::default()
    };
    let delay = Duration::from_millis(5);
    let stage = Stage::new(spec, ServerOptions { delay, log: true, ..ServerOptions::default() });
    let begun = Instant::now();
    run(stage.crawl("undisturbed", &ALL)).expect(0);
    let wanted = pages(&stage.path("undisturbed"));
    let undisturbed = stage.server.log();
    println!("undisturbed: {} pages, {} requests, {:.1?}", wanted.len(), undisturbed.len(), begun.elapsed());

    let begun = Instant::now();
    let out = stage.path("killed");
    let mut runs: Vec<Vec<Access>> = Vec::new();
    let mut seen = undisturbed.len();
    let (mut before, mut largest, mut at_start) = (Vec::new(), 0, 0);
    for kill in 0..kills {
        // With and without a checkpoint to go on from.
        let every = format!("crawl.checkpoint_every={}", [0, 20, 100][random.below(3) as usize]);
        let mut command = stage.crawl("killed", &ALL);
        command.args(["--set", &every]);
        let mut running = Running::start(command);
        // So many requests later that about as many remain for each kill to come; every fourth at a moment of the start.
        let done: usize = runs.iter().map(|run| requests(run).len()).sum();
        let remaining = undisturbed.len().saturating_sub(done + 40) as u64;
        let more = random.below((2 * remaining / (kills - kill + 1)).max(1));
        let start = random.below(4) == 0;
        let wait = Duration::from_millis(if start { random.below(900) } else { 60_000 });
        let late = Duration::from_micros(random.below(6_000));
        let asked = stage.server.requests();
        let started = Instant::now();
        let reached = running.until(|| stage.server.requests() - asked >= more || started.elapsed() >= wait);
        std::thread::sleep(late);
        assert!(reached && !running.has_ended(), "it ended before kill {kill}: {}", running.said("err"));
        running.kill();
        at_start += u64::from(stage.server.requests() == asked);
        // What the dead process had sent is answered, and so logged, by then.
        std::thread::sleep(delay * 4);
        let log = stage.server.log();
        runs.push(log[seen..].to_vec());
        seen = log.len();

        let (batches, mark) = kept(&out);
        assert!(batches.len() as u64 >= mark, "kill {kill}: {} batches, {mark} were acknowledged", batches.len());
        assert!(batches.starts_with(&before), "kill {kill}: the log is no longer what it was");
        largest = largest.max(batches.len() - before.len());
        before = batches;
        if kill % 20 == 19 {
            let mut check = suidao();
            check.args(["check", "crawl"]).arg(&out);
            run(check).expect(0);
            println!("{:3} kills: {:6} batches, {:.0?}", kill + 1, before.len(), begun.elapsed());
        }
    }
    run(stage.crawl("killed", &ALL)).expect(0);
    runs.push(stage.server.log()[seen..].to_vec());

    let fetched = pages(&out);
    assert!(fetched.values().all(|&times| times == 1), "no page is in the store twice");
    assert!(fetched.keys().eq(wanted.keys()), "{} pages, not {}", fetched.len(), wanted.len());
    let counts: Vec<BTreeMap<String, usize>> = runs.iter().map(|run| requests(run)).collect();
    let mut later: BTreeSet<&String> = BTreeSet::new();
    let (mut repeated, mut most) = (0, 0);
    for (number, run) in counts.iter().enumerate().rev() {
        let again = run.keys().filter(|url| later.contains(url)).count();
        assert!(again <= IN_FLIGHT, "{again} requests of run {number} were repeated, {IN_FLIGHT} were in flight");
        (repeated, most) = (repeated + again, most.max(again));
        later.extend(run.keys());
    }
    let lines = export(&out, &stage.path("killed.jsonl"));
    let urls: BTreeSet<&str> = lines.iter().map(|line| line["url"].as_str().unwrap()).collect();
    assert_eq!((urls.len(), lines.len()), (wanted.len(), wanted.len()), "the export holds each page once");
    println!(
        "{kills} kills ({at_start} of them before the first request), {} pages, none lost, none twice; {} requests, {repeated} of them \
         repeated, at most {most} after one kill with {IN_FLIGHT} in flight; at most {largest} batches in one run; {:.0?}",
        fetched.len(),
        runs.iter().map(Vec::len).sum::<usize>(),
        begun.elapsed()
    );
}
