//! `suidao refresh`: revisits the pages of a crawl within a budget.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use serde_json::json;
use suidao::config::Config;
use suidao::crawl::StopConditions;
use suidao::html::{count, thousands};
use suidao::live::Job;
use suidao::model::{Budget, Stop};
use suidao::plan::why_none_is_due;
use suidao::revisit::settings::RevisitPolicy;
use suidao::revisit::tally::RoundTally;
use suidao::store::{CrawlDirectory, Meta, Store, refreshes, rfc3339};
use suidao::topic::Topic;

use super::names::{between, one_of};
use super::nats::NatsArgs;
use super::network::NetworkArgs;
use super::operate::OperatingArgs;
use super::outcome::{Exit, Verbosity};
use super::screen::Screen;
use super::source::CLUSTER;
use super::summary::RunSummary;
use super::{cluster, dry_run, inputs};

/// Revisit the pages of a crawl that have probably changed, and fetch promising pages that they newly link to; the same
/// command resumes a round.
#[derive(Args)]
#[command(after_help = "Example: suidao refresh ml --requests 2000 --contact me@example.cn")]
pub struct RefreshArgs {
    /// Crawl directory, or cluster:NAME for a distributed crawl, whose workers then visit its pages
    pub directory: PathBuf,
    /// Lexicon [default: the copy in the crawl directory]
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    pub lexicon: Option<PathBuf>,
    #[command(flatten)]
    pub nats: NatsArgs,
    /// With cluster:NAME, work on the round too: directory for the files of this machine
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// With --output, name of this worker: letters, digits, hyphens and underscores [default: the name of the machine]
    #[arg(long, value_name = "NAME", requires = "output")]
    pub worker: Option<String>,
    /// Print what would be fetched and why; fetch nothing
    #[arg(long, conflicts_with = "watch", help_heading = "Output")]
    pub dry_run: bool,
    /// Print each event as a line of JSON, the summary last; with --dry-run, the plan
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Maximum number of requests in the round: pages, robots.txt, redirects, retries, sitemaps, feeds [default: 1000,
    /// or no limit with --minutes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "watch", help_heading = "Limits")]
    pub requests: Option<u64>,
    /// Duration of the round in minutes
    #[arg(long, value_name = "M", value_parser = between(0.01, 1e6), conflicts_with = "watch", help_heading = "Limits")]
    pub minutes: Option<f64>,
    /// Run until stopped, with this number of requests spread over each day [default: 5000]
    #[arg(long, value_name = "REQUESTS_PER_DAY", num_args = 0..=1, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub watch: Option<Option<u64>>,
    /// Share of the requests for pages that the crawl left in its queue, from 0 to 1 [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = between(0.0, 1.0), help_heading = "Limits")]
    pub discover: Option<f64>,
    /// How to choose the next page [default: crawl-value]
    #[arg(long, value_parser = one_of::<RevisitPolicy>())]
    pub policy: Option<RevisitPolicy>,
    #[command(flatten)]
    pub operating: OperatingArgs,
    #[command(flatten)]
    pub network: NetworkArgs,
}

pub fn run(args: &RefreshArgs, verbosity: Verbosity) -> Result<Exit> {
    if let Some(name) = args.directory.to_str().and_then(|text| text.strip_prefix(CLUSTER)) {
        return cluster::refresh(name, args, verbosity);
    }
    if args.output.is_some() {
        bail!("--output is for the files of a worker; with a crawl directory the pages are written to it");
    }
    let directory = CrawlDirectory::new(&args.directory);
    // Reports what is missing, if anything.
    let meta = Meta::read(&directory)?;
    if meta.strategy.starts_with("boards of ") {
        bail!("{}: contains a forum crawl; update it with the same `suidao forum crawl`", args.directory.display());
    }
    let config = args.config(&directory)?;
    let topic = args.topic(&directory, &config)?;
    let budget = args.budget(&config);
    let job = Job { refresh: Some(budget), ..Job::new(Arc::new(topic), Vec::new(), config, directory) };
    if args.dry_run {
        return dry_run::refresh(&job, args.json);
    }
    args.network.warn_without_contact(&job.config, verbosity);
    let mut screen = Screen::new(verbosity, args.json, StopConditions::default());
    let report = args.operating.run(&job, false, verbosity, |news| screen.report(news));
    screen.clear();
    let report = report?;
    let rounds = refreshes::write(&Store::open(&job.directory)?)?;
    let round = rounds.last().cloned().unwrap_or_default();
    let details = RefreshRound { round: &round, seconds: report.seconds, next_due: report.next_due.map(rfc3339) };
    let summary = RunSummary::new(&job.config, &job.topic, &job.directory, &report, details);
    if args.json {
        outln!("{}", json!({ "summary": summary.value()? }));
    }
    infoln!(verbosity, "{summary}");
    Ok(match report.stop {
        None => Exit::Interrupted,
        // If known pages were visited the round succeeded, even if discovery reached no host.
        Some(Stop::OnlyUnreachable) if round.due > 0 && round.visits == 0 => Exit::Incomplete,
        Some(_) => Exit::Done,
    })
}

impl RefreshArgs {
    /// The configuration stored in the crawl directory, or the given one; then --set and flags.
    fn config(&self, directory: &CrawlDirectory) -> Result<Config> {
        self.config_over(&directory.config_toml())
    }

    /// As [`Self::config`], with a stored configuration.
    pub fn config_over(&self, stored: &Path) -> Result<Config> {
        let mut config = self.network.load_over(stored, !self.dry_run)?;
        let refresh = &mut config.refresh;
        refresh.policy = self.policy.unwrap_or(refresh.policy);
        refresh.requests = self.requests.unwrap_or(refresh.requests);
        refresh.per_day = self.watch.flatten().unwrap_or(refresh.per_day);
        refresh.discovery = self.discover.unwrap_or(refresh.discovery);
        config.check()?;
        Ok(config)
    }

    fn topic(&self, directory: &CrawlDirectory, config: &Config) -> Result<Topic> {
        let topic = inputs::needed_topic_of_crawl(self.lexicon.as_deref(), directory)?;
        // A plan parses no page.
        if self.dry_run { Ok(topic) } else { inputs::layered(topic, &config.strategy) }
    }

    pub fn budget(&self, config: &Config) -> Budget {
        if self.watch.is_some() {
            return Budget::PerDay(config.refresh.per_day);
        }
        let seconds = self.minutes.map(|minutes| (minutes * 60.0).round() as u64);
        let requests = (self.requests.is_some() || seconds.is_none()).then_some(config.refresh.requests);
        Budget::Round { requests, seconds }
    }
}

#[derive(Serialize)]
struct RefreshRound<'a> {
    round: &'a RoundTally,
    seconds: f64,
    next_due: Option<String>,
}

impl Display for RunSummary<'_, RefreshRound<'_>> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let RefreshRound { round, seconds, .. } = self.details;
        out.write_str(match self.report.stop {
            None if matches!(round.budget, Budget::PerDay(_)) => "Interrupted. Rerun the same command to resume.",
            None => "Interrupted. Rerun the same command to resume the round.",
            Some(Stop::BudgetSpent) => "Round finished: its budget is used up.",
            Some(Stop::OnlyUnreachable) => {
                "Round finished: the remaining hosts fail, or their robots.txt cannot be fetched."
            }
            Some(_) => "Round finished: nothing is left to request.",
        })?;
        if round.due == 0 && self.report.stop.is_some() {
            write!(out, " {}", why_none_is_due(&self.config.refresh, self.report.next_due))?;
        }
        let unanswered = match round.unanswered {
            0 => String::new(),
            some => format!(
                " ({} without a response; of these only requests for due pages count towards the budget)",
                thousands(some)
            ),
        };
        let text_lost = match round.text_lost {
            0 => String::new(),
            some => format!(
                "{} answered without their text, which is kept for {} days (refresh.grace; `suidao why` names the reason).\n",
                count(some as usize, "revisited page", "revisited pages"),
                self.config.refresh.grace
            ),
        };
        let unchanged = round.identical + round.not_modified + round.bytes_changed;
        write!(
            out,
            "\n{}{unanswered} in {seconds:.0} s: {} to known pages, {} new pages ({} relevant).\n\
             Revisited pages: {} changed, {} with changed links only, {} unchanged ({} by a 304), {} missing, {} retired.\n\
             {text_lost}{} on revisited pages.\n{}All rounds: {}",
            count(round.requests as usize, "request", "requests"),
            count(round.visits as usize, "visit", "visits"),
            thousands(round.pages),
            thousands(round.relevant),
            thousands(round.text_changed),
            thousands(round.links_changed),
            thousands(unchanged),
            thousands(round.not_modified),
            thousands(round.missing),
            thousands(round.retired),
            count(round.new_links as usize, "new link", "new links"),
            self.unreached(),
            CrawlDirectory::new(self.output).refresh_csv().display(),
        )
    }
}
