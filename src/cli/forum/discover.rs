//! `suidao forum discover`: shows the structure of a forum, and writes it to a file that can be corrected.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use suidao::crawl::Exploration;
use suidao::crawl::{ForumMode, StopConditions};
use suidao::forum::map;
use suidao::forum::url_classes::UrlClassifier;
use suidao::html::count;
use suidao::live::{self, News};
use suidao::model::{CrawlUrl, Event, ForumMap, ForumPageView, PagingRule, ThreadRecord};
use suidao::store::CrawlDirectory;
use suidao::store::directory::write_whole;

use super::super::network::NetworkArgs;
use super::super::outcome::{Exit, Verbosity};
use super::super::screen::Screen;
use super::super::temporary::temporary_directory;
use super::samples;

/// Detect the boards, threads and pagination of a forum from about 20 pages, and write a forum file.
#[derive(Args)]
#[command(after_help = "Example: suidao forum discover http://bbs.example.cn/ -o bbs.toml --contact me@example.cn")]
pub struct DiscoverArgs {
    /// Home page of the forum: the page that lists its boards
    pub url: String,
    /// Forum file to write; must not exist [default: HOST.forum.toml]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Accept a page as a board if and only if exactly one class of its links can be threads (Li and others 2007): the
    /// lines of a list decide nothing
    #[arg(long)]
    pub strict: bool,
    /// Print the result as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    #[command(flatten)]
    pub network: NetworkArgs,
}

pub fn run(args: &DiscoverArgs, verbosity: Verbosity) -> Result<Exit> {
    let config = args.network.load()?;
    let start = start(&args.url)?;
    let output = args.output.clone().unwrap_or_else(|| format!("{}.forum.toml", start.host()).into());
    if output.is_dir() {
        bail!("{} is a directory; give the path of a file with -o", output.display());
    }
    if output.exists() {
        bail!("{} already exists and may contain corrections; delete it or choose another -o", output.display());
    }
    args.network.warn_without_contact(&config, verbosity);
    let scratch = temporary_directory()?;
    let directory = CrawlDirectory::new(scratch.path().join("samples"));
    let job = super::job(
        vec![start],
        None,
        config,
        directory.clone(),
        ForumMode::Discover { test: super::board_test(args.strict) },
    );
    let mut screen = Screen::new(verbosity, false, StopConditions::default());
    let mut seen: Vec<ForumPageView> = Vec::new();
    let listener = |news: News| {
        screen.report(&news);
        if let News::Batch(batch, _) = news {
            for event in &batch.events {
                if let Event::PageFetched(settled) = event {
                    seen.extend(settled.forum.as_ref().and_then(|page| page.view.as_deref().cloned()));
                }
            }
        }
    };
    let report = live::run(&job, listener, super::super::signals::interrupted());
    screen.clear();
    let report = report?;
    let map = match report.forum {
        Exploration::Understood(map) => map,
        Exploration::Failed(why) => {
            let cause = report.unreached.hosts.first().map_or_else(String::new, |(_, cause)| format!("; {cause}"));
            bail!(
                "{} is not recognised as a forum: {why} ({} read{cause}); give the page that lists the boards, or \
                 inspect it with `suidao check page URL`",
                args.url,
                count(report.progress.pages as usize, "page", "pages")
            )
        }
        Exploration::Unfinished if report.stop.is_none() => return Ok(Exit::Interrupted),
        Exploration::Unfinished => bail!(
            "cannot finish reading {} ({} fetched): the host fails, or its robots.txt cannot be fetched; try again later",
            args.url,
            count(report.progress.pages as usize, "page", "pages")
        ),
    };
    write_whole(&output, |out| Ok(out.write_all(map::write(&map).as_bytes())?))?;
    if args.json {
        outln!("{}", serde_json::to_string_pretty(&map)?);
    } else {
        print(&map, &seen)?;
        samples::print(&directory, &map, &seen)?;
    }
    let mut records = seen.iter().flat_map(|page_view| &page_view.records);
    if !verbosity.quiet && records.all(|record| record.replies.is_none() && record.views.is_none()) {
        errln!(
            "warning: {} does not look like a forum: none of its lists shows numbers of replies or views; crawl other sites \
             with `suidao crawl`",
            args.url
        );
    }
    infoln!(
        verbosity,
        "Wrote {} ({} read). Correct it where needed, then run `suidao forum crawl {} -o DIR`.",
        output.display(),
        count(report.progress.pages as usize, "page", "pages"),
        output.display()
    );
    Ok(Exit::Done)
}

pub fn start(text: &str) -> Result<CrawlUrl> {
    CrawlUrl::parse(text).with_context(|| format!("{text} is not a URL; write it as http://bbs.example.cn/"))
}

fn print(map: &ForumMap, seen: &[ForumPageView]) -> Result<()> {
    outln!("forum    {} (times {})", map.start, map.offset);
    outln!("boards   {} of class {}", map.boards.len(), or_none(&map.board_classes));
    for board in &map.boards {
        outln!("           {}  {}", board.url, board.name);
    }
    for rule in &map.board_pages {
        outln!("         pages {}", describe(rule));
    }
    outln!("threads  of class {}", or_none(&map.thread_classes));
    let classifier = UrlClassifier::from_slugs(map.slugs.clone());
    let is_thread = |record: &&ThreadRecord| {
        let class = classifier.classify(&record.url).class;
        map.thread_classes.iter().any(|text| *map::IdPattern::parse(text).class() == class)
    };
    for record in seen.iter().flat_map(|page_view| &page_view.records).filter(is_thread).take(3) {
        outln!("           {}  {}", record.url, record.title);
    }
    for rule in &map.thread_pages {
        outln!("         pages {}", describe(rule));
    }
    outln!("other links of the home page, by class:");
    let mut classes: BTreeMap<String, (usize, &CrawlUrl)> = BTreeMap::new();
    for link in seen.first().into_iter().flat_map(|page_view| &page_view.links) {
        classes.entry(classifier.classify(&link.url).class.to_string()).or_insert((0, &link.url)).0 += 1;
    }
    let known: Vec<String> = (map.board_classes.iter().chain(&map.thread_classes))
        .map(|text| map::IdPattern::parse(text).class().to_string())
        .collect();
    for (class, (number, example)) in classes.into_iter().filter(|(class, _)| !known.contains(class)) {
        outln!("         {number:>4}  {class}  {example}");
    }
    Ok(())
}

fn or_none(classes: &[String]) -> String {
    if classes.is_empty() { "(none: the home page is the only board)".to_owned() } else { classes.join(", ") }
}

fn describe(rule: &PagingRule) -> String {
    let PagingRule { pages, first, step, .. } = rule;
    format!("{pages}, {{page}} from {first} by {step}")
}
