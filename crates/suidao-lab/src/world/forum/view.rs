//! The view of a forum for one response: lists in order as of a time, and the data and functions of templates.

use std::sync::Arc;

use minijinja::value::{Serde, Value};
use minijinja::{Error, ErrorKind, context};
use serde::Serialize;
use serde::de::value::Error as Unknown;
use serde::de::{Deserialize, IntoDeserializer};

use super::Posting;
use super::address::{board_id, post_id, thread_id};
use super::route::{ForumPageKind, Route};
use super::site::{Forum, GeneratedThread};
use super::skin::fill;
use super::times;
use suidao_page::model::CrawlUrl;
use suidao_page::seeded_rng::SeededRng;

pub(super) struct PageView {
    pub forum: Arc<Forum>,
    pub now: i64,
    /// Unique to the request.
    pub nonce: u64,
    pub url: CrawlUrl,
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct ViewRow<'a> {
    pub thread: usize,
    pub id: u64,
    pub title: &'a str,
    pub board: usize,
    pub board_name: &'a str,
    pub first: Posting,
    pub last: Posting,
    /// Number of the last post in the forum, as pages show it.
    pub last_post: usize,
    pub last_id: u64,
    /// Posts, including the first.
    pub posts: u32,
    pub replies: u32,
    pub views: u64,
    pub sticky: bool,
    pub pages: u32,
}

#[derive(Serialize)]
pub(super) struct BoardSummary<'a> {
    pub board: usize,
    pub id: u64,
    pub name: &'a str,
    pub about: &'a str,
    pub threads: usize,
    pub posts: u32,
    pub last: Option<ViewRow<'a>>,
    pub moderators: [usize; 2],
    pub inner: Vec<SubBoard<'a>>,
}

#[derive(Serialize)]
pub(super) struct SubBoard<'a> {
    pub board: usize,
    pub name: &'a str,
    pub about: &'a str,
}

#[derive(Serialize)]
struct Category<'a> {
    name: String,
    boards: Vec<BoardSummary<'a>>,
}

#[derive(Serialize)]
struct Post {
    /// Its number in the forum, as pages show it.
    number: usize,
    id: u64,
    floor: u32,
    user: u32,
    at: i64,
    text: Vec<String>,
    quote: Option<Quote>,
    motto: Option<String>,
}

#[derive(Serialize)]
struct Quote {
    user: u32,
    at: i64,
    number: usize,
    id: u64,
    text: String,
}

/// Parses a name that templates use, such as `last-post`.
fn named<'a, T: Deserialize<'a>>(name: &'a str) -> Result<T, Error> {
    T::deserialize(name.into_deserializer())
        .map_err(|error: Unknown| Error::new(ErrorKind::InvalidOperation, error.to_string()))
}

/// The page that a template names; the first page of a list by default.
fn route(form: &str, of: Option<usize>, page: Option<u32>) -> Result<Route, Error> {
    Ok(Route::new(named::<ForumPageKind>(form)?, of.unwrap_or(0), page.unwrap_or(1)))
}

impl PageView {
    /// Renders a template. `page`: its data besides the forum.
    pub fn render(self: &Arc<Self>, template: &str, page: Value) -> String {
        fill(template, context! { ..page, ..self.context() })
    }

    /// The data and functions of all templates.
    fn context(self: &Arc<Self>) -> Value {
        let (spec, style) = (&self.forum.spec, self.forum.style());
        macro_rules! function {
            (|$view:ident $(, $argument:ident: $type:ty)*| $body:expr) => {{
                let $view = Arc::clone(self);
                Value::from_function(move |$($argument: $type),*| $body)
            }};
        }
        context! {
            skin => spec.skin.files().0,
            site => if style.english { "The Long Bridge" } else { "长桥社区" },
            host => &spec.host,
            start => spec.activity.start,
            users => spec.activity.users,
            traps => spec.traps,
            charset => if style.gbk { "gbk" } else { "utf-8" },
            english => style.english,
            now => self.now,
            crumbs => "",
            head => "",
            href => function!(|view, form: String, of: Option<usize>, page: Option<u32>| {
                Ok::<_, Error>(view.href(route(&form, of, page)?))
            }),
            // Empty if the skin has no such page.
            link => function!(|view, text: String, form: String, of: Option<usize>, page: Option<u32>| {
                let route = route(&form, of, page)?;
                let linked = view.forum.path(route).is_some();
                Ok::<_, Error>(if linked { format!("<a href=\"{}\">{text}</a>", view.href(route)) } else { String::new() })
            }),
            whole => function!(|view, form: String, of: usize| Ok::<_, Error>(view.whole(route(&form, Some(of), None)?))),
            permalink => function!(|view, post: usize| {
                if view.forum.spec.traps { view.href(Route::new(ForumPageKind::Post, post, 1)) } else { "#".to_owned() }
            }),
            name => function!(|view, user: u32| view.forum.user(user)),
            person => function!(|view, user: u32, class: Option<String>| {
                let href = view.href(Route::new(ForumPageKind::Profile, user as usize, 1));
                format!("<a href=\"{href}\" class=\"{}\">{}</a>", class.unwrap_or_default(), view.forum.user(user))
            }),
            time => function!(|view, style: String, at: i64| {
                Ok::<_, Error>(times::write(named(&style)?, at, view.now, view.forum.spec.activity.offset))
            }),
            posts => function!(|view, thread: usize, page: u32| Value::from(Serde(view.posts(thread, page)))),
            hot => function!(|view, count: usize| Value::from(Serde(view.hot(count)))),
            summary => function!(|view, board: usize| Value::from(Serde(view.summary(board)))),
            categories => function!(|view| Value::from(Serde(view.categories()))),
            totals => function!(|view| view.totals()),
        }
    }

    /// A link target in this skin, escaped; `#` if the skin has no such page.
    pub fn href(&self, route: Route) -> String {
        let style = self.forum.style();
        let Some(path) = self.forum.path(route) else { return "#".to_owned() };
        let mut out = format!("{}{}", style.prefix, path.strip_prefix('/').unwrap_or(&path));
        if let Some(name) = style.session.as_ref().filter(|_| self.forum.spec.traps) {
            let mut rng =
                SeededRng::new(self.forum.spec.activity.seed, super::text::DrawPurpose::Session as u64, self.nonce);
            let id = format!("{name}={:016x}{:016x}", rng.bits(), rng.bits());
            out.push(if out.contains('?') { '&' } else { '?' });
            out.push_str(&id);
        }
        out.replace('&', "&amp;")
    }

    /// A page's absolute URL for the requested host, escaped.
    fn whole(&self, route: Route) -> String {
        format!("{}{}", self.url.origin(), self.forum.path(route).unwrap_or_default()).replace('&', "&amp;")
    }

    fn totals(&self) -> Value {
        let posted = |&(thread, position): &(u32, u32)| {
            self.forum.threads[thread as usize].posts[position as usize].at <= self.now
        };
        context! { threads => self.open(), posts => self.forum.posts.partition_point(posted) }
    }

    pub fn open(&self) -> usize {
        self.forum.threads.partition_point(|stored| stored.posts[0].at <= self.now)
    }

    pub fn is_walled(&self, thread: usize) -> bool {
        self.forum.boards[self.forum.threads[thread].board].members_only
    }

    /// A thread as of now; `None` before it opens.
    pub fn row(&self, thread: usize) -> Option<ViewRow<'_>> {
        let stored: &GeneratedThread = &self.forum.threads[thread];
        let count = stored.posts.partition_point(|post| post.at <= self.now);
        let (&first, &last) = (stored.posts.first()?, stored.posts.get(count.checked_sub(1)?)?);
        let posts = count as u32;
        let last_post = stored.numbers[count - 1] as usize;
        Some(ViewRow {
            thread,
            id: thread_id(thread),
            title: &stored.title,
            board: stored.board,
            board_name: &self.forum.boards[stored.board].name,
            first,
            last,
            last_post,
            last_id: post_id(last_post),
            posts,
            replies: posts - 1,
            views: stored.views * u64::from(posts) + stored.views % 7,
            sticky: stored.sticky,
            pages: posts.div_ceil(self.forum.spec.posts_per_page),
        })
    }

    /// The board's threads as of now, sticky ones first, then by last reply (or, `sorted`, by replies).
    pub fn list(&self, board: usize, sorted: bool) -> Vec<ViewRow<'_>> {
        let mut rows: Vec<ViewRow> = self.forum.boards[board].threads.iter().filter_map(|&at| self.row(at)).collect();
        let order = |row: &ViewRow| if sorted { -i64::from(row.posts) } else { -row.last.at };
        rows.sort_by_key(|row| (!row.sticky, order(row), row.thread));
        rows
    }

    /// Threads with the most replies, of all public boards.
    fn hot(&self, count: usize) -> Vec<ViewRow<'_>> {
        let open = self.open();
        let recent = (open.saturating_sub(300)..open).filter(|&at| !self.is_walled(at));
        let mut rows: Vec<ViewRow> = recent.filter_map(|at| self.row(at)).collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.posts), row.thread));
        rows.truncate(count);
        rows
    }

    pub fn summary(&self, board: usize) -> BoardSummary<'_> {
        let stored = &self.forum.boards[board];
        let rows: Vec<ViewRow> = stored.threads.iter().filter_map(|&at| self.row(at)).collect();
        let boards = self.forum.boards.iter().enumerate();
        let inner = boards.filter(|(_, stored)| stored.inside == Some(board));
        let users = self.forum.spec.activity.users;
        BoardSummary {
            board,
            id: board_id(board),
            name: &stored.name,
            about: &stored.about,
            threads: rows.len(),
            posts: rows.iter().map(|row| row.posts).sum(),
            last: rows.into_iter().max_by_key(|row| (row.last.at, row.thread)),
            moderators: [board * 3 % users, (board * 5 + 1) % users],
            inner: inner.map(|(board, stored)| SubBoard { board, name: &stored.name, about: &stored.about }).collect(),
        }
    }

    fn categories(&self) -> Vec<Category<'_>> {
        let (boards, groups) = (self.forum.boards.len(), self.forum.spec.categories);
        let names = match self.forum.style().english {
            true => ["General", "Interests", "Living", "About us", "Local"],
            false => ["综合讨论", "兴趣天地", "生活百科", "站务管理", "地方频道"],
        };
        let group = |group: usize| {
            let number = if group >= names.len() { (group / names.len() + 1).to_string() } else { String::new() };
            let within = (boards * group / groups..boards * (group + 1) / groups)
                .filter(|&at| self.forum.boards[at].inside.is_none());
            Category {
                name: format!("{}{number}", names[group % names.len()]),
                boards: within.map(|at| self.summary(at)).collect(),
            }
        };
        (0..groups).map(group).collect()
    }

    fn posts(&self, thread: usize, page: u32) -> Vec<Post> {
        let stored = &self.forum.threads[thread];
        let topic = self.forum.boards[stored.board].topic;
        let forum_text = self.forum.forum_text();
        let count = stored.posts.partition_point(|post| post.at <= self.now);
        let per = self.forum.spec.posts_per_page as usize;
        let start = (page as usize - 1) * per;
        let post = |position: usize| {
            let posting = stored.posts[position];
            let quote = forum_text.quoted(thread as u64, position as u64).map(|quoted| {
                let mut text = forum_text.post(topic, thread as u64, quoted).swap_remove(0);
                if text.chars().count() > 60 {
                    text = text.chars().take(60).chain("...".chars()).collect();
                }
                let of = stored.posts[quoted as usize];
                let number = stored.numbers[quoted as usize] as usize;
                Quote { user: of.user, at: of.at, number, id: post_id(number), text }
            });
            let number = stored.numbers[position] as usize;
            Post {
                number,
                id: post_id(number),
                floor: position as u32 + 1,
                user: posting.user,
                at: posting.at,
                text: forum_text.post(topic, thread as u64, position as u64),
                quote,
                motto: forum_text.motto(posting.user),
            }
        };
        (start..count.min(start + per)).map(post).collect()
    }
}
