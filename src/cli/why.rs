//! `suidao why`: what became of one URL, told from the log: its path, its evidence, its scores, k, or its refusal.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use suidao::corpus::Story;
use suidao::model::{CrawlUrl, number};
use suidao::store::{CrawlDirectory, Store};

use super::Exit;

/// Tell how a URL was found, what it scored, or why it was refused.
#[derive(Args)]
#[command(after_help = "Example: suidao why ml http://siwei.io/learn/")]
pub struct WhyArgs {
    /// Crawl directory
    pub directory: PathBuf,
    /// The URL
    pub url: String,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &WhyArgs) -> Result<Exit> {
    let url =
        CrawlUrl::parse(&args.url).with_context(|| format!("{} is no URL; write it as http://host/path", args.url))?;
    let store = Store::open(&CrawlDirectory::new(&args.directory))?;
    let story = Story::read(|| store.batches(), &url)?;
    let Some(story) = story else {
        bail!("{url} does not occur in {}: no page fetched there links to it", args.directory.display());
    };
    if args.json {
        say!("{}", serde_json::to_string_pretty(&number::rounded(serde_json::to_value(&story)?))?);
    } else {
        say!("{}", story.to_string().trim_end());
    }
    Ok(Exit::Done)
}
