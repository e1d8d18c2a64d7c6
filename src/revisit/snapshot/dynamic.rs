//! The plan that finds the most, by dynamic programming: what the paper's quadratic problem stands for, without it.
//!
//! Where every item is shown at stamps in a row, an item of a visit is either on the visit before it or was never seen, so
//! what a plan finds is the sum of `|P_j \ P_i|` over its visits `j` and the visits `i` before them: a longest path. Where
//! items come back the sum counts them again, and is a bound from above (which `exhaustive` uses).

use super::credibility::credibility;
use super::series::Series;

/// What each visit adds, by the visit before it, summed over the periods: visits are numbered from 1, 0 is none.
pub(super) struct Gains {
    stamps: usize,
    cells: Vec<f64>,
}

impl Gains {
    /// Items that the visit before did not show, and `freshness` times those that no earlier stamp shows.
    pub fn of(training: &[Series], stamps: usize, freshness: f64) -> Self {
        let size = stamps + 1;
        let mut cells = vec![0.0; size * size];
        for period in training {
            let new_items = period.new_items();
            for stamp in 0..stamps {
                for before in 0..=stamp {
                    cells[before * size + stamp + 1] +=
                        period.gain(before.checked_sub(1), stamp) as f64 + freshness * new_items[stamp] as f64;
                }
            }
        }
        Self { stamps, cells }
    }

    /// The same, trusted as far as the periods agree: for the rest what visits at this distance add in the mean.
    pub fn credible(mut self, training: &[Series]) -> Self {
        let daily =
            |period: &Series| (1..self.stamps).map(|stamp| period.gain(Some(stamp - 1), stamp) as f64).collect();
        let trust = credibility(&training.iter().map(daily).collect::<Vec<Vec<f64>>>());
        let size = self.stamps + 1;
        // A visit with none before it has no distance: a class of its own, as are all visits at one distance.
        let firsts: Vec<usize> = (1..size).collect();
        let classes = (1..self.stamps).map(|distance| (1..size - distance).map(|i| i * size + i + distance).collect());
        for class in [firsts].into_iter().chain(classes) {
            let mean = class.iter().map(|&cell| self.cells[cell]).sum::<f64>() / class.len() as f64;
            for cell in class {
                self.cells[cell] = trust * self.cells[cell] + (1.0 - trust) * mean;
            }
        }
        self
    }

    fn at(&self, before: usize, stamp: usize) -> f64 {
        self.cells[before * (self.stamps + 1) + stamp]
    }

    /// The most that so many visits can add after each one: `[visits][before]`.
    pub fn ahead(&self, visits: usize) -> Vec<Vec<f64>> {
        ahead(visits, vec![0.0; self.stamps + 1], |before, stamp| self.at(before, stamp))
    }

    /// The plan that adds the most; of equal ones the one whose first differing visit is earlier.
    pub fn plan(&self, visits: usize) -> Vec<usize> {
        let way = way(&self.ahead(visits), 0, |before, stamp| self.at(before, stamp));
        way.into_iter().map(|stamp| stamp - 1).collect()
    }
}

/// The longest paths upwards: `[steps][from]` is the most that so many steps after `from` add, with what `end` gives to the
/// place they end at; minus infinity where they have no room. O(steps * places^2).
pub(super) fn ahead(steps: usize, end: Vec<f64>, gain: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let places = end.len();
    let mut ahead = vec![end];
    for of in 0..steps {
        let most = |from: usize| {
            let values = (from + 1..places).map(|to| gain(from, to) + ahead[of][to]);
            values.fold(f64::NEG_INFINITY, f64::max)
        };
        let next = (0..places).map(most).collect();
        ahead.push(next);
    }
    ahead
}

/// The places that the longest path after `from` goes through, `from` not among them; of equal paths the lower one. There must
/// be room for its steps.
pub(super) fn way(ahead: &[Vec<f64>], mut from: usize, gain: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let mut way = Vec::new();
    for rest in ahead[..ahead.len() - 1].iter().rev() {
        let value = |to: usize| gain(from, to) + rest[to];
        let best = (from + 1..rest.len()).rev().max_by(|&a, &b| value(a).total_cmp(&value(b)));
        from = best.expect("a plan has no more visits than there are stamps");
        way.push(from);
    }
    way
}
