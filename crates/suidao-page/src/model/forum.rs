//! What a forum shows of its threads and posts, as it was read.

use serde::{Deserialize, Serialize};

use super::{CrawlUrl, Link, Millis, UrlId};

/// A time as a page shows it: the true time lies in `[at, at + within)`. "3分钟前" is exact to a minute, "昨天" to a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ApproxTime {
    /// Earliest it can be, in seconds since 1970, UTC.
    pub at: i64,
    /// How exactly it is known, in seconds; at least 1.
    pub within: u32,
}

impl ApproxTime {
    /// Whether both can be the same instant. `slack`: seconds by which clocks, and the seconds between two looks, may
    /// differ.
    pub fn agrees(self, other: Self, slack: i64) -> bool {
        let ends = |moment: Self| moment.at + i64::from(moment.within);
        self.at < ends(other) + slack && other.at < ends(self) + slack
    }
}

/// What a time that a page shows is read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeContext {
    /// When the page was fetched: what "3分钟前" counts from.
    pub now: Millis,
    /// The forum's own time, in seconds east of UTC: what "昨天 12:01" and "2009-05-25 12:01" are in.
    pub offset: i32,
}

/// A line of a list of threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadRecord {
    /// The thread's first page.
    pub url: CrawlUrl,
    /// Title, white space folded.
    pub title: String,
    /// Who opened it.
    pub author: Option<String>,
    /// Posts after the first.
    pub replies: Option<u32>,
    /// How often it was looked at.
    pub views: Option<u32>,
    /// When it was opened.
    pub created: Option<ApproxTime>,
    /// When it was last replied to; of a thread without replies, when it was opened, as most forums show it.
    pub last_reply: Option<ApproxTime>,
    /// Kept at the top of the list whatever its age (置顶).
    pub sticky: bool,
}

impl ThreadRecord {
    /// How much it shows, of: who opened it, how often it was replied to or looked at, when. 0 to 3.
    pub fn facts(&self) -> usize {
        usize::from(self.author.is_some())
            + usize::from(self.replies.is_some() || self.views.is_some())
            + usize::from(self.last_reply.is_some() || self.created.is_some())
    }

    /// What tells whether it has changed.
    pub fn listed(&self) -> Listed {
        Listed { last_reply: self.last_reply, replies: self.replies, sticky: self.sticky }
    }
}

/// What a list shows of a thread, as far as it tells whether the thread has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// When it was last replied to.
    pub last_reply: Option<ApproxTime>,
    /// Posts after the first.
    pub replies: Option<u32>,
    /// Kept at the top whatever its age.
    pub sticky: bool,
}

/// A post of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostRecord {
    /// Who wrote it.
    pub author: Option<String>,
    /// When.
    pub posted: Option<ApproxTime>,
    /// Its number in the thread, from 1, if the page shows one.
    pub floor: Option<u32>,
    /// What it says: paragraphs separated by one line feed; quotations of others and signatures left out where they can be
    /// told.
    pub text: String,
    /// What the page calls it (an `id` or a fragment), if anything: the same post on two pages has the same.
    pub anchor: Option<String>,
}

impl PostRecord {
    /// Takes over what a later look at the same post shows; what that does not show stays.
    pub fn replace(&mut self, later: Self) {
        // "3分钟前" was more exact than what "昨天" is now.
        let exact = |moment: &ApproxTime| moment.within;
        self.posted = self.posted.into_iter().chain(later.posted).min_by_key(exact);
        self.author = later.author.or(self.author.take());
        self.floor = later.floor.or(self.floor);
        self.anchor = later.anchor.or(self.anchor.take());
        if !later.text.is_empty() {
            self.text = later.text;
        }
    }
}

/// A link to another page of the same site, as forums are read by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SightLink {
    /// Where it leads, sessions left out.
    pub url: CrawlUrl,
    /// The longest text that a link to it shows; empty if all are images.
    pub text: String,
    /// Signs of paging on its links.
    pub marks: Vec<PaginationLink>,
}

/// A link that may lead to another page of the same list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaginationLink {
    /// Index of the block of text that it stands in.
    pub block: usize,
    /// The number that is its whole text.
    pub number: Option<i64>,
    /// How surely it says "next": 2 by a word, 1 by an arrow.
    pub next: u8,
}

/// What is seen of a page of a forum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForumPageView {
    /// Its URL, sessions left out.
    pub own: CrawlUrl,
    /// Links to the same site, each URL once, in order of appearance.
    pub links: Vec<SightLink>,
    /// The threads that it lists.
    pub records: Vec<ThreadRecord>,
    /// Posts of a thread: when each was written, if it says so.
    pub posts: Vec<Option<ApproxTime>>,
    /// It asks for a login and shows nothing else.
    pub login: bool,
    /// Seconds east of UTC that its times were read by.
    pub offset: i32,
}

/// What a page of a forum is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForumRole {
    /// Where the forum is entered.
    Start,
    /// To learn what pages of its class are.
    Sample,
    /// The first page of a board.
    Board,
    /// A further page of a board.
    Index {
        /// The board, by its first page.
        board: UrlId,
        /// Its number, from 1.
        page: u16,
    },
    /// The first page of a thread.
    Thread,
    /// A further page of a thread.
    Continuation {
        /// The thread, by its first page.
        thread: UrlId,
        /// Its number, from 1.
        page: u16,
    },
}

/// What a page of a forum turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageKind {
    /// The entrance, a sample, a category: nothing of its own.
    Other,
    /// A list of threads.
    Index {
        /// The board, by its first page.
        board: UrlId,
        /// Its number, from 1.
        page: u16,
    },
    /// Posts of a thread.
    Thread {
        /// The thread, by its first page.
        thread: UrlId,
        /// Its number, from 1.
        page: u16,
    },
    /// It asks for a login where a list or a thread was expected.
    Login,
    /// A list that shows no thread where it did, or a thread without a post: the forum looks different now.
    Unread,
}

/// The threads of an index page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexPage {
    /// The board, by its first page.
    pub board: UrlId,
    /// Number of the page, from 1.
    pub page: u16,
    /// Its threads, in order, with what it shows of them.
    pub threads: Vec<(UrlId, Listed)>,
}

/// What was learnt from a page as one of a forum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForumPage {
    /// What it turned out to be.
    pub kind: PageKind,
    /// URLs wanted because of it, and what for.
    pub roles: Vec<(UrlId, ForumRole)>,
    /// Lists of threads: its own, and, when a forum has been understood, those seen before.
    pub lists: Vec<IndexPage>,
    /// When its posts were written.
    pub posts: Vec<ApproxTime>,
    /// The page as it was seen, while the forum is not understood.
    pub seen: Option<Box<ForumPageView>>,
    /// What the forum is understood to be, if that has changed.
    pub map: Option<Box<ForumMap>>,
}

/// A step of a forum's crawl that no page brought: the next samples, the forum understood, the next visit of a board.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ForumStep {
    /// URLs wanted, and what for.
    pub roles: Vec<(UrlId, ForumRole)>,
    /// Those of them that are queued.
    pub links: Vec<Link>,
    /// What the forum is understood to be.
    pub map: Option<Box<ForumMap>>,
    /// Why it is not.
    pub given_up: Option<String>,
    /// Lists on pages seen before it was understood.
    pub lists: Vec<IndexPage>,
    /// Threads among those pages, with when their posts were written.
    pub read: Vec<(UrlId, PageKind, Vec<ApproxTime>)>,
    /// Boards whose lists are read anew from here on.
    pub begun: Vec<UrlId>,
    /// Pages fetched before that are queued again.
    pub due: Vec<UrlId>,
}

/// What a forum is understood to be: what `suidao forum discover` writes, and a person may correct.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForumMap {
    /// Where it is entered.
    pub start: String,
    /// Most index pages of a board to be read.
    #[serde(default = "index_pages")]
    pub index_pages: u32,
    /// The forum's own time, in hours and minutes east of UTC: `+08:00`.
    #[serde(default = "east_of_utc")]
    pub offset: String,
    /// Classes of the URLs of boards; `{id}` is what tells one board from another.
    pub board_classes: Vec<String>,
    /// Classes of the URLs of threads; `{id}` is what tells one thread from another.
    pub thread_classes: Vec<String>,
    /// How boards go on.
    #[serde(default)]
    pub board_pages: Vec<PagingRule>,
    /// How threads go on.
    #[serde(default)]
    pub thread_pages: Vec<PagingRule>,
    /// Where paths have words that stand for anything (`{s}`): up to there, and the words that are names all the same.
    #[serde(default)]
    pub slugs: std::collections::BTreeMap<String, std::collections::BTreeSet<String>>,
    /// The boards.
    #[serde(default)]
    pub boards: Vec<BoardEntry>,
}

fn index_pages() -> u32 {
    32
}

fn east_of_utc() -> String {
    "+00:00".to_owned()
}

/// A board in a forum file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardEntry {
    /// Its first page.
    pub url: String,
    /// Its name, as links show it.
    #[serde(default)]
    pub name: String,
    /// It is not to be read, wherever it is linked.
    #[serde(default)]
    pub skip: bool,
}

/// How the pages of a list are numbered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagingRule {
    /// Class of the pages, with `{page}` for the value that counts: `/viewforum.php?f={n}&start={page}`.
    pub pages: String,
    /// Value of the first page.
    pub first: i64,
    /// Difference between two pages; at least 1.
    pub step: i64,
    /// Pages are not linked one from another, so they are made by this rule until one shows nothing new.
    #[serde(default)]
    pub unlinked: bool,
}
