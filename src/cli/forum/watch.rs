//! `suidao forum watch`: crawls a forum, then visits each board on schedule until stopped.

use anyhow::Result;
use clap::Args;
use suidao::crawl::Exploration;
use suidao::crawl::Watch;
use suidao::forum::schedule::ScheduleMethod;
use suidao::forum::tally::ForumTally;
use suidao::html::count;
use suidao::live::News;
use suidao::model::{Event, Stop};

use super::super::names::one_of;
use super::super::operate::UNLIMITED;
use super::super::{Exit, Verbosity};
use super::crawl::{ForumCrawlArgs, finish, follow, in_words, job};

/// Crawl a forum, then revisit its boards on a schedule until stopped; rerun the command to resume.
#[derive(Args)]
#[command(mut_arg("max_requests", |arg| arg.help(UNLIMITED)), after_help = "Example: suidao forum watch bbs.toml -o bbs --per-day 100 --contact me@example.cn")]
pub struct WatchArgs {
    #[command(flatten)]
    pub crawl: ForumCrawlArgs,
    /// How to distribute the visits (see `suidao forum schedule`)
    #[arg(long, value_parser = one_of::<ScheduleMethod>(), default_value_t = ScheduleMethod::Sqrt)]
    pub method: ScheduleMethod,
    /// Visits per day, all boards together [default: 8 per board]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub per_day: Option<u32>,
}

pub fn run(args: &WatchArgs, verbosity: Verbosity) -> Result<Exit> {
    let (mut job, _) = job(&args.crawl, verbosity)?;
    job.watch = Some(Watch { per_day: args.per_day, method: args.method });
    let mut last = ForumTally::default();
    let listener = |news: &News, now: &ForumTally| {
        let News::Batch(batch, _) = news else { return };
        for event in &batch.events {
            let Event::Forum(step) = event else { continue };
            if step.restarted.is_empty() || verbosity.quiet {
                continue;
            }
            // The results of the previous visits are now complete.
            errln!(
                "{} pages since the last visit: {} threads, {} further pages, {} lists; visiting {}",
                now.pages - last.pages,
                now.threads - last.threads,
                now.continuations - last.continuations,
                now.index_pages - last.index_pages,
                count(step.restarted.len(), "board", "boards")
            );
            last = now.clone();
        }
    };
    let (report, tally) = follow(&args.crawl, &job, verbosity, listener)?;
    finish(&args.crawl, &job, &report, &tally)?;
    if !verbosity.quiet {
        errln!("{}", in_words(&args.crawl, &report, &tally));
    }
    Ok(match (report.stop, &report.forum) {
        (None, _) => Exit::Interrupted,
        (Some(Stop::OnlyUnreachable | Stop::FrontierEmpty | Stop::RequestLimit), _) => Exit::Incomplete,
        (Some(_), Exploration::Understood(_)) => Exit::Done,
        _ => Exit::Incomplete,
    })
}
