//! The methods against brute force and against each other.

use proptest::prelude::*;

use super::miqp::solve;
use super::series::tests::{contiguous, intervals, new_items};
use super::similarity::Matrix;
use super::*;

const METHODS: [SnapshotPlan; 3] = [SnapshotPlan::Miqp, SnapshotPlan::Dynamic, SnapshotPlan::Uniform];

/// All plans of `f` visits, in lexicographic order.
fn plans(slots: usize, f: usize) -> Vec<Vec<usize>> {
    let mut plans = vec![vec![]];
    for left in (0..f).rev() {
        let longer = |plan: Vec<usize>| {
            let from = plan.last().map_or(0, |last| last + 1);
            (from..slots - left).map(move |slot| plan.iter().copied().chain([slot]).collect())
        };
        plans = plans.into_iter().flat_map(longer).collect();
    }
    plans
}

fn found(training: &[SnapshotSeries], plan: &[usize]) -> f64 {
    let items = |period: &SnapshotSeries| new_items(period).iter().sum::<usize>() as f64;
    training.iter().map(|period| items(period) * PlanMeasure::of(period, plan).accuracy).sum()
}

#[test]
fn degenerate_requests_are_answered() {
    let month = [contiguous(&[3, 0, 2, 1], 2)];
    let longer = contiguous(&[3, 0, 2, 1, 5, 5], 2);
    for method in METHODS {
        assert_eq!(plan(&[], 3, method, 1), [0; 0]);
        assert_eq!(plan(&[SnapshotSeries::default()], 3, method, 1), [0; 0]);
        assert_eq!(plan(&month, 0, method, 1), [0; 0]);
        assert_eq!(plan(&month, 9, method, 1), [0, 1, 2, 3]);
        assert_eq!(plan(&month, 1, method, 1).len(), 1);
        let two = plan(&[longer.clone(), month[0].clone()], 3, method, 1);
        assert!(two.len() == 3 && two.is_sorted() && two[2] < 4, "{method:?}: {two:?}");
        assert_eq!(plan(&vec![contiguous(&[0; 6], 1); 2], 2, method, 1).len(), 2, "{method:?}");
    }
}

#[test]
fn uniform_is_the_papers() {
    assert_eq!(plan(&[contiguous(&[1; 30], 3)], 5, SnapshotPlan::Uniform, 1), [0, 6, 12, 18, 24]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_dynamic_programme_is_brute_force_where_items_do_not_come_back(
        training in intervals(1..=14), f in 1..=14_usize,
    ) {
        let slots = training[0].slots();
        let f = f.min(slots);
        let best = plans(slots, f).iter().map(|plan| found(&training, plan)).fold(0.0, f64::max);
        let programme = plan(&training, f, SnapshotPlan::Dynamic, 1);
        prop_assert!((found(&training, &programme) - best).abs() < 1e-6, "{programme:?}, not {best}");
    }

    #[test]
    fn local_searches_find_the_least(
        periods in proptest::collection::vec(proptest::collection::vec(0.0..=1.0_f64, 9), 1..4), f in 1..=9_usize,
    ) {
        let matrix = Matrix::chained(&periods);
        let least = plans(10, f).iter().map(|plan| matrix.cost(plan)).fold(f64::INFINITY, f64::min);
        prop_assert!((matrix.cost(&solve(&matrix, f, 1)) - least).abs() < 1e-6);
    }
}
