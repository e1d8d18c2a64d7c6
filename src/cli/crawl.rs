//! `suidao crawl`: from a lexicon and seeds to a crawl directory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use suidao::config::Config;
use suidao::crawl::{CrawlLimits, TrapCounts, Unreached, WaitCosts};
use suidao::html::{count, thousands};
use suidao::live::{CrawlReport, Job};
use suidao::model::{Failure, FailureKind, SkipReason, Stop, number};
use suidao::store::CrawlDirectory;
use suidao::store::directory::write_own;
use suidao::strategy::StrategyName;
use suidao::visible::Visible;

use super::names::one_of;
use super::network::NetworkArgs;
use super::operate::{GoalsArgs, OperatingArgs};
use super::screen::Screen;
use super::{Exit, Verbosity, dry_run, inputs};

/// Crawl for a topic from seed URLs; Ctrl-C stops cleanly, and the same command resumes.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  suidao crawl -m lexicons/ml.toml -s seeds/ml.txt -o ml --max-pages 5000 --contact me@example.cn\n  \
        suidao crawl -m lexicons/ml.toml http://siwei.io/ http://coolshell.cn/ -o ml"
)]
pub struct CrawlArgs {
    /// Lexicon of the topic
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    pub lexicon: PathBuf,
    /// Seed URLs
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// File of seed URLs, one per line
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
    let topic = Arc::new(inputs::layered(inputs::topic(&args.lexicon)?, &config.strategy)?);
    let seeds = inputs::seeds(&args.urls, args.seeds.as_deref())?;
    let directory = CrawlDirectory::new(&args.output);
    if let Some(most) = args.dry_run {
        args.operating.address(&config)?;
        let options =
            dry_run::DryRunOptions { lexicon: &args.lexicon, most, json: args.json, detailed: verbosity.verbose > 0 };
        return dry_run::show(&options, &config, &topic, &seeds, &directory);
    }
    args.network.remind(&config, verbosity);
    let offered = args.add.as_ref().map(|path| inputs::offered(path, &topic)).transpose()?.unwrap_or_default();
    let job = Job { offered, ..Job::new(topic, seeds, config, directory) };
    let mut screen = Screen::new(verbosity, args.json, job.config.goals());
    let report = args.operating.run(&job, verbosity, |news| screen.report(news));
    screen.clear();
    let report = report?;
    let summary = keep_summary(&job.directory, summary(&job, &report))?;
    if args.json {
        outln!("{}", json!({ "summary": summary }));
    }
    if !verbosity.quiet {
        errln!("{}", in_words(&job, &report));
    }
    Ok(match report.stop {
        None => Exit::Interrupted,
        Some(Stop::OnlyUnreachable | Stop::RequestLimit) => Exit::Incomplete,
        Some(_) if report.progress.pages == 0 => Exit::Incomplete,
        Some(_) => Exit::Done,
    })
}

/// Resolves at the first Ctrl-C or termination signal. A second one ends the process at once, which loses nothing
/// acknowledged.
pub async fn interrupted() {
    interrupts().await;
    errln!("suidao: stopping after the requests in flight (press Ctrl-C again to stop at once)");
}

/// As [`interrupted`] but silent, and listening from the call on, not from the first poll, for verbs that announce that
/// they are ready. Must be called within a runtime.
pub fn interrupts() -> impl Future<Output = ()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let listening = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
        async move {
            // If signals cannot be received, the default action remains.
            let (Ok(mut interrupt), Ok(mut terminate)) = listening else { return std::future::pending().await };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            tokio::spawn(async move {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                std::process::exit(130);
            });
        }
    }
    #[cfg(not(unix))]
    async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Writes `summary.json`, and returns it with its numbers rounded.
pub fn keep_summary(directory: &CrawlDirectory, summary: Value) -> Result<Value> {
    let summary = number::plain(summary);
    write_own(&directory.summary_json(), |out| {
        serde_json::to_writer_pretty(Visible::new(&mut *out), &summary)?;
        Ok(writeln!(out)?)
    })?;
    Ok(summary)
}

pub fn summary(job: &Job, report: &CrawlReport) -> Value {
    let progress = report.progress;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "topic": job.topic.lexicon().name,
        "lexicon_digest": job.topic.digest(),
        "strategy": job.config.strategy.label(),
        "in_flight": job.config.crawl.in_flight,
        "stopped": report.stop.map_or("interrupted".into(), |stop| json!(stop)),
        "pages": progress.pages,
        "requests": progress.requests,
        "relevant": progress.relevant,
        "bytes": progress.bytes,
        "harvest_rate": harvest(report),
        "failed": progress.failed,
        "failures": report.failures,
        "unreachable_hosts": {
            "count": report.unreached.all,
            "first": report.unreached.hosts.iter().map(|(host, why)| json!({
                "host": host, "kind": why.kind.name(), "reason": why.to_string(),
            })).collect::<Vec<_>>(),
        },
        "skipped": progress.excluded,
        "skip_reasons": report.exclusions,
        "traps": report.traps,
        "queued": progress.queued,
        "known": progress.known,
        "hosts": progress.hosts,
        "hosts_visited": progress.hosts_visited,
        "hosts_relevant": progress.hosts_relevant,
        "memory": report.memory,
        "this_run": { "pages": report.pages_now, "seconds": report.seconds, "resumed": report.resumed,
            "idle_host_seconds": seconds(report.wait_costs.idle), "longest_gap": seconds(report.wait_costs.longest_gap) },
        "config": job.config.without_secrets(),
    })
}

pub fn harvest(report: &CrawlReport) -> f64 {
    report.progress.relevant as f64 / report.progress.pages.max(1) as f64
}

fn in_words(job: &Job, report: &CrawlReport) -> String {
    let progress = report.progress;
    let why = match report.stop {
        None => "Interrupted. Rerun the same command to resume.".to_owned(),
        Some(Stop::FrontierEmpty | Stop::OnlyUnreachable) if progress.pages == 0 => {
            let offline = !report.unreached.hosts.is_empty()
                && report.unreached.hosts.iter().all(|(_, why)| {
                    matches!(why.kind, FailureKind::Dns | FailureKind::NoSuchHost | FailureKind::Connect)
                });
            let advice = if offline { " Check the network connection, and set --proxy if one is needed." } else { "" };
            format!("No page could be fetched; skipped.csv lists the reason for each seed.{advice}")
        }
        Some(Stop::RequestLimit) => requests_in_words(&job.config.limits, progress.requests),
        Some(stop) => stop.advice(),
    };
    format!(
        "{why}\n{}, {} of them relevant to {}: harvest rate {:.1}%. This run: {}, {:.0} pages/s.\n\
         {} visited, {} with relevant pages; {} queued, {} failed, {} skipped (reasons in \
         skipped.csv).\n{}{}{}Output: {}",
        count(progress.pages as usize, "page", "pages"),
        thousands(progress.relevant),
        job.topic.lexicon().name,
        100.0 * harvest(report),
        count(report.pages_now as usize, "page", "pages"),
        report.pages_now as f64 / report.seconds.max(1e-3),
        count(progress.hosts_visited as usize, "host", "hosts"),
        thousands(progress.hosts_relevant),
        count(progress.queued as usize, "URL", "URLs"),
        thousands(progress.failed),
        thousands(progress.excluded),
        waits_in_words(&report.wait_costs),
        unreached_in_words(&report.unreached),
        failures_in_words(&report.failures) + &traps_in_words(&report.exclusions, &report.traps),
        job.directory.root().join("").display(),
    )
}

/// Reports that the request limit is reached: the number of requests, the setting, and how to continue.
pub fn requests_in_words(limits: &CrawlLimits, requests: u64) -> String {
    let by = match limits.requests {
        Some(_) => "limits.requests",
        None => "ten for each page of --max-pages, plus 1,000",
    };
    format!(
        "Request limit reached: {} requests sent (limit: {by}). Rerun with a larger --max-requests to continue; skipped.csv \
         lists failures.",
        thousands(requests)
    )
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / 1_000.0
}

/// What crawl.spend has cost; empty if no host waited.
fn waits_in_words(costs: &WaitCosts) -> String {
    if costs.idle == 0 {
        return String::new();
    }
    format!(
        "Idle: {} host-seconds, waiting for better pages on other hosts (crawl.spend); longest time without a page: {:.1} s.\n",
        thousands(costs.idle / 1_000),
        seconds(costs.longest_gap)
    )
}

/// The failing hosts, a few by name with the cause, which hosts in a row share; empty if there are none.
pub fn unreached_in_words(unreached: &Unreached) -> String {
    const NAMED: usize = 3;
    if unreached.all == 0 {
        return String::new();
    }
    let named: Vec<_> = unreached.hosts.iter().take(NAMED).collect();
    let of_a_cause = |hosts: &[&(Box<str>, Failure)]| {
        let names: Vec<&str> = hosts.iter().map(|(host, _)| &**host).collect();
        format!("{} ({})", names.join(", "), hosts[0].1)
    };
    let causes: Vec<String> = named.chunk_by(|(_, one), (_, next)| one.kind == next.kind).map(of_a_cause).collect();
    let more = unreached.all - named.len() as u64;
    let more = if more > 0 { format!(", and {} more", thousands(more)) } else { String::new() };
    format!(
        "{} failing at the last attempt: {}{more}.\n",
        count(unreached.all as usize, "host", "hosts"),
        causes.join(", ")
    )
}

/// Failed URLs by kind, the most frequent first; empty if there are none.
pub fn failures_in_words(failures: &BTreeMap<String, u64>) -> String {
    let named = most_first(failures.iter().map(|(name, count)| (*count, name.clone())).collect());
    if named.is_empty() { String::new() } else { format!("Failed: {named}.\n") }
}

fn most_first(mut counts: Vec<(u64, String)>) -> String {
    counts.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let named: Vec<String> = counts.iter().map(|(count, name)| format!("{} {name}", thousands(*count))).collect();
    named.join(", ")
}

/// URLs skipped by reason, the most frequent first, and the results of the trap rules: a line each, if not empty.
pub fn traps_in_words(exclusions: &BTreeMap<SkipReason, u64>, traps: &TrapCounts) -> String {
    let refused: Vec<(u64, String)> = exclusions
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(reason, count)| (*count, json!(reason).as_str().unwrap_or_default().to_owned()))
        .collect();
    let mut lines = String::new();
    if !refused.is_empty() {
        lines += &format!("Skipped: {}.\n", most_first(refused));
    }
    let message: Vec<String> = [
        (traps.near_duplicates, "duplicate page", "duplicate pages"),
        (traps.soft_404, "soft 404", "soft 404s"),
        (traps.session_parameters, "session parameter", "session parameters"),
        (traps.mirrors, "mirror host", "mirror hosts"),
        (traps.ended, "endless URL series stopped", "endless URL series stopped"),
    ]
    .into_iter()
    .filter(|(number, ..)| *number > 0)
    .map(|(number, one, many)| count(number as usize, one, many))
    .collect();
    if !message.is_empty() {
        lines += &format!("Traps: {}.\n", message.join(", "));
    }
    lines
}
