//! `crawl.spend` under a virtual clock: which URLs wait, and for how long, and that a crawl never stalls.

use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use proptest::strategy::Strategy as _;

use super::politeness::{Response, Restart, SimulatedRun, simulate_restarted, simulate_with};
use super::*;
use crate::strategy::PageVisit;

/// A link's relevance is its worth.
struct Worths;

impl Strategy for Worths {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let path = visit.path_state(TunnelBudget::Unbounded);
        let entry = |link: Relevance| QueueEntry { queue: QueueId::MAIN, priority: Priority::new(link.get()), path };
        visit.links.iter().map(|link| LinkDecision::Follow(entry(link.relevance))).collect()
    }

    fn priorities_are_expected_values(&self) -> bool {
        true
    }
}

fn spending(theta: f64) -> CrawlSettings {
    // Without waits after failures, whose length depends on the order.
    let politeness = Politeness {
        backoff: 0.0,
        robots: false,
        patience: 1e6,
        per_address: u32::MAX,
        per_domain: u32::MAX,
        ..Politeness::default()
    };
    CrawlSettings { politeness, spend: MinimumShare::new(theta), ..crawl_settings() }
}

/// Each request takes 100 ms.
fn crawled(theta: f64, in_flight: usize, kills: &[u64], text: &str) -> SimulatedRun {
    let web = web(text);
    let strategy = || -> Box<dyn Strategy> { Box::new(Worths) };
    simulate_with(&strategy, &spending(theta), &["http://s.cn/"], in_flight, kills, &|url, _| {
        (super::politeness::page(&web, url), 100, None)
    })
}

fn order(run: &SimulatedRun) -> Vec<(u64, &str)> {
    run.requested.iter().map(|requested| (requested.out, requested.url.trim_start_matches("http://"))).collect()
}

fn released(run: &SimulatedRun) -> usize {
    run.events().filter(|event| matches!(event, Event::Released { .. })).count()
}

/// A good host with a chain of pages, and two that are worth little.
const CHAIN: &str = "
    http://s.cn/ 0.9 -> http://good.cn/0 0.9, http://good.cn/1 0.9, http://poor.cn/ 0.1, http://fair.cn/ 0.5
    http://good.cn/0 0.9 -> http://good.cn/2 0.2
    http://good.cn/1 0.9
    http://good.cn/2 0.9
    http://poor.cn/ 0
    http://fair.cn/ 0
";

#[test]
fn a_poor_page_waits_while_better_ones_are_in_flight_or_ready_soon() {
    let eager = crawled(0.0, 3, &[], CHAIN);
    assert_eq!(order(&eager)[1..4], [(100, "good.cn/0"), (100, "fair.cn/"), (100, "poor.cn/")]);
    let patient = crawled(0.3, 3, &[], CHAIN);
    // When good.cn/1 is on its way, the best page of its host is worth 0.2: 0.1 is at least 0.3 of that.
    let expected = [
        (0, "s.cn/"),
        (100, "good.cn/0"),
        (100, "fair.cn/"),
        (1_200, "good.cn/1"),
        (1_200, "poor.cn/"),
        (2_300, "good.cn/2"),
    ];
    assert_eq!(order(&patient), expected);
    assert_eq!((released(&patient), patient.stop), (0, Stop::FrontierEmpty));
    let costs = patient.crawl.wait_costs();
    assert!(costs.longest_gap >= 1_000 && costs.idle >= 1_000, "{costs:?}");
}

#[test]
fn a_url_of_a_resting_host_is_not_ready() {
    let web = web(CHAIN);
    let mut crawl = Crawl::new(spending(0.3), Box::new(Worths));
    crawl.seed(&[CrawlUrl::parse("http://s.cn/").unwrap()], Millis(0));
    let mut values = Vec::new();
    for at in [0, 100, 200, 1_000] {
        let BestValues { ready, soon, theta } = crawl.best_values(Millis(at));
        assert!((theta - 0.3).abs() < 1e-9);
        values.push((ready.map(|value| (value * 10.0).round()), soon.map(|value| (value * 10.0).round())));
        if let Next::Fetch(ticket) = crawl.next(Millis(at)) {
            let outcome = super::politeness::page(&web, &ticket.url.to_string());
            crawl.settle(ticket, outcome, ResponseMeta::default(), Millis(at));
        }
    }
    // After the seed, good.cn/0; then good.cn rests, and fair.cn and poor.cn remain.
    let expected = [(10.0, 10.0), (9.0, 9.0), (5.0, 9.0), (1.0, 9.0)];
    assert_eq!(values, expected.map(|(ready, soon)| (Some(ready), Some(soon))));
    assert!(crawl.best_values(Millis(1_000)).ready.is_some(), "poor.cn is held back");

    let mut alone = Crawl::new(spending(0.3), Box::new(Worths));
    alone.seed(&["http://good.cn/0", "http://good.cn/1"].map(|url| CrawlUrl::parse(url).unwrap()), Millis(0));
    let Next::Fetch(ticket) = alone.next(Millis(0)) else { panic!("a seed is ready") };
    let outcome = super::politeness::page(&web, &ticket.url.to_string());
    alone.settle(ticket, outcome, ResponseMeta::default(), Millis(0));
    let BestValues { ready, soon, .. } = alone.best_values(Millis(100));
    assert!(ready.is_none() && soon.is_some(), "the only host rests");
}

#[test]
fn one_page_is_released_after_two_seconds_without_any() {
    // slow.cn has a Crawl-delay of 4 s: its next page is near, but not within 2 s.
    let text = "
        http://s.cn/ 0.9 -> http://slow.cn/0 0.9, http://a.cn/ 0.1, http://b.cn/ 0.1, http://c.cn/ 0.1
        http://slow.cn/0 0.9 -> http://slow.cn/1 0.9
        http://slow.cn/1 0.9
        http://a.cn/ 500!
        http://b.cn/ 0
        http://c.cn/ 0
    ";
    let web = web(text);
    let mut settings = spending(1.0);
    settings.politeness.robots = true;
    let strategy = || -> Box<dyn Strategy> { Box::new(Worths) };
    let run = simulate_with(&strategy, &settings, &["http://s.cn/"], 4, &[], &|url, _| match url {
        "http://slow.cn/robots.txt" => {
            (FetchOutcome::Robots(RobotsRules::Rules(b"User-agent: *\nCrawl-delay: 4\n".to_vec())), 100, None)
        }
        _ => (super::politeness::page(&web, url), 100, None),
    });
    assert!(released(&run) >= 1, "{:?}", order(&run));
    assert_eq!(run.stop, Stop::FrontierEmpty);
    let pages = run.requested.iter().filter(|requested| !requested.url.ends_with("robots.txt")).count();
    assert!(pages >= 6, "{:?}", order(&run));
}

#[test]
fn a_host_that_brings_no_page_is_not_waited_for() {
    let mut text = String::from("http://s.cn/ 0.9 -> http://moved.cn/0 0.9, http://poor.cn/0 0.1\n");
    for n in 0..30 {
        text += &format!("http://moved.cn/{n} => http://moved.cn/{}\n", n + 1);
        text += &format!("http://poor.cn/{n} 0 -> http://poor.cn/{} 0.1\n", n + 1);
    }
    let mut settings = spending(1.0);
    settings.limits.redirects = 15;
    let web = web(&text);
    let strategy = || -> Box<dyn Strategy> { Box::new(Worths) };
    let run = simulate_with(&strategy, &settings, &["http://s.cn/"], 4, &[], &|url, _| {
        (super::politeness::page(&web, url), 100, None)
    });
    let gap = run.crawl.wait_costs().longest_gap;
    assert!(gap <= 5_000, "{gap} ms without a page");
    assert_eq!(run.to("poor.cn").len(), 31);
}

#[test]
fn equal_or_zero_scores_cause_no_waiting() {
    let hosts = |hosts: usize, worth: &str| {
        let mut text = String::from("http://s.cn/ 0.9 -> ");
        text += &(0..hosts).map(|host| format!("http://h{host}.cn/0 {worth}")).collect::<Vec<_>>().join(", ");
        for host in 0..hosts {
            for page in 0..5 {
                text += &format!("\nhttp://h{host}.cn/{page} 0 -> http://h{host}.cn/{} {worth}", page + 1);
            }
        }
        text
    };
    for (name, text) in [("one host", hosts(1, "0.5")), ("equal", hosts(4, "0.5")), ("worthless", hosts(4, "0"))] {
        let (eager, patient) = (crawled(0.0, 3, &[], &text), crawled(1.0, 3, &[], &text));
        assert_eq!(order(&patient), order(&eager), "{name}");
    }
}

#[test]
fn a_host_that_does_not_answer_is_waited_for_only_at_first() {
    let mut text = String::from("http://s.cn/ 0.9 -> http://hang.cn/0 0.9, http://hang.cn/1 0.9, http://a.cn/0 0.1\n");
    (0..60).for_each(|n| text += &format!("http://a.cn/{n} 0 -> http://a.cn/{} 0.1\n", n + 1));
    let web = web(&text);
    let strategy = || -> Box<dyn Strategy> { Box::new(Worths) };
    let run = simulate_with(&strategy, &spending(1.0), &["http://s.cn/"], 4, &[], &|url, _| {
        let latency = if url.contains("hang") { 60_000 } else { 100 };
        (super::politeness::page(&web, url), latency, None)
    });
    // From 5 s on a.cn gets requests as often as its delay allows.
    let early = run.to("a.cn").iter().filter(|requested| requested.out < 60_000).count();
    assert!(early >= 45, "{early} pages in a minute");
}

/// Random webs of some hosts: pages, redirects, failures, and hosts that never answer.
fn webs() -> impl proptest::strategy::Strategy<Value = String> {
    let page = (0..6_usize, 0..5_usize, 0..10_u8, proptest::collection::vec((0..6_usize, 0..5_usize, 0..=10_u8), 0..5));
    proptest::collection::vec(page, 1..40).prop_map(|pages| {
        let mut text = String::from("http://s.cn/ 0.9 -> http://h0.cn/0 0.5, http://h1.cn/1 0.1, http://h2.cn/2 0\n");
        for (host, page, kind, links) in pages {
            let from = format!("http://h{host}.cn/{page}");
            text += &match (kind, links.first()) {
                (0, Some((to, at, _))) => format!("{from} => http://h{to}.cn/{at}\n"),
                (1, _) => format!("{from} 404!\n"),
                (2, _) => format!("{from} 503!\n"),
                _ => {
                    let links: Vec<String> =
                        links.iter().map(|(to, at, worth)| format!("http://h{to}.cn/{at} 0.{worth}")).collect();
                    let arrow = if links.is_empty() { "" } else { " -> " };
                    format!("{from} 0.{kind}{arrow}{}\n", links.join(", "))
                }
            };
        }
        text
    })
}

/// A crawl that is killed, and restored from its log, from its pieces, or from both.
fn restarts(
    strategy: &dyn Fn() -> Box<dyn Strategy>,
    settings: &CrawlSettings,
    in_flight: usize,
    kills: &[u64],
    response: Response,
) -> [SimulatedRun; 3] {
    [Restart::Log, Restart::Pieces, Restart::Both]
        .map(|restart| simulate_restarted(restart, strategy, settings, &["http://s.cn/"], in_flight, kills, response))
}

/// Robots.txt of a host with this Crawl-delay.
fn slow(seconds: usize) -> FetchOutcome {
    FetchOutcome::Robots(RobotsRules::Rules(format!("User-agent: *\nCrawl-delay: {seconds}\n").into_bytes()))
}

#[test]
fn after_a_restart_a_host_that_rested_with_an_empty_queue_is_waited_for() {
    // The crawl is killed while slow.cn rests; then a page links to it, and c.cn waits for that link.
    let text = "
        http://s.cn/ 0.9 -> http://slow.cn/0 0.9
        http://slow.cn/0 0.9 -> http://a.cn/ 0.9, http://b.cn/ 0.1, http://c.cn/ 0.1
        http://a.cn/ 0.9 -> http://slow.cn/1 0.9
        http://slow.cn/1 0.9
        http://b.cn/ 0
        http://c.cn/ 0
    ";
    let web = web(text);
    let mut settings = spending(0.8);
    settings.politeness.robots = true;
    let [from_log, from_pieces, from_both] =
        restarts(&|| Box::new(Worths), &settings, 3, &[6_450], &|url, _| match url {
            "http://slow.cn/robots.txt" => (slow(5), 100, None),
            _ => (super::politeness::page(&web, url), 100, None),
        });
    let requests = order(&from_log);
    let (next, poor) = (requests.iter().find(|(_, url)| *url == "slow.cn/1"), requests.last());
    assert!(next.is_some() && poor.is_some_and(|(_, url)| *url == "c.cn/"), "{requests:?}");
    assert_eq!(order(&from_pieces), order(&from_log));
    assert_eq!(order(&from_both), order(&from_log));
}

proptest! {
    #[test]
    fn a_crawl_continues_alike_from_its_log_from_its_pieces_and_from_both(
        text in webs(),
        theta in 0.0..=1.0,
        in_flight in 1..6_usize,
        kills in proptest::collection::vec(100..40_000_u64, 1..4),
        delays in proptest::collection::vec(0..6_usize, 6),
        which in 0..6_usize,
        limited: bool,
    ) {
        let names = [StrategyName::Tunnel, StrategyName::Dth, StrategyName::UrlWeight, StrategyName::Pagerank];
        let strategy = || -> Box<dyn Strategy> {
            match names.get(which) {
                Some(&name) => StrategySettings { name, ..StrategySettings::default() }.build(Relevance::new(0.5)),
                None => Box::new(Worths),
            }
        };
        let web = web(&text);
        let mut settings = spending(theta);
        if limited {
            // All hosts are at one address, and failures cause waits.
            settings.politeness = Politeness { patience: 1e6, ..Politeness::default() };
        }
        settings.politeness.robots = true;
        let [from_log, from_pieces, from_both] = restarts(&strategy, &settings, in_flight, &kills, &|url, at| {
            let host = (0..6).find(|host| url == format!("http://h{host}.cn/robots.txt"));
            let address = limited.then_some(core::net::IpAddr::from([9, 9, 9, 9]));
            match host {
                Some(host) => (slow(delays[host]), 100, address),
                None => (super::politeness::page(&web, url), 100 + at % 7 * 300, address),
            }
        });
        prop_assert_eq!(order(&from_pieces), order(&from_log));
        prop_assert_eq!(&from_pieces.batches, &from_log.batches);
        prop_assert_eq!(order(&from_both), order(&from_log));
        prop_assert_eq!(from_both.batches, from_log.batches);
    }

    #[test]
    fn the_same_pages_are_fetched_in_the_end_and_the_same_twice(
        text in webs(), theta in 0.0..=1.0, in_flight in 1..6_usize, kill in 100..5_000_u64,
    ) {
        let fetched = |run: &SimulatedRun| {
            let pages = run.events().filter_map(|event| match event {
                Event::PageFetched(page) => Some(run.crawl.url(page.id).to_string()),
                _ => None,
            });
            pages.collect::<std::collections::BTreeSet<_>>()
        };
        let eager = crawled(0.0, in_flight, &[], &text);
        let patient = crawled(theta, in_flight, &[], &text);
        prop_assert_eq!(fetched(&patient), fetched(&eager));
        let again = crawled(theta, in_flight, &[], &text);
        prop_assert_eq!(order(&again), order(&patient));
        prop_assert_eq!(again.batches, patient.batches);
        let killed = crawled(theta, in_flight, &[kill], &text);
        prop_assert_eq!(fetched(&killed), fetched(&eager));
        // As slow as two seconds for each page, and no slower.
        let most = eager.at + 2_100 * eager.requested.len() as u64;
        prop_assert!(patient.at <= most, "{} ms instead of {}", patient.at, eager.at);
    }
}
