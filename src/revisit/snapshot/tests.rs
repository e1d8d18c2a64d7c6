//! The methods against brute force and against one another.

use proptest::prelude::*;

use super::series::tests::{contiguous, intervals};
use super::*;
use crate::world::{Arrivals, Listing};

const METHODS: [Method; 7] = [
    Method::Exhaustive,
    Method::Miqp,
    Method::Dynamic { freshness: 0.0 },
    Method::Credible { freshness: 0.0 },
    Method::Repeated { freshness: 0.0 },
    Method::Uniform,
    Method::Random,
];

/// All plans of `f` visits, in lexicographic order.
fn plans(stamps: usize, f: usize) -> Vec<Vec<usize>> {
    let mut plans = vec![vec![]];
    for left in (0..f).rev() {
        let longer = |plan: Vec<usize>| {
            let from = plan.last().map_or(0, |last| last + 1);
            (from..stamps - left).map(move |stamp| plan.iter().copied().chain([stamp]).collect())
        };
        plans = plans.into_iter().flat_map(longer).collect();
    }
    plans
}

/// Items found, and those among them found on their first stamp.
fn found(training: &[Series], plan: &[usize]) -> (f64, f64) {
    let of = |period: &Series| {
        let items = period.new_items().iter().sum::<usize>() as f64;
        let measure = Measure::of(period, plan);
        (items * measure.accuracy, items * measure.freshness)
    };
    training.iter().map(of).fold((0.0, 0.0), |sum, (found, fresh)| (sum.0 + found, sum.1 + fresh))
}

/// Periods of so many stamps whose items come and go as they like.
fn anything(stamps: usize) -> impl Strategy<Value = Vec<Series>> {
    let shown = proptest::collection::vec(0..40_u32, 0..12);
    let period = proptest::collection::vec(shown, stamps).prop_map(Series::new);
    proptest::collection::vec(period, 1..3)
}

#[test]
fn degenerate_requests_are_answered() {
    let month = [contiguous(&[3, 0, 2, 1], 2)];
    let longer = contiguous(&[3, 0, 2, 1, 5, 5], 2);
    for method in METHODS {
        assert_eq!(plan(&[], 3, method, 1), [0; 0]);
        assert_eq!(plan(&[Series::default()], 3, method, 1), [0; 0]);
        assert_eq!(plan(&month, 0, method, 1), [0; 0]);
        assert_eq!(plan(&month, 9, method, 1), [0, 1, 2, 3]);
        assert_eq!(plan(&month, 1, method, 1).len(), 1);
        let two = plan(&[longer.clone(), month[0].clone()], 3, method, 1);
        assert!(two.len() == 3 && two.is_sorted() && two[2] < 4, "{method:?}: {two:?}");
        assert_eq!(plan(&vec![contiguous(&[0; 6], 1); 2], 2, method, 1).len(), 2, "{method:?}");
    }
    assert_eq!(enumerate(&[], 3), [0; 0]);
}

#[test]
fn uniform_is_the_papers_and_random_is_of_a_seed() {
    let month = [contiguous(&[1; 30], 3)];
    assert_eq!(plan(&month, 5, Method::Uniform, 1), [0, 6, 12, 18, 24]);
    let at_random = plan(&month, 11, Method::Random, 1);
    assert_eq!(at_random, plan(&month, 11, Method::Random, 1));
    assert_ne!(at_random, plan(&month, 11, Method::Random, 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_dynamic_programme_is_brute_force_where_items_do_not_come_back(
        training in intervals(1..=16), f in 1..=16_usize, freshness in 0..3_u32,
    ) {
        let stamps = training[0].stamps();
        let f = f.min(stamps);
        let freshness = f64::from(freshness);
        let value = |plan: &[usize]| {
            let (found, fresh) = found(&training, plan);
            found + freshness * fresh
        };
        // Freshness is weighed with counts of new items: those found on their first stamp, whatever else is visited.
        let best = plans(stamps, f).iter().map(|plan| value(plan)).fold(0.0, f64::max);
        let programme = plan(&training, f, Method::Dynamic { freshness }, 1);
        prop_assert!((value(&programme) - best).abs() < 1e-6, "{programme:?} finds {}, not {best}", value(&programme));
        if freshness == 0.0 {
            prop_assert_eq!(&programme, &enumerate(&training, f), "and of equal ones the first");
            prop_assert_eq!(&programme, &plan(&training, f, Method::Exhaustive, 1));
        }
    }

    #[test]
    fn exhaustive_finds_the_most_where_items_come_back_too(training in anything(10), f in 1..=9_usize) {
        let most = found(&training, &enumerate(&training, f)).0;
        let best = plans(10, f).iter().map(|plan| found(&training, plan).0).fold(0.0, f64::max);
        prop_assert!((most - best).abs() < 1e-6);
        let pruned = found(&training, &plan(&training, f, Method::Exhaustive, 1)).0;
        prop_assert!((pruned - best).abs() < 1e-6);
    }

    #[test]
    fn branch_and_bound_is_brute_force(
        periods in proptest::collection::vec(proptest::collection::vec(0.0..=1.0_f64, 9), 1..4),
        order in Just((0..10).collect::<Vec<usize>>()).prop_shuffle(),
        f in 1..=9_usize,
    ) {
        let chained = Matrix::chained(&periods);
        // In time's order, and in one in which no stamp is least like the farthest.
        for matrix in [chained.among(&order), chained] {
            let mut plans = plans(10, f);
            plans.sort_by(|a, b| matrix.cost(a).total_cmp(&matrix.cost(b)));
            let least = matrix.cost(&plans[0]);
            prop_assert!((matrix.cost(&solve(&matrix, f, 1)) - least).abs() < 1e-6);
            // From the worst plan, which bounds nothing, so that dominance must do it, and from the second best, so that
            // the bound must.
            let second = plans.iter().find(|plan| matrix.cost(plan) > least + 1e-6).unwrap_or(&plans[0]);
            for start in [&plans[plans.len() - 1], second] {
                prop_assert!((matrix.cost(&miqp::exact(&matrix, f, start.clone())) - least).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn trusted_training_that_agrees_is_the_dynamic_programme(training in intervals(8..=8), f in 1..=8_usize) {
        let agreed = vec![training[0].clone(); 3];
        let credible = plan(&agreed, f, Method::Credible { freshness: 0.5 }, 1);
        prop_assert_eq!(credible, plan(&agreed, f, Method::Dynamic { freshness: 0.5 }, 1));
    }

    #[test]
    fn a_repeated_plan_finds_the_most_of_a_round(
        arrivals in proptest::collection::vec((0..4_u32, 1..6_usize), 8), f in 1..=7_usize,
    ) {
        // The same week again and again; items go on over its end.
        let (stamps, mut shown, mut item) = (arrivals.len(), vec![Vec::new(); 5 * 8], 0);
        for day in 0..shown.len() {
            let (count, life) = arrivals[day % stamps];
            for _ in 0..count {
                shown.iter_mut().skip(day).take(life).for_each(|of_day| of_day.push(item));
                item += 1;
            }
        }
        let rounds = |of: std::ops::Range<usize>| shown[8 * of.start..8 * of.end].to_vec();
        let training: Vec<Series> = (1..4).map(|round| Series::new(rounds(round..round + 1))).collect();
        // Found over three rounds of five, but for what they begin with.
        let whole = Series::new(rounds(0..5));
        let value = |plan: &[usize]| -> usize {
            let visits: Vec<usize> = (0..5).flat_map(|round| plan.iter().map(move |stamp| 8 * round + stamp)).collect();
            let counted = visits.windows(2).filter(|pair| (8..32).contains(&pair[1]));
            counted.map(|pair| whole.gain(Some(pair[0]), pair[1])).sum()
        };
        let best = plans(stamps, f).iter().map(|plan| value(plan)).max().unwrap();
        prop_assert_eq!(value(&plan(&training, f, Method::Repeated { freshness: 0.0 }, 1)), best);
    }
}

#[test]
fn credible_plans_do_not_learn_chance() {
    let accuracy = |arrivals: Arrivals, method: Method| {
        let of = |seed| {
            let months = Listing { seed, arrivals, ..Listing::default() }.periods(3);
            Measure::of(&months[2], &plan(&months[..2], 8, method, seed)).accuracy / 20.0
        };
        (0..20).map(of).sum::<f64>()
    };
    let gained = |arrivals| {
        accuracy(arrivals, Method::Credible { freshness: 0.0 }) - accuracy(arrivals, Method::Dynamic { freshness: 0.0 })
    };
    assert!(gained(Arrivals::Weekly) > 0.03, "weekends drift through the months");
    assert!(gained(Arrivals::Printed) > -0.01, "what comes again every month is learnt all the same");
}

#[test]
fn local_search_mostly_reaches_the_optimum_of_30_stamps() {
    // A week's rhythm and some noise, in two periods.
    let period = |nth: usize| {
        let similarity = |stamp: usize| {
            let noise = (xxh3_64_with_seed(&stamp.to_le_bytes(), nth as u64) % 1000) as f64 / 1000.0;
            0.6 + 0.15 * noise + if stamp % 7 < 2 { 0.2 } else { 0.0 }
        };
        (0..29).map(similarity).collect::<Vec<_>>()
    };
    let matrix = Matrix::chained(&[period(1), period(2)]);
    let least = matrix.cost(&solve(&matrix, 11, 1));
    let costs: Vec<f64> = (0..20).map(|seed| matrix.cost(&local_search(&matrix, 11, 60, seed))).collect();
    assert!(costs.iter().all(|cost| *cost > least - 1e-6), "nothing is below the optimum");
    assert!(costs.iter().filter(|cost| **cost < least + 1e-6).count() >= 18, "{least}: {costs:?}");
    assert!(matrix.cost(&plan(&[contiguous(&[1; 30], 3)], 11, Method::Uniform, 1)) > least);
}

#[test]
fn more_than_30_stamps_are_planned_by_local_search() {
    let matrix = Matrix::chained(&[vec![0.7; 44]]);
    let plan = solve(&matrix, 9, 1);
    assert_eq!(plan, local_search(&matrix, 9, 60, 1));
    assert_eq!((plan[0], plan[8]), (0, 44));
    assert!(plan.windows(2).all(|pair| (4..=7).contains(&(pair[1] - pair[0]))), "{plan:?}");
}
