//! `suidao why`: the history of one URL, from the log: its path, scores, k, its outcome or the reason why it was
//! skipped, and its visits.

use anyhow::{Result, bail};
use clap::Args;
use suidao::corpus::UrlHistory;
use suidao::messages::Lang;
use suidao::model::{CrawlUrl, number};
use suidao::store::Store;

use super::inputs;
use super::outcome::{Exit, Verbosity};
use super::source::CrawlSourceArgs;

/// Explain how a URL was found, what it scored, or why it was skipped, and list its visits; -v adds its queue and k.
#[derive(Args)]
#[command(after_help = "Example: suidao why ml http://siwei.io/learn/")]
pub struct WhyArgs {
    #[command(flatten)]
    pub source: CrawlSourceArgs,
    /// URL to explain; looked up under http and https, so the scheme may be omitted
    pub url: String,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

pub fn run(args: &WhyArgs, verbosity: Verbosity) -> Result<Exit> {
    let spellings = spellings(&args.url)?;
    let source = args.source.open()?;
    let store = Store::open(&source.directory())?;
    let mut known = None;
    for url in &spellings {
        if known.is_none() {
            known = UrlHistory::read(|| store.batches(), url, Lang::English)?;
        }
    }
    let Some(history) = known else {
        let url = &spellings[0];
        bail!("{url} is unknown to the crawl in {source}: no fetched page links to it");
    };
    if args.json {
        outln!("{}", serde_json::to_string_pretty(&number::plain(serde_json::to_value(&history)?))?);
    } else {
        // `#` adds the queues and k.
        let text = if verbosity.verbose > 0 { format!("{history:#}") } else { history.to_string() };
        outln!("{}", text.trim_end());
    }
    Ok(Exit::Done)
}

/// The URL as typed, then under the other scheme; at least one.
fn spellings(typed: &str) -> Result<Vec<CrawlUrl>> {
    match (CrawlUrl::parse(typed), inputs::without_scheme(typed)) {
        (Ok(url), _) => {
            let other = url.under(!url.is_https());
            Ok(std::iter::once(url).chain(other).collect())
        }
        (Err(_), Some(both)) => Ok(both.into()),
        (Err(error), None) => bail!("{typed} is not a URL: {error}; write it as http://host/path"),
    }
}
