//! Where the pages of a forum stand: pages to URLs and back, by the patterns of its skin and the numbers it shows.

use super::Forum;
use super::route::{self, Form, Route, Slots};
use suidao_page::model::CrawlUrl;

/// Numbers that pages show begin somewhere.
const FIRST_BOARD: u64 = 2;
const FIRST_THREAD: u64 = 1_001;
const FIRST_POST: u64 = 5_001;

/// A board's number as pages show it.
pub(super) fn board_id(board: usize) -> u64 {
    board as u64 + FIRST_BOARD
}

/// A thread's number as pages show it.
pub(super) fn thread_id(thread: usize) -> u64 {
    thread as u64 + FIRST_THREAD
}

/// A post's number as pages show it.
pub(super) fn post_id(post: usize) -> u64 {
    post as u64 + FIRST_POST
}

impl Forum {
    /// A page's URL in normal form.
    pub(super) fn url(&self, route: Route) -> CrawlUrl {
        self.origin.join(&self.path(route).unwrap_or_default()).expect("a path of ASCII")
    }

    /// A page's path and query; none if the skin has no such page.
    pub(super) fn path(&self, route: Route) -> Option<String> {
        let mut slots = Slots::default();
        let set_board = |slots: &mut Slots, board: usize| {
            slots.board = board_id(board);
            slots.name = self.boards[board].name.clone();
            slots.slug = self.voice().board_slug(board, self.boards[board].topic);
        };
        let set_thread = |slots: &mut Slots, thread: usize| {
            slots.board = board_id(self.threads[thread].board);
            slots.thread = thread_id(thread);
            slots.slug = self.voice().slug(thread as u64);
        };
        let set_page = |slots: &mut Slots, page: u32, per: u32| {
            slots.page = page.into();
            slots.offset = u64::from(page.max(1) - 1) * u64::from(per);
        };
        let form = match route {
            Route::Home => Form::Home,
            Route::Index { board, page } | Route::Sorted { board, page } => {
                set_board(&mut slots, board);
                set_page(&mut slots, page, self.spec.threads_per_page);
                match route {
                    Route::Sorted { .. } => Form::Sorted,
                    _ if page == 1 => Form::Index,
                    _ => Form::IndexPage,
                }
            }
            Route::Thread { thread, page } => {
                set_thread(&mut slots, thread);
                set_page(&mut slots, page, self.spec.posts_per_page);
                if page == 1 { Form::Thread } else { Form::ThreadPage }
            }
            Route::LastPost(thread) | Route::Printer(thread) | Route::Reply(thread) => {
                set_thread(&mut slots, thread);
                match route {
                    Route::LastPost(_) => Form::LastPost,
                    Route::Printer(_) => Form::Printer,
                    _ => Form::Reply,
                }
            }
            Route::ByUser { thread, user } => {
                set_thread(&mut slots, thread);
                slots.user = user as u64 + 1;
                Form::ByUser
            }
            Route::Post(post) => {
                set_thread(&mut slots, self.posts[post].0 as usize);
                slots.post = post_id(post);
                Form::Post
            }
            Route::NewThread(board) | Route::Feed(board) => {
                set_board(&mut slots, board);
                if matches!(route, Route::Feed(_)) { Form::Feed } else { Form::NewThread }
            }
            Route::Profile(user) => {
                slots.user = user as u64 + 1;
                slots.slug = self.voice().user(user as u32);
                Form::Profile
            }
            Route::Members(page) => {
                slots.page = page.into();
                Form::Members
            }
            Route::Search(number) | Route::Calendar(number) => {
                slots.number = number.into();
                if matches!(route, Route::Search(_)) { Form::Search } else { Form::Calendar }
            }
            Route::Login => Form::Login,
            Route::Register => Form::Register,
            Route::Help => Form::Help,
        };
        let (_, pattern) = self.style().urls.iter().find(|(of, _)| *of == form)?;
        Some(route::fill(pattern, &mut slots))
    }

    /// What a URL asks for, whatever its host; none if the forum has no such page at any time.
    pub(super) fn find(&self, url: &CrawlUrl) -> Option<Route> {
        let query = url.query().unwrap_or_default();
        let read = |&(form, pattern): &(Form, &str)| {
            let (slots, named) = route::read(pattern, url.path(), query)?;
            Some((named, form, slots))
        };
        // What names most parameters is meant; of several the first.
        let found = self.style().urls.iter().filter_map(read).rev().max_by_key(|&(named, ..)| named);
        let (_, form, slots) = found?;
        self.route(form, &slots)
    }

    fn route(&self, form: Form, slots: &Slots) -> Option<Route> {
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
        // A pattern has the page, or how much stands before it, or neither.
        let page = |per: u32| match (slots.page, slots.offset) {
            (0, offset) => number(offset / u64::from(per) + 1),
            (page, _) => number(page),
        };
        let threads = self.spec.threads_per_page;
        Some(match form {
            Form::Home => Route::Home,
            Form::Index | Form::IndexPage => Route::Index { board: board()?, page: page(threads)? },
            Form::Sorted => Route::Sorted { board: board()?, page: page(threads)? },
            Form::Thread | Form::ThreadPage => {
                Route::Thread { thread: thread()?, page: page(self.spec.posts_per_page)? }
            }
            Form::LastPost => Route::LastPost(thread()?),
            Form::Printer => Route::Printer(thread()?),
            Form::Reply => Route::Reply(thread()?),
            Form::ByUser => Route::ByUser { thread: thread()?, user: user()? },
            Form::Post => {
                let post = slots.post.checked_sub(FIRST_POST)? as usize;
                Route::Post(Some(post).filter(|&post| post < self.posts.len())?)
            }
            Form::NewThread => Route::NewThread(board()?),
            Form::Feed => Route::Feed(board()?),
            Form::Profile => Route::Profile(user()?),
            Form::Members => Route::Members(number(slots.page)?),
            Form::Search => Route::Search(number(slots.number)?),
            Form::Calendar => Route::Calendar(number(slots.number)?),
            Form::Login => Route::Login,
            Form::Register => Route::Register,
            Form::Help => Route::Help,
        })
    }
}
