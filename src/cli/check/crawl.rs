//! `suidao check crawl`: verifies a crawl directory and repairs it.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use suidao::html::count;
use suidao::store::CrawlDirectory;
use suidao::store::verify::{self, CrawlCheck, RepairOutcome, RepairPlan};

use crate::cli::outcome::Exit;

/// Verify the log and the WARC archive of a crawl directory.
///
/// Nothing is changed without --repair. Exit code: 0 intact or repaired, 1 damaged, 2 no crawl.
#[derive(Args)]
#[command(after_help = "Example: suidao check crawl ml --repair")]
pub struct CrawlCheckArgs {
    /// Crawl directory
    directory: PathBuf,
    /// Restore the log from its intact copy, or else truncate log and archive after the last intact batch; the removed
    /// part is kept in DIRECTORY/damaged-1, and its pages are fetched again when the crawl resumes
    #[arg(long)]
    repair: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub fn run(args: &CrawlCheckArgs) -> Result<Exit> {
    let directory = CrawlDirectory::new(&args.directory);
    let (check, outcome) = if args.repair {
        directory.check_pages()?;
        verify::repair(&directory)?
    } else {
        (verify::check(&directory)?, RepairOutcome::Intact)
    };
    let summary = CheckSummary::new(&args.directory, check, outcome);
    if args.json {
        outln!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        outln!("{summary}");
    }
    Ok(if summary.intact || summary.moved_to.is_some() { Exit::Done } else { Exit::Incomplete })
}

#[derive(Serialize)]
struct CheckSummary<'a> {
    #[serde(flatten)]
    check: CrawlCheck,
    intact: bool,
    /// The damaged part of the log was restored.
    restored: bool,
    /// Where the repair put what it cut.
    moved_to: Option<PathBuf>,
    scores_lost: bool,
    #[serde(skip)]
    directory: &'a Path,
}

impl<'a> CheckSummary<'a> {
    fn new(directory: &'a Path, check: CrawlCheck, outcome: RepairOutcome) -> Self {
        let (intact, restored) = (check.damage.is_none(), outcome == RepairOutcome::Restored);
        let (moved_to, scores_lost) = match outcome {
            RepairOutcome::Cut { moved_to, scores_lost } => (Some(moved_to), scores_lost),
            RepairOutcome::Intact | RepairOutcome::Restored => (None, false),
        };
        Self { check, intact, restored, moved_to, scores_lost, directory }
    }
}

impl Display for CheckSummary<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let name = self.directory.display();
        let CrawlCheck { batches, pages, files, damage, repair, writers_log_missing, .. } = &self.check;
        if let Some(damage) = damage {
            writeln!(out, "damaged: {damage}")?;
        }
        write!(
            out,
            "{name}: {} in {}, {}: intact",
            count(*pages as usize, "page", "pages"),
            count(*batches as usize, "batch", "batches"),
            count(*files, "WARC file", "WARC files")
        )?;
        match &self.moved_to {
            Some(aside) => {
                write!(out, "; the rest was moved to {}, and its pages will be fetched again.", aside.display())?;
            }
            None if self.restored => out.write_str("; the damaged part of the log was restored.")?,

            None => out.write_str(".")?,
        }
        if let (Some(plan), None) = (repair, &self.moved_to) {
            let cut = format!("moves the rest to {name}/damaged-N, and the crawl then fetches its pages again");
            write!(out, "\n`suidao check crawl {name} --repair` ")?;
            match plan {
                RepairPlan::Cut => write!(out, "{cut}.")?,
                RepairPlan::RestoreOrCut => {
                    write!(out, "restores the log from its copy {name}/state/log. If that is damaged too, it {cut}.")?
                }
            }
        }
        if *writers_log_missing && self.intact {
            write!(out, "\n{name}/state/log, the crawl's copy of the log, is missing; the next crawl restores it.")?;
        }
        if self.scores_lost {
            write!(out, "\nThe new scores of its pages are lost; run `suidao rescore {name}` again.")?;
        }
        Ok(())
    }
}
