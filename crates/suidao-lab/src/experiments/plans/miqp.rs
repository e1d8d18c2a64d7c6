//! The paper's quadratic problem, eqs. (7) to (10): `f` slots with the least sum of similarities among them; and
//! Algorithm 2, which excludes the slots at which a page is similar to the slot before.
//!
//! Solved by the best of 60 local searches from random plans, exchanging one visit at a time. A branch and bound, exact
//! up to 30 slots, found nothing better on 440 of 440 pages and numbers of visits.

use super::series::SnapshotSeries;
use super::similarity::{Matrix, similarity_series};
use suidao_page::seeded_rng::SeededRng;

const RESTARTS: u64 = 60;
/// Tolerance for equal sums.
const SLACK: f64 = 1e-9;
const START: u64 = 0x6d69_7170;

/// Algorithm 2: a plan of `f` of the [`retained`] slots. The paper uses 11 visits in 30 days and a similarity of 0.65.
///
/// The printed matrix is chained from the similarities that were kept, so that changes at excluded slots are lost, and
/// a page with fewer slots left than visits is never visited again. Here the matrix of all slots is restricted to
/// those retained, and such a page is visited at all of them.
pub fn increment(training: &[SnapshotSeries], f: usize, most_similar: f64, seed: u64) -> Vec<usize> {
    let left = retained(training, most_similar);
    let matrix = Matrix::chained(&periods(training)).among(&left);
    solve(&matrix, f, seed).into_iter().map(|position| left[position]).collect()
}

/// The retained slots: the first, and those whose mean similarity to the previous one is below `most_similar`, δ;
/// above 1 all are retained.
pub fn retained(training: &[SnapshotSeries], most_similar: f64) -> Vec<usize> {
    let periods = periods(training);
    let Some(slots) = periods.iter().map(|period| period.len() + 1).min() else { return Vec::new() };
    let mean = |slot: usize| periods.iter().map(|period| period[slot - 1]).sum::<f64>() / periods.len() as f64;
    (0..slots).filter(|&slot| slot == 0 || mean(slot) < most_similar).collect()
}

/// The similarity series of each period; none if a period has no slots.
fn periods(training: &[SnapshotSeries]) -> Vec<Vec<f64>> {
    if training.iter().any(|period| period.slots() == 0) {
        return Vec::new();
    }
    training.iter().map(similarity_series).collect()
}

/// A plan of `f` slots (or all, if there are fewer) with low [`Matrix::cost`].
pub(super) fn solve(matrix: &Matrix, f: usize, seed: u64) -> Vec<usize> {
    let size = matrix.size();
    let search = |nth| {
        let mut rng = SeededRng::new(seed, START, nth);
        let mut plan: Vec<usize> = (0..size).collect();
        while plan.len() > f {
            plan.swap_remove(rng.below(plan.len() as u64) as usize);
        }
        improve(matrix, &mut plan);
        plan.sort_unstable();
        (matrix.cost(&plan), plan)
    };
    let best = (0..RESTARTS).map(search).min_by(|(a, one), (b, other)| a.total_cmp(b).then_with(|| one.cmp(other)));
    best.map_or_else(Vec::new, |(_, plan)| plan)
}

/// Applies the best exchange of a visit until none improves the plan.
fn improve(matrix: &Matrix, plan: &mut [usize]) {
    loop {
        let mut best = (-SLACK, 0, 0);
        for place in 0..plan.len() {
            // Cost of a slot in this place. With itself each costs 1.
            let cost = |slot: usize| {
                plan.iter().map(|&visit| matrix.at(visit, slot)).sum::<f64>() - matrix.at(plan[place], slot)
            };
            let here = cost(plan[place]);
            for slot in (0..matrix.size()).filter(|slot| !plan.contains(slot)) {
                let change = cost(slot) - here;
                if change < best.0 {
                    best = (change, place, slot);
                }
            }
        }
        let (change, place, slot) = best;
        if change >= -SLACK {
            return;
        }
        plan[place] = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::PlanMeasure;
    use super::super::series::tests::contiguous;
    use super::*;

    const PRINTED: f64 = 0.65;

    /// Eight items, of which `counts` are replaced at each slot.
    fn replaced(counts: &[u32]) -> SnapshotSeries {
        let mut first = 0;
        let mut snapshots = vec![(0..8).collect::<Vec<u32>>()];
        for count in counts {
            first += count;
            snapshots.push((first..first + 8).collect());
        }
        SnapshotSeries::new(snapshots)
    }

    #[test]
    fn a_page_that_changes_on_ten_days_of_thirty_is_visited_on_these() {
        let mut new_items = [0; 30];
        new_items.iter_mut().step_by(3).for_each(|count| *count = 6);
        let months = vec![contiguous(&new_items, 3); 2];
        assert_eq!(retained(&months, PRINTED), (0..30).step_by(3).collect::<Vec<_>>());
        let plan = increment(&months, 11, PRINTED, 1);
        assert_eq!(plan, retained(&months, PRINTED));
        assert_eq!(PlanMeasure::of(&months[0], &plan).accuracy, 1.0);
    }

    #[test]
    fn the_mean_of_the_months_decides_what_is_left() {
        let months = [replaced(&[0, 3, 3]), replaced(&[3, 0, 3])];
        assert_eq!(retained(&months, PRINTED), [0, 3], "means 0.73, 0.73, 0.45");
        assert_eq!(retained(&months, 1.0), [0, 1, 2, 3]);
        assert_eq!(increment(&[], 11, PRINTED, 1), Vec::<usize>::new());
        assert_eq!(increment(&[SnapshotSeries::default()], 11, PRINTED, 1), Vec::<usize>::new());
    }
}
