//! Shared by the pages of the site: language, header with the search box, footer, fragments.

use minijinja::{Value, context};

use super::ask::SearchParams;
use super::{HttpReply, SearchSite};
use crate::html::{self, count, escape, fill, html, thousands};
use suidao_export::index::{Marked, Stored};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lang {
    English,
    Chinese,
}

impl Lang {
    pub(super) fn named(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Self::English),
            "zh" => Some(Self::Chinese),
            _ => None,
        }
    }

    /// The preferred of the two languages in an `Accept-Language` field, by weight (RFC 9110, 12.5.4); English if it
    /// has neither.
    pub(super) fn preferred(field: &str) -> Self {
        let mut best: (f32, Self) = (0.0, Self::English);
        for range in field.split(',').take(20) {
            let (code, weight) = range.split_once(';').unwrap_or((range, ""));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok()).unwrap_or(1.0);
            let lang = code.trim().get(..2).and_then(|code| Self::named(&code.to_ascii_lowercase()));
            if let Some(lang) = lang.filter(|_| weight > best.0) {
                best = (weight, lang);
            }
        }
        best.1
    }

    pub(super) fn code(self) -> &'static str {
        self.pick("en", "zh")
    }

    pub(super) fn html(self) -> &'static str {
        self.pick("en", "zh-CN")
    }

    pub(super) fn pick<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }

    fn other(self) -> Self {
        self.pick(Self::Chinese, Self::English)
    }
}

/// What all templates of the site can use: `pick` has two texts, one in each language.
pub(super) fn shared(lang: Lang) -> Value {
    let pick = move |english: Value, chinese: Value| lang.pick(english, chinese);
    context! { lang => lang.html(), pick => Value::from_function(pick) }
}

/// A whole page: header with the search box, the output of the template, footer.
pub(super) fn frame(site: &SearchSite, params: &SearchParams, title: &str, template: &str, context: Value) -> String {
    let shared = shared(params.lang);
    let main = fill(template, context! { ..context, ..shared.clone() });
    let path = if !params.id.is_empty() {
        "/page"
    } else if params.q.is_empty() && !params.is_narrowed() {
        "/"
    } else {
        "/search"
    };
    let (origin, other) = (site.index.origin(), params.lang.other());
    let filters: Vec<_> = params.pairs().into_iter().filter(|(name, _)| !matches!(*name, "q" | "p" | "id")).collect();
    let head = context! {
        home => SearchParams::nothing(params.lang).with_language_of(params).link("/"),
        topic => &origin.topic,
        q => &params.q,
        filters,
        translated => params.in_language(other).link(path),
        other => other.html(),
        main => html(main),
        pages => thousands(origin.pages),
        version => &origin.version,
        ..shared
    };
    let body = fill(include_str!("site.html"), head);
    html::page(title, params.lang.html(), &[include_str!("site.css")], &body)
}

pub(super) fn notice(site: &SearchSite, params: &SearchParams, status: u16, title: &str, message: &str) -> HttpReply {
    let main = "<h1>{{ title }}</h1>\n<p>{{ message }}</p>\n";
    HttpReply::html(status, frame(site, params, title, main, context! { title, message }))
}

pub(super) fn marked(text: &Marked) -> Value {
    let pieces = text.pieces().map(|(piece, marked)| {
        let piece = escape(piece);
        if marked { format!("<mark>{piece}</mark>") } else { piece }
    });
    html(pieces.collect())
}

/// A page's title, or a replacement.
pub(super) fn title(page: &Stored) -> &str {
    if page.title.is_empty() { &page.url } else { &page.title }
}

pub(super) fn lang(page: &Stored) -> Option<&str> {
    let known = |code: &&str| (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase());
    page.language.as_deref().filter(known)
}

/// How a page was found, in a line.
pub(super) fn link_path(lang: Lang, page: &Stored) -> String {
    let (number, depth, hops) = (thousands(page.page + 1), page.depth, page.hops);
    let links = count(depth as usize, "link", "links");
    let pages = count(hops as usize, "off-topic page", "off-topic pages");
    lang.pick(
        format!("Fetched as page {number}, {links} from the seed, {pages} since the last on-topic one"),
        format!("第 {number} 个抓取的网页，距种子 {depth} 个链接，之前连续 {hops} 个无关网页"),
    )
}
