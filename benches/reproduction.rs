//! Claims of Jiang, Zhu, Wang 2020 about dynamic tunnelling, on generated webs of `worlds/`, 20 of each
//! kind:
//!
//! - A1 (Fig. 6): precision of DTH > best-first (hard focus) > PageRank from 1,500 pages on, on at least 80 % of webs;
//! - A2 (Fig. 7): the relevant pages of DTH pause when the first island is exhausted and rise again with the next,
//!   those of best-first stay flat: DTH reaches at least one island more;
//! - A3 (Fig. 5): tunnels are 4 links long on average, at least 80 % of them at most 6.
//!
//! The paper's DTH is the variant `interleave`; other strategies are included for comparison. Pages are read as in a
//! crawl; relevance and distance from the last relevant page are the world's ground truth. Marks claims that do not
//! hold.
//!
//! ```text
//! cargo bench --bench reproduction
//! ```
//!
//! `SUIDAO_WEBS` (20) webs of each kind.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

use std::env;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use suidao::config::Config;
use suidao::crawl::Crawl;
use suidao::eval::{KnownTruth, Recorder, RunMeta, StrategyRun};
use suidao::live::crawl_settings;
use suidao::model::{CrawlUrl, PageProcessed};
use suidao::recorded::{Memo, learn};
use suidao::replay::{ReplaySource, TopicalWeb, replay};
use suidao::topic::Topic;
use suidao::world::{SyntheticWeb, WebSpec};

/// The paper's reading of DTH, its competitors, then the rest.
const STRATEGIES: [(&str, &[&str]); 8] = [
    ("dth interleave", &["strategy.name=dth", "strategy.dth.variant=interleave"]),
    ("best-first hard", &["strategy.name=best-first", "strategy.best-first.focus=hard"]),
    ("pagerank", &["strategy.name=pagerank"]),
    ("dth link-scored", &["strategy.name=dth", "strategy.dth.variant=link-scored"]),
    ("dth queue", &["strategy.name=dth", "strategy.dth.variant=queue"]),
    ("dth preempt", &["strategy.name=dth", "strategy.dth.variant=preempt"]),
    ("best-first soft", &["strategy.name=best-first"]),
    ("breadth-first", &["strategy.name=breadth-first"]),
];
const HARD: usize = 1;
const PAGERANK: usize = 2;
/// The paper's cutoffs, in pages.
const CUTOFFS: [usize; 8] = [500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_500, 4_000];

fn main() {
    // `cargo test --benches` passes this flag.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let webs = env::var("SUIDAO_WEBS").ok().and_then(|webs| webs.parse().ok()).unwrap_or(20);
    let begun = Instant::now();
    let mut claims: Vec<(String, usize)> = Vec::new();
    for name in ["islands", "weak-anchors"] {
        claims.extend(a1_and_a2(name, &runs(name, webs, 4_000)));
    }
    claims.extend(a3(&runs("small-world", webs, 8_000)));
    println!("\nOn how many of {webs} webs it is so; a claim holds from 80 % on");
    for (claim, count) in claims {
        let holds = count as f64 >= 0.8 * webs as f64;
        println!("{claim:<70}{count:>4} {}", if holds { "holds" } else { "fails" });
    }
    println!("\n{:.0} s in all", begun.elapsed().as_secs_f64());
}

fn runs(name: &str, webs: u64, pages: usize) -> Vec<Vec<StrategyRun>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("worlds/{name}.toml"));
    let spec = WebSpec::load(&path).expect("a spec");
    println!("\n{name}: {webs} webs of {} pages on {} hosts, {} islands", spec.pages, spec.hosts, spec.islands);
    let of_seed = |seed| {
        let world = SyntheticWeb::new(WebSpec { seed, ..spec.clone() }).expect("a web");
        let topic = Topic::new(learn(&world).expect("a topic"));
        let memo = Memo::default();
        let source = memo.over(TopicalWeb { web: &world, topic: &topic });
        STRATEGIES.iter().map(|(_, settings)| run(&world, &source, &topic, settings, pages)).collect()
    };
    (1..=webs).into_par_iter().map(of_seed).collect()
}

fn run(world: &SyntheticWeb, source: &dyn ReplaySource, topic: &Topic, settings: &[&str], pages: usize) -> StrategyRun {
    let settings: Vec<String> = settings.iter().chain(&["politeness.delay=0"]).map(|&set| set.to_owned()).collect();
    let mut config = Config::load(None, &settings).expect("a strategy");
    config.limits.pages = Some(pages as u64);
    let settings = crawl_settings(&config, topic);
    let strategy = config.strategy.build(settings.page_threshold);
    let mut recorder = Recorder::new(|url: &CrawlUrl, _: &PageProcessed| Some(KnownTruth::of(world, url)));
    let mut crawl = Crawl::new(settings, strategy);
    let stop = replay(&mut crawl, &world.seeds(), source, 1, |batch| recorder.fold(&batch));
    recorder.finish(RunMeta::default(), stop, pages)
}

fn relevant(run: &StrategyRun, pages: usize) -> usize {
    run.at(&[pages])[0].relevant
}

fn islands(run: &StrategyRun) -> f64 {
    run.at(&[CUTOFFS[7]])[0].islands as f64
}

/// Whether 500 pages have less than half of the rate of the first 1,000, and a later 500 twice as much as these.
fn rests_and_rises(run: &StrategyRun) -> bool {
    let counts = run.at(&CUTOFFS);
    let gains: Vec<usize> = (0..CUTOFFS.len())
        .map(|at| counts[at].relevant - at.checked_sub(1).map_or(0, |at| counts[at].relevant))
        .collect();
    let start = (gains[0] + gains[1]) / 2;
    let rest = |at: usize| gains[at] * 2 < start && run.steps.len() >= CUTOFFS[at];
    (2..gains.len()).any(|at| rest(at) && gains[at + 1..].iter().any(|&gain| gain > 2 * gains[at].max(5)))
}

fn a1_and_a2(name: &str, runs: &[Vec<StrategyRun>]) -> Vec<(String, usize)> {
    println!("\nrelevant pages after so many fetched, median of webs; islands reached, mean");
    for (at, (strategy, _)) in STRATEGIES.iter().enumerate() {
        print!("{strategy:<18}");
        for cutoff in CUTOFFS {
            let mut found: Vec<usize> = runs.iter().map(|web| relevant(&web[at], cutoff)).collect();
            found.sort_unstable();
            print!("{:>7}", found[found.len() / 2]);
        }
        println!("{:>9.1}", mean(runs.iter().map(|web| islands(&web[at]))));
    }
    let mut claims = Vec::new();
    let mut claim = |text: String, is_so: &dyn Fn(&Vec<StrategyRun>) -> bool| {
        claims.push((format!("{name}, {text}"), runs.iter().filter(|web| is_so(web)).count()));
    };
    // Of the pages collected, so that an early end is not a disadvantage.
    let precision =
        |run: &StrategyRun, cutoff: usize| relevant(run, cutoff) as f64 / run.steps.len().clamp(1, cutoff) as f64;
    for (dth, (strategy, _)) in STRATEGIES.iter().enumerate().filter(|(_, (name, _))| name.starts_with("dth")) {
        claim(format!("A1: {strategy} > best-first hard > pagerank"), &|web| {
            let ahead =
                |one: usize, other: usize, cutoff| precision(&web[one], cutoff) > precision(&web[other], cutoff);
            CUTOFFS[2..].iter().all(|&cutoff| ahead(dth, HARD, cutoff) && ahead(HARD, PAGERANK, cutoff))
        });
        claim(format!("A2: {strategy} rests, then rises"), &|web| rests_and_rises(&web[dth]));
        claim(format!("A2: {strategy} an island more than best-first hard"), &|web| {
            islands(&web[dth]) > islands(&web[HARD])
        });
    }
    for other in [HARD, PAGERANK] {
        claim(format!("A2: {} flat from 3,000 to 4,000", STRATEGIES[other].0), &|web| {
            let (all, before) = (relevant(&web[other], 4_000), relevant(&web[other], 3_000));
            (all - before) * 20 < all.max(1)
        });
    }
    claims
}

fn a3(runs: &[Vec<StrategyRun>]) -> Vec<(String, usize)> {
    println!("\nA3: length of tunnels in links; (a) that ended at a relevant page, (b) at each off-topic page");
    let mut claims = Vec::new();
    for (at, (strategy, _)) in STRATEGIES.iter().enumerate() {
        for (letter, ends) in [("a", true), ("b", false)] {
            let of = |run: &StrategyRun| -> Vec<f64> {
                let counted = run.steps.iter().filter(|step| step.relevant == ends && (step.hops > 0 || !ends));
                counted.map(|step| f64::from(step.hops) + 1.0).collect()
            };
            let short = |all: &[f64]| all.iter().filter(|&&length| length <= 6.0).count() as f64 / all.len() as f64;
            let all: Vec<f64> = runs.iter().flat_map(|web| of(&web[at])).collect();
            let (length, part) = (mean(all.iter().copied()), 100.0 * short(&all));
            println!("{strategy:<18} ({letter}) {:>7} of them, mean {length:.2}, {part:.0} % at most 6", all.len());
            let are_the_papers = |web: &&Vec<StrategyRun>| {
                let all = of(&web[at]);
                (3.0..=5.0).contains(&mean(all.iter().copied())) && short(&all) >= 0.8
            };
            let count = runs.iter().filter(are_the_papers).count();
            claims.push((format!("A3 ({letter}): {strategy}, mean 3 to 5, 80 % at most 6"), count));
        }
    }
    claims
}

/// NaN, which satisfies no claim, for no values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}
