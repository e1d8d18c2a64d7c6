//! Scheduled visits of the boards of one or several forums, within one budget.

use std::collections::BTreeMap;

use suidao_forum::forum::schedule::{History, ScheduleMethod, ScheduleObjective, cycle, plan};
use suidao_forum::forum::site::ForumSite;
use suidao_page::model::{CrawlUrl, Event, Millis, UrlId};

/// Default visits per board and day: the middle of the values tried in the paper.
pub const VISITS_A_DAY: u32 = 8;
const DAY: i64 = 86_400;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Visits per day of all boards of all forums together; by default eight per board.
    pub per_day: Option<u32>,
    pub method: ScheduleMethod,
}

/// State of the board visits. A fold of the events, except for the day's plan, which follows from it.
pub(super) struct Watching {
    watch: Watch,
    history: History,
    visits: BTreeMap<UrlId, Millis>,
    /// Everything was fetched once.
    complete: bool,
    /// Day of the plan, local to the first forum, its length in days, and the instants of each board in hours.
    plan: Option<(i64, u32, BTreeMap<UrlId, Vec<f64>>)>,
    /// The next visit of any board.
    next: Option<Millis>,
}

/// A board of a forum.
pub(super) struct WatchedBoard<'a> {
    pub id: UrlId,
    pub url: CrawlUrl,
    pub site: &'a ForumSite,
}

impl Watching {
    pub fn new(watch: Watch) -> Self {
        Self { watch, history: History::default(), visits: BTreeMap::new(), complete: false, plan: None, next: None }
    }

    /// `forum_of`: number and UTC offset of the forum of a board.
    pub fn observe(&mut self, event: &Event, forum_of: impl Fn(UrlId) -> (usize, i32)) {
        self.history.observe(event, forum_of);
    }

    pub fn visited(&mut self, boards: &[UrlId], at: Millis) {
        for board in boards {
            self.visits.insert(*board, at);
        }
    }

    /// Computes the plan for the day of `now`. Its instants are local to the forum of each board.
    fn plan(&mut self, boards: &[WatchedBoard], now: Millis) {
        let day = local_day(boards, now);
        let planned = |plan: &(i64, u32, BTreeMap<UrlId, Vec<f64>>)| plan.0 == day && plan.2.len() == boards.len();
        if self.plan.as_ref().is_some_and(planned) {
            return;
        }
        let means: BTreeMap<UrlId, _> = self.history.means(seconds(now)).into_iter().collect();
        let demand = |board: &WatchedBoard| {
            board.site.demand(board.id, &board.url, means.get(&board.id).copied().unwrap_or_default())
        };
        let demands: Vec<_> = boards.iter().map(demand).collect();
        let number = u32::try_from(boards.len()).unwrap_or(u32::MAX);
        let per_day = self.watch.per_day.unwrap_or(number.saturating_mul(VISITS_A_DAY)).max(1);
        let instants = plan(&demands, per_day, self.watch.method, ScheduleObjective::default());
        let length = cycle(boards.len(), per_day).max(1);
        self.plan = Some((day, length, boards.iter().map(|board| board.id).zip(instants).collect()));
    }

    /// The first instant of a board after its last visit.
    fn next_of(&self, board: &WatchedBoard, now: Millis) -> Option<Millis> {
        let (board, offset) = (board.id, board.site.offset());
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

    /// Whether a visit may be due.
    pub fn may_be_due(&self, now: Millis) -> bool {
        self.complete && self.next.is_none_or(|next| next <= now)
    }

    /// Boards whose visit is due.
    pub fn due(&mut self, boards: &[WatchedBoard], now: Millis) -> Vec<UrlId> {
        if boards.is_empty() {
            return Vec::new();
        }
        self.plan(boards, now);
        let is_due = |board: &&WatchedBoard| self.next_of(board, now).is_some_and(|next| next <= now);
        let begun: Vec<UrlId> = boards.iter().filter(is_due).map(|board| board.id).collect();
        self.visited(&begun, now);
        // Tomorrow's plan is computed tomorrow.
        let midnight = (local_day(boards, now) + 1) * DAY - i64::from(boards[0].site.offset());
        let next = boards.iter().filter_map(|board| self.next_of(board, now)).min();
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

/// The day in the time zone of the first forum.
fn local_day(boards: &[WatchedBoard], now: Millis) -> i64 {
    let offset = boards.first().map_or(0, |board| board.site.offset());
    (seconds(now) + i64::from(offset)).div_euclid(DAY)
}

fn seconds(at: Millis) -> i64 {
    i64::try_from(at.0 / 1000).unwrap_or(i64::MAX)
}
