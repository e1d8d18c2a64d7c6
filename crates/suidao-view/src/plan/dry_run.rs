//! The first requests of a crawl and their reasons, without fetching or writing anything.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::request_limit;
use suidao_crawl::crawl::{Progress, Seeding, SimulatedRequest, SimulatedStep, simulate};
use suidao_crawl::trap::path;
use suidao_html::count;
use suidao_live::config::Config;
use suidao_live::live::{Job, machine, meta, now, strategy_label};
use suidao_page::messages::Lang;
use suidao_page::model::{CrawlUrl, Event, QueueEntry, SkipReason, Stop, TunnelBudget, UrlId, UrlOrigin};
use suidao_store::store::{Store, StoreError};

/// What a crawl would do first. As text for people, with `#` also the queue and k of each URL; its parts are also for
/// programs.
pub struct DryRun {
    pub seeds: Vec<PlannedSeed>,
    pub requests: Vec<PlannedRequest>,
    pub summary: DryRunSummary,
    output: String,
}

/// A seed, and why it would be skipped.
#[derive(Serialize)]
pub struct PlannedSeed {
    seed: CrawlUrl,
    skip_reason: Option<SkipReason>,
    why: Option<&'static str>,
}

/// A request, or a URL that is skipped when it would be fetched.
#[derive(Serialize)]
pub struct PlannedRequest {
    /// From 1.
    rank: usize,
    after_ms: u64,
    #[serde(flatten)]
    step: PlannedStep,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PlannedStep {
    Robots { robots: CrawlUrl },
    Probe { soft_404_probe: CrawlUrl },
    Page { page: CrawlUrl, queued_as: QueueEntry, origin: String },
    Skipped { skipped: CrawlUrl, reason: SkipReason, why: &'static str },
}

/// The crawl as it is now.
#[derive(Serialize)]
pub struct DryRunSummary {
    topic: String,
    #[serde(skip)]
    terms: usize,
    strategy: String,
    resumes: bool,
    #[serde(flatten)]
    progress: Progress,
    stop: Option<Stop>,
    config: Config,
}

impl DryRun {
    /// The first `most` requests of a job.
    ///
    /// # Errors
    /// [`StoreError`]: the directory cannot be used, or holds another crawl.
    pub fn of(job: &Job, most: usize) -> Result<Self, StoreError> {
        let Job { config, topic, directory, .. } = job;
        let mut crawl = machine(job);
        // Indexed by number: the page on which it was found; a seed's origin has its own fields.
        let mut origins: Vec<UrlOrigin> = Vec::new();
        let mut observe = |event: &Event| {
            if let Event::Discovered(found) = event {
                origins.push(found.origin);
            }
        };
        directory.check_state()?;
        let resumes = directory.holds_crawl();
        if resumes {
            let store = Store::open(directory)?;
            meta(job).resumes(store.meta(), directory)?;
            for record in store.batches() {
                let batch = record?.batch;
                batch.events.iter().for_each(&mut observe);
                crawl.restore(&batch);
            }
        } else {
            Store::may_begin(directory)?;
        }
        let (mut seeding, at) = (Seeding::of(&job.seeds), now());
        while let Some(batch) = crawl.seed_portion(&mut seeding, at) {
            batch.events.iter().for_each(&mut observe);
        }
        let progress = crawl.progress();
        let (simulated, stop) = simulate(&mut crawl, now(), config.crawl.in_flight, most);
        let origin = |id: UrlId| match origins.get(id.0 as usize) {
            Some(UrlOrigin::Seed) => "seed".to_owned(),
            Some(UrlOrigin::Offered) => "added with --add".to_owned(),
            Some(UrlOrigin::Link(page)) => format!("linked from {}", crawl.url(*page)),
            Some(UrlOrigin::Redirect(page)) => format!("redirected from {}", crawl.url(*page)),
            Some(UrlOrigin::Listed(source)) => format!("listed in {}", crawl.url(*source)),
            Some(UrlOrigin::Canonical(copy)) => format!("canonical URL of {}", crawl.url(*copy)),
            Some(UrlOrigin::Named) | None => "listed in robots.txt, a page or a sitemap".to_owned(),
        };
        let request = |(rank, SimulatedRequest { after, url, step }): (usize, SimulatedRequest)| PlannedRequest {
            rank,
            after_ms: after,
            step: match step {
                SimulatedStep::Robots => PlannedStep::Robots { robots: url },
                SimulatedStep::Soft404Probe => PlannedStep::Probe { soft_404_probe: url },
                SimulatedStep::Page(id, queued_as) => PlannedStep::Page { page: url, queued_as, origin: origin(id) },
                SimulatedStep::Skipped(_, reason) => {
                    PlannedStep::Skipped { skipped: url, reason, why: reason.why(Lang::English) }
                }
            },
        };
        let seed = |seed: &CrawlUrl| {
            let skip_reason = config.scope.skip_reason(seed).or_else(|| path::skip_reason(&config.traps, seed));
            PlannedSeed { seed: seed.clone(), skip_reason, why: skip_reason.map(|reason| reason.why(Lang::English)) }
        };
        Ok(Self {
            seeds: job.seeds.iter().map(seed).collect(),
            requests: (1..).zip(simulated).map(request).collect(),
            summary: DryRunSummary {
                topic: topic.lexicon().name.clone(),
                terms: topic.lexicon().terms.len(),
                strategy: strategy_label(job),
                resumes,
                progress,
                stop,
                config: config.without_secrets(),
            },
            output: directory.root().display().to_string(),
        })
    }
}

impl Display for DryRun {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let DryRunSummary { topic, terms, strategy, resumes, progress, stop, config } = &self.summary;
        writeln!(out, "# topic {topic} ({terms} terms), strategy {strategy}")?;
        let output = &self.output;
        match resumes {
            true => writeln!(
                out,
                "# would resume the crawl in {output}: {} pages fetched, {} URLs queued",
                progress.pages, progress.queued
            )?,
            false => writeln!(out, "# would start a crawl in {output}")?,
        }
        let inside = self.seeds.iter().filter(|seed| seed.why.is_none()).count();
        writeln!(out, "# {}, {inside} in scope", count(self.seeds.len(), "seed", "seeds"))?;
        for PlannedSeed { seed, why, .. } in &self.seeds {
            if let Some(why) = why {
                writeln!(out, "#   skipped: {seed} ({why})")?;
            }
        }
        writeln!(
            out,
            "#\n# first requests, {} at a time, assuming 0.1 s per response and no new links:",
            config.crawl.in_flight
        )?;
        let is_robots = |request: &PlannedRequest| matches!(request.step, PlannedStep::Robots { .. });
        for chunk in self.requests.chunk_by(|one, next| is_robots(one) && is_robots(next)) {
            let PlannedRequest { rank, after_ms, step } = &chunk[0];
            write!(out, "# {rank:>4} {:>7.1} s  ", *after_ms as f64 / 1_000.0)?;
            match step {
                PlannedStep::Robots { .. } if chunk.len() > 1 => writeln!(out, "{} robots.txt requests", chunk.len()),
                PlannedStep::Robots { robots } => writeln!(out, "{robots}  (robots.txt comes first)"),
                PlannedStep::Probe { soft_404_probe } => {
                    writeln!(out, "{soft_404_probe}  (to see how the host answers for a missing page)")
                }
                PlannedStep::Page { page, queued_as, origin } => {
                    writeln!(out, "{page}  ({}; {origin})", describe(*queued_as, out.alternate()))
                }
                PlannedStep::Skipped { skipped, why, .. } => writeln!(out, "skipped {skipped}: {why}"),
            }?;
        }
        match stop {
            Some(Stop::FrontierEmpty) => writeln!(out, "# then only links found on these pages")?,
            Some(stop) => writeln!(out, "# then: {}", stop.reason(Lang::English))?,
            None => {}
        }
        writeln!(out, "#\n# Nothing was fetched or written. Effective configuration:\n{}", request_limit(config))?;
        out.write_str(&toml::to_string(config).map_err(|_| fmt::Error)?)
    }
}

fn describe(entry: QueueEntry, detailed: bool) -> String {
    let queue = match entry.path.k {
        _ if !detailed => String::new(),
        TunnelBudget::Unbounded => format!("queue {}, k ∞, ", entry.queue.0),
        TunnelBudget::Left(left) => format!("queue {}, k {left}, ", entry.queue.0),
    };
    format!("priority {:.3}, {queue}depth {}", entry.priority.get(), entry.path.depth)
}
