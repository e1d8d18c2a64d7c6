//! `suidao demo`: five crawls of a generated web over real HTTP on loopback, with the code of a real crawl.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use suidao::config::Config;
use suidao::corpus::{Catalogue, DocumentFields, Filter};
use suidao::eval::{KnownTruth, Recorder, RunMeta};
use suidao::export::{Export, Output, jsonl};
use suidao::html::thousands;
use suidao::live::{self, CrawlReport, Job};
use suidao::model::{CrawlUrl, PageProcessed, Stop};
use suidao::recorded;
use suidao::store::{CrawlDirectory, Store};
use suidao::strategy::StrategyName;
use suidao::topic::Topic;
use suidao::world::{Proxied, SyntheticWeb, WebServer, WebSpec};

use super::cluster;
use super::outcome::{Exit, Verbosity};
use super::screen::Screen;
use super::temporary::temporary_directory;

/// Crawl a generated web on loopback with five strategies and compare them.
#[derive(Args)]
#[command(after_help = "Examples:\n  suidao demo\n  suidao demo --workers 3")]
pub struct DemoArgs {
    /// Random seed of the generated web
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = "Input")]
    seed: u64,
    /// Keep the crawls and exports in this directory [default: delete them]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Pages to fetch with each strategy
    #[arg(long, default_value_t = 2_000, value_name = "N", help_heading = "Limits",
        value_parser = clap::value_parser!(u64).range(1..))]
    pages: u64,
    /// Show a cluster instead: this many workers crawl a web, and one of them is killed; needs nats-server
    #[arg(long, value_name = "N", conflicts_with_all = ["pages", "output"],
        value_parser = clap::value_parser!(u8).range(1..=32))]
    workers: Option<u8>,
}

/// From the common baseline to our default.
const STRATEGIES: [StrategyName; 5] = [
    StrategyName::BreadthFirst,
    StrategyName::BestFirst,
    StrategyName::SharkSearch,
    StrategyName::Dth,
    StrategyName::Tunnel,
];

/// The next steps after the table.
const NEXT: &str = "\
To crawl your own topic, put 20 to 50 pages about it into samples/, other pages of the same sites into others/, ten
keywords into words.txt and a few seed URLs into seeds.txt, then run:
  suidao topic build -o topic.toml --name NAME --pages samples/ --background others/ --keywords words.txt
  suidao crawl -m topic.toml -s seeds.txt -o mycrawl --max-pages 1000 --contact you@example.cn
  suidao report mycrawl
docs/tutorial.md shows these steps on a web like this one, without a network. docs/lexicon.md explains how to write a lexicon by hand.";

struct Row {
    name: StrategyName,
    strategy: String,
    report: CrawlReport,
    relevant: usize,
    islands: usize,
}

pub fn run(args: &DemoArgs, verbosity: Verbosity) -> Result<Exit> {
    if let Some(workers) = args.workers {
        return cluster::demo(workers.into(), args.seed, verbosity);
    }
    let print = |text: &str| {
        infoln!(verbosity, "{text}");
    };
    let output = args.output.clone();
    let scratch = temporary_directory()?;
    let root = output.clone().unwrap_or_else(|| scratch.path().to_owned());

    let world = Arc::new(
        SyntheticWeb::new(WebSpec { seed: args.seed, ..WebSpec::demo() }).context("cannot generate the demo web")?,
    );
    print(&format!(
        "Generated web: {} blogs with {} tag pages and posts, home pages and archives. {} posts are about 体育 (sports), in {} groups (islands).",
        world.spec().hosts,
        thousands(world.spec().pages),
        world.relevant(),
        world.islands(),
    ));
    let server = WebServer::start(Arc::new(Proxied(Arc::clone(&world))))
        .context("cannot serve the demo web on 127.0.0.1; check the loopback interface")?;
    let topic = Arc::new(Topic::new(recorded::learn(&world)?));
    let lexicon = topic.lexicon();
    let terms: Vec<&str> = lexicon.terms.iter().take(10).map(|(term, _)| term.as_str()).collect();
    print(&format!("Lexicon built from sample pages: {} ...", terms.join(" ")));

    let mut rows = Vec::new();
    for strategy in STRATEGIES {
        let mut config = Config::default();
        config.strategy.name = strategy;
        config.limits.pages = Some(args.pages);
        // With more, every host would be asked at all times, and no strategy could choose between them.
        config.crawl.in_flight = 4;
        config.politeness.delay = 0.0;
        config.fetch.proxy = Some(server.proxy());
        config.fetch.contact = Some("suidao demo on loopback".to_owned());
        let name = config.strategy.label();
        print(&format!("Crawling with {name} ..."));
        let directory = CrawlDirectory::new(root.join(strategy.to_string()));
        let job = Job::new(Arc::clone(&topic), world.seeds(), config, directory);
        let mut screen = Screen::new(verbosity, false, job.config.goals());
        let report = live::run(&job, |news| screen.report(&news), super::signals::interrupted());
        screen.clear();
        let report = report.with_context(|| format!("the demo crawl with {name} failed"))?;
        if report.stop.is_none() {
            return Ok(Exit::Interrupted);
        }
        let store = Store::open(&job.directory)?;
        let output = Output::file(root.join(format!("{strategy}.jsonl.gz")));
        let catalogue = Catalogue::read(&store)?;
        let selection = Filter::default().select(&catalogue);
        let export =
            Export { store: &store, catalogue: &catalogue, selection: &selection, progress: &|| {}, extractor: None };
        jsonl::write(&export, &output, &DocumentFields::without_links())?;
        let (relevant, islands) = truth(&world, &store)?;
        rows.push(Row { name: strategy, strategy: name, report, relevant, islands });
    }
    outln!("{}", table(&rows, world.islands()).trim_end());
    if !verbosity.quiet {
        outln!("\n{}\n\n{NEXT}", meaning(&rows, &world));
    }
    if let Some(output) = output {
        outln!("\nCrawls and exports (*.jsonl.gz): {}", output.join("").display());
    }
    Ok(Exit::Done)
}

/// Explains the table in words.
fn meaning(rows: &[Row], world: &SyntheticWeb) -> String {
    let columns = format!(
        "relevant: fetched posts about 体育 (the web has {}); harvest rate: relevant / pages;\n\
         islands: groups of such posts that the crawl reached, of {}.",
        world.relevant(),
        world.islands()
    );
    let own = rows.iter().find(|row| row.name == StrategyName::Tunnel).map_or(0, |row| row.relevant);
    let best = rows.iter().filter(|row| row.name != StrategyName::Tunnel).max_by_key(|row| row.relevant);
    let Some(best) = best else { return columns };
    if own <= best.relevant {
        return format!(
            "{columns}\n{} found as many relevant posts as tunnel, or more. tunnel first samples every blog, which pays off later, and\n\
             no strategy is best on all webs: try more --pages or another --seed.",
            best.strategy
        );
    }
    format!(
        "{columns}\ntunnel found the most: {own} relevant posts, against {} for the next best, {}.\n\
         Why: groups of relevant posts are connected through off-topic pages: tags, categories and blogrolls. tunnel learns which\n\
         of these pages lead to the topic, and samples every blog. The other strategies score a link by its text and its page;\n\
         breadth-first does not score links.",
        best.relevant, best.strategy
    )
}

/// Relevant pages fetched and islands reached, according to the generated web.
fn truth(world: &SyntheticWeb, store: &Store) -> Result<(usize, usize)> {
    let mut recorder = Recorder::new(|url: &CrawlUrl, _: &PageProcessed| Some(KnownTruth::of(world, url)));
    for record in store.batches() {
        recorder.fold(&record?.batch);
    }
    let pages = recorder.pages();
    let tally = recorder.finish(RunMeta::default(), Stop::PageLimit, pages).at(&[pages])[0];
    Ok((tally.relevant, tally.islands))
}

fn table(rows: &[Row], islands: usize) -> String {
    let mut text = format!(
        "\n{:<18}{:>7}{:>10}{:>14}{:>10}{:>9}\n",
        "strategy", "pages", "relevant", "harvest rate", "islands", "pages/s"
    );
    for row in rows {
        let pages = row.report.progress.pages;
        text += &format!(
            "{:<18}{:>7}{:>10}{:>13.1}%{:>10}{:>9.0}\n",
            row.strategy,
            pages,
            row.relevant,
            100.0 * row.relevant as f64 / pages.max(1) as f64,
            format!("{}/{islands}", row.islands),
            row.report.pages_now as f64 / row.report.seconds.max(1e-3),
        );
    }
    text
}
