//! `suidao check crawl`: whether a crawl directory is sound, and its repair.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use suidao::store::{CrawlDirectory, verify};

use crate::cli::Exit;

/// Looks through log and archive of a crawl directory: whether each is whole and whether they agree.
///
/// Nothing is changed without --repair. The exit code is 0 if all is whole or was repaired, 1 if something is damaged, 2 if
/// there is no crawl.
#[derive(Args)]
#[command(after_help = "Example: suidao check crawl ml --repair")]
pub struct CrawlCheckArgs {
    /// Crawl directory
    directory: PathBuf,
    /// Cut log and archive behind the last batch that is whole; what is cut is kept in DIRECTORY/damaged-1, and fetched again when
    /// the crawl goes on
    #[arg(long)]
    repair: bool,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &CrawlCheckArgs) -> Result<Exit> {
    let directory = CrawlDirectory::new(&args.directory);
    let (checked, aside) = if args.repair {
        directory.check_pages()?;
        verify::repair(&directory)?
    } else {
        (verify::check(&directory)?, None)
    };
    if args.json {
        let mut shown = serde_json::to_value(&checked)?;
        shown["sound"] = json!(checked.damage.is_none());
        shown["kept_in"] = json!(aside);
        say!("{}", serde_json::to_string_pretty(&shown)?);
    } else {
        let place = args.directory.display();
        let verify::Checked { batches, pages, files, damage, .. } = &checked;
        let advice = match (damage, &aside) {
            (None, _) => "sound".to_owned(),
            (Some(_), None) => "the rest is damaged; --repair cuts it off, and it is fetched again".to_owned(),
            (Some(_), Some(aside)) => {
                format!("cut behind them; what was cut is kept in {}, and fetched again", aside.display())
            }
        };
        if let Some(damage) = damage {
            say!("damaged: {damage}");
        }
        say!("{place}: {pages} pages in {batches} batches, {files} WARC files: {advice}.");
    }
    Ok(if checked.damage.is_none() || aside.is_some() { Exit::Done } else { Exit::Short })
}
