//! The crawl value policy: the histories and plans of `suidao refresh --watch`, fed with simulated visits.

use rustc_hash::FxHashMap;

use super::Running;
use super::ledger::PageSighting;
use super::pages::{RELEVANT, SimulatedPages};
use suidao_crawl::revisit::history::{DAY, Tracked};
use suidao_crawl::revisit::plan::at_once;
use suidao_crawl::revisit::settings::RefreshSettings;
use suidao_crawl::revisit::{Choice, plan};
use suidao_page::model::{HostId, Millis, PageChanges, UrlId};

pub(super) struct CrawlValue {
    settings: RefreshSettings,
    pages: Vec<(HostId, Tracked)>,
    /// Pages to visit next, best last.
    due: Vec<UrlId>,
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
        Self { pages: pages.pages.iter().map(known).collect(), settings, due: Vec::new() }
    }
}

impl Running for CrawlValue {
    fn next(&mut self, now: f64) -> Option<u32> {
        if self.due.is_empty() {
            let choice = |(number, (host, page)): (u32, &(HostId, Tracked))| {
                let worth = page.worth(&self.settings)?;
                Some(Choice { page: UrlId(number), host: *host, worth, last: page.asked.0 as f64 / DAY })
            };
            let choices = (0..).zip(&self.pages).filter_map(choice);
            let chosen = plan(choices, now, at_once(self.pages.len()), None, &FxHashMap::default());
            self.due.extend(chosen.into_iter().rev().map(|(page, _)| page));
        }
        self.due.pop().map(|page| page.0)
    }

    fn saw(&mut self, sight: &PageSighting) {
        let (_, page) = &mut self.pages[sight.page as usize];
        if sight.gone {
            page.retired = true;
            return;
        }
        page.new_links += sight.new_links;
        page.visited(PageChanges { text: sight.changed, links: false }, Millis((sight.now * DAY) as u64));
    }
}
