//! The interface of a generated forum: content and ground truth.

use super::route::{ForumPageKind, Route};
use super::skin::SkinStyle;
use super::text::{DrawPurpose, ForumText};
use super::{Activity, ForumSpec, Posting};
use suidao_page::model::CrawlUrl;

const TOPICAL: f64 = 0.4;

pub(super) struct GeneratedThread {
    pub board: usize,
    pub title: String,
    pub sticky: bool,
    pub posts: Vec<Posting>,
    /// Number of each post in the forum, by time.
    pub numbers: Vec<u32>,
    pub views: u64,
}

pub(super) struct GeneratedBoard {
    pub name: String,
    pub about: String,
    pub topic: usize,
    pub inside: Option<usize>,
    pub members_only: bool,
    /// Its threads, in order of opening.
    pub threads: Vec<usize>,
}

/// A forum generated from a [`ForumSpec`]. Its responses depend on the time: later posts do not exist yet.
///
/// ```
/// use suidao_lab::world::{Forum, ForumSpec};
///
/// let forum = std::sync::Arc::new(Forum::new(ForumSpec::default()));
/// let start = forum.spec().activity.start;
/// let (day, week) = (forum.threads(start + 86_400), forum.threads(start + 7 * 86_400));
/// assert!(day.len() < week.len());
/// let thread = forum.response(&week[0].url, start + 7 * 86_400, 1);
/// assert_eq!(thread.status, 200);
/// ```
pub struct Forum {
    pub(super) spec: ForumSpec,
    pub(super) boards: Vec<GeneratedBoard>,
    pub(super) threads: Vec<GeneratedThread>,
    /// Thread of each post, and index in it, by time.
    pub(super) posts: Vec<(u32, u32)>,
    pub(super) origin: CrawlUrl,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardTruth {
    pub url: CrawlUrl,
    pub name: String,
    pub topical: bool,
    pub members_only: bool,
    pub threads: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadTruth {
    pub url: CrawlUrl,
    /// Index into [`Forum::boards`].
    pub board: usize,
    pub pages: u32,
    pub posts: u32,
    /// Visible to members only.
    pub members_only: bool,
    pub title: String,
    pub sticky: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServedForumPage {
    Home,
    Index {
        /// Index into [`Forum::boards`].
        board: usize,
        page: u32,
    },
    Thread {
        /// Index into [`Forum::threads`].
        thread: usize,
        page: u32,
    },
    /// Another URL for a thread's posts: last post, single post, print version.
    Duplicate {
        /// Index into [`Forum::threads`].
        thread: usize,
    },
    /// Everything else, including missing pages.
    Functional,
}

impl Forum {
    /// Time and memory are proportional to the number of posts.
    ///
    /// # Panics
    /// If the spec's host is invalid.
    pub fn new(spec: ForumSpec) -> Self {
        let origin = CrawlUrl::parse(&format!("http://{}/", spec.host)).expect("a host name, with or without a port");
        let activity = Activity::generate(&spec.activity);
        let mut forum = Self { boards: Vec::new(), threads: Vec::new(), posts: Vec::new(), origin, spec };
        let forum_text = forum.forum_text();
        let count = forum.spec.activity.boards;
        let every = if forum.spec.sub_boards > 0.0 { 1.0 / forum.spec.sub_boards } else { f64::INFINITY };
        for (board, topic) in forum_text.topics(count, TOPICAL).into_iter().enumerate() {
            let (name, about) = forum_text.board(board, topic);
            // Spreads inner boards evenly: each is inside the board before it.
            let inner = board > 0 && (board as f64 / every).floor() > ((board - 1) as f64 / every).floor();
            let inside = inner.then(|| board - 1);
            // A board inside a members-only board could not be discovered.
            let members_only = board + forum.spec.members_only >= count;
            forum.boards.push(GeneratedBoard { name, about, topic, inside, members_only, threads: Vec::new() });
        }
        let mut opened: Vec<(i64, usize, bool, Vec<Posting>)> = Vec::new();
        for (board, activity) in activity.boards.into_iter().enumerate() {
            let threads = activity.threads.into_iter().filter(|thread| !thread.posts.is_empty());
            opened.extend(threads.map(|thread| (thread.posts[0].at, board, thread.sticky, thread.posts)));
        }
        opened.sort_by_key(|&(at, board, ..)| (at, board));
        let mut titles = std::collections::BTreeSet::new();
        for (thread, (_, board, sticky, posts)) in opened.into_iter().enumerate() {
            let topic = forum.boards[board].topic;
            let mut drawn = (0..16).map(|attempt| forum_text.title(topic, thread as u64, attempt));
            let title = drawn.find(|title| !titles.contains(title)).unwrap_or_else(|| format!("{thread}"));
            titles.insert(title.clone());
            let views = forum_text.draw(DrawPurpose::Views, thread as u64).within([3, 60]);
            forum.boards[board].threads.push(thread);
            forum.threads.push(GeneratedThread { board, title, sticky, numbers: vec![0; posts.len()], posts, views });
        }
        forum.number_posts();
        forum
    }

    fn number_posts(&mut self) {
        let mut all: Vec<(i64, u32, u32)> = Vec::new();
        for (thread, stored) in (0..).zip(&self.threads) {
            all.extend((0..).zip(&stored.posts).map(|(position, post)| (post.at, thread, position)));
        }
        all.sort_unstable();
        for (number, &(_, thread, position)) in (0..).zip(&all) {
            self.threads[thread as usize].numbers[position as usize] = number;
        }
        self.posts = all.into_iter().map(|(_, thread, position)| (thread, position)).collect();
    }

    pub fn spec(&self) -> &ForumSpec {
        &self.spec
    }

    pub fn home(&self) -> CrawlUrl {
        self.url(Route::new(ForumPageKind::Home, 0, 1))
    }

    /// All boards, including inner and members-only ones.
    pub fn boards(&self, now: i64) -> Vec<BoardTruth> {
        let truth = |(at, board): (usize, &GeneratedBoard)| BoardTruth {
            url: self.url(Route::new(ForumPageKind::Index, at, 1)),
            name: board.name.clone(),
            topical: board.topic < crate::world::words::THEMES,
            members_only: board.members_only,
            threads: board.threads.partition_point(|&thread| self.threads[thread].posts[0].at <= now),
        };
        self.boards.iter().enumerate().map(truth).collect()
    }

    pub fn threads(&self, now: i64) -> Vec<ThreadTruth> {
        let open = self.threads.iter().enumerate().take_while(|(_, stored)| stored.posts[0].at <= now);
        let truth = |(at, stored): (usize, &GeneratedThread)| {
            let posts = stored.posts.partition_point(|post| post.at <= now) as u32;
            ThreadTruth {
                url: self.url(Route::new(ForumPageKind::Thread, at, 1)),
                board: stored.board,
                pages: posts.div_ceil(self.spec.posts_per_page),
                posts,
                members_only: self.boards[stored.board].members_only,
                title: stored.title.clone(),
                sticky: stored.sticky,
            }
        };
        open.map(truth).collect()
    }

    /// The posts of a thread in order as of `now`; `thread` is an index into [`Forum::threads`].
    pub fn posts(&self, thread: usize, now: i64) -> Vec<(Posting, String)> {
        let Some(stored) = self.threads.get(thread) else { return Vec::new() };
        let topic = self.boards[stored.board].topic;
        let stated = stored.posts.iter().enumerate().take_while(|(_, post)| post.at <= now);
        let text = |position: usize| self.forum_text().post(topic, thread as u64, position as u64).join("\n");
        stated.map(|(position, &post)| (post, text(position))).collect()
    }

    pub fn user(&self, user: u32) -> String {
        self.forum_text().user(user)
    }

    /// The kind of a URL on any host, whether or not it exists yet.
    pub fn kind_of(&self, url: &CrawlUrl) -> ServedForumPage {
        let Some(Route { kind, of, page }) = self.find(url) else { return ServedForumPage::Functional };
        match kind {
            ForumPageKind::Home => ServedForumPage::Home,
            ForumPageKind::Index => ServedForumPage::Index { board: of, page },
            ForumPageKind::Thread => ServedForumPage::Thread { thread: of, page },
            ForumPageKind::LastPost | ForumPageKind::Printer | ForumPageKind::ByUser => {
                ServedForumPage::Duplicate { thread: of }
            }
            ForumPageKind::Post => ServedForumPage::Duplicate { thread: self.posts[of].0 as usize },
            _ => ServedForumPage::Functional,
        }
    }

    pub(super) fn style(&self) -> &'static SkinStyle {
        self.spec.skin.style()
    }

    pub(super) fn forum_text(&self) -> ForumText {
        ForumText { seed: self.spec.activity.seed, english: self.style().english }
    }
}
