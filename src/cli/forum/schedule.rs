//! `suidao forum schedule`: when to visit each board.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use suidao::forum::map;
use suidao::forum::schedule::{Horizon, Importance, ScheduleMethod, ScheduleObjective};
use suidao::model::ForumMap;
use suidao::report::{TimetableOptions, timetable};
use suidao::store::directory::write_whole;
use suidao::store::{CrawlDirectory, Store, plain_file};

use super::super::names::one_of;
use super::super::outcome::{Exit, Verbosity};

/// Print or draw the visit schedule of each board, computed from its posts of the last 28 days.
#[derive(Args)]
#[command(after_help = "Examples:\n  suidao forum schedule bbs --per-day 100 -o boards.svg\n  \
    suidao forum schedule bbs --method bra --horizon day --importance weight\n\n\
    The second is the setting in which Du, Ma 2010 compare era, wra, lra and bra. A day ends with a visit there, and posts \
    of busy boards count twice. With the defaults, bra leaves a double gap over midnight, and visits in proportion to the \
    posts gain nothing over even ones; sqrt has the shorter delay in both settings.")]
pub struct ScheduleArgs {
    /// Crawl directory of `suidao forum crawl`
    pub directory: PathBuf,
    /// Forum files with other weights than those of the crawl
    #[arg(value_name = "FORUM_FILE")]
    pub forums: Vec<PathBuf>,
    /// How to distribute the visits
    #[arg(long, value_parser = one_of::<ScheduleMethod>(), default_value_t = ScheduleMethod::Sqrt)]
    pub method: ScheduleMethod,
    /// What follows the last visit of a day
    #[arg(long, value_parser = one_of::<Horizon>(), default_value_t = Horizon::Week)]
    pub horizon: Horizon,
    /// What a post counts in the total delay
    #[arg(long, value_parser = one_of::<Importance>(), default_value_t = Importance::Equal)]
    pub importance: Importance,
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
    let objective = ScheduleObjective { horizon: args.horizon, importance: args.importance };
    let options = TimetableOptions { method: args.method, per_day: args.per_day, objective };
    let given = args.forums.iter().map(|path| super::forum_file(path)).collect::<Result<Vec<_>>>()?;
    let maps: Vec<ForumMap> = understood(&directory)?.into_iter().chain(given).collect();
    let Some(plan) = timetable(&store, &maps, options)? else {
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
