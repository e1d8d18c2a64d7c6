//! Posting statistics: posts by board, day and hour over the last days.

use std::collections::BTreeMap;

use super::BoardStatistics;
use suidao_page::model::ApproxTime;

/// Days stored: in the paper weights and profiles are stable from 20 days on, and four weeks have all weekdays equally
/// often.
const WINDOW: i64 = 28;
const DAY: i64 = 86_400;

const HOUR: i64 = 3_600;
/// Times less precise than this many seconds are ignored.
const ROUGH: u32 = 2 * DAY as u32;

/// Counts of one board on one day: new threads and replies by hour.
type Counts = [[f32; 24]; 2];

/// Posts seen so far. `B`: key of a board.
#[derive(Clone, Debug)]
pub struct Statistics<B> {
    /// UTC offset in seconds.
    offset: i32,
    boards: BTreeMap<B, BTreeMap<i64, Counts>>,
}

impl<B: Ord + Copy> Statistics<B> {
    pub fn new(offset: i32) -> Self {
        Self { offset, boards: BTreeMap::new() }
    }

    /// Adds a board, even if it has no posts.
    pub fn board(&mut self, board: B) {
        self.boards.entry(board).or_default();
    }

    /// Counts a new post; `new`: it opened its thread. If only the day is known it counts in equal parts for all hours,
    /// if less is known not at all.
    pub fn observe(&mut self, board: B, posted: ApproxTime, new: bool) {
        let days = self.boards.entry(board).or_default();
        if posted.within > ROUGH {
            return;
        }
        let hours = i64::from(posted.within.div_ceil(HOUR as u32)).max(1);
        let local = posted.at.saturating_add(i64::from(self.offset));
        for hour in 0..hours {
            let at = local.saturating_add(hour * HOUR);
            let hour_of_day = (at.rem_euclid(DAY) / HOUR) as usize;
            days.entry(at.div_euclid(DAY)).or_default()[usize::from(!new)][hour_of_day] += 1.0 / hours as f32;
        }
        // Implausible times must not fill the memory.
        while days.len() > 4 * WINDOW as usize {
            days.pop_first();
        }
    }

    /// Means per day for each board, in order, over the whole local days before `now` (seconds since 1970, UTC), at
    /// most the last 28; of the current day if there are no earlier posts. For a forum without recent posts, or with a
    /// stopped clock, over the last days with posts.
    pub fn means(&self, now: i64) -> Vec<(B, BoardStatistics)> {
        let today = now.saturating_add(i64::from(self.offset)).div_euclid(DAY);
        let latest =
            self.boards.values().filter_map(|days| days.range(..=today).next_back()).map(|(day, _)| *day).max();
        let today = latest.map_or(today, |latest| today.min(latest + 1));
        let earliest = self.boards.values().filter_map(|days| days.keys().next()).min();
        let first = earliest.copied().unwrap_or(today).max(today - WINDOW);
        let (window, count) = if first < today { (first..today, today - first) } else { (today..today + 1, 1) };
        let mean = |counts: &[Counts], of: usize| {
            std::array::from_fn(|hour| {
                counts.iter().fold(0.0, |sum, day| sum + f64::from(day[of][hour])) / count as f64
            })
        };
        let boards = self.boards.iter().map(|(board, days)| {
            let counts: Vec<Counts> = days.range(window.clone()).map(|(_, counts)| *counts).collect();
            (*board, BoardStatistics { new: mean(&counts, 0), replied: mean(&counts, 1) })
        });
        boards.collect()
    }
}
