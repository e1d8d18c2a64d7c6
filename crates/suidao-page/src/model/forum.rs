//! Threads, posts and pages of a forum, as read from its pages.

use serde::{Deserialize, Serialize};

use super::{CrawlUrl, Link, Millis, UrlId};

/// A time as a page shows it: the true time is in `[at, at + within)`. "3分钟前" is exact to a minute, "昨天" to a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ApproxTime {
    /// Earliest possible time, in seconds since 1970, UTC.
    pub at: i64,
    /// Precision in seconds, at least 1.
    pub within: u32,
}

impl ApproxTime {
    /// Whether both can be the same instant. `slack` (seconds) allows for different clocks and times of reading.
    pub fn agrees(self, other: Self, slack: i64) -> bool {
        let ends = |moment: Self| moment.at + i64::from(moment.within);
        self.at < ends(other) + slack && other.at < ends(self) + slack
    }
}

/// What is needed to resolve relative and local times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeContext {
    /// When the page was fetched: the base of "3分钟前".
    pub now: Millis,
    /// The forum's time zone in seconds east of UTC, for "昨天 12:01" and "2009-05-25 12:01".
    pub offset: i32,
    /// Whether `05/06/2009` is May 6th there.
    pub month_first: bool,
}

impl TimeContext {
    /// Of a forum that writes the month first.
    pub fn new(now: Millis, offset: i32) -> Self {
        Self { now, offset, month_first: true }
    }
}

/// An entry of a thread list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRecord {
    /// The thread's first page.
    pub url: CrawlUrl,
    pub title: String,
    /// Author of the first post.
    pub author: Option<String>,
    /// Posts after the first.
    pub replies: Option<u32>,
    pub views: Option<u32>,
    /// Time of the first post.
    pub created: Option<ApproxTime>,
    /// Time of the last reply; most forums show the time of the first post if there are none.
    pub last_reply: Option<ApproxTime>,
    /// Pinned to the top of the list (置顶).
    pub sticky: bool,
}

impl ThreadRecord {
    /// Number of facts it shows, out of author, counts (replies or views) and time: 0 to 3.
    pub fn facts(&self) -> usize {
        usize::from(self.author.is_some())
            + usize::from(self.replies.is_some() || self.views.is_some())
            + usize::from(self.last_reply.is_some() || self.created.is_some())
    }

    /// The part that shows whether the thread has changed.
    pub fn listed(&self) -> ListedActivity {
        ListedActivity { last_reply: self.last_reply, replies: self.replies, sticky: self.sticky }
    }
}

/// The part of a list entry that shows whether a thread has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedActivity {
    pub last_reply: Option<ApproxTime>,
    pub replies: Option<u32>,
    pub sticky: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostRecord {
    pub author: Option<String>,
    pub posted: Option<ApproxTime>,
    /// Its number in the thread, from 1, if shown.
    #[serde(rename = "floor")]
    pub number: Option<u32>,
    /// Paragraphs separated by one line feed, without quotations where these are recognized.
    pub text: String,
    /// Lines of the text above which the page shows a rule: a signature may follow.
    #[serde(skip)]
    pub rules: Vec<u32>,
    /// Its `id` or the fragment of its URL, if any; the same on every page that shows the post.
    pub fragment: Option<String>,
}

impl PostRecord {
    /// Updates the post from a later reading; keeps fields that the later one lacks.
    pub fn replace(&mut self, later: Self) {
        // "3分钟前" was more precise than "昨天" is now.
        let exact = |moment: &ApproxTime| moment.within;
        self.posted = self.posted.into_iter().chain(later.posted).min_by_key(exact);
        self.author = later.author.or(self.author.take());
        self.number = later.number.or(self.number);
        self.fragment = later.fragment.or(self.fragment.take());
        if !later.text.is_empty() {
            (self.text, self.rules) = (later.text, later.rules);
        }
    }
}

/// A link to another page of the same forum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForumPageLink {
    /// Without session parameters.
    pub url: CrawlUrl,
    /// The longest text among the links to it; empty if all are images.
    pub text: String,
    /// Signs of pagination among those links.
    pub marks: Vec<PaginationLink>,
}

/// A link that may lead to another page of the same list; to the last one if it has neither a number nor means "next".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaginationLink {
    /// Index of the text block that contains it.
    pub block: usize,
    /// The number, if the text is nothing else; of a link to the last page, the number of pages that the text around it
    /// states.
    pub number: Option<i64>,
    /// Confidence that it means "next": 2 for a word, 1 for an arrow.
    pub next: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForumPageView {
    /// Its URL without session parameters.
    pub own: CrawlUrl,
    /// Links to the same site, each URL once, in order of appearance.
    pub links: Vec<ForumPageLink>,
    pub records: Vec<ThreadRecord>,
    /// Time of each post, if shown.
    pub posts: Vec<Option<ApproxTime>>,
    /// It only asks for a login.
    pub login: bool,
    /// The time zone its times were read in, in seconds east of UTC.
    pub offset: i32,
}

/// Why a page of a forum is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForumRole {
    /// The forum's entry page.
    Start,
    /// A sample, to classify pages of its URL class.
    Sample,
    /// The first page of a board.
    Board,
    /// A further page of a board.
    Index {
        /// First page of the board; `page` counts from 1.
        board: UrlId,
        page: u16,
    },
    /// The first page of a thread.
    Thread,
    /// A further page of a thread.
    Continuation {
        /// First page of the thread; `page` counts from 1.
        thread: UrlId,
        page: u16,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageKind {
    /// Entry page, sample or category.
    Other,
    Index {
        /// First page of the board; `page` counts from 1.
        board: UrlId,
        page: u16,
    },
    Thread {
        /// First page of the thread; `page` counts from 1.
        thread: UrlId,
        page: u16,
    },
    /// It asks for a login where a list or a thread was expected.
    Login,
    /// A list or thread without entries where there were some: the forum's layout has changed.
    Unread,
    /// Linked as a thread, but no post is recognised on it.
    Postless {
        /// First page of the thread; `page` counts from 1.
        thread: UrlId,
        page: u16,
    },
}

impl PageKind {
    /// First page and number of a page of a thread, with posts or without.
    pub fn thread(self) -> Option<(UrlId, u16)> {
        match self {
            Self::Thread { thread, page } | Self::Postless { thread, page } => Some((thread, page)),
            Self::Other | Self::Index { .. } | Self::Login | Self::Unread => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPage {
    /// First page of the board.
    pub board: UrlId,
    pub page: u16,
    pub threads: Vec<(UrlId, ListedActivity)>,
}

/// What a page showed about its forum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForumPage {
    pub kind: PageKind,
    /// URLs to fetch because of it, and why.
    pub roles: Vec<(UrlId, ForumRole)>,
    /// Thread lists: its own, and those of earlier pages once the forum is analyzed.
    pub lists: Vec<IndexPage>,
    /// Times of its posts.
    pub posts: Vec<ApproxTime>,
    /// The page itself, until the forum is analyzed.
    pub view: Option<Box<ForumPageView>>,
    /// The new map of the forum, if it changed.
    pub map: Option<Box<ForumMap>>,
}

/// A step of a forum crawl that no page caused: further samples, a finished analysis, the next visit of a board.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ForumStep {
    /// URLs to fetch, and why.
    pub roles: Vec<(UrlId, ForumRole)>,
    pub links: Vec<Link>,
    /// The result of the analysis.
    pub map: Option<Box<ForumMap>>,
    /// Why the analysis failed.
    pub analysis_failure: Option<String>,
    /// Lists on pages fetched before the analysis.
    pub lists: Vec<IndexPage>,
    /// Threads among those pages, with the times of their posts.
    pub read: Vec<(UrlId, PageKind, Vec<ApproxTime>)>,
    /// Boards whose lists are read from the start.
    pub restarted: Vec<UrlId>,
    /// Fetched pages that are queued again.
    pub due: Vec<UrlId>,
}

/// The map of a forum: `suidao forum discover` writes it, and a user may correct it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForumMap {
    /// The forum's entry page.
    pub start: String,
    /// Maximum index pages to read per board.
    #[serde(default = "index_pages")]
    pub index_pages: u32,
    /// The forum's time zone, in hours and minutes east of UTC: `+08:00`.
    #[serde(default = "east_of_utc")]
    pub offset: String,
    /// Importance of the forum, relative to others of the same crawl: W_s of Du, Ma 2010, eq. (5). Above 0.
    #[serde(default = "equal")]
    pub weight: f64,
    /// Weight of a reply relative to a new thread: θ of eq. (5), above 0, at most 1.
    #[serde(default = "theta")]
    pub theta: f64,
    /// Local hour of the first visit of the day with the method `optimum`: c1 of eq. (9).
    #[serde(default)]
    pub c1: Option<f64>,
    /// URL classes of boards; `{id}` distinguishes boards.
    pub board_classes: Vec<String>,
    /// URL classes of threads; `{id}` distinguishes threads.
    pub thread_classes: Vec<String>,
    /// Pagination of boards.
    #[serde(default)]
    pub board_pages: Vec<PagingRule>,
    /// Pagination of threads.
    #[serde(default)]
    pub thread_pages: Vec<PagingRule>,
    /// Prefixes of classes after which a word is a slug (`{s}`), each with the words that are literal there.
    #[serde(default)]
    pub slugs: std::collections::BTreeMap<String, std::collections::BTreeSet<String>>,
    #[serde(default)]
    pub boards: Vec<BoardEntry>,
}

impl Default for ForumMap {
    fn default() -> Self {
        Self {
            start: String::new(),
            index_pages: index_pages(),
            offset: east_of_utc(),
            weight: equal(),
            theta: theta(),
            c1: None,
            board_classes: Vec::new(),
            thread_classes: Vec::new(),
            board_pages: Vec::new(),
            thread_pages: Vec::new(),
            slugs: std::collections::BTreeMap::new(),
            boards: Vec::new(),
        }
    }
}

fn equal() -> f64 {
    1.0
}

/// As in the paper.
fn theta() -> f64 {
    0.5
}

fn index_pages() -> u32 {
    32
}

fn east_of_utc() -> String {
    "+00:00".to_owned()
}

/// A board in a forum file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardEntry {
    pub url: String,
    /// Its name in links.
    #[serde(default)]
    pub name: String,
    /// Do not read this board, wherever it is linked.
    #[serde(default)]
    pub skip: bool,
    /// Its importance relative to other boards: W_p of Du, Ma 2010, eq. (5). Above 0.
    #[serde(default = "equal")]
    pub weight: f64,
}

impl BoardEntry {
    pub fn new(url: String, name: String) -> Self {
        Self { url, name, skip: false, weight: equal() }
    }
}

/// How the pages of a list are numbered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagingRule {
    /// URL class of the pages, with `{page}` for the counter: `/viewforum.php?f={n}&start={page}`.
    pub pages: String,
    /// Value on the first page.
    pub first: i64,
    /// Difference between two pages, at least 1.
    pub step: i64,
    /// Pages do not link to each other, so their URLs are generated until one lists nothing new.
    #[serde(default)]
    pub unlinked: bool,
}
