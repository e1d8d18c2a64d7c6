//! The skins: which there are, and who writes their pages. Apart so that everything else knows one type only.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::route::Pattern;
use super::spec::Beyond;
use super::view::{Row, View};
use super::{discuz, phpbb};

/// How a forum writes its pages and URLs: as software in use does, structure and wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Skin {
    /// As Discuz: everything through forum.php and its parameters
    Discuz,
    /// As Discuz with its URLs rewritten (thread-123-1-1.html), in GBK
    DiscuzStatic,
    /// As phpBB: viewforum.php and viewtopic.php with offsets and session ids
    Phpbb,
}

/// What a skin is beside its pages.
pub(super) struct Style {
    pub urls: &'static [Pattern],
    /// What stands before a path in a link: nothing, `./` or `/`.
    pub prefix: &'static str,
    /// Parameter of the session id.
    pub session: Option<&'static str>,
    pub gbk: bool,
    pub english: bool,
    /// Status of a page that asks for a login.
    pub wall: u16,
    pub beyond: Beyond,
    /// Posts and last posts are found by a redirect; else they answer with the thread's page.
    pub redirects: bool,
}

/// An index page as it is asked for.
pub(super) struct IndexPage<'a> {
    pub board: usize,
    pub page: u32,
    pub pages: u32,
    pub sorted: bool,
    pub rows: Vec<Row<'a>>,
}

impl Skin {
    /// All there are.
    #[must_use]
    pub fn all() -> &'static [Self] {
        Self::value_variants()
    }

    pub(super) fn style(self) -> &'static Style {
        match self {
            Self::Discuz => &discuz::DYNAMIC,
            Self::DiscuzStatic => &discuz::STATIC,
            Self::Phpbb => &phpbb::STYLE,
        }
    }

    pub(super) fn home(self, view: &View) -> String {
        match self {
            Self::Discuz | Self::DiscuzStatic => discuz::home(view),
            Self::Phpbb => phpbb::home(view),
        }
    }

    pub(super) fn index(self, view: &View, list: &IndexPage) -> String {
        match self {
            Self::Discuz | Self::DiscuzStatic => discuz::index(view, list),
            Self::Phpbb => phpbb::index(view, list),
        }
    }

    /// A page of a thread that is open; `page` may lie beyond the last, which shows no posts.
    pub(super) fn thread(self, view: &View, row: &Row, page: u32) -> String {
        match self {
            Self::Discuz | Self::DiscuzStatic => discuz::thread(view, row, page),
            Self::Phpbb => phpbb::thread(view, row, page),
        }
    }

    /// Any other page.
    pub(super) fn frame(self, view: &View, title: &str, body: &str) -> String {
        match self {
            Self::Discuz | Self::DiscuzStatic => discuz::frame(view, title, "", body),
            Self::Phpbb => phpbb::frame(view, title, "", body),
        }
    }
}
