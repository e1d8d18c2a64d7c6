//! Generated webs of 10^4 to 10^7 pages: what they take before a page is asked for, what a page takes, as HTML read and
//! as facts; and a crawl of `worlds/large.toml` (10^6 pages) to its end by each strategy, with memory.
//!
//! ```text
//! cargo bench --bench world
//! SUIDAO_STRATEGY=breadth-first cargo bench --bench world         that crawl alone
//! ```
//! `SUIDAO_PAGES` ends the crawls earlier.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock, and is no library

mod process;

use std::env;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use suidao::config::Config;
use suidao::crawl::{Conditions, Crawl, Outcome, Wanted};
use suidao::model::{CrawlUrl, UrlId};
use suidao::replay::{Reading, Source, replay};
use suidao::topic::Topic;
use suidao::world::{Facts, Spec, World};

const STRATEGIES: [&str; 3] = ["breadth-first", "shark-search", "tunnel"];

fn main() {
    // `cargo test --benches` runs benches with this flag: nothing is tested here.
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    if let Ok(strategy) = env::var("SUIDAO_STRATEGY") {
        return crawl(&strategy);
    }
    println!("generated webs: seconds and megabytes to make one, microseconds a page read and as facts, links a page");
    for pages in [10_000, 100_000, 1_000_000, 10_000_000] {
        generate(pages);
    }
    for strategy in STRATEGIES {
        // A process each: what one leaves behind is not the next one's memory.
        let binary = env::current_exe().expect("this program has a path");
        let status = Command::new(binary).env("SUIDAO_STRATEGY", strategy).status();
        assert!(status.expect("this program can be started again").success());
    }
}

fn large() -> Spec {
    Spec::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("worlds/large.toml")).expect("a spec")
}

fn generate(pages: u64) {
    let large = large();
    let scaled = |count: u64| (count * pages / large.pages).max(10);
    let spec = Spec { pages, hosts: scaled(large.hosts).max(40), islands: scaled(large.islands), ..large.clone() };
    let (begun, before) = (Instant::now(), process::resident());
    let world = Arc::new(World::new(spec).expect("a web"));
    let (seconds, bytes) = (begun.elapsed().as_secs_f64(), process::resident().saturating_sub(before));
    let topic = Arc::new(Topic::new(suidao::recorded::learn(&world).expect("a topic")));
    let facts = Facts::new(Arc::clone(&world), Arc::clone(&topic));
    let reading = Reading { web: &*world, topic: &topic };
    let step = usize::try_from(pages / 10_000).expect("a count");
    let urls: Vec<CrawlUrl> = world.pages().step_by(step).map(|(url, _)| url).collect();
    let time = |source: &dyn Source, urls: &[CrawlUrl]| {
        let (begun, mut links) = (Instant::now(), 0);
        for url in urls {
            if let Outcome::Page { page, .. } = black_box(source.outcome(&Wanted::Page(UrlId(0)), url)) {
                links += page.outlinks.len();
            }
        }
        let count = urls.len() as f64;
        (begun.elapsed().as_secs_f64() / count * 1e6, links as f64 / count)
    };
    let (read, _) = time(&reading, &urls[..urls.len() / 10]);
    let (fact, links) = time(&facts, &urls);
    println!(
        "  {pages:>9} pages: {seconds:.2} s, {:.1} MB; {read:.0} us read, {fact:.1} us as facts, {links:.1} links",
        bytes as f64 / 1e6
    );
}

fn crawl(strategy: &str) {
    let world = Arc::new(World::new(large()).expect("a web"));
    let topic: Arc<Topic> = Arc::new(Topic::new(suidao::recorded::learn(&world).expect("a topic")));
    let facts = Facts::new(Arc::clone(&world), Arc::clone(&topic));
    let settings = [format!("strategy.name={strategy}"), "politeness.delay=0".to_owned()];
    let mut config = Config::load(None, &settings).expect("a strategy");
    config.limits.pages = env::var("SUIDAO_PAGES").ok().and_then(|pages| pages.parse().ok());
    let conditions = Conditions {
        limits: config.limits.clone(),
        goals: config.stop.clone(),
        politeness: config.politeness.clone(),
        scope: config.scope.clone(),
        traps: config.traps.clone(),
        sources: config.sources.clone(),
        languages: Vec::new(),
        agent: "suidao".to_owned(),
        seed: 1,
        page_threshold: topic.page_threshold(),
        link_threshold: topic.link_threshold(),
        forums: suidao::crawl::ForumMode::Off,
        watch: None,
        refresh: None,
    };
    let (begun, before, cpu) = (Instant::now(), process::resident(), process::cpu_seconds());
    let mut crawl = Crawl::new(conditions, config.strategy.build(topic.page_threshold()));
    let stop = replay(&mut crawl, &world.seeds(), &facts, 1, |batch| drop(black_box(batch)));
    let (seconds, progress) = (begun.elapsed().as_secs_f64(), crawl.progress());
    let cpu = process::cpu_seconds() - cpu;
    println!(
        "crawl, {}: {} pages ({} relevant), {} URLs, {stop:?}: {seconds:.1} s, {:.0} pages/s, {:.1} us of processor time a page; {:.0} MB at most, {:.0} before",
        config.strategy.label(),
        progress.pages,
        progress.relevant,
        progress.known,
        progress.pages as f64 / seconds,
        cpu / progress.pages as f64 * 1e6,
        process::most_resident() as f64 / 1e6,
        before as f64 / 1e6,
    );
}
