//! URLs of a forum's pages, in both directions, by the patterns of its skin and the visible numbers.

use super::Forum;
use super::route::{self, ForumPageKind, Route, Slots};
use suidao_page::model::CrawlUrl;

/// Visible numbers do not begin at 0.
const FIRST_BOARD: u64 = 2;
const FIRST_THREAD: u64 = 1_001;
const FIRST_POST: u64 = 5_001;

pub(super) fn board_id(board: usize) -> u64 {
    board as u64 + FIRST_BOARD
}

pub(super) fn thread_id(thread: usize) -> u64 {
    thread as u64 + FIRST_THREAD
}

pub(super) fn post_id(post: usize) -> u64 {
    post as u64 + FIRST_POST
}

impl Forum {
    pub(super) fn url(&self, route: Route) -> CrawlUrl {
        self.origin.join(&self.path(route).unwrap_or_default()).expect("a path of ASCII")
    }

    /// A page's path and query; `None` if the skin has no such page.
    pub(super) fn path(&self, route: Route) -> Option<String> {
        let Route { kind, of, page } = route;
        let mut slots = Slots { page: page.into(), ..Slots::default() };
        let before = |per: u32| u64::from(page.max(1) - 1) * u64::from(per);
        let set_thread = |slots: &mut Slots, thread: usize| {
            slots.board = board_id(self.threads[thread].board);
            slots.thread = thread_id(thread);
            slots.slug = self.forum_text().slug(thread as u64);
        };
        match kind {
            ForumPageKind::Home | ForumPageKind::Login | ForumPageKind::Register | ForumPageKind::Help => {}
            ForumPageKind::Index
            | ForumPageKind::IndexPage
            | ForumPageKind::Sorted
            | ForumPageKind::NewThread
            | ForumPageKind::Feed => {
                slots.board = board_id(of);
                slots.name = self.boards[of].name.clone();
                slots.slug = self.forum_text().board_slug(of, self.boards[of].topic);
                slots.offset = before(self.spec.threads_per_page);
            }
            ForumPageKind::Thread
            | ForumPageKind::ThreadPage
            | ForumPageKind::LastPost
            | ForumPageKind::Printer
            | ForumPageKind::Reply
            | ForumPageKind::ByUser => {
                set_thread(&mut slots, of);
                slots.offset = before(self.spec.posts_per_page);
                slots.user = u64::from(page) + 1;
            }
            ForumPageKind::Post => {
                set_thread(&mut slots, self.posts[of].0 as usize);
                slots.post = post_id(of);
            }
            ForumPageKind::Profile => {
                slots.user = of as u64 + 1;
                slots.slug = self.forum_text().user(of as u32);
            }
            ForumPageKind::Members => slots.page = of as u64,
            ForumPageKind::Search | ForumPageKind::Calendar => slots.number = of as u64,
        }
        let kind = match kind {
            ForumPageKind::Index if page != 1 => ForumPageKind::IndexPage,
            ForumPageKind::Thread if page != 1 => ForumPageKind::ThreadPage,
            kind => kind,
        };
        let (_, pattern) = self.style().urls.iter().find(|(of, _)| *of == kind)?;
        Some(route::fill(pattern, &mut slots))
    }

    /// The page of a URL on any host; `None` if the forum never has such a page.
    pub(super) fn find(&self, url: &CrawlUrl) -> Option<Route> {
        let query = url.query().unwrap_or_default();
        let read = |(kind, pattern): &(ForumPageKind, String)| {
            let (slots, named) = route::read(pattern, url.path(), query)?;
            Some((named, *kind, slots))
        };
        // The pattern that names the most parameters wins, then the first.
        let found = self.style().urls.iter().filter_map(read).rev().max_by_key(|&(named, ..)| named);
        let (_, kind, slots) = found?;
        self.route(kind, &slots)
    }

    fn route(&self, kind: ForumPageKind, slots: &Slots) -> Option<Route> {
        let number = |at: u64| u32::try_from(at).ok();
        let board = || match slots.board.checked_sub(FIRST_BOARD) {
            Some(board) => Some(board as usize).filter(|&board| board < self.boards.len()),
            None => self.boards.iter().position(|board| board.name == slots.name),
        };
        let thread = || {
            let thread = slots.thread.checked_sub(FIRST_THREAD)? as usize;
            (thread < self.threads.len()).then_some(thread)
        };
        let user = || {
            let user = slots.user.checked_sub(1)? as usize;
            (user < self.spec.activity.users).then_some(user)
        };
        // A pattern contains the page number, the offset, or neither.
        let page = |per: u32| match (slots.page, slots.offset) {
            (0, offset) => number(offset / u64::from(per) + 1),
            (page, _) => number(page),
        };
        let threads = self.spec.threads_per_page;
        let (of, page) = match kind {
            ForumPageKind::Home | ForumPageKind::Login | ForumPageKind::Register | ForumPageKind::Help => (0, 1),
            ForumPageKind::Index | ForumPageKind::IndexPage | ForumPageKind::Sorted => (board()?, page(threads)?),
            ForumPageKind::NewThread | ForumPageKind::Feed => (board()?, 1),
            ForumPageKind::Thread | ForumPageKind::ThreadPage => (thread()?, page(self.spec.posts_per_page)?),
            ForumPageKind::LastPost | ForumPageKind::Printer | ForumPageKind::Reply => (thread()?, 1),
            ForumPageKind::ByUser => (thread()?, number(user()? as u64)?),
            ForumPageKind::Post => {
                let post = slots.post.checked_sub(FIRST_POST)? as usize;
                (Some(post).filter(|&post| post < self.posts.len())?, 1)
            }
            ForumPageKind::Profile => (user()?, 1),
            ForumPageKind::Members => (number(slots.page)? as usize, 1),
            ForumPageKind::Search | ForumPageKind::Calendar => (number(slots.number)? as usize, 1),
        };
        let kind = match kind {
            ForumPageKind::IndexPage => ForumPageKind::Index,
            ForumPageKind::ThreadPage => ForumPageKind::Thread,
            kind => kind,
        };
        Some(Route::new(kind, of, page))
    }
}
