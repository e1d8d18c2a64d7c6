//! The plan that finds the most in training, whether items come back or not: by looking at all plans, and the same without
//! looking at those that cannot win. (What the paper says its exhaustive search enumerates is eq. (7), which [`solve`](super::solve)
//! minimises as exactly; this is the search by accuracy that its comparison calls for.)

use std::collections::BTreeMap;

use super::dynamic::Gains;
use super::series::Series;

/// After so many looks the best plan so far is taken: a fraction of a second.
const MOST_LOOKS: u32 = 4_000_000;

/// The items of all periods by the stamps that show them, one bit each.
struct Shown {
    masks: Vec<Vec<u64>>,
}

impl Shown {
    fn of(training: &[Series], stamps: usize) -> Self {
        let mut bits: BTreeMap<(usize, u32), usize> = BTreeMap::new();
        for (nth, period) in training.iter().enumerate() {
            for &item in (0..stamps).flat_map(|stamp| period.shown(stamp)) {
                let bit = bits.len();
                bits.entry((nth, item)).or_insert(bit);
            }
        }
        let mut masks = vec![vec![0; bits.len().div_ceil(64)]; stamps];
        for (nth, period) in training.iter().enumerate() {
            for (stamp, mask) in masks.iter_mut().enumerate() {
                for &item in period.shown(stamp) {
                    let bit = bits[&(nth, item)];
                    mask[bit / 64] |= 1_u64 << (bit % 64);
                }
            }
        }
        Self { masks }
    }

    /// How many items a stamp shows that are not among the known.
    fn adds(&self, known: &[u64], stamp: usize) -> u32 {
        self.masks[stamp].iter().zip(known).map(|(shown, known)| (shown & !known).count_ones()).sum()
    }
}

/// A search through plans in lexicographic order.
struct Search<'a> {
    shown: &'a Shown,
    /// The most that visits ahead can add, see [`Gains::ahead`]; empty to look at every plan.
    ahead: Vec<Vec<f64>>,
    looks: u32,
    best: (u32, Vec<usize>),
    visits: Vec<usize>,
}

impl Search<'_> {
    /// Tries all ways to go on with `left` visits from stamp `from` on, with so many items found and known.
    fn look(&mut self, from: usize, left: usize, found: u32, known: &[u64]) {
        let mut union = known.to_vec();
        for stamp in from..=self.shown.masks.len() - left {
            if !self.ahead.is_empty() {
                self.looks += 1;
                if self.looks > MOST_LOOKS {
                    return;
                }
            }
            let found = found + self.shown.adds(known, stamp);
            if left == 1 {
                if found > self.best.0 {
                    let visits = self.visits.iter().copied().chain([stamp]).collect();
                    self.best = (found, visits);
                }
                continue;
            }
            let hopeless = |ahead: &Vec<f64>| f64::from(found) + ahead[stamp + 1] <= f64::from(self.best.0);
            if self.ahead.get(left - 1).is_some_and(hopeless) {
                continue;
            }
            for ((union, known), mask) in union.iter_mut().zip(known).zip(&self.shown.masks[stamp]) {
                *union = known | mask;
            }
            self.visits.push(stamp);
            self.look(stamp + 1, left - 1, found, &union);
            self.visits.pop();
        }
    }
}

/// The first, in lexicographic order, of the plans of `f` visits (1 up to the number of stamps) that find the most items in
/// training, by looking at every plan: 54,627,300 of them for 11 visits in 30 stamps.
pub fn enumerate(training: &[Series], f: usize) -> Vec<usize> {
    let stamps = training.iter().map(Series::stamps).min().unwrap_or(0);
    let first = (0..f).collect();
    best(training, stamps, f, Vec::new(), first)
}

/// A plan that finds as many: what the dynamic programme says of the visits ahead bounds each branch from above, and its
/// plan is the one to beat. Where items do not come back nothing beats it. Where they do, the search ends after four
/// million looks with the best plan so far.
pub(super) fn plan(training: &[Series], stamps: usize, f: usize) -> Vec<usize> {
    let gains = Gains::of(training, stamps, 0.0);
    best(training, stamps, f, gains.ahead(f), gains.plan(f))
}

/// The best plan of `f` visits, `plan` unless one finds more.
fn best(training: &[Series], stamps: usize, f: usize, ahead: Vec<Vec<f64>>, plan: Vec<usize>) -> Vec<usize> {
    if f == 0 || f > stamps {
        return (0..f.min(stamps)).collect();
    }
    let shown = Shown::of(training, stamps);
    let nothing = vec![0; shown.masks[0].len()];
    let mut known = nothing.clone();
    let mut found = 0;
    for &stamp in &plan {
        found += shown.adds(&known, stamp);
        for (known, mask) in known.iter_mut().zip(&shown.masks[stamp]) {
            *known |= mask;
        }
    }
    let mut search = Search { shown: &shown, ahead, looks: 0, best: (found, plan), visits: Vec::new() };
    search.look(0, f, 0, &nothing);
    search.best.1
}
