//! The skins: which there are, and who writes their pages.

use serde::{Deserialize, Serialize};
use strum::VariantArray as _;

use super::route::Pattern;
use super::spec::Beyond;
use super::view::{Row, View};
use super::{bbs, cards, discuz, english, path, phpbb, query, slug, tieba, vbulletin};

/// How a forum writes its pages and URLs: as software in use does, structure and wording.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumMessage,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Skin {
    /// As Discuz: everything through forum.php and its parameters
    Discuz,
    /// As Discuz with its URLs rewritten (thread-123-1-1.html), in GBK
    DiscuzStatic,
    /// As phpBB: viewforum.php and viewtopic.php with offsets and session ids
    Phpbb,
    /// As vBulletin: forumdisplay.php and showthread.php with page numbers, session ids and a calendar
    Vbulletin,
    /// Paths of numbers: /board/7/p/2, /t/5567
    Path,
    /// As XenForo: slugs and numbers, /forum/zuqiu-bi.3/page-2
    Slug,
    /// Cards without tables: /t/slug/123/3, the next page only, JSON-LD in threads
    Cards,
    /// One script for all: index.asp?action=list&boardid=3, in GBK
    Query,
    /// As Tieba: the board's name in the query, /f?kw=...&pn=50
    Tieba,
    /// A campus BBS: no times in its lists, in GBK
    Bbs,
    /// A small forum in English
    English,
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
    /// What robots.txt forbids, if anything.
    pub forbids: &'static str,
}

impl Style {
    /// What most skins have; the URLs are each one's own.
    pub const PLAIN: Self = Self {
        urls: &[],
        prefix: "/",
        session: None,
        gbk: false,
        english: false,
        wall: 200,
        beyond: Beyond::Clamp,
        redirects: true,
        forbids: "",
    };
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
    pub fn all() -> &'static [Self] {
        Self::VARIANTS
    }

    pub(super) fn style(self) -> &'static Style {
        match self {
            Self::Discuz => &discuz::DYNAMIC,
            Self::DiscuzStatic => &discuz::STATIC,
            Self::Phpbb => &phpbb::STYLE,
            Self::Vbulletin => &vbulletin::STYLE,
            Self::Path => &path::STYLE,
            Self::Slug => &slug::STYLE,
            Self::Cards => &cards::STYLE,
            Self::Query => &query::STYLE,
            Self::Tieba => &tieba::STYLE,
            Self::Bbs => &bbs::STYLE,
            Self::English => &english::STYLE,
        }
    }

    pub(super) fn home(self, view: &View) -> String {
        match self {
            Self::Discuz | Self::DiscuzStatic => discuz::home(view),
            Self::Phpbb => phpbb::home(view),
            Self::Vbulletin => vbulletin::home(view),
            Self::Path => path::home(view),
            Self::Slug => slug::home(view),
            Self::Cards => cards::home(view),
            Self::Query => query::home(view),
            Self::Tieba => tieba::home(view),
            Self::Bbs => bbs::home(view),
            Self::English => english::home(view),
        }
    }

    pub(super) fn index(self, view: &View, list: &IndexPage) -> String {
        match self {
            Self::Discuz | Self::DiscuzStatic => discuz::index(view, list),
            Self::Phpbb => phpbb::index(view, list),
            Self::Vbulletin => vbulletin::index(view, list),
            Self::Path => path::index(view, list),
            Self::Slug => slug::index(view, list),
            Self::Cards => cards::index(view, list),
            Self::Query => query::index(view, list),
            Self::Tieba => tieba::index(view, list),
            Self::Bbs => bbs::index(view, list),
            Self::English => english::index(view, list),
        }
    }

    /// A page of a thread that is open; `page` may lie beyond the last, which shows no posts.
    pub(super) fn thread(self, view: &View, row: &Row, page: u32) -> String {
        match self {
            Self::Discuz | Self::DiscuzStatic => discuz::thread(view, row, page),
            Self::Phpbb => phpbb::thread(view, row, page),
            Self::Vbulletin => vbulletin::thread(view, row, page),
            Self::Path => path::thread(view, row, page),
            Self::Slug => slug::thread(view, row, page),
            Self::Cards => cards::thread(view, row, page),
            Self::Query => query::thread(view, row, page),
            Self::Tieba => tieba::thread(view, row, page),
            Self::Bbs => bbs::thread(view, row, page),
            Self::English => english::thread(view, row, page),
        }
    }

    /// Any other page.
    pub(super) fn frame(self, view: &View, title: &str, body: &str) -> String {
        match self {
            Self::Discuz | Self::DiscuzStatic => discuz::frame(view, title, "", body),
            Self::Phpbb => phpbb::frame(view, title, "", body),
            Self::Vbulletin => vbulletin::frame(view, title, "", body),
            Self::Path => path::frame(view, title, "", body),
            Self::Slug => slug::frame(view, title, "", body),
            Self::Cards => cards::frame(view, title, "", body),
            Self::Query => query::frame(view, title, "", body),
            Self::Tieba => tieba::frame(view, title, "", body),
            Self::Bbs => bbs::frame(view, title, "", body),
            Self::English => english::frame(view, title, "", body),
        }
    }
}
