//! A generated forum's answers: which page a request gets, as of a time.

use bytes::Bytes;

use super::functional;
use super::route::Route;
use super::site::Forum;
use super::skin::IndexPage;
use super::spec::Beyond;
use super::times::{self, Style};
use super::view::View;
use suidao_page::model::{CrawlUrl, Fetched};

/// An answer in the making.
pub(super) struct Said {
    pub status: u16,
    pub media: &'static str,
    pub body: String,
    pub location: Option<String>,
}

impl Said {
    pub fn html(status: u16, body: String) -> Self {
        Self { status, media: "text/html", body, location: None }
    }

    fn moved(to: &str) -> Self {
        let body = format!("<html><body><a href=\"{}\">302</a></body></html>", to.replace('&', "&amp;"));
        Self { status: 302, media: "text/html", body, location: Some(to.to_owned()) }
    }
}

impl Forum {
    /// The answer to a GET of `url` at `now`, seconds since 1970; `nonce` is what session ids are made of.
    pub fn answer(&self, url: &CrawlUrl, now: i64, nonce: u64) -> Fetched {
        let view = View { forum: self, now, nonce, url };
        let said = if url.path() == "/robots.txt" {
            let body = format!("User-agent: *\nDisallow: {}\n", self.style().forbids);
            Said { status: 200, media: "text/plain", body, location: None }
        } else {
            match self.find(url) {
                Some(route) => self.page(&view, route),
                None => functional::missing(&view),
            }
        };
        let gbk = self.style().gbk && said.media != "text/plain";
        let body = if gbk { encoding_rs::GBK.encode(&said.body).0.into_owned() } else { said.body.into_bytes() };
        let charset = if gbk { "gbk" } else { "utf-8" };
        let mut headers = vec![
            ("server".to_owned(), "nginx".to_owned()),
            ("date".to_owned(), times::write(Style::Http, now, now, 0)),
            ("content-type".to_owned(), format!("{}; charset={charset}", said.media)),
        ];
        if let Some(name) = self.style().session.filter(|_| self.spec.traps.sessions) {
            headers.push(("set-cookie".to_owned(), format!("{name}={nonce:016x}; path=/; HttpOnly")));
        }
        headers.extend(said.location.map(|to| ("location".to_owned(), to)));
        headers.push(("content-length".to_owned(), body.len().to_string()));
        Fetched {
            url: url.clone(),
            status: said.status,
            headers,
            body: Bytes::from(body),
            wire: None,
            asked: None,
            rendered: None,
        }
    }

    fn page(&self, view: &View, route: Route) -> Said {
        let skin = self.spec.skin;
        match route {
            Route::Home if self.boards.iter().all(|board| board.walled) => functional::wall(view),
            Route::Home => Said::html(200, skin.home(view)),
            Route::Index { board, page } => self.index(view, board, page, false),
            Route::Sorted { board, page } => self.index(view, board, page, true),
            Route::Thread { thread, page } => self.thread(view, thread, page),
            Route::LastPost(thread) => match view.row(thread) {
                Some(row) => self.post(view, row.last_post),
                None => functional::missing(view),
            },
            Route::Post(post) => self.post(view, post),
            // Nobody writes a thread alone: the first page will do.
            Route::ByUser { thread, .. } => self.thread(view, thread, 1),
            Route::Printer(thread) => match view.row(thread) {
                Some(_) if self.boards[view.board_of(thread)].walled => functional::wall(view),
                Some(row) => Said::html(200, functional::printer(view, &row)),
                None => functional::missing(view),
            },
            other => functional::page(view, other),
        }
    }

    fn beyond(&self) -> Beyond {
        self.spec.beyond.unwrap_or(self.style().beyond)
    }

    /// A page of a board's list. The sticky threads stand on the first page, beside as many others as on every page.
    fn index(&self, view: &View, board: usize, page: u32, sorted: bool) -> Said {
        if self.boards[board].walled {
            return functional::wall(view);
        }
        let mut rows = view.list(board, sorted);
        let sticky = rows.iter().take_while(|row| row.sticky).count();
        let per = self.spec.threads_per_page as usize;
        let pages = (rows.len() - sticky).div_ceil(per).max(1) as u32;
        let page = match self.beyond() {
            Beyond::Missing if page > pages => return functional::missing(view),
            Beyond::Clamp => page.clamp(1, pages),
            _ => page.max(1),
        };
        let start = (page as usize - 1).saturating_mul(per).saturating_add(sticky).min(rows.len());
        rows.truncate(start.saturating_add(per));
        rows.drain(if page == 1 { sticky } else { 0 }..start);
        Said::html(200, self.spec.skin.index(view, &IndexPage { board, page, pages, sorted, rows }))
    }

    fn thread(&self, view: &View, thread: usize, page: u32) -> Said {
        let Some(row) = view.row(thread) else { return functional::missing(view) };
        if self.boards[view.board_of(thread)].walled {
            return functional::wall(view);
        }
        let page = match self.beyond() {
            Beyond::Missing if page > row.pages => return functional::missing(view),
            Beyond::Clamp => page.clamp(1, row.pages),
            _ => page.max(1),
        };
        Said::html(200, self.spec.skin.thread(view, &row, page))
    }

    /// The page of a thread that a post stands on.
    fn post(&self, view: &View, post: usize) -> Said {
        let (thread, place) = self.posts[post];
        let thread = thread as usize;
        if self.threads[thread].posts[place as usize].at > view.now {
            return functional::missing(view);
        }
        let page = place / self.spec.posts_per_page + 1;
        if !self.style().redirects {
            return self.thread(view, thread, page);
        }
        let to = view.part(Route::Thread { thread, page }, &format!("pid{}", super::address::post_id(post)));
        Said::moved(&to.replace("&amp;", "&"))
    }
}
