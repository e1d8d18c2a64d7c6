//! The store: durable batches through the writer, and a restart with 10^6 URLs queued, from opening the directory to
//! the first ticket.

#![allow(clippy::disallowed_methods, missing_docs)] // a bench reads the clock and is not a library

mod process;

use std::sync::mpsc::channel;
use std::time::Instant;

use suidao::crawl::{Crawl, CrawlSettings, Next, Politeness};
use suidao::model::{
    Batch, CrawlUrl, Digest, Discovered, Event, Fetched, Link, LinkDecision, LinkScores, Millis, Page, PageProcessed,
    PathState, Priority, QueueEntry, QueueId, Region, Relevance, UrlId, UrlOrigin,
};
use suidao::store::{ArchiveSettings, CrawlDirectory, Meta, Notice, Store, WarcArchive, WarcEntry, Work, Writer};
use suidao::strategy::{BreadthFirst, Strategy};

/// Links to new URLs per page.
const LINKS: u32 = 20;

fn main() {
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("writer, pages of 10 KB with {LINKS} new URLs each:");
    for in_flight in [1, 64] {
        let rates = (0..3).map(|_| 1.0 / write(3_000, in_flight)).collect();
        let (best, median) = process::best_and_median(rates);
        println!("  {in_flight:>2} in flight: best {:.0} pages/s, median {:.0} pages/s", 1.0 / best, 1.0 / median);
    }
    println!("restart with 10^6 URLs queued:");
    let times = restart(50_000);
    let (best, median) = process::best_and_median(times);
    println!("  best {best:.2} s, median {median:.2} s to the first ticket");
}

fn url(number: u32) -> CrawlUrl {
    CrawlUrl::parse(&format!("http://host{}.example.cn/2026/体育/article-{number}.html", number % 997)).expect("a URL")
}

fn batch(page: u32) -> Batch {
    let new = 1 + page * LINKS..1 + (page + 1) * LINKS;
    let place = QueueEntry { queue: QueueId::MAIN, priority: Priority::new(0.5), path: PathState::SEED };
    let link = |to: u32| Link {
        to: UrlId(to),
        region: Region::Content,
        dom_path: to % 16,
        scores: LinkScores::default(),
        relevance: Relevance::new(0.2),
        decision: LinkDecision::Follow(place),
    };
    let found = |id: u32, origin| {
        Event::Discovered(Discovered { id: UrlId(id), url: url(id), origin, anchor: "体育新闻 更多".to_owned() })
    };
    let mut events = Vec::new();
    if page == 0 {
        events.push(found(0, UrlOrigin::Seed));
        events.push(Event::SeedJudged(link(0)));
    }
    events.extend(new.clone().map(|id| found(id, UrlOrigin::Link(UrlId(page)))));
    let read = Page {
        relevance: Relevance::new(0.3),
        title: "一场比赛".to_owned(),
        language: Some("cmn".to_owned()),
        digest: Digest([7; 20]),
        bytes: 1_000,
        ..Page::default()
    };
    events.push(Event::PageFetched(Box::new(PageProcessed {
        links: new.map(link).collect(),
        ..PageProcessed::of(UrlId(page), 200, place, true, read)
    })));
    Batch { at: Millis(u64::from(page)), latency: None, events }
}

fn open(directory: &CrawlDirectory) -> (Store, WarcArchive) {
    let meta = Meta::new("体育", "digest", "breadth-first", Relevance::ZERO, Millis(0));
    let store = Store::resume(directory, &meta, "test").expect("a new directory");
    let settings = ArchiveSettings {
        rotate_at: ArchiveSettings::ROTATE_AT,
        user_agent: "suidao bench".to_owned(),
        request_headers: Vec::new(),
        robots: Some(true),
    };
    let last = store.last_location().expect("a whole log");
    (store, WarcArchive::resume(directory, last, settings).expect("a new directory"))
}

/// Pages a second.
fn write(pages: u32, in_flight: u64) -> f64 {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let (store, archive) = open(&CrawlDirectory::new(scratch.path().join("crawl")));
    let body: Vec<u8> =
        (0..10_000_u32).map(|at| b"abcdefgh <p>"[(at.wrapping_mul(2_654_435_761) >> 28) as usize % 12]).collect();
    let works: Vec<Work> = (0..pages)
        .map(|page| {
            let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
            let fetched = Fetched {
                url: url(page),
                status: 200,
                headers,
                body: body.clone().into(),
                wire: None,
                request_validators: None,
                rendered: None,
                unverified: false,
            };
            Work { batch: batch(page), response: Some(WarcEntry::Whole(fetched)) }
        })
        .collect();
    let (notices, noticed) = channel();
    let begun = Instant::now();
    let writer = Writer::spawn(store, archive, move |notice| notices.send(notice).expect("the bench listens"))
        .expect("a thread");
    let mut durable = 0;
    for (number, work) in works.into_iter().enumerate() {
        while number as u64 >= durable + in_flight {
            match noticed.recv().expect("the writer reports") {
                Notice::Durable(number) => durable = number,
                Notice::Failed => panic!("the writer failed"),
            }
        }
        writer.submit(work).expect("the writer runs");
    }
    writer.finish().expect("all is written");
    f64::from(pages) / begun.elapsed().as_secs_f64()
}

/// Seconds from opening the directory to the first ticket, several times.
fn restart(pages: u32) -> Vec<f64> {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let directory = CrawlDirectory::new(scratch.path().join("crawl"));
    let (mut store, _) = open(&directory);
    for from in (0..pages).step_by(500) {
        let records: Vec<_> = (from..from + 500)
            .map(|page| suidao::store::Record { batch: batch(page), archive: None, revisit: false })
            .collect();
        store.append(&records).expect("room on the disk");
    }
    drop(store);
    let one = || {
        let begun = Instant::now();
        let (store, _) = open(&directory);
        let strategy: Box<dyn Strategy> = Box::new(BreadthFirst);
        let settings = CrawlSettings {
            politeness: Politeness { robots: false, ..Politeness::default() },
            agent: "suidao".to_owned(),
            seed: 1,
            page_threshold: Relevance::new(0.1),
            link_threshold: Relevance::new(0.1),
            forums: suidao::crawl::ForumMode::Off,
            ..CrawlSettings::default()
        };
        let mut crawl = Crawl::new(settings, strategy);
        for record in store.batches() {
            crawl.restore(&record.expect("a whole log").batch);
        }
        assert_eq!(crawl.progress().queued, u64::from(pages * (LINKS - 1) + 1));
        let Next::Fetch(_) = crawl.next(Millis(u64::MAX / 2)) else { panic!("much is queued") };
        begun.elapsed().as_secs_f64()
    };
    (0..5).map(|_| one()).collect()
}
