//! The crawl value policy: the histories and plans of `suidao refresh --watch`, fed with simulated visits.

use rustc_hash::FxHashMap;

use super::Running;
use super::ledger::PageSighting;
use super::pages::{RELEVANT, SimulatedPage, SimulatedPages};
use suidao_crawl::revisit::history::{DAY, Tracked};
use suidao_crawl::revisit::plan::at_once;
use suidao_crawl::revisit::settings::RefreshSettings;
use suidao_crawl::revisit::{Choice, plan};
use suidao_page::model::{HostId, Millis, PageChanges, UrlId};

pub(super) struct CrawlValue {
    settings: RefreshSettings,
    pages: Vec<Tracked>,
    /// The value of a visit to each page; none of a page that is gone.
    choices: Vec<Option<Choice>>,
    /// Pages to visit next, best last.
    due: Vec<UrlId>,
}

impl CrawlValue {
    pub fn new(pages: &SimulatedPages) -> Self {
        let settings = RefreshSettings::default();
        let tracked = |page: &SimulatedPage| {
            let mut tracked =
                Tracked::first(page.relevance, page.relevance >= RELEVANT, page.listing.is_some(), &settings);
            tracked.inlinks = page.links;
            tracked
        };
        let tracked: Vec<Tracked> = pages.pages.iter().map(tracked).collect();
        let choice = |(number, (page, tracked)): (u32, (&SimulatedPage, &Tracked))| {
            let visit_value = tracked.visit_value(&settings)?;
            Some(Choice { page: UrlId(number), host: HostId(page.host), visit_value, last: 0.0 })
        };
        let choices = (0..).zip(pages.pages.iter().zip(&tracked)).map(choice).collect();
        Self { pages: tracked, choices, settings, due: Vec::new() }
    }
}

impl Running for CrawlValue {
    fn next(&mut self, now: f64) -> Option<u32> {
        if self.due.is_empty() {
            let choices = self.choices.iter().flatten().copied();
            let chosen = plan(choices, now, at_once(self.pages.len()), None, &FxHashMap::default());
            self.due.extend(chosen.into_iter().rev().map(|(page, _)| page));
        }
        self.due.pop().map(|page| page.0)
    }

    fn record(&mut self, sighting: &PageSighting) {
        let (page, choice) = (&mut self.pages[sighting.page as usize], &mut self.choices[sighting.page as usize]);
        page.new_links += sighting.new_links;
        page.visited(PageChanges { text: sighting.changed, links: false }, Millis((sighting.now * DAY) as u64));
        let visit_value = page.visit_value(&self.settings).filter(|_| !sighting.gone);
        *choice = choice.and_then(|choice| Some(Choice { visit_value: visit_value?, last: sighting.now, ..choice }));
    }
}
