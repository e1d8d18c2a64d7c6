//! One machine, two drivers: with one request in flight a live crawl over HTTP writes the events of a replay of the
//! same web, byte for byte, also if it is stopped and resumed.

use std::sync::Arc;

use crate::support::{Stage, as_json, events, finite, lexicon_of, run};
use suidao::config::Config;
use suidao::crawl::Crawl;
use suidao::eval::WebGraph;
use suidao::live::{self, Job};
use suidao::replay::{TopicalWeb, Web, replay};
use suidao::store::CrawlDirectory;
use suidao::strategy::StrategyName;
use suidao::topic::{ContextGraphModel, Topic, UNREACHABLE};
use suidao::world::{Proxied, ServerOptions, WebSpec};
use suidao_features::depth;

/// A web with traps and endless calendars, for a crawl with a limit.
fn spec() -> WebSpec {
    WebSpec { calendar_hosts: 0.3, session_hosts: 0.2, robots_hosts: 0.8, ..finite() }
}

fn config(sets: &[&str]) -> Config {
    let fixed = ["crawl.in_flight=1", "politeness.delay=0", "politeness.backoff=0", "politeness.robots_retry=0"];
    let sets: Vec<String> = fixed.iter().chain(sets).map(|&set| set.to_owned()).collect();
    Config::load(None, &sets).unwrap()
}

/// Layers of the world's own pages: those on topic, one link away, and the rest.
fn layers(stage: &Stage) -> ContextGraphModel {
    let topic = Topic::new(lexicon_of("体育"));
    let source = TopicalWeb { web: &*stage.world, topic: &topic };
    let settings = live::crawl_settings(&config(&[]), source.topic);
    let graph =
        WebGraph::read(settings, 150, &stage.world.seeds(), &source, |url, _| Some(stage.world.is_relevant(url)));
    let document = |&(node, layer): &(u32, Option<u8>)| {
        let fetched = stage.world.get(graph.url(node)).unwrap();
        (layer.unwrap_or(UNREACHABLE), suidao::read::parse(&fetched).document)
    };
    ContextGraphModel::learn(&graph.layers(1).iter().map(document).collect::<Vec<_>>()).unwrap()
}

/// The events of both drivers, without times.
fn both(stage: &Stage, mut config: Config, name: &str) -> (Vec<String>, Vec<String>) {
    let mut topic = Topic::new(lexicon_of("体育"));
    if config.strategy.name == StrategyName::ContextGraph {
        topic = topic.with_context_graph(layers(stage));
    }
    let topic = Arc::new(topic);
    let seeds = stage.world.seeds();
    let settings = live::crawl_settings(&config, &topic);
    let strategy = config.strategy.build(settings.page_threshold);
    let mut crawl = Crawl::new(settings, strategy);
    let mut batches = Vec::new();
    let web = Proxied(Arc::clone(&stage.world));
    replay(&mut crawl, &seeds, &TopicalWeb { web: &web, topic: &topic }, 1, |batch| batches.push(batch));

    config.fetch.proxy = Some(stage.server.proxy());
    let directory = CrawlDirectory::new(stage.path(name));
    let mut output = Vec::new();
    let job = Job::new(topic, seeds, config, directory);
    let listener = |news: live::News| {
        if let live::News::Batch(batch, _) = news {
            output.push(batch.clone());
        }
    };
    live::run(&job, listener, std::future::pending()).unwrap();
    assert_eq!(as_json(&output), events(&stage.path(name)), "{name}: the events printed are those stored");
    (as_json(&output), as_json(&batches))
}

fn same(left: &[String], right: &[String], name: &str) {
    for (number, (left, right)) in left.iter().zip(right).enumerate() {
        assert_eq!(left, right, "{name}: event {number}");
    }
    assert_eq!(left.len(), right.len(), "{name}");
}

#[test]
fn a_live_crawl_with_one_in_flight_is_the_replay() {
    let stage = Stage::new(spec(), ServerOptions::default());
    for sets in [
        &["strategy.name=breadth-first"][..],
        &["strategy.name=best-first"],
        &["strategy.name=best-first", "strategy.best-first.focus=soft"],
        &["strategy.name=pagerank"],
        &["strategy.name=url-weight", "crawl.seed=7"],
        &["strategy.name=tunnel"],
        &["strategy.name=dth"],
        &["strategy.name=dth", "strategy.dth.variant=preempt"],
        &["strategy.name=dth", "strategy.dth.variant=queue"],
        &["strategy.name=dth", "strategy.dth.variant=interleave"],
        &["strategy.name=fish-search"],
        &["strategy.name=shark-search"],
        &["strategy.name=static-tunnel", "strategy.static-tunnel.k=4"],
        &["strategy.name=context-graph", "strategy.context-graph.model=layers.toml"],
        &["strategy.name=opic"],
        &["strategy.name=random", "strategy.random.seed=7"],
    ]
    .into_iter()
    .step_by(depth(5, 1))
    {
        let mut config = config(sets);
        config.limits.pages = Some(120);
        let name = sets.join(" ");
        let (live, replayed) = both(&stage, config, &name);
        same(&live, &replayed, &name);
        assert!(live.iter().filter(|event| event.starts_with("{\"page-fetched\"")).count() > 60, "{name}");
        assert!(live.iter().any(|event| event.starts_with("{\"robots\"")), "{name}: robots.txt is fetched");
    }
}

#[test]
fn a_live_crawl_to_the_end_of_a_web_is_the_replay() {
    let spec = WebSpec { pages: 300, hosts: 8, islands: 3, dangling: 0.1, ..finite() };
    let stage = Stage::new(spec, ServerOptions::default());
    let (live, replayed) = both(&stage, config(&["strategy.name=dth"]), "all");
    same(&live, &replayed, "all");
    for kind in ["url-excluded", "redirected", "fetch-failed", "page-fetched", "robots"] {
        assert!(live.iter().any(|event| event.starts_with(&format!("{{\"{kind}\""))), "no {kind} in it");
    }
}

#[test]
fn a_crawl_in_two_runs_has_the_log_of_one() {
    let stage = Stage::new(spec(), ServerOptions::default());
    for sets in [
        &["strategy.name=tunnel"][..],
        &["strategy.name=dth"],
        &["strategy.name=dth", "strategy.dth.variant=interleave"],
        &["strategy.name=url-weight"],
        &["strategy.name=pagerank"],
        &["strategy.name=random"],
    ]
    .into_iter()
    .step_by(depth(4, 1))
    {
        let name = sets.join(" ");
        let mut more = vec!["--set", "crawl.in_flight=1"];
        more.extend(sets.iter().flat_map(|set| ["--set", set]));
        let limited = |pages| [&["--max-pages", pages][..], &more].concat();
        let (one, two) = (format!("{name} one"), format!("{name} two"));
        run(stage.crawl(&one, &limited("120"))).expect(0);
        for pages in ["1", "60", "60", "120"] {
            run(stage.crawl(&two, &limited(pages))).expect(0);
        }
        same(&events(&stage.path(&two)), &events(&stage.path(&one)), &name);
    }
}

#[test]
fn more_in_flight_take_the_same_pages_in_less_virtual_time() {
    let stage = Stage::new(finite(), ServerOptions::default());
    let topic = Topic::new(lexicon_of("体育"));
    let config = config(&["strategy.name=breadth-first"]);
    let web = Proxied(Arc::clone(&stage.world));
    let run = |in_flight: usize| {
        let settings = live::crawl_settings(&config, &topic);
        let strategy = config.strategy.build(settings.page_threshold);
        let mut crawl = Crawl::new(settings, strategy);
        let mut batches = Vec::new();
        let source = TopicalWeb { web: &web, topic: &topic };
        replay(&mut crawl, &stage.world.seeds(), &source, in_flight, |batch| batches.push(batch));
        (crawl.progress().pages, batches)
    };
    let (pages, one) = run(1);
    let (as_many, eight) = run(8);
    assert_eq!(as_many, pages);
    // Requests to one host are sequential, so eight in flight are less than eight times as fast.
    let end = |batches: &[suidao::model::Batch]| batches.last().unwrap().at.0;
    assert!(end(&one) >= 100 * pages && end(&eight) * 3 < end(&one), "{} {}", end(&one), end(&eight));
    assert!(eight.windows(2).all(|pair| pair[0].at <= pair[1].at), "time never decreases");
    assert_eq!(run(8).1, eight, "and the same again");
}
