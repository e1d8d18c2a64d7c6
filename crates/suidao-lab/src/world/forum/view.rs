//! A forum as one answer shows it: lists in their order as of a time, links, names, times.

use super::route::Route;
use super::site::{Forum, Held};
use super::times::{self, Style};
use super::{Posting, Traps};
use crate::world::draw::Draw;
use suidao_page::model::CrawlUrl;

/// What an answer is made from.
pub(super) struct View<'a> {
    pub forum: &'a Forum,
    pub now: i64,
    /// A number of this request alone.
    pub nonce: u64,
    /// What was asked for.
    pub url: &'a CrawlUrl,
}

/// A thread in a list.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub thread: usize,
    pub title: &'a str,
    pub first: Posting,
    pub last: Posting,
    /// Number of the last post in the forum.
    pub last_post: usize,
    /// Posts, the first included.
    pub posts: u32,
    pub views: u64,
    pub sticky: bool,
    pub pages: u32,
}

impl Row<'_> {
    pub fn replies(&self) -> u32 {
        self.posts - 1
    }
}

/// A board in the home.
pub(super) struct Summary<'a> {
    pub board: usize,
    pub name: &'a str,
    pub about: &'a str,
    pub threads: usize,
    pub posts: u32,
    pub last: Option<Row<'a>>,
    pub moderators: [usize; 2],
    /// Boards inside it.
    pub inner: Vec<usize>,
}

/// A post on a page.
pub(super) struct Post {
    /// Its number in the forum.
    pub number: usize,
    /// From 1.
    pub floor: u32,
    pub user: usize,
    pub at: i64,
    pub text: Vec<String>,
    pub quote: Option<Quote>,
    pub motto: Option<String>,
}

/// What a post quotes.
pub(super) struct Quote {
    pub user: usize,
    pub at: i64,
    pub number: usize,
    pub text: String,
}

impl<'a> View<'a> {
    pub fn title(&self) -> &'a str {
        &self.forum.spec.title
    }

    /// Threads and posts of the whole forum.
    pub fn totals(&self) -> (usize, usize) {
        let posted =
            |&(thread, place): &(u32, u32)| self.forum.threads[thread as usize].posts[place as usize].at <= self.now;
        let threads = self.forum.threads.partition_point(|held| held.posts[0].at <= self.now);
        (threads, self.forum.posts.partition_point(posted))
    }

    pub fn traps(&self) -> Traps {
        self.forum.spec.traps
    }

    /// A link's target as this skin writes it, escaped; `#` where the skin has no such page.
    pub fn href(&self, route: Route) -> String {
        self.address(route, "")
    }

    /// As [`View::href`], with a fragment.
    pub fn part(&self, route: Route, fragment: &str) -> String {
        format!("{}#{fragment}", self.href(route))
    }

    /// As [`View::href`], with more parameters behind.
    pub fn address(&self, route: Route, more: &str) -> String {
        let style = self.forum.style();
        let Some(path) = self.forum.path(route) else { return "#".to_owned() };
        let mut out = format!("{}{}", style.prefix, path.strip_prefix('/').unwrap_or(&path));
        if let Some(name) = style.session.filter(|_| self.traps().sessions) {
            let mut draw = Draw::new(self.forum.spec.activity.seed, super::text::Salt::Session as u64, self.nonce);
            let id = format!("{name}={:016x}{:016x}", draw.bits(), draw.bits());
            out.push(if out.contains('?') { '&' } else { '?' });
            out.push_str(&id);
        }
        if !more.is_empty() {
            out.push(if out.contains('?') { '&' } else { '?' });
            out.push_str(more);
        }
        out.replace('&', "&amp;")
    }

    /// A page's URL with scheme and host, as it was asked for, escaped.
    pub fn whole(&self, route: Route) -> String {
        format!("{}{}", self.url.origin(), self.forum.path(route).unwrap_or_default()).replace('&', "&amp;")
    }

    /// Where a quoted post stands, if posts have URLs of their own.
    pub fn permalink(&self, post: usize) -> String {
        if self.traps().permalinks { self.href(Route::Post(post)) } else { "#".to_owned() }
    }

    /// A link; nothing where the skin has no such page.
    pub fn link(&self, route: Route, text: &str) -> String {
        match self.forum.path(route) {
            Some(_) => format!("<a href=\"{}\">{text}</a>", self.href(route)),
            None => String::new(),
        }
    }

    /// Chinese or English.
    pub fn say(&self, chinese: &'static str, english: &'static str) -> &'static str {
        if self.forum.voice().english { english } else { chinese }
    }

    pub fn time(&self, style: Style, at: i64) -> String {
        times::write(style, at, self.now, self.forum.spec.activity.offset)
    }

    pub fn user(&self, user: impl TryInto<u32>) -> String {
        self.forum.voice().user(user.try_into().unwrap_or(0))
    }

    /// A user's name as a link to the profile, with this class.
    pub fn user_link(&self, user: impl TryInto<u32>, class: &str) -> String {
        let user: u32 = user.try_into().unwrap_or(0);
        let href = self.href(Route::Profile(user as usize));
        format!("<a href=\"{href}\" class=\"{class}\">{}</a>", self.user(user))
    }

    pub fn board_name(&self, board: usize) -> &'a str {
        &self.forum.boards[board].name
    }

    pub fn board_of(&self, thread: usize) -> usize {
        self.forum.threads[thread].board
    }

    pub fn thread_title(&self, thread: usize) -> &'a str {
        &self.forum.threads[thread].title
    }

    /// A thread as it stands now; nothing if it is not open yet.
    pub fn row(&self, thread: usize) -> Option<Row<'a>> {
        let held: &'a Held = &self.forum.threads[thread];
        let count = held.posts.partition_point(|post| post.at <= self.now);
        let (&first, &last) = (held.posts.first()?, held.posts.get(count.checked_sub(1)?)?);
        let posts = count as u32;
        Some(Row {
            thread,
            title: &held.title,
            first,
            last,
            last_post: held.numbers[count - 1] as usize,
            posts,
            views: held.views * u64::from(posts) + held.views % 7,
            sticky: held.sticky,
            pages: posts.div_ceil(self.forum.spec.posts_per_page),
        })
    }

    /// The board's threads, sticky ones first, then by last reply (or, `sorted`, by replies), all as of now.
    pub fn list(&self, board: usize, sorted: bool) -> Vec<Row<'a>> {
        let mut rows: Vec<Row<'a>> = self.forum.boards[board].threads.iter().filter_map(|&at| self.row(at)).collect();
        let order = |row: &Row<'a>| if sorted { -i64::from(row.posts) } else { -row.last.at };
        rows.sort_by_key(|row| (!row.sticky, order(row), row.thread));
        rows
    }

    /// Threads with most replies, of all boards that everybody reads.
    pub fn hot(&self, count: usize) -> Vec<Row<'a>> {
        let open = self.forum.threads.partition_point(|held| held.posts[0].at <= self.now);
        let recent = (open.saturating_sub(300)..open).filter(|&at| !self.forum.boards[self.board_of(at)].walled);
        let mut rows: Vec<Row<'a>> = recent.filter_map(|at| self.row(at)).collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.posts), row.thread));
        rows.truncate(count);
        rows
    }

    pub fn summary(&self, board: usize) -> Summary<'a> {
        let forum: &'a Forum = self.forum;
        let held = &forum.boards[board];
        let rows = held.threads.iter().filter_map(|&at| self.row(at));
        let (mut threads, mut posts, mut last) = (0, 0, None::<Row<'a>>);
        for row in rows {
            threads += 1;
            posts += row.posts;
            if last.is_none_or(|last| (row.last.at, row.thread) > (last.last.at, last.thread)) {
                last = Some(row);
            }
        }
        let users = forum.spec.activity.users;
        Summary {
            board,
            name: &held.name,
            about: &held.about,
            threads,
            posts,
            last,
            moderators: [board * 3 % users, (board * 5 + 1) % users],
            inner: (0..forum.boards.len()).filter(|&at| forum.boards[at].inside == Some(board)).collect(),
        }
    }

    /// Names of the groups of the home, and the boards in each, without those that stand inside others.
    pub fn categories(&self) -> Vec<(String, Vec<Summary<'a>>)> {
        let (boards, groups) = (self.forum.boards.len(), self.forum.spec.categories);
        let names = ["综合讨论", "兴趣天地", "生活百科", "站务管理", "地方频道"];
        let english = ["General", "Interests", "Living", "About us", "Local"];
        let names = if self.forum.voice().english { english } else { names };
        let group = |group: usize| {
            let number = if group >= names.len() { (group / names.len() + 1).to_string() } else { String::new() };
            let within = (boards * group / groups..boards * (group + 1) / groups)
                .filter(|&at| self.forum.boards[at].inside.is_none());
            (format!("{}{number}", names[group % names.len()]), within.map(|at| self.summary(at)).collect())
        };
        (0..groups).map(group).collect()
    }

    /// The posts on a page of a thread that is open.
    pub fn posts(&self, thread: usize, page: u32) -> Vec<Post> {
        let held = &self.forum.threads[thread];
        let topic = self.forum.boards[held.board].topic;
        let voice = self.forum.voice();
        let count = held.posts.partition_point(|post| post.at <= self.now);
        let per = self.forum.spec.posts_per_page as usize;
        let start = (page as usize - 1) * per;
        let post = |place: usize| {
            let posting = held.posts[place];
            let quote = voice.quoted(thread as u64, place as u64).map(|quoted| {
                let mut text = voice.post(topic, thread as u64, quoted).swap_remove(0);
                if text.chars().count() > 60 {
                    text = text.chars().take(60).chain("...".chars()).collect();
                }
                let of = held.posts[quoted as usize];
                Quote { user: of.user as usize, at: of.at, number: held.numbers[quoted as usize] as usize, text }
            });
            Post {
                number: held.numbers[place] as usize,
                floor: place as u32 + 1,
                user: posting.user as usize,
                at: posting.at,
                text: voice.post(topic, thread as u64, place as u64),
                quote,
                motto: voice.motto(posting.user),
            }
        };
        (start..count.min(start + per)).map(post).collect()
    }
}
