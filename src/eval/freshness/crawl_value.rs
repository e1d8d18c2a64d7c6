//! The crawl value at work: what `revisit` is told by the machine, from simulated visits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ordered_float::OrderedFloat;

use super::ledger::Sight;
use super::pages::{Pages, RELEVANT};
use super::policy::{CrawlValue, Request};
use super::strides::phase;
use crate::model::{HostId, UrlId};
use crate::revisit::agenda::Agenda;
use crate::revisit::{Changes, Trust, Worth};

/// What is known of a page.
struct Known {
    host: u32,
    importance: f64,
    spared: bool,
    /// Set where rates are known.
    rate: Option<f64>,
    changes: Changes,
    /// What a new link is worth; 0 for a page that lists nothing.
    worth: f64,
    /// New links so far, and in how many days.
    links: f64,
    days: f64,
    last: f64,
    /// A signal since the last visit.
    signal: bool,
    retired: bool,
}

pub(super) struct Running {
    settings: CrawlValue,
    agenda: Agenda,
    pages: Vec<Known>,
    /// By host.
    trust: Vec<Trust>,
    /// Next reading of the hosts' sitemaps.
    sitemaps: BinaryHeap<Reverse<(OrderedFloat<f64>, u32)>>,
}

impl Running {
    pub fn new(pages: &Pages, settings: CrawlValue) -> Self {
        let known = |page: &super::pages::Page| Known {
            host: page.host,
            importance: page.importance,
            spared: settings.floor && page.relevance >= RELEVANT,
            rate: settings.known.then_some(page.rate),
            changes: Changes::default(),
            worth: page.listing.filter(|_| settings.links).map_or(0.0, |listing| listing.worth),
            links: 0.0,
            days: 0.0,
            last: 0.0,
            signal: false,
            retired: false,
        };
        let keepers = pages.keepers.iter().enumerate().filter(|(_, keeper)| settings.sitemaps && keeper.is_some());
        let mut running = Self {
            settings,
            agenda: Agenda::new(settings.per_host),
            pages: pages.pages.iter().map(known).collect(),
            trust: vec![Trust::default(); pages.keepers.len()],
            sitemaps: keepers.map(|(host, _)| Reverse((OrderedFloat(phase(host)), host as u32))).collect(),
        };
        (0..pages.len() as u32).for_each(|page| running.put(page));
        running
    }

    pub fn next(&mut self, now: f64) -> Option<Request> {
        if let Some(Reverse((due, host))) = self.sitemaps.peek().copied()
            && due.0 <= now
        {
            self.sitemaps.pop();
            self.sitemaps.push(Reverse((OrderedFloat(due.0 + 1.0), host)));
            return Some(Request::Sitemap(host));
        }
        self.agenda.take(now).map(|(page, _)| Request::Page(page.0))
    }

    pub fn saw(&mut self, sight: &Sight) {
        let page = &mut self.pages[sight.page as usize];
        if page.signal {
            let still = (-page.rate(self.settings.prior) * sight.days).exp();
            self.trust[page.host as usize].observe(1, still, sight.changed);
        }
        page.changes.observe(sight.days, sight.changed);
        page.links += f64::from(sight.new());
        page.days += sight.days;
        page.last = sight.now;
        page.signal = false;
        page.retired = sight.gone;
        if !sight.gone {
            self.put(sight.page);
        }
    }

    pub fn read(&mut self, first: u32, dates: impl Iterator<Item = f64>) {
        for (page, date) in (first..).zip(dates) {
            let known = &mut self.pages[page as usize];
            if date > known.last && !known.signal && !known.retired {
                known.signal = true;
                self.put(page);
            }
        }
    }

    fn put(&mut self, number: u32) {
        let page = &self.pages[number as usize];
        let doubt = if page.signal { self.trust[page.host as usize].doubt(1) } else { 1.0 };
        // Before any visit, one link a day.
        let yields = page.worth * (page.links + 1.0) / (page.days + 1.0);
        let rate = page.rate(self.settings.prior);
        let worth = Worth { importance: page.importance, rate, yields, doubt, spared: page.spared };
        self.agenda.put(UrlId(number), HostId(page.host), worth, page.last);
    }
}

impl Known {
    fn rate(&self, prior: f64) -> f64 {
        self.rate.unwrap_or_else(|| self.changes.rate(prior))
    }
}
