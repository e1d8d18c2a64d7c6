//! Somebody who follows a board: what is on record of it, and what a request costs.

use super::board::{Board, Skin};
use crate::world::forum::BoardActivity;
use suidao_forum::forum::increment::{Known, Pass};
use suidao_page::model::Listed;

/// What is on record of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnRecord {
    /// Posts.
    pub posts: usize,
    /// When it was fetched last.
    pub fetched: i64,
    /// What its pages showed when it was fetched last.
    pub known: Known,
}

/// What a visit came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Visit {
    /// Requests for index pages and for pages of threads.
    pub index: usize,
    pub pages: usize,
    /// Threads fetched, and whether there was anything new.
    pub fetched: Vec<(usize, bool)>,
    /// New posts.
    pub posts: usize,
}

/// One board and what is on record of it.
pub(super) struct Reader<'a> {
    pub board: Board<'a>,
    pub record: Vec<Option<OnRecord>>,
    skin: &'a Skin,
}

impl<'a> Reader<'a> {
    /// Of whose board nothing is on record yet.
    pub fn new(activity: &'a BoardActivity, skin: &'a Skin) -> Self {
        Self { board: Board::new(activity, skin), record: vec![None; activity.threads.len()], skin }
    }

    /// Everything that is there at `now` is on record, whatever it cost.
    pub fn catch_up(&mut self, now: i64) {
        self.board.advance(now);
        for thread in self.board.threads().collect::<Vec<_>>() {
            self.fetch(thread, &mut now.clone(), &mut Visit::default());
        }
    }

    /// Threads with posts that are not on record.
    pub fn changed(&self) -> impl Iterator<Item = usize> {
        self.board.threads().filter(|&thread| self.board.posts(thread) > self.posts(thread))
    }

    /// Threads on an index page.
    pub fn threads_on_page(&self) -> usize {
        self.skin.threads
    }

    /// Posts on record.
    pub fn posts(&self, thread: usize) -> usize {
        self.record[thread].map_or(0, |record| record.posts)
    }

    /// When a thread on record was fetched last.
    pub fn fetched(&self, thread: usize) -> i64 {
        self.record[thread].map_or(i64::MIN, |record| record.fetched)
    }

    /// A visit by BIC, which begins at `clock` and leaves it where it ends: what changed on a page is fetched before the
    /// next page is, so that the list moves meanwhile.
    pub fn visit(&mut self, clock: &mut i64) -> Visit {
        let (mut visit, mut pass) = (Visit::default(), Pass::default());
        for page in 0.. {
            let listed = self.page(page, clock, &mut visit);
            let verdict = pass.page(&listed, |thread| Some(self.record[thread]?.known));
            for (thread, _) in verdict.changed {
                self.fetch(thread, clock, &mut visit);
            }
            if !verdict.more {
                break;
            }
        }
        visit
    }

    /// Requests an index page.
    pub fn page(&mut self, page: u32, clock: &mut i64, visit: &mut Visit) -> Vec<(usize, Listed)> {
        self.board.advance(*clock);
        *clock += self.skin.pace;
        visit.index += 1;
        self.board.page(page)
    }

    /// Requests a thread's pages, from that of the last post on record on.
    pub fn fetch(&mut self, thread: usize, clock: &mut i64, visit: &mut Visit) {
        let begun = *clock;
        self.board.advance(begun);
        let (before, now) = (self.posts(thread), self.board.posts(thread));
        let first = before.saturating_sub(1) / self.skin.posts;
        let pages = (now - 1) / self.skin.posts - first + 1;
        *clock += self.skin.pace * pages as i64;
        visit.pages += pages;
        visit.posts += now - before;
        visit.fetched.push((thread, now > before));
        // The posts themselves are counted, whatever the list shows.
        let known = Known { last_reply: self.board.listed(thread).last_reply, replies: Some(now as u32 - 1) };
        self.record[thread] = Some(OnRecord { posts: now, fetched: begun, known });
    }
}
