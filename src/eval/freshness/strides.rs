//! Every page at even distances of its own: each visit puts a page's next one on by 1/rate, and the earliest is next. The
//! time of that queue runs as fast as the budget lets it, so only the ratios of the rates count, and what a page that is
//! gone leaves goes to all others (stride scheduling, Waldspurger and Weihl 1995).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ordered_float::OrderedFloat;

use super::ledger::Sight;
use super::pages::Pages;
use crate::revisit::Changes;
use crate::revisit::optimum::{Rated, azar, log_rates};

pub(super) struct Strides {
    queue: BinaryHeap<Reverse<(OrderedFloat<f64>, u32)>>,
    rates: Vec<f64>,
    /// When the page out was due.
    due: f64,
    /// Of policies that learn.
    learnt: Option<(Vec<Changes>, f64)>,
}

/// The place of a page between others: so many points as one likes, as evenly as can be (golden ratio).
pub(super) fn phase(page: usize) -> f64 {
    ((page as f64 + 1.0) * 0.618_033_988_749_894_9).fract()
}

impl Strides {
    fn by(rates: Vec<f64>) -> Self {
        let visited = rates.iter().enumerate().filter(|(_, rate)| **rate > 0.0);
        let queue = visited.map(|(page, rate)| Reverse((OrderedFloat(phase(page) / rate), page as u32))).collect();
        Self { queue, rates, due: 0.0, learnt: None }
    }

    /// All pages alike.
    pub fn uniform(pages: impl Iterator<Item = usize>) -> Self {
        let mut rates = Vec::new();
        for page in pages {
            rates.resize(page, 0.0);
            rates.push(1.0);
        }
        Self::by(rates)
    }

    /// As often as they change.
    pub fn proportional(pages: &Pages) -> Self {
        Self::by(pages.pages.iter().map(|page| page.rate).collect())
    }

    /// As often as they have been seen to change; before that, all alike. The prior is the interval of all alike.
    pub fn learnt(pages: usize, budget: f64) -> Self {
        let prior = pages as f64 / budget;
        Self {
            learnt: Some((vec![Changes::default(); pages], prior)),
            ..Self::by(vec![Changes::default().rate(prior); pages])
        }
    }

    /// Azar 2018: most freshness if rates are known.
    pub fn azar(pages: &Pages, budget: f64) -> Self {
        Self::by(azar(&rated(pages), budget))
    }

    /// Kolobov 2019: least log staleness if rates are known.
    pub fn log(pages: &Pages, budget: f64) -> Self {
        Self::by(log_rates(&rated(pages), budget))
    }

    pub fn next(&mut self) -> Option<u32> {
        let Reverse((due, page)) = self.queue.pop()?;
        self.due = due.0;
        Some(page)
    }

    pub fn saw(&mut self, sight: &Sight) {
        if sight.gone {
            return;
        }
        let page = sight.page as usize;
        if let Some((changes, prior)) = &mut self.learnt {
            changes[page].observe(sight.days, sight.changed);
            self.rates[page] = changes[page].rate(*prior);
        }
        self.queue.push(Reverse((OrderedFloat(self.due + 1.0 / self.rates[page]), sight.page)));
    }
}

fn rated(pages: &Pages) -> Vec<Rated> {
    pages.pages.iter().map(|page| Rated { importance: page.importance, rate: page.rate }).collect()
}
