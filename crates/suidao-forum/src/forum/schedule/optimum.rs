//! The instants with the least delay: the minimum of eq. (8) for one board.
//!
//! The minimum on a grid by dynamic programming, then each instant is moved to its best place between its neighbours
//! until none moves. There the derivative of eq. (8) is 0, which is eq. (9), or the instant is at an hour where the
//! profile jumps. The paper computes the instants from the first, c1, by eq. (9) alone, which does not end at midnight;
//! here a given c1 only fixes the first.

use super::delay::waiting;
use super::{Horizon, Profile, instants};

const SLOTS: usize = 48;
const DAY: f64 = 24.0;
/// Rounds of moving each instant, at most.
const ROUNDS: usize = 200;

/// Delays for this many visits are exact up to the grid; for more they are those of the continuous limit.
pub(super) const EXACT: usize = SLOTS - 1;

pub(super) struct Optimum<'a> {
    pub profile: &'a Profile,
    pub horizon: Horizon,
    /// c1: the hour of the first visit, if it is fixed.
    pub first: Option<f64>,
}

/// The best chains of visits on the grid that begin at some starts.
struct Chains {
    points: Vec<f64>,
    /// By number of visits less 1, and last point: delay until the last visit, and the point of the visit before.
    rows: Vec<Vec<(f64, usize)>>,
}

impl Optimum<'_> {
    /// Mean delay of a post in hours with 1 to `most` visits a day.
    pub fn delays(&self, most: usize) -> Vec<f64> {
        let least = self.least(most.min(EXACT));
        // D = (integral of the root)^2 / 2m.
        let limit = |visits: usize| self.profile.root().1.powi(2) / (2.0 * visits as f64);
        (1..=most).map(|visits| least.get(visits - 1).map_or_else(|| limit(visits), |(delay, _)| *delay)).collect()
    }

    pub fn instants(&self, visits: usize) -> Vec<f64> {
        let grid = if visits > EXACT { None } else { self.least(visits).pop().map(|(_, instants)| instants) };
        let mut instants = grid.unwrap_or_else(|| {
            let root = self.profile.root().0;
            match self.horizon {
                Horizon::Day => instants::equal_areas(&root, visits),
                Horizon::Week => instants::middles(&root, visits),
            }
        });
        self.refine(&mut instants);
        instants
    }

    /// The least delay with 1 to `most` visits, and its instants.
    fn least(&self, most: usize) -> Vec<(f64, Vec<f64>)> {
        let grid = (0..SLOTS).map(|slot| DAY * slot as f64 / SLOTS as f64);
        let mut points: Vec<f64> = grid.chain(self.first).collect();
        points.sort_by(f64::total_cmp);
        points.dedup();
        let starts: Vec<usize> =
            (0..points.len()).filter(|&at| self.first.is_none_or(|first| first == points[at])).collect();
        let mut best = vec![(f64::INFINITY, Vec::new()); most];
        let mut take = |chains: &Chains, end: f64| {
            for (visits, best) in best.iter_mut().enumerate() {
                let (delay, last) = chains.best(self.profile, visits, end);
                if delay < best.0 {
                    *best = (delay, chains.instants(visits, last));
                }
            }
        };
        match self.horizon {
            Horizon::Day => take(&self.chains(points, &starts, most), DAY),
            Horizon::Week => {
                for start in starts {
                    let chains = self.chains(points.clone(), &[start], most);
                    take(&chains, chains.points[start] + DAY);
                }
            }
        }
        best
    }

    fn chains(&self, points: Vec<f64>, starts: &[usize], most: usize) -> Chains {
        let before =
            |at: usize| if self.horizon == Horizon::Day { waiting(self.profile, 0.0, points[at]) } else { 0.0 };
        let mut first = vec![(f64::INFINITY, usize::MAX); points.len()];
        for &start in starts {
            first[start].0 = before(start);
        }
        let mut rows = vec![first];
        for _ in 1..most {
            let last = &rows[rows.len() - 1];
            let next = (0..points.len()).map(|to| {
                let from = (0..to).filter(|from| last[*from].0.is_finite());
                from.map(|from| (last[from].0 + waiting(self.profile, points[from], points[to]), from))
                    .fold((f64::INFINITY, usize::MAX), |best, other| if other.0 < best.0 { other } else { best })
            });
            rows.push(next.collect());
        }
        Chains { points, rows }
    }

    /// Moves each instant to its best place between its neighbours until none moves.
    fn refine(&self, instants: &mut [f64]) {
        let (count, fixed) = (instants.len(), usize::from(self.first.is_some()));
        for _ in 0..ROUNDS {
            let mut moved: f64 = 0.0;
            for at in fixed..count {
                let (before, after) = match self.horizon {
                    Horizon::Day => (0.0, DAY),
                    Horizon::Week => (instants[count - 1] - DAY, instants[0] + DAY),
                };
                let from = if at == 0 { before } else { instants[at - 1] };
                let to = if at + 1 == count { after } else { instants[at + 1] };
                let best = self.between(from, to, instants[at]);
                moved = moved.max((best - instants[at]).abs());
                instants[at] = best;
            }
            if moved < 1e-7 {
                return;
            }
        }
    }

    /// The instant of the day with the least delay between two visits; `now` if nothing is better.
    fn between(&self, from: f64, to: f64, now: f64) -> f64 {
        // Hours of this day and the next.
        let shift = if from < 0.0 { DAY } else { 0.0 };
        let delay =
            |at: f64| waiting(self.profile, from + shift, at + shift) + waiting(self.profile, at + shift, to + shift);
        let (low, high) = (from.max(0.0), to.min(DAY));
        let passed = self.profile.integrals(from + shift).0;
        let stationary = |hour: usize| {
            let (low, high) = (low.max(hour as f64), high.min(hour as f64 + 1.0));
            let density = self.profile.slots()[hour];
            // F(c) - F(from) = f(c) (to - c), F linear within the hour.
            let at_hour = self.profile.integrals(hour as f64 + shift).0;
            let at = (passed - at_hour + density * (hour as f64 + to)) / (2.0 * density);
            if density > 0.0 { at.clamp(low, high) } else { low }
        };
        let hours = (low as usize)..(high.ceil() as usize).min(24);
        let best = hours.map(stationary).map(|at| (delay(at), at)).fold((delay(now), now), |best, other| {
            // Moves that gain nothing would not end.
            if other.0 < best.0 - 1e-12 { other } else { best }
        });
        best.1
    }
}

impl Chains {
    /// The least delay if the last visit is followed by one at `end`, and the point of the last one.
    fn best(&self, profile: &Profile, row: usize, end: f64) -> (f64, usize) {
        let all = self.rows[row].iter().enumerate().filter(|(_, (delay, _))| delay.is_finite());
        all.map(|(last, (delay, _))| (delay + waiting(profile, self.points[last], end), last))
            .fold((f64::INFINITY, usize::MAX), |best, other| if other.0 < best.0 { other } else { best })
    }

    fn instants(&self, row: usize, last: usize) -> Vec<f64> {
        let mut at = last;
        let mut instants: Vec<f64> = (0..=row)
            .rev()
            .map(|row| {
                let instant = self.points[at];
                at = self.rows[row][at].1;
                instant
            })
            .collect();
        instants.reverse();
        instants
    }
}
