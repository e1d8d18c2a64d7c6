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

use super::network::ConfigArgs;
use super::outcome::{Exit, Verbosity};

/// Inspect one page, robots.txt, URL, configuration or crawl directory.
#[derive(Args)]
#[command(after_help = "Example: suidao check page saved.html --url http://host/saved.html -m lexicons/ml.toml")]
pub struct CheckArgs {
    #[command(subcommand)]
    command: CheckCommand,
}

#[derive(Subcommand)]
enum CheckCommand {
    /// Show charset, title, main text, scores and links of a saved or fetched page
    Page(Box<page::PageArgs>),
    /// Show which URLs a saved robots.txt allows, and by which rule
    Robots(robots::RobotsArgs),
    /// Print the normalised form of URLs, and with --json their scope, robots.txt and weight
    #[command(after_help = "Example: suidao check url 'http://a.cn/?utm_source=x'")]
    Url {
        /// URLs
        #[arg(required = true, value_name = "URL")]
        urls: Vec<String>,
        /// Print a line of JSON per URL
        #[arg(long, help_heading = "Output")]
        json: bool,
        #[command(flatten)]
        keys: ConfigArgs,
    },
    /// Verify a crawl directory, and repair it with --repair
    Crawl(crawl::CrawlCheckArgs),
    /// Validate a configuration and print the effective values
    #[command(after_help = "Example: suidao check config my.toml")]
    Config {
        /// Configuration file [default: built-in defaults]
        file: Option<PathBuf>,
        /// Override one configuration key; may be repeated
        #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Input")]
        sets: Vec<String>,
        /// Print JSON
        #[arg(long, help_heading = "Output")]
        json: bool,
    },
}

pub fn run(args: &CheckArgs, verbosity: Verbosity) -> Result<Exit> {
    match &args.command {
        CheckCommand::Page(args) => return page::show(args, verbosity),
        CheckCommand::Robots(args) => robots::show(args)?,
        CheckCommand::Url { urls, json, keys } => {
            if !url::show(urls, &keys.load(&[])?, *json)? {
                return Ok(Exit::Invalid);
            }
        }
        CheckCommand::Crawl(args) => return crawl::run(args),
        CheckCommand::Config { file, sets, json } => config::show(&Config::load(file.as_deref(), sets)?, *json)?,
    }
    Ok(Exit::Done)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read {}; check the path", file.display()))
}

fn parse(url: &str) -> Result<CrawlUrl> {
    CrawlUrl::parse(url).with_context(|| format!("{url} is not a URL; write it as http://host/path"))
}
