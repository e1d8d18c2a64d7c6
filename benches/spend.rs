//! What `crawl.spend` trades: pages against time, on the tasks of `benches/tasks.py`.
//!
//! For each theta, over the tasks of each plan: relevant pages after 500, 1,000 and 2,000 pages as a share of one
//! request in flight without waits; relevant pages by the time at which theta 0 has fetched as many pages, as a share
//! of theta 0; the pages fetched by then, as such a share; the time to as many pages as a multiple of theta 0's; the
//! longest time without a page. Shares are of sums over the tasks. Virtual time: each request takes 100 ms.
//!
//! ```text
//! cargo bench --bench spend -- TASKS/web.toml TASKS/web2.toml
//! ```
//!
//! `SUIDAO_THETAS` (0,0.2,0.25,0.3,0.35,0.4,0.6), `SUIDAO_IN_FLIGHT` (64), `SUIDAO_STRATEGIES` (tunnel).

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

#[path = "recorded_task.rs"]
mod recorded_task;

use std::env;
use std::ops::ControlFlow;

use rayon::prelude::*;
use recorded_task::{Task, plan};
use suidao::config::Config;
use suidao::crawl::Crawl;
use suidao::live::crawl_settings;
use suidao::model::{CrawlUrl, Event, Millis};
use suidao::recorded::RelevanceJudge;
use suidao::replay::{TopicalWeb, replay_while};

const CUTOFFS: [usize; 3] = [500, 1_000, 2_000];

#[derive(Clone, Default)]
struct Run {
    /// When each counted page was fetched, and whether it is relevant.
    pages: Vec<(Millis, bool)>,
    /// Longest time without a page, counted or not, in milliseconds.
    longest_gap: u64,
}

impl Task {
    fn run(&self, sets: &[String], pages: usize) -> Run {
        let config = Config::load(None, sets).expect("the keys are the configuration's");
        let source = self.memo.over(TopicalWeb { web: &*self.web.web, topic: &self.topic });
        let settings = crawl_settings(&config, &self.topic);
        let strategy = config.strategy.build(settings.page_threshold);
        let mut crawl = Crawl::new(settings, strategy);
        let mut judge = RelevanceJudge::new(self.judge.clone());
        let mut urls: Vec<CrawlUrl> = Vec::new();
        let mut run = Run::default();
        replay_while(&mut crawl, &self.seeds, &source, config.crawl.in_flight, |batch| {
            for event in &batch.events {
                match event {
                    Event::Discovered(found) => urls.push(found.url.clone()),
                    Event::PageFetched(page) => {
                        let relevant = judge.is_relevant(&urls[page.id.0 as usize], page);
                        run.pages.extend(relevant.map(|relevant| (batch.at, relevant)));
                    }
                    _ => {}
                }
            }
            if run.pages.len() < pages { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        run.longest_gap = crawl.wait_costs().longest_gap;
        run
    }
}

fn relevant(run: &[(Millis, bool)]) -> f64 {
    run.iter().filter(|(_, relevant)| *relevant).count() as f64
}

fn first(run: &Run, pages: usize) -> &[(Millis, bool)] {
    &run.pages[..pages.min(run.pages.len())]
}

fn until(run: &Run, at: Millis) -> &[(Millis, bool)] {
    &run.pages[..run.pages.partition_point(|(then, _)| *then <= at)]
}

/// When a run has this many pages, or its end.
fn time(run: &Run, pages: usize) -> Millis {
    first(run, pages).last().map_or(Millis(0), |(at, _)| *at)
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    // `cargo test --benches` passes this flag.
    if arguments.iter().any(|argument| argument == "--test") || arguments.is_empty() {
        return;
    }
    let list = |name, default: &str| -> Vec<String> {
        env::var(name).unwrap_or_else(|_| default.to_owned()).split(',').map(str::to_owned).collect()
    };
    let thetas = list("SUIDAO_THETAS", "0,0.2,0.25,0.3,0.35,0.4,0.6");
    let further = list("SUIDAO_SETS", "");
    for file in &arguments {
        let (plan, base) = plan(file);
        let tasks: Vec<Task> = plan.tasks.iter().map(|task| Task::new(task, base)).collect();
        for strategy in list("SUIDAO_STRATEGIES", "tunnel") {
            let sets = |more: &[&str]| -> Vec<String> {
                let all = ["limits.requests=1000000000000", "scope.downgrade_seeds=true", "politeness.backoff=0"];
                let all = all.iter().chain(more).map(|&set| set.to_owned());
                let further = further.iter().filter(|set| !set.is_empty()).cloned();
                all.chain([format!("strategy.name={strategy}")]).chain(further).collect()
            };
            let one = sets(&["crawl.in_flight=1", "politeness.delay=0", "politeness.max_crawl_delay=0"]);
            let pages = CUTOFFS[CUTOFFS.len() - 1];
            let ones: Vec<Run> = tasks.par_iter().map(|task| task.run(&one, pages)).collect();
            for in_flight in list("SUIDAO_IN_FLIGHT", "64") {
                println!("\n{file}, {strategy}, {in_flight} in flight\n");
                println!(
                    "| theta | at equal pages | at equal time | fetched by then | times as slow | longest gap, s |"
                );
                println!("|---|---|---|---|---|---|");
                let mut eager: Option<Vec<Run>> = None;
                for theta in &thetas {
                    let own = sets(&[&format!("crawl.in_flight={in_flight}"), &format!("crawl.spend={theta}")]);
                    // More than the last cutoff, to see what is found by the time of theta 0.
                    let runs: Vec<Run> = tasks.par_iter().map(|task| task.run(&own, pages)).collect();
                    let eager = eager.get_or_insert_with(|| runs.clone());
                    let sum = |of: &dyn Fn(usize) -> f64| (0..tasks.len()).map(of).sum::<f64>();
                    let row = |of: &dyn Fn(usize) -> f64, to: &dyn Fn(usize) -> f64| {
                        format!("{:.2}", sum(of) / sum(to).max(1e-9))
                    };
                    let row = |of: &dyn Fn(usize, usize) -> f64, to: &dyn Fn(usize, usize) -> f64| -> String {
                        let cells = CUTOFFS.map(|cutoff| row(&|at| of(at, cutoff), &|at| to(at, cutoff)));
                        cells.join(" ")
                    };
                    let by_time = |at: usize, cutoff: usize| until(&runs[at], time(&eager[at], cutoff));
                    let gap = runs.iter().map(|run| run.longest_gap).max().unwrap_or(0) as f64 / 1_000.0;
                    println!(
                        "| {theta} | {} | {} | {} | {} | {gap:.1} |",
                        row(&|at, cutoff| relevant(first(&runs[at], cutoff)), &|at, cutoff| relevant(first(
                            &ones[at], cutoff
                        ))),
                        row(&|at, cutoff| relevant(by_time(at, cutoff)), &|at, cutoff| relevant(first(
                            &eager[at], cutoff
                        ))),
                        row(&|at, cutoff| by_time(at, cutoff).len() as f64, &|at, cutoff| first(&eager[at], cutoff)
                            .len()
                            as f64),
                        row(&|at, cutoff| time(&runs[at], cutoff).0 as f64, &|at, cutoff| time(&eager[at], cutoff).0
                            as f64),
                    );
                }
            }
        }
    }
}
