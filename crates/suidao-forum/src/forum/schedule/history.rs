//! Posting statistics of boards from a crawl's log: a fold of its events into [`Statistics`] of each forum.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::{BoardStatistics, Statistics};
use suidao_page::model::{ApproxTime, Event, IndexPage, PageKind, UrlId};

#[derive(Clone, Debug, Default)]
pub struct History {
    /// By the number of the forum, because forums have time zones and pauses of their own.
    statistics: BTreeMap<usize, Statistics<UrlId>>,
    /// Forum of each board.
    forums: FxHashMap<UrlId, usize>,
    /// Board that lists each thread.
    boards: FxHashMap<UrlId, UrlId>,
    /// Posts counted per page: a page fetched again has the same posts and more.
    counted: FxHashMap<UrlId, usize>,
}

impl History {
    /// `forum_of`: number and UTC offset (in seconds) of the forum of a board.
    pub fn observe(&mut self, event: &Event, forum_of: impl Fn(UrlId) -> (usize, i32)) {
        match event {
            Event::PageFetched(settled) => {
                let Some(page) = &settled.forum else { return };
                self.list(&page.lists, forum_of);
                self.posts(settled.id, page.kind, &page.posts);
            }
            Event::Forum(step) => {
                self.list(&step.lists, forum_of);
                for (page, kind, posts) in &step.read {
                    self.posts(*page, *kind, posts);
                }
            }
            _ => {}
        }
    }

    pub fn means(&self, now: i64) -> Vec<(UrlId, BoardStatistics)> {
        let mut means: Vec<_> = self.statistics.values().flat_map(|of_forum| of_forum.means(now)).collect();
        means.sort_unstable_by_key(|(board, _)| *board);
        means
    }

    fn list(&mut self, lists: &[IndexPage], forum_of: impl Fn(UrlId) -> (usize, i32)) {
        for list in lists {
            if let Entry::Vacant(unknown) = self.forums.entry(list.board) {
                let (forum, offset) = forum_of(list.board);
                unknown.insert(forum);
                self.statistics.entry(forum).or_insert_with(|| Statistics::new(offset)).board(list.board);
            }
            for (thread, _) in &list.threads {
                self.boards.entry(*thread).or_insert(list.board);
            }
        }
    }

    fn posts(&mut self, id: UrlId, kind: PageKind, posts: &[ApproxTime]) {
        let PageKind::Thread { thread, page } = kind else { return };
        // A thread without a board is not counted.
        let Some(&board) = self.boards.get(&thread) else { return };
        let Some(statistics) = self.forums.get(&board).and_then(|forum| self.statistics.get_mut(forum)) else { return };
        let counted = self.counted.entry(id).or_default();
        for (position, post) in posts.iter().enumerate().skip(*counted) {
            statistics.observe(board, *post, page == 1 && position == 0);
        }
        *counted = posts.len().max(*counted);
    }
}
