//! Posting statistics of boards from a crawl's log: a fold of its events into [`Statistics`].

use rustc_hash::FxHashMap;

use super::{BoardStatistics, Statistics};
use suidao_page::model::{ApproxTime, Event, IndexPage, PageKind, UrlId};

#[derive(Clone, Debug)]
pub struct History {
    statistics: Statistics<UrlId>,
    /// Board that lists each thread.
    boards: FxHashMap<UrlId, UrlId>,
    /// Posts counted per page: a page fetched again has the same posts and more.
    counted: FxHashMap<UrlId, usize>,
}

impl History {
    pub fn new(offset: i32) -> Self {
        Self { statistics: Statistics::new(offset), boards: FxHashMap::default(), counted: FxHashMap::default() }
    }

    pub fn observe(&mut self, event: &Event) {
        match event {
            Event::PageFetched(settled) => {
                let Some(page) = &settled.forum else { return };
                self.list(&page.lists);
                self.posts(settled.id, page.kind, &page.posts);
            }
            Event::Forum(step) => {
                self.list(&step.lists);
                for (page, kind, posts) in &step.read {
                    self.posts(*page, *kind, posts);
                }
            }
            _ => {}
        }
    }

    pub fn means(&self, now: i64) -> Vec<(UrlId, BoardStatistics)> {
        self.statistics.means(now)
    }

    fn list(&mut self, lists: &[IndexPage]) {
        for list in lists {
            self.statistics.board(list.board);
            for (thread, _) in &list.threads {
                self.boards.entry(*thread).or_insert(list.board);
            }
        }
    }

    fn posts(&mut self, id: UrlId, kind: PageKind, posts: &[ApproxTime]) {
        let PageKind::Thread { thread, page } = kind else { return };
        // A thread without a board is not counted.
        let Some(&board) = self.boards.get(&thread) else { return };
        let counted = self.counted.entry(id).or_default();
        for (position, post) in posts.iter().enumerate().skip(*counted) {
            self.statistics.observe(board, *post, page == 1 && position == 0);
        }
        *counted = posts.len().max(*counted);
    }
}
