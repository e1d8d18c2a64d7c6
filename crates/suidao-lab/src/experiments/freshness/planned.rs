//! The method of paper 002: listing pages by a repeated plan of fourteen days learned from daily visits, all other
//! pages in turn with the remaining budget. (A plan needs snapshots; the paper does not cover pages that are not
//! listings.)

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ordered_float::OrderedFloat;

use super::Running;
use super::ledger::PageSighting;
use super::pages::SimulatedPages;
use super::strides::{Strides, by, phase};
use crate::experiments::plans::{SnapshotPlan, SnapshotSeries, plan};

/// Stamps of a plan, a day apart.
const STAMPS: usize = 14;
/// Visits in a plan: the paper's share, 11 of 30.
const VISITS: usize = 5;

#[derive(Clone, Default)]
struct Listing {
    /// Items shown at each stamp of the learning days.
    snapshots: Vec<Vec<u32>>,
    /// Ascending stamps of the plan; empty before it is made.
    plan: Vec<usize>,
}

pub(super) struct SnapshotPlanned {
    method: SnapshotPlan,
    /// Days of learning, a multiple of the plan's length.
    learning: usize,
    listings: Vec<Listing>,
    /// Next visits: time, page, and stamp counted from day 0.
    due: BinaryHeap<Reverse<(OrderedFloat<f64>, u32, usize)>>,
    stamp: usize,
    others: Strides,
}

impl SnapshotPlanned {
    /// Daily visits for `learning` days, rounded down to whole plans, at least one.
    pub fn new(pages: &SimulatedPages, method: SnapshotPlan, learning: f64) -> Self {
        let listings = pages.pages.iter().enumerate().filter(|(_, page)| page.listing.is_some());
        Self {
            method,
            learning: (learning as usize / STAMPS).max(1) * STAMPS,
            listings: vec![Listing::default(); pages.pages.len()],
            due: listings.map(|(page, _)| Reverse((OrderedFloat(phase(page)), page as u32, 0))).collect(),
            stamp: 0,
            others: by(pages, |page| f64::from(u8::from(page.listing.is_none()))),
        }
    }
}

impl Running for SnapshotPlanned {
    fn next(&mut self, now: f64) -> Option<u32> {
        let first = self.due.peek().filter(|Reverse((at, _, _))| at.0 <= now);
        let Some(Reverse((_, page, stamp))) = first.copied() else { return self.others.next(now) };
        self.due.pop();
        self.stamp = stamp;
        Some(page)
    }

    fn saw(&mut self, sight: &PageSighting) {
        let Some((first, end)) = sight.shown else { return self.others.saw(sight) };
        let listing = &mut self.listings[sight.page as usize];
        if self.stamp < self.learning {
            listing.snapshots.push((first..end).collect());
        }
        if listing.snapshots.len() == self.learning {
            let periods = std::mem::take(&mut listing.snapshots);
            let training: Vec<SnapshotSeries> =
                periods.chunks(STAMPS).map(|period| SnapshotSeries::new(period.to_vec())).collect();
            listing.plan = plan(&training, VISITS, self.method, u64::from(sight.page));
        }
        let next = match listing.plan.as_slice() {
            [] => self.stamp + 1,
            plan => {
                let (begun, at) = (self.stamp / STAMPS * STAMPS, self.stamp % STAMPS);
                let later = plan.iter().find(|stamp| **stamp > at).map(|stamp| begun + stamp);
                later.unwrap_or(begun + STAMPS + plan[0])
            }
        };
        let at = next as f64 + phase(sight.page as usize);
        self.due.push(Reverse((OrderedFloat(at), sight.page, next)));
    }
}
