//! `suidao report`: one HTML page about a crawl.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use suidao::html::thousands;
use suidao::messages::Lang;
use suidao::report::{gather, page};
use suidao::store::directory::{write_own, write_whole};
use suidao::store::{CrawlDirectory, plain_file};

use super::export::with_spinner;
use super::inputs;
use super::outcome::{Exit, Verbosity};
use super::source::CrawlSourceArgs;

/// Write an HTML report about a crawl: harvest, hosts, tunnels, dates, duplicates, failures and queue.
#[derive(Args)]
#[command(after_help = "Example: suidao report ml -o ml.html")]
pub struct ReportArgs {
    #[command(flatten)]
    pub source: CrawlSourceArgs,
    /// File to write [default: report.html in the crawl directory]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Print the figures as JSON instead
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub json: bool,
}

pub fn run(args: &ReportArgs, verbosity: Verbosity) -> Result<Exit> {
    let source = args.source.open()?;
    let directory = source.directory();
    let summary = summary(&directory)?;
    let facts = with_spinner("reading the log", verbosity, || -> Result<_> {
        let (store, catalogue) = inputs::crawl(source.path())?;
        Ok(gather(&store, &catalogue, summary.as_ref())?)
    })?;
    if args.json {
        outln!("{}", serde_json::to_string_pretty(&facts)?);
        return Ok(Exit::Done);
    }
    let lang = language();
    let output = match &args.output {
        Some(output) => output.clone(),
        None if let Some(name) = source.cluster() => PathBuf::from(format!("{name}-report.html")),
        // In the current directory if the crawl directory is read-only.
        None if directory.is_read_only() => {
            let real = std::fs::canonicalize(directory.root()).unwrap_or_else(|_| directory.root().to_owned());
            let name = real.file_name().map_or_else(|| "crawl".into(), |name| name.to_string_lossy());
            PathBuf::from(format!("{name}-report.html"))
        }
        None => directory.root().join("report.html"),
    };
    if output == Path::new("-") {
        outln!("{}", page(&facts, lang).trim_end());
        return Ok(Exit::Done);
    }
    let text = page(&facts, lang);
    match args.output {
        Some(_) => write_whole(&output, |out| Ok(out.write_all(text.as_bytes())?))?,
        None => write_own(&output, |out| Ok(out.write_all(text.as_bytes())?))?,
    }
    infoln!(verbosity, "Wrote {} ({} pages)", output.display(), thousands(facts.counts.pages));
    Ok(Exit::Done)
}

/// The language of the pages that are written: that of the user's locale.
pub fn language() -> Lang {
    Lang::of_locale(["LC_ALL", "LC_MESSAGES", "LANG"].map(|name| std::env::var(name).ok()))
}

/// `summary.json`; a killed crawl may have none.
pub fn summary(directory: &CrawlDirectory) -> Result<Option<serde_json::Value>> {
    let path = directory.summary_json();
    if !path.exists() {
        return Ok(None);
    }
    let text = plain_file::read(&path, plain_file::LARGE)?;
    let summary = serde_json::from_slice(&text);
    summary.map(Some).with_context(|| format!("{} is damaged; delete it or run the crawl again", path.display()))
}
