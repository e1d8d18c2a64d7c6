//! Refreshing at scale: planning a round, and a decision of the running policy, for 10^4 to 10^7 pages. Prints times,
//! their ratios, and bytes per page. Single runs, because a sampling harness would take hours.
//!
//! ```text
//! cargo bench --bench refresh
//! ```
//!
//! `SUIDAO_PAGES` (10000000): maximum pages. The queue for 10^7 pages takes about 2 GB.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

mod process;

use std::time::Instant;

use suidao::draw::Draw;
use suidao::model::{HostId, UrlId};
use suidao::revisit::{ChangeObservations, Choice, RevisitQueue, VisitValue, plan};

const HOSTS: u32 = 10_000;

fn main() {
    // `cargo test --benches` passes this flag.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let most = std::env::var("SUIDAO_PAGES").ok().and_then(|pages| pages.parse().ok()).unwrap_or(10_000_000);
    let sizes = || [10_000, 100_000, 1_000_000, 10_000_000].into_iter().filter(move |&pages| pages <= most);
    println!("change rates and worth, a page:");
    learning();
    println!("plan of a round of a tenth of the pages:");
    for pages in sizes().filter(|&pages| pages <= 1_000_000) {
        let free = timed(|| planned(pages, None));
        let held = timed(|| planned(pages, Some(50)));
        println!("  {pages:>9} pages: {} ms; at most 50 of each of {HOSTS} hosts {} ms", millis(free), millis(held));
    }
    println!("revisit queue, a tenth of the pages visited a day, take + put after ten days:");
    for (per_host, largest) in [(None, 10_000_000), (Some(200.0), 1_000_000)] {
        let mut least = None;
        for pages in sizes().filter(|&pages| pages <= largest) {
            let Run { decision, longest, begun, bytes } = revisit_queue(pages, per_host);
            let least = *least.get_or_insert(decision);
            let limit = per_host.map_or(String::new(), |cap| format!(", at most {cap} a host and day"));
            println!(
                "  {pages:>9} pages{limit}: {decision:.0} ns, {:.1} times the first; longest {:.1} ms; the first ten days \
                 {begun:.0} ns a decision; {bytes} bytes a page",
                decision / least,
                longest * 1e3
            );
        }
    }
}

/// Importance 0.03 to 1, changes once in 100 days to ten times a day; one page in 20 is a listing, one in four
/// protected from starvation.
fn worth(page: u32) -> VisitValue {
    let at = 2 * u64::from(page);
    let (importance, rate) =
        (10_f64.powf(-1.5 * Draw::at(at).unit()), 10_f64.powf(3.0 * Draw::at(at + 1).unit() - 2.0));
    VisitValue {
        importance,
        rate,
        yields: if page.is_multiple_of(20) { rate * importance } else { 0.0 },
        doubt: 1.0,
        spared: page.is_multiple_of(4),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below HOSTS
fn host(page: u32) -> u32 {
    // A few large hosts, many small ones.
    (Draw::at(u64::from(page) + 7_000_000_000).unit().powi(3) * f64::from(HOSTS)) as u32
}

/// Mean processor seconds of a run over half a second of runs; other programs do not count.
fn timed(work: impl Fn() -> usize) -> f64 {
    let begun = process::cpu_seconds();
    let mut runs = 0.0;
    loop {
        std::hint::black_box(work());
        runs += 1.0;
        let spent = process::cpu_seconds() - begun;
        if spent >= 0.5 {
            return spent / runs;
        }
    }
}

fn millis(seconds: f64) -> String {
    format!("{:.1}", seconds * 1e3)
}

fn learning() {
    let learnt: Vec<ChangeObservations> = (0..10_000)
        .map(|page| {
            let mut changes = ChangeObservations::default();
            (0..20).for_each(|visit| {
                changes.observe(0.1 + 9.0 * Draw::at(page * 20 + visit).unit(), Draw::at(page + visit).unit() < 0.5)
            });
            changes
        })
        .collect();
    let rate = timed(|| learnt.iter().filter(|changes| changes.rate(30.0) > 1.0).count());
    let pages: Vec<VisitValue> = (0..10_000).map(worth).collect();
    let value = timed(|| pages.iter().filter(|page| page.value(3.0) > 1.0).count());
    let nanos = |seconds: f64| seconds * 1e9 / 10_000.0;
    let bytes = size_of::<ChangeObservations>();
    println!("  rate from 20 visits {:.0} ns, {bytes} bytes; value {:.0} ns", nanos(rate), nanos(value));
}

fn planned(pages: u32, per_host: Option<usize>) -> usize {
    let choice = |page| Choice {
        page: UrlId(page),
        host: HostId(host(page)),
        worth: worth(page),
        last: -10.0 * Draw::at(page.into()).unit(),
    };
    plan((0..pages).map(choice), 0.0, pages as usize / 10, per_host).len()
}

struct Run {
    /// Processor nanoseconds of a decision: a take and a put.
    decision: f64,
    /// The longest one, in seconds of real time.
    longest: f64,
    /// Nanoseconds of a decision in the first ten days.
    begun: f64,
    bytes: u64,
}

fn revisit_queue(pages: u32, per_host: Option<f64>) -> Run {
    let before = process::resident();
    let mut queue = RevisitQueue::new(per_host);
    for page in 0..pages {
        queue.put(UrlId(page), HostId(host(page)), worth(page), -10.0 * Draw::at(page.into()).unit());
    }
    let a_day = pages / 10;
    let mut longest = 0.0_f64;
    let mut turns = |from: u32, count: u32| {
        let begun = process::cpu_seconds();
        longest = 0.0;
        for turn in from..from + count {
            let one = Instant::now();
            let now = f64::from(turn) / f64::from(a_day);
            if let Some((page, _)) = queue.take(now) {
                queue.put(page, HostId(host(page.0)), worth(page.0), now);
            }
            longest = longest.max(one.elapsed().as_secs_f64());
        }
        (process::cpu_seconds() - begun) * 1e9 / f64::from(count)
    };
    let begun = turns(0, 10 * a_day);
    let decision = turns(10 * a_day, (2 * a_day).max(500_000));
    Run { decision, longest, begun, bytes: process::resident().saturating_sub(before) / u64::from(pages) }
}
