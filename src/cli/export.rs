//! `suidao export`: the pages of a crawl in a format that others read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use suidao::corpus::{Catalogue, Fields};
use suidao::export::{Export, Output, graph, jsonl, parquet, text, warc};
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
    /// Write a directory FILE of files of this size instead, as 500MB or 1GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub shard_size: Option<u64>,
    /// Fields to write, separated by commas (parquet: all, jsonl: all but links)
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
    /// A table with a column for each field, for pandas, DuckDB, Polars
    Parquet,
    /// A web archive FILE.warc.gz with its index FILE.cdxj
    Warc,
    /// Clean text for language models, one page a line, with a data card beside it
    Text,
    /// The links between the pages: FILE.graphml, FILE.nodes.parquet, FILE.edges.parquet
    Graph,
}

/// Runs the verb.
pub fn run(args: &ExportArgs, voice: Voice) -> Result<Exit> {
    let mut filter = args.filter.filter()?;
    if args.format == Format::Text {
        // A page without text is no line.
        filter.min_chars = filter.min_chars.max(1);
    }
    let fields =
        if args.fields.is_empty() { None } else { Some(Fields::named(args.fields.iter().map(|name| name.trim()))?) };
    if args.format == Format::Graph && (args.shard_size.is_some() || args.output == Path::new("-")) {
        bail!("a graph is three files beside each other: give -o FILE.graphml, and no --shard-size");
    }
    let store = Store::open(&CrawlDirectory::new(&args.directory))?;
    let catalogue = Catalogue::read(&store)?;
    let selection = filter.select(&catalogue);
    if catalogue.entries.is_empty() {
        bail!("{}: no page was fetched yet; run the crawl again", args.directory.display());
    }
    let bar = progress(selection.pages, voice);
    let tell = || bar.inc(1);
    let export = Export { store: &store, catalogue: &catalogue, selection: &selection, tell: &tell };
    let output = Output { path: args.output.clone(), shard_size: args.shard_size };
    let done = match args.format {
        Format::Jsonl => jsonl::write(&export, &output, &fields.unwrap_or_else(Fields::without_links)),
        Format::Parquet => parquet::write(&export, &output, &fields.unwrap_or_else(Fields::all)),
        Format::Warc => warc::write(&export, &output),
        Format::Text => text::write(&export, &output, &filter),
        Format::Graph => graph::write(&export, &output.path),
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

/// Reads `500MB`, `1GiB`, `64k` or a number of bytes.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: Option<u64> = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "k" | "kb" => Some(1000),
        "m" | "mb" => Some(1_000_000),
        "g" | "gb" => Some(1_000_000_000),
        "kib" => Some(1 << 10),
        "mib" => Some(1 << 20),
        "gib" => Some(1 << 30),
        _ => None,
    };
    let bytes = factor.zip(number.parse().ok()).and_then(|(factor, number): (u64, u64)| number.checked_mul(factor));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| "write it as 500MB or 1GiB".to_owned())
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
