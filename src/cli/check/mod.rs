//! `suidao check`: inspects one thing without a crawl, one file per kind.

pub mod config;
mod crawl;
mod page;
mod robots;
mod url;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use suidao::config::Config;
use suidao::model::CrawlUrl;

use super::{Exit, Verbosity};

/// Inspect one page, robots.txt, URL, configuration or crawl directory.
#[derive(Args)]
#[command(after_help = "Example: suidao check page saved.html --url http://host/saved.html -m lexicons/ml.toml")]
pub struct CheckArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Show charset, title, main text, scores and links of a saved or fetched page
    Page(Box<page::PageArgs>),
    /// Show which URLs a saved robots.txt allows: `allowed` or `disallowed`, URL and rule, separated by tabs
    Robots(robots::RobotsArgs),
    /// Print the normalised form of URLs; with --json also scope, URL of robots.txt and the weight of strategy url-weight
    #[command(after_help = "Example: suidao check url 'http://a.cn/?utm_source=x'")]
    Url {
        /// URLs
        #[arg(required = true)]
        urls: Vec<String>,
        /// Print a line of JSON per URL
        #[arg(long)]
        json: bool,
        /// Configuration file, for the scope
        #[arg(short, long)]
        config: Option<PathBuf>,
        /// Override one configuration key; may be repeated
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
    },
    /// Verify a crawl directory, and repair it with --repair
    Crawl(crawl::CrawlCheckArgs),
    /// Validate a configuration and print the effective values
    #[command(after_help = "Example: suidao check config my.toml")]
    Config {
        /// Configuration file [default: built-in defaults]
        file: Option<PathBuf>,
        /// Override one configuration key; may be repeated
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(args: &CheckArgs, verbosity: Verbosity) -> Result<Exit> {
    match &args.what {
        What::Page(args) => return page::show(args, verbosity),
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
    CrawlUrl::parse(url).with_context(|| format!("{url} is not a URL; write it as http://host/path"))
}
