//! The paper's quadratic problem, eqs. (7) to (10): `f` stamps with the least sum of similarities among them.
//!
//! Up to 30 stamps exactly: plans grow visit by visit, ascending. A beginning is dropped
//! - if it cannot get below the best plan known (a local search's, at first). Its bound: what it costs already, the least
//!   that the visits ahead can add with each other and the two visits before each of them (a table, made backwards once), and the
//!   least of what single stamps add with earlier visits than those;
//! - or if another one with as many visits and the same last one costs no more and is no more like any stamp ahead: whatever
//!   completes the one completes the other as cheaply. Matrices that are means of `d` chains leave few beginnings to tell apart.
//!
//! Above 30 stamps the best of 60 local searches from random plans, one visit exchanged at a time.

use super::at_random;
use super::similarity::Matrix;

/// The most stamps for which [`solve`] is exact.
pub const EXACT: usize = 30;

/// Local searches for one plan.
const RESTARTS: u64 = 60;

/// What two sums may differ by and be the same.
const SLACK: f64 = 1e-9;

/// A plan of `f` stamps (all of them if there are no more) with the least [`Matrix::cost`]; above 30 stamps, a plan with little.
pub fn solve(matrix: &Matrix, f: usize, seed: u64) -> Vec<usize> {
    let start = local_search(matrix, f, RESTARTS, seed);
    if matrix.size() > EXACT || f == 0 || f >= matrix.size() { start } else { exact(matrix, f, start) }
}

/// The best of `restarts` plans, each improved from a random one by the exchange of one visit that saves most, until none does.
pub fn local_search(matrix: &Matrix, f: usize, restarts: u64, seed: u64) -> Vec<usize> {
    let size = matrix.size();
    if f >= size {
        return (0..size).collect();
    }
    let plans = (0..restarts).map(|nth| improved(matrix, at_random(size, f, seed, nth)));
    let costs = plans.map(|plan| (matrix.cost(&plan), plan));
    costs
        .min_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.cmp(other)))
        .map_or_else(Vec::new, |(_, plan)| plan)
}

fn improved(matrix: &Matrix, mut plan: Vec<usize>) -> Vec<usize> {
    let size = matrix.size();
    // Of every stamp: what it adds with the plan.
    let mut adds: Vec<f64> = (0..size).map(|stamp| plan.iter().map(|&visit| matrix.at(visit, stamp)).sum()).collect();
    loop {
        let mut best = (-SLACK, 0, 0);
        for (place, &out) in plan.iter().enumerate() {
            for within in (0..size).filter(|stamp| plan.binary_search(stamp).is_err()) {
                // Half of the change: pairs count twice.
                let change = adds[within] - matrix.at(out, within) + 0.5 * matrix.at(within, within)
                    - (adds[out] - 0.5 * matrix.at(out, out));
                if change < best.0 {
                    best = (change, place, within);
                }
            }
        }
        let (change, place, within) = best;
        if change >= -SLACK {
            return plan;
        }
        for (stamp, adds) in adds.iter_mut().enumerate() {
            *adds += matrix.at(within, stamp) - matrix.at(plan[place], stamp);
        }
        plan[place] = within;
        plan.sort_unstable();
    }
}

/// The first visits of a plan. Costs count pairs once, and of the diagonal half.
#[derive(Clone)]
struct Beginning {
    visits: Vec<usize>,
    cost: f64,
    /// What each stamp would add with its visits.
    adds: Vec<f64>,
}

pub(super) fn exact(matrix: &Matrix, f: usize, start: Vec<usize>) -> Vec<usize> {
    let size = matrix.size();
    let ahead = Ahead::of(matrix, f);
    let mut best = matrix.cost(&start) / 2.0;
    let mut plan = start;
    let nothing = Beginning { visits: Vec::new(), cost: 0.0, adds: (0..size).map(|j| matrix.at(j, j) / 2.0).collect() };
    let mut beginnings = vec![nothing];
    for left in (0..f).rev() {
        let mut by_last: Vec<Vec<Beginning>> = vec![Vec::new(); size];
        for of in &beginnings {
            let from = of.visits.last().map_or(0, |last| last + 1);
            for (stamp, of_last) in by_last.iter_mut().enumerate().take(size - left).skip(from) {
                let visits: Vec<usize> = of.visits.iter().copied().chain([stamp]).collect();
                let cost = of.cost + of.adds[stamp];
                if left == 0 {
                    if cost < best - SLACK {
                        (best, plan) = (cost, visits);
                    }
                } else if cost + ahead.least(matrix, &visits, &of.adds, left) < best - SLACK {
                    let adds = of.adds.iter().enumerate().map(|(j, adds)| adds + matrix.at(stamp, j)).collect();
                    of_last.push(Beginning { visits, cost, adds });
                }
            }
        }
        beginnings = by_last.into_iter().enumerate().flat_map(|(last, of)| undominated(of, last + 1)).collect();
    }
    plan
}

/// Those that no other equals or undercuts in everything that is to come, stamps from `from` on.
fn undominated(mut beginnings: Vec<Beginning>, from: usize) -> Vec<Beginning> {
    beginnings.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    let mut kept: Vec<Beginning> = Vec::new();
    for one in beginnings {
        let covers = |other: &Beginning| other.adds[from..].iter().zip(&one.adds[from..]).all(|(a, b)| a <= b);
        if !kept.iter().any(covers) {
            kept.push(one);
        }
    }
    kept
}

/// Bounds from below of what visits to come must cost.
struct Ahead {
    size: usize,
    /// `[visits][before * (size + 1) + last]`, both from 1, 0 for none: the least sum over so many visits after `last` of each
    /// one's cells with the two visits before it.
    pairs: Vec<Vec<f64>>,
}

impl Ahead {
    fn of(matrix: &Matrix, f: usize) -> Self {
        let size = matrix.size();
        let cell = |visit: usize, stamp: usize| if visit == 0 { 0.0 } else { matrix.at(visit - 1, stamp - 1) };
        let mut pairs = vec![vec![0.0; (size + 1) * (size + 1)]];
        for of in 0..f.saturating_sub(1) {
            let mut least = vec![f64::INFINITY; (size + 1) * (size + 1)];
            for last in 0..=size {
                for before in 0..last.max(1) {
                    let next = (last + 1..=size).map(|stamp| {
                        cell(before, stamp)
                            + cell(last, stamp)
                            + cell(stamp, stamp) / 2.0
                            + pairs[of][last * (size + 1) + stamp]
                    });
                    least[before * (size + 1) + last] = next.fold(f64::INFINITY, f64::min);
                }
            }
            pairs.push(least);
        }
        Self { size, pairs }
    }

    /// For a beginning of these visits, of which all but the last make stamps cost `adds`, and `left` more.
    fn least(&self, matrix: &Matrix, visits: &[usize], adds: &[f64], left: usize) -> f64 {
        let last = visits.len() - 1;
        let before = if last == 0 { 0 } else { visits[last - 1] + 1 };
        // With visits earlier than the last two: the diagonal and the last but one are in the table.
        let mut earlier: Vec<f64> = (visits[last] + 1..self.size)
            .map(|j| {
                let near = if last == 0 { 0.0 } else { matrix.at(visits[last - 1], j) };
                (adds[j] - matrix.at(j, j) / 2.0 - near).max(0.0)
            })
            .collect();
        earlier.sort_by(f64::total_cmp);
        self.pairs[left][before * (self.size + 1) + visits[last] + 1] + earlier[..left].iter().sum::<f64>()
    }
}
