//! Responses of a generated forum as of a time.

use std::cmp::Reverse;
use std::sync::Arc;

use minijinja::context;
use minijinja::value::{Serde, Value};

use super::address::post_id;
use super::route::{ForumPageKind, Route};
use super::site::Forum;
use super::skin::PastLastPage;
use super::text::DrawPurpose;
use super::times::{self, TimeFormat};
use super::view::{PageView, ViewRow};
use suidao_page::model::{CrawlUrl, Fetched};

const FEED: usize = 15;
const FOUND: u64 = 10;
const RELATED: usize = 6;

struct ForumResponse {
    status: u16,
    media: &'static str,
    body: String,
    location: Option<String>,
}

impl ForumResponse {
    fn html(status: u16, body: String) -> Self {
        Self { status, media: "text/html", body, location: None }
    }

    fn moved(to: &str) -> Self {
        let body = format!("<html><body><a href=\"{}\">302</a></body></html>", to.replace('&', "&amp;"));
        Self { status: 302, media: "text/html", body, location: Some(to.to_owned()) }
    }
}

impl Forum {
    /// The answer to a GET of `url` at `now`, seconds since 1970; `nonce` seeds session ids.
    pub fn response(self: &Arc<Self>, url: &CrawlUrl, now: i64, nonce: u64) -> Fetched {
        let view = Arc::new(PageView { forum: Arc::clone(self), now, nonce, url: url.clone() });
        let response = if url.path() == "/robots.txt" {
            let body = format!("User-agent: *\nDisallow: {}\n", self.style().forbids);
            ForumResponse { status: 200, media: "text/plain", body, location: None }
        } else {
            self.find(url).and_then(|route| view.page(route)).unwrap_or_else(|| view.other(404, "missing", 0))
        };
        let gbk = self.style().gbk && response.media != "text/plain";
        let body =
            if gbk { encoding_rs::GBK.encode(&response.body).0.into_owned() } else { response.body.into_bytes() };
        let charset = if gbk { "gbk" } else { "utf-8" };
        let mut headers = vec![
            ("server".to_owned(), "nginx".to_owned()),
            ("date".to_owned(), times::write(TimeFormat::Http, now, now, 0)),
            ("content-type".to_owned(), format!("{}; charset={charset}", response.media)),
        ];
        if let Some(name) = self.style().session.as_ref().filter(|_| self.spec.traps) {
            headers.push(("set-cookie".to_owned(), format!("{name}={nonce:016x}; path=/; HttpOnly")));
        }
        headers.extend(response.location.map(|to| ("location".to_owned(), to)));
        headers.push(("content-length".to_owned(), body.len().to_string()));
        Fetched::new(url.clone(), response.status, headers, body)
    }
}

impl PageView {
    /// The page of a route; `None` if it does not exist at this time.
    fn page(self: &Arc<Self>, Route { kind, of, page }: Route) -> Option<ForumResponse> {
        Some(match kind {
            ForumPageKind::Home if self.forum.boards.iter().all(|board| board.members_only) => self.wall(),
            ForumPageKind::Home => self.skinned("home", context! {}),
            ForumPageKind::Index | ForumPageKind::IndexPage => self.index(of, page, false)?,
            ForumPageKind::Sorted => self.index(of, page, true)?,
            ForumPageKind::Thread | ForumPageKind::ThreadPage => self.thread(of, page)?,
            // Threads by a single user are rare, so the first page is enough.
            ForumPageKind::ByUser => self.thread(of, 1)?,
            ForumPageKind::LastPost => self.post(self.row(of)?.last_post)?,
            ForumPageKind::Post => self.post(of)?,
            ForumPageKind::Printer => {
                let row = self.row(of)?;
                match self.is_walled(of) {
                    true => self.wall(),
                    false => {
                        ForumResponse::html(200, self.render("printer", context! { row => Value::from(Serde(row)) }))
                    }
                }
            }
            ForumPageKind::Feed => self.feed(of),
            ForumPageKind::Profile | ForumPageKind::Members if self.forum.spec.traps => self.wall(),
            ForumPageKind::Profile => self.other(200, "profile", of),
            ForumPageKind::Members => self.other(200, "members", of),
            ForumPageKind::Search => self.other(200, "search", of),
            ForumPageKind::Calendar => self.other(200, "calendar", of),
            ForumPageKind::Login => self.other(200, "login", of),
            ForumPageKind::Register => self.other(200, "register", of),
            ForumPageKind::Reply | ForumPageKind::NewThread => self.other(200, "reply", of),
            ForumPageKind::Help => self.other(200, "help", of),
        })
    }

    fn skinned(self: &Arc<Self>, page: &str, more: Value) -> ForumResponse {
        ForumResponse::html(200, self.render(self.forum.spec.skin.files().0, context! { page, ..more }))
    }

    /// Any other page in the skin's frame. The first line of its template is the title.
    fn other(self: &Arc<Self>, status: u16, page: &str, of: usize) -> ForumResponse {
        let (found, numbers) = if page == "search" { self.search(of) } else { Default::default() };
        let found = Value::from(Serde(found));
        let written = self.render("other", context! { page, of, found, numbers });
        let (title, body) = written.split_once('\n').unwrap_or_default();
        ForumResponse { status, ..self.skinned("other", context! { title, body }) }
    }

    /// A login page instead of the requested one.
    fn wall(self: &Arc<Self>) -> ForumResponse {
        self.other(self.forum.style().wall, "wall", 0)
    }

    /// The results of a search, and related searches without end.
    fn search(&self, number: usize) -> (Vec<ViewRow<'_>>, Vec<u64>) {
        let mut rng = self.forum.forum_text().draw(DrawPurpose::Topic, 1 + number as u64);
        let open = self.open() as u64;
        let found: Vec<usize> = (0..open.min(FOUND)).map(|_| rng.below(open) as usize).collect();
        let found = found.into_iter().filter(|&thread| !self.is_walled(thread)).filter_map(|thread| self.row(thread));
        (found.collect(), (0..RELATED).map(|_| rng.below(1_000_000_000)).collect())
    }

    fn feed(self: &Arc<Self>, board: usize) -> ForumResponse {
        let stored = &self.forum.boards[board];
        if stored.members_only {
            return self.wall();
        }
        let mut rows = self.list(board, false);
        rows.sort_by_key(|row| Reverse((row.first.at, row.thread)));
        rows.truncate(FEED);
        let body = self.render("feed", context! { board_name => &stored.name, rows => Value::from(Serde(rows)) });
        ForumResponse { status: 200, media: "application/rss+xml", body, location: None }
    }

    /// The page shown for number `page` of `pages`; `None` if the forum answers that it is missing.
    fn page_number(&self, page: u32, pages: u32) -> Option<u32> {
        match self.forum.style().beyond {
            PastLastPage::Missing if page > pages => None,
            PastLastPage::Clamp => Some(page.clamp(1, pages)),
            _ => Some(page.max(1)),
        }
    }

    /// A page of a board's list. Sticky threads are on the first page in addition to the usual number.
    fn index(self: &Arc<Self>, board: usize, page: u32, sorted: bool) -> Option<ForumResponse> {
        if self.forum.boards[board].members_only {
            return Some(self.wall());
        }
        let mut rows = self.list(board, sorted);
        let sticky = rows.iter().take_while(|row| row.sticky).count();
        let per = self.forum.spec.threads_per_page as usize;
        let pages = (rows.len() - sticky).div_ceil(per).max(1) as u32;
        let number = self.page_number(page, pages)?;
        let start = (number as usize - 1).saturating_mul(per).saturating_add(sticky).min(rows.len());
        rows.truncate(start.saturating_add(per));
        rows.drain(if number == 1 { sticky } else { 0 }..start);
        let form = if sorted { "sorted" } else { "index" };
        let board = Value::from(Serde(self.summary(board)));
        Some(self.skinned("index", context! { board, number, pages, per, form, rows => Value::from(Serde(rows)) }))
    }

    /// A page of a thread; after the last it may have no posts.
    fn thread(self: &Arc<Self>, thread: usize, page: u32) -> Option<ForumResponse> {
        let row = self.row(thread)?;
        if self.is_walled(thread) {
            return Some(self.wall());
        }
        let number = self.page_number(page, row.pages)?;
        Some(self.skinned("thread", context! { number, row => Value::from(Serde(row)) }))
    }

    fn post(self: &Arc<Self>, post: usize) -> Option<ForumResponse> {
        let (thread, position) = self.forum.posts[post];
        let (thread, position) = (thread as usize, position as usize);
        if self.forum.threads[thread].posts[position].at > self.now {
            return None;
        }
        let page = position as u32 / self.forum.spec.posts_per_page + 1;
        if !self.forum.style().redirects {
            return self.thread(thread, page);
        }
        let to = format!("{}#pid{}", self.href(Route::new(ForumPageKind::Thread, thread, page)), post_id(post));
        Some(ForumResponse::moved(&to.replace("&amp;", "&")))
    }
}
