//! What the pages of the site share: language, head with the search box, foot, pieces of text and links.

use std::fmt::Write;

use super::ask::Asked;
use super::{Reply, Site};
use crate::html::{self, escape};
use suidao_export::index::{Marked, Stored};

/// Language of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tongue {
    /// English.
    English,
    /// Chinese.
    Chinese,
}

impl Tongue {
    /// By its name in a URL.
    pub(super) fn named(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Self::English),
            "zh" => Some(Self::Chinese),
            _ => None,
        }
    }

    /// The first of the two in an `Accept-Language` field, by weight (RFC 9110, 12.5.4); English if there is none.
    pub(super) fn preferred(field: &str) -> Self {
        let mut best: (f32, Self) = (0.0, Self::English);
        for range in field.split(',').take(20) {
            let (code, weight) = range.split_once(';').unwrap_or((range, ""));
            let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok()).unwrap_or(1.0);
            let tongue = code.trim().get(..2).and_then(|code| Self::named(&code.to_ascii_lowercase()));
            if let Some(tongue) = tongue.filter(|_| weight > best.0) {
                best = (weight, tongue);
            }
        }
        best.1
    }

    /// Its name in a URL.
    pub(super) fn code(self) -> &'static str {
        self.pick("en", "zh")
    }

    /// Its code in HTML.
    pub(super) fn html(self) -> &'static str {
        self.pick("en", "zh-CN")
    }

    /// The one of two that is in it.
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

/// A whole page: head with the search box, `main` as HTML, foot.
pub(super) fn frame(site: &Site, asked: &Asked, title: &str, main: &str) -> String {
    let tongue = asked.tongue;
    let topic = &site.index.origin().topic;
    let brand = tongue.pick(format!("{topic}: a search"), format!("{topic} 搜索"));
    let home = Asked::nothing(tongue).kept(asked);
    let other = tongue.other();
    let mut body = format!(
        "<header class=\"top\">\n<a class=\"brand\" href=\"{}\">{}</a>\n\
         <form role=\"search\" action=\"/search\" method=\"get\">\n\
         <label for=\"q\">{}</label>\n\
         <input id=\"q\" name=\"q\" type=\"search\" maxlength=\"500\" autocomplete=\"off\" value=\"{}\">\n",
        escape(&home.link("/")),
        escape(&brand),
        tongue.pick("Search the corpus", "在语料库中搜索"),
        escape(&asked.q),
    );
    // What was chosen beside the words stays chosen with other words.
    for (name, value) in asked.pairs() {
        if !matches!(name, "q" | "p" | "id") {
            let _ = writeln!(body, "<input type=\"hidden\" name=\"{name}\" value=\"{}\">", escape(&value));
        }
    }
    let path = if !asked.id.is_empty() {
        "/page"
    } else if asked.q.is_empty() && !asked.is_narrowed() {
        "/"
    } else {
        "/search"
    };
    let _ = write!(
        body,
        "<button type=\"submit\">{}</button>\n</form>\n\
         <a class=\"tongue\" href=\"{}\" hreflang=\"{}\" lang=\"{}\">{}</a>\n</header>\n<main id=\"main\" tabindex=\"-1\">\n{main}</main>\n",
        tongue.pick("Search", "搜索"),
        escape(&asked.in_tongue(other).link(path)),
        other.html(),
        other.html(),
        other.pick("English", "中文"),
    );
    let origin = site.index.origin();
    let _ = write!(
        body,
        "<footer>\n<p class=\"note\">{}</p>\n</footer>\n",
        tongue.pick(
            format!("{} pages of a crawl by suidao {}.", html::thousands(origin.pages), escape(&origin.version)),
            format!("由 suidao {} 抓取的 {} 个网页。", escape(&origin.version), html::thousands(origin.pages)),
        )
    );
    html::page(title, tongue.html(), &[include_str!("site.css")], &body)
}

/// A page that says why there is none.
pub(super) fn notice(site: &Site, asked: &Asked, status: u16, title: &str, told: &str) -> Reply {
    let main = format!("<h1>{}</h1>\n<p>{}</p>\n", escape(title), escape(told));
    Reply::html(status, frame(site, asked, title, &main))
}

/// Text with its marks.
pub(super) fn marked(text: &Marked) -> String {
    let pieces = text.pieces().map(|(piece, marked)| {
        let piece = escape(piece);
        if marked { format!("<mark>{piece}</mark>") } else { piece }
    });
    pieces.collect()
}

/// A link to a page of the web, if its URL is one that may be followed; what it shows is HTML.
pub(super) fn outward(url: &str, shown: &str) -> String {
    if url.starts_with("http://") || url.starts_with("https://") {
        format!("<a href=\"{}\" rel=\"noopener noreferrer nofollow\">{shown}</a>", escape(url))
    } else {
        shown.to_owned()
    }
}

/// A page's title, or what there is in its place.
pub(super) fn title(page: &Stored) -> &str {
    if page.title.is_empty() { &page.url } else { &page.title }
}

/// A URL as people read it: escapes of letters as letters, where nothing is hidden by that.
pub(super) fn address(url: &str) -> String {
    let read = percent_encoding::percent_decode_str(url).decode_utf8();
    let plain = |text: &str| {
        text.chars().all(|letter| {
            letter.is_alphanumeric() || letter.is_ascii_punctuation() || ('\u{3001}'..='\u{ffee}').contains(&letter)
        })
    };
    escape(read.as_deref().ok().filter(|text| plain(text)).unwrap_or(url))
}

/// The code of a page's language for HTML.
pub(super) fn lang(page: &Stored) -> String {
    match page.language.as_deref() {
        Some(code) if (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            format!(" lang=\"{code}\"")
        }
        _ => String::new(),
    }
}

/// How a page was found, in a line.
pub(super) fn trail(tongue: Tongue, page: &Stored) -> String {
    let k = page.k.map_or_else(|| "∞".to_owned(), |k| k.to_string());
    let (number, depth, hops) = (html::thousands(page.page + 1), page.depth, page.hops);
    tongue.pick(
        format!(
            "Fetched as page {number}, {depth} links from the seed, {hops} off-topic pages in a row before it, k {k}"
        ),
        format!("第 {number} 个抓取的网页，距种子 {depth} 个链接，之前连续 {hops} 个无关网页，k = {k}"),
    )
}
