//! The crawl value policy: the histories and the queue of `suidao refresh`, fed with simulated visits.

use super::Running;
use super::ledger::PageSighting;
use super::pages::{RELEVANT, SimulatedPages};
use suidao_crawl::revisit::RevisitQueue;
use suidao_crawl::revisit::history::{DAY, Tracked};
use suidao_crawl::revisit::settings::RefreshSettings;
use suidao_page::model::{HostId, Millis, PageChanges, UrlId};

pub(super) struct CrawlValue {
    settings: RefreshSettings,
    queue: RevisitQueue,
    pages: Vec<(HostId, Tracked)>,
}

impl CrawlValue {
    pub fn new(pages: &SimulatedPages) -> Self {
        let settings = RefreshSettings::default();
        let known = |page: &super::pages::SimulatedPage| {
            let mut known =
                Tracked::first(page.relevance, page.relevance >= RELEVANT, page.listing.is_some(), &settings);
            known.inlinks = page.links;
            (HostId(page.host), known)
        };
        let pages = pages.pages.iter().map(known).collect();
        let mut running = Self { settings, queue: RevisitQueue::new(None), pages };
        (0..running.pages.len() as u32).for_each(|page| running.put(page, 0.0));
        running
    }

    fn put(&mut self, number: u32, now: f64) {
        let (host, page) = &self.pages[number as usize];
        if let Some(worth) = page.later(&self.settings) {
            self.queue.put(UrlId(number), *host, worth, now);
        }
    }
}

impl Running for CrawlValue {
    fn next(&mut self, now: f64) -> Option<u32> {
        self.queue.take(now).map(|(page, _)| page.0)
    }

    fn saw(&mut self, sight: &PageSighting) {
        if sight.gone {
            return;
        }
        let (_, page) = &mut self.pages[sight.page as usize];
        page.new_links += sight.new_links;
        page.visited(PageChanges { text: sight.changed, links: false }, Millis((sight.now * DAY) as u64));
        self.put(sight.page, sight.now);
    }
}
