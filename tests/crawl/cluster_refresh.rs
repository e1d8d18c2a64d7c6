//! A crawl of several workers is kept fresh: they visit the pages that one process visits, with one budget, and no fault
//! loses a visit. The web changes from one day to another as the test says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use suidao::model::{Event, UrlId};
use suidao::revisit::tally::{RoundTally, Rounds};
use suidao::world::{ChangingSpec, ChangingWeb, ServerOptions, WebServer};

use crate::cluster::{Nats, fails};
use crate::support::{Running, records, run, suidao};

/// A changing web with a domain for each host, its server, and a crawl of it over a NATS server.
struct Fresh {
    web: Arc<ChangingWeb>,
    server: WebServer,
    nats: Nats,
    files: tempfile::TempDir,
}

/// Pages change within seconds as far as the crawl knows, so that values do not depend on when each was fetched.
const QUICK: [&str; 4] = ["--set", "refresh.shortest=0", "--set", "refresh.prior=0.001"];

impl Fresh {
    /// Crawls the web to its end.
    fn new(delay: f64) -> Option<Self> {
        let nats = Nats::start(&["-js"])?;
        let spec = ChangingSpec { initial: 12, own_domains: true, ..ChangingSpec::default() };
        let web = Arc::new(ChangingWeb::new(spec, 5));
        let options = ServerOptions { delay: Duration::from_millis(5), log: true, ..ServerOptions::default() };
        let server = web.serve(options).unwrap();
        let fresh = Self { web, server, nats, files: tempfile::tempdir().unwrap() };
        let seeds: String = fresh.web.seeds().iter().map(|url| format!("{url}\n")).collect();
        std::fs::write(fresh.path("seeds.txt"), seeds).unwrap();
        let mut create =
            fresh.command(&["cluster", "create", "news", "--partitions", "8", "--contact", "me@example.cn"]);
        create.args(["-m", concat!(env!("CARGO_MANIFEST_DIR"), "/lexicons/sports.toml")]);
        create.arg("-s").arg(fresh.path("seeds.txt")).arg("--archive").arg(fresh.path("pages"));
        create.args(["--set", &format!("politeness.delay={delay}"), "--set", "crawl.in_flight=4"]).args(QUICK);
        // The hosts of advertisements never answer.
        create.args(["--set", "politeness.robots_retry=0", "--set", "politeness.backoff=0"]);
        create.args(["--set", "limits.retries=0", "--set", "limits.hops=1000"]);
        run(create).expect(0);
        let workers = [fresh.worker("first"), fresh.worker("second")];
        workers.into_iter().for_each(|worker| drop(worker.end().expect(0)));
        Some(fresh)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = suidao();
        command.args(words).env("NATS_URL", self.nats.url());
        command
    }

    fn worker(&self, name: &str) -> Running {
        let mut command = self.command(&["worker", "news", "--worker", name, "--proxy", &self.server.proxy()]);
        command.arg("-o").arg(self.path("files").join(name));
        Running::start(command)
    }

    fn refresh(&self, more: &[&str]) -> Command {
        let mut command = self.command(&["refresh", "cluster:news"]);
        command.args(more);
        command
    }

    fn collect(&self, name: &str) -> PathBuf {
        let out = self.path(name);
        let mut command = self.command(&["cluster", "collect", "news"]);
        command.arg("-o").arg(&out);
        run(command).expect(0);
        out
    }

    fn status(&self) -> Value {
        serde_json::from_str(&run(self.command(&["cluster", "status", "news", "--json"])).expect(0).out).unwrap()
    }

    /// Visits of known pages, as far as workers report.
    fn visits(&self) -> u64 {
        let status = self.status();
        let workers = status["workers"].as_object().unwrap().values();
        let parts = workers.flat_map(|worker| worker["partitions"].as_object().unwrap());
        let mut latest: BTreeMap<&str, u64> = BTreeMap::new();
        for (partition, part) in parts {
            let visits = latest.entry(partition).or_default();
            *visits = part["visits"].as_u64().unwrap().max(*visits);
        }
        latest.values().sum()
    }

    fn until_visits(&self, wanted: u64) {
        let begun = Instant::now();
        while self.visits() < wanted {
            assert!(begun.elapsed() < Duration::from_secs(120), "{}", self.status());
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Known pages that were visited again, each with the number of visits.
fn visited(dir: &Path) -> BTreeMap<String, usize> {
    let (mut urls, mut fetched, mut visited) = (Vec::new(), BTreeSet::<UrlId>::new(), BTreeMap::new());
    for event in records(dir).into_iter().flat_map(|record| record.batch.events) {
        let id = match event {
            Event::Discovered(found) => {
                urls.push(found.url.to_string());
                continue;
            }
            Event::PageFetched(page) => page.id,
            Event::Unchanged { id, .. } | Event::FetchFailed { id, .. } | Event::Redirected { id, .. } => id,
            _ => continue,
        };
        if !fetched.insert(id) {
            *visited.entry(urls[id.0 as usize].clone()).or_default() += 1;
        }
    }
    visited
}

fn rounds(dir: &Path) -> Vec<RoundTally> {
    let mut rounds = Rounds::default();
    records(dir).iter().for_each(|record| rounds.observe(&record.batch));
    rounds.rounds
}

#[test]
fn workers_visit_the_pages_that_one_process_visits() {
    let Some(fresh) = Fresh::new(0.0) else { return };
    let one = fresh.collect("one");
    fresh.web.set(4.0);
    let mut plan = suidao();
    plan.arg("refresh").arg(&one).args(["--dry-run", "--json", "--requests", "100"]).args(QUICK);
    let plan = run(plan).expect(0).out;
    let values: BTreeMap<String, f64> = plan
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["page"]["url"].is_string())
        .map(|line| (line["page"]["url"].as_str().unwrap().to_owned(), line["page"]["value"].as_f64().unwrap()))
        .collect();
    let begun = run(fresh.refresh(&["--requests", "100"])).expect(0);
    assert!(begun.err.contains("Began a round of 100 requests") || begun.out.contains("Began a round of 100 requests"));
    let workers = [fresh.worker("first"), fresh.worker("second")];
    workers.into_iter().for_each(|worker| drop(worker.end().expect(0)));
    let several = fresh.collect("several");
    let mut alone = suidao();
    alone.arg("refresh").arg(&one).args(["--requests", "100", "--proxy", &fresh.server.proxy()]).args(QUICK);
    run(alone).expect(0);

    let worth = |dir: &Path| visited(dir).keys().filter_map(|url| values.get(url)).sum::<f64>();
    let (own, other) = (worth(&several), worth(&one));
    assert!(own >= 0.95 * other, "{own} instead of {other}: {:#?} {:#?}", rounds(&several), rounds(&one));
    let round = rounds(&several);
    assert_eq!((round.len(), round[0].finished), (1, true), "{round:#?}");
    assert!((100..=100 + round[0].unanswered).contains(&round[0].requests), "{round:#?}");
    assert!(round[0].not_modified > 0 && round[0].text_changed > 0 && round[0].pages > 0, "{round:#?}");
    // More workers find it done; seeds let the crawl continue.
    fresh.worker("third").end().expect(0);
    assert_eq!(fresh.status()["end"]["Done"], "budget-spent", "{}", fresh.status());
}

#[test]
fn a_killed_worker_loses_no_visit_and_no_host_is_asked_too_soon() {
    const DELAY: f64 = 0.15;
    let Some(fresh) = Fresh::new(DELAY) else { return };
    fresh.web.set(4.0);
    let before = fresh.server.log().len();
    let files = fresh.path("files").join("begins");
    let (proxy, files) = (fresh.server.proxy(), files.to_str().unwrap().to_owned());
    let begins = ["--requests", "160", "-o", &files, "--worker", "begins", "--proxy", &proxy];
    let first = Running::start(fresh.refresh(&begins));
    let begun = Instant::now();
    while fresh.status()["end"] != Value::Null {
        assert!(begun.elapsed() < Duration::from_secs(60), "the round did not begin");
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut second = fresh.worker("second");
    fresh.until_visits(30);
    fails(fresh.refresh(&["--requests", "50"]), "at work");
    second.kill();
    first.end().expect(0);
    let collected = fresh.collect("collected");
    let round = rounds(&collected);
    assert_eq!((round.len(), round[0].finished), (1, true), "{round:#?}");
    assert!((160..=160 + round[0].unanswered).contains(&round[0].requests), "{round:#?}");
    let twice = visited(&collected).values().filter(|visits| **visits > 1).count();
    assert_eq!(twice, 0, "a visit was made twice");
    run({
        let mut check = suidao();
        check.args(["check", "crawl"]).arg(&collected);
        check
    })
    .expect(0);
    // A request follows the response to the one before, so delays can only be longer here.
    let mut last: BTreeMap<String, Instant> = BTreeMap::new();
    for request in fresh.server.log().into_iter().skip(before) {
        if let Some(last) = last.insert(request.host.clone(), request.at) {
            let gap = request.at.duration_since(last).as_secs_f64();
            assert!(gap >= DELAY * 0.99, "{} was asked after {gap} s", request.host);
        }
    }
}

#[test]
fn an_endless_refresh_goes_on_after_a_stop() {
    let Some(fresh) = Fresh::new(0.0) else { return };
    fresh.web.set(4.0);
    // A request each half a second.
    run(fresh.refresh(&["--watch", "172800"])).expect(0);
    let worker = fresh.worker("first");
    fresh.until_visits(4);
    run(fresh.command(&["cluster", "stop", "news"])).expect(0);
    worker.end().expect(0);
    let visits = fresh.visits();
    let resumed = run(fresh.refresh(&["--watch", "172800"])).expect(0);
    assert!(format!("{}{}", resumed.out, resumed.err).contains("Resumed"), "{}{}", resumed.out, resumed.err);
    let worker = fresh.worker("second");
    fresh.until_visits(visits + 3);
    worker.signal("INT");
    worker.end().expect(130);
    // Back to the crawl.
    run(fresh.command(&["cluster", "add", "news", "http://new.test/"])).expect(0);
    fresh.worker("first").end().expect(0);
    fails(fresh.refresh(&["--dry-run"]), "--dry-run is not possible");
}
