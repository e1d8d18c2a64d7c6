//! `suidao import`: from WARC files of any crawler to a crawl directory.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Error, Result};
use clap::Args;
use serde_json::json;
use suidao::config::Config;
use suidao::html::{count, thousands};
use suidao::import::{self, ImportError, ImportJob, ImportReport};
use suidao::live::Job;
use suidao::store::CrawlDirectory;
use suidao::strategy::StrategyName;

use super::crawl::{failures_in_words, harvest, interrupted, keep_summary, summary, traps_in_words};
use super::names::one_of;
use super::screen::Screen;
use super::{Exit, Verbosity, inputs};

/// Make a crawl directory from the WARC files of any crawler, as if suidao had crawled the pages; nothing is requested.
///
/// The answers are taken in the order of the files. Ctrl-C stops cleanly, and the same command resumes.
#[derive(Args)]
#[command(after_help = "Example: suidao import heritrix/*.warc.gz -m lexicons/ml.toml -o ml")]
pub struct ImportArgs {
    /// WARC files, plain or gzip, in the order of the crawl
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Lexicon of the topic
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    lexicon: PathBuf,
    /// File of the crawl's seed URLs, one per line [default: the URLs that no earlier page in the files leads to]
    #[arg(short, long, value_name = "FILE", help_heading = "Input")]
    seeds: Option<PathBuf>,
    /// Crawl directory; created if missing, resumed if it already holds this import
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: PathBuf,
    /// Strategy that scores the links, and continues the crawl [default: tunnel]
    #[arg(long, value_parser = one_of::<StrategyName>())]
    strategy: Option<StrategyName>,
    /// Configuration file (TOML)
    #[arg(short, long, value_name = "FILE", help_heading = "Input")]
    config: Option<PathBuf>,
    /// Override one configuration key, for example scope.one_scheme=false; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Input")]
    sets: Vec<String>,
    /// Print each event as a line of JSON, the summary last
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub fn run(args: &ImportArgs, verbosity: Verbosity) -> Result<Exit> {
    let mut config = Config::load(args.config.as_deref(), &args.sets)?;
    config.strategy.name = args.strategy.unwrap_or(config.strategy.name);
    let topic = Arc::new(inputs::layered(inputs::topic(&args.lexicon)?, &config.strategy)?);
    let seeds = args.seeds.as_ref().map(|path| inputs::urls(path, "seeds")).transpose()?.unwrap_or_default();
    let job = Job::new(topic, seeds, config, CrawlDirectory::new(&args.output));
    let mut screen = Screen::new(verbosity, args.json, job.config.goals());
    let import = ImportJob { job, files: args.files.clone() };
    let report = import::run(&import, |news| screen.report(&news), interrupted());
    screen.clear();
    let report = report.map_err(|error| match error {
        ImportError::Store(error) => Error::from(error),
        other => other.into(),
    })?;
    let job = &import.job;
    let mut values = summary(job, &report.crawl);
    values["import"] = json!(report.counts);
    values["stopped"] = json!(if report.crawl.stop.is_some() { "imported" } else { "interrupted" });
    if !report.continued {
        values = keep_summary(&job.directory, values)?;
    }
    if args.json {
        outln!("{}", json!({ "summary": values }));
    }
    if !verbosity.quiet {
        errln!("{}", in_words(job, &report));
    }
    Ok(match report.crawl.stop {
        None => Exit::Interrupted,
        Some(_) if report.crawl.progress.pages == 0 => Exit::Incomplete,
        Some(_) => Exit::Done,
    })
}

fn in_words(job: &Job, report: &ImportReport) -> String {
    let ImportReport { crawl, counts, continued } = report;
    let progress = crawl.progress;
    let why = match (crawl.stop, continued) {
        (_, true) => "The directory holds this import already, and was used since. Nothing was changed.",
        (None, _) => "Interrupted. Rerun the same command to resume.",
        _ if progress.pages == 0 => "No page could be imported.",
        _ => "Imported.",
    };
    let mut unused: Vec<(&String, &u64)> = counts.unused.iter().collect();
    unused.sort_by(|one, other| other.1.cmp(one.1).then_with(|| one.0.cmp(other.0)));
    let unused: Vec<String> =
        unused.into_iter().map(|(reason, number)| format!("{reason} {}", thousands(*number))).collect();
    let unused = if unused.is_empty() { String::new() } else { format!("Unused records: {}.\n", unused.join(", ")) };
    format!(
        "{why} {} of {} in {}.\n{}, {} of them relevant to {}: harvest rate {:.1}%; {}. This run: {}, {:.0} pages/s.\n\
         {} visited, {} with relevant pages; {} queued, {} failed, {} skipped (reasons in skipped.csv).\n{}{unused}Output: {}",
        count(counts.taken as usize, "response", "responses"),
        thousands(counts.responses),
        count(counts.files as usize, "file", "files"),
        count(progress.pages as usize, "page", "pages"),
        thousands(progress.relevant),
        job.topic.lexicon().name,
        100.0 * harvest(crawl),
        count(progress.visits as usize, "later visit", "later visits"),
        count(crawl.pages_now as usize, "page", "pages"),
        crawl.pages_now as f64 / crawl.seconds.max(1e-3),
        count(progress.hosts_visited as usize, "host", "hosts"),
        thousands(progress.hosts_relevant),
        count(progress.queued as usize, "URL", "URLs"),
        thousands(progress.failed),
        thousands(progress.excluded),
        failures_in_words(&crawl.failures) + &traps_in_words(&crawl.exclusions, &crawl.traps),
        job.directory.root().join("").display(),
    )
}
