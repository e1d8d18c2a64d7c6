//! Claims of Du, Ma 2010 about following a forum, on generated ones (`world::forum::ActivitySpec`):
//!
//! - A4 (fig. 5): in 31 days of 6-hour cycles, BIC finds at least 99 % of changes with hardly any other fetches; EIC is
//!   lower in both;
//! - A5 (fig. 6, table 2): BRA has shorter delays than ERA, by up to 42 %;
//! - A6: the square-root schedule never has longer delays than BRA.
//!
//! 60 boards, 420 threads a day; the paper's three windows of ten days in 2009, each planned from the 20 days before
//! it; 4 to 11 visits per board and day; coefficients of variation of the boards' rates of 0.64, 0.85 and 1.05; both
//! importances, both horizons. Mean delays are by eq. (3): a reply counts half. Prints tables in Markdown and marks
//! claims that do not hold.
//!
//! ```text
//! cargo bench --bench forum_schedule -- --plots DIR
//! ```
//!
//! `SUIDAO_WEBS` (20) forums of each kind; `--plots`: figures 5 and 6 as SVG.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

use rayon::prelude::*;
use suidao::experiments::forum::{
    BoardPosts, BoardSkin, ChangeDetector, CrawlDay, ForumDays, Times, cycles, statistics,
};
use suidao::forum::schedule::{BoardDemand, BoardStatistics, Horizon, Importance, Planner, ScheduleMethod};
use suidao::messages::Lang;
use suidao::plot::{self, Along, CurveLine, Interval, LineStyle};
use suidao::world::forum::{Activity, ActivitySpec};

const DAY: i64 = 86_400;
/// Midnight of 1 March 2009 in China.
const MARCH: i64 = 1_235_836_800;
/// First days of the windows, counted from there, and their names.
const WINDOWS: [(i64, &str); 3] = [(35, "5 to 15 April"), (70, "10 to 20 May"), (106, "15 to 25 June")];
const CVS: [f64; 3] = [0.64, 0.85, 1.05];
/// The one in the tables: the 42 % of A5 follow from it.
const CV: f64 = 0.85;
const BOARDS: usize = 60;
const VISITS: std::ops::RangeInclusive<u32> = 4..=11;
const HORIZONS: [Horizon; 2] = [Horizon::Week, Horizon::Day];
const IMPORTANCES: [Importance; 2] = [Importance::Weight, Importance::Equal];

/// Schedules in the tables: those of `ScheduleMethod::ALL` and one more.
const NAMES: [&str; 7] = ["ERA", "WRA", "LRA", "BRA", "sqrt", "optimum", "ERA at 24k/(m+1)"];
const ERA: usize = 0;
const BRA: usize = 3;
const SQRT: usize = 4;
const OPTIMUM: usize = 5;
/// Even within the day, probably the paper's reading; round the clock it has a gap at midnight.
const ERA_OF_THE_DAY: usize = 6;

struct Case {
    cv: f64,
    window: usize,
    visits: u32,
    importance: Importance,
    horizon: Horizon,
    /// Mean delay of a post in hours, and total delay a day (eq. 4).
    mean: [f64; NAMES.len()],
    total: [f64; NAMES.len()],
}

fn main() {
    // `cargo test --benches` passes this flag.
    let arguments: Vec<String> = env::args().collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let plots = arguments.iter().position(|argument| argument == "--plots").and_then(|at| arguments.get(at + 1));
    let plots = plots.map(PathBuf::from);
    let forums = env::var("SUIDAO_WEBS").ok().and_then(|forums| forums.parse().ok()).unwrap_or(20);
    let begun = Instant::now();
    println!("{forums} forums of each kind.\n");
    incremental(forums, plots.as_deref());
    let cases = delays(forums);
    table_of_cases(&cases);
    reductions(&cases);
    root_and_bra(&cases);
    if let Some(dir) = &plots {
        figure_6(&cases, dir);
    }
    eprintln!("{:.0} s in all", begun.elapsed().as_secs_f64());
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

fn incremental(forums: u64, plots: Option<&Path>) {
    let skins = [
        ("minutes and numbers of replies", BoardSkin::default()),
        ("minutes", BoardSkin { counts: false, ..BoardSkin::default() }),
        ("relative times (3分钟前) and numbers", BoardSkin { times: Times::Relative, ..BoardSkin::default() }),
        ("relative times", BoardSkin { times: Times::Relative, counts: false, ..BoardSkin::default() }),
        ("numbers of replies", BoardSkin { times: Times::Missing, ..BoardSkin::default() }),
        ("minutes, by publication", BoardSkin { by_reply: false, ..BoardSkin::default() }),
    ];
    let activities: Vec<(Activity, i64)> = (1..=forums)
        .into_par_iter()
        .map(|seed| {
            let spec = ActivitySpec { seed, boards: 30, threads_per_day: 210.0, days: 46, ..ActivitySpec::default() };
            // Until 25 June, after fifteen known days.
            let spec = ActivitySpec { start: spec.start - 15 * DAY, ..spec };
            (Activity::generate(&spec), spec.start + 15 * DAY)
        })
        .collect();
    let run = |skin: &BoardSkin, finder| -> Vec<Vec<CrawlDay>> {
        activities.par_iter().map(|(activity, start)| cycles(activity, skin, *start, 31, finder)).collect()
    };
    println!("## A4: what changed and was found\n");
    println!("| finder | lists show | recall | its least day | precision | its least day | requests a new post |");
    println!("|---|---|---|---|---|---|---|");
    let print_row = |name: &str, shown: &str, runs: &[Vec<CrawlDay>]| {
        let sum = CrawlDay::sum(&runs.iter().map(|days| CrawlDay::sum(days)).collect::<Vec<_>>());
        let least = |of: fn(&CrawlDay) -> f64| runs.iter().flatten().map(of).fold(1.0, f64::min);
        println!(
            "| {name} | {shown} | {:.2}% | {:.1}% | {:.2}% | {:.1}% | {:.2} |",
            100.0 * sum.recall(),
            100.0 * least(CrawlDay::recall),
            100.0 * sum.precision(),
            100.0 * least(CrawlDay::precision),
            sum.requests as f64 / sum.posts as f64
        );
    };
    let mut bic = Vec::new();
    for (shown, skin) in &skins {
        let runs = run(skin, ChangeDetector::Bic);
        print_row("BIC", shown, &runs);
        if bic.is_empty() {
            bic = runs;
        }
    }
    let eic = run(&BoardSkin::default(), ChangeDetector::Eic);
    print_row("EIC", skins[0].0, &eic);
    println!();
    if let Some(dir) = plots {
        for (file, title, of) in [
            ("recall.svg", "Recall a day", CrawlDay::recall as fn(&CrawlDay) -> f64),
            ("precision.svg", "Precision a day", CrawlDay::precision),
        ] {
            let points = |runs: &[Vec<CrawlDay>]| {
                (0..31).map(|day| (day + 1, mean(runs.iter().map(|days| of(&days[day]))))).collect::<Vec<_>>()
            };
            let lines = vec![("BIC", points(&bic)), ("EIC", points(&eic))];
            let along = Along { label: "day, from 25 May to 25 June", first: 1, last: 31, lang: Lang::English };
            write(dir, file, &drawn(&lines, title, true, along));
        }
    }
}

/// The planner's visits and the importance of each board.
struct Plans {
    planner: Planner,
    importance: [Vec<f64>; 2],
}

impl Plans {
    fn of(boards: &[BoardDemand], horizon: Horizon) -> Self {
        let importance = IMPORTANCES.map(|importance| boards.iter().map(|board| importance.of(board)).collect());
        Self { planner: Planner::new(boards, horizon), importance }
    }
}

fn forum(seed: u64, cv: f64) -> ActivitySpec {
    ActivitySpec {
        seed,
        boards: BOARDS,
        threads_per_day: 7.0 * BOARDS as f64,
        cv,
        days: 117,
        start: MARCH,
        ..ActivitySpec::default()
    }
}

fn windows(spec: &ActivitySpec, first: i64) -> [ForumDays; 2] {
    let window = ForumDays { start: spec.start + first * DAY, days: 10, offset: spec.offset };
    [ForumDays { start: window.start - 20 * DAY, days: 20, ..window }, window]
}

fn delays(forums: u64) -> Vec<Case> {
    let settings: Vec<(u64, f64)> = (1..=forums).flat_map(|seed| CVS.map(|cv| (seed, cv))).collect();
    settings.into_par_iter().flat_map_iter(|(seed, cv)| cases(seed, cv)).collect()
}

fn cases(seed: u64, cv: f64) -> Vec<Case> {
    let spec = forum(seed, cv);
    let activity = Activity::generate(&spec);
    let mut cases = Vec::new();
    for (window, (first, _)) in WINDOWS.iter().enumerate() {
        let [before, during] = windows(&spec, *first);
        let text = BoardPosts::of(&activity, &during);
        let even = Planner::new(&vec![BoardStatistics::default().into(); BOARDS], Horizon::Day);
        for horizon in HORIZONS {
            let plans = Plans::of(&statistics(&activity, &before), horizon);
            for visits in VISITS {
                for (importance, weights) in IMPORTANCES.into_iter().zip(&plans.importance) {
                    let per_day = visits * BOARDS as u32;
                    let plan = |schedule: usize| match schedule {
                        ERA_OF_THE_DAY => even.plan(per_day, ScheduleMethod::Era, importance),
                        method => plans.planner.plan(per_day, ScheduleMethod::ALL[method], importance),
                    };
                    let waits: [_; NAMES.len()] =
                        std::array::from_fn(|schedule| text.delays(&plan(schedule), weights, horizon));
                    cases.push(Case {
                        cv,
                        window,
                        visits,
                        importance,
                        horizon,
                        mean: waits.map(|waits| waits.mean()),
                        total: waits.map(|waits| waits.total / f64::from(during.days)),
                    });
                }
            }
        }
    }
    cases
}

fn horizon(horizon: Horizon) -> &'static str {
    match horizon {
        Horizon::Week => "round the clock",
        Horizon::Day => "within the day",
    }
}

fn importance(importance: Importance) -> &'static str {
    match importance {
        Importance::Weight => "W = WP",
        Importance::Equal => "W = 1",
    }
}

fn table_of_cases(cases: &[Case]) {
    println!("## A5: mean delay of a post, in hours (CV {CV}, all windows)\n");
    for of_horizon in HORIZONS {
        for of_importance in IMPORTANCES {
            println!("{}, {}:\n", horizon(of_horizon), importance(of_importance));
            let columns: Vec<String> = VISITS.map(|visits| format!("m = {visits} ")).collect();
            println!("| schedule | {}|", columns.join("| "));
            println!("|---|{}", "---|".repeat(columns.len()));
            for (schedule, name) in NAMES.iter().enumerate() {
                let cell = |visits: u32| {
                    let of = cases.iter().filter(|case| {
                        case.cv == CV
                            && case.visits == visits
                            && case.horizon == of_horizon
                            && case.importance == of_importance
                    });
                    format!("{:.3}", mean(of.map(|case| case.mean[schedule])))
                };
                println!("| {name} | {} |", VISITS.map(cell).collect::<Vec<_>>().join(" | "));
            }
            println!();
        }
    }
}

fn settings() -> impl Iterator<Item = (Horizon, Importance, f64)> {
    HORIZONS
        .into_iter()
        .flat_map(|horizon| IMPORTANCES.into_iter().flat_map(move |importance| CVS.map(|cv| (horizon, importance, cv))))
}

fn reductions(cases: &[Case]) {
    println!("## A5: delay below ERA, in per cent: mean of m = 4 to 11, and the largest of a window and an m\n");
    println!(
        "| horizon | importance | CV | {} | BRA, largest | BRA against ERA at 24k/(m+1), largest |",
        NAMES[1..=OPTIMUM].join(" | ")
    );
    println!("|---|---|---|{}---|---|", "---|".repeat(OPTIMUM));
    for (of_horizon, of_importance, cv) in settings() {
        let of: Vec<&Case> = cases
            .iter()
            .filter(|case| case.cv == cv && case.horizon == of_horizon && case.importance == of_importance)
            .collect();
        let below = |of: &[&Case], schedule: usize, era: usize| {
            100.0
                * (1.0 - mean(of.iter().map(|case| case.total[schedule])) / mean(of.iter().map(|case| case.total[era])))
        };
        // The paper's figures are of one forum; these are means over seeds, by window and m.
        let largest = |era: usize| {
            let groups = (0..WINDOWS.len()).flat_map(|window| VISITS.map(move |visits| (window, visits)));
            let of_group = |(window, visits)| {
                let group: Vec<&Case> =
                    of.iter().copied().filter(|case| case.window == window && case.visits == visits).collect();
                below(&group, BRA, era)
            };
            groups.map(of_group).fold(f64::NEG_INFINITY, f64::max)
        };
        let cells: Vec<String> = (1..=OPTIMUM).map(|schedule| format!("{:.1}", below(&of, schedule, ERA))).collect();
        println!(
            "| {} | {} | {cv} | {} | {:.1} | {:.1} |",
            horizon(of_horizon),
            importance(of_importance),
            cells.join(" | "),
            largest(ERA),
            largest(ERA_OF_THE_DAY)
        );
    }
    println!();
}

fn root_and_bra(cases: &[Case]) {
    println!("## A6: the square root against BRA\n");
    println!("| horizon | importance | CV | cases | sqrt above BRA | at most by | at m | mean of sqrt / BRA |");
    println!("|---|---|---|---|---|---|---|---|");
    for (of_horizon, of_importance, cv) in settings() {
        let of: Vec<&Case> = cases
            .iter()
            .filter(|case| case.cv == cv && case.horizon == of_horizon && case.importance == of_importance)
            .collect();
        let above: Vec<&&Case> = of.iter().filter(|case| case.mean[SQRT] > case.mean[BRA]).collect();
        let most = above.iter().map(|case| case.mean[SQRT] / case.mean[BRA] - 1.0).fold(0.0, f64::max);
        let at: Vec<String> = VISITS
            .filter_map(|visits| {
                let count = above.iter().filter(|case| case.visits == visits).count();
                (count > 0).then(|| format!("{visits} ({count})"))
            })
            .collect();
        println!(
            "| {} | {} | {cv} | {} | {} | {} | {} | {:.3} |",
            horizon(of_horizon),
            importance(of_importance),
            of.len(),
            above.len(),
            if above.is_empty() { "–".to_owned() } else { format!("{:.1}%", 100.0 * most) },
            if at.is_empty() { "–".to_owned() } else { at.join(", ") },
            mean(of.iter().map(|case| case.mean[SQRT] / case.mean[BRA]))
        );
    }
    println!();
}

/// Total delay a day by m, one plot per window.
fn figure_6(cases: &[Case], dir: &Path) {
    for of_horizon in HORIZONS {
        for (window, (_, name)) in WINDOWS.iter().enumerate() {
            let points = |schedule: usize| {
                let at = |visits: u32| {
                    let of = cases.iter().filter(|case| {
                        case.cv == CV
                            && case.window == window
                            && case.visits == visits
                            && case.horizon == of_horizon
                            && case.importance == Importance::Weight
                    });
                    (visits as usize, mean(of.map(|case| case.total[schedule])))
                };
                VISITS.map(at).collect::<Vec<_>>()
            };
            let lines: Vec<(&str, Vec<(usize, f64)>)> =
                (ERA..=OPTIMUM).map(|schedule| (NAMES[schedule], points(schedule))).collect();
            let title = format!("Total delay a day, weighted hours: {name}, {}", horizon(of_horizon));
            let along = Along { label: "visits per board and day", first: 4, last: 11, lang: Lang::English };
            let file = format!("delay-{of_horizon:?}-{}.svg", window + 1).to_lowercase();
            write(dir, &file, &drawn(&lines, &title, false, along));
        }
    }
}

fn drawn(lines: &[(&str, Vec<(usize, f64)>)], title: &str, share: bool, along: Along) -> String {
    let lines: Vec<CurveLine> = lines
        .iter()
        .enumerate()
        .map(|(nth, (name, points))| CurveLine {
            name,
            style: LineStyle::Nth(nth),
            points: points.iter().map(|&(at, median)| (at, Interval { median, range: None })).collect(),
            highlighted: false,
        })
        .collect();
    plot::file(&plot::curves(&lines, title, share, along))
}

fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    let written = fs::create_dir_all(dir).and_then(|()| fs::write(&path, text));
    if let Err(error) = written {
        eprintln!("{}: {error}", path.display());
    }
}
