//! What a generated forum looks like.

use serde::Deserialize;

use super::ActivitySpec;
use super::skin::Skin;

/// What a forum answers when an index page or a page of a thread beyond the last is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PastLastPage {
    /// The last page, with status 200.
    Clamp,
    /// 404.
    Missing,
    /// A page that lists nothing, with status 200.
    Empty,
}

/// The parameters of a [`super::Forum`]. Two equal specs give the same forum to the byte. At least one board, one user, one
/// category (and no more than boards), and one thread and one post on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct ForumSpec {
    pub skin: Skin,
    /// Its host, with the port if that is not 80.
    pub host: String,
    /// Who posts when; its seed is the forum's, its `boards` the number of boards.
    pub activity: ActivitySpec,
    /// Threads on an index page, sticky ones not counted.
    pub threads_per_page: u32,
    pub posts_per_page: u32,
    pub categories: usize,
    /// Share of boards that stand inside another one, and are linked there only; 0 to 1.
    pub sub_boards: f64,
    /// Boards that only members read; the last ones. If all are, so is the home.
    pub members_only: usize,
    /// The traps that are natural to the skin are set: session ids in links, pages that ask for a login, links to last posts,
    /// to a version to print, to other orders, to every post, searches without end, a calendar of endless days.
    pub traps: bool,
}

impl Default for ForumSpec {
    fn default() -> Self {
        Self {
            skin: Skin::Discuz,
            host: "forum.test".to_owned(),
            activity: ActivitySpec::default(),
            threads_per_page: 20,
            posts_per_page: 10,
            categories: 3,
            sub_boards: 0.2,
            members_only: 1,
            traps: true,
        }
    }
}
