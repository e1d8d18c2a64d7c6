//! Claims of Liu, Zhang and Li 2018 about plans for listing pages, on generated ones
//! (`experiments::plans`):
//!
//! - A7 (figs. 2 to 5, table 6): its quadratic problem (MIQP) finds about as much as exhaustive search; maximum
//!   similarities from 1 down to 0.65 keep the accuracy, 0.6 does not help. The dynamic program replaces exhaustive
//!   search, and is equal to it if items are shown on consecutive days;
//! - A8: the dynamic program finds more than MIQP on unseen months.
//!
//! Every web is one page: two months of training with a snapshot a day, and an unseen month. Accuracy is eq. (1),
//! freshness eq. (2). Prints medians of the webs in Markdown and marks claims that do not hold.
//!
//! ```text
//! cargo bench --bench snapshots
//! ```
//!
//! `SUIDAO_WEBS` (40) pages of each kind.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

use std::env;
use std::time::Instant;

use rayon::prelude::*;
use suidao::experiments::plans::{Arrivals, PlanMeasure, SimulatedListing, SnapshotPlan, increment, plan, retained};

const VISITS: [usize; 3] = [5, 8, 11];
/// The paper's best plan for 11 visits (table 5), days from 0.
const PRINTED: [usize; 11] = [0, 2, 5, 8, 12, 14, 18, 20, 24, 27, 29];

fn main() {
    // `cargo test --benches` passes this flag.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let webs = env::var("SUIDAO_WEBS").ok().and_then(|webs| webs.parse().ok()).unwrap_or(40);
    let begun = Instant::now();
    println!("{webs} pages of each kind.\n");
    lives(webs);
    similarities(webs);
    unseen(webs);
    eprintln!("{:.0} s in all", begun.elapsed().as_secs_f64());
}

fn kinds() -> [(&'static str, SimulatedListing); 8] {
    let printed = SimulatedListing::default();
    let of = |arrivals| SimulatedListing { arrivals, ..SimulatedListing::default() };
    [
        ("printed series, stays 4 days", printed.clone()),
        ("printed series, 2 days", SimulatedListing { life: 2.0, ..printed.clone() }),
        ("printed series, 12 days", SimulatedListing { life: 12.0, ..printed.clone() }),
        ("printed series, items reappear", SimulatedListing { returning: 0.4, ..printed }),
        ("weekends, months of 28 days", SimulatedListing { days: 28, ..of(Arrivals::Weekly) }),
        ("weekends, months of 30 days", of(Arrivals::Weekly)),
        ("bursty", of(Arrivals::Bursty)),
        ("smooth", of(Arrivals::Smooth)),
    ]
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    if values.is_empty() {
        return f64::NAN;
    }
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

fn of_webs<T: Send>(
    listing: &SimulatedListing,
    webs: u64,
    value: impl Fn(u64, &SimulatedListing) -> T + Sync,
) -> Vec<T> {
    (1..=webs).into_par_iter().map(|seed| value(seed, &SimulatedListing { seed, ..listing.clone() })).collect()
}

/// Medians in per cent of measures of plans.
fn cells<const N: usize>(measured: &[PlanMeasure], of: [fn(&PlanMeasure) -> f64; N]) -> [String; N] {
    of.map(|of| format!("{:.1}", 100.0 * median(measured.iter().map(of).collect())))
}

fn row(name: &str, cells: impl IntoIterator<Item = String>) {
    println!("| {name} | {} |", cells.into_iter().collect::<Vec<_>>().join(" | "));
}

fn head(columns: &[&str]) {
    println!("| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
}

/// Results of the paper's own plan, by the lifetime of items.
fn lives(webs: u64) {
    println!("## The paper's plan for 11 visits, on pages by its printed series\n");
    head(&["items stay, days", "accuracy", "freshness", "of two days", "redundancy"]);
    for life in [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0] {
        let measured = of_webs(&SimulatedListing { life, ..SimulatedListing::default() }, webs, |_, listing| {
            PlanMeasure::of(&listing.periods(3)[2], &PRINTED)
        });
        row(
            &life.to_string(),
            cells(&measured, [|m| m.accuracy, |m| m.freshness, |m| m.two_day_freshness, |m| m.redundancy]),
        );
    }
    println!("\nPrinted: accuracy 79, freshness 42, of two days 73; redundancy 0.6.\n");
}

/// Table 6.
fn similarities(webs: u64) {
    for life in [4.0, 12.0] {
        println!("## A7: Algorithm 2 by the maximum similarity, f = 11, printed series, items stay {life} days\n");
        head(&["δ", "days left", "accuracy", "freshness"]);
        for most_similar in [1.0, 0.9, 0.8, 0.7, 0.65, 0.6, 0.55, 0.5] {
            let cases = of_webs(&SimulatedListing { life, ..SimulatedListing::default() }, webs, |seed, listing| {
                let months = listing.periods(3);
                let plan = increment(&months[..2], 11, most_similar, seed);
                (retained(&months[..2], most_similar).len() as f64, PlanMeasure::of(&months[2], &plan))
            });
            let (left, measured): (Vec<f64>, Vec<PlanMeasure>) = cases.into_iter().unzip();
            let left = median(left).to_string();
            row(
                &most_similar.to_string(),
                [left].into_iter().chain(cells(&measured, [|m| m.accuracy, |m| m.freshness])),
            );
        }
        println!();
    }
}

/// How often `one` is above, equal to, below `other`.
fn against(one: &[f64], other: &[f64]) -> String {
    let count = |of: fn(f64) -> bool| one.iter().zip(other).filter(|(one, other)| of(*one - *other)).count();
    format!("{} {} {}", count(|by| by > 1e-9), count(|by| by.abs() <= 1e-9), count(|by| by < -1e-9))
}

/// A8, and figure 2.
fn unseen(webs: u64) {
    println!("## A8: accuracy on an unseen month, counted as in the paper (wins, ties, losses by page)\n");
    head(&["page", "f", "DP", "MIQP", "uniform", "DP : MIQP", "DP : uniform"]);
    for (name, listing) in kinds() {
        for f in VISITS {
            let cases = of_webs(&listing, webs, |seed, listing| {
                let months = listing.periods(3);
                [SnapshotPlan::Dynamic, SnapshotPlan::Miqp, SnapshotPlan::Uniform]
                    .map(|method| 100.0 * PlanMeasure::of(&months[2], &plan(&months[..2], f, method, seed)).accuracy)
            });
            let [dp, miqp, uniform] = [0, 1, 2].map(|nth| cases.iter().map(|case| case[nth]).collect::<Vec<f64>>());
            let wins = [against(&dp, &miqp), against(&dp, &uniform)];
            let medians = [dp, miqp, uniform].map(|column| format!("{:.1}", median(column)));
            row(name, [f.to_string()].into_iter().chain(medians).chain(wins));
        }
    }
    println!();
}
