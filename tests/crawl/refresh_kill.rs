//! `kill -9` during a round of refresh: killed a dozen times at random moments it ends as one round within its budget,
//! repeats no completed request, and loses no version of a page. warcio checks the WARC files too.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{Running, SETTLED, copy, export, records, run, settle, suidao, warcio_output};
use suidao::model::{CrawlUrl, Event};
use suidao::revisit::tally::{RoundTally, Rounds};
use suidao::seeded_rng::SeededRng;
use suidao::store::{ArchiveReader, CrawlDirectory, Record};
use suidao::world::{ChangingSpec, ChangingWeb, ServerOptions, WebServer};
use suidao_features::depth;

const IN_FLIGHT: usize = 4;
const BUDGET: u64 = 240;

fn lexicon() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/lexicons/sports.toml").to_owned()
}

fn crawl(dir: &Path, web: &ChangingWeb, server: &WebServer, seeds: &Path) -> Command {
    let listed: String = web.seeds().iter().map(|url| format!("{url}\n")).collect();
    std::fs::write(seeds, listed).unwrap();
    let mut command = suidao();
    command.args(["crawl", "-m", &lexicon(), "-q", "--contact", "me@example.cn", "--set", "politeness.delay=0"]);
    command.arg("-s").arg(seeds).arg("-o").arg(dir).args(["--proxy", &server.proxy(), "--max-pages", "220"]);
    command
}

fn refresh(dir: &Path, server: &WebServer) -> Command {
    let mut command = suidao();
    // Contact and politeness are those of the crawl; a proxy is never taken from a directory.
    command.arg("refresh").arg(dir).args(["--proxy", &server.proxy()]).args([
        "--requests",
        &BUDGET.to_string(),
        "--set",
        "refresh.shortest=0",
    ]);
    // Failed hosts are retried at once, or the round would end because no others are left.
    command.args(["--set", "politeness.backoff=0.02", "--set", "politeness.max_backoff=0.05"]);
    command.args(["--set", "refresh.discovery=0.3", "--set", &format!("crawl.in_flight={IN_FLIGHT}")]);
    command
}

fn requested(web: &ChangingWeb) -> BTreeMap<CrawlUrl, u64> {
    let requested = web.request_counts().into_iter().filter(|(url, _)| url.host() != SETTLED);
    requested.map(|(url, requested)| (url, requested.requests)).collect()
}

fn rounds(log: &[Record]) -> Vec<RoundTally> {
    let mut rounds = Rounds::default();
    log.iter().for_each(|record| rounds.observe(&record.batch));
    rounds.rounds
}

#[test]
fn a_round_that_is_killed_again_and_again_is_one_round() {
    let most = depth(4, 12);
    let seed = std::env::var("SUIDAO_KILL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64
    });
    println!("SUIDAO_KILL_SEED={seed} repeats these moments");
    let mut random = SeededRng::new(seed, 0, 0);
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("crawl");
    let spec = ChangingSpec { initial: 20, sections: 2, ..ChangingSpec::default() };
    let web = Arc::new(ChangingWeb::new(spec, 5));
    let server = web.serve(ServerOptions { delay: Duration::from_millis(15), ..ServerOptions::default() }).unwrap();
    run(crawl(&dir, &web, &server, &root.path().join("seeds.txt"))).expect(0);
    web.set(4.0);

    let (mut kills, mut runs) = (0, Vec::new());
    let mut before = requested(&web);
    let ended = loop {
        let mut running = Running::start(refresh(&dir, &server));
        if kills == most {
            break Some(running.end().expect(0));
        }
        let total: u64 = before.values().sum();
        let more = random.below(2 * BUDGET / most as u64);
        let late = Duration::from_micros(random.below(20_000));
        let reached = running.until(|| requested(&web).values().sum::<u64>() >= total + more);
        std::thread::sleep(late);
        if !reached || running.has_ended() {
            break Some(running.end().expect(0));
        }
        running.kill();
        kills += 1;
        settle(&server);
        let now = requested(&web);
        runs.push(now.iter().map(|(url, times)| (url.clone(), times - before.get(url).unwrap_or(&0))).collect());
        before = now;
        // Killed after the end of the round and before its own: the next run would begin another round. Read from a
        // copy, so that the next run finds what the kill left.
        let seen = root.path().join(format!("killed{kills}"));
        copy(&dir, &seen);
        if rounds(&records(&seen)).last().is_some_and(|round| round.finished) {
            break None;
        }
    };
    let now = requested(&web);
    let last: BTreeMap<CrawlUrl, u64> =
        now.iter().map(|(url, times)| (url.clone(), times - before.get(url).unwrap_or(&0))).collect();
    runs.push(last);
    assert!(kills >= most / 4, "it was over after {kills} kills");
    if let Some(ended) = ended {
        assert!(ended.err.contains("Round finished"), "{}", ended.err);
    }

    let log = records(&dir);
    let rounds = rounds(&log);
    let round = rounds.last().unwrap();
    assert_eq!((rounds.len(), round.finished), (1, true));
    // Unanswered requests come on top, if no page was due.
    assert!((BUDGET..=BUDGET + round.unanswered).contains(&round.requests), "{round:?}");
    assert!(round.text_changed > 0 && round.not_modified > 0 && round.pages > 0, "{round:?}");

    // A page that answers 503 is retried.
    let mut names: Vec<CrawlUrl> = Vec::new();
    let mut retried: Vec<CrawlUrl> = Vec::new();
    for event in log.iter().flat_map(|record| &record.batch.events) {
        match event {
            Event::Discovered(found) => names.push(found.url.clone()),
            Event::FetchRetried { id, .. } => retried.push(names[id.0 as usize].clone()),
            _ => {}
        }
    }
    // Its host refuses connections, so its robots.txt is retried too.
    retried.push(CrawlUrl::parse("http://ads.changing.test/robots.txt").unwrap());
    let mut repeated = 0;
    for (number, run) in runs.iter().enumerate() {
        let run: &BTreeMap<CrawlUrl, u64> = run;
        let wanted: Vec<&CrawlUrl> = run.iter().filter(|(_, times)| **times > 0).map(|(url, _)| url).collect();
        let once = |(url, times): (&CrawlUrl, &u64)| *times <= 1 || retried.contains(url);
        assert!(run.iter().all(once), "run {number} requested a URL twice");
        let again =
            |url: &&&CrawlUrl| runs[number + 1..].iter().any(|later| later.get(**url).is_some_and(|times| *times > 0));
        let again: Vec<_> = wanted.iter().filter(again).filter(|url| !retried.contains(url)).collect();
        println!("run {number}: {} requests, repeated {again:?}", wanted.len());
        let again = again.len();
        assert!(again <= IN_FLIGHT, "{again} requests of run {number} were repeated, {IN_FLIGHT} were in flight");
        repeated += again as u64;
    }
    let sent: u64 = runs.iter().flat_map(BTreeMap::values).sum();
    assert!(
        (BUDGET..=BUDGET + repeated + (kills * IN_FLIGHT) as u64).contains(&sent),
        "{sent} requests, {repeated} repeated"
    );
    println!("{repeated} requests of {sent} were repeated after {kills} kills");

    // Every version is in the archive and counted in the export.
    let mut reader = ArchiveReader::new(&CrawlDirectory::new(&dir), 1 << 20);
    let mut versions: BTreeMap<u32, u64> = BTreeMap::new();
    for record in &log {
        for event in &record.batch.events {
            let Event::PageFetched(page) = event else { continue };
            let fetched = reader.read_at(record.response().unwrap()).unwrap();
            assert_eq!(fetched.status, page.status);
            *versions.entry(page.id.0).or_default() += u64::from(page.changes.is_none_or(|found| found.text));
        }
    }
    let lines = export(&dir, &root.path().join("pages.jsonl"));
    let exported: u64 = lines.iter().map(|line| line["versions"].as_u64().unwrap()).sum();
    assert!(lines.iter().any(|line| line["versions"] == 2 && line["last_changed"] != line["first_seen"]));
    assert!(lines.iter().any(|line| line["versions"] == 1 && line["last_seen"] != line["first_seen"]));
    let gone = versions.len() - lines.len();
    assert!(exported + gone as u64 <= versions.values().sum() && gone < 30, "{exported} {gone} {versions:?}");
    let files: Vec<_> = std::fs::read_dir(dir.join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    warcio_output(&files);
}
