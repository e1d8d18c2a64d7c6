//! A board as its pages show it at an instant: threads by last reply, stickies above them, times as rough as people see them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::world::forum::{BoardActivity, Event};
use suidao_page::model::Listed;
use suidao_page::model::Moment;

const MINUTE: i64 = 60;
const HOUR: i64 = 3_600;
const DAY: i64 = 86_400;

/// How times are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// `2009-05-25 12:01`.
    Minutes,
    /// `3分钟前`, `2小时前`, `昨天 12:01`, `3天前`, `2009-05-25`.
    Relative,
    /// Not at all.
    Missing,
}

/// What pages show, and what it costs to have them.
#[derive(Clone, Copy, Debug)]
pub struct Skin {
    /// How times are shown.
    pub times: Times,
    /// Numbers of replies are shown.
    pub counts: bool,
    /// Threads are listed by last reply; else by when they were opened.
    pub by_reply: bool,
    /// Threads on an index page, beside the stickies, which stand on each.
    pub threads: usize,
    /// Posts on a thread's page.
    pub posts: usize,
    /// Seconds from one request to the next.
    pub pace: i64,
    /// Seconds by which the crawler's clock is ahead of the forum's.
    pub ahead: i64,
    /// The forum's local time, in seconds east of UTC.
    pub offset: i32,
}

impl Default for Skin {
    fn default() -> Self {
        Self {
            times: Times::Minutes,
            counts: true,
            by_reply: true,
            threads: 20,
            posts: 15,
            pace: 2,
            ahead: 3,
            offset: 8 * 3_600,
        }
    }
}

impl Skin {
    /// What is read off a page at `now` (by the forum's clock) for the time `at`.
    pub(super) fn shown(&self, at: i64, now: i64) -> Option<Moment> {
        let absolute = |unit: i64| {
            let offset = i64::from(self.offset);
            Moment { at: (at + offset).div_euclid(unit) * unit - offset, within: unit as u32 }
        };
        // So many whole units ago.
        let ago = |unit: i64| {
            let units = (now - at).div_euclid(unit);
            Moment { at: now + self.ahead - (units + 1) * unit + 1, within: unit as u32 }
        };
        let midnight = absolute(DAY).at;
        match self.times {
            Times::Missing => None,
            Times::Minutes => Some(absolute(MINUTE)),
            Times::Relative => Some(match now - at {
                ..MINUTE => ago(1),
                MINUTE..HOUR => ago(MINUTE),
                // Of the same day.
                _ if now - midnight < DAY => ago(HOUR),
                _ if now - midnight < 2 * DAY => absolute(MINUTE),
                elapsed if elapsed < 7 * DAY => ago(DAY),
                _ => absolute(DAY),
            }),
        }
    }
}

/// A board, from the first post on; time goes forward only.
pub(super) struct Board<'a> {
    activity: &'a BoardActivity,
    skin: &'a Skin,
    events: Vec<Event>,
    /// Events that have been.
    passed: usize,
    /// Threads by what they are ordered by, the latest first.
    list: BTreeSet<(Reverse<i64>, usize)>,
    /// Posts of each thread so far.
    posts: Vec<usize>,
    now: i64,
}

impl<'a> Board<'a> {
    pub fn new(activity: &'a BoardActivity, skin: &'a Skin) -> Self {
        let events = activity.events();
        let posts = vec![0; activity.threads.len()];
        Self { activity, skin, events, passed: 0, list: BTreeSet::new(), posts, now: i64::MIN }
    }

    /// Lets time pass.
    pub fn advance(&mut self, to: i64) {
        self.now = self.now.max(to);
        while let Some(event) = self.events.get(self.passed).filter(|event| event.at <= self.now) {
            let thread = event.thread;
            let place = |at: i64| (Reverse(at), thread);
            if event.new {
                self.list.insert(place(event.at));
            } else if self.skin.by_reply {
                self.list.remove(&place(self.at(thread, self.posts[thread] - 1)));
                self.list.insert(place(event.at));
            }
            self.posts[thread] += 1;
            self.passed += 1;
        }
    }

    /// Threads so far.
    pub fn threads(&self) -> impl Iterator<Item = usize> {
        self.posts.iter().enumerate().filter(|(_, posts)| **posts > 0).map(|(thread, _)| thread)
    }

    /// Posts of a thread so far.
    pub fn posts(&self, thread: usize) -> usize {
        self.posts[thread]
    }

    /// When a post of a thread was written.
    pub fn at(&self, thread: usize, post: usize) -> i64 {
        self.activity.threads[thread].posts[post].at
    }

    /// What a list shows of a thread.
    pub fn listed(&self, thread: usize) -> Listed {
        let replies = self.posts[thread] - 1;
        Listed {
            last_reply: self.skin.shown(self.at(thread, replies), self.now),
            replies: self.skin.counts.then_some(replies as u32),
            sticky: self.activity.threads[thread].sticky,
        }
    }

    /// An index page, from 0; nothing beyond the last.
    pub fn page(&self, page: u32) -> Vec<(usize, Listed)> {
        let of = |sticky: bool| {
            let threads = self.list.iter().map(|(_, thread)| *thread);
            threads.filter(move |&thread| self.activity.threads[thread].sticky == sticky)
        };
        let threads: Vec<usize> = of(false).skip(page as usize * self.skin.threads).take(self.skin.threads).collect();
        if threads.is_empty() && page > 0 {
            return Vec::new();
        }
        of(true).chain(threads).map(|thread| (thread, self.listed(thread))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_rough_as_people_see_them_and_hold_the_truth() {
        let skin = Skin { times: Times::Relative, ahead: 0, ..Skin::default() };
        // 18:00 in China.
        let now = 1_243_245_600;
        for (ago, within) in [(5, 1), (61, 60), (3_599, 60), (7_200, 3_600), (86_400, 60), (200_000, 86_400)] {
            let shown = skin.shown(now - ago, now).unwrap();
            assert_eq!(shown.within, within, "{ago} s ago");
            assert!((shown.at..shown.at + i64::from(within)).contains(&(now - ago)), "{ago} s ago: {shown:?}");
        }
        let long_ago = skin.shown(now - 30 * DAY, now).unwrap();
        assert_eq!((long_ago.within, (long_ago.at + 8 * HOUR) % DAY), (86_400, 0), "a date");
        assert_eq!(Skin { times: Times::Missing, ..skin }.shown(now, now), None);
    }
}
