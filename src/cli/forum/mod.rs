//! `suidao forum`: crawls forums as boards of threads. One file per verb.

mod crawl;
mod discover;
mod samples;
mod schedule;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use suidao::config::Config;
use suidao::crawl::ForumMode;
use suidao::forum::board::BoardTest;
use suidao::forum::map;
use suidao::live::Job;
use suidao::model::{CrawlUrl, ForumMap};
use suidao::store::CrawlDirectory;
use suidao::topic::{Lexicon, Topic};

use super::outcome::{Exit, Verbosity};

/// Forums: boards, threads, posts.
#[derive(Args)]
#[command(after_help = "Example: suidao forum crawl http://bbs.example.cn/ -o bbs --contact me@example.cn")]
pub struct ForumArgs {
    #[command(subcommand)]
    verb: ForumVerb,
}

#[derive(Subcommand)]
enum ForumVerb {
    /// Detect the boards, threads and pagination of a forum
    Discover(discover::DiscoverArgs),
    /// Fetch every thread of a forum; rerun later to fetch new posts, or watch its boards
    Crawl(crawl::ForumCrawlArgs),
    /// Print or draw the visit schedule of each board
    Schedule(schedule::ScheduleArgs),
}

pub fn run(args: &ForumArgs, verbosity: Verbosity) -> Result<Exit> {
    match &args.verb {
        ForumVerb::Discover(args) => discover::run(args, verbosity),
        ForumVerb::Crawl(args) => crawl::run(args, verbosity),
        ForumVerb::Schedule(args) => schedule::run(args, verbosity),
    }
}

/// A forum file given by the user.
fn forum_file(path: &Path) -> Result<ForumMap> {
    let text = std::fs::read_to_string(path).with_context(|| {
        let path = path.display();
        format!("cannot read the forum file {path}; create one with `suidao forum discover URL -o {path}`")
    })?;
    map::parse(&text).with_context(|| format!("invalid forum file {}", path.display()))
}

/// The test of boards that the flag `--strict` selects.
fn board_test(strict: bool) -> BoardTest {
    if strict { BoardTest::Strict } else { BoardTest::Records }
}

/// A crawl of only the forums with these entry pages.
fn job(
    starts: Vec<CrawlUrl>,
    topic: Option<Topic>,
    mut config: Config,
    directory: CrawlDirectory,
    mode: ForumMode,
) -> Job {
    if config.scope.allow_hosts.is_empty() {
        // www.bbs.cn may lead to bbs.cn.
        let hosts = starts.iter().map(|start| start.host().trim_start_matches("www.").to_owned());
        config.scope.allow_hosts.extend(hosts);
    }
    // Lists and threads are long chains of pages, none of them off topic.
    config.limits.hops = Some(u16::MAX);
    let topic = topic.unwrap_or_else(|| {
        // Without a topic all pages have the same value.
        config.crawl.page_threshold = Some(0.0);
        Topic::new(Lexicon::from_terms("forum", &[("论坛", 1.0)]))
    });
    let seeds = if matches!(mode, ForumMode::Follow(_)) { Vec::new() } else { starts };
    Job { forum: Some(mode), ..Job::new(Arc::new(topic), seeds, config, directory) }
}
