//! Policies with fixed rates, and Nutch's adaptive intervals.
//!
//! Stride scheduling (Waldspurger and Weihl 1995): each visit advances a page's next one by 1/rate, and the earliest is
//! next. The queue's virtual time runs as fast as the budget allows, so only ratios of rates matter, and the visits of
//! a page that is gone go to all others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ordered_float::OrderedFloat;

use super::Running;
use super::ledger::PageSighting;
use super::pages::{SimulatedPage, SimulatedPages};
use suidao_crawl::revisit::adaptive;

pub(super) struct Strides {
    queue: BinaryHeap<Reverse<(OrderedFloat<f64>, u32)>>,
    rates: Vec<f64>,
    due: f64,
}

/// Start position of a page in its first interval, 0 to 1, evenly spread.
fn phase(page: usize) -> f64 {
    ((page as f64 + 1.0) * 0.618_033_988_749_894_9).fract()
}

/// Visit rate by page; pages of rate 0 are never visited.
pub(super) fn by(pages: &SimulatedPages, rate: impl Fn(&SimulatedPage) -> f64) -> Strides {
    let rates: Vec<f64> = pages.pages.iter().map(rate).collect();
    let visited = rates.iter().enumerate().filter(|(_, rate)| **rate > 0.0);
    let queue = visited.map(|(page, rate)| Reverse((OrderedFloat(phase(page) / rate), page as u32))).collect();
    Strides { queue, rates, due: 0.0 }
}

/// Optimal freshness with Poisson visits (Azar et al. 2018): ρ = max(0, √(μΔ/λ) - Δ), Σ ρ = the budget, for importance
/// μ, changes a day Δ and the price λ of a visit.
pub(super) fn azar(pages: &SimulatedPages, budget: f64) -> Strides {
    let mut moving: Vec<(f64, f64)> =
        pages.pages.iter().map(|page| (page.importance, page.rate)).filter(|(_, rate)| *rate > 0.0).collect();
    moving.sort_unstable_by(|a, b| (b.0 / b.1).total_cmp(&(a.0 / a.1)));
    // Adds pages while their value exceeds the price so far.
    let (mut rates, mut roots, mut price) = (0.0, 0.0, 0.0);
    for (importance, rate) in moving {
        if importance / rate <= price {
            break;
        }
        rates += rate;
        roots += (importance * rate).sqrt();
        price = (roots / (budget + rates)).powi(2);
    }
    by(pages, |page| ((page.importance * page.rate / price).sqrt() - page.rate).max(0.0))
}

impl Running for Strides {
    fn next(&mut self, _: f64) -> Option<u32> {
        let Reverse((due, page)) = self.queue.pop()?;
        self.due = due.0;
        Some(page)
    }

    fn record(&mut self, sighting: &PageSighting) {
        if !sighting.gone {
            let due = self.due + 1.0 / self.rates[sighting.page as usize];
            self.queue.push(Reverse((OrderedFloat(due), sighting.page)));
        }
    }
}

/// Apache Nutch's adaptive schedule. If less is due than the budget allows, the page due next is visited early.
pub(super) struct NutchSchedule {
    waiting: BinaryHeap<Reverse<(OrderedFloat<f64>, u32)>>,
    due: BinaryHeap<(OrderedFloat<f64>, Reverse<u32>)>,
    /// Interval, day of the last known change, and importance.
    pages: Vec<(f64, f64, f64)>,
}

impl NutchSchedule {
    pub fn new(pages: &SimulatedPages, budget: f64) -> Self {
        let interval = pages.pages.len() as f64 / budget;
        let first = |page: usize| Reverse((OrderedFloat(phase(page) * interval), page as u32));
        Self {
            waiting: (0..pages.pages.len()).map(first).collect(),
            due: BinaryHeap::new(),
            pages: pages.pages.iter().map(|page| (interval, 0.0, page.importance)).collect(),
        }
    }
}

impl Running for NutchSchedule {
    fn next(&mut self, now: f64) -> Option<u32> {
        while let Some(Reverse((due, page))) = self.waiting.peek().copied()
            && due.0 <= now
        {
            self.waiting.pop();
            self.due.push((OrderedFloat(self.pages[page as usize].2), Reverse(page)));
        }
        let due = self.due.pop().map(|(_, Reverse(page))| page);
        due.or_else(|| self.waiting.pop().map(|Reverse((_, page))| page))
    }

    fn record(&mut self, sighting: &PageSighting) {
        if sighting.gone {
            return;
        }
        let (interval, changed, _) = &mut self.pages[sighting.page as usize];
        let (next, wait) =
            adaptive::AdaptiveSchedule::default().next(*interval, sighting.changed, sighting.now - *changed);
        *interval = next;
        if sighting.changed {
            *changed = sighting.now;
        }
        self.waiting.push(Reverse((OrderedFloat(sighting.now + wait), sighting.page)));
    }
}
