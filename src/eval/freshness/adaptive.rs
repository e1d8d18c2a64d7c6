//! Schedules that keep an interval for each page, longer after a visit that found nothing, shorter after one that did.
//!
//! Both start at the interval that the budget allows for all pages. Where less is due than the budget pays for, the page
//! due next is taken early; where more is due, pages wait. So the requests are those of all policies.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ordered_float::OrderedFloat;

use super::ledger::Sight;
use super::pages::Pages;
use super::strides::phase;
use crate::revisit::adaptive::{Nutch, StormCrawler};

/// Whose.
pub(super) enum Rule {
    Nutch(Nutch),
    StormCrawler(StormCrawler),
}

pub(super) struct Adaptive {
    rule: Rule,
    /// By when they are due.
    waiting: BinaryHeap<Reverse<(OrderedFloat<f64>, u32)>>,
    /// What is due, by importance: Nutch's generator takes the pages of highest score. StormCrawler's spouts take what has
    /// been due longest, and leave this empty.
    due: BinaryHeap<(OrderedFloat<f64>, Reverse<u32>)>,
    intervals: Vec<f64>,
    /// Day on which each page was last seen to have changed.
    changed: Vec<f64>,
    importance: Vec<f64>,
}

impl Adaptive {
    pub fn new(pages: &Pages, budget: f64, rule: Rule) -> Self {
        let interval = pages.len() as f64 / budget;
        let first = |page: usize| Reverse((OrderedFloat(phase(page) * interval), page as u32));
        Self {
            rule,
            waiting: (0..pages.len()).map(first).collect(),
            due: BinaryHeap::new(),
            intervals: vec![interval; pages.len()],
            changed: vec![0.0; pages.len()],
            importance: pages.pages.iter().map(|page| page.importance).collect(),
        }
    }

    pub fn next(&mut self, now: f64) -> Option<u32> {
        if matches!(self.rule, Rule::Nutch(_)) {
            while let Some(Reverse((due, page))) = self.waiting.peek().copied()
                && due.0 <= now
            {
                self.waiting.pop();
                self.due.push((OrderedFloat(self.importance[page as usize]), Reverse(page)));
            }
        }
        let due = self.due.pop().map(|(_, Reverse(page))| page);
        due.or_else(|| self.waiting.pop().map(|Reverse((_, page))| page))
    }

    pub fn saw(&mut self, sight: &Sight) {
        if sight.gone {
            return;
        }
        let page = sight.page as usize;
        let (interval, wait) = match &self.rule {
            Rule::Nutch(rule) => rule.next(self.intervals[page], sight.changed, sight.now - self.changed[page]),
            Rule::StormCrawler(rule) => {
                let interval = rule.next(self.intervals[page], sight.changed);
                (interval, interval)
            }
        };
        self.intervals[page] = interval;
        if sight.changed {
            self.changed[page] = sight.now;
        }
        self.waiting.push(Reverse((OrderedFloat(sight.now + wait), sight.page)));
    }
}
