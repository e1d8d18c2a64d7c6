//! `kill -9`: killed at random moments, a crawl of the generated web ends with the pages of an undisturbed
//! one, none lost or twice; only requests in flight are repeated, and every WARC file is intact.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::{Running, Stage, export, finite, pages, records, run, settle, suidao, warcio_check};
use suidao::seeded_rng::SeededRng;
use suidao::store::{ArchiveReader, CrawlDirectory, Responses};
use suidao::world::{ServedRequest, ServerOptions};
use suidao_features::depth;

const IN_FLIGHT: usize = 8;
/// Breadth-first to the end of a finite web: the set of fetched pages does not depend on their order.
const ALL: [&str; 6] = ["--strategy", "breadth-first", "--set", "crawl.in_flight=8", "--set", "limits.hops=10000"];

/// Number of requests for each URL. Answers that are retried, such as 502, are left out.
fn requests(log: &[ServedRequest]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for access in log.iter().filter(|access| access.status < 500) {
        *counts.entry(format!("http://{}{}", access.host, access.path)).or_default() += 1;
    }
    counts
}

fn warc_files(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir.join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn kills_lose_nothing() {
    let wanted_kills = depth(4, 20);
    let seed = std::env::var("SUIDAO_KILL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64
    });
    println!("SUIDAO_KILL_SEED={seed} repeats these moments");
    let mut random = SeededRng::new(seed, 0, 0);
    let delay = Duration::from_millis(10);
    let stage = Stage::new(finite(), ServerOptions { delay, log: true, ..ServerOptions::default() });

    run(stage.crawl("undisturbed", &ALL)).expect(0);
    let wanted = pages(&stage.path("undisturbed"));
    let undisturbed = stage.server.log();
    assert!(wanted.len() >= 300, "{} pages", wanted.len());
    assert!(requests(&undisturbed).values().all(|&times| times == 1));

    let out = stage.path("killed");
    // Requests of each run, in order.
    let mut runs: Vec<Vec<ServedRequest>> = Vec::new();
    let mut seen = undisturbed.len();
    let mut kills = 0;
    let ended = loop {
        // With and without a checkpoint to resume from.
        let every = format!("crawl.checkpoint_every={}", [0, 20, 100][random.below(3) as usize]);
        let mut command = stage.crawl("killed", &ALL);
        command.args(["--set", &every]);
        let mut running = Running::start(command);
        let left = wanted_kills - kills;
        if left > 0 {
            let (before, begun) = (stage.server.requests(), Instant::now());
            // After so many requests that about as many remain for each later kill; every third kill at a moment of the
            // start, for example while the log is read, if that comes sooner.
            let done: usize = runs.iter().map(Vec::len).sum();
            let remaining = undisturbed.len().saturating_sub(done) as u64;
            let more = random.below((2 * remaining / (left as u64 + 1)).max(1));
            let wait = Duration::from_millis(if random.below(3) == 0 { random.below(600) } else { 60_000 });
            let late = Duration::from_micros(random.below(5000));
            let reached = || stage.server.requests() - before >= more || begun.elapsed() >= wait;
            let moment = running.until(reached);
            std::thread::sleep(late);
            // On a busy machine the last of them may come too late.
            if moment && !running.has_ended() {
                running.kill();
                kills += 1;
                settle(&stage.server);
                let log = stage.server.log();
                println!("kill {kills}: after {:?} and {} requests", begun.elapsed(), log.len() - seen);
                runs.push(log[seen..].to_vec());
                seen = log.len();
                continue;
            }
        }
        let ended = running.end().expect(0);
        runs.push(stage.server.log()[seen..].to_vec());
        break ended;
    };
    assert!(ended.err.contains("Nothing is left to fetch"), "{}", ended.err);
    assert!(kills >= wanted_kills / 2, "it was over after {kills} kills");

    let fetched = pages(&out);
    assert!(fetched.values().all(|&times| times == 1), "no page is in the store twice");
    assert!(fetched.keys().eq(wanted.keys()), "the pages are those of the undisturbed crawl");

    let counts: Vec<BTreeMap<String, usize>> = runs.iter().map(|run| requests(run)).collect();
    let mut repeated = 0;
    for (number, run) in counts.iter().enumerate() {
        assert!(run.values().all(|&times| times == 1), "run {number} requested a URL twice");
        let again = run.keys().filter(|&url| counts[number + 1..].iter().any(|later| later.contains_key(url)));
        let again = again.count();
        assert!(again <= IN_FLIGHT, "{again} requests of run {number} were repeated, {IN_FLIGHT} were in flight");
        repeated += again;
    }
    let all: BTreeSet<&String> = counts.iter().flat_map(BTreeMap::keys).collect();
    assert!(all.into_iter().eq(requests(&undisturbed).keys()), "no URL was forgotten, none invented");
    println!("{} requests of {} were repeated after {kills} kills", repeated, runs.iter().map(Vec::len).sum::<usize>());

    // Every page of the log is in the archive, and the archive has no others.
    let mut reader = ArchiveReader::new(&CrawlDirectory::new(&out), 1 << 20);
    let logged = records(&out);
    let logged: Vec<_> = logged.into_iter().filter_map(|record| record.response()).collect();
    for &location in &logged {
        reader.read_at(location).unwrap();
    }
    let files = warc_files(&out);
    let whole: usize =
        files.iter().map(|file| Responses::open(file, 1 << 20).unwrap().map(Result::unwrap).count()).sum();
    assert_eq!(whole, logged.len());

    let lines = export(&out, &stage.path("killed.jsonl"));
    let urls: BTreeSet<&str> = lines.iter().map(|line| line["url"].as_str().unwrap()).collect();
    assert_eq!((urls.len(), lines.len()), (wanted.len(), wanted.len()), "the export holds each page once");
    warcio_check(&files);
}

#[test]
fn a_crawl_killed_before_it_began_begins() {
    let stage = Stage::new(finite(), ServerOptions::default());
    for milliseconds in [0, 1, 2, 5, 10, 20, 40, 80] {
        let mut running = Running::start(stage.crawl("crawl", &["--max-pages", "5"]));
        std::thread::sleep(Duration::from_millis(milliseconds));
        running.kill();
    }
    run(stage.crawl("crawl", &["--max-pages", "20"])).expect(0);
    assert_eq!(pages(&stage.path("crawl")).len(), 20);
    let mut why = suidao();
    why.arg("why").arg(stage.path("crawl")).arg(stage.world.seeds()[0].as_str());
    run(why).expect(0);
}
