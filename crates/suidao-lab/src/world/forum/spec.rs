//! Parameters of a generated forum.

use super::ActivitySpec;
use super::skin::Skin;

/// The parameters of a [`super::Forum`]. Equal specs give the same forum, byte for byte. Requires at least one board,
/// one user, one category (at most as many as boards), and one thread and post per page.
#[derive(Clone, Debug, PartialEq)]
pub struct ForumSpec {
    pub skin: Skin,
    /// Its host, with the port if that is not 80.
    pub host: String,
    /// Its seed is the forum's, its `boards` the number of boards.
    pub activity: ActivitySpec,
    /// Threads on an index page, without sticky ones.
    pub threads_per_page: u32,
    pub posts_per_page: u32,
    pub categories: usize,
    /// Share of boards inside another one and linked only there; 0 to 1.
    pub sub_boards: f64,
    /// Number of members-only boards, the last ones. If all are, so is the home page.
    pub members_only: usize,
    /// Includes the traps typical of the skin: session ids in links, login pages, links to last posts, print versions,
    /// other sort orders and single posts, endless searches, a calendar of endless days.
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
