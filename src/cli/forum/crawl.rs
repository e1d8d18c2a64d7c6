//! `suidao forum crawl`: every thread of a forum once; run again, new threads and replies.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use suidao::crawl::{Exploration, ForumMode};
use suidao::forum::map;
use suidao::forum::tally::ForumTally;
use suidao::html::{count, thousands};
use suidao::live::{CrawlReport, Job, News};
use suidao::model::{CrawlUrl, Stop, UrlId};
use suidao::store::directory::write_own;
use suidao::store::{CrawlDirectory, plain_file};

use super::super::crawl::keep_summary;
use super::super::network::NetworkArgs;
use super::super::operate::{GoalsArgs, OperatingArgs};
use super::super::screen::Screen;
use super::super::{Exit, Verbosity, inputs};

/// Fetch every thread of a forum; rerun the command to resume or to fetch new posts.
#[derive(Args)]
#[command(after_help = "Example: suidao forum crawl bbs.toml -o bbs --contact me@example.cn")]
pub struct ForumCrawlArgs {
    /// Forum file from `suidao forum discover`, or the URL of a forum to discover first
    #[arg(value_name = "FILE|URL")]
    pub forum: String,
    /// Crawl directory; created if missing, resumed if it already holds this crawl
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub output: PathBuf,
    /// Lexicon of a topic to score pages by
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    pub lexicon: Option<PathBuf>,
    /// Maximum index pages of a board to read per visit [default: that of the forum file, 32]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub index_pages: Option<u32>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub goals: GoalsArgs,
    #[command(flatten)]
    pub operating: OperatingArgs,
    #[command(flatten)]
    pub network: NetworkArgs,
}

pub fn run(args: &ForumCrawlArgs, verbosity: Verbosity) -> Result<Exit> {
    let (job, _) = job(args, verbosity)?;
    let mut screen = Screen::new(verbosity, false, job.config.goals());
    screen.scored = args.lexicon.is_some();
    let followed = follow(args, &job, verbosity, |news, _| screen.report(news));
    screen.clear();
    let (report, tally) = followed?;
    finish(args, &job, &report, &tally)?;
    if !verbosity.quiet {
        errln!("{}", in_words(args, &report, &tally));
    }
    Ok(match (report.stop, &report.forum) {
        (None, _) => Exit::Interrupted,
        (_, Exploration::Failed(_) | Exploration::Unfinished) => Exit::Incomplete,
        (Some(Stop::OnlyUnreachable | Stop::RequestLimit), _) => Exit::Incomplete,
        // Unreadable pages mean that the goal was missed.
        _ if tally.unread > 0 || tally.index_pages == 0 => Exit::Incomplete,
        _ => Exit::Done,
    })
}

pub fn job(args: &ForumCrawlArgs, verbosity: Verbosity) -> Result<(Job, CrawlUrl)> {
    let mut config = args.network.load()?;
    args.goals.apply(&mut config)?;
    let topic = args.lexicon.as_deref().map(inputs::topic).transpose()?;
    let (start, mode) = mode(&args.forum, &args.output.join("forum.toml"), args.index_pages)?;
    args.network.remind(&config, verbosity);
    Ok((super::job(start.clone(), topic, config, CrawlDirectory::new(&args.output), mode), start))
}

/// Runs the crawl and counts; `listener` receives the news and the counts so far.
pub fn follow(
    args: &ForumCrawlArgs,
    job: &Job,
    verbosity: Verbosity,
    mut listener: impl FnMut(&News, &ForumTally),
) -> Result<(CrawlReport, ForumTally)> {
    let mut tally = ForumTally::default();
    let listen = |news: &News| {
        if let News::Batch(batch, _) = news {
            tally.observe(batch);
        }
        listener(news, &tally);
    };
    let report = args.operating.run(job, verbosity, listen)?;
    Ok((report, tally))
}

/// Writes the forum file and the summary.
pub fn finish(args: &ForumCrawlArgs, job: &Job, report: &CrawlReport, tally: &ForumTally) -> Result<()> {
    if let Exploration::Understood(map) = &report.forum {
        let path = job.directory.root().join("forum.toml");
        if path.exists() {
            // It may contain corrections.
            tracing::debug!("{} is left as it is", path.display());
        } else {
            write_own(&path, |out| Ok(out.write_all(map::write(map).as_bytes())?))?;
        }
    }
    let summary = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "strategy": "boards",
        "stopped": report.stop.map_or("interrupted".into(), |stop| json!(stop)),
        "pages": report.progress.pages,
        "failed": report.progress.failed,
        "skipped": report.progress.excluded,
        "queued": report.progress.queued,
        "this_run": { "seconds": report.seconds, "resumed": report.resumed, "boards": tally.boards(), "counts": tally },
        "config": job.config.without_secrets(),
    });
    let summary = keep_summary(&job.directory, summary)?;
    if args.json {
        outln!("{summary}");
    }
    Ok(())
}

/// A forum file or a URL; `known`: the file of an earlier run, perhaps with corrections.
fn mode(forum: &str, known: &Path, index_pages: Option<u32>) -> Result<(CrawlUrl, ForumMode)> {
    let is_url = forum.starts_with("http://") || forum.starts_with("https://");
    let known = known.to_string_lossy();
    let forum = if is_url && Path::new(&*known).exists() { &*known } else { forum };
    if is_url && forum != known {
        return Ok((super::discover::start(forum)?, ForumMode::Explore { index_pages }));
    }
    let text = if is_url {
        plain_file::read_text(Path::new(forum), plain_file::LARGE)?
    } else {
        std::fs::read_to_string(forum).with_context(|| {
            format!("cannot read the forum file {forum}; create one with `suidao forum discover URL -o {forum}`")
        })?
    };
    let mut map = map::parse(&text).with_context(|| format!("invalid forum file {forum}"))?;
    if let Some(pages) = index_pages {
        map.index_pages = pages;
    }
    let start = CrawlUrl::parse(&map.start).with_context(|| format!("invalid forum file {forum}"))?;
    Ok((start, ForumMode::Follow(Box::new(map))))
}

/// Some of the pages with problems, for the end of a sentence.
fn list(report: &CrawlReport, ids: &[UrlId]) -> String {
    let names: Vec<&str> = ids.iter().filter_map(|id| report.trouble.get(id)).map(CrawlUrl::as_str).collect();
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

pub fn in_words(args: &ForumCrawlArgs, report: &CrawlReport, tally: &ForumTally) -> String {
    let mut text = match (report.stop, &report.forum) {
        (None, _) => "Interrupted. Rerun the same command to resume.".to_owned(),
        (_, Exploration::Failed(_)) if report.progress.pages == 0 => format!(
            "The first page of {} cannot be read; {} gives the reason.",
            args.forum,
            args.output.join("skipped.csv").display()
        ),
        (_, Exploration::Failed(why)) => format!("{} is not recognised as a forum: {why}.", args.forum),
        (Some(stop), _) if !matches!(stop, Stop::OnlyUnreachable | Stop::FrontierEmpty | Stop::BudgetSpent) => {
            stop.advice()
        }
        (Some(Stop::OnlyUnreachable), _) => "The forum is unreachable. Rerun the same command to retry.".to_owned(),
        _ if tally.index_pages == 0 => format!(
            "No list of threads was read; check skipped.csv for failures, and the URL classes in {}.",
            args.output.join("forum.toml").display()
        ),
        _ => "All boards are read. To fetch new posts, rerun the same command or run `suidao forum watch`.".to_owned(),
    };
    text += &format!(
        "\n{} fetched: {}, {} of threads, {} of {}, {}; {} failed.",
        count(tally.pages as usize, "page", "pages"),
        count(tally.threads as usize, "thread", "threads"),
        count(tally.continuations as usize, "further page", "further pages"),
        count(tally.index_pages as usize, "index page", "index pages"),
        count(tally.boards(), "board", "boards"),
        count(tally.others as usize, "other", "others"),
        thousands(tally.failed)
    );
    if tally.logins > 0 {
        text += &format!(
            "\n{} a login now; their earlier versions are kept{}",
            count(tally.logins as usize, "page requires", "pages require"),
            list(report, &tally.login_pages)
        );
    }
    if tally.unread > 0 {
        text += &format!(
            "\n{} no longer recognised as threads or lists of threads; the forum may have a new theme. Nothing was deleted. \
             Check them and rerun `suidao forum discover`{}",
            count(tally.unread as usize, "page is", "pages are"),
            list(report, &tally.unread_pages)
        );
    }
    text + &format!("\nOutput: {}", args.output.join("").display())
}
