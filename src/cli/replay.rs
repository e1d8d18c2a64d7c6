//! `suidao replay`: one strategy on a web without a network.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use suidao::config::Config;
use suidao::crawl::Crawl;
use suidao::html::{count, thousands};
use suidao::live::{CrawlReport, crawl_settings, monotonic_now};
use suidao::messages::Lang;
use suidao::model::{Batch, CrawlUrl, Event, Relevance, Stop, UrlId};
use suidao::recorded::{Cutoff, GroundTruth, OpenedWeb, RecordedTally, WebName};
use suidao::replay::{TopicalWeb, replay};
use suidao::store::CrawlDirectory;
use suidao::store::directory::write_whole;
use suidao::store::harvest::HarvestCurve;
use suidao::strategy::StrategyName;
use suidao::topic::Topic;

use super::names::one_of;
use super::network::ConfigArgs;
use super::operate::{GoalsArgs, UNLIMITED};
use super::outcome::{Exit, Verbosity};
use super::screen::Screen;
use super::summary::RunSummary;
use super::trial::{Trial, TrialArgs};
use super::{events, inputs};

/// Simulate a crawl of a recorded or generated web, without a network and on a virtual clock.
///
/// politeness.delay, max_crawl_delay, backoff and robots_retry are 0 and crawl.in_flight is 1, unless --set changes
/// them; [fetch] is ignored.
#[derive(Args)]
#[command(
    mut_arg("max_requests", |arg| arg.help(UNLIMITED)),
    after_help = "Example: suidao replay hosts:WEB/hosts -m lexicons/ml.toml -s seeds/ml.txt --strategy breadth-first --max-pages 5000"
)]
pub struct ReplayArgs {
    /// hosts:DIR (a folder with one directory per host), warc:FILE, crawl:DIR (a crawl directory) or world:FILE.toml (a
    /// generated web; world: alone is the default one); the kind of a bare path is detected
    web: String,
    #[command(flatten)]
    trial: TrialArgs,
    /// Crawl strategy [default: tunnel]
    #[arg(long, value_parser = one_of::<StrategyName>())]
    strategy: Option<StrategyName>,
    /// Directory for events.jsonl, harvest.csv and summary.json; created if missing
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    goals: GoalsArgs,
    /// Requests in flight at the same time, each to a different host [default: 1]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    in_flight: Option<usize>,
    #[command(flatten)]
    keys: ConfigArgs,
}

/// Settings of a replay instead of the defaults of a live crawl: it uses no network, and most pages are missing from a
/// recorded web.
pub const REPLAY_DEFAULTS: [&str; 7] = [
    "limits.requests=1000000000000",
    "scope.downgrade_seeds=true",
    "crawl.in_flight=1",
    "politeness.delay=0",
    "politeness.max_crawl_delay=0",
    "politeness.backoff=0",
    "politeness.robots_retry=0",
];

/// Page counts to report.
const CUTOFFS: [u64; 4] = [500, 1_000, 2_000, 5_000];

impl ReplayArgs {
    fn config(&self) -> Result<Config> {
        let mut config = self.keys.load(&REPLAY_DEFAULTS)?;
        config.strategy.name = self.strategy.unwrap_or(config.strategy.name);
        config.crawl.in_flight = self.in_flight.unwrap_or(config.crawl.in_flight);
        self.goals.apply(&mut config)?;
        Ok(config)
    }
}

pub fn run(args: &ReplayArgs, verbosity: Verbosity) -> Result<Exit> {
    let config = args.config()?;
    let name = WebName::parse(&args.web, Path::new(""))?;
    if let Some(path) = args.output.as_deref().filter(|path| CrawlDirectory::new(*path).holds_crawl()) {
        bail!("{}: already contains a crawl; choose another output directory", path.display());
    }
    let web = name.open()?;
    let Trial { web, topic, seeds, judge } = Trial::new(web, &args.trial)?;
    let topic = inputs::layered(topic, &config.strategy)?;
    if let Some(path) = &args.output {
        std::fs::create_dir_all(path)
            .with_context(|| format!("cannot create the output directory {}; choose another", path.display()))?;
    }
    let reading = TopicalWeb { web: &*web.web, topic: &topic };
    let mut screen = Screen::new(verbosity, args.json, config.goals());
    let run = Run { config: &config, topic: &topic, seeds: &seeds, source: &reading, judge: &judge };
    let directory = CrawlDirectory::new(args.output.as_deref().unwrap_or(Path::new("")));
    let ended = match &args.output {
        None => Ok(run.execute(&mut screen, |_| true)),
        Some(_) => run.write_to_directory(&directory, &mut screen),
    };
    screen.clear();
    let (report, rows, _) = ended?;
    let summary = RunSummary::new(&config, &topic, &directory, &report, run.details(&web, rows));
    let value = if args.output.is_some() { summary.write()? } else { summary.value()? };
    if args.json {
        outln!("{value}");
    } else {
        outln!("{}", summary.to_string().trim_end());
    }
    Ok(match report.stop {
        Some(Stop::OnlyUnreachable | Stop::RequestLimit) => Exit::Incomplete,
        _ if report.progress.pages == 0 => Exit::Incomplete,
        _ => Exit::Done,
    })
}

struct Run<'a> {
    config: &'a Config,
    topic: &'a Topic,
    seeds: &'a [CrawlUrl],
    source: &'a TopicalWeb<'a>,
    judge: &'a GroundTruth,
}

impl Run<'_> {
    /// Runs to the end; `keep` receives each batch until it returns false.
    fn execute(&self, screen: &mut Screen, mut keep: impl FnMut(&Batch) -> bool) -> Ended {
        let settings = crawl_settings(self.config, self.topic);
        let strategy = self.config.strategy.build(settings.page_threshold);
        let mut crawl = Crawl::new(settings, strategy);
        let mut tally = RecordedTally::new(self.judge.clone(), CUTOFFS.to_vec());
        let mut harvest = HarvestCurve::default();
        let mut keeps = true;
        let begun = monotonic_now();
        let stop = replay(&mut crawl, self.seeds, self.source, self.config.crawl.in_flight, |batch| {
            tally.observe(&batch);
            harvest.observe(&batch);
            screen.count(harvest.pages(), tally.now().relevant);
            keeps = keeps && keep(&batch);
        });
        let seconds = begun.elapsed().as_secs_f64();
        let pages_now = crawl.progress().pages;
        let report = CrawlReport { stop: Some(stop), pages_now, seconds, ..CrawlReport::of(&crawl) };
        (report, tally.rows(), harvest)
    }

    /// Runs, and writes the results into a directory.
    fn write_to_directory(&self, directory: &CrawlDirectory, screen: &mut Screen) -> Result<Ended> {
        let ended = write_whole(&directory.root().join("events.jsonl"), |out| {
            let (mut written, mut urls) = (Ok(()), Vec::new());
            let ended = self.execute(screen, |batch| {
                urls.extend(batch.events.iter().filter_map(|event| match event {
                    Event::Discovered(found) => Some(found.url.clone()),
                    _ => None,
                }));
                let url = |id: UrlId| urls[id.0 as usize].clone();
                written = events::lines(batch, url, |line| writeln!(out, "{line}"));
                written.is_ok()
            });
            written?;
            Ok(ended)
        });
        let ended: Ended = ended?;
        ended.2.write(directory)?;
        Ok(ended)
    }

    fn details(&self, web: &OpenedWeb, rows: Vec<Cutoff>) -> Replayed<'_> {
        let settings = crawl_settings(self.config, self.topic);
        let all = self.judge.relevant();
        let row = |at: Cutoff| ReplayRow {
            harvest_rate: share(at.relevant, at.pages),
            recall: all.map(|all| share(at.relevant, all)),
            at,
        };
        Replayed {
            web: web.name.to_string(),
            page_threshold: settings.page_threshold,
            link_threshold: settings.link_threshold,
            seed: self.config.crawl.seed,
            judge: self.judge.name(),
            relevant_in_web: all,
            cutoffs: rows.into_iter().map(row).collect(),
        }
    }
}

/// The report, the counts at the cutoffs, and the harvest curve.
type Ended = (CrawlReport, Vec<Cutoff>, HarvestCurve);

#[derive(Serialize)]
struct Replayed<'a> {
    web: String,
    page_threshold: Relevance,
    link_threshold: Relevance,
    seed: u64,
    judge: &'a str,
    /// By the judge; `None` if unknown.
    relevant_in_web: Option<u64>,
    cutoffs: Vec<ReplayRow>,
}

/// The judge's counts after a number of pages.
#[derive(Serialize)]
struct ReplayRow {
    #[serde(flatten)]
    at: Cutoff,
    harvest_rate: f64,
    recall: Option<f64>,
}

impl Display for RunSummary<'_, Replayed<'_>> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Replayed { web, page_threshold, link_threshold, seed, judge, relevant_in_web, cutoffs } = &self.details;
        let by = match (*judge, relevant_in_web) {
            ("truth", Some(all)) => format!("{all} listed pages"),
            (_, Some(all)) => format!("{all} pages of the generated web"),
            (_, None) => "pages that reach the page threshold".to_owned(),
        };
        writeln!(
            out,
            "{web}\nstrategy {}, {} in flight, seed {seed}\nlexicon {} ({}), page threshold {:.4}, link threshold {:.4}\n\
             relevant: {by}\n\n{:>7}{:>10}{:>14}{:>9}{:>16}",
            self.strategy,
            self.in_flight,
            self.topic,
            &self.lexicon_digest[..12],
            page_threshold.get(),
            link_threshold.get(),
            "pages",
            "relevant",
            "harvest rate",
            "recall",
            "relevant hosts",
        )?;
        for ReplayRow { at: Cutoff { pages, relevant, hosts }, harvest_rate, recall } in cutoffs {
            let recall = recall.map_or("-".to_owned(), |share| format!("{:.1}%", 100.0 * share));
            let rate = 100.0 * harvest_rate;
            writeln!(out, "{pages:>7}{relevant:>10}{rate:>13.1}%{recall:>9}{hosts:>16}")?;
        }
        let progress = &self.report.progress;
        let why = match self.report.stop {
            Some(Stop::FrontierEmpty) if progress.pages == 0 => {
                "No page could be fetched; check that the seeds are in this web."
            }
            // A replay starts again, so there is nothing to continue.
            stop => stop.map_or("", |stop| stop.reason(Lang::English)),
        };
        write!(
            out,
            "\n{why} {} fetched from {}, {} queued, {} failed, {} skipped; {:.0} pages/s.\n{}",
            count(progress.pages as usize, "page", "pages"),
            count(progress.hosts_visited as usize, "host", "hosts"),
            count(progress.queued as usize, "URL", "URLs"),
            thousands(progress.failed),
            thousands(progress.skipped),
            progress.pages as f64 / self.report.seconds.max(1e-3),
            self.losses(),
        )
    }
}

fn share(part: u64, all: u64) -> f64 {
    part as f64 / all.max(1) as f64
}
