//! `suidao check crawl`: verifies a crawl directory and repairs it.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use suidao::html::count;
use suidao::store::CrawlDirectory;
use suidao::store::verify::{self, RepairOutcome};

use crate::cli::Exit;

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
    let (checked, outcome) = if args.repair {
        directory.check_pages()?;
        verify::repair(&directory)?
    } else {
        (verify::check(&directory)?, RepairOutcome::Intact)
    };
    let (aside, scores_lost) = match &outcome {
        RepairOutcome::Cut { aside, scores_lost } => (Some(aside), *scores_lost),
        RepairOutcome::Intact | RepairOutcome::Restored => (None, false),
    };
    if args.json {
        let mut output = serde_json::to_value(&checked)?;
        output["intact"] = json!(checked.damage.is_none());
        output["moved_to"] = json!(aside);
        output["scores_lost"] = json!(scores_lost);
        outln!("{}", serde_json::to_string_pretty(&output)?);
    } else {
        let name = args.directory.display();
        let verify::CrawlCheck { batches, pages, files, damage, .. } = &checked;
        let advice = match (damage, aside) {
            (None, _) if outcome == RepairOutcome::Restored => {
                "intact; the damaged part of the log was restored".to_owned()
            }
            (None, _) => "intact".to_owned(),
            (Some(_), None) => {
                "intact, the rest is damaged; rerun with --repair to restore it from the copy of the log, or else to remove it \
                 and fetch its pages again"
                    .to_owned()
            }
            (Some(_), Some(aside)) => {
                format!("intact; the rest was moved to {}, and its pages will be fetched again", aside.display())
            }
        };
        if let Some(damage) = damage {
            outln!("damaged: {damage}");
        }
        outln!(
            "{name}: {} in {}, {}: {advice}.",
            count(*pages as usize, "page", "pages"),
            count(*batches as usize, "batch", "batches"),
            count(*files, "WARC file", "WARC files")
        );
        if scores_lost {
            outln!("The new scores of its pages are lost; run `suidao rescore {name}` again.");
        }
    }
    Ok(if checked.damage.is_none() || aside.is_some() { Exit::Done } else { Exit::Incomplete })
}
