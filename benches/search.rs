//! The index of a crawl: time to build, size, and time of a query from its text to ten hits with snippets and facets.
//! Queries are one to three random words of the corpus.
//!
//! ```text
//! cargo bench --bench search                            a crawl of the generated web
//! SUIDAO_CRAWL=DIR cargo bench --bench search           the crawl in DIR
//! ```
//!
//! Options: `SUIDAO_PAGES` (2,000) of the generated web, `SUIDAO_QUERIES` (1,000).

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

mod process;

use std::env;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use suidao::config::Config;
use suidao::corpus::{Catalogue, DuplicatePolicy, Filter};
use suidao::index::{Index, Request, build};
use suidao::live::{self, Job};
use suidao::store::{CrawlDirectory, Store};
use suidao::text::{cut, fold, is_term};
use suidao::topic::{Lexicon, Topic};
use suidao::world::{Proxied, SyntheticWeb, WebServer, WebSpec, topic_words};

fn number(name: &str, default: usize) -> usize {
    env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn main() {
    if env::args().any(|argument| argument == "--test") {
        return;
    }
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let directory = match env::var("SUIDAO_CRAWL") {
        Ok(directory) => CrawlDirectory::new(directory),
        Err(_) => crawled(scratch.path()),
    };
    let store = Store::open(&directory).expect("a crawl");
    let catalogue = Catalogue::read(&store).expect("the log reads");
    let all = Filter::default().select(&catalogue);
    let path = scratch.path().join("index");
    cut("预热", |_| ());
    let begun = Instant::now();
    build(&store, &catalogue, &all, &path, None, &|| {}).expect("the index is made");
    let seconds = begun.elapsed().as_secs_f64();
    let index = Index::open(&path).expect("an index");
    let whole = index.search(&Request { limit: usize::MAX, ..Request::default() }).expect("an answer");
    let text: usize = whole.hits.iter().map(|hit| hit.page.text.len() + hit.page.title.len()).sum();
    let size = size(&path);
    println!("{} pages with {:.1} MB of text", whole.pages, text as f64 / 1e6);
    println!("made in {seconds:.1} s: {:.0} pages/s", whole.pages as f64 / seconds);
    println!("{:.1} MB on disk: {:.2} bytes a byte of text", size as f64 / 1e6, size as f64 / text as f64);
    println!("most memory while it was made: {} MB", process::most_resident() >> 20);

    let mut words: Vec<String> = Vec::new();
    for hit in &whole.hits {
        let folded = fold(&hit.page.text);
        cut(&folded, |range| {
            if is_term(&folded[range.clone()]) {
                words.push(folded[range].to_owned());
            }
        });
    }
    drop(whole);
    let mut state = 1_u64;
    // Knuth's MMIX generator, whose upper bits are better.
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let queries: Vec<String> = (0..number("SUIDAO_QUERIES", 1000))
        .map(|_| (0..1 + draw(3)).map(|_| words[draw(words.len())].clone()).collect::<Vec<_>>().join(" "))
        .collect();
    let filter = Filter { duplicates: DuplicatePolicy::Best, ..Filter::default() };
    let (mut times, mut found) = (Vec::new(), 0);
    for query in queries {
        let request = Request { query, limit: 10, filter: filter.clone(), ..Request::default() };
        let begun = Instant::now();
        found += index.search(&request).expect("an answer").pages;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{} queries, {:.0} pages found in the mean: median {:.2} ms, 99th percentile {:.2} ms",
        times.len(),
        found as f64 / times.len() as f64,
        times[times.len() / 2],
        times[times.len() * 99 / 100]
    );
}

fn size(path: &Path) -> u64 {
    let files = std::fs::read_dir(path).expect("an index is a directory");
    files.map(|file| file.and_then(|file| file.metadata()).map_or(0, |data| data.len())).sum()
}

fn crawled(scratch: &Path) -> CrawlDirectory {
    let world =
        SyntheticWeb::new(WebSpec { pages: 40_000, hosts: 400, islands: 60, ..WebSpec::default() }).expect("a web");
    let seeds = world.seeds();
    let server = WebServer::start(Arc::new(Proxied(world))).expect("a port on loopback");
    let words: Vec<(&str, f64)> = topic_words().map(|word| (word, 1.0)).collect();
    let mut config = Config::default();
    config.limits.pages = Some(number("SUIDAO_PAGES", 2_000) as u64);
    config.politeness.delay = 0.0;
    config.fetch.proxy = Some(server.proxy());
    config.fetch.contact = Some("suidao bench on loopback".to_owned());
    let directory = CrawlDirectory::new(scratch.join("crawl"));
    let topic = Arc::new(Topic::new(Lexicon::from_terms("体育", &words)));
    let job = Job::new(topic, seeds, config, directory.clone());
    live::run(&job, |_| {}, std::future::pending()).expect("the crawl runs");
    directory
}
