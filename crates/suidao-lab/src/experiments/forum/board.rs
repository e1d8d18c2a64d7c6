//! A simulated board at an instant: threads by last reply, sticky ones first, with rounded times.

use std::cmp::Reverse;

use crate::world::forum::BoardActivity;
use suidao_page::model::ApproxTime;
use suidao_page::model::ListedActivity;

const MINUTE: i64 = 60;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;
/// Threads on an index page, without the sticky ones on every page.
pub(super) const THREADS: usize = 20;
/// Seconds by which the crawler's clock is ahead of the forum's.
const AHEAD: i64 = 3;
/// UTC offset of the forum, in seconds.
const OFFSET: i64 = 8 * HOUR;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// `2009-05-25 12:01`.
    Minutes,
    /// `3分钟前`, `2小时前`, `昨天 12:01`, `3天前`, `2009-05-25`.
    Relative,
    Missing,
}

#[derive(Clone, Copy, Debug)]
pub struct BoardSkin {
    pub times: Times,
    pub counts: bool,
    /// Threads are listed by last reply instead of by opening.
    pub by_reply: bool,
}

impl Default for BoardSkin {
    fn default() -> Self {
        Self { times: Times::Minutes, counts: true, by_reply: true }
    }
}

/// What a crawler did and found on a day.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CrawlDay {
    /// Threads changed since the previous cycle.
    pub changed: usize,
    /// Of these, fetched.
    pub found: usize,
    /// Threads fetched.
    pub fetched: usize,
    /// Of these, changed.
    pub right: usize,
    /// Requests for index pages and pages of threads.
    pub requests: usize,
    pub posts: usize,
}

impl CrawlDay {
    /// Share of changed threads fetched in their cycle; 1 without changes.
    pub fn recall(&self) -> f64 {
        share(self.found, self.changed)
    }

    /// Share of fetched threads that had changed; 1 without fetches.
    pub fn precision(&self) -> f64 {
        share(self.right, self.fetched)
    }

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

/// The time that a page at `now` (the forum's clock) shows for `at`.
fn displayed_time(times: Times, at: i64, now: i64) -> Option<ApproxTime> {
    let absolute = |unit: i64| ApproxTime { at: (at + OFFSET).div_euclid(unit) * unit - OFFSET, within: unit as u32 };
    let ago = |unit: i64| {
        let units = (now - at).div_euclid(unit);
        ApproxTime { at: now + AHEAD - (units + 1) * unit + 1, within: unit as u32 }
    };
    let midnight = absolute(DAY).at;
    match times {
        Times::Missing => None,
        Times::Minutes => Some(absolute(MINUTE)),
        Times::Relative => Some(match now - at {
            ..MINUTE => ago(1),
            MINUTE..HOUR => ago(MINUTE),
            _ if now - midnight < DAY => ago(HOUR),
            _ if now - midnight < 2 * DAY => absolute(MINUTE),
            elapsed if elapsed < 7 * DAY => ago(DAY),
            _ => absolute(DAY),
        }),
    }
}

#[derive(Clone, Copy)]
pub(super) struct SimulatedBoard<'a> {
    pub activity: &'a BoardActivity,
    pub skin: &'a BoardSkin,
}

impl SimulatedBoard<'_> {
    pub fn posts(self, thread: usize, now: i64) -> usize {
        self.activity.threads[thread].posts.partition_point(|post| post.at <= now)
    }

    pub fn at(self, thread: usize, post: usize) -> i64 {
        self.activity.threads[thread].posts[post].at
    }

    /// Number of threads at `now`; threads are in order of opening.
    pub fn threads(self, now: i64) -> usize {
        self.activity.threads.partition_point(|thread| thread.posts[0].at <= now)
    }

    pub fn listed(self, thread: usize, now: i64) -> ListedActivity {
        let replies = self.posts(thread, now) - 1;
        ListedActivity {
            last_reply: displayed_time(self.skin.times, self.at(thread, replies), now),
            replies: self.skin.counts.then_some(replies as u32),
            sticky: self.activity.threads[thread].sticky,
        }
    }

    /// An index page, from 0; empty after the last.
    pub fn page(self, page: u32, now: i64) -> Vec<(usize, ListedActivity)> {
        let mut threads: Vec<usize> = (0..self.threads(now)).collect();
        let shown_by = |thread: usize| if self.skin.by_reply { self.posts(thread, now) - 1 } else { 0 };
        threads.sort_by_cached_key(|&thread| (Reverse(self.at(thread, shown_by(thread))), thread));
        let (mut page_of, others): (Vec<usize>, Vec<usize>) =
            threads.into_iter().partition(|&thread| self.activity.threads[thread].sticky);
        let others = others.get(page as usize * THREADS..).unwrap_or_default();
        if others.is_empty() && page > 0 {
            return Vec::new();
        }
        page_of.extend(&others[..others.len().min(THREADS)]);
        page_of.into_iter().map(|thread| (thread, self.listed(thread, now))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_rough_as_people_see_them_and_hold_the_truth() {
        // 18:00 in China.
        let now = 1_243_245_600;
        for (ago, within) in [(5, 1), (61, 60), (3_599, 60), (7_200, 3_600), (86_400, 60), (200_000, 86_400)] {
            let time = displayed_time(Times::Relative, now - ago, now).unwrap();
            assert_eq!(time.within, within, "{ago} s ago");
            // Relative times are off by the difference of the clocks.
            let truth = now - ago + if within == 60 && ago > DAY - 1 { 0 } else { AHEAD };
            assert!((time.at..time.at + i64::from(within)).contains(&truth), "{ago} s ago: {time:?}");
        }
        let long_ago = displayed_time(Times::Relative, now - 30 * DAY, now).unwrap();
        assert_eq!((long_ago.within, (long_ago.at + 8 * HOUR) % DAY), (86_400, 0), "a date");
        assert_eq!(displayed_time(Times::Missing, now, now), None);
    }
}
