//! What a generated forum looks like, as a person writes it down.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::ActivitySpec;
use super::skin::Skin;

/// What a forum answers when an index page or a page of a thread beyond the last is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    /// The last page, with status 200.
    Clamp,
    /// 404.
    Missing,
    /// A page that lists nothing, with status 200.
    Empty,
}

/// Which of a skin's traps are set; a skin has only those that are natural to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Traps {
    /// Every link carries a session id, another one in every answer.
    pub sessions: bool,
    /// Profiles and member lists ask for a login; so do boards, see [`ForumSpec::walled`].
    pub walls: bool,
    /// Lists link to the last post of a thread.
    pub last_posts: bool,
    /// Threads link to a version to print.
    pub printers: bool,
    /// Lists link to themselves in another order.
    pub sorts: bool,
    /// Searches that link to searches, without end.
    pub searches: bool,
    /// A calendar of endless days.
    pub calendars: bool,
    /// Every post has a URL of its own.
    pub permalinks: bool,
}

impl Default for Traps {
    fn default() -> Self {
        Self::all(true)
    }
}

impl Traps {
    /// All set, or none.
    pub fn all(set: bool) -> Self {
        Self {
            sessions: set,
            walls: set,
            last_posts: set,
            printers: set,
            sorts: set,
            searches: set,
            calendars: set,
            permalinks: set,
        }
    }
}

/// The name of a forum that is given none.
pub(super) const DEFAULT_TITLE: &str = "长桥社区";

/// The parameters of a [`super::Forum`]. Two equal specs give the same forum to the byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForumSpec {
    /// How it writes its pages and URLs.
    pub skin: Skin,
    /// Its name.
    pub title: String,
    /// Its host, with the port if that is not 80.
    pub host: String,
    /// Who posts when; its seed is the forum's, its `boards` the number of boards.
    pub activity: ActivitySpec,
    /// Threads on an index page, sticky ones not counted.
    pub threads_per_page: u32,
    /// Posts on a page of a thread.
    pub posts_per_page: u32,
    /// Groups that the home puts the boards in.
    pub categories: usize,
    /// Share of boards that stand inside another one, and are linked there only; 0 to 1.
    pub sub_boards: f64,
    /// Share of boards that are about sports; 0 to 1.
    pub topical: f64,
    /// Boards that only members read; the last ones. If all are, so is the home.
    pub walled: usize,
    /// Traps that are set.
    pub traps: Traps,
    /// What is answered beyond the last page; nothing: as is usual with the skin.
    pub beyond: Option<Beyond>,
}

impl Default for ForumSpec {
    fn default() -> Self {
        Self {
            skin: Skin::Discuz,
            title: DEFAULT_TITLE.to_owned(),
            host: "forum.test".to_owned(),
            activity: ActivitySpec::default(),
            threads_per_page: 20,
            posts_per_page: 10,
            categories: 3,
            sub_boards: 0.2,
            topical: 0.4,
            walled: 1,
            traps: Traps::default(),
            beyond: None,
        }
    }
}

/// Why a spec describes no forum.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ForumSpecError {
    /// A field outside its range.
    #[error("the forum's {field} is {value}; it must be {want}")]
    OutOfRange {
        /// Name of the field.
        field: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        want: &'static str,
    },
}

impl ForumSpec {
    /// Whether every field lies in its range.
    pub(super) fn check(&self) -> Result<(), ForumSpecError> {
        let wrong = |field, value: String, want| Err(ForumSpecError::OutOfRange { field, value, want });
        for (field, value) in [("sub_boards", self.sub_boards), ("topical", self.topical)] {
            if !(0.0..=1.0).contains(&value) {
                return wrong(field, value.to_string(), "between 0 and 1");
            }
        }
        let boards = self.activity.boards;
        for (field, value, least, most, want) in [
            ("activity.boards", boards, 1, 1_000, "1 to 1000"),
            ("activity.users", self.activity.users, 1, 1_000_000, "1 to 1000000"),
            ("categories", self.categories, 1, boards, "from 1 up to activity.boards"),
            ("walled", self.walled, 0, boards, "at most activity.boards"),
            ("threads_per_page", self.threads_per_page as usize, 1, 1_000, "1 to 1000"),
            ("posts_per_page", self.posts_per_page as usize, 1, 1_000, "1 to 1000"),
        ] {
            if !(least..=most).contains(&value) {
                return wrong(field, value.to_string(), want);
            }
        }
        if suidao_page::model::CrawlUrl::parse(&format!("http://{}/", self.host)).is_err() {
            return wrong("host", format!("{:?}", self.host), "a host name, with or without a port");
        }
        Ok(())
    }
}
