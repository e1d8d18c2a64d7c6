//! Freshness of a store by policy (`experiments::freshness`): 60 days of 100,000 generated pages, at three budgets.
//! Prints medians over seeds in Markdown.
//!
//! ```text
//! cargo bench --bench freshness -- --plots DIR
//! ```
//!
//! `SUIDAO_WEBS` (5) seeds; `SUIDAO_PAGES` (100000) pages; `--plots`: measures by day as SVG.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

use rayon::prelude::*;
use suidao::experiments::freshness::{FreshnessOutcome, MeasuredDays, SimulatedPages, VisitPolicy, simulate};
use suidao::messages::Lang;
use suidao::plot::{self, Along, CurveLine, Interval, LineStyle};

const DAYS: usize = 60;
/// Days before the measured ones.
const LEARNING: usize = 28;
/// Days in which a budget allows one visit to every page.
const ROUNDS: [u32; 3] = [30, 10, 3];
/// The one in the plots.
const MIDDLE: u32 = 10;
const AZAR: &str = "Azar, known rates";
const LEARNT: &str = "crawl value, learnt rates";

const POLICIES: [(&str, VisitPolicy); 5] = [
    ("uniform", VisitPolicy::Uniform),
    ("proportional, known rates", VisitPolicy::Proportional),
    ("Nutch, adaptive", VisitPolicy::Nutch),
    (AZAR, VisitPolicy::Azar),
    (LEARNT, VisitPolicy::CrawlValue),
];

struct Row {
    name: &'static str,
    outcomes: Vec<FreshnessOutcome>,
}

impl Row {
    fn windows(&self, from: usize, to: usize) -> Vec<MeasuredDays> {
        self.outcomes.iter().map(|outcome| outcome.window(from, to)).collect()
    }

    fn measured(&self) -> Vec<MeasuredDays> {
        self.windows(LEARNING, DAYS)
    }
}

fn main() {
    // `cargo test --benches` passes this flag.
    let arguments: Vec<String> = env::args().collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let plots = arguments.iter().position(|argument| argument == "--plots").and_then(|at| arguments.get(at + 1));
    let plots = plots.map(PathBuf::from);
    let number = |name: &str, usual: u32| env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (seeds, count) = (u64::from(number("SUIDAO_WEBS", 5)), number("SUIDAO_PAGES", 100_000));
    let begun = Instant::now();
    let webs: Vec<SimulatedPages> =
        (1..=seeds).into_par_iter().map(|seed| SimulatedPages::generate(seed, count, DAYS as u32)).collect();
    println!("{seeds} seeds, {count} pages, {DAYS} days; measured are days {} to {DAYS}.\n", LEARNING + 1);
    for round in ROUNDS {
        let budget = f64::from(count) / f64::from(round);
        let rows = run(&webs, &POLICIES, budget);
        println!("## A visit to every page in {round} days: {budget:.0} requests a day\n");
        table(&rows);
        if let Some(dir) = plots.as_ref().filter(|_| round == MIDDLE) {
            draw(&rows, dir);
        }
    }
    long(seeds);
    eprintln!("{:.0} s in all", begun.elapsed().as_secs_f64());
}

fn run(webs: &[SimulatedPages], policies: &[(&'static str, VisitPolicy)], budget: f64) -> Vec<Row> {
    let row = |&(name, policy): &(&'static str, VisitPolicy)| {
        let outcomes: Vec<FreshnessOutcome> = webs.iter().map(|pages| simulate(pages, policy, budget)).collect();
        Row { name, outcomes }
    };
    policies.par_iter().map(row).collect()
}

/// Whether relevant pages are ever forgotten: at the smallest budget, for longer.
fn long(seeds: u64) {
    let (count, days) = (20_000, 240);
    let webs: Vec<SimulatedPages> =
        (1..=seeds).into_par_iter().map(|seed| SimulatedPages::generate(seed, count, days)).collect();
    let budget = f64::from(count) / f64::from(ROUNDS[0]);
    println!("## {days} days, {count} pages, {budget:.0} requests a day: relevant pages\n");
    println!("| policy | gap: median | 99 % | longest | changed in the first half, never visited |");
    println!("|---|---|---|---|---|");
    let policies = [("uniform", VisitPolicy::Uniform), (AZAR, VisitPolicy::Azar), (LEARNT, VisitPolicy::CrawlValue)];
    for row in run(&webs, &policies, budget) {
        let gap = |of: fn(&FreshnessOutcome) -> f64| median(row.outcomes.iter().map(of));
        println!(
            "| {} | {:.1} | {:.1} | {:.1} | {:.2}% |",
            row.name,
            gap(|outcome| outcome.gap(0.5)),
            gap(|outcome| outcome.gap(0.99)),
            gap(|outcome| outcome.gap(1.0)),
            100.0 * gap(|outcome| outcome.starved())
        );
    }
    println!();
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { f64::midpoint(values[half - 1], values[half]) }
}

fn table(rows: &[Row]) {
    println!(
        "| policy | freshness by importance | of {AZAR} | freshness | age by importance | new links | by worth | delay | \
         requests a day | gap: median | 99 % | longest | starved |"
    );
    println!("|---|{}", "---|".repeat(12));
    let azar = rows.iter().find(|row| row.name == AZAR).map(Row::measured);
    for row in rows {
        let measured = row.measured();
        let of = |of: fn(&MeasuredDays) -> f64| median(measured.iter().map(of));
        let gap = |of: fn(&FreshnessOutcome) -> f64| median(row.outcomes.iter().map(of));
        let against = azar.as_ref().map(|azar| {
            median(measured.iter().zip(azar).map(|(row, azar)| row.weighted_freshness / azar.weighted_freshness))
        });
        println!(
            "| {} | {:.2}% | {} | {:.2}% | {:.2} | {:.1}% | {:.1}% | {:.2} | {:.0} | {:.1} | {:.1} | {:.1} | {:.2}% |",
            row.name,
            100.0 * of(|window| window.weighted_freshness),
            against.map_or("-".to_owned(), |share| format!("{:.1}%", 100.0 * share)),
            100.0 * of(|window| window.freshness),
            of(|window| window.weighted_age),
            100.0 * of(|window| window.accuracy),
            100.0 * of(|window| window.weighted_accuracy),
            of(|window| window.delay),
            of(|window| window.requests),
            gap(|outcome| outcome.gap(0.5)),
            gap(|outcome| outcome.gap(0.99)),
            gap(|outcome| outcome.gap(1.0)),
            100.0 * gap(|outcome| outcome.starved()),
        );
    }
    println!();
}

fn by_day(row: &Row, last: usize, of: fn(&MeasuredDays) -> f64) -> Vec<(usize, f64)> {
    (0..last).map(|day| (day + 1, median(row.windows(day, day + 1).iter().map(of)))).collect()
}

fn draw(rows: &[Row], dir: &Path) {
    type Measured = fn(&MeasuredDays) -> f64;
    // The last links are excluded: except on the busiest pages they are still undecided.
    let decided = DAYS - 10;
    let plots: [(&str, &str, bool, usize, Measured); 4] = [
        ("freshness-weighted.svg", "Fresh pages a day, by importance", true, DAYS, |window| window.weighted_freshness),
        ("freshness.svg", "Fresh pages a day", true, DAYS, |window| window.freshness),
        ("age-weighted.svg", "Age in days, by importance", false, DAYS, |window| window.weighted_age),
        ("links.svg", "New links caught, by the day of their appearance", true, decided, |window| window.accuracy),
    ];
    for (file, title, share, last, of) in plots {
        let lines: Vec<CurveLine> = rows
            .iter()
            .enumerate()
            .map(|(nth, row)| CurveLine {
                name: row.name,
                style: LineStyle::Nth(nth),
                points: by_day(row, last, of)
                    .into_iter()
                    .map(|(day, median)| (day, Interval { median, range: None }))
                    .collect(),
                highlighted: row.name == LEARNT,
            })
            .collect();
        let along = Along { label: "day", first: 1, last, lang: Lang::English };
        let text = plot::file(&plot::curves(&lines, title, share, along));
        let path = dir.join(file);
        let written = fs::create_dir_all(dir).and_then(|()| fs::write(&path, text));
        if let Err(error) = written {
            eprintln!("{}: {error}", path.display());
        }
    }
}
