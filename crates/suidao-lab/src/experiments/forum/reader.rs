//! A simulated follower of a board: its records and the cost of requests.

use super::board::{CrawlDay, SimulatedBoard, THREADS};
use suidao_forum::forum::increment::{BoardScan, KnownThread};
use suidao_page::model::ListedActivity;

/// Posts per thread page.
const POSTS: usize = 15;
/// Seconds between requests.
const PACE: i64 = 2;

#[derive(Clone, Copy, Debug)]
struct OnRecord {
    posts: usize,
    fetched: i64,
    known: KnownThread,
}

pub(super) struct BoardFollower<'a> {
    pub board: SimulatedBoard<'a>,
    record: Vec<Option<OnRecord>>,
}

impl<'a> BoardFollower<'a> {
    /// Knows everything that exists at `now`, at no cost.
    pub fn new(board: SimulatedBoard<'a>, now: i64) -> Self {
        let mut reader = Self { board, record: vec![None; board.activity.threads.len()] };
        for thread in 0..board.threads(now) {
            reader.fetch(thread, &mut now.clone(), &mut CrawlDay::default());
        }
        reader
    }

    /// Threads with unknown posts written after `previous`; misses of earlier cycles were counted then.
    pub fn changed(&self, previous: i64, now: i64) -> Vec<usize> {
        let new = |&thread: &usize| {
            (self.posts(thread)..self.board.posts(thread, now)).any(|post| self.board.at(thread, post) > previous)
        };
        (0..self.board.threads(now)).filter(new).collect()
    }

    fn posts(&self, thread: usize) -> usize {
        self.record[thread].map_or(0, |record| record.posts)
    }

    /// Whether a thread was fetched at or after an instant.
    pub fn fetched_since(&self, thread: usize, instant: i64) -> bool {
        self.record[thread].is_some_and(|record| record.fetched >= instant)
    }

    /// A visit by BIC, which advances `clock`: changed threads of a page are fetched before the next page, so that the
    /// list moves meanwhile.
    pub fn visit(&mut self, clock: &mut i64, day: &mut CrawlDay) {
        let mut pass = BoardScan::default();
        for page in 0.. {
            let listed = self.page(page, clock, day);
            let scan = pass.page(&listed, |thread| Some(self.record[thread]?.known));
            for (thread, _) in scan.changed {
                self.fetch(thread, clock, day);
            }
            if !scan.more {
                break;
            }
        }
    }

    /// A visit by EIC: a thread is fetched when its mean interval predicts a change. This is the baseline of Du, Ma
    /// 2010 (section 5.2.1, in one sentence: mean intervals of threads and boards predict the next change and the next
    /// new thread). The interval here is the mean over all the time that a thread was observed, including the silence
    /// since its last post.
    pub fn visit_by_intervals(&mut self, clock: &mut i64, day: &mut CrawlDay) {
        let (now, board) = (*clock, self.board);
        let known = || self.record.iter().enumerate().filter_map(|(thread, record)| Some((thread, (*record)?)));
        let is_due = |(thread, record): &(usize, OnRecord)| {
            let watched = (record.fetched - board.at(*thread, 0)) as f64;
            // Half a change if none was observed, so that the interval is finite.
            (now - record.fetched) as f64 >= watched / (record.posts as f64 - 1.0).max(0.5)
        };
        let due: Vec<usize> = known().filter(is_due).map(|(thread, _)| thread).collect();

        // As many new threads as the board's mean interval predicts, with enough pages to list them.
        let openings: Vec<i64> = known().map(|(thread, _)| board.at(thread, 0)).collect();
        let first = openings.iter().min().copied().unwrap_or(now);
        let last = openings.iter().max().copied().unwrap_or(now);
        let expected = (openings.len() as f64 - 1.0) * (now - last) as f64 / (last - first).max(1) as f64;
        for page in 0..(expected / THREADS as f64).ceil() as u32 {
            for (thread, _) in self.page(page, clock, day) {
                if self.record[thread].is_none() {
                    self.fetch(thread, clock, day);
                }
            }
        }
        due.into_iter().for_each(|thread| self.fetch(thread, clock, day));
    }

    fn page(&self, page: u32, clock: &mut i64, day: &mut CrawlDay) -> Vec<(usize, ListedActivity)> {
        let listed = self.board.page(page, *clock);
        *clock += PACE;
        day.requests += 1;
        listed
    }

    /// Requests a thread's pages from that of the last known post on.
    fn fetch(&mut self, thread: usize, clock: &mut i64, day: &mut CrawlDay) {
        let begun = *clock;
        let (before, now) = (self.posts(thread), self.board.posts(thread, begun));
        let pages = (now - 1) / POSTS - before.saturating_sub(1) / POSTS + 1;
        *clock += PACE * pages as i64;
        day.requests += pages;
        day.posts += now - before;
        day.fetched += 1;
        day.right += usize::from(now > before);
        // Counts the posts themselves, regardless of what the list shows.
        let known =
            KnownThread { last_reply: self.board.listed(thread, begun).last_reply, replies: Some(now as u32 - 1) };
        self.record[thread] = Some(OnRecord { posts: now, fetched: begun, known });
    }
}
