//! Skins of forum software: their settings (`skins/*.toml`) and page templates (`skins/*.html`).

use std::sync::LazyLock;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Deserialize;
use strum::{Display, EnumMessage, IntoStaticStr, VariantArray};

use super::route::ForumPageKind;

/// How a forum writes its pages and URLs: as software in use does, structure and wording.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumMessage, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Skin {
    /// Discuz: forum.php with parameters
    Discuz,
    /// Discuz with rewritten URLs (thread-123-1-1.html), in GBK
    DiscuzStatic,
    /// phpBB: viewforum.php and viewtopic.php with offsets and session ids
    Phpbb,
    /// vBulletin: forumdisplay.php and showthread.php with page numbers, session ids and a calendar
    Vbulletin,
    /// Numeric paths: /board/7/p/2, /t/5567
    Path,
    /// XenForo: slugs and numbers, /forum/zuqiu-bi.3/page-2
    Slug,
    /// Cards without tables: /t/slug/123/3, next-page links only, JSON-LD in threads
    Cards,
    /// A single script: index.asp?action=list&boardid=3, in GBK
    Query,
    /// Tieba: board name in the query, /f?kw=...&pn=50
    Tieba,
    /// A campus BBS: no times in lists, in GBK
    Bbs,
    /// A small forum in English
    English,
}

/// The answer to a request for a page after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PastLastPage {
    /// The last page, with status 200.
    Clamp,
    Missing,
    /// A page without entries, with status 200.
    Empty,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SkinStyle {
    /// The URL patterns of each kind of page. The first of a kind generates links; all are parsed.
    pub urls: Vec<(ForumPageKind, String)>,
    /// Prefix of paths in links: nothing, `./` or `/`.
    pub prefix: String,
    pub session: Option<String>,
    pub gbk: bool,
    pub english: bool,
    pub wall: u16,
    pub beyond: PastLastPage,
    /// URLs of posts and last posts redirect instead of showing the thread's page.
    pub redirects: bool,
    /// What robots.txt disallows, if anything.
    pub forbids: String,
}

impl Default for SkinStyle {
    /// Common values; the URLs are each skin's own.
    fn default() -> Self {
        Self {
            urls: Vec::new(),
            prefix: "/".to_owned(),
            session: None,
            gbk: false,
            english: false,
            wall: 200,
            beyond: PastLastPage::Clamp,
            redirects: true,
            forbids: String::new(),
        }
    }
}

static STYLES: LazyLock<Vec<SkinStyle>> = LazyLock::new(|| {
    let read = |skin: &Skin| toml::from_str(skin.files().1).expect("the styles are part of the program");
    Skin::all().iter().map(read).collect()
});

/// The templates of all skins by name, of pages common to all skins, and of the other webs.
static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    templates.set_syntax(syntax.expect("the delimiters are the usual ones"));
    templates.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    templates.set_auto_escape_callback(|_| AutoEscape::None);
    let shared = [
        ("other", include_str!("skins/other.html")),
        ("printer", include_str!("skins/printer.html")),
        ("feed", include_str!("skins/feed.xml")),
        ("page", include_str!("../pages/page.html")),
        ("sitemap", include_str!("../pages/sitemap.xml")),
        ("sitemaps", include_str!("../pages/sitemaps.xml")),
        ("rss", include_str!("../pages/rss.xml")),
        ("atom", include_str!("../pages/atom.xml")),
    ];
    let skins = Skin::all().iter().map(|skin| (skin.files().0, skin.files().2));
    for (name, template) in skins.chain(shared) {
        templates.add_template(name, template).expect("the templates are part of the program");
    }
    templates
});

/// Renders a template without escaping.
pub(in crate::world) fn fill(template: &str, context: Value) -> String {
    let written = TEMPLATES.get_template(template).and_then(|template| template.render(context));
    written.expect("every template is tested")
}

impl Skin {
    pub fn all() -> &'static [Self] {
        Self::VARIANTS
    }

    /// Its name, style and template.
    pub(super) fn files(self) -> (&'static str, &'static str, &'static str) {
        macro_rules! files {
            ($name:literal, $pages:literal) => {
                (
                    $name,
                    include_str!(concat!("skins/", $name, ".toml")),
                    include_str!(concat!("skins/", $pages, ".html")),
                )
            };
        }
        match self {
            Self::Discuz => files!("discuz", "discuz"),
            Self::DiscuzStatic => files!("discuz-static", "discuz"),
            Self::Phpbb => files!("phpbb", "phpbb"),
            Self::Vbulletin => files!("vbulletin", "vbulletin"),
            Self::Path => files!("path", "path"),
            Self::Slug => files!("slug", "slug"),
            Self::Cards => files!("cards", "cards"),
            Self::Query => files!("query", "query"),
            Self::Tieba => files!("tieba", "tieba"),
            Self::Bbs => files!("bbs", "bbs"),
            Self::English => files!("english", "english"),
        }
    }

    pub(super) fn style(self) -> &'static SkinStyle {
        &STYLES[self as usize]
    }
}
