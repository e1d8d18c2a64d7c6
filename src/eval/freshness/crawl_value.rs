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
    /// The first signal since the last visit: the reading before it, or that visit, and the reading that told it.
    signal: Option<(f64, f64)>,
    retired: bool,
    /// Its host's sitemap dates it.
    told: bool,
}

/// Whether pages of which a sitemap says nothing are as they were.
#[derive(Clone, Copy, Default)]
struct Silence {
    /// Changes that were to be expected without a sitemap, and those that were not signalled.
    expected: f64,
    missed: f64,
}

impl Silence {
    /// Share of the changes that are not signalled: all, as long as nothing is known.
    fn missed(&self) -> f64 {
        ((self.missed + 1.0) / (self.expected + 1.0)).clamp(LEAST_MISSED, 1.0)
    }
}

/// Signals that are doubted more are not heeded: what is left of a liar's credit would add days to pages that hardly change.
const HEEDED: f64 = 0.7;

/// Signals that are doubted more say nothing about when a page changed.
const DATED: f64 = 0.5;

/// However truthful a sitemap was, so many changes may be missing.
const LEAST_MISSED: f64 = 0.05;

pub(super) struct Running {
    settings: CrawlValue,
    agenda: Agenda,
    pages: Vec<Known>,
    /// By host: how far its signals can be believed, and how far its silence.
    trust: Vec<Trust>,
    silence: Vec<Silence>,
    /// Day of the last reading, by host, and the next readings.
    read: Vec<f64>,
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
            signal: None,
            retired: false,
            told: settings.sitemaps && pages.keepers[page.host as usize].is_some(),
        };
        let keepers = pages.keepers.iter().enumerate().filter(|(_, keeper)| settings.sitemaps && keeper.is_some());
        let mut running = Self {
            settings,
            agenda: Agenda::new(settings.per_host),
            pages: pages.pages.iter().map(known).collect(),
            trust: vec![Trust::default(); pages.keepers.len()],
            silence: vec![Silence::default(); pages.keepers.len()],
            read: vec![0.0; pages.keepers.len()],
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
        let still = (-page.rate(self.settings.prior) * sight.days).exp();
        let doubt = self.trust[page.host as usize].doubt(1);
        if page.signal.is_some() {
            self.trust[page.host as usize].observe(still, sight.changed);
        } else if page.told {
            let silence = &mut self.silence[page.host as usize];
            silence.expected += 1.0 - still;
            silence.missed += f64::from(u8::from(sight.changed));
        }
        match page.signal {
            // What is known between visits: no change before the reading that told nothing, one before the next. Visits
            // that follow signals find a change each time, so that pages would look faster than they are.
            Some((from, to)) if sight.changed && doubt <= DATED => {
                if from > page.last {
                    page.changes.observe(from - page.last, false);
                }
                page.changes.observe(to - from, true);
            }
            _ => page.changes.observe(sight.days, sight.changed),
        }
        page.links += f64::from(sight.new_links());
        page.days += sight.days;
        page.last = sight.now;
        page.signal = None;
        page.retired = sight.gone;
        if !sight.gone {
            self.put(sight.page);
        }
    }

    pub fn read(&mut self, host: u32, first: u32, dates: impl Iterator<Item = f64>, now: f64) {
        let before = std::mem::replace(&mut self.read[host as usize], now);
        for (page, date) in (first..).zip(dates) {
            let known = &mut self.pages[page as usize];
            if date > known.last && known.signal.is_none() && !known.retired {
                known.signal = Some((before.max(known.last), now));
                self.put(page);
            }
        }
    }

    fn put(&mut self, number: u32) {
        let page = &self.pages[number as usize];
        let doubt = match page.signal.map(|_| self.trust[page.host as usize].doubt(1)) {
            Some(doubt) if doubt <= HEEDED => doubt,
            _ => 1.0,
        };
        // Before any visit, one link a day.
        let yields = page.worth * (page.links + 1.0) / (page.days + 1.0);
        let rate = page.rate(self.settings.prior);
        // Where silence is believed, time passes slower: for mu/Delta (1 - e^(-x) (1 + x)) with x = m Delta t, both are less.
        let silent = self.settings.silence && page.told;
        let missed = if silent { self.silence[page.host as usize].missed() } else { 1.0 };
        let importance = missed * page.importance;
        let worth = Worth { importance, rate: missed * rate, yields: missed * yields, doubt, spared: page.spared };
        self.agenda.put(UrlId(number), HostId(page.host), worth, page.last);
    }
}

impl Known {
    fn rate(&self, prior: f64) -> f64 {
        self.rate.unwrap_or_else(|| self.changes.rate(prior))
    }
}
