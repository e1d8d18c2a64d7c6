//! Recall and precision of following a forum in cycles: what changed and was fetched, what was fetched and had changed
//! (Du, Ma 2010, fig. 5).

use super::board::Skin;
use super::predicted;
use super::reader::Reader;
use crate::world::forum::Activity;

const DAY: i64 = 86_400;

/// How what changed is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// By what the lists show: [`Pass`](suidao_forum::forum::increment::Pass).
    Bic,
    /// By mean intervals.
    Eic,
}

/// When a forum is visited.
#[derive(Clone, Copy, Debug)]
pub struct Cycles {
    /// Everything before is on record; seconds since 1970, UTC.
    pub start: i64,
    /// How many days.
    pub days: u32,
    /// Seconds from one cycle to the next.
    pub every: i64,
}

/// What a day came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Day {
    /// Threads that had changed since the cycle before, and those of them that were fetched.
    pub changed: usize,
    /// See `changed`.
    pub found: usize,
    /// Threads fetched, and those of them that had changed.
    pub fetched: usize,
    /// See `fetched`.
    pub right: usize,
    /// Requests for index pages and pages of threads.
    pub requests: usize,
    /// Posts that came on record.
    pub posts: usize,
}

impl Day {
    /// Share of what changed that was fetched in its cycle; 1 if nothing changed.
    pub fn recall(&self) -> f64 {
        share(self.found, self.changed)
    }

    /// Share of what was fetched that had changed; 1 if nothing was fetched.
    pub fn precision(&self) -> f64 {
        share(self.right, self.fetched)
    }

    /// All these days together.
    pub fn sum(days: &[Self]) -> Self {
        days.iter().fold(Self::default(), |sum, day| Self {
            changed: sum.changed + day.changed,
            found: sum.found + day.found,
            fetched: sum.fetched + day.fetched,
            right: sum.right + day.right,
            requests: sum.requests + day.requests,
            posts: sum.posts + day.posts,
        })
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Follows all boards of a forum, one after another in each cycle.
pub fn cycles(activity: &Activity, skin: &Skin, cycles: &Cycles, finder: Finder) -> Vec<Day> {
    let mut readers: Vec<(Reader, i64)> =
        activity.boards.iter().map(|board| (Reader::new(board, skin), cycles.start)).collect();
    readers.iter_mut().for_each(|(reader, _)| reader.catch_up(cycles.start));
    let mut days = vec![Day::default(); cycles.days as usize];
    let mut clock = cycles.start;
    for cycle in 1..=i64::from(cycles.days) * DAY / cycles.every {
        clock = clock.max(cycles.start + cycle * cycles.every);
        let day = &mut days[((cycle * cycles.every - 1) / DAY) as usize];
        for (reader, before) in &mut readers {
            let (begun, former) = (clock, std::mem::replace(before, clock));
            reader.board.advance(begun);
            // Of this cycle: what was missed in an earlier one has been counted there.
            let of_this = |&thread: &usize| {
                (reader.posts(thread)..reader.board.posts(thread)).any(|post| reader.board.at(thread, post) > former)
            };
            let changed: Vec<usize> = reader.changed().filter(of_this).collect();
            let visit = match finder {
                Finder::Bic => reader.visit(&mut clock),
                Finder::Eic => predicted::visit(reader, &mut clock),
            };
            let found = |thread: &&usize| visit.fetched.iter().any(|(fetched, _)| fetched == *thread);
            day.changed += changed.len();
            day.found += changed.iter().filter(found).count();
            day.fetched += visit.fetched.len();
            day.right += visit.fetched.iter().filter(|(_, new)| *new).count();
            day.requests += visit.index + visit.pages;
            day.posts += visit.posts;
        }
    }
    days
}

#[cfg(test)]
mod tests {
    use super::super::board::Times;
    use super::*;
    use crate::world::forum::ActivitySpec;

    /// Six days after ten on record.
    fn follow(skin: &Skin, finder: Finder) -> Day {
        let spec = ActivitySpec { days: 16, threads_per_day: 150.0, ..ActivitySpec::default() };
        let times = Cycles { start: spec.start + 10 * DAY, days: 6, every: 6 * 3_600 };
        Day::sum(&cycles(&Activity::generate(&spec), skin, &times, finder))
    }

    #[test]
    fn bic_finds_what_changed_and_nothing_else_and_eic_does_not() {
        let bic = follow(&Skin::default(), Finder::Bic);
        assert!(bic.changed > 500, "{bic:?}");
        assert!(bic.recall() >= 0.99 && bic.precision() >= 0.99, "{bic:?}");
        let eic = follow(&Skin::default(), Finder::Eic);
        assert!(eic.recall() < bic.recall() && eic.precision() < bic.precision(), "{eic:?}");
    }

    #[test]
    fn bic_holds_where_times_are_rough_or_missing() {
        for (times, counts) in [(Times::Minutes, false), (Times::Relative, true), (Times::Missing, true)] {
            let day = follow(&Skin { times, counts, ..Skin::default() }, Finder::Bic);
            assert!(day.recall() >= 0.99 && day.precision() >= 0.99, "{times:?}, counts {counts}: {day:?}");
        }
    }

    #[test]
    fn a_list_by_publication_costs_requests_and_not_recall() {
        let by_reply = follow(&Skin::default(), Finder::Bic);
        let day = follow(&Skin { by_reply: false, ..Skin::default() }, Finder::Bic);
        assert!(day.recall() >= 0.97 && day.precision() >= 0.99, "{day:?}");
        assert!(day.requests > by_reply.requests, "{day:?}, {by_reply:?}");
    }
}
