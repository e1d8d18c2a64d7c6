//! Scheduled visits of a forum's boards.

use std::collections::BTreeMap;

use suidao_forum::forum::schedule::{History, ScheduleMethod, ScheduleObjective, cycle, plan};
use suidao_page::model::{Event, Millis, UrlId};

/// Default visits per board and day: the middle of the values tried in the paper.
pub const VISITS_A_DAY: u32 = 8;
const DAY: i64 = 86_400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Visits per day of all boards together; by default eight per board.
    pub per_day: Option<u32>,
    pub method: ScheduleMethod,
}

/// State of the board visits. A fold of the events, except for the day's plan, which follows from it.
pub(super) struct Watching {
    watch: Watch,
    history: Option<History>,
    visits: BTreeMap<UrlId, Millis>,
    /// Everything was fetched once.
    complete: bool,
    /// Local day of the plan, its length in days, and the instants of each board in hours.
    plan: Option<(i64, u32, BTreeMap<UrlId, Vec<f64>>)>,
    /// The next visit of any board.
    next: Option<Millis>,
}

impl Watching {
    pub fn new(watch: Watch) -> Self {
        Self { watch, history: None, visits: BTreeMap::new(), complete: false, plan: None, next: None }
    }

    pub fn observe(&mut self, event: &Event, offset: i32) {
        self.history.get_or_insert_with(|| History::new(offset)).observe(event);
    }

    pub fn visited(&mut self, boards: &[UrlId], at: Millis) {
        for board in boards {
            self.visits.insert(*board, at);
        }
    }

    /// Computes the plan for the local day of `now`.
    fn plan(&mut self, boards: &[UrlId], offset: i32, now: Millis) {
        let local = seconds(now) + i64::from(offset);
        let day = local.div_euclid(DAY);
        let planned = |plan: &(i64, u32, BTreeMap<UrlId, Vec<f64>>)| plan.0 == day && plan.2.len() == boards.len();
        if self.plan.as_ref().is_some_and(planned) {
            return;
        }
        let means: BTreeMap<UrlId, _> =
            self.history.as_ref().map(|history| history.means(seconds(now))).into_iter().flatten().collect();
        let statistics: Vec<_> = boards.iter().map(|board| means.get(board).copied().unwrap_or_default()).collect();
        let number = u32::try_from(boards.len()).unwrap_or(u32::MAX);
        let per_day = self.watch.per_day.unwrap_or(number.saturating_mul(VISITS_A_DAY)).max(1);
        let instants = plan(&statistics, per_day, self.watch.method, ScheduleObjective::default());
        let length = cycle(boards.len(), per_day).max(1);
        self.plan = Some((day, length, boards.iter().copied().zip(instants).collect()));
    }

    /// The first instant of a board after its last visit.
    fn next_of(&self, board: UrlId, offset: i32, now: Millis) -> Option<Millis> {
        let (_, length, instants) = self.plan.as_ref()?;
        let instants = instants.get(&board)?;
        // A board whose list had no threads is due at once.
        let last = self
            .visits
            .get(&board)
            .copied()
            .unwrap_or(Millis(now.0.saturating_sub(2 * 86_400_000 * u64::from(*length))));
        let local = seconds(last) + i64::from(offset);
        let cycle = i64::from(*length) * DAY;
        let begins = local.div_euclid(cycle) * cycle;
        let seconds = |hours: f64| (hours * 3600.0).round() as i64;
        let all = (0..2).flat_map(|round| instants.iter().map(move |hours| begins + round * cycle + seconds(*hours)));
        // Instants within the second of the last visit are over.
        let next = all.filter(|at| *at > local + 1).min()? - i64::from(offset);
        u64::try_from(next * 1000).ok().map(Millis)
    }

    /// Boards whose visit is due.
    pub fn due(&mut self, boards: &[UrlId], offset: i32, now: Millis) -> Vec<UrlId> {
        if !self.complete || self.next.is_some_and(|next| next > now) {
            return Vec::new();
        }
        self.plan(boards, offset, now);
        let is_due = |board: &UrlId| self.next_of(*board, offset, now).is_some_and(|next| next <= now);
        let begun: Vec<UrlId> = boards.iter().copied().filter(is_due).collect();
        self.visited(&begun, now);
        // Tomorrow's plan is computed tomorrow.
        let midnight = (seconds(now) + i64::from(offset)).div_euclid(DAY) * DAY + DAY - i64::from(offset);
        let next = boards.iter().filter_map(|board| self.next_of(*board, offset, now)).min();
        let midnight = u64::try_from(midnight * 1000).map_or(now.after(3_600_000), Millis);
        self.next = Some(next.map_or(midnight, |next| next.min(midnight)));
        begun
    }

    /// Everything was fetched once. Returns whether that is new.
    pub fn complete(&mut self) -> bool {
        !std::mem::replace(&mut self.complete, true)
    }

    /// The next visit of any board.
    pub fn next(&self) -> Option<Millis> {
        self.next
    }
}

fn seconds(at: Millis) -> i64 {
    i64::try_from(at.0 / 1000).unwrap_or(i64::MAX)
}
