//! `suidao forum schedule`: when to visit each board.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use suidao::forum::map;
use suidao::forum::schedule::ScheduleMethod;
use suidao::model::ForumMap;
use suidao::report::{TimetableOptions, timetable};
use suidao::store::directory::write_whole;
use suidao::store::{CrawlDirectory, Store, plain_file};

use super::super::names::one_of;
use super::super::outcome::{Exit, Verbosity};

/// Print or draw the visit schedule of each board, computed from its posts of the last 28 days.
#[derive(Args)]
#[command(after_help = "Example: suidao forum schedule bbs --per-day 100 -o boards.svg")]
pub struct ScheduleArgs {
    /// Crawl directory of `suidao forum crawl`
    pub directory: PathBuf,
    /// How to distribute the visits
    #[arg(long, value_parser = one_of::<ScheduleMethod>(), default_value_t = ScheduleMethod::Sqrt)]
    pub method: ScheduleMethod,
    /// SVG image to draw posts and visits in
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Print the schedule as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Visits per day, all boards together [default: 8 per board]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub per_day: Option<u32>,
}

pub fn run(args: &ScheduleArgs, verbosity: Verbosity) -> Result<Exit> {
    let directory = CrawlDirectory::new(&args.directory);
    let store = Store::open(&directory)?;
    let options = TimetableOptions { method: args.method, per_day: args.per_day };
    let Some(plan) = timetable(&store, understood(&directory)?, options)? else {
        bail!("{}: contains no forum board; crawl a forum into it with `suidao forum crawl`", args.directory.display());
    };
    if let Some(output) = &args.output {
        let text = plan.svg();
        if output == Path::new("-") {
            outln!("{}", text.trim_end());
            return Ok(Exit::Done);
        }
        write_whole(output, |out| Ok(out.write_all(text.as_bytes())?))?;
        infoln!(verbosity, "Wrote {} ({} boards)", output.display(), plan.boards.len());
    }
    if args.json {
        outln!("{}", serde_json::to_string_pretty(&plan)?);
    } else {
        outln!("{}", plan.to_string().trim_end());
    }
    Ok(Exit::Done)
}

/// The forum file of the directory, perhaps with corrections.
fn understood(directory: &CrawlDirectory) -> Result<Option<ForumMap>> {
    let path = directory.root().join("forum.toml");
    if !path.exists() {
        return Ok(None);
    }
    let text = plain_file::read_text(&path, plain_file::LARGE)?;
    map::parse(&text).map(Some).with_context(|| path.display().to_string())
}
