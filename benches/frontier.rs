//! The frontier at 10^4 to 10^7 queued URLs, and the machine around it: nanoseconds of a push and a pop, and bytes of
//! memory per known URL. Single runs, because a sampling harness would take hours.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

mod process;

use std::time::Instant;

use suidao::crawl::{Crawl, CrawlLimits, CrawlSettings, FetchOutcome, Frontier, Next, Politeness, ResponseMeta};
use suidao::model::{
    CrawlUrl, HostId, LinkScores, Millis, Outlink, Page, PathState, Priority, QueueEntry, QueueId, QueuePolicy, Region,
    Relevance, UrlId,
};
use suidao::seeded_rng::SeededRng;
use suidao::strategy::{Dth, Strategy};

const RUNS: usize = 3;
const LINKS: u64 = 60;

fn main() {
    // `cargo test --benches` passes this flag.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("push + pop, best first, 1,000 hosts, one URL pushed for each popped:");
    for queued in [10_000, 100_000, 1_000_000, 10_000_000] {
        let times = (0..RUNS).map(|_| churn(queued)).collect();
        let (best, median) = process::best_and_median(times);
        println!("  {queued:>9} queued: best {best:.0} ns, median {median:.0} ns");
    }
    println!("machine: next + settle of a page with {LINKS} links, half of them new:");
    for known in [10_000, 1_000_000, 10_000_000] {
        machine(known);
    }
}

fn place(at: u64) -> QueueEntry {
    #[allow(clippy::cast_precision_loss)]
    let priority = (SeededRng::at(at).bits() % 1_000_003) as f32 / 1_000_003.0;
    QueueEntry { queue: QueueId::MAIN, priority: Priority::new(priority), path: PathState::SEED }
}

/// Nanoseconds of a push and a pop at this queue length.
fn churn(queued: u32) -> f64 {
    let mut frontier = Frontier::new(QueuePolicy::BestFirst, 1);
    let host = |id: u32| HostId(u32::try_from(SeededRng::at(u64::from(id)).bits() % 1_000).expect("below 1,000"));
    for host in 0..1_000 {
        frontier.make_ready(HostId(host));
    }
    for id in 0..queued {
        frontier.push(host(id), UrlId(id), place(u64::from(id)));
    }
    let turns = 1_000_000.min(queued);
    let begun = Instant::now();
    for turn in 0..turns {
        let head = frontier.pop(u64::from(turn), |_, _| true).expect("as many are pushed as popped");
        frontier.make_ready(head.host);
        let id = queued + turn;
        frontier.push(host(id), UrlId(id), place(u64::from(id)));
    }
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(turns)
}

fn url(number: u64) -> CrawlUrl {
    CrawlUrl::parse(&format!("http://host{}.example.cn/2026/article-{number}.html", number % 1_000)).expect("a URL")
}

fn page(number: u64, known: u64) -> Page {
    let outlink = |at: u64| Outlink {
        url: url(if at.is_multiple_of(2) {
            number * LINKS + at
        } else {
            SeededRng::at(number * LINKS + at).bits() % known.max(1)
        }),
        anchor: "足球比赛新闻".to_owned(),
        scores: LinkScores::default(),
        #[allow(clippy::cast_precision_loss)]
        relevance: Relevance::new((SeededRng::at(number + at).bits() % 100) as f32 / 100.0),
        region: Region::Content,
        dom_path: 0,
        nofollow: false,
    };
    Page {
        relevance: Relevance::new(if number.is_multiple_of(7) { 0.5 } else { 0.0 }),
        bytes: 1_000,
        outlinks: (0..LINKS).map(outlink).collect(),
        ..Page::default()
    }
}

/// Grows a crawl to `known` URLs, then times the machine over 2,000 more pages.
fn machine(known: u64) {
    let before = process::resident();
    let settings = CrawlSettings {
        limits: CrawlLimits { hops: None, ..CrawlLimits::default() },
        politeness: Politeness { delay: 0.0, robots: false, ..Politeness::default() },
        agent: "suidao".to_owned(),
        seed: 1,
        page_threshold: Relevance::new(0.1),
        link_threshold: Relevance::new(0.01),
        forums: suidao::crawl::ForumMode::Off,
        ..CrawlSettings::default()
    };
    let strategy: Box<dyn Strategy> = Box::new(Dth::default());
    let mut crawl = Crawl::new(settings, strategy);
    crawl.seed(&[url(0)], Millis(0));
    let mut number = 1;
    let mut step = |crawl: &mut Crawl| {
        let Next::Fetch(ticket) = crawl.next(Millis(number)) else { panic!("the web is endless") };
        let page = page(number, known);
        let begun = Instant::now();
        crawl.settle(
            ticket,
            FetchOutcome::Page { status: 200, page: Box::new(page), page_view: None, validators: None },
            ResponseMeta::default(),
            Millis(number),
        );
        number += 1;
        begun.elapsed().as_secs_f64()
    };
    while crawl.progress().known < known {
        step(&mut crawl);
    }
    let bytes = process::resident().saturating_sub(before) / crawl.progress().known;
    let settling: f64 = (0..2_000).map(|_| step(&mut crawl)).sum();
    let micros = settling * 1e6 / 2_000.0;
    #[allow(clippy::cast_precision_loss)]
    let per_link = micros * 1e3 / LINKS as f64;
    println!(
        "  {known:>9} known: settle {micros:.0} us a page, {per_link:.0} ns a link; {bytes} bytes a known URL, its text included"
    );
}
