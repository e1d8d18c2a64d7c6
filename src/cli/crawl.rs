//! `suidao crawl`: from a lexicon and seeds to a crawl directory.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use suidao::config::Config;
use suidao::live::{self, Job, Report};
use suidao::model::Stop;
use suidao::store::CrawlDirectory;
use suidao::store::directory::write_whole;
use suidao::strategy::StrategyName;

use super::conditions::ConditionsArgs;
use super::screen::Screen;
use super::{Exit, Voice, inputs};

/// Crawl for a topic from seed URLs.
///
/// Ctrl-C stops cleanly, and the same command again goes on where it stopped. More pages: the same command with a
/// larger --max-pages.
#[derive(Args)]
#[command(
    after_help = "Example: suidao crawl -m lexicons/ml.toml -s seeds/ml.txt -o ml --max-pages 5000 --contact me@example.cn"
)]
pub struct CrawlArgs {
    /// Lexicon of the topic
    #[arg(short = 'm', long = "model", visible_alias = "lexicon", value_name = "LEXICON")]
    pub lexicon: PathBuf,
    /// File of seed URLs, one a line
    #[arg(short, long, value_name = "FILE")]
    pub seeds: PathBuf,
    /// Crawl directory; made if missing, gone on with if it holds this crawl
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Crawl strategy [default: tunnel]
    #[arg(long, value_enum)]
    pub strategy: Option<StrategyName>,
    /// Stop after so many pages
    #[arg(long, value_name = "N")]
    pub max_pages: Option<u64>,
    #[command(flatten)]
    pub conditions: ConditionsArgs,
    /// Check everything, say what would be done, fetch nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write every event as a line of JSON to the standard output, the summary last
    #[arg(long)]
    pub json: bool,
}

impl CrawlArgs {
    /// The configuration meant: file, then --set, then the flags of their own.
    fn config(&self) -> Result<Config> {
        let mut config = self.conditions.load()?;
        if let Some(strategy) = self.strategy {
            config.strategy.name = strategy;
        }
        if let Some(pages) = self.max_pages {
            config.limits.pages = Some(pages);
        }
        config.check()?;
        Ok(config)
    }
}

/// Runs the verb.
pub fn run(args: &CrawlArgs, voice: Voice) -> Result<Exit> {
    let config = args.config()?;
    let topic = Arc::new(inputs::layered(inputs::topic(&args.lexicon)?, &config.strategy)?);
    let seeds = inputs::urls(&args.seeds, "seeds")?;
    let directory = CrawlDirectory::new(&args.output);
    if args.dry_run {
        return dry_run(args, &config, &topic, &seeds, &directory);
    }
    args.conditions.remind(&config, voice);
    let job = Job { topic, seeds, config, directory, forum: None, watch: None, refresh: None };
    let mut screen = Screen::new(voice, args.json, job.config.limits.pages);
    let report = live::run(&job, |news| screen.tell(&news), interrupted());
    screen.clear();
    let report = report?;
    let summary = summary(&job, &report);
    write_whole(&job.directory.summary_json(), |out| {
        serde_json::to_writer_pretty(&mut *out, &summary)?;
        Ok(writeln!(out)?)
    })?;
    if args.json {
        say!("{}", json!({ "summary": summary }));
    }
    if !voice.quiet {
        eprintln!("{}", in_words(&job, &report));
    }
    Ok(match report.stop {
        None => Exit::Interrupted,
        Some(Stop::OnlyUnreachable) => Exit::Short,
        Some(_) if report.progress.pages == 0 => Exit::Short,
        Some(_) => Exit::Done,
    })
}

/// Resolves at the first Ctrl-C or termination signal. A second Ctrl-C ends the process at once: nothing that was
/// acknowledged is lost by that.
pub async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
            (Ok(mut interrupt), Ok(mut terminate)) => {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                eprintln!("suidao: stopping: waiting for what is in flight (Ctrl-C again to stop at once)");
                tokio::spawn(async move {
                    interrupt.recv().await;
                    std::process::exit(130);
                });
            }
            // Without signals to listen to, the system's own handling stands.
            _ => std::future::pending().await,
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn dry_run(
    args: &CrawlArgs,
    config: &Config,
    topic: &suidao::topic::Topic,
    seeds: &[suidao::model::CrawlUrl],
    directory: &CrawlDirectory,
) -> Result<Exit> {
    let lexicon = topic.lexicon();
    say!("# topic {} ({} terms, {})", lexicon.name, lexicon.terms.len(), args.lexicon.display());
    for seed in seeds {
        match config.scope.refuses(seed) {
            None => say!("# seed {seed}"),
            Some(reason) => say!("# seed {seed} would be refused: {}", reason.why()),
        }
    }
    let state = if directory.holds_crawl() { "goes on in" } else { "would begin in" };
    say!("# strategy {}; the crawl {state} {}", config.strategy.label(), directory.root().display());
    say!("# nothing was fetched; the configuration in force:\n");
    say!("{}", toml::to_string(&config.shown()).context("the configuration cannot be shown")?.trim_end());
    Ok(Exit::Done)
}

/// `summary.json`.
fn summary(job: &Job, report: &Report) -> serde_json::Value {
    let progress = report.progress;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "topic": job.topic.lexicon().name,
        "lexicon_digest": job.topic.digest(),
        "strategy": job.config.strategy.label(),
        "in_flight": job.config.crawl.in_flight,
        "stopped": report.stop.map_or("interrupted".into(), |stop| json!(stop)),
        "pages": progress.pages,
        "relevant": progress.relevant,
        "harvest_rate": harvest(report),
        "failed": progress.failed,
        "refused": progress.refused,
        "queued": progress.queued,
        "known": progress.known,
        "hosts": progress.hosts,
        "hosts_visited": progress.hosts_visited,
        "hosts_relevant": progress.hosts_relevant,
        "this_run": { "pages": report.pages_now, "seconds": report.seconds, "resumed": report.resumed },
        "config": job.config.shown(),
    })
}

#[allow(clippy::cast_precision_loss)]
fn harvest(report: &Report) -> f64 {
    report.progress.relevant as f64 / report.progress.pages.max(1) as f64
}

#[allow(clippy::cast_precision_loss)]
fn in_words(job: &Job, report: &Report) -> String {
    let progress = report.progress;
    let why = match report.stop {
        None => "Interrupted; the same command goes on.",
        Some(Stop::PageLimit) => "The page limit is reached; a larger --max-pages goes on.",
        Some(Stop::FrontierEmpty) if progress.pages == 0 => {
            "No page could be fetched: skipped.csv tells why for each seed."
        }
        Some(Stop::FrontierEmpty) => "Nothing is left to fetch.",
        Some(Stop::BudgetSpent) => "The budget is spent.",
        Some(Stop::OnlyUnreachable) => {
            "Only hosts are left that fail or whose robots.txt cannot be had; the same command tries them again."
        }
    };
    format!(
        "{why}\n{} pages ({} now, {:.0} pages/s), {} of them relevant to {}: harvest rate {:.1}%.\n\
         {} hosts visited, {} with relevant pages; {} URLs queued, {} failed, {} refused (see skipped.csv).\n\
         All of it is in {}.",
        progress.pages,
        report.pages_now,
        report.pages_now as f64 / report.seconds.max(1e-3),
        progress.relevant,
        job.topic.lexicon().name,
        100.0 * harvest(report),
        progress.hosts_visited,
        progress.hosts_relevant,
        progress.queued,
        progress.failed,
        progress.refused,
        job.directory.root().display(),
    )
}
