//! Table 7 and figure 6 of paper 002 (Liu, Zhang, Li 2018) on a generated web that changes, with each factor separate:
//! fewer visits, skipping known pages, conditional requests, parallelism. Prints tables in Markdown.
//!
//! The paper compares a serial crawl of everything every day with a parallel crawl of what is new on 11 days of 30,
//! which is 167 times as fast: one number for three factors. Here requests are slowed to `SUIDAO_LATENCY` and
//! `SUIDAO_BANDWIDTH`; other work takes its real time.
//!
//! ```text
//! cargo bench --bench table7
//! ```
//!
//! Options: `SUIDAO_HOSTS` (18), `SUIDAO_LATENCY` (5, milliseconds a request), `SUIDAO_BANDWIDTH` (1,000,000, bytes a
//! second).

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock, waits, and is not a library

use std::env;
use std::thread;
use std::time::{Duration, Instant};

use suidao::experiments::table7::{Collection, LevelCounts, RevisitRule, Stages};
use suidao::model::{CrawlUrl, Failure, Fetched};
use suidao::replay::Web;
use suidao::world::{ChangingSpec, ChangingWeb};

const MONTH: u32 = 30;
/// The paper's plan of 11 visits (table 5), by its mixed-integer quadratic problem.
const PLAN: [u32; 11] = [1, 3, 6, 9, 13, 15, 19, 21, 25, 28, 30];
const WORKERS: [usize; 4] = [1, 2, 4, 8];
/// Links from the listing pages.
const DEPTH: u32 = 1;

/// A web with simulated latency and bandwidth.
struct Far<'a> {
    web: &'a ChangingWeb,
    latency: Duration,
    /// Bytes a second.
    bandwidth: f64,
}

impl Web for Far<'_> {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        self.get_with(url, &[])
    }

    fn get_with(&self, url: &CrawlUrl, fields: &[(String, String)]) -> Result<Fetched, Failure> {
        let answer = self.web.get_with(url, fields);
        let bytes = answer.as_ref().map_or(0, |answer| answer.body.len());
        if !self.latency.is_zero() {
            thread::sleep(self.latency + Duration::from_secs_f64(bytes as f64 / self.bandwidth));
        }
        answer
    }
}

fn number(name: &str, default: u32) -> u32 {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

struct Options {
    latency: Duration,
    bandwidth: f64,
}

#[derive(Clone)]
struct Way {
    name: String,
    days: Vec<u32>,
    known: RevisitRule,
    workers: usize,
    partitions: usize,
}

impl Way {
    fn new(name: &str, planned: bool, left: bool, conditional: bool, workers: usize) -> Self {
        let days = if planned { PLAN.to_vec() } else { (1..=MONTH).collect() };
        // As in the paper: as many partitions as workers.
        Self { name: name.to_owned(), days, known: RevisitRule { left, conditional }, workers, partitions: workers }
    }
}

struct Month {
    tally: LevelCounts,
    seconds: f64,
}

fn month(spec: ChangingSpec, way: &Way, options: &Options) -> Month {
    let web = ChangingWeb::new(spec, 1);
    let stages = Stages::new(way.workers, way.partitions).expect("there are threads");
    let (mut collection, mut tally, mut seconds) = (Collection::default(), LevelCounts::default(), 0.0);
    for day in &way.days {
        web.set(f64::from(*day));
        let far = Far { web: &web, latency: options.latency, bandwidth: options.bandwidth };
        let listings = web.listings();
        let begun = Instant::now();
        stages.visit(&far, &listings, DEPTH, way.known, &mut collection, &mut tally);
        seconds += begun.elapsed().as_secs_f64();
    }
    Month { tally, seconds }
}

fn table(spec: ChangingSpec, ways: &[Way], options: &Options) {
    println!(
        "| crawler | visits | workers | requests | pages | 304 | redundant | new pages | of those of every day | MB | seconds | times as fast |"
    );
    println!("|---|{}", "---|".repeat(11));
    let mut first: Option<Month> = None;
    for way in ways {
        let month = month(spec, way, options);
        let LevelCounts { requests, downloaded, redundant, not_modified, new, bytes } = month.tally;
        let base = first.as_ref().unwrap_or(&month);
        println!(
            "| {} | {} | {} | {requests} | {downloaded} | {not_modified} | {:.1}% | {new} | {:.1}% | {:.1} | {:.1} | {:.1} |",
            way.name,
            way.days.len(),
            way.workers,
            100.0 * redundant as f64 / downloaded as f64,
            100.0 * new as f64 / base.tally.new as f64,
            bytes as f64 / 1e6,
            month.seconds,
            base.seconds / month.seconds
        );
        first.get_or_insert(month);
    }
    println!();
}

fn main() {
    // `cargo test --benches` passes this flag.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let options = Options {
        latency: Duration::from_millis(number("SUIDAO_LATENCY", 5).into()),
        bandwidth: f64::from(number("SUIDAO_BANDWIDTH", 1_000_000)),
    };
    let hosts = number("SUIDAO_HOSTS", 18) as usize;
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let begun = Instant::now();
    println!(
        "A request takes {} ms and its bytes at {:.1} MB/s; {cores} cores.\n",
        options.latency.as_millis(),
        options.bandwidth / 1e6
    );
    let spec = ChangingSpec {
        hosts,
        sections: 2,
        initial: 20,
        listed: 10,
        new_articles: [0.3, 3.0],
        ..ChangingSpec::default()
    };
    println!("## Table 7: a month of {hosts} hosts\n");
    table(spec, &ways(), &options);
    println!("## The same on one host\n");
    let one = |name, planned, left, conditional, workers| Way::new(name, planned, left, conditional, workers);
    let ways = [
        one("serial, everything", false, false, false, 1),
        one("parallelism only", false, false, false, 8),
        one("conditional requests only", false, false, true, 1),
        one("serial incremental", true, true, false, 1),
        one("all together", true, true, true, 8),
    ];
    table(ChangingSpec { hosts: 1, ..spec }, &ways, &options);
    println!("## Without a network: what parsing and deduplication cost\n");
    let ways = WORKERS.map(|workers| Way::new("everything", false, false, false, workers));
    table(spec, &ways, &Options { latency: Duration::ZERO, ..options });
    figure_6(&options);
    eprintln!("{:.0} s in all", begun.elapsed().as_secs_f64());
}

fn ways() -> Vec<Way> {
    let mut ways = vec![
        Way::new("serial, everything (the paper's serial)", false, false, false, 1),
        Way::new("fewer visits only", true, false, false, 1),
        Way::new("known pages left alone only", false, true, false, 1),
        Way::new("conditional requests only", false, false, true, 1),
    ];
    ways.extend(WORKERS[1..].iter().map(|workers| Way::new("parallelism only", false, false, false, *workers)));
    let many = Way::new("parallelism only, 64 partitions", false, false, false, 8);
    ways.push(Way { partitions: 64, ..many });
    ways.push(Way::new("fewer visits, known pages left alone (the paper's serial incremental)", true, true, false, 1));
    ways.push(Way::new("fewer visits, conditional requests", true, false, true, 1));
    ways.extend(WORKERS[1..].iter().map(|workers| {
        Way::new(
            "fewer visits, known pages left alone, parallel (the paper's parallel incremental)",
            true,
            true,
            false,
            *workers,
        )
    }));
    ways.push(Way::new("all together", true, true, true, 8));
    ways
}

fn figure_6(options: &Options) {
    println!("## Figure 6: seconds of one crawl of everything, by pages\n");
    let names = WORKERS.map(|workers| if workers == 1 { "1 worker".to_owned() } else { format!("{workers} workers") });
    println!("| pages | {} | 8 workers, 64 partitions |", names.join(" | "));
    println!("|---|{}", "---|".repeat(WORKERS.len() + 1));
    for pages in [500, 1_000, 2_000, 4_000] {
        let (hosts, sections) = (20, 2);
        let each = pages / (hosts * sections) as u32;
        let spec = ChangingSpec { hosts, sections, initial: each, listed: each, ..ChangingSpec::default() };
        let mut cells = Vec::new();
        let mut had = 0;
        for (workers, partitions) in WORKERS.map(|workers| (workers, workers)).into_iter().chain([(8, 64)]) {
            let way = Way { days: vec![0], partitions, ..Way::new("", false, false, false, workers) };
            let month = month(spec, &way, options);
            had = month.tally.downloaded;
            cells.push(format!("{:.2}", month.seconds));
        }
        println!("| {had} | {} |", cells.join(" | "));
    }
    println!();
}
