//! Digests of the events of every strategy on three generated webs, of a refresh, of a forum and of a resumed crawl.

use std::sync::Arc;

use suidao::config::Config;
use suidao::crawl::{Crawl, ForumMode, Next, Refresh, ResponseMeta, outcome};
use suidao::eval::WebGraph;
use suidao::forum::board::BoardTest;
use suidao::live::crawl_settings;
use suidao::model::{Batch, Budget, Fetched, Millis};
use suidao::replay::{TopicalWeb, Web, replay};
use suidao::strategy::{Boards, StrategyName};
use suidao::topic::{ContextGraphModel, Lexicon, Topic, UNREACHABLE};
use suidao::world::{
    ActivitySpec, ChangingSpec, ChangingWeb, Forum, ForumSpec, ForumWeb, Skin, SyntheticWeb, WebSpec, topic_words,
};

use super::{compare, digest};

const STRATEGIES: [&str; 16] = [
    "name=tunnel",
    "name=dth",
    "name=dth dth.variant=preempt",
    "name=dth dth.variant=queue",
    "name=dth dth.variant=interleave",
    "name=best-first",
    "name=best-first best-first.focus=hard",
    "name=breadth-first",
    "name=fish-search",
    "name=shark-search",
    "name=static-tunnel static-tunnel.k=4",
    "name=context-graph context-graph.model=layers.toml",
    "name=opic",
    "name=pagerank",
    "name=random random.seed=7",
    "name=url-weight",
];

/// A web with traps, one without, and one of small islands on many hosts.
pub fn worlds() -> Vec<(&'static str, WebSpec)> {
    let small = WebSpec { pages: 600, hosts: 14, islands: 5, island_pages: [20, 40], ..WebSpec::default() };
    vec![
        ("traps", WebSpec { calendar_hosts: 0.3, session_hosts: 0.2, robots_hosts: 0.8, ..small.clone() }),
        ("finite", WebSpec { calendar_hosts: 0.0, session_hosts: 0.0, seed: 5, ..small.clone() }),
        ("islands", WebSpec { pages: 900, hosts: 40, islands: 12, island_pages: [12, 25], seed: 9, ..small }),
    ]
}

fn config(strategy: &str, pages: u64) -> Config {
    let sets: Vec<String> = strategy.split(' ').map(|set| format!("strategy.{set}")).collect();
    let mut config = Config::load(None, &sets).unwrap();
    config.limits.pages = Some(pages);
    config
}

/// A digest of the bytes of the log.
fn events(batches: &[Batch]) -> u64 {
    digest(batches.iter().flat_map(|batch| &batch.events).map(|event| postcard::to_stdvec(event).unwrap()))
}

fn words() -> Lexicon {
    let words: Vec<(&str, f64)> = topic_words().map(|word| (word, 1.0)).collect();
    Lexicon::from_terms("体育", &words)
}

/// Layers of the web's own pages: those on topic, one link away, and the rest.
fn layers(world: &SyntheticWeb) -> ContextGraphModel {
    let topic = Topic::new(words());
    let source = TopicalWeb { web: world, topic: &topic };
    let settings = crawl_settings(&Config::default(), &topic);
    let graph = WebGraph::read(settings, 150, &world.seeds(), &source, |url, _| Some(world.is_relevant(url)));
    let document = |&(node, layer): &(u32, Option<u8>)| {
        (layer.unwrap_or(UNREACHABLE), suidao::read::parse(&world.get(graph.url(node)).unwrap()).document)
    };
    ContextGraphModel::learn(&graph.layers(1).iter().map(document).collect::<Vec<_>>()).unwrap()
}

/// A crawl of `world`, resumed for each further number of pages.
fn crawl(world: &SyntheticWeb, topic: &Topic, strategy: &str, pages: &[u64], in_flight: usize) -> Vec<Batch> {
    let mut log: Vec<Batch> = Vec::new();
    for &pages in pages {
        let config = config(strategy, pages);
        let settings = crawl_settings(&config, topic);
        let strategy = config.strategy.build(settings.page_threshold);
        let mut crawl = Crawl::new(settings, strategy);
        log.iter().for_each(|batch| crawl.restore(batch));
        let source = TopicalWeb { web: world, topic };
        replay(&mut crawl, &world.seeds(), &source, in_flight, |batch| log.push(batch));
    }
    log
}

#[test]
fn every_strategy_on_three_webs() {
    let mut digests: Vec<(String, u64)> = Vec::new();
    std::thread::scope(|scope| {
        let runs: Vec<_> = worlds()
            .into_iter()
            .map(|(web, spec)| {
                scope.spawn(move || {
                    let world = SyntheticWeb::new(spec).unwrap();
                    let (topic, layered) =
                        (Topic::new(words()), Topic::new(words()).with_context_graph(layers(&world)));
                    let mut digests = Vec::new();
                    for strategy in STRATEGIES {
                        let layers = strategy.contains(&StrategyName::ContextGraph.to_string());
                        let topic = if layers { &layered } else { &topic };
                        let log = crawl(&world, topic, strategy, &[90], 1);
                        assert!(log.len() > 90, "{web} {strategy}: {} batches", log.len());
                        digests.push((format!("{web} {strategy}"), events(&log)));
                    }
                    digests
                        .push((format!("{web} 8 in flight"), events(&crawl(&world, &topic, "name=tunnel", &[150], 8))));
                    for strategy in ["name=tunnel", "name=dth dth.variant=interleave"] {
                        let log = crawl(&world, &topic, strategy, &[40, 41, 90], 1);
                        digests.push((format!("{web} {strategy} resumed"), events(&log)));
                    }
                    digests
                })
            })
            .collect();
        digests.extend(runs.into_iter().flat_map(|run| run.join().unwrap()));
    });
    compare("crawls.txt", &digests);
}

#[test]
fn a_forum() {
    let mut digests = Vec::new();
    for skin in [Skin::Discuz, Skin::Phpbb, Skin::Cards] {
        let activity = ActivitySpec {
            boards: 4,
            users: 40,
            threads_per_day: 6.0,
            replies: 6.0,
            days: 9,
            ..ActivitySpec::default()
        };
        let spec = ForumSpec { skin, activity, threads_per_page: 8, posts_per_page: 6, ..ForumSpec::default() };
        let forum = Arc::new(Forum::new(spec));
        let start = forum.spec().activity.start;
        let web = ForumWeb::at(Arc::clone(&forum), start + 6 * 86_400);
        let topic = Topic::new(Lexicon::from_terms("forum", &[("论坛", 1.0)]));
        let mut config = Config::default();
        config.politeness.delay = 0.0;
        config.crawl.page_threshold = Some(0.0);
        config.limits.pages = Some(120);
        config.scope.allow_hosts.push(forum.home().host().to_owned());
        let mut log: Vec<Batch> = Vec::new();
        for day in [6, 7] {
            web.set(start + day * 86_400);
            let mut settings = crawl_settings(&config, &topic);
            settings.forums = ForumMode::Explore { test: BoardTest::Records, index_pages: Some(60) };
            settings.limits.pages = Some(120 * (day as u64 - 5));
            let mut crawl = Crawl::new(settings, Box::new(Boards));
            log.iter().for_each(|batch| crawl.restore(batch));
            log.extend(crawl.visit_boards(Millis(0)));
            let source = TopicalWeb { web: &web, topic: &topic };
            replay(&mut crawl, &[forum.home()], &source, 1, |batch| log.push(batch));
        }
        assert!(log.len() > 60, "{skin:?}: {} batches", log.len());
        digests.push((format!("forum {skin:?}"), events(&log)));
    }
    compare("forums.txt", &digests);
}

#[test]
fn a_refresh() {
    let web = ChangingWeb::new(ChangingSpec::default(), 3);
    let start = web.spec().start as f64 * 1000.0;
    let topic = Topic::new(words());
    let mut config = Config::default();
    config.politeness.delay = 0.0;
    config.limits.pages = Some(200);
    let (mut log, mut day) = (Vec::<Batch>::new(), 0.0_f64);
    for (begin, requests) in [(0.0, None), (3.0, Some(60)), (9.0, Some(60))] {
        day = day.max(begin);
        let at = |day: f64| Millis((start + day * 86_400_000.0) as u64);
        let mut settings = crawl_settings(&config, &topic);
        let round = requests.map(|requests| Budget::Round { requests: Some(requests), seconds: None });
        settings.refresh = round.map(|budget| Refresh { settings: config.refresh.clone(), budget });
        let strategy = config.strategy.build(settings.page_threshold);
        let mut crawl = Crawl::new(settings, strategy);
        log.iter().for_each(|batch| crawl.restore(batch));
        match requests {
            Some(_) => log.extend(crawl.begin_refresh(at(day))),
            None => log.push(crawl.seed(&web.seeds(), at(day))),
        }
        loop {
            match crawl.next(at(day)) {
                Next::Fetch(ticket) => {
                    day += 1.0 / 86_400.0;
                    let fields: Vec<(String, String)> = ticket
                        .validators
                        .iter()
                        .flat_map(|known| {
                            known
                                .fields()
                                .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
                                .collect::<Vec<_>>()
                        })
                        .collect();
                    let answer = web.response(&ticket.url, &fields, day);
                    let answer =
                        answer.map(|fetched| Fetched { request_validators: ticket.validators.clone(), ..fetched });
                    let answer = answer.as_ref().map_err(Clone::clone);
                    let outcome = outcome(&ticket.kind, answer, None, &topic, "suidao");
                    log.push(crawl.settle(ticket, outcome, ResponseMeta::default(), at(day)));
                }
                Next::Record(batch) => log.push(batch),
                Next::Wait(until) => day = day.max((until.unwrap().0 as f64 - start) / 86_400_000.0 + 1e-9),
                Next::Done(_) => break,
            }
        }
    }
    assert!(log.len() > 150, "{} batches", log.len());
    compare("refresh.txt", &[("refresh".to_owned(), events(&log))]);
}
