//! `suidao forum crawl`: every thread of one or several forums once; run again, new threads and replies. With `--watch`
//! each board is visited on schedule until stopped.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use suidao::crawl::{Exploration, ForumMode, Watch};
use suidao::forum::map;
use suidao::forum::schedule::ScheduleMethod;
use suidao::forum::tally::ForumTally;
use suidao::html::{count, thousands};
use suidao::live::{CrawlReport, Job, News};
use suidao::model::{CrawlUrl, Event, ForumMap, Stop, UrlId};
use suidao::store::directory::write_own;
use suidao::store::{CrawlDirectory, Store, plain_file};

use super::super::names::one_of;
use super::super::network::NetworkArgs;
use super::super::operate::{GoalsArgs, OperatingArgs};
use super::super::outcome::{Exit, Verbosity};
use super::super::screen::Screen;
use super::super::summary::RunSummary;
use super::super::{dry_run, inputs};

/// URLs listed per kind of problem.
const NAMED: usize = 5;

/// Fetch every thread of one or several forums; rerun the command to resume or to fetch new posts.
#[derive(Args)]
#[command(after_help = "Examples:\n  suidao forum crawl bbs.toml -o bbs --contact me@example.cn\n  \
    suidao forum crawl bbs.toml -o bbs --watch 200 --contact me@example.cn\n  \
    suidao forum crawl a.toml b.toml -o both --watch 500 --contact me@example.cn")]
pub struct ForumCrawlArgs {
    /// Forum files from `suidao forum discover`, or the URL of a single forum to discover first
    #[arg(value_name = "FILE|URL", required = true)]
    pub forums: Vec<String>,
    /// Lexicon of a topic to score pages by
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    pub lexicon: Option<PathBuf>,
    /// Crawl directory; created if missing, resumed if it already holds this crawl
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub output: PathBuf,
    /// Print the first 20 (or N) requests and their reasons; fetch and write nothing
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "20", help_heading = "Output")]
    pub dry_run: Option<usize>,
    /// Print the summary as JSON; with --dry-run, the planned requests
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// With a URL, recognise boards as `suidao forum discover --strict` does
    #[arg(long, help_heading = "Input")]
    pub strict: bool,
    /// Maximum index pages of a board to read per visit [default: that of the forum file, 32]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub index_pages: Option<u32>,
    /// Then visit the boards on a schedule until stopped, with this number of visits per day to all boards of all forums together
    /// [default: 8 per board]; --max-pages then sets no request limit
    #[arg(long, value_name = "VISITS_PER_DAY", num_args = 0..=1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub watch: Option<Option<u32>>,
    /// How to distribute the visits (see `suidao forum schedule`)
    #[arg(long, value_parser = one_of::<ScheduleMethod>(), default_value_t = ScheduleMethod::Sqrt, requires = "watch", help_heading = "Limits")]
    pub method: ScheduleMethod,
    #[command(flatten)]
    pub goals: GoalsArgs,
    #[command(flatten)]
    pub operating: OperatingArgs,
    #[command(flatten)]
    pub network: NetworkArgs,
}

pub fn run(args: &ForumCrawlArgs, verbosity: Verbosity) -> Result<Exit> {
    let job = job(args, verbosity)?;
    if let Some(most) = args.dry_run {
        args.operating.address(&job.config)?;
        return dry_run::crawl(&job, most, args.json, verbosity.verbose > 0);
    }
    let mut screen = Screen::new(verbosity, false, job.config.goals());
    screen.scored = args.lexicon.is_some();
    let (mut tally, mut last) = (ForumTally::default(), ForumTally::default());
    let report = args.operating.run(&job, false, verbosity, |news| {
        let News::Batch(batch, _) = news else { return screen.report(news) };
        tally.observe(batch);
        if job.watch.is_none() {
            return screen.report(news);
        }
        for event in &batch.events {
            if let Event::Forum(step) = event
                && !step.restarted.is_empty()
            {
                // The results of the previous visits are now complete.
                infoln!(verbosity, "{}", describe_visits(&tally, &last, step.restarted.len()));
                last = tally.clone();
            }
        }
    });
    screen.clear();
    let report = report?;
    if let [_] = &args.forums[..] {
        write_forum_file(&job, &report)?;
    }
    let unfinished = tally.unfinished();
    let details = ForumCrawl {
        boards: tally.boards(),
        counts: &tally,
        unfinished: unfinished.len(),
        unfinished_threads: urls_of(&job.directory, unfinished.get(..NAMED).unwrap_or(&unfinished))?,
        forum: &args.forums.join(", "),
    };
    let mut summary = RunSummary::new(&job.config, &job.topic, &job.directory, &report, details);
    summary.strategy = "boards".to_owned();
    let value = summary.write()?;
    if args.json {
        outln!("{value}");
    }
    infoln!(verbosity, "{summary}");
    Ok(match (report.stop, &report.forum) {
        (None, _) => Exit::Interrupted,
        (_, Exploration::Failed(_) | Exploration::Unfinished) => Exit::Incomplete,
        (Some(Stop::OnlyUnreachable | Stop::RequestLimit), _) => Exit::Incomplete,
        // Boards are watched until a stop condition is met.
        (Some(Stop::FrontierEmpty), _) if job.watch.is_some() => Exit::Incomplete,
        _ if job.watch.is_some() => Exit::Done,
        // Unreadable pages mean that the goal was missed.
        _ if tally.unread > 0 || tally.index_pages == 0 || tally.misses_threads() => Exit::Incomplete,
        _ => Exit::Done,
    })
}

fn job(args: &ForumCrawlArgs, verbosity: Verbosity) -> Result<Job> {
    let mut config = args.network.load()?;
    args.goals.apply(&mut config)?;
    let topic = args.lexicon.as_deref().map(inputs::topic).transpose()?;
    let (starts, mode) = mode(args)?;
    if args.dry_run.is_none() {
        args.network.warn_without_contact(&config, verbosity);
    }
    let watch = args.watch.map(|per_day| Watch { per_day, method: args.method });
    Ok(Job { watch, ..super::job(starts, topic, config, CrawlDirectory::new(&args.output), mode) })
}

/// URLs by their numbers, from the log.
fn urls_of(directory: &CrawlDirectory, ids: &[UrlId]) -> Result<Vec<CrawlUrl>> {
    let mut found = Vec::new();
    if ids.is_empty() {
        return Ok(found);
    }
    for record in Store::open(directory)?.batches() {
        for event in record?.batch.events {
            if let Event::Discovered(url) = event
                && ids.contains(&url.id)
            {
                found.push(url.url);
            }
        }
    }
    Ok(found)
}

fn describe_visits(now: &ForumTally, last: &ForumTally, boards: usize) -> String {
    format!(
        "{} pages since the last visit: {} threads, {} further pages, {} lists; visiting {}",
        now.pages - last.pages,
        now.threads - last.threads,
        now.continuations - last.continuations,
        now.index_pages - last.index_pages,
        count(boards, "board", "boards")
    )
}

fn write_forum_file(job: &Job, report: &CrawlReport) -> Result<()> {
    let path = job.directory.root().join("forum.toml");
    match &report.forum {
        // It may contain corrections.
        Exploration::Understood(_) if path.exists() => tracing::debug!("{} is left as it is", path.display()),
        Exploration::Understood(map) => write_own(&path, |out| Ok(out.write_all(map::write(map).as_bytes())?))?,
        _ => {}
    }
    Ok(())
}

/// The forums of the arguments: of files, or of one URL, which an earlier run may have read into a file.
fn mode(args: &ForumCrawlArgs) -> Result<(Vec<CrawlUrl>, ForumMode)> {
    let (forums, index_pages) = (&args.forums[..], args.index_pages);
    let known = &args.output.join("forum.toml");
    let is_url = |forum: &String| forum.starts_with("http://") || forum.starts_with("https://");
    let maps = match forums {
        [forum] if is_url(forum) && !known.exists() => {
            return Ok((
                vec![super::discover::start(forum)?],
                ForumMode::Explore { test: super::board_test(args.strict), index_pages },
            ));
        }
        [forum] if is_url(forum) => {
            let text = plain_file::read_text(known, plain_file::LARGE)?;
            vec![map::parse(&text).with_context(|| format!("invalid forum file {}", known.display()))?]
        }
        _ => {
            if let Some(url) = forums.iter().find(|forum| is_url(forum)) {
                bail!("several forums need a forum file each; create one with `suidao forum discover {url} -o FILE`");
            }
            if args.strict {
                bail!("--strict is about recognising boards, and a forum file names them; give the URL of the forum");
            }
            forums.iter().map(|forum| super::forum_file(Path::new(forum))).collect::<Result<_>>()?
        }
    };
    let mut starts = Vec::new();
    let mut all: Vec<ForumMap> = Vec::new();
    for (mut map, forum) in maps.into_iter().zip(forums) {
        if let Some(pages) = index_pages {
            map.index_pages = pages;
        }
        let start = CrawlUrl::parse(&map.start).with_context(|| format!("invalid forum file {forum}"))?;
        if starts.contains(&start) {
            bail!("{forum} is of the forum {start}, which another of the files is of; give each forum once");
        }
        starts.push(start);
        all.push(map);
    }
    Ok((starts, ForumMode::Follow(all)))
}

#[derive(Serialize)]
struct ForumCrawl<'a> {
    /// Boards read in this run.
    boards: usize,
    /// Pages of this run.
    counts: &'a ForumTally,
    /// Threads of which pages seem to be missing, and some of them.
    unfinished: usize,
    unfinished_threads: Vec<CrawlUrl>,
    #[serde(skip)]
    forum: &'a str,
}

impl Display for RunSummary<'_, ForumCrawl<'_>> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let ForumCrawl { counts: tally, forum, boards, unfinished, ref unfinished_threads } = self.details;
        let report = self.report;
        match (report.stop, &report.forum) {
            (None, _) => write!(out, "Interrupted. Rerun the same command to resume."),
            (_, Exploration::Failed(_)) if report.progress.pages == 0 => write!(
                out,
                "The first page of {forum} cannot be read; {} gives the reason.",
                self.output.join("skipped.csv").display()
            ),
            (_, Exploration::Failed(why)) => write!(out, "{forum} is not recognised as a forum: {why}."),
            (Some(Stop::OnlyUnreachable), _) => {
                write!(out, "The forum is unreachable. Rerun the same command to retry.")
            }
            (Some(stop), _) if !matches!(stop, Stop::FrontierEmpty | Stop::BudgetSpent) => {
                write!(out, "{}", stop.advice())
            }
            _ if tally.index_pages == 0 => write!(
                out,
                "No list of threads was read; check skipped.csv for failures, and the URL classes in {}.",
                self.output.join("forum.toml").display()
            ),
            _ if tally.misses_threads() => {
                match tally.threads {
                    0 => write!(out, "No thread was read")?,
                    read => write!(out, "Only {} read", count(read as usize, "thread was", "threads were"))?,
                }
                write!(
                    out,
                    " of {} listed. Check skipped.csv for failures, and the URL classes in {}.",
                    thousands(tally.listed.max(tally.threads + tally.postless)),
                    self.output.join("forum.toml").display()
                )
            }
            _ => write!(
                out,
                "All boards are read. Rerun the same command to fetch new posts, or with --watch to follow the boards."
            ),
        }?;
        write!(
            out,
            "\n{} fetched: {}, {} of threads, {} of {}, {}; {} failed.",
            count(tally.pages as usize, "page", "pages"),
            count(tally.threads as usize, "thread", "threads"),
            count(tally.continuations as usize, "further page", "further pages"),
            count(tally.index_pages as usize, "index page", "index pages"),
            count(boards, "board", "boards"),
            count(tally.others as usize, "other", "others"),
            thousands(tally.failed)
        )?;
        // Some of the pages, for the end of a sentence.
        let named = |urls: Vec<&CrawlUrl>| {
            let names: Vec<&str> = urls.into_iter().map(CrawlUrl::as_str).collect();
            if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
        };
        let list = |ids: &[UrlId]| named(ids.iter().filter_map(|id| report.trouble.get(id)).collect());
        if tally.logins > 0 {
            write!(
                out,
                "\n{} a login now; their earlier versions are kept{}",
                count(tally.logins as usize, "page requires", "pages require"),
                list(&tally.login_pages)
            )?;
        }
        if tally.unread > 0 {
            write!(
                out,
                "\n{} no longer recognised as threads or lists of threads; the forum may have a new theme. Nothing was \
                 deleted. Check them and rerun `suidao forum discover`{}",
                count(tally.unread as usize, "page is", "pages are"),
                list(&tally.unread_pages)
            )?;
        }
        if tally.postless > 0 {
            write!(
                out,
                "\n{} linked as threads, but no posts were recognised there; exported as other pages are{}",
                count(tally.postless as usize, "page is", "pages are"),
                list(&tally.postless_pages)
            )?;
        }
        if unfinished > 0 {
            write!(
                out,
                "\n{} fewer posts than the list of its board counts: posts were deleted, or further pages were not \
                 found{}",
                count(unfinished, "thread has", "threads have"),
                named(unfinished_threads.iter().collect())
            )?;
        }
        write!(out, "\n{}", self.place())
    }
}
