//! What it costs to cut a crawl into partitions, without a server: relevant pages after 500, 1,000 and 2,000 pages, as
//! a share of one machine's, and for each page the links that leave a partition and the sums that partitions learn from
//! each other, on the tasks of `benches/tasks.py`. The partition with the best URL goes next; one request in flight, in
//! virtual time. Shares are of sums over the tasks and over latencies of a request: another latency changes one
//! machine's order too.
//!
//! ```text
//! cargo bench --bench partitions -- TASKS/web.toml TASKS/web2.toml
//! ```
//!
//! `SUIDAO_PARTITIONS` (4,16,64), `SUIDAO_STRATEGIES` (tunnel), `SUIDAO_TASKS` (1: every task; 3: every third),
//! `SUIDAO_LATENCIES` (100, in milliseconds), `SUIDAO_SHARE` (3000: milliseconds between two exchanges of what partitions
//! learn; 0: none).

#![allow(missing_docs)] // a bench is not a library

#[path = "recorded_task.rs"]
mod recorded_task;

use std::env;

use rayon::prelude::*;
use recorded_task::{Task, plan};
use suidao::cluster::{SharedLearning, next_partition};
use suidao::config::Config;
use suidao::crawl::{Crawl, MAX_WAIT_WITHOUT_PAGE, Next, Partition, ResponseMeta};
use suidao::live::crawl_settings;
use suidao::model::{Batch, CrawlUrl, Event, Millis};
use suidao::recorded::RelevanceJudge;
use suidao::replay::{ReplaySource, TopicalWeb};

const CUTOFFS: [usize; 3] = [500, 1_000, 2_000];

/// A partition, and what is known of its URLs.
struct Part {
    crawl: Crawl,
    urls: Vec<CrawlUrl>,
    /// Not asked before.
    wake: Millis,
    /// Until something arrives.
    is_idle: bool,
}

/// A crawl: whether each of its first 2,000 pages is relevant, and what the partitions sent each other.
#[derive(Default)]
struct Run {
    pages: Vec<bool>,
    links: usize,
    sums: usize,
}

impl Task {
    fn run(&self, strategy: &str, count: u32, latency: u64, share_every: u64) -> Run {
        let sets = ["limits.requests=1000000000000", "scope.downgrade_seeds=true", "politeness.backoff=0"];
        let sets: Vec<String> =
            sets.map(str::to_owned).into_iter().chain([format!("strategy.name={strategy}")]).collect();
        let config = Config::load(None, &sets).expect("the keys are the configuration's");
        let source = self.memo.over(TopicalWeb { web: &*self.web.web, topic: &self.topic });
        let part = |number| {
            let mut settings = crawl_settings(&config, &self.topic);
            settings.partition = (count > 1).then_some(Partition { number, count });
            let strategy = config.strategy.build(settings.page_threshold);
            Part { crawl: Crawl::new(settings, strategy), urls: Vec::new(), wake: Millis(0), is_idle: false }
        };
        let mut parts: Vec<Part> = (0..count).map(part).collect();
        let mut judge = RelevanceJudge::new(self.judge.clone());
        let mut run = Run::default();
        let (mut now, mut last_page, mut shared_at) = (Millis(0), Millis(0), Millis(0));
        for seed in &self.seeds {
            let part = &mut parts[Partition::number_of(seed, count) as usize];
            let batch = part.crawl.seed(std::slice::from_ref(seed), now);
            note(part, &batch);
        }
        while run.pages.len() < CUTOFFS[2] {
            let (mut best, mut theta, mut candidates) = (0.0_f32, 0.0, Vec::new());
            for (number, part) in (0..).zip(&mut parts).filter(|(_, part)| !part.is_idle) {
                let values = part.crawl.best_values(now);
                (best, theta) = (best.max(values.soon.unwrap_or(0.0)), values.theta);
                if part.wake <= now {
                    candidates.push((number, values.ready));
                }
            }
            let Some(number) = next_partition(candidates, best, theta, now.since(last_page)) else {
                let soonest = parts.iter().filter(|part| !part.is_idle && part.wake > now).map(|part| part.wake).min();
                let patience = parts.iter().any(|part| !part.is_idle && part.wake <= now);
                match soonest.into_iter().chain(patience.then(|| last_page.after(MAX_WAIT_WITHOUT_PAGE))).min() {
                    Some(at) => now = at.max(now),
                    None => break,
                }
                continue;
            };
            if share_every > 0 && now.since(shared_at) >= share_every {
                shared_at = now;
                run.sums += share(&mut parts, now);
            }
            let part = &mut parts[number as usize];
            let batch = match part.crawl.next(now) {
                Next::Fetch(ticket) => {
                    now = now.after(latency);
                    let outcome = source.outcome(&ticket.kind, &ticket.url);
                    part.crawl.settle(
                        ticket,
                        outcome,
                        ResponseMeta { latency: Some(latency), ..ResponseMeta::default() },
                        now,
                    )
                }
                Next::Record(batch) => batch,
                Next::Wait(until) => {
                    part.wake = until.unwrap_or(Millis(u64::MAX));
                    continue;
                }
                Next::Done(_) => {
                    part.is_idle = true;
                    continue;
                }
            };
            note(part, &batch);
            for event in &batch.events {
                if let Event::PageFetched(page) = event {
                    last_page = now;
                    run.pages.extend(judge.is_relevant(&part.urls[page.id.0 as usize], page));
                }
            }
            for link in part.crawl.take_leaving(&batch) {
                run.links += 1;
                let owner = &mut parts[Partition::number_of(&link.url, count) as usize];
                let batch = owner.crawl.receive(&[link], now);
                note(owner, &batch);
            }
        }
        run
    }
}

/// Each partition learns what the others have learnt. Returns the number of sums.
fn share(parts: &mut [Part], now: Millis) -> usize {
    let mut learning = SharedLearning::default();
    for (number, part) in (0..).zip(parts.iter()) {
        learning.set(number, part.crawl.progress().pages, part.crawl.learnt().unwrap_or_default());
    }
    let learn = |(number, part): (u32, &mut Part)| {
        let batch = part.crawl.learn(&learning.elsewhere(number), now);
        let sums = |event: &Event| if let Event::LearntElsewhere { sums } = event { sums.len() } else { 0 };
        batch.events.iter().map(sums).sum::<usize>()
    };
    (0..).zip(parts).map(learn).sum::<usize>()
}

fn note(part: &mut Part, batch: &Batch) {
    (part.wake, part.is_idle) = (Millis(0), false);
    part.urls.extend(batch.events.iter().filter_map(|event| match event {
        Event::Discovered(found) => Some(found.url.clone()),
        _ => None,
    }));
}

fn relevant(pages: &[bool], most: usize) -> f64 {
    pages.iter().take(most).filter(|relevant| **relevant).count() as f64
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
    let every: usize = list("SUIDAO_TASKS", "1")[0].parse().expect("SUIDAO_TASKS is a number");
    let latencies: Vec<u64> =
        list("SUIDAO_LATENCIES", "100").iter().map(|ms| ms.parse().expect("SUIDAO_LATENCIES are numbers")).collect();
    let share_every: u64 = list("SUIDAO_SHARE", "3000")[0].parse().expect("SUIDAO_SHARE is a number");
    for file in &arguments {
        let (plan, base) = plan(file);
        let tasks: Vec<Task> = plan.tasks.iter().step_by(every).map(|task| Task::new(task, base)).collect();
        for strategy in list("SUIDAO_STRATEGIES", "tunnel") {
            let runs = |count: u32| -> Vec<Run> {
                let run = |task: &Task| {
                    latencies.iter().map(|ms| task.run(&strategy, count, *ms, share_every)).collect::<Vec<_>>()
                };
                tasks.par_iter().flat_map(run).collect()
            };
            let sum = |runs: &[Run], most| runs.iter().map(|run| relevant(&run.pages, most)).sum::<f64>();
            let whole = runs(1);
            println!("{file}: {} tasks, {strategy}", tasks.len());
            println!(
                "{:>10}{:>8}{:>8}{:>8}{:>16}{:>16}",
                "partitions", "500", "1,000", "2,000", "links a page", "sums a page"
            );
            for count in list("SUIDAO_PARTITIONS", "4,16,64") {
                let parts = runs(count.parse().expect("SUIDAO_PARTITIONS are numbers"));
                let shares = CUTOFFS.map(|most| format!("{:8.2}", sum(&parts, most) / sum(&whole, most)));
                let pages: usize = parts.iter().map(|run| run.pages.len()).sum();
                let each = |count: fn(&Run) -> usize| parts.iter().map(count).sum::<usize>() as f64 / pages as f64;
                println!("{count:>10}{}{:16.1}{:16.1}", shares.concat(), each(|run| run.links), each(|run| run.sums));
            }
        }
    }
}
