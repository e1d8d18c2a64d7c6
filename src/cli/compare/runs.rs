//! Runs a comparison in parallel.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use suidao::config::Config;
use suidao::crawl::{Crawl, StopConditions};
use suidao::eval::{KnownTruth, Oracle, Plan, Recorder, RunMeta, StrategyRun, TaskFacts, TaskPlan, WebGraph};
use suidao::live::crawl_settings;
use suidao::model::{CrawlUrl, PageProcessed};
use suidao::recorded::{GroundTruth, Memo, OpenedWeb, Queries, RelevanceJudge, WebName};
use suidao::replay::{TopicalWeb, replay_while};
use suidao::strategy::{Strategy, StrategySettings};
use suidao::world::WebSpec;

use super::super::inputs;
use super::super::outcome::Verbosity;
use super::super::screen::Screen;
use super::super::trial::{Trial, TrialArgs};

/// A run fetches at most this many times the pages that should count, plus 1,000, so that a run without countable pages
/// ends.
const MAX_UNCOUNTED: u64 = 5;

/// Maximum number of pages of a recorded web that an oracle reads; of a generated one twice its pages, because its
/// calendars are endless.
const REACH: u64 = 1 << 20;

#[derive(Clone)]
pub enum Contestant {
    Strategy(Box<StrategySettings>),
    /// Knows the web and the relevant pages.
    Oracle,
}

/// What all strategies of one case share.
struct Ready {
    trial: Trial,
    /// Parses each page once for all of them.
    memo: Memo,
    targets: u32,
    /// The best order, if it is compared.
    oracle: Option<Oracle>,
    /// Islands of a recorded web, which are known if the oracle has read it: their number, and those of pages.
    islands: Option<(u32, FxHashMap<u64, u32>)>,
    /// The number of hosts and the important pages, if the oracle has read the web.
    hosts_and_important: Option<(u32, FxHashSet<u64>)>,
    /// Share of the relevant pages of a recorded web that is reached with at most k off-topic pages in a row.
    reached_by_k: Vec<f64>,
}

/// A task with one random seed.
struct Case<'a> {
    task: usize,
    plan: &'a TaskPlan,
    /// The spec's seed of a generated web.
    world_seed: Option<u64>,
    /// Opened during the check of the files, and taken by the first run of the case.
    ready: Mutex<Option<Ready>>,
}

pub struct TrialRunner<'a> {
    base: &'a Path,
    cases: Vec<Case<'a>>,
}

impl<'a> TrialRunner<'a> {
    /// Opens every web and reads every file, so that errors are reported before anything runs.
    pub fn prepare(plan: &'a Plan, base: &'a Path) -> Result<Self> {
        let mut cases = Vec::new();
        for (task, plan) in plan.tasks.iter().enumerate() {
            let ready = open(plan, base, None).with_context(|| format!("task {}", plan.name))?;
            let first_seed = ready.trial.web.world.as_ref().map(|world| world.spec().seed);
            // The first world shows whether the files fit.
            let mut ready = Some(ready);
            for at in 0..first_seed.and(plan.random_seeds).unwrap_or(1) {
                let world_seed = first_seed.map(|seed| seed.wrapping_add(at));
                cases.push(Case { task, plan, world_seed, ready: Mutex::new(ready.take()) });
            }
        }
        Ok(Self { base, cases })
    }

    /// Runs every strategy on every case. Returns the runs in the order of tasks, seeds and strategies, and the facts
    /// of the tasks.
    pub fn run(
        &self,
        config: &Config,
        strategies: &[(String, Contestant)],
        cutoffs: &[usize],
        verbosity: Verbosity,
    ) -> Result<(Vec<StrategyRun>, Vec<TaskFacts>)> {
        let pages = cutoffs.last().copied().unwrap_or(0);
        let all = self.cases.len() * strategies.len() * pages;
        let screen = Mutex::new(Screen::new(verbosity, false, StopConditions::pages(all as u64)));
        let result = RunProgress { screen: &screen, pages: AtomicU64::new(0), relevant: AtomicU64::new(0) };
        let of_case = |case: &Case| {
            let ready = case.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
            let ready = ready.map_or_else(|| open(case.plan, self.base, case.world_seed), Ok);
            let mut ready = ready.with_context(|| format!("task {}", case.plan.name))?;
            if strategies.iter().any(|(_, contestant)| matches!(contestant, Contestant::Oracle)) {
                case.read_web(config, &mut ready);
            }
            let run = |strategy: &(String, Contestant)| case.run(config, strategy, &ready, pages, &result);
            let runs: Vec<StrategyRun> = strategies.par_iter().map(run).collect();
            Ok((runs, case.facts(config, &ready)))
        };
        let done: Result<Vec<(Vec<StrategyRun>, TaskFacts)>> = self.cases.par_iter().map(of_case).collect();
        screen.into_inner().unwrap_or_else(PoisonError::into_inner).clear();
        let (mut runs, mut tasks) = (Vec::new(), Vec::<TaskFacts>::new());
        for (case, (of_case, facts)) in self.cases.iter().zip(done?) {
            runs.extend(of_case);
            match tasks.get_mut(case.task) {
                Some(task) => task.add(&facts),
                None => tasks.push(facts),
            }
        }
        Ok((runs, tasks))
    }
}

/// Opens the input of a task; with a seed, the generated web of that seed.
fn open(plan: &TaskPlan, base: &Path, seed: Option<u64>) -> Result<Ready> {
    let name = WebName::parse(&plan.web, base)?;
    let mut web = name.open()?;
    if let (Some(world), Some(seed)) = (&web.world, seed) {
        web = OpenedWeb::world(name, WebSpec { seed, ..world.spec().clone() })?;
    }
    let [lexicon, seeds, truth, exclude, layers, queries] =
        [&plan.lexicon, &plan.seeds, &plan.truth, &plan.exclude, &plan.layers, &plan.queries]
            .map(|path| path.as_ref().map(|path| base.join(path)));
    let files = TrialArgs { lexicon, seeds, truth, exclude };
    let mut trial = Trial::new(web, &files)?;
    if let Some(layers) = layers {
        trial.topic = inputs::with_context_graph(trial.topic, &layers)?;
    }
    let targets = trial.judge.relevant().and_then(|all| u32::try_from(all).ok()).unwrap_or(0);
    let queries = match queries {
        Some(path) => inputs::queries(&path)?,
        None => inputs::queries_of(&trial.topic),
    };
    let memo = Memo::of(Queries::new(queries.iter().map(String::as_str)));
    Ok(Ready { trial, memo, targets, oracle: None, islands: None, hosts_and_important: None, reached_by_k: Vec::new() })
}

/// Progress over all runs.
struct RunProgress<'a> {
    screen: &'a Mutex<Screen>,
    pages: AtomicU64,
    relevant: AtomicU64,
}

impl RunProgress<'_> {
    fn page(&self, relevant: bool) {
        let pages = 1 + self.pages.fetch_add(1, Ordering::Relaxed);
        let relevant = self.relevant.fetch_add(u64::from(relevant), Ordering::Relaxed) + u64::from(relevant);
        if pages.is_multiple_of(64) {
            self.screen.lock().unwrap_or_else(PoisonError::into_inner).count(pages, relevant);
        }
    }
}

impl Case<'_> {
    /// The random seed of the case: that of the generated web, or that of the strategies.
    fn seed(&self, config: &Config) -> u64 {
        self.world_seed.unwrap_or(config.crawl.seed)
    }

    /// Reads all pages that the oracle may fetch, and derives its order and the islands of a recorded web.
    fn read_web(&self, config: &Config, ready: &mut Ready) {
        let world = ready.trial.web.world.as_deref();
        let mut config = config.clone();
        config.crawl.seed = self.seed(&config);
        let mut judge = RelevanceJudge::new(ready.trial.judge.clone());
        let relevant = |url: &CrawlUrl, page: &PageProcessed| judge.is_relevant(url, page);
        let reach = world.map_or(REACH, |world| 2 * world.spec().pages);
        let source = ready.memo.over(TopicalWeb { web: &*ready.trial.web.web, topic: &ready.trial.topic });
        let settings = crawl_settings(&config, &ready.trial.topic);
        let graph = WebGraph::read(settings, reach, &ready.trial.seeds, &source, relevant);
        let islands = world.is_none().then(|| graph.islands());
        drop(source);
        ready.oracle = Some(Oracle::of(&graph));
        ready.islands = islands;
        ready.hosts_and_important = Some(graph.hosts_and_important());
        ready.reached_by_k = if world.is_none() { graph.reached_by_k() } else { Vec::new() };
    }

    fn run(
        &self,
        config: &Config,
        (label, contestant): &(String, Contestant),
        ready: &Ready,
        pages: usize,
        result: &RunProgress,
    ) -> StrategyRun {
        let mut config = config.clone();
        config.crawl.seed = self.seed(&config);
        config.limits.pages = Some(MAX_UNCOUNTED * pages as u64 + 1_000);
        let mut judge = RelevanceJudge::new(ready.trial.judge.clone());
        let world = ready.trial.web.world.as_deref();
        let mut recorder = Recorder::new(|url, page| {
            let relevant = judge.is_relevant(url, page)?;
            result.page(relevant);
            let planted = world.and_then(|world| world.island(url)).and_then(|island| u32::try_from(island).ok());
            let found = || ready.islands.as_ref().and_then(|(_, of_page)| of_page.get(&url.fingerprint()).copied());
            let is_important = |(_, pages): &(u32, FxHashSet<u64>)| pages.contains(&url.fingerprint());
            Some(KnownTruth {
                relevant,
                island: planted.or_else(found).filter(|_| relevant),
                hit: ready.memo.is_hit(url),
                important: ready.hosts_and_important.as_ref().is_some_and(is_important),
            })
        });
        let source = ready.memo.over(TopicalWeb { web: &*ready.trial.web.web, topic: &ready.trial.topic });
        let settings = crawl_settings(&config, &ready.trial.topic);
        let strategy: Box<dyn Strategy> = match contestant {
            Contestant::Strategy(strategy) => strategy.build(settings.page_threshold),
            Contestant::Oracle => Box::new(ready.oracle.clone().expect("the web was read for it")),
        };
        let mut crawl = Crawl::new(settings, strategy);
        let stop = replay_while(&mut crawl, &ready.trial.seeds, &source, config.crawl.in_flight, |batch| {
            recorder.fold(&batch);
            if recorder.pages() < pages { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let of = RunMeta {
            task: self.plan.name.clone(),
            web: self.plan.web.clone(),
            seed: self.seed(&config),
            strategy: label.clone(),
            targets: ready.targets,
            islands: match world {
                Some(world) => u32::try_from(world.islands()).ok(),
                None => ready.islands.as_ref().map(|(islands, _)| *islands),
            },
            hosts: ready.hosts_and_important.as_ref().map(|(hosts, _)| *hosts),
            important: ready.hosts_and_important.as_ref().map(|(_, important)| important.len() as u32),
        };
        recorder.finish(of, stop, pages)
    }

    fn facts(&self, config: &Config, ready: &Ready) -> TaskFacts {
        let settings = crawl_settings(config, &ready.trial.topic);
        let lexicon = ready.trial.topic.lexicon();
        TaskFacts {
            name: self.plan.name.clone(),
            web: self.plan.web.clone(),
            seeds: vec![self.seed(config)],
            lexicon: lexicon.name.clone(),
            digests: vec![lexicon.digest()],
            page_threshold: [settings.page_threshold.get(); 2],
            link_threshold: [settings.link_threshold.get(); 2],
            queries: ready.memo.queries(),
            truth: match &ready.trial.judge {
                GroundTruth::Truth(truth) => format!("{} listed pages{}", truth.len(), reached(&ready.reached_by_k)),
                GroundTruth::World(_) => "known from the generated web".to_owned(),
                GroundTruth::Threshold => {
                    format!("pages that reach the page threshold{}", reached(&ready.reached_by_k))
                }
            },
        }
    }
}

/// The k that is needed, in words; empty if it is not known.
fn reached(by_k: &[f64]) -> String {
    const SHOWN: usize = 6;
    let share = |(k, share): (usize, &f64)| format!("{:.0}% with k = {k}", 100.0 * share);
    let shares: Vec<String> = by_k.iter().enumerate().take(SHOWN).map(share).collect();
    if shares.is_empty() {
        String::new()
    } else {
        format!("; of those reachable from the seeds, {}", shares.join(", "))
    }
}
