//! What a forum shows of its threads and posts, as it was read. Apart from the reading because the log keeps it.

use serde::{Deserialize, Serialize};

use super::{CrawlUrl, Millis};

/// A time as a page shows it: the true time lies in `[at, at + within)`. "3分钟前" is exact to a minute, "昨天" to a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment {
    /// Earliest it can be, in seconds since 1970, UTC.
    pub at: i64,
    /// How exactly it is known, in seconds; at least 1.
    pub within: u32,
}

impl Moment {
    /// Whether both can be the same instant. `slack`: seconds by which clocks, and the seconds between two looks, may
    /// differ.
    #[must_use]
    pub fn agrees(self, other: Self, slack: i64) -> bool {
        let ends = |moment: Self| moment.at + i64::from(moment.within);
        self.at < ends(other) + slack && other.at < ends(self) + slack
    }
}

/// What a time that a page shows is read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
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
    pub created: Option<Moment>,
    /// When it was last replied to; of a thread without replies, when it was opened, as most forums show it.
    pub last_reply: Option<Moment>,
    /// Kept at the top of the list whatever its age (置顶).
    pub sticky: bool,
}

impl ThreadRecord {
    /// What tells whether it has changed.
    #[must_use]
    pub fn listed(&self) -> Listed {
        Listed { last_reply: self.last_reply, replies: self.replies, sticky: self.sticky }
    }
}

/// What a list shows of a thread, as far as it tells whether the thread has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// When it was last replied to.
    pub last_reply: Option<Moment>,
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
    pub posted: Option<Moment>,
    /// Its number in the thread, from 1, if the page shows one.
    pub floor: Option<u32>,
    /// What it says: paragraphs separated by one line feed; quotations of others and signatures left out where they can be
    /// told.
    pub text: String,
    /// What the page calls it (an `id` or a fragment), if anything: the same post on two pages has the same.
    pub anchor: Option<String>,
}
