//! The runs of a comparison, side by side.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result};
use suidao::config::Config;
use suidao::crawl::{Crawl, Goals};
use suidao::eval::{Known, Oracle, Plan, Recorder, Run, RunOf, TaskFacts, TaskPlan};
use suidao::live::conditions;
use suidao::model::{CrawlUrl, Settled};
use suidao::recorded::{Judge, Memo, Opened, WebName, Witness};
use suidao::replay::{Reading, replay_while};
use suidao::strategy::{Settings, Strategy};
use suidao::topic::Topic;
use suidao::world::World;

use super::super::screen::Screen;
use super::super::{Voice, inputs};

/// A run fetches at most so many times the pages that are to count, and 1,000: where nothing counts it is to end.
const VAIN: u64 = 5;

/// An oracle looks at so many pages of a recorded web at most; at twice its pages of a generated one, whose calendars
/// never end.
const REACH: u64 = 1 << 20;

/// Who takes part.
#[derive(Clone)]
pub enum Rival {
    /// A strategy.
    Strategy(Box<Settings>),
    /// Somebody who knows the web and what is relevant.
    Oracle,
}

/// What all strategies of one case run on.
struct Ready {
    web: Opened,
    topic: Topic,
    seeds: Vec<CrawlUrl>,
    judge: Judge,
    memo: Memo,
    targets: u32,
}

/// A task with one random seed.
struct Case<'a> {
    task: usize,
    plan: &'a TaskPlan,
    /// The spec's seed of a generated world.
    world_seed: Option<u64>,
    /// Made when first asked for, and let go when the last run is done with it: 20 worlds at once are not needed.
    ready: Mutex<Option<Arc<Ready>>>,
}

/// All cases.
pub struct Races<'a> {
    base: &'a Path,
    cases: Vec<Case<'a>>,
}

impl<'a> Races<'a> {
    /// Opens every web and reads every file, so that what is wrong is told before anything runs.
    pub fn prepare(plan: &'a Plan, base: &'a Path) -> Result<Self> {
        let mut races = Self { base, cases: Vec::new() };
        for (task, plan) in plan.tasks.iter().enumerate() {
            let name = || format!("task {}", plan.name);
            let web = WebName::parse(&plan.web, base).and_then(|name| name.open()).with_context(name)?;
            let Some(world) = web.world.clone() else {
                let ready = races.ready(plan, web).with_context(name)?;
                let ready = Mutex::new(Some(Arc::new(ready)));
                races.cases.push(Case { task, plan, world_seed: None, ready });
                continue;
            };
            // The first of the worlds tells whether the files fit.
            let mut ready = Some(Arc::new(races.ready(plan, web).with_context(name)?));
            for at in 0..plan.random_seeds.unwrap_or(1) {
                let world_seed = Some(world.spec().seed.wrapping_add(at));
                races.cases.push(Case { task, plan, world_seed, ready: Mutex::new(ready.take()) });
            }
        }
        Ok(races)
    }

    fn ready(&self, plan: &TaskPlan, web: Opened) -> Result<Ready> {
        let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| self.base.join(path));
        let mut topic = inputs::topic_of(path(&plan.lexicon).as_deref(), &web)?;
        if let Some(layers) = path(&plan.layers) {
            topic = inputs::with_layers(topic, &layers)?;
        }
        let seeds = inputs::seeds_of(path(&plan.seeds).as_deref(), &web)?;
        let judge = inputs::judge_of(path(&plan.truth).as_deref(), path(&plan.exclude).as_deref(), &web)?;
        let targets = judge.relevant().and_then(|all| u32::try_from(all).ok()).unwrap_or(0);
        Ok(Ready { web, topic, seeds, judge, memo: Memo::default(), targets })
    }

    /// What the case runs on, made if it is not there.
    fn of(&self, case: &Case) -> Result<Arc<Ready>> {
        let mut ready = case.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = &*ready {
            return Ok(Arc::clone(ready));
        }
        let name = WebName::parse(&case.plan.web, self.base)?;
        let opened = name.open()?;
        let web = match (opened.world.as_deref().map(World::spec), case.world_seed) {
            (Some(spec), Some(seed)) => {
                let spec = suidao::world::Spec { seed, ..spec.clone() };
                Opened::world(opened.name, spec)?
            }
            _ => opened,
        };
        let made = Arc::new(self.ready(case.plan, web)?);
        *ready = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Runs every strategy on every case; the runs in the order of tasks, seeds and strategies, and the facts of the
    /// tasks.
    pub fn run(
        &self,
        config: &Config,
        strategies: &[(String, Rival)],
        marks: &[usize],
        jobs: Option<usize>,
        voice: Voice,
    ) -> Result<(Vec<Run>, Vec<TaskFacts>)> {
        let count = self.cases.len() * strategies.len();
        let pages = marks.last().copied().unwrap_or(0);
        let screen = Mutex::new(Screen::new(voice, false, Goals::pages((count * pages) as u64)));
        let told = Told { screen: &screen, pages: AtomicU64::new(0), relevant: AtomicU64::new(0) };
        let done: Vec<OnceLock<Result<Run>>> = (0..count).map(|_| OnceLock::new()).collect();
        let facts: Vec<OnceLock<TaskFacts>> = self.cases.iter().map(|_| OnceLock::new()).collect();
        let left: Vec<AtomicUsize> = self.cases.iter().map(|_| AtomicUsize::new(strategies.len())).collect();
        let next = AtomicUsize::new(0);

        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).build();
        let pool = pool.context("cannot start threads; give a smaller --jobs")?;
        // In order, so that webs are opened one after the other.
        pool.broadcast(|_| {
            loop {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job >= count {
                    break;
                }
                let (at, strategy) = (job / strategies.len(), job % strategies.len());
                let case = &self.cases[at];
                let run = self.of(case).map(|ready| {
                    facts[at].get_or_init(|| case.facts(config, &ready));
                    case.run(config, &strategies[strategy], &ready, pages, &told)
                });
                let failed = run.is_err();
                let _ = done[job].set(run.with_context(|| format!("task {}", case.plan.name)));
                if left[at].fetch_sub(1, Ordering::AcqRel) == 1 {
                    *case.ready.lock().unwrap_or_else(PoisonError::into_inner) = None;
                }
                if failed {
                    next.store(count, Ordering::Relaxed);
                }
            }
        });
        screen.into_inner().unwrap_or_else(PoisonError::into_inner).clear();
        let mut runs = Vec::with_capacity(count);
        // Where one has failed those after it are missing, and its error ends this.
        for run in done.into_iter().filter_map(OnceLock::into_inner) {
            runs.push(run?);
        }
        let mut tasks: Vec<TaskFacts> = Vec::new();
        let facts = facts.into_iter().filter_map(OnceLock::into_inner);
        for (case, facts) in self.cases.iter().zip(facts) {
            match tasks.get_mut(case.task) {
                Some(task) => task.add(&facts),
                None => tasks.push(facts),
            }
        }
        Ok((runs, tasks))
    }
}

/// What is told on the screen, over all runs.
struct Told<'a> {
    screen: &'a Mutex<Screen>,
    pages: AtomicU64,
    relevant: AtomicU64,
}

impl Told<'_> {
    fn page(&self, relevant: bool) {
        let pages = 1 + self.pages.fetch_add(1, Ordering::Relaxed);
        let relevant = self.relevant.fetch_add(u64::from(relevant), Ordering::Relaxed) + u64::from(relevant);
        if pages.is_multiple_of(64) {
            self.screen.lock().unwrap_or_else(PoisonError::into_inner).count(pages, relevant);
        }
    }
}

impl Case<'_> {
    /// The random seed of the case: the world's, or of what strategies do at random.
    fn seed(&self, config: &Config) -> u64 {
        self.world_seed.unwrap_or(config.crawl.seed)
    }

    fn run(&self, config: &Config, (label, rival): &(String, Rival), ready: &Ready, pages: usize, told: &Told) -> Run {
        let mut config = config.clone();
        config.crawl.seed = self.seed(&config);
        config.limits.pages = Some(VAIN * pages as u64 + 1_000);
        let mut witness = Witness::new(ready.judge.clone());
        let world = ready.web.world.as_deref();
        let mut recorder = Recorder::new(|url, page| {
            let hit = witness.is_relevant(url, page)?;
            told.page(hit);
            let island = world.filter(|_| hit).and_then(|world| world.island(url));
            Some(Known { hit, island: island.and_then(|island| u32::try_from(island).ok()) })
        });
        let source = ready.memo.over(Reading { web: &*ready.web.web, topic: &ready.topic });
        let conditions = conditions(&config, &ready.topic);
        let strategy: Box<dyn Strategy> = match rival {
            Rival::Strategy(settings) => settings.build(conditions.page_threshold),
            Rival::Oracle => {
                let mut witness = Witness::new(ready.judge.clone());
                let relevant = |url: &CrawlUrl, page: &Settled| witness.is_relevant(url, page);
                let reach = world.map_or(REACH, |world| 2 * world.spec().pages);
                Box::new(Oracle::ask(conditions.clone(), reach, &ready.seeds, &source, relevant))
            }
        };
        let mut crawl = Crawl::new(conditions, strategy);
        let stop = replay_while(&mut crawl, &ready.seeds, &source, config.crawl.in_flight, |batch| {
            recorder.fold(&batch);
            if recorder.pages() < pages { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let of = RunOf {
            task: self.plan.name.clone(),
            web: self.plan.web.clone(),
            seed: self.seed(&config),
            strategy: label.clone(),
            targets: ready.targets,
            islands: world.and_then(|world| u32::try_from(world.islands()).ok()),
        };
        recorder.finish(of, stop, pages)
    }

    fn facts(&self, config: &Config, ready: &Ready) -> TaskFacts {
        let conditions = conditions(config, &ready.topic);
        let lexicon = ready.topic.lexicon();
        TaskFacts {
            name: self.plan.name.clone(),
            web: self.plan.web.clone(),
            seeds: vec![self.seed(config)],
            lexicon: lexicon.name.clone(),
            digests: vec![lexicon.digest()],
            page_threshold: [conditions.page_threshold.get(); 2],
            link_threshold: [conditions.link_threshold.get(); 2],
            truth: match &ready.judge {
                Judge::Truth(truth) => format!("one of {} pages listed", truth.len()),
                Judge::World(_) => "what the world knows".to_owned(),
                Judge::Threshold => "what reaches the page threshold".to_owned(),
            },
        }
    }
}
