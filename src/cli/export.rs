//! `suidao export`: the pages of a crawl in a format that others read.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use suidao::corpus::{Catalogue, Fields};
use suidao::export::{Export, jsonl};
use suidao::store::{CrawlDirectory, Store};

use super::filter::FilterArgs;
use super::{Exit, Voice};

/// Write the pages of a crawl in a format that others read.
#[derive(Args)]
#[command(after_help = "Example: suidao export ml -o best.jsonl.zst --relevant --duplicates best --min-chars 200")]
pub struct ExportArgs {
    /// Crawl directory
    pub directory: PathBuf,
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub format: Format,
    /// File to write; text formats are packed if it ends in .gz or .zst; - for the standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Fields to write, separated by commas (jsonl: all but links)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub fields: Vec<String>,
    #[command(flatten)]
    pub filter: FilterArgs,
}

/// Export formats.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object a page and line
    Jsonl,
}

/// Runs the verb.
pub fn run(args: &ExportArgs, voice: Voice) -> Result<Exit> {
    let filter = args.filter.filter()?;
    let fields =
        if args.fields.is_empty() { None } else { Some(Fields::named(args.fields.iter().map(|name| name.trim()))?) };
    let store = Store::open(&CrawlDirectory::new(&args.directory))?;
    let catalogue = Catalogue::read(&store)?;
    let selection = filter.select(&catalogue);
    if catalogue.entries.is_empty() {
        bail!("{}: no page was fetched yet; run the crawl again", args.directory.display());
    }
    let bar = progress(selection.pages, voice);
    let tell = || bar.inc(1);
    let export = Export { store: &store, catalogue: &catalogue, selection: &selection, tell: &tell };
    let done = match args.format {
        Format::Jsonl => jsonl::write(&export, &args.output, &fields.unwrap_or_else(Fields::without_links)),
    };
    bar.finish_and_clear();
    let done = done?;
    if !voice.quiet {
        let place = args.output.display().to_string();
        let place = if place == "-" { "the standard output" } else { &place };
        eprintln!("{} pages written to {place}", done.pages);
        for (reason, pages) in &selection.left_out {
            eprintln!("{pages} left out: {reason}");
        }
    }
    Ok(Exit::Done)
}

/// A bar over so many pages; none where nobody looks.
pub fn progress(pages: u64, voice: Voice) -> ProgressBar {
    if voice.quiet {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(pages);
    let style = ProgressStyle::with_template("{bar:30} {human_pos}/{human_len} pages, {per_sec}, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
