//! The instants of least delay for one board: eq. (8) minimised exactly over a grid, where the paper solves its derivative
//! (9) with a first instant set by hand.
//!
//! The delay between two visits has the quadrangle inequality (Monge), so the best path of k steps is found in linear
//! time from that of k - 1 (Knuth 1971, Yao 1980), and a further visit is never worth more than the one before.

use super::{Horizon, Profile};

/// Instants that a visit may have: quarters of an hour.
const GRID: usize = 96;

/// The best instants for each number of visits.
pub(super) struct Optimum {
    profile: Profile,
    horizon: Horizon,
    grid: usize,
    /// By number of visits, from 1: the least delay in hours, and the place it begins at.
    best: Vec<(f64, usize)>,
}

impl Optimum {
    /// For up to a visit every quarter of an hour.
    pub fn of(profile: &Profile, horizon: Horizon) -> Self {
        Self::on(profile, GRID, horizon, GRID)
    }

    pub(super) fn on(profile: &Profile, most: usize, horizon: Horizon, grid: usize) -> Self {
        let costs = Costs::of(profile, grid);
        let best = match horizon {
            // From 0 to 24 with a visit between each two steps.
            Horizon::Day => {
                let steps = most.min(grid - 1) + 1;
                costs.paths(0, steps).ends().into_iter().skip(1).map(|delay| (delay, 0)).collect()
            }
            // From a visit to the same on the next day; the first visit may be anywhere.
            Horizon::Periodic => {
                let mut best = vec![(f64::INFINITY, 0); most.min(grid)];
                for start in 0..grid {
                    let ends = costs.paths(start, best.len()).ends();
                    for (best, delay) in best.iter_mut().zip(ends).filter(|(best, delay)| *delay < best.0) {
                        *best = (delay, start);
                    }
                }
                best
            }
        };
        Self { profile: profile.clone(), horizon, grid, best }
    }

    /// Least delay in hours with so many visits, at least 1; none beyond what was asked for.
    pub fn delay(&self, visits: usize) -> Option<f64> {
        self.best.get(visits.checked_sub(1)?).map(|(delay, _)| *delay)
    }

    /// The instants of it; of more visits than there can be, those of as many as can be.
    pub fn instants(&self, visits: usize) -> Vec<f64> {
        let visits = visits.min(self.best.len());
        let Some(&(_, start)) = visits.checked_sub(1).and_then(|place| self.best.get(place)) else { return Vec::new() };
        let costs = Costs::of(&self.profile, self.grid);
        let mut places = match self.horizon {
            Horizon::Day => costs.paths(start, visits + 1).path(),
            Horizon::Periodic => {
                let mut path = costs.paths(start, visits).path();
                path.push(0);
                path
            }
        };
        places.iter_mut().for_each(|place| *place = (start + *place) % self.grid);
        places.sort_unstable();
        places.into_iter().map(|place| 24.0 * place as f64 / self.grid as f64).collect()
    }
}

/// Delays between places of the grid, from integrals shared by all.
struct Costs {
    grid: usize,
    /// F and its integral at each place of two days.
    integrals: Vec<(f64, f64)>,
}

impl Costs {
    fn of(profile: &Profile, grid: usize) -> Self {
        let hour = |place: usize| 24.0 * place as f64 / grid as f64;
        Self { grid, integrals: (0..=2 * grid).map(|place| profile.integrals(hour(place))).collect() }
    }

    /// Delay of what is said after place `from` and before place `to`.
    fn between(&self, from: usize, to: usize) -> f64 {
        let ((before, area_before), (_, area)) = (self.integrals[from], self.integrals[to]);
        area - area_before - 24.0 * (to - from) as f64 / self.grid as f64 * before
    }

    /// Best paths from `start`, the same place of which is the end, once round the clock in 1 to `steps` steps.
    fn paths(&self, start: usize, steps: usize) -> Paths {
        let end = self.grid;
        let mut values: Vec<f64> =
            (0..=end).map(|to| if to == 0 { f64::INFINITY } else { self.between(start, start + to) }).collect();
        let mut paths = Paths { ends: vec![values[end]], parents: vec![vec![0; end + 1]] };
        for step in 2..=steps {
            let above = &paths.parents[step - 2];
            let (mut next, mut parents) = (vec![f64::INFINITY; end + 1], vec![0; end + 1]);
            let mut highest = end - 1;
            for to in (step..=end).rev() {
                let lowest = above[to].max(step - 1);
                let mut best = (f64::INFINITY, lowest);
                let range = lowest..=highest.min(to - 1).max(lowest);
                for (from, value) in range.clone().zip(&values[range]) {
                    let value = value + self.between(start + from, start + to);
                    if value < best.0 {
                        best = (value, from);
                    }
                }
                (next[to], parents[to]) = best;
                highest = best.1;
            }
            values = next;
            paths.ends.push(values[end]);
            paths.parents.push(parents);
        }
        paths
    }
}

/// Best paths of 1, 2, ... steps.
struct Paths {
    ends: Vec<f64>,
    /// For each number of steps and each place, the place before it.
    parents: Vec<Vec<usize>>,
}

impl Paths {
    fn ends(self) -> Vec<f64> {
        self.ends
    }

    /// The places between the ends of the path with the most steps, the last first.
    fn path(&self) -> Vec<usize> {
        let mut at = self.parents[0].len() - 1;
        let mut out = Vec::with_capacity(self.parents.len());
        for parents in self.parents[1..].iter().rev() {
            at = parents[at];
            out.push(at);
        }
        out
    }
}
