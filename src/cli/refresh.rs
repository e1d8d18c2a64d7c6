//! `suidao refresh`: revisits the pages of a crawl within a budget.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use suidao::config::Config;
use suidao::crawl::{Crawl, PlannedVisit, Refresh, StopConditions};
use suidao::html::{count, thousands};
use suidao::live::{self, CrawlReport, Job};
use suidao::model::{Budget, CrawlUrl, Millis, Stop, number, span};
use suidao::revisit::history::{Histories, Tracked, days};
use suidao::revisit::settings::{RefreshSettings, RevisitPolicy};
use suidao::revisit::tally::RoundTally;
use suidao::store::{CrawlDirectory, Meta, Store, date, moment, refreshes};
use suidao::topic::Topic;

use super::crawl::unreached_in_words;
use super::names::one_of;
use super::network::NetworkArgs;
use super::operate::OperatingArgs;
use super::screen::Screen;
use super::{Exit, Verbosity, inputs};

/// Revisit the pages of a crawl that have probably changed, and fetch promising pages that they newly link to; the same command resumes a round.
#[derive(Args)]
#[command(after_help = "Example: suidao refresh ml --requests 2000 --contact me@example.cn")]
pub struct RefreshArgs {
    /// Crawl directory
    pub directory: PathBuf,
    /// Maximum number of requests in the round: pages, robots.txt, redirects, retries, sitemaps, feeds [default: 1000,
    /// or no limit with --minutes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "watch", help_heading = "Limits")]
    pub requests: Option<u64>,
    /// Duration of the round in minutes
    #[arg(long, value_name = "M", conflicts_with = "watch", help_heading = "Limits")]
    pub minutes: Option<f64>,
    /// Run until stopped, with so many requests spread over each day [default: 5000]
    #[arg(long, value_name = "REQUESTS_PER_DAY", num_args = 0..=1, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub watch: Option<Option<u64>>,
    /// Share of the requests for pages that the crawl left in its queue, from 0 to 1 [default: 0]
    #[arg(long, value_name = "SHARE", help_heading = "Limits")]
    pub discover: Option<f64>,
    /// How to choose the next page [default: crawl-value]
    #[arg(long, value_parser = one_of::<RevisitPolicy>())]
    pub policy: Option<RevisitPolicy>,
    /// Print what would be fetched and why; fetch nothing
    #[arg(long, conflicts_with = "watch", help_heading = "Output")]
    pub dry_run: bool,
    /// Lexicon [default: the copy in the crawl directory]
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    pub lexicon: Option<PathBuf>,
    #[command(flatten)]
    pub operating: OperatingArgs,
    #[command(flatten)]
    pub network: NetworkArgs,
    /// Print each event as a line of JSON, the summary last; with --dry-run, the plan
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

pub fn run(args: &RefreshArgs, verbosity: Verbosity) -> Result<Exit> {
    let directory = CrawlDirectory::new(&args.directory);
    // Reports what is missing, if anything.
    let meta = Meta::read(&directory)?;
    if meta.strategy.starts_with("boards of ") {
        bail!("{}: contains a forum crawl; update it with the same `suidao forum crawl`", args.directory.display());
    }
    let config = args.config(&directory)?;
    let topic = args.topic(&directory, &config)?;
    let budget = args.budget(&config)?;
    if args.dry_run {
        return plan(args, &config, &topic, &directory, budget);
    }
    args.network.remind(&config, verbosity);
    let job = Job { refresh: Some(budget), ..Job::new(Arc::new(topic), Vec::new(), config, directory) };
    let mut screen = Screen::new(verbosity, args.json, StopConditions::default());
    let report = args.operating.run(&job, verbosity, |news| screen.report(news));
    screen.clear();
    let report = report?;
    let rounds = refreshes::write(&Store::open(&job.directory)?)?;
    let round = rounds.last().cloned().unwrap_or_default();
    if args.json {
        outln!(
            "{}",
            json!({ "summary": {
            "round": round,
            "stopped": report.stop,
            "seconds": report.seconds,
            "next_due": report.next_due.map(date),
        } })
        );
    }
    if !verbosity.quiet {
        errln!("{}", in_words(&job, &report, &round));
    }
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
        let mut config = self.network.load_over(&directory.config_toml(), !self.dry_run)?;
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

    fn budget(&self, config: &Config) -> Result<Budget> {
        if self.watch.is_some() {
            return Ok(Budget::PerDay(config.refresh.per_day));
        }
        let seconds = match self.minutes {
            Some(minutes) if (0.01..=1e6).contains(&minutes) => Some((minutes * 60.0).round() as u64),
            Some(minutes) => bail!("--minutes {minutes}: must be a number from 0.01 to 1000000"),
            None => None,
        };
        let requests = (self.requests.is_some() || seconds.is_none()).then_some(config.refresh.requests);
        Ok(Budget::Round { requests, seconds })
    }
}

/// Maximum number of lines of a plan on the screen.
const SHOWN: usize = 40;

fn plan(
    args: &RefreshArgs,
    config: &Config,
    topic: &Topic,
    directory: &CrawlDirectory,
    budget: Budget,
) -> Result<Exit> {
    let store = Store::open(directory)?;
    let mut settings = live::crawl_settings(config, topic);
    settings.refresh = Some(Refresh { settings: config.refresh.clone(), budget });
    let strategy = config.strategy.build(settings.page_threshold);
    let mut crawl = Crawl::new(settings, strategy);
    for record in store.batches() {
        crawl.restore(&record?.batch);
    }
    let now = live::now();
    let Budget::Round { requests, .. } = budget else { bail!("--dry-run needs a round; leave out --watch") };
    let most = usize::try_from(requests.unwrap_or(config.refresh.requests)).unwrap_or(usize::MAX);
    let planned = crawl.plan(now, most);
    let histories = crawl.histories().context("the crawl has no visit histories")?;
    let waiting = if config.refresh.discovery > 0.0 { crawl.waiting(most) } else { Vec::new() };
    // a share of a number of requests
    let owed =
        (((1.0 - config.refresh.discovery) * most as f64).round() as usize).max(most.saturating_sub(waiting.len()));
    if args.json {
        for (at, page) in planned.iter().enumerate() {
            let Some(known) = histories.get(page.id) else { continue };
            let page = number::rounded(as_json(page, known, config, now));
            outln!("{}", json!({ "rank": at + 1, "within_share": at < owed, "page": page }));
        }
        for (url, priority) in waiting {
            outln!("{}", number::rounded(json!({ "discover": { "url": url, "priority": priority } })));
        }
        return Ok(Exit::Done);
    }
    let visits = thousands(planned.len().min(owed) as u64);
    let new = if config.refresh.discovery > 0.0 {
        let failing: Vec<Box<str>> = crawl.unreached(usize::MAX).hosts.into_iter().map(|(host, _)| host).collect();
        let is_failing = |url: &CrawlUrl| failing.iter().any(|host| **host == *url.authority());
        let on_failing = match waiting.iter().filter(|(url, _)| is_failing(url)).count() {
            0 => String::new(),
            some => format!(" ({} queued on failing hosts)", thousands(some as u64)),
        };
        format!(
            "up to {} queued pages{on_failing}",
            thousands(waiting.len().min(most - planned.len().min(owed)) as u64)
        )
    } else {
        "promising pages that these newly link to".to_owned()
    };
    outln!(
        "{} known. A round of {} would revisit {visits} of them and fetch {new}.",
        count(histories.len(), "page", "pages"),
        count(most, "request", "requests"),
    );
    let not_due = NotDue::count(histories, &config.refresh, now);
    outln!("{}", not_due.in_words(&config.refresh));
    if planned.is_empty() {
        outln!("{}", why_none_is_due(&config.refresh, crawl.next_due()));
    } else {
        outln!("\n  value  days ago  changes/day  new links/day  importance  page");
    }
    for page in planned.iter().take(owed.min(SHOWN)) {
        let Some(known) = histories.get(page.id) else { continue };
        outln!("{}", line(page, known, config, now));
    }
    let more = planned.len().min(owed).saturating_sub(SHOWN);
    if more > 0 {
        outln!("... and {more} more (--json lists all)");
    }
    if !waiting.is_empty() {
        outln!("\npriority  never fetched");
    }
    for (url, priority) in waiting.iter().take(10) {
        outln!("{priority:8.3}  {url}");
    }
    Ok(Exit::Done)
}

fn line(page: &PlannedVisit, known: &Tracked, config: &Config, now: suidao::model::Millis) -> String {
    let seen = match known.changes.visits() {
        0 => "never revisited".to_owned(),
        visits => format!("changed on {} of {visits} visits", known.changes.changes()),
    };
    let mut why = vec![seen];
    if known.missing.is_some() {
        why.push("missing".to_owned());
    }
    if known.listing {
        why.push("listing page".to_owned());
    }
    format!(
        "{:>7}  {:8.2}  {:11.3}  {:13.3}  {:10.3}  {}  ({})",
        if page.value < 0.001 { format!("{:.0e}", page.value) } else { format!("{:.3}", page.value) },
        days(now.since(known.last_request)),
        known.rate(&config.refresh),
        known.new_links_a_day(&config.refresh),
        known.importance(),
        page.url,
        why.join(", ")
    )
}

fn as_json(page: &PlannedVisit, known: &Tracked, config: &Config, now: suidao::model::Millis) -> serde_json::Value {
    json!({
        "url": page.url,
        "value": page.value,
        "days_ago": days(now.since(known.last_request)),
        "visits": known.visits,
        "changes": known.changes.changes(),
        "changes_a_day": known.rate(&config.refresh),
        "new_links_a_day": known.new_links_a_day(&config.refresh),
        "leads_to": known.leads_to(),
        "importance": known.importance(),
        "relevance": known.relevance,
        "inlinks": known.inlinks,
        "listing": known.listing,
        "missing": known.missing.is_some(),
    })
}

/// Known pages that cannot be due now, by reason.
#[derive(Default)]
struct NotDue {
    rested: usize,
    missing: usize,
    retired: usize,
    worthless: usize,
}

impl NotDue {
    fn count(histories: &Histories, settings: &RefreshSettings, now: Millis) -> Self {
        let mut not_due = Self::default();
        for (_, page) in histories.iter() {
            if page.retired {
                not_due.retired += 1;
            } else if page.earliest_revisit(settings) > now {
                *if page.missing.is_some() { &mut not_due.missing } else { &mut not_due.rested } += 1;
            } else if page
                .visit_value(settings)
                .is_none_or(|value| value.value(days(now.since(page.last_request))) <= 0.0)
            {
                not_due.worthless += 1;
            }
        }
        not_due
    }

    fn in_words(&self, settings: &RefreshSettings) -> String {
        let rested = match settings.policy {
            RevisitPolicy::Adaptive => "requested within their intervals".to_owned(),
            _ => format!("requested less than {} ago (refresh.shortest)", span(settings.shortest * 86_400.0)),
        };
        let reasons = [
            (self.rested, rested),
            (self.missing, format!("missing for less than {} (refresh.grace)", span(settings.grace * 86_400.0))),
            (self.retired, "retired".to_owned()),
            (self.worthless, "irrelevant and without links to relevant pages".to_owned()),
        ];
        let reasons: Vec<String> = reasons
            .into_iter()
            .filter(|(pages, _)| *pages > 0)
            .map(|(pages, why)| format!("{} {why}", thousands(pages as u64)))
            .collect();
        if reasons.is_empty() {
            "Every page may be due.".to_owned()
        } else {
            format!("Not due: {}.", reasons.join(", "))
        }
    }
}

/// Why no page is due, and when the first will be.
fn why_none_is_due(settings: &RefreshSettings, next: Option<Millis>) -> String {
    let now = live::now();
    match next {
        None => "No page is due: none is fetched yet, or all are retired.".to_owned(),
        Some(at) if at > now => format!(
            "No page is due: all were requested less than refresh.shortest ({}) ago, wait for refresh.grace after going \
             missing, or wait for the interval of refresh.policy. The first is due in {}, at {} UTC. Use --set refresh.shortest=0 to revisit at once.",
            span(settings.shortest * 86_400.0),
            span(at.since(now) as f64 / 1000.0),
            moment(at),
        ),
        Some(_) => "No page is due: no visit has a crawl value above 0 yet. See `suidao refresh --dry-run`.".to_owned(),
    }
}

fn in_words(job: &Job, report: &CrawlReport, round: &RoundTally) -> String {
    let watches = matches!(round.budget, Budget::PerDay(_));
    let mut why = match report.stop {
        None if watches => "Interrupted. Rerun the same command to resume.",
        None => "Interrupted. Rerun the same command to resume the round.",
        Some(Stop::BudgetSpent) => "Round finished: its budget is used up.",
        Some(Stop::OnlyUnreachable) => {
            "Round finished: the remaining hosts fail, or their robots.txt cannot be fetched."
        }
        Some(_) => "Round finished: nothing is left to request.",
    }
    .to_owned();
    if round.due == 0 && report.stop.is_some() {
        why += " ";
        why += &why_none_is_due(&job.config.refresh, report.next_due);
    }
    let unanswered = match round.unanswered {
        0 => String::new(),
        some => format!(" ({} without a response, which use up the budget only for due pages)", thousands(some)),
    };
    let unchanged = round.identical + round.not_modified + round.bytes_changed;
    format!(
        "{why}\n{}{unanswered} in {:.0} s: {} to known pages, {} new pages ({} relevant).\n\
         Revisited pages: {} changed, {} with changed links only, {} unchanged ({} by a 304), {} missing, {} retired.\n\
         {} on revisited pages.\n{}All rounds: {}",
        count(round.requests as usize, "request", "requests"),
        report.seconds,
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
        unreached_in_words(&report.unreached),
        job.directory.refresh_csv().display(),
    )
}
