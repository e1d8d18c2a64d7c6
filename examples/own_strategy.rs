//! A live crawl with a strategy of one's own, over a generated web that a proxy on loopback serves.
//!
//! `cargo run --example own_strategy`

use std::sync::Arc;

use suidao::config::Config;
use suidao::live::{self, Job, OwnStrategy};
use suidao::model::{LinkDecision, Priority, QueueEntry, QueueId, Region, TunnelBudget};
use suidao::store::CrawlDirectory;
use suidao::strategy::{PageVisit, Strategy};
use suidao::topic::{Lexicon, Topic};
use suidao::world::{Proxied, SyntheticWeb, WebServer, WebSpec, topic_words};

/// Follows links of the main content first, those of relevant pages before the others.
struct ContentFirst;

impl Strategy for ContentFirst {
    fn judge(&self, visit: &PageVisit) -> Vec<LinkDecision> {
        let decision = |region: Region| {
            let content = if region == Region::Content { 0.5 } else { 0.0 };
            let page = if visit.on_topic { 0.5 } else { 0.0 };
            let priority = Priority::new(content + page);
            let path = visit.path_state(TunnelBudget::Unbounded);
            LinkDecision::Follow(QueueEntry { queue: QueueId::MAIN, priority, path })
        };
        visit.links.iter().map(|link| decision(link.region)).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let web = Arc::new(SyntheticWeb::new(WebSpec {
        pages: 600,
        hosts: 14,
        islands: 5,
        island_pages: [20, 40],
        ..WebSpec::default()
    })?);
    let server = WebServer::start(Arc::new(Proxied(Arc::clone(&web))))?;
    let words: Vec<(&str, f64)> = topic_words().map(|word| (word, 1.0)).collect();
    let topic = Arc::new(Topic::new(Lexicon::from_terms("体育", &words)));

    let mut config = Config::default();
    config.fetch.proxy = Some(server.proxy());
    config.politeness.delay = 0.0;
    config.limits.pages = Some(100);
    let directory = tempfile::tempdir()?;
    let strategy = OwnStrategy { name: "content-first".to_owned(), build: Box::new(|| Box::new(ContentFirst)) };
    let job = Job {
        strategy: Some(strategy),
        ..Job::new(topic, web.seeds(), config, CrawlDirectory::new(directory.path().join("crawl")))
    };
    let report = live::run(&job, |_| {}, std::future::pending())?;
    println!("{} of {} pages are relevant", report.progress.relevant, report.progress.pages);
    Ok(())
}
