//! The paper's quadratic problem, eqs. (7) to (10): `f` stamps with the least sum of similarities among them.
//!
//! The best of 60 local searches from random plans, one visit exchanged at a time. A branch and bound that was exact up to 30
//! stamps found nothing better on 440 of 440 pages and numbers of visits.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::similarity::Matrix;

/// Local searches for one plan.
const RESTARTS: u64 = 60;

/// What two sums may differ by and be the same.
const SLACK: f64 = 1e-9;

/// A plan of `f` stamps (all of them if there are no more) with little [`Matrix::cost`].
pub fn solve(matrix: &Matrix, f: usize, seed: u64) -> Vec<usize> {
    let size = matrix.size();
    if f >= size {
        return (0..size).collect();
    }
    let plans = (0..RESTARTS).map(|nth| improved(matrix, at_random(size, f, seed, nth)));
    let costs = plans.map(|plan| (matrix.cost(&plan), plan));
    costs
        .min_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.cmp(other)))
        .map_or_else(Vec::new, |(_, plan)| plan)
}

/// The `nth` of the random plans of a seed.
fn at_random(stamps: usize, f: usize, seed: u64, nth: u64) -> Vec<usize> {
    let lot = |&stamp: &usize| xxh3_64_with_seed(&[nth.to_le_bytes(), (stamp as u64).to_le_bytes()].concat(), seed);
    let mut plan: Vec<usize> = (0..stamps).collect();
    plan.sort_by_cached_key(lot);
    plan.truncate(f);
    plan.sort_unstable();
    plan
}

/// Exchanges the visit that saves most, until none does.
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
