//! The plan that finds the most, by dynamic programming: what the paper's quadratic problem stands for, without it.
//!
//! Where every item is shown at stamps in a row, an item of a visit is either on the visit before it or was never seen, so
//! what a plan finds is the sum of `|P_j \ P_i|` over its visits `j` and the visits `i` before them: a longest path. Where
//! items come back the sum counts them again, and is a bound from above (which `exhaustive` uses).

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

    fn at(&self, before: usize, stamp: usize) -> f64 {
        self.cells[before * (self.stamps + 1) + stamp]
    }

    /// The most that so many visits can add after each stamp: `[visits][stamp]`, minus infinity where they have no
    /// room. O(visits * stamps^2).
    pub fn ahead(&self, visits: usize) -> Vec<Vec<f64>> {
        let mut ahead = vec![vec![0.0; self.stamps + 1]];
        for of in 0..visits {
            let most = |before: usize| {
                let values = (before + 1..=self.stamps).map(|stamp| self.at(before, stamp) + ahead[of][stamp]);
                values.fold(f64::NEG_INFINITY, f64::max)
            };
            let next = (0..=self.stamps).map(most).collect();
            ahead.push(next);
        }
        ahead
    }

    /// The plan that adds the most; of equal ones the one whose first differing visit is earlier.
    pub fn plan(&self, visits: usize) -> Vec<usize> {
        let ahead = self.ahead(visits);
        let mut last = 0;
        let next = |of: usize| {
            let value = |stamp: usize| self.at(last, stamp) + ahead[visits - 1 - of][stamp];
            let best = (last + 1..=self.stamps).rev().max_by(|&a, &b| value(a).total_cmp(&value(b)));
            last = best.expect("a plan has no more visits than there are stamps");
            last - 1
        };
        (0..visits).map(next).collect()
    }
}
