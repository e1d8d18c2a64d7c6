//! A small forum of two boards, whose URLs, redirects, bars of page numbers and posts a test chooses. The program reads
//! it through a proxy on loopback.

#![allow(dead_code)] // each test uses a part

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use suidao::model::{CrawlUrl, Failure, FailureKind, Fetched};
use suidao::replay::Web;
use suidao::world::WebServer;

use crate::support::{REPLAY_DEFAULTS, export, run, suidao};

pub const HOST: &str = "http://bbs.test";
const BOARDS: usize = 2;
const AUTHORS: [&str; 6] = ["anna", "bert", "carl", "dora", "emil", "fred"];
const SENTENCES: [&str; 6] = [
    "I have baked bread for ten years and never saw such a crust before.",
    "You should use more water in the dough and a hotter oven, my friend.",
    "Thanks a lot, that helped me very much and the bread was very good.",
    "Mine was a bit dry this time, but my children liked it all the same.",
    "Next week I will try the rye flour that my neighbour gave to me.",
    "How long do you let the dough rest before you bake it in the evening?",
];

/// A page of the forum; pages count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Home,
    Board(usize, usize),
    Thread(usize, usize),
}

#[derive(Clone, Debug)]
pub struct Post {
    pub author: String,
    /// As shown.
    pub time: String,
    pub html: String,
}

pub struct PlainForum {
    pub threads: Vec<Vec<Post>>,
    pub per_page: usize,
    /// The URL of a page.
    pub url: Box<dyn Fn(Place) -> String>,
    /// The URL by which others link it; it redirects to `url` if that differs.
    pub link: Box<dyn Fn(Place) -> String>,
    pub redirect: u16,
    /// The links to the pages of a list or a thread: the URL of each, and the current one.
    pub bar: fn(&[String], usize) -> String,
    /// A post, by its number in the forum.
    pub post: fn(usize, &Post) -> String,
    /// The title of a thread, and the `title` element of its pages.
    pub title: fn(usize) -> String,
    pub head: fn(&str) -> String,
    /// What is above and below the posts.
    pub above: String,
    pub below: String,
    pub robots: String,
    /// The language of all pages.
    pub language: &'static str,
}

impl Default for PlainForum {
    /// Nine threads of 1 to 47 posts, ten on a page, with the usual URLs.
    fn default() -> Self {
        Self {
            threads: [12, 1, 47, 2, 25, 10, 5, 8, 3].map(posts).into(),
            per_page: 10,
            url: Box::new(usual),
            link: Box::new(usual),
            redirect: 301,
            bar: numbers,
            post: article,
            title: |thread| format!("How do I bake bread number {thread}?"),
            head: |title| format!("{title} - The Bakers' Forum"),
            above: String::new(),
            below: String::new(),
            robots: "User-agent: *\nDisallow:\n".to_owned(),
            language: "en",
        }
    }
}

/// So many posts, an hour apart, each with a text of its own.
pub fn posts(count: usize) -> Vec<Post> {
    let post = |number: usize| Post {
        author: AUTHORS[(number + count) % AUTHORS.len()].to_owned(),
        time: format!("2020-04-{:02} {:02}:17", 10 + (count + number / 24) % 18, number % 24),
        html: format!("{} ({count}.{})", SENTENCES[(number * 5 + count) % SENTENCES.len()], number + 1),
    };
    (0..count).map(post).collect()
}

fn usual(place: Place) -> String {
    match place {
        Place::Home => "/".to_owned(),
        Place::Board(board, page) => format!("/viewforum.php?f={board}{}", offset(page, 15)),
        Place::Thread(thread, page) => format!("/viewtopic.php?t={thread}{}", offset(page, 10)),
    }
}

pub fn offset(page: usize, per_page: usize) -> String {
    if page == 1 { String::new() } else { format!("&start={}", (page - 1) * per_page) }
}

/// Numbers of pages, and a word for the next.
pub fn numbers(pages: &[String], current: usize) -> String {
    let next = pages.get(current).map_or(String::new(), |next| format!(" <a href='{next}'>Next</a>"));
    let link = |(number, url): (usize, &String)| match number == current {
        true => format!("<b>{number}</b>"),
        false => format!("<a href='{url}'>{number}</a>"),
    };
    (1..).zip(pages).map(link).collect::<Vec<_>>().join(" ") + &next
}

pub fn article(number: usize, Post { author, time, html }: &Post) -> String {
    format!(
        "<article class=message id=post-{number}><h4><a class=username href='/members/{author}/'>{author}</a></h4>\
         <div class=date>{time}</div><div class=message-body>{html}</div></article>"
    )
}

/// What the program made of a forum.
pub struct Reading {
    pub code: i32,
    /// What it printed.
    pub output: String,
    /// The exported threads, by title.
    pub threads: Vec<Value>,
}

impl Reading {
    /// Texts of the posts of a thread whose title begins so.
    pub fn thread(&self, title: &str) -> &Value {
        let found = self.threads.iter().find(|thread| thread["title"].as_str().unwrap().starts_with(title));
        found.unwrap_or_else(|| panic!("no thread {title}: {}", self.output))
    }

    pub fn posts(&self, title: &str) -> Vec<&str> {
        self.thread(title)["posts"].as_array().unwrap().iter().map(|post| post["text"].as_str().unwrap()).collect()
    }

    /// Number of posts of all threads.
    pub fn count(&self) -> usize {
        self.threads.iter().map(|thread| thread["posts"].as_array().unwrap().len()).sum()
    }
}

impl PlainForum {
    fn head_of(&self, title: &str, body: &str) -> String {
        format!(
            "<!DOCTYPE html><html lang={}><head><meta charset=utf-8><title>{}</title></head><body><div><a href=/>Home</a> \
             <a href=/search.php>Search</a> <a href=/login.php>Log in</a></div>{body}<div>Powered by bread</div></body></html>",
            self.language,
            (self.head)(title)
        )
    }

    fn home(&self) -> String {
        let board = |board| {
            format!(
                "<tr><td><a href='{}'>The board of bread {board}</a><td>{}</tr>",
                (self.link)(Place::Board(board, 1)),
                self.threads.len() / 2
            )
        };
        format!("<table>{}</table>", (1..=BOARDS).map(board).collect::<String>())
    }

    fn board(&self, board: usize) -> String {
        let row = |thread: usize| {
            let posts = &self.threads[thread - 1];
            let (first, last) = (&posts[0], &posts[posts.len() - 1]);
            format!(
                "<tr><td><a href='{}'>{}</a><td><a href='/members/{}/'>{}</a><td class=replies>{}<td class=views>{}<td>{} \
                 <a href='/members/{}/'>{}</a></tr>",
                (self.link)(Place::Thread(thread, 1)),
                (self.title)(thread),
                first.author,
                first.author,
                posts.len() - 1,
                posts.len() * 31,
                last.time,
                last.author,
                last.author
            )
        };
        let rows: String = (1..=self.threads.len()).filter(|thread| thread % BOARDS == board - 1).map(row).collect();
        format!(
            "<h1>The board of bread {board}</h1><table><tr><th>Thread<th>Author<th>Replies<th>Views<th>Last post</tr>{rows}</table>"
        )
    }

    fn pages(&self, thread: usize) -> usize {
        self.threads[thread - 1].len().div_ceil(self.per_page)
    }

    fn thread(&self, thread: usize, page: usize) -> String {
        let links: Vec<String> =
            (1..=self.pages(thread)).map(|page| (self.link)(Place::Thread(thread, page))).collect();
        let bar = if links.len() > 1 { format!("<div>{}</div>", (self.bar)(&links, page)) } else { String::new() };
        let posts = self.threads[thread - 1].iter().enumerate().skip((page - 1) * self.per_page).take(self.per_page);
        let posts: String = posts.map(|(at, post)| (self.post)(thread * 1000 + at, post)).collect();
        format!("<h1>{}</h1>{bar}<div class=posts>{}{posts}</div>{bar}{}", (self.title)(thread), self.above, self.below)
    }

    /// All its pages.
    pub fn web(&self) -> PlainWeb {
        let mut places = vec![(Place::Home, "Index".to_owned(), self.home())];
        places.extend((1..=BOARDS).map(|board| (Place::Board(board, 1), format!("Board {board}"), self.board(board))));
        for thread in 1..=self.threads.len() {
            let pages = (1..=self.pages(thread)).map(|page| (Place::Thread(thread, page), self.thread(thread, page)));
            places.extend(pages.map(|(place, body)| (place, (self.title)(thread), body)));
        }
        let whole = |path: String| {
            CrawlUrl::parse(&if path.starts_with('/') { format!("{HOST}{path}") } else { path }).unwrap()
        };
        let mut web = PlainWeb::default();
        for (place, title, body) in places {
            let (url, link) = (whole((self.url)(place)), whole((self.link)(place)));
            if link != url {
                let fields = vec![("location".to_owned(), url.to_string())];
                web.0.insert(link.clone(), Fetched::new(link, self.redirect, fields, Vec::new()));
            }
            web.0.insert(url.clone(), html(url, 200, &self.head_of(&title, &body)));
        }
        let robots = whole("/robots.txt".to_owned());
        let fields = vec![("content-type".to_owned(), "text/plain".to_owned())];
        web.0.insert(robots.clone(), Fetched::new(robots, 200, fields, self.robots.clone().into_bytes()));
        web
    }

    /// `suidao forum crawl`, then an export.
    pub fn read(&self) -> Reading {
        read(self.web())
    }
}

fn html(url: CrawlUrl, status: u16, text: &str) -> Fetched {
    let fields = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
    Fetched::new(url, status, fields, text.as_bytes().to_vec())
}

#[derive(Clone, Default)]
pub struct PlainWeb(pub BTreeMap<CrawlUrl, Fetched>);

impl Web for PlainWeb {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        match self.0.get(url) {
            Some(page) => Ok(page.clone()),
            None if url.host().ends_with("bbs.test") => Ok(html(url.clone(), 404, "<p>No such page.")),
            None => Err(Failure { kind: FailureKind::Dns, retry_after: None }),
        }
    }
}

impl PlainWeb {
    /// Replaces the body of pages whose path begins so.
    pub fn answer(&mut self, path: &str, status: u16, text: &str) {
        for (url, page) in self.0.iter_mut().filter(|(url, _)| url.as_str()[HOST.len()..].starts_with(path)) {
            *page = html(url.clone(), status, text);
        }
    }

    /// Changes the text of pages whose path begins so.
    pub fn change(&mut self, path: &str, change: impl Fn(&str) -> String) {
        for (url, page) in self.0.iter_mut().filter(|(url, _)| url.as_str()[HOST.len()..].starts_with(path)) {
            let text = change(std::str::from_utf8(&page.body).unwrap());
            *page = html(url.clone(), 200, &text);
        }
    }

    pub fn redirect(&mut self, path: &str, to: &str) {
        for (url, page) in self.0.iter_mut().filter(|(url, _)| url.as_str()[HOST.len()..].starts_with(path)) {
            *page = Fetched::new(url.clone(), 302, vec![("location".to_owned(), format!("{HOST}{to}"))], Bytes::new());
        }
    }
}

fn command(verb: &str, server: &WebServer, args: &[&Path]) -> std::process::Command {
    let mut command = suidao();
    command.args(["forum", verb, &format!("{HOST}/")]).args(args);
    command.args(["--contact", "test@example.org", "--proxy", &server.proxy()]).args(REPLAY_DEFAULTS);
    command
}

pub fn read(web: PlainWeb) -> Reading {
    let server = WebServer::start(Arc::new(web)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("crawl");
    let ended = run(command("crawl", &server, &[Path::new("-o"), &out]));
    let documents = export(&out, &dir.path().join("threads.jsonl"));
    Reading {
        code: ended.code(),
        output: format!("{}{}", ended.out, ended.err),
        threads: documents
            .into_iter()
            .filter(|document| document["posts"].as_array().is_some_and(|posts| !posts.is_empty()))
            .collect(),
    }
}

/// What `suidao forum discover` prints.
pub fn discover(web: PlainWeb) -> String {
    let server = WebServer::start(Arc::new(web)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let ended = run(command("discover", &server, &[Path::new("-o"), &dir.path().join("forum.toml")])).expect(0);
    ended.out
}
