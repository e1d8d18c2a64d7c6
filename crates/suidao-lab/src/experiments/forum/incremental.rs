//! Recall and precision of following a forum in cycles: share of changed threads that were fetched, and of fetched
//! threads that had changed (Du, Ma 2010, fig. 5).

use super::board::{BoardSkin, CrawlDay, SimulatedBoard};
use super::reader::BoardFollower;
use crate::world::forum::Activity;

const DAY: i64 = 86_400;
/// Seconds between cycles.
const EVERY: i64 = 6 * 3_600;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeDetector {
    /// By thread lists: [`BoardScan`](suidao_forum::forum::increment::BoardScan).
    Bic,
    /// By mean intervals.
    Eic,
}

/// Follows all boards of a forum for `count` days, one after another in each cycle. Everything before `start` (seconds
/// since 1970, UTC) is known.
pub fn cycles(activity: &Activity, skin: &BoardSkin, start: i64, count: u32, finder: ChangeDetector) -> Vec<CrawlDay> {
    let reader = |activity| (BoardFollower::new(SimulatedBoard { activity, skin }, start), start);
    let mut readers: Vec<(BoardFollower, i64)> = activity.boards.iter().map(reader).collect();
    let mut days = vec![CrawlDay::default(); count as usize];
    let mut clock = start;
    for cycle in 1..=i64::from(count) * DAY / EVERY {
        clock = clock.max(start + cycle * EVERY);
        let day = &mut days[((cycle * EVERY - 1) / DAY) as usize];
        for (reader, before) in &mut readers {
            let (begun, previous) = (clock, std::mem::replace(before, clock));
            let changed = reader.changed(previous, begun);
            match finder {
                ChangeDetector::Bic => reader.visit(&mut clock, day),
                ChangeDetector::Eic => reader.visit_by_intervals(&mut clock, day),
            }
            day.changed += changed.len();
            day.found += changed.iter().filter(|&&thread| reader.fetched_since(thread, begun)).count();
        }
    }
    days
}

#[cfg(test)]
mod tests {
    use super::super::board::Times;
    use super::*;
    use crate::world::forum::ActivitySpec;

    /// Six days after ten known days.
    fn follow(skin: &BoardSkin, finder: ChangeDetector) -> CrawlDay {
        let spec = ActivitySpec { days: 16, threads_per_day: 150.0, ..ActivitySpec::default() };
        CrawlDay::sum(&cycles(&Activity::generate(&spec), skin, spec.start + 10 * DAY, 6, finder))
    }

    #[test]
    fn bic_finds_what_changed_and_nothing_else_and_eic_does_not() {
        let bic = follow(&BoardSkin::default(), ChangeDetector::Bic);
        assert!(bic.changed > 500, "{bic:?}");
        assert!(bic.recall() >= 0.99 && bic.precision() >= 0.99, "{bic:?}");
        let eic = follow(&BoardSkin::default(), ChangeDetector::Eic);
        assert!(eic.recall() < bic.recall() && eic.precision() < bic.precision(), "{eic:?}");
    }

    #[test]
    fn bic_holds_where_times_are_rough_or_missing() {
        for (times, counts) in [(Times::Minutes, false), (Times::Relative, true), (Times::Missing, true)] {
            let day = follow(&BoardSkin { times, counts, ..BoardSkin::default() }, ChangeDetector::Bic);
            assert!(day.recall() >= 0.99 && day.precision() >= 0.99, "{times:?}, counts {counts}: {day:?}");
        }
    }

    #[test]
    fn a_list_by_publication_costs_requests_and_not_recall() {
        let by_reply = follow(&BoardSkin::default(), ChangeDetector::Bic);
        let day = follow(&BoardSkin { by_reply: false, ..BoardSkin::default() }, ChangeDetector::Bic);
        assert!(day.recall() >= 0.97 && day.precision() >= 0.99, "{day:?}");
        assert!(day.requests > by_reply.requests, "{day:?}, {by_reply:?}");
    }
}
