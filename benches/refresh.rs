//! Refreshing at scale: planning a round, and a visit of an endless refresh, for 10^4 to 10^6 pages. Prints times.
//! Single runs, because a sampling harness would take hours.
//!
//! ```text
//! cargo bench --bench refresh
//! ```
//!
//! `SUIDAO_PAGES` (1000000): maximum pages.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

mod process;

use rustc_hash::FxHashMap;
use suidao::model::{HostId, UrlId};
use suidao::revisit::plan::at_once;
use suidao::revisit::{ChangeObservations, Choice, VisitValue, plan};
use suidao::seeded_rng::SeededRng;

const HOSTS: u32 = 10_000;

fn main() {
    // `cargo test --benches` passes this flag.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let most = std::env::var("SUIDAO_PAGES").ok().and_then(|pages| pages.parse().ok()).unwrap_or(1_000_000);
    let sizes = || [10_000, 100_000, 1_000_000].into_iter().filter(move |&pages| pages <= most);
    println!("change rates and visit_value, a page:");
    learning();
    println!("plan of a round of a tenth of the pages:");
    for pages in sizes() {
        let [free, capped] = [None, Some(50)].map(|cap| timed(|| planned(pages, pages as usize / 10, cap)));
        println!("  {pages:>9} pages: {} ms; at most 50 of each of {HOSTS} hosts {} ms", millis(free), millis(capped));
    }
    println!("visit of an endless refresh:");
    for pages in sizes() {
        let most = at_once(pages as usize);
        let [free, capped] = [None, Some(50)].map(|cap| timed(|| planned(pages, most, cap)));
        let share = |seconds: f64| format!("{:.0}", seconds * 1e6 / most as f64);
        println!(
            "  {pages:>9} pages, {most} at once: {} us a visit, longest plan {} ms; at most 50 a host and day {} us",
            share(free),
            millis(free),
            share(capped)
        );
    }
}

/// Importance 0.03 to 1, changes once in 100 days to ten times a day; one page in 20 is a listing, one in four
/// protected from starvation.
fn visit_value(page: u32) -> VisitValue {
    let at = 2 * u64::from(page);
    let (importance, rate) =
        (10_f64.powf(-1.5 * SeededRng::at(at).unit()), 10_f64.powf(3.0 * SeededRng::at(at + 1).unit() - 2.0));
    VisitValue {
        importance,
        rate,
        new_link_value: if page.is_multiple_of(20) { rate * importance } else { 0.0 },
        false_signal_probability: 1.0,
        has_minimum: page.is_multiple_of(4),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // below HOSTS
fn host(page: u32) -> u32 {
    // A few large hosts, many small ones.
    (SeededRng::at(u64::from(page) + 7_000_000_000).unit().powi(3) * f64::from(HOSTS)) as u32
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
                changes.observe(
                    0.1 + 9.0 * SeededRng::at(page * 20 + visit).unit(),
                    SeededRng::at(page + visit).unit() < 0.5,
                )
            });
            changes
        })
        .collect();
    let rate = timed(|| learnt.iter().filter(|changes| changes.rate(30.0) > 1.0).count());
    let pages: Vec<VisitValue> = (0..10_000).map(visit_value).collect();
    let value = timed(|| pages.iter().filter(|page| page.value(3.0) > 1.0).count());
    let nanos = |seconds: f64| seconds * 1e9 / 10_000.0;
    let bytes = size_of::<ChangeObservations>();
    println!("  rate from 20 visits {:.0} ns, {bytes} bytes; value {:.0} ns", nanos(rate), nanos(value));
}

fn planned(pages: u32, most: usize, per_host: Option<usize>) -> usize {
    let choice = |page| Choice {
        page: UrlId(page),
        host: HostId(host(page)),
        visit_value: visit_value(page),
        last: -10.0 * SeededRng::at(page.into()).unit(),
    };
    plan((0..pages).map(choice), 0.0, most, per_host, &FxHashMap::default()).len()
}
