//! Arguments of `suidao export`, and what its files share.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use suidao::corpus::{DocumentFields, Selection};
use suidao::export::{Export, Output};
use suidao::html::count;
use suidao::model::{Day, size};

use super::super::filter::FilterArgs;
use super::super::source::CrawlSourceArgs;

/// Export the pages of a crawl to a file or a search server.
#[derive(Args, Clone)]
#[command(after_help = "Example: suidao export ml -o best.jsonl.zst --relevant --where 'lang:zh chars:200..'")]
pub struct ExportArgs {
    #[command(flatten)]
    pub source: CrawlSourceArgs,
    /// Format [default: that of the output's extension, or jsonl]
    #[arg(long = "format", value_enum, value_name = "FORMAT", help_heading = "Output")]
    pub given_format: Option<Format>,
    /// What is written: the format given, or that of the extension.
    #[arg(skip)]
    pub format: Format,
    /// File to write; text is compressed if it ends in .gz or .zst; a name without extension gets that of the format; -
    /// for standard output
    #[arg(short, long, value_name = "FILE", required_unless_present = "push", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long, conflicts_with = "push", help_heading = "Output")]
    pub force: bool,
    /// Write a directory of files of this size instead, such as 500MB or 1GiB
    #[arg(long, value_name = "SIZE", value_parser = shard_size, conflicts_with = "push", help_heading = "Output")]
    pub shard_size: Option<u64>,
    /// Fields to write, separated by commas [default: all for parquet, all but links for jsonl and csv, for search
    /// servers those listed in docs/formats.md]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Output")]
    pub fields: Vec<String>,
    /// Rules that extract fields such as prices: the values are written under `extracted`
    #[arg(long, value_name = "FIELDS.toml", help_heading = "Output")]
    pub extract: Option<PathBuf>,
    /// `last`: only pages that are new, changed or removed since the last export in this format or to this push URL; a
    /// day: only pages fetched on or after it
    #[arg(long, value_name = "last|DATE", help_heading = "Output")]
    pub since: Option<SinceFlag>,
    /// Do not count this export as the last one for --since last
    #[arg(long, help_heading = "Output")]
    pub no_record: bool,
    /// Send es-bulk rows to an Elasticsearch or OpenSearch index, such as http://host:9200/INDEX
    #[arg(long, value_name = "URL", conflicts_with = "output", help_heading = "Network")]
    pub push: Option<String>,
    /// Stop a push after this many seconds without progress
    #[arg(long, value_name = "SECONDS", default_value_t = 300, requires = "push", help_heading = "Network")]
    pub push_wait: u64,
    /// Rows per push request
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..), requires = "push", help_heading = "Network")]
    pub push_rows: u32,
    #[command(flatten)]
    pub filter: FilterArgs,
}

/// Export formats.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One JSON object per line and page
    #[default]
    Jsonl,
    /// CSV table with a header and one row per page; lists and objects are JSON
    Csv,
    /// Parquet table with one column per field, for pandas, DuckDB, Polars
    Parquet,
    /// Bulk NDJSON for Elasticsearch and OpenSearch, plus index templates
    EsBulk,
    /// NDJSON for Meilisearch, plus index settings
    Meilisearch,
    /// NDJSON for Quickwit, plus index configuration
    Quickwit,
    /// Tantivy index (a directory); `suidao search` uses DIR/index
    Index,
    /// WARC archive FILE.warc.gz
    Warc,
    /// Clean text for language models, one page per line, plus a data card
    Text,
    /// Markdown with front matter: one file, or with -o DIR/ a file per page
    Markdown,
    /// Link graph: FILE.graphml, FILE.nodes.parquet, FILE.edges.parquet
    Graph,
}

impl Format {
    /// The name on the command line.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

#[derive(Clone, Copy)]
pub enum SinceFlag {
    Last,
    /// Fetched on this day or later.
    Day(Day),
}

impl std::str::FromStr for SinceFlag {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "last" => Ok(Self::Last),
            day => match Day::period(day) {
                Some((first, _)) => Ok(Self::Day(first)),
                None => Err("expected `last` or a date such as 2021-03-05"),
            },
        }
    }
}

/// The exported pages, and what is new among them.
pub struct ExportSelection {
    /// All pages that the target should have.
    pub all: Selection,
    /// The pages written this time.
    pub selection: Selection,
    /// Numbers of pages exported earlier and no longer selected.
    pub retired: Vec<suidao::model::UrlId>,
}

/// How many pages were written, and where.
pub fn wrote(pages: u64, output: &Output) -> String {
    let files = output.shard_size.map(|_| std::fs::read_dir(&output.path).map_or(0, Iterator::count));
    let files = files.map_or_else(String::new, |files| format!("/ ({})", count(files, "file", "files")));
    let name = destination(&output.path);
    format!("Wrote {} to {}{files}", count(pages as usize, "page", "pages"), name.trim_end_matches('/'))
}

/// The fields named, or the default ones; with rules, what they extract too.
pub fn chosen(export: &Export, named: Option<DocumentFields>, default: fn() -> DocumentFields) -> DocumentFields {
    let fields = named.unwrap_or_else(default);
    if export.extractor.is_some() { fields.with(&["extracted"]) } else { fields }
}

/// The name of an output for messages.
pub fn destination(output: &Path) -> String {
    if output == Path::new("-") { "standard output".to_owned() } else { output.display().to_string() }
}

/// Parses the size of a shard. One below 64 KiB would hold about one page.
fn shard_size(text: &str) -> Result<u64, String> {
    let size = size::parse(text)?;
    (size >= 64 << 10).then_some(size).ok_or_else(|| "too small; write 64KiB or more, such as 500MB".to_owned())
}
