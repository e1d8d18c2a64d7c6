//! `suidao export`: the pages of a crawl in one file.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use suidao::store::{CrawlDirectory, Store, export};

use super::{Exit, Voice};

/// Write the pages of a crawl to one file.
#[derive(Args)]
#[command(after_help = "Example: suidao export ml --format jsonl -o ml.jsonl.zst")]
pub struct ExportArgs {
    /// Crawl directory
    pub directory: PathBuf,
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub format: Format,
    /// File to write; packed if it ends in .gz or .zst; - for the standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Export formats.
#[derive(Clone, Copy, ValueEnum)]
pub enum Format {
    /// One JSON object a page and line
    Jsonl,
}

/// Bodies are unpacked to at most this size; nothing larger was kept.
const MAX_BODY: usize = 1 << 30;

/// Runs the verb.
pub fn run(args: &ExportArgs, voice: Voice) -> Result<Exit> {
    let store = Store::open(&CrawlDirectory::new(&args.directory))?;
    let Format::Jsonl = args.format;
    let done = export::jsonl(&store, &args.output, MAX_BODY, |fetched| suidao::read::parse(fetched).text)?;
    if !voice.quiet {
        let place = args.output.display().to_string();
        let place = if place == "-" { "the standard output" } else { &place };
        eprintln!("{} pages written to {place}", done.pages);
        if done.without_archive > 0 {
            eprintln!("{} pages are not in the archive and were left out", done.without_archive);
        }
    }
    Ok(Exit::Done)
}
