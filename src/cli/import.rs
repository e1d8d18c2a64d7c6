//! `suidao import`: from WARC files of any crawler to a crawl directory.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Error, Result};
use clap::Args;
use serde::Serialize;
use serde_json::json;
use suidao::html::{count, thousands};
use suidao::import::{self, ImportCounts, ImportError, ImportJob};
use suidao::live::Job;
use suidao::store::CrawlDirectory;
use suidao::strategy::StrategyName;

use super::inputs;
use super::names::one_of;
use super::network::ConfigArgs;
use super::outcome::{Exit, Verbosity};
use super::screen::Screen;
use super::signals::interrupted;
use super::summary::{RunSummary, Stopped, most_first};

/// Make a crawl directory from the WARC files of any crawler, as if suidao had crawled the pages; nothing is requested.
///
/// The answers are taken in the order of the files. Ctrl-C stops cleanly, and the same command resumes.
#[derive(Args)]
#[command(after_help = "Example: suidao import heritrix/*.warc.gz -m lexicons/ml.toml -o ml")]
pub struct ImportArgs {
    /// WARC files (plain, gzip, zstd) or WACZ, in the order of the crawl
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
    #[command(flatten)]
    keys: ConfigArgs,
    /// Print each event as a line of JSON, the summary last
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub fn run(args: &ImportArgs, verbosity: Verbosity) -> Result<Exit> {
    let mut config = args.keys.load(&[])?;
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
    let details = Imported { import: &report.counts, is_known: report.is_known };
    let mut summary = RunSummary::new(&job.config, &job.topic, &job.directory, &report.crawl, details);
    if report.crawl.stop.is_some() {
        summary.stopped = Stopped::As("imported");
    }
    let value = if report.is_known { summary.value()? } else { summary.write()? };
    if args.json {
        outln!("{}", json!({ "summary": value }));
    }
    infoln!(verbosity, "{summary}");
    Ok(match report.crawl.stop {
        None => Exit::Interrupted,
        Some(_) if report.crawl.progress.pages == 0 => Exit::Incomplete,
        Some(_) => Exit::Done,
    })
}

#[derive(Serialize)]
struct Imported<'a> {
    import: &'a ImportCounts,
    #[serde(skip)]
    is_known: bool,
}

impl Display for RunSummary<'_, Imported<'_>> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Imported { import: counts, is_known } = &self.details;
        let progress = &self.report.progress;
        if *is_known {
            return write!(
                out,
                "The directory has the pages of {} already. Nothing was changed.\n{}",
                if counts.known_files == 1 { "this file" } else { "these files" },
                self.place()
            );
        }
        let why = match self.report.stop {
            None => "Interrupted. Rerun the same command to resume.",
            _ if progress.pages == 0 => "No page could be imported.",
            _ => "Imported.",
        };
        writeln!(
            out,
            "{why} {} of {} in {}.\n{}; {}. {}",
            count(counts.taken as usize, "response", "responses"),
            thousands(counts.responses),
            count(counts.files as usize, "file", "files"),
            self.harvest(),
            count(progress.visits as usize, "later visit", "later visits"),
            self.speed(),
        )?;
        let unused = match most_first(&counts.unused, String::clone) {
            none if none.is_empty() => none,
            unused => format!("Unused records: {unused}.\n"),
        };
        let known = match counts.known_files {
            0 => String::new(),
            known => format!("Imported before, so skipped: {}.\n", count(known as usize, "file", "files")),
        };
        write!(out, "{}{}{unused}{known}{}", self.hosts(), self.losses(), self.place())
    }
}
