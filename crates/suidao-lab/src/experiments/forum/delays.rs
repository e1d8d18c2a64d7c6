//! Delays between posting and fetching under a schedule: eqs. (1) to (4) of Du, Ma 2010.

use crate::world::forum::{Activity, BoardActivity};
use suidao_forum::forum::schedule::{BoardDemand, Horizon, Statistics, THETA};
use suidao_page::model::ApproxTime;

const DAY: i64 = 86_400;

/// Days of a forum, from a local midnight (seconds since 1970, UTC).
#[derive(Clone, Copy, Debug)]
pub struct ForumDays {
    pub start: i64,
    pub days: u32,
    /// UTC offset in seconds.
    pub offset: i32,
}

impl ForumDays {
    fn end(&self) -> i64 {
        self.start + i64::from(self.days) * DAY
    }
}

pub fn statistics(activity: &Activity, window: &ForumDays) -> Vec<BoardDemand> {
    let mut statistics = Statistics::new(window.offset);
    for (position, board) in activity.boards.iter().enumerate() {
        statistics.board(position);
        for thread in &board.threads {
            for (post, posting) in thread.posts.iter().enumerate() {
                if (window.start..window.end()).contains(&posting.at) {
                    statistics.observe(position, ApproxTime { at: posting.at, within: 1 }, post == 0);
                }
            }
        }
    }
    statistics.means(window.end()).into_iter().map(|(_, statistics)| statistics.into()).collect()
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delays {
    /// Eq. (4): hours; replies weighted by [`THETA`], boards by importance.
    pub total: f64,
    /// Number of posts with the same weights.
    pub weight: f64,
}

impl Delays {
    /// Mean delay of a post, in hours.
    pub fn mean(&self) -> f64 {
        self.total / self.weight
    }
}

/// The posts of a window: for each board (hour of the day, weight).
pub struct BoardPosts(Vec<Vec<(f64, f64)>>);

impl BoardPosts {
    pub fn of(activity: &Activity, window: &ForumDays) -> Self {
        let board = |board: &BoardActivity| {
            let posts = board.threads.iter().flat_map(|thread| thread.posts.iter().enumerate());
            let posts = posts.filter(|(_, posting)| (window.start..window.end()).contains(&posting.at));
            let hour = |at: i64| (at - window.start).rem_euclid(DAY) as f64 / 3_600.0;
            posts.map(|(post, posting)| (hour(posting.at), if post == 0 { 1.0 } else { THETA })).collect()
        };
        Self(activity.boards.iter().map(board).collect())
    }

    /// Delays under a daily plan (ascending hours after midnight, for each board). `importance`: W_i of each board.
    /// Posts after the last visit wait for the first of the next day, even on the last day; within the day, until
    /// midnight.
    pub fn delays(&self, plan: &[Vec<f64>], importance: &[f64], horizon: Horizon) -> Delays {
        let mut delays = Delays::default();
        for ((posts, instants), importance) in self.0.iter().zip(plan).zip(importance) {
            let first = instants.first().map_or(f64::INFINITY, |first| first + 24.0);
            let after = if horizon == Horizon::Day { 24.0 } else { first };
            for (hour, counts) in posts {
                let next = instants.get(instants.partition_point(|instant| instant < hour)).copied().unwrap_or(after);
                delays.total += importance * counts * (next - hour);
                delays.weight += importance * counts;
            }
        }
        delays
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::forum::{ActivitySpec, Posting, ThreadActivity};
    use suidao_forum::forum::schedule::{Importance, ScheduleMethod, ScheduleObjective, plan};

    fn board(hours: &[f64]) -> Activity {
        let posts = hours.iter().map(|hour| Posting { at: (hour * 3_600.0) as i64, user: 0 }).collect();
        Activity { boards: vec![BoardActivity { threads: vec![ThreadActivity { sticky: false, posts }] }] }
    }

    #[test]
    fn delays_are_those_of_the_equations() {
        let window = ForumDays { start: 0, days: 2, offset: 0 };
        // An opening at 5, replies at 6 and 20 of the first day, at 23 of the second.
        let activity = board(&[5.0, 6.0, 20.0, 47.0]);
        let of = |horizon| BoardPosts::of(&activity, &window).delays(&[vec![6.0, 12.0]], &[2.0], horizon);
        // A visit at the same instant sees it.
        let day = of(Horizon::Day);
        assert!((day.total - 2.0 * (1.0 + 0.5 * (0.0 + 4.0 + 1.0))).abs() < 1e-9, "{day:?}");
        assert!((day.weight - 2.0 * 2.5).abs() < 1e-9);
        let periodic = of(Horizon::Week);
        assert!((periodic.total - 2.0 * (1.0 + 0.5 * (0.0 + 10.0 + 7.0))).abs() < 1e-9, "{periodic:?}");
    }

    #[test]
    fn better_plans_wait_less_on_what_they_were_not_made_from() {
        let spec = ActivitySpec { days: 30, threads_per_day: 200.0, ..ActivitySpec::default() };
        let activity = Activity::generate(&spec);
        let before = ForumDays { start: spec.start, days: 20, offset: spec.offset };
        let window = ForumDays { start: before.end(), days: 10, ..before };
        let statistics = statistics(&activity, &before);
        let text = BoardPosts::of(&activity, &window);
        let importance: Vec<f64> = statistics.iter().map(BoardDemand::weight).collect();
        let objective = ScheduleObjective { horizon: Horizon::Week, importance: Importance::Weight };
        let mean = |method| text.delays(&plan(&statistics, 96, method, objective), &importance, Horizon::Week).mean();
        let [era, bra, sqrt] = [ScheduleMethod::Era, ScheduleMethod::Bra, ScheduleMethod::Sqrt].map(mean);
        assert!(sqrt < bra && bra < era, "{era} {bra} {sqrt}");
    }
}
