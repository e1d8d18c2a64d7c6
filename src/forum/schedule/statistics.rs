//! What is known of the boards' habits: posts counted by board, day and hour, over the latest days.

use std::collections::BTreeMap;

use super::BoardStatistics;

/// Days that are kept: the paper found weights and profiles settled from 20 on, and four weeks hold all weekdays alike.
const WINDOW: i64 = 28;
const DAY: i64 = 86_400;

/// Counts of one board on one day: threads opened and replies by hour.
type Counts = [[u32; 24]; 2];

/// Posts seen so far. `B`: what a board is called.
#[derive(Clone, Debug)]
pub struct Statistics<B> {
    /// Local time, in seconds east of UTC.
    offset: i32,
    boards: BTreeMap<B, BTreeMap<i64, Counts>>,
}

impl<B: Ord + Copy> Statistics<B> {
    /// Nothing seen yet. `offset`: the forum's own time, in seconds east of UTC.
    #[must_use]
    pub fn new(offset: i32) -> Self {
        Self { offset, boards: BTreeMap::new() }
    }

    /// A board that exists, whether or not anything was said on it.
    pub fn board(&mut self, board: B) {
        self.boards.entry(board).or_default();
    }

    /// A post of this time (seconds since 1970, UTC) was seen for the first time; `new`: it opened its thread.
    pub fn observe(&mut self, board: B, at: i64, new: bool) {
        let local = at.saturating_add(i64::from(self.offset));
        let days = self.boards.entry(board).or_default();
        let hour = (local.rem_euclid(DAY) / 3_600) as usize;
        days.entry(local.div_euclid(DAY)).or_default()[usize::from(!new)][hour] += 1;
        // Hostile times must not fill the memory; a day in the future is no day of a forum, but costs only itself.
        while days.len() > 4 * WINDOW as usize {
            days.pop_first();
        }
    }

    /// Means of a day for each board, in order, from the whole local days before `now` (seconds since 1970, UTC), at most
    /// the last 28; of the current day where nothing was seen before it.
    #[must_use]
    pub fn means(&self, now: i64) -> Vec<(B, BoardStatistics)> {
        let today = now.saturating_add(i64::from(self.offset)).div_euclid(DAY);
        let earliest = self.boards.values().filter_map(|days| days.keys().next()).min();
        let first = earliest.copied().unwrap_or(today).max(today - WINDOW);
        let (window, count) = if first < today { (first..today, today - first) } else { (today..today + 1, 1) };
        let mean = |counts: &[Counts], of: usize| {
            std::array::from_fn(|hour| counts.iter().map(|day| f64::from(day[of][hour])).sum::<f64>() / count as f64)
        };
        let boards = self.boards.iter().map(|(board, days)| {
            let counts: Vec<Counts> = days.range(window.clone()).map(|(_, counts)| *counts).collect();
            (*board, BoardStatistics { new: mean(&counts, 0), replied: mean(&counts, 1) })
        });
        boards.collect()
    }
}
