//! What paper 002 (Liu, Zhang and Li 2018) claims of plans for listing pages, on generated ones (`world::Listing`):
//!
//! - A7 (figs. 2 to 5, table 6): its quadratic problem (MIQP) finds about what exhaustive search finds, much faster; maximum
//!   similarities from 1 down to 0.65 keep the accuracy and cut the time, 0.6 gives nothing;
//! - A8: the dynamic programme finds the most that any plan finds in training, and more than MIQP on unseen months.
//!
//! Every web is one page: two months of training, a snapshot a day, and a month that no method has seen. Accuracy is eq. (1),
//! freshness eq. (2). Medians of the webs. Tables in Markdown on the standard output; a claim that does not hold is told as such.
//!
//! ```text
//! cargo bench --bench snapshots
//! ```
//! `SUIDAO_WEBS` (40) pages of each kind.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock, and is no library

use std::collections::BTreeMap;
use std::env;
use std::time::Instant;

use rayon::prelude::*;
use suidao::revisit::snapshot::{
    Increment, Matrix, Measure, Method, Reading, Series, enumerate, local_search, plan, similarity_series, solve,
};
use suidao::world::{Arrivals, Listing};

/// Random plans of which the mean is told.
const RANDOM: u64 = 100;
/// Webs on which all plans are enumerated.
const ENUMERATED: u64 = 3;
const VISITS: [usize; 3] = [5, 8, 11];
/// The paper's best plan for 11 visits (table 5), days from 0.
const PRINTED: [usize; 11] = [0, 2, 5, 8, 12, 14, 18, 20, 24, 27, 29];
const ACCURATE: Method = Method::Dynamic { freshness: 0.0 };
const CREDIBLE: Method = Method::Credible { freshness: 0.0 };
const REPEATED: Method = Method::Repeated { freshness: 0.0 };

fn main() {
    // `cargo test --benches` runs benches with this flag: nothing is tested here.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let webs = env::var("SUIDAO_WEBS").ok().and_then(|webs| webs.parse().ok()).unwrap_or(40);
    let begun = Instant::now();
    println!("{webs} pages of each kind.\n");
    lives(webs);
    visits(webs);
    times();
    days(webs);
    similarities(webs);
    optimum();
    unseen(webs);
    repeated(webs);
    months(webs);
    freshness(webs);
    returning(webs);
    eprintln!("{:.0} s in all", begun.elapsed().as_secs_f64());
}

/// The kinds of pages, by name.
fn kinds() -> Vec<(&'static str, Listing)> {
    let printed = Listing::default();
    let of = |arrivals| Listing { arrivals, ..Listing::default() };
    vec![
        ("printed series, stays 4 days", printed.clone()),
        ("printed series, 2 days", Listing { life: 2.0, ..printed.clone() }),
        ("printed series, 12 days", Listing { life: 12.0, ..printed.clone() }),
        ("printed series, items come back", Listing { returning: 0.4, ..printed }),
        ("weekends, months of 28 days", Listing { days: 28, ..of(Arrivals::Weekly) }),
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

/// A value of each of so many webs of a kind.
fn of_webs<T: Send>(listing: &Listing, webs: u64, value: impl Fn(u64, &Listing) -> T + Sync) -> Vec<T> {
    (1..=webs).into_par_iter().map(|seed| value(seed, &Listing { seed, ..listing.clone() })).collect()
}

/// Accuracy in per cent of a method that learns from `training`, measured on `month`; of random plans the mean.
fn accuracy(training: &[Series], month: &Series, f: usize, method: Method, seed: u64) -> f64 {
    let seeds = if method == Method::Random { 0..RANDOM } else { seed..seed + 1 };
    let count = (seeds.end - seeds.start) as f64;
    seeds.map(|seed| 100.0 * Measure::of(month, &plan(training, f, method, seed)).accuracy).sum::<f64>() / count
}

fn row(name: &str, cells: impl IntoIterator<Item = String>) {
    println!("| {name} | {} |", cells.into_iter().collect::<Vec<_>>().join(" | "));
}

fn head(columns: &[&str]) {
    println!("| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
}

/// What the paper's own plan finds, by how long items stay.
fn lives(webs: u64) {
    println!("## The paper's plan for 11 visits, on pages by its printed series\n");
    head(&["items stay, days", "accuracy", "freshness", "of two days", "redundancy", "redundancy of 30 visits"]);
    for life in [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0] {
        let measured = of_webs(&Listing { life, ..Listing::default() }, webs, |_, listing| {
            let month = &listing.periods(3)[2];
            (Measure::of(month, &PRINTED), Measure::of(month, &(0..30).collect::<Vec<_>>()))
        });
        let cell =
            |of: fn(&(Measure, Measure)) -> f64| format!("{:.1}", 100.0 * median(measured.iter().map(of).collect()));
        row(
            &format!("{life}"),
            [
                cell(|(plan, _)| plan.accuracy),
                cell(|(plan, _)| plan.freshness),
                cell(|(plan, _)| plan.two_day_freshness),
                cell(|(plan, _)| plan.redundancy),
                cell(|(_, daily)| daily.redundancy),
            ],
        );
    }
    println!("\nPrinted: accuracy 79, freshness 42, of two days 73; redundancy 0.6 and 78.8.\n");
}

/// Figure 2.
fn visits(webs: u64) {
    println!("## A7: accuracy by visits, printed series, training / unseen month\n");
    head(&["f", "the most (exhaustive)", "MIQP", "uniform", "random", "least Q found, MIQP / local search"]);
    for f in 2..=12 {
        let cases = of_webs(&Listing::default(), webs, |seed, listing| {
            let months = listing.periods(3);
            let both = [Method::Exhaustive, Method::Miqp, Method::Uniform, Method::Random].map(|method| {
                let training = months[..2].iter().map(|month| accuracy(&months[..2], month, f, method, seed));
                (training.sum::<f64>() / 2.0, accuracy(&months[..2], &months[2], f, method, seed))
            });
            let matrix = matrix(&months[..2]);
            let [exact, local] =
                [solve(&matrix, f, seed), local_search(&matrix, f, 60, seed)].map(|plan| matrix.cost(&plan));
            (both, local <= exact + 1e-9)
        });
        let cells = (0..4).map(|method| {
            let of = |pick: fn(&(f64, f64)) -> f64| median(cases.iter().map(|case| pick(&case.0[method])).collect());
            format!("{:.1} / {:.1}", of(|both| both.0), of(|both| both.1))
        });
        let reached = cases.iter().filter(|case| case.1).count();
        row(&f.to_string(), cells.chain([format!("{webs} / {reached}")]));
    }
    println!();
}

fn matrix(training: &[Series]) -> Matrix {
    Matrix::chained(&training.iter().map(similarity_series).collect::<Vec<_>>())
}

/// The least Q by looking at every plan, which the paper's text on eq. (7) calls enumeration.
fn least_q(matrix: &Matrix, f: usize) -> f64 {
    fn look(matrix: &Matrix, from: usize, left: usize, cost: f64, adds: &[f64]) -> f64 {
        let mut best = f64::INFINITY;
        for stamp in from..=matrix.size() - left {
            let cost = cost + adds[stamp];
            if left == 1 {
                best = best.min(cost);
            } else {
                let adds: Vec<f64> =
                    adds.iter().enumerate().map(|(j, adds)| adds + 2.0 * matrix.at(stamp, j)).collect();
                best = best.min(look(matrix, stamp + 1, left - 1, cost, &adds));
            }
        }
        best
    }
    look(matrix, 0, f, 0.0, &vec![1.0; matrix.size()])
}

/// Figure 4.
fn times() {
    println!("## A7: milliseconds for a plan of 30 days, printed series, one thread, least of {ENUMERATED} pages\n");
    let names = [
        "all plans for the most items",
        "all plans for the least Q",
        "MIQP, branch and bound",
        "MIQP, local search",
        "dynamic programme",
    ];
    head(&[&["f", "plans"], &names[..], &["MIQP is the least Q", "DP is the most"]].concat());
    for f in 2..=12 {
        let mut timed = vec![Vec::new(); names.len()];
        let (mut same_q, mut same_found) = (0, 0);
        for seed in 1..=ENUMERATED {
            let training = &Listing { seed, ..Listing::default() }.periods(2);
            let mut time = |of: usize, begun: Instant| timed[of].push(1e3 * begun.elapsed().as_secs_f64());
            let begun = Instant::now();
            let most = enumerate(training, f);
            time(0, begun);
            let matrix = matrix(training);
            let begun = Instant::now();
            let least = least_q(&matrix, f);
            time(1, begun);
            let begun = Instant::now();
            let exact = plan(training, f, Method::Miqp, seed);
            time(2, begun);
            let begun = Instant::now();
            std::hint::black_box(local_search(&matrix, f, 60, seed));
            time(3, begun);
            let begun = Instant::now();
            let programme = plan(training, f, ACCURATE, seed);
            time(4, begun);
            same_q += u64::from((matrix.cost(&exact) - least).abs() < 1e-6);
            same_found += u64::from(most == programme);
        }
        let plans = (0..f as u64).fold(1, |plans, nth| plans * (30 - nth) / (nth + 1));
        let cells = timed.into_iter().map(|times| format!("{:.2}", times.into_iter().fold(f64::INFINITY, f64::min)));
        let same = [same_q, same_found].map(|same| format!("{same} of {ENUMERATED}"));
        row(&f.to_string(), [plans.to_string()].into_iter().chain(cells).chain(same));
    }
    println!();
}

/// On which days they come.
fn days(webs: u64) {
    println!(
        "## Visits on days without new items (7 and 8, 14 and 15, 21 and 22, 28 and 29), printed series, in per cent\n"
    );
    head(&["plan", "f = 5", "f = 8", "f = 11", "days of f = 5 on the first page"]);
    for (name, method) in [("MIQP", Method::Miqp), ("DP", ACCURATE)] {
        let plans = |f| of_webs(&Listing::default(), webs, |seed, listing| plan(&listing.periods(2), f, method, seed));
        let share = |f| {
            let visits = plans(f).concat();
            let free = visits.iter().filter(|stamp| matches!(**stamp % 7, 0 | 6) && **stamp > 0).count();
            format!("{:.1}", 100.0 * free as f64 / visits.len() as f64)
        };
        let first: Vec<String> = plans(5)[0].iter().map(|stamp| (stamp + 1).to_string()).collect();
        row(name, VISITS.map(share).into_iter().chain([first.join(", ")]));
    }
    println!();
}

/// Table 6.
fn similarities(webs: u64) {
    for (name, life) in [("4", 4.0), ("12", 12.0)] {
        println!("## A7: Algorithm 2 by the maximum similarity, f = 11, printed series, items stay {name} days\n");
        let of_reading = ["accuracy", "freshness", "given up", "ms"];
        let columns: Vec<String> =
            ["letter", "mended"].iter().flat_map(|reading| of_reading.map(|of| format!("{reading}: {of}"))).collect();
        head(&[&["δ", "\\|M\\|"], &columns.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
        for most_similar in [1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5] {
            let mut cells = Vec::new();
            for reading in [Reading::Letter, Reading::Mended] {
                let algorithm = Increment { visits: 11, most_similar, reading };
                // One after the other: they are timed.
                let cases: Vec<(f64, Option<Measure>, f64)> = (1..=webs)
                    .map(|seed| {
                        let months = Listing { seed, life, ..Listing::default() }.periods(3);
                        let begun = Instant::now();
                        let plan = algorithm.plan(&months[..2], seed);
                        let time = 1e3 * begun.elapsed().as_secs_f64();
                        let size = algorithm.retained(&months[..2]).len() as f64;
                        (size, plan.map(|plan| Measure::of(&months[2], &plan)), time)
                    })
                    .collect();
                let share = |of: fn(&Measure) -> f64| {
                    let values = cases.iter().map(|case| case.1.as_ref().map_or(0.0, of));
                    format!("{:.1}", 100.0 * median(values.collect()))
                };
                if cells.is_empty() {
                    cells.push(format!("{}", median(cases.iter().map(|case| case.0).collect())));
                }
                cells.extend([
                    share(|measure| measure.accuracy),
                    share(|measure| measure.freshness),
                    format!("{} of {webs}", cases.iter().filter(|case| case.1.is_none()).count()),
                    format!("{:.2}", median(cases.iter().map(|case| case.2).collect())),
                ]);
            }
            row(&format!("{most_similar}"), cells);
        }
        println!();
    }
}

/// A8, first half.
fn optimum() {
    println!("## A8: the dynamic programme against all plans, in training (f = 5 and 8, {ENUMERATED} pages each)\n");
    head(&["page", "same plan", "as many items", "items missed, at most"]);
    for (name, listing) in kinds() {
        let cases: Vec<(bool, f64)> = of_webs(&listing, ENUMERATED, |seed, listing| {
            let training = listing.periods(2);
            [5, 8].map(|f| {
                let (most, programme) = (enumerate(&training, f), plan(&training, f, ACCURATE, seed));
                (most == programme, 1.0 - found(&training, &programme) / found(&training, &most))
            })
        })
        .concat();
        let as_many = cases.iter().filter(|case| case.1 < 1e-9).count();
        row(
            name,
            [
                format!("{} of {}", cases.iter().filter(|case| case.0).count(), cases.len()),
                format!("{as_many} of {}", cases.len()),
                format!("{:.1} %", 100.0 * cases.iter().map(|case| case.1).fold(0.0, f64::max)),
            ],
        );
    }
    println!();
}

/// Items that a plan finds in all periods.
fn found(training: &[Series], plan: &[usize]) -> f64 {
    let of = |period: &Series| Measure::of(period, plan).accuracy * period.new_items().iter().sum::<usize>() as f64;
    training.iter().map(of).sum()
}

/// How often `one` is above, equal to, below `other`.
fn against(one: &[f64], other: &[f64]) -> String {
    let count = |of: fn(f64) -> bool| one.iter().zip(other).filter(|(one, other)| of(*one - *other)).count();
    format!("{} {} {}", count(|by| by > 1e-9), count(|by| by.abs() <= 1e-9), count(|by| by < -1e-9))
}

/// A table of methods on each kind of page by visits, with wins of the first (and of the second) over MIQP and uniform.
fn table(webs: u64, methods: &[(&str, Method)], value: impl Fn(u64, &Listing, usize, Method) -> f64 + Sync) {
    let names: Vec<&str> = methods.iter().map(|(name, _)| *name).collect();
    let wins = |of: usize| [1, 2].map(|other| format!("{} : {}", names[of], names[methods.len() - 1 - other]));
    let wins: Vec<String> = [wins(0), wins(1)].concat();
    head(&[&["page", "f"], &names[..], &wins.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
    for (name, listing) in kinds() {
        for f in VISITS {
            let cases = of_webs(&listing, webs, |seed, listing| {
                methods.iter().map(|(_, method)| value(seed, listing, f, *method)).collect::<Vec<f64>>()
            });
            let column = |nth: usize| cases.iter().map(|case| case[nth]).collect::<Vec<f64>>();
            let cells = (0..methods.len()).map(|nth| format!("{:.1}", median(column(nth))));
            let wins = [0, 1]
                .into_iter()
                .flat_map(|of| [1, 2].map(|other| against(&column(of), &column(methods.len() - 1 - other))));
            row(name, [f.to_string()].into_iter().chain(cells).chain(wins));
        }
    }
    println!();
}

/// A8, second half.
fn unseen(webs: u64) {
    println!("## A8: accuracy on an unseen month, counted as in the paper (wins, ties, losses by page)\n");
    let methods = [
        ("DP", ACCURATE),
        ("credible", CREDIBLE),
        ("MIQP", Method::Miqp),
        ("uniform", Method::Uniform),
        ("random", Method::Random),
    ];
    table(webs, &methods, |seed, listing, f, method| {
        let months = listing.periods(3);
        accuracy(&months[..2], &months[2], f, method, seed)
    });
}

/// What plans find when they are repeated, of the items that appear in the second of three unseen months.
fn repeated(webs: u64) {
    println!("## The same plans repeated month after month: share of a month's new items that are ever found\n");
    let methods = [
        ("repeated", REPEATED),
        ("DP", ACCURATE),
        ("credible", CREDIBLE),
        ("MIQP", Method::Miqp),
        ("uniform", Method::Uniform),
        ("random", Method::Random),
    ];
    table(webs, &methods, |seed, listing, f, method| {
        let months = listing.periods(5);
        let of_plan = |plan: &[usize]| {
            let mut first = BTreeMap::new();
            let mut shown = Vec::new();
            for day in 0..3 * listing.days {
                let items = months[2 + day / listing.days].shown(day % listing.days);
                let counted = |item: &u32| *first.entry(*item).or_insert(day) / listing.days == 1;
                shown.push(items.iter().copied().filter(counted).collect());
            }
            let visits: Vec<usize> =
                (0..3).flat_map(|month| plan.iter().map(move |stamp| month * listing.days + stamp)).collect();
            100.0 * Measure::of(&Series::new(shown), &visits).accuracy
        };
        let seeds = if method == Method::Random { 0..20 } else { seed..seed + 1 };
        let count = (seeds.end - seeds.start) as f64;
        seeds.map(|seed| of_plan(&plan(&months[..2], f, method, seed))).sum::<f64>() / count
    });
}

/// How much training it takes.
fn months(webs: u64) {
    println!("## Accuracy on an unseen month by months of training, f = 8: DP / credible / MIQP (uniform)\n");
    let trained = [1, 2, 4, 8];
    head(&["page", "1", "2", "4", "8"]);
    for (name, listing) in kinds() {
        let cells = trained.map(|count| {
            let cases = of_webs(&listing, webs, |seed, listing| {
                let months = listing.periods(9);
                [ACCURATE, CREDIBLE, Method::Miqp, Method::Uniform]
                    .map(|method| accuracy(&months[8 - count..8], &months[8], 8, method, seed))
            });
            let of = |nth: usize| median(cases.iter().map(|case| case[nth]).collect());
            format!("{:.1} / {:.1} / {:.1} ({:.1})", of(0), of(1), of(2), of(3))
        });
        row(name, cells);
    }
    println!();
}

/// What a weight on freshness buys.
fn freshness(webs: u64) {
    println!("## Weight on freshness, printed series, unseen month: accuracy / freshness / freshness of two days\n");
    head(&["plan", "f = 5", "f = 8", "f = 11"]);
    let weights = [0.0, 0.25, 0.5, 1.0, 2.0, 8.0];
    let methods = weights.map(|freshness| (format!("DP, λ = {freshness}"), Method::Dynamic { freshness }));
    for (name, method) in methods.into_iter().chain([("MIQP".to_owned(), Method::Miqp)]) {
        let cells = VISITS.map(|f| {
            let cases = of_webs(&Listing::default(), webs, |seed, listing| {
                let months = listing.periods(3);
                Measure::of(&months[2], &plan(&months[..2], f, method, seed))
            });
            let of = |share: fn(&Measure) -> f64| 100.0 * median(cases.iter().map(share).collect());
            let [accuracy, one, two] = [of(|m| m.accuracy), of(|m| m.freshness), of(|m| m.two_day_freshness)];
            format!("{accuracy:.1} / {one:.1} / {two:.1}")
        });
        row(&name, cells);
    }
    println!();
}

/// Where the programme is not exact.
fn returning(webs: u64) {
    println!("## Items that come back: training, items missed by DP of the most / unseen month, exhaustive minus DP\n");
    head(&["how likely to come back", "f = 5", "f = 8", "f = 11"]);
    for returning in [0.0, 0.2, 0.4, 0.6, 0.8] {
        let cells = VISITS.map(|f| {
            let cases = of_webs(&Listing { returning, ..Listing::default() }, webs, |seed, listing| {
                let months = listing.periods(3);
                let [most, programme] =
                    [Method::Exhaustive, ACCURATE].map(|method| plan(&months[..2], f, method, seed));
                let missed = 1.0 - found(&months[..2], &programme) / found(&months[..2], &most);
                let unseen = [&most, &programme].map(|plan| Measure::of(&months[2], plan).accuracy);
                (100.0 * missed, 100.0 * (unseen[0] - unseen[1]))
            });
            let of = |pick: fn(&(f64, f64)) -> f64| cases.iter().map(pick).collect::<Vec<f64>>();
            let most = of(|case| case.0).into_iter().fold(0.0, f64::max);
            format!("{:.1} % (at most {most:.1}) / {:+.1}", median(of(|case| case.0)), median(of(|case| case.1)))
        });
        row(&format!("{returning}"), cells);
    }
}
