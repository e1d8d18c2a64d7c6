//! `suidao crawl`: from a lexicon and seeds to a crawl directory.

use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use serde_json::json;
use suidao::config::Config;
use suidao::html::thousands;
use suidao::live::Job;
use suidao::messages::Lang;
use suidao::model::{FailureKind, Stop};
use suidao::store::CrawlDirectory;
use suidao::strategy::StrategyName;

use super::names::one_of;
use super::network::NetworkArgs;
use super::operate::{GoalsArgs, OperatingArgs};
use super::outcome::{Exit, Verbosity};
use super::screen::Screen;
use super::summary::RunSummary;
use super::{dry_run, inputs};

/// Relevant pages from which `topic grow` can learn.
const ENOUGH_TO_GROW: u64 = 30;

/// Crawl for a topic from seed URLs; Ctrl-C stops cleanly, and the same command resumes.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  suidao crawl -m lexicons/ml.toml -s seeds/ml.txt -o ml --max-pages 5000 --contact me@example.cn\n  \
        suidao crawl -m lexicons/ml.toml http://siwei.io/ http://coolshell.cn/ -o ml"
)]
pub struct CrawlArgs {
    /// Lexicon of the topic [default: the copy in the crawl directory, if it already holds this crawl]
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    pub lexicon: Option<PathBuf>,
    /// Seed URLs
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// File of seed URLs, one per line; not needed to resume a crawl
    #[arg(short, long, value_name = "FILE", help_heading = "Input")]
    pub seeds: Option<PathBuf>,
    /// File of further URLs, one per line, each optionally followed by its link text; ranked like links of a page whose
    /// relevance equals the page threshold
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub add: Option<PathBuf>,
    /// Crawl directory; created if missing, resumed if it already holds this crawl
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub output: PathBuf,
    /// Crawl strategy [default: tunnel]
    #[arg(long, value_parser = one_of::<StrategyName>())]
    pub strategy: Option<StrategyName>,
    /// Also take URLs from the sitemaps of hosts with relevant pages
    #[arg(long, help_heading = "Input")]
    pub sitemaps: bool,
    /// Also take URLs from the feeds of hosts with relevant pages
    #[arg(long, help_heading = "Input")]
    pub feeds: bool,
    /// Keep only pages in these languages, such as zh,en; links on other pages are still followed
    #[arg(long, value_name = "CODES", value_delimiter = ',', help_heading = "Output")]
    pub lang: Vec<String>,
    #[command(flatten)]
    pub goals: GoalsArgs,
    #[command(flatten)]
    pub operating: OperatingArgs,
    #[command(flatten)]
    pub network: NetworkArgs,
    /// Print the first 20 (or N) requests and their reasons; fetch and write nothing
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "20", help_heading = "Output")]
    pub dry_run: Option<usize>,
    /// Print each event as a line of JSON, the summary last; with --dry-run, the planned requests
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Take commands from standard input, as lines of JSON: {"status":{}}, {"add":["http://a.cn/"]}, {"stop":{}}; print
    /// answers and each page. The end of the input stops the crawl
    #[arg(long, conflicts_with = "dry_run", help_heading = "Input")]
    pub control: bool,
}

impl CrawlArgs {
    /// Loads the configuration: file, then --set, then flags.
    fn config(&self) -> Result<Config> {
        let mut config = self.network.load()?;
        config.strategy.name = self.strategy.unwrap_or(config.strategy.name);
        config.sources.sitemaps |= self.sitemaps;
        config.sources.feeds |= self.feeds;
        if !self.lang.is_empty() {
            config.keep.languages.clone_from(&self.lang);
        }
        self.goals.apply(&mut config)?;
        Ok(config)
    }
}

pub fn run(args: &CrawlArgs, verbosity: Verbosity) -> Result<Exit> {
    let config = args.config()?;
    let directory = CrawlDirectory::new(&args.output);
    let topic = inputs::topic_of_crawl(args.lexicon.as_deref(), &directory)?;
    let topic = topic.context("give the lexicon of the topic with -m; build one with `suidao topic build`")?;
    let topic = Arc::new(inputs::layered(topic, &config.strategy)?);
    // Resuming needs no seeds: the log has them.
    let seeds = match (&args.urls[..], &args.seeds) {
        ([], None) if inputs::has_seeds(&directory)? => Vec::new(),
        (urls, file) => inputs::seeds(urls, file.as_deref())?,
    };
    if args.dry_run.is_none() {
        args.network.warn_without_contact(&config, verbosity);
    }
    let stored = directory.config_toml();
    let mut changes = if stored.exists() { config.changes_since(&stored).unwrap_or_default() } else { Vec::new() };
    let offered = args.add.as_ref().map(|path| inputs::offered(path, &topic)).transpose()?.unwrap_or_default();
    let job = Job { offered, ..Job::new(topic, seeds, config, directory) };
    if let Some(most) = args.dry_run {
        args.operating.address(&job.config)?;
        return dry_run::crawl(&job, most, args.json, verbosity.verbose > 0);
    }
    let mut screen = Screen::new(verbosity, args.json, job.config.goals());
    let report = args.operating.run(&job, args.control, verbosity, |news| {
        // The crawl is resumed, not refused.
        let changes = std::mem::take(&mut changes).join(", ");
        if !changes.is_empty() && !verbosity.quiet {
            screen.print(&format!(
                "warning: this run has another configuration than the last one: {changes}; give the same -c and --set \
                 again, unless you want this"
            ));
        }
        screen.report(news);
    });
    screen.clear();
    let report = report?;
    let summary = RunSummary::new(&job.config, &job.topic, &job.directory, &report, TopicCrawl {});
    let value = summary.write()?;
    if args.json || args.control {
        outln!("{}", json!({ "summary": value }));
    }
    infoln!(verbosity, "{summary}");
    Ok(match report.stop {
        None => Exit::Interrupted,
        Some(Stop::OnlyUnreachable | Stop::RequestLimit) => Exit::Incomplete,
        Some(_) if report.progress.pages == 0 => Exit::Incomplete,
        Some(_) => Exit::Done,
    })
}

/// The summary of a topic crawl has no fields beyond the common ones.
#[derive(Serialize)]
struct TopicCrawl {}

impl Display for RunSummary<'_, TopicCrawl> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let progress = &self.report.progress;
        let why = match self.report.stop {
            None => "Interrupted. Rerun the same command to resume.".to_owned(),
            Some(Stop::FrontierEmpty | Stop::OnlyUnreachable) if progress.pages == 0 => {
                let offline = !self.report.unreached.hosts.is_empty()
                    && self.report.unreached.hosts.iter().all(|(_, why)| {
                        matches!(why.kind, FailureKind::Dns | FailureKind::NoSuchHost | FailureKind::Connect)
                    });
                let advice = match &self.config.fetch.proxy {
                    _ if !offline => "",
                    None => " Check the network connection, and set --proxy if one is needed.",
                    Some(_) => " Check that the proxy reaches these hosts, and that it forwards https (CONNECT).",
                };
                format!("No page could be fetched; skipped.csv lists the reason for each seed.{advice}")
            }
            Some(Stop::RequestLimit) => {
                let by = match self.config.limits.requests {
                    Some(_) => "limits.requests",
                    None => "ten for each page of --max-pages, plus 1,000",
                };
                format!(
                    "Request limit reached: {} requests sent (limit: {by}). Rerun with a larger --max-requests to continue; \
                     skipped.csv lists failures.",
                    thousands(progress.requests)
                )
            }
            Some(stop) => stop.advice(),
        };
        write!(out, "{why}\n{}. {}\n{}", self.harvest(), self.speed(), self.hosts())?;
        if let Some(trouble) = &self.report.harvest_trouble {
            writeln!(out, "{}", trouble.advice(Lang::English, &self.output.display().to_string()))?;
        }
        if self.of_keywords && progress.relevant >= ENOUGH_TO_GROW {
            writeln!(
                out,
                "The lexicon has keywords alone. Learn a better one from these pages: suidao topic grow {} -o grown.toml",
                self.output.display()
            )?;
        }
        write!(out, "{}{}{}{}", self.waits(), self.losses(), self.unreached(), self.place())
    }
}
