//! `suidao check`: what suidao makes of one thing, without a crawl. One file a thing.

mod config;
mod crawl;
mod page;
mod robots;
mod url;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use suidao::config::Config;
use suidao::model::CrawlUrl;

use super::{Exit, Voice};

/// Show what suidao makes of one page, robots.txt, URL, configuration or crawl directory.
#[derive(Args)]
#[command(after_help = "Example: suidao check page saved.html --url http://host/saved.html -m lexicons/ml.toml")]
pub struct CheckArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// A page, saved or fetched: charset, title, main text, scores, links
    Page(Box<page::PageArgs>),
    /// Which URLs a saved robots.txt allows: a line for each, `allowed` or `disallowed`, the URL and the rule, parted by tabs
    Robots(robots::RobotsArgs),
    /// URLs: the normal form of each on a line; with --json scope, robots.txt and weight too
    Url {
        /// URLs
        #[arg(required = true)]
        urls: Vec<String>,
        /// A line of JSON for each
        #[arg(long)]
        json: bool,
        /// Configuration file, for the scope
        #[arg(short, long)]
        config: Option<PathBuf>,
        /// Override one key of the configuration
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
    },
    /// A crawl directory: whether it is sound; cuts what is damaged
    Crawl(crawl::CrawlCheckArgs),
    /// A configuration: whether it can be used, and the values in force
    Config {
        /// Configuration file; without one the defaults are shown
        file: Option<PathBuf>,
        /// Override one key
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(args: &CheckArgs, voice: Voice) -> Result<Exit> {
    match &args.what {
        What::Page(args) => return page::show(args, voice),
        What::Robots(args) => robots::show(args)?,
        What::Url { urls, json, config, sets } => {
            if !url::show(urls, config.as_deref(), sets, *json)? {
                return Ok(Exit::Wrong);
            }
        }
        What::Crawl(args) => return crawl::run(args),
        What::Config { file, sets, json } => config::show(&Config::load(file.as_deref(), sets)?, *json)?,
    }
    Ok(Exit::Done)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read {}; check the path", file.display()))
}

fn parse(url: &str) -> Result<CrawlUrl> {
    CrawlUrl::parse(url).with_context(|| format!("{url} is no URL; write it as http://host/path"))
}
