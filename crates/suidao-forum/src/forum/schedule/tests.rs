//! Properties of every schedule.

use proptest::prelude::*;

use super::*;
use suidao_page::model::{ApproxTime, Batch, Event, ForumStep, IndexPage, ListedActivity, Millis, PageKind, UrlId};

const HORIZONS: [Horizon; 2] = [Horizon::Day, Horizon::Week];

fn board(new: [f64; 24]) -> BoardDemand {
    BoardStatistics { new, replied: [0.0; 24] }.into()
}

/// A day with a quiet night and two peaks.
fn usual() -> [f64; 24] {
    std::array::from_fn(|hour| match hour {
        0..8 => 0.2,
        12 | 20..23 => 3.0,
        _ => 1.5,
    })
}

fn scaled(by: f64) -> BoardDemand {
    board(usual().map(|activity| by * activity))
}

#[test]
fn weights_and_profiles_are_those_of_the_paper() {
    let mut statistics = BoardStatistics::default();
    statistics.new[9] = 3.0;
    statistics.replied[9] = 2.0;
    statistics.replied[20] = 8.0;
    let board = BoardDemand::from(statistics);
    assert!((board.weight() - 8.0).abs() < 1e-12, "3 + (2 + 8) / 2");
    let weighted = BoardDemand { importance: 3.0, theta: 0.1, ..board };
    assert!((weighted.weight() - 12.0).abs() < 1e-12, "3 (3 + (2 + 8) / 10)");
    let profile = board.profile();
    assert!((profile.slots()[9] - 0.5).abs() < 1e-12 && (profile.slots()[20] - 0.5).abs() < 1e-12);
    assert_eq!(BoardDemand::from(BoardStatistics::default()).profile(), Profile::even());
}

#[test]
fn the_areas_rule_crosses_several_borders_in_one_hour() {
    let mut activity = [0.0; 24];
    activity[10] = 1.0;
    let profile = Profile::of(&activity).unwrap();
    assert_eq!(instants::equal_areas(&profile, 3), [10.25, 10.5, 10.75]);
    assert_eq!(instants::middles(&profile, 2), [10.25, 10.75]);
    assert_eq!(instants::equal_areas(&Profile::even(), 3), [6.0, 12.0, 18.0]);
    assert_eq!(instants::even(3, Horizon::Day), [6.0, 12.0, 18.0]);
    assert_eq!(instants::even(3, Horizon::Week), [4.0, 12.0, 20.0]);
}

#[test]
fn delays_of_even_visits_are_known() {
    let even = Profile::even();
    for visits in 1..10 {
        let periodic = mean_delay(&even, &instants::even(visits, Horizon::Week), Horizon::Week);
        assert!((periodic - 12.0 / visits as f64).abs() < 1e-9, "{periodic}");
        let day = mean_delay(&even, &instants::even(visits, Horizon::Day), Horizon::Day);
        assert!((day - 12.0 / (visits as f64 + 1.0)).abs() < 1e-9, "{day}");
    }
    assert_eq!(mean_delay(&even, &[], Horizon::Week), f64::INFINITY);
    assert!((mean_delay(&even, &[], Horizon::Day) - 12.0).abs() < 1e-9);
}

#[test]
fn visits_are_split_by_largest_remainder_after_the_guaranteed_ones() {
    assert_eq!(allocation::allocate(&[5.0, 3.0, 2.0], 10, 0), [5, 3, 2]);
    assert_eq!(allocation::allocate(&[1.0, 1.0, 1.0], 5, 0), [2, 2, 1], "of equal ones the first");
    assert_eq!(allocation::allocate(&[98.0, 1.0, 1.0], 10, 0), [8, 1, 1]);
    assert_eq!(allocation::allocate(&[0.0, 0.0], 5, 0), [3, 2]);
    assert_eq!(allocation::allocate(&[1.0, 0.0], 5, 0), [4, 1]);
    assert_eq!(allocation::allocate(&[], 5, 0), [0; 0]);
    // One visit each besides those: the last board has two of 13, the others share eleven, 7.3 and 3.7.
    assert_eq!(allocation::allocate(&[8.0, 4.0, 1.0], 10, 1), [6, 3, 1]);
}

#[test]
fn with_more_boards_than_visits_they_take_turns() {
    let statistics: Vec<BoardDemand> = (1..=7).map(|by| scaled(f64::from(by))).collect();
    for per_day in 1..7 {
        let days = cycle(7, per_day);
        for method in ScheduleMethod::ALL {
            let plan = plan(&statistics, per_day, method, ScheduleObjective::default());
            for day in 0..days {
                let from = 24.0 * f64::from(day);
                let visits = plan.iter().flatten().filter(|hour| (from..from + 24.0).contains(*hour)).count();
                assert!(visits <= per_day as usize, "{method}: {visits} of {per_day} on day {day} of {days}");
            }
            assert!(plan.iter().all(|visits| visits.len() == 1 || visits.len() == days as usize));
            assert!(plan.iter().flatten().all(|hour| *hour < 24.0 * f64::from(days)));
            assert!(plan.is_sorted_by_key(Vec::len), "the active ones come first");
        }
    }
    assert_eq!(cycle(7, 4), 2);
    let four = plan(&statistics, 4, ScheduleMethod::Sqrt, ScheduleObjective::default());
    assert_eq!(four.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1, 1, 1, 1, 2]);
    assert_eq!(plan(&statistics, 0, ScheduleMethod::Bra, ScheduleObjective::default()), vec![Vec::<f64>::new(); 7]);
    assert!(plan(&[], 10, ScheduleMethod::Sqrt, ScheduleObjective::default()).is_empty());
}

#[test]
fn an_unknown_board_is_visited_evenly() {
    for method in ScheduleMethod::ALL {
        let plan = plan(&[BoardStatistics::default().into(); 2], 6, method, ScheduleObjective::default());
        let gaps = |visits: &[f64]| visits.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
        for visits in plan {
            let gap = gaps(&visits);
            assert!(visits.len() == 3 && (gap[0] - gap[1]).abs() < 1e-9, "{method}: {visits:?}");
        }
    }
}

fn activity() -> impl Strategy<Value = [f64; 24]> {
    // Some hours have no posts.
    prop::array::uniform24(prop_oneof![1 => Just(0.0), 4 => 0.0..10.0_f64])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn in_the_limit_of_many_visits_the_root_is_never_above_the_others(
        boards in prop::collection::vec((0.1..100.0_f64, prop::array::uniform24(0.01..10.0_f64)), 1..10), weighted in any::<bool>(),
    ) {
        // Integral of W f / (2 rho), rho the density of visits; M = 1.
        let boards: Vec<BoardDemand> =
            boards.into_iter().map(|(rate, shape)| board(shape.map(|activity| rate * activity))).collect();
        let importance = if weighted { Importance::Weight } else { Importance::Equal };
        let delay = |density: &dyn Fn(&BoardDemand, usize) -> f64| {
            let sum: f64 = boards.iter().flat_map(|board| (0..24).map(move |hour| density(board, hour))).sum();
            let of = |board: &BoardDemand| {
                let value = importance.of(board);
                (0..24).map(|hour| value * board.statistics.new[hour] * sum / (2.0 * density(board, hour))).sum::<f64>()
            };
            boards.iter().map(of).sum::<f64>()
        };
        let root = |board: &BoardDemand, hour: usize| {
            let (profile, integral) = board.profile().root();
            let value = importance.of(board) * board.rate();
            value.sqrt() * integral * profile.slots()[hour]
        };
        let sqrt = delay(&root);
        prop_assert!(sqrt <= delay(&|board, hour| board.statistics.new[hour]) * (1.0 + 1e-9), "BRA");
        prop_assert!(sqrt <= delay(&|_, _| 1.0) * (1.0 + 1e-9), "ERA");
        prop_assert!(sqrt <= delay(&|board, _| board.weight()) * (1.0 + 1e-9), "WRA");
        prop_assert!(sqrt <= delay(&|board, hour| board.profile().slots()[hour]) * (1.0 + 1e-9), "LRA");
    }
}

fn exact(at: i64) -> ApproxTime {
    ApproxTime { at, within: 1 }
}

#[test]
fn rough_times_count_for_all_hours_they_may_be_of() {
    let mut statistics = Statistics::new(0);
    let day = 14_000 * 86_400;
    statistics.observe("board", ApproxTime { at: day, within: 86_400 }, false);
    statistics.observe("board", ApproxTime { at: day + 9 * 3_600 + 1_800, within: 7_200 }, true);
    statistics.observe("board", ApproxTime { at: day, within: 30 * 86_400 }, false);
    let means = statistics.means(day + 86_400)[0].1;
    assert!(means.replied.iter().all(|hour| (hour - 1.0 / 24.0).abs() < 1e-6), "{means:?}");
    assert!((means.new[9] - 0.5).abs() < 1e-6 && (means.new[10] - 0.5).abs() < 1e-6, "{means:?}");
}

#[test]
fn a_page_fetched_again_counts_only_what_is_new_on_it() {
    let (board, thread, next) = (UrlId(1), UrlId(2), UrlId(3));
    let day = 14_000 * 86_400;
    let posts = |hours: &[i64]| hours.iter().map(|hour| exact(day + hour * 3_600)).collect::<Vec<_>>();
    let list = IndexPage {
        board,
        page: 1,
        threads: vec![(thread, ListedActivity { last_reply: None, replies: None, sticky: false })],
    };
    let step = |page: UrlId, number: u16, hours: &[i64]| {
        let kind = PageKind::Thread { thread, page: number };
        let step =
            ForumStep { lists: vec![list.clone()], read: vec![(page, kind, posts(hours))], ..ForumStep::default() };
        Batch { at: Millis(0), latency: None, events: vec![Event::Forum(Box::new(step))] }
    };
    let mut history = History::default();
    step(next, 2, &[11]).events.iter().for_each(|event| history.observe(event, |_| (0, 0)));
    step(thread, 1, &[9, 10]).events.iter().for_each(|event| history.observe(event, |_| (0, 0)));
    step(next, 2, &[11, 12]).events.iter().for_each(|event| history.observe(event, |_| (0, 0)));
    let means = history.means(day + 86_400);
    assert_eq!((means.len(), means[0].0), (1, board));
    let mut expected = BoardStatistics::default();
    expected.new[9] = 1.0;
    expected.replied[10..13].fill(1.0);
    assert_eq!(means[0].1, expected);
}

fn weight(statistics: BoardStatistics) -> f64 {
    BoardDemand::from(statistics).weight()
}

#[test]
fn statistics_are_means_of_whole_local_days() {
    let day = 86_400;
    let midnight = 14_000 * day - 8 * 3_600; // of a day 8 hours east
    let mut statistics = Statistics::new(8 * 3_600);
    statistics.board("silent");
    for days_ago in 1..=4 {
        statistics.observe("busy", exact(midnight - days_ago * day + 9 * 3_600), true);
        statistics.observe("busy", exact(midnight - days_ago * day + 9 * 3_600 + 60), false);
        statistics.observe("busy", exact(midnight - days_ago * day + 23 * 3_600), false);
    }
    statistics.observe("late", exact(midnight - day + 5), true);
    let today = statistics.means(midnight + 3_600);
    assert_eq!(today.iter().map(|(board, _)| *board).collect::<Vec<_>>(), ["busy", "late", "silent"]);
    assert!((today[0].1.new[9] - 1.0).abs() < 1e-12 && (today[0].1.replied[23] - 1.0).abs() < 1e-12);
    assert!((weight(today[0].1) - 2.0).abs() < 1e-12);
    assert!((today[1].1.new[0] - 0.25).abs() < 1e-12, "seen on one of four days: {:?}", today[1].1);
    assert!(weight(today[2].1) == 0.0);
    // The current day counts only without other data, old days not at all.
    statistics.observe("busy", exact(midnight + 60), true);
    assert_eq!(statistics.means(midnight + 3_600)[0].1, today[0].1);
    // A silent forum is represented by its last days, here five.
    let silent = statistics.means(midnight + 400 * day)[0].1;
    assert!((weight(silent) - (4.0 * 2.0 + 1.0) / 5.0).abs() < 1e-6, "{silent:?}");
    let mut first = Statistics::new(0);
    first.observe("new", exact(36_000), true);
    assert!((first.means(40_000)[0].1.new[10] - 1.0).abs() < 1e-12);
    // Implausible times.
    for at in [i64::MIN, i64::MAX, 0] {
        first.observe("new", exact(at), false);
        let _ = first.means(at);
    }
}

/// Left and right side of eq. (9) for the visit after `at`: c_{i+1} - c_i, and the posts since c_{i-1} per f(c_i).
fn equation_9(profile: &Profile, instants: &[f64], at: usize) -> (f64, f64) {
    let end = [0.0].into_iter().chain(instants.iter().copied()).chain([24.0]).collect::<Vec<_>>();
    let posts = profile.integrals(end[at + 1]).0 - profile.integrals(end[at]).0;
    (end[at + 2] - end[at + 1], posts / profile.slots()[end[at + 1] as usize])
}

#[test]
fn the_optimum_meets_equation_9_and_ends_at_midnight() {
    let demand = scaled(1.0);
    let profile = demand.profile();
    for visits in 1..12 {
        for c1 in [None, Some(5.0)] {
            let board = BoardDemand { first: c1, ..demand };
            let plan = plan(
                &[board],
                visits,
                ScheduleMethod::Optimum,
                ScheduleObjective { horizon: Horizon::Day, importance: Importance::Equal },
            );
            assert_eq!(plan[0].len(), visits as usize);
            assert!(c1.is_none_or(|c1| plan[0][0] == c1), "{plan:?}");
            let free = usize::from(c1.is_some())..visits as usize;
            // Where the profile jumps, the delay has a minimum without a derivative.
            for at in free.filter(|at| (plan[0][*at] - plan[0][*at].round()).abs() > 1e-3) {
                let (gap, expected) = equation_9(&profile, &plan[0], at);
                assert!((gap - expected).abs() < 1e-4, "{visits} {c1:?}: {gap} is not {expected}: {plan:?}");
            }
        }
    }
}

#[test]
fn the_order_of_table_2_needs_the_papers_settings() {
    // Rates with a coefficient of variation of about 0.85, as in 42 % less delay by eq. (6).
    let boards = [0.3, 0.5, 0.7, 0.9, 1.2, 1.7, 3.2].map(scaled);
    let totals = |horizon, importance| {
        let planner = Planner::new(&boards, horizon);
        ScheduleMethod::ALL.map(|method| planner.total_delay(&planner.plan(42, method, importance), importance))
    };
    let [era, wra, lra, bra, sqrt, optimum] = totals(Horizon::Day, Importance::Weight);
    assert!(optimum < sqrt && sqrt < bra && bra < wra && wra < lra && lra < era, "{era} {wra} {lra} {bra} {sqrt}");
    assert!((0.3..0.6).contains(&(1.0 - bra / era)), "{bra} of {era}");
    let [era, wra, lra, bra, sqrt, optimum] = totals(Horizon::Week, Importance::Equal);
    assert!(optimum < sqrt && sqrt < era && era < wra && wra < bra && bra < lra, "{era} {wra} {lra} {bra} {sqrt}");
}

#[test]
fn visits_follow_importance() {
    // sqrt(W λ): four times as important is visited twice as often.
    let boards = [1.0, 4.0, 16.0].map(|importance| BoardDemand { importance, ..scaled(1.0) });
    let counts =
        |method| plan(&boards, 70, method, ScheduleObjective::default()).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(counts(ScheduleMethod::Sqrt), [10, 20, 40]);
    assert_eq!(counts(ScheduleMethod::Bra), [4, 13, 53], "eq. (6): 70 by 1, 4 and 16");
    assert_eq!(counts(ScheduleMethod::Era), [24, 23, 23]);
    let optimum = counts(ScheduleMethod::Optimum);
    assert!((9..=11).contains(&optimum[0]) && (38..=42).contains(&optimum[2]), "{optimum:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 4 } else { 64 }))]

    #[test]
    fn no_schedule_has_a_shorter_delay_than_the_optimum(
        boards in prop::collection::vec((activity(), activity(), 0.2..5.0_f64), 1..4), more in 0_u32..12,
        weighted in any::<bool>(),
    ) {
        let boards: Vec<BoardDemand> = (boards.into_iter())
            .map(|(new, replied, importance)| BoardDemand { importance, ..BoardStatistics { new, replied }.into() })
            .collect();
        let importance = if weighted { Importance::Weight } else { Importance::Equal };
        for horizon in HORIZONS {
            let planner = Planner::new(&boards, horizon);
            let total = |method| {
                planner.total_delay(&planner.plan(boards.len() as u32 + more, method, importance), importance)
            };
            let least = total(ScheduleMethod::Optimum);
            for method in ScheduleMethod::ALL {
                // The grid of half hours may miss a little.
                prop_assert!(least <= total(method) * 1.01 + 1e-9, "{} {}: {} {}", horizon, method, least, total(method));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_plan_keeps_its_budget_its_order_and_the_day(
        boards in prop::collection::vec((activity(), activity()), 1..8), more in 0_u32..40,
    ) {
        let statistics: Vec<BoardDemand> =
            boards.into_iter().map(|(new, replied)| BoardStatistics { new, replied }.into()).collect();
        let per_day = statistics.len() as u32 + more;
        for horizon in HORIZONS {
            let planner = Planner::new(&statistics, horizon);
            for method in ScheduleMethod::ALL {
                let plan = planner.plan(per_day, method, Importance::Equal);
                prop_assert_eq!(plan.iter().map(Vec::len).sum::<usize>(), per_day as usize, "{}", method);
                for visits in &plan {
                    prop_assert!(!visits.is_empty() && visits.is_sorted(), "{}: {:?}", method, visits);
                    prop_assert!(visits.iter().all(|hour| (0.0..=24.0).contains(hour)), "{}: {:?}", method, visits);
                }
            }
        }
    }
}
