//! Shared by the pages of the site: header with the search box, footer, fragments.

use minijinja::{Value, context};

use super::ask::SearchParams;
use super::{HttpReply, SearchSite};
use suidao_export::index::{Marked, Stored};
use suidao_html::{self as html, escape, fill, html};
use suidao_page::messages::Lang;

/// A whole page: header with the search box, the output of the template, footer.
pub(super) fn frame(site: &SearchSite, params: &SearchParams, title: &str, template: &str, context: Value) -> String {
    let lang = params.lang;
    let main = fill(lang, template, context! { lang => lang.html(), ..context });
    let path = if !params.id.is_empty() {
        "/page"
    } else if params.q.is_empty() && !params.is_narrowed() {
        "/"
    } else {
        "/search"
    };
    let (origin, other) = (site.index.origin(), lang.other());
    let filters: Vec<_> = params.pairs().into_iter().filter(|(name, _)| !matches!(*name, "q" | "p" | "id")).collect();
    let head = context! {
        home => SearchParams::nothing(params.lang).with_language_of(params).link("/"),
        topic => &origin.topic,
        q => &params.q,
        filters,
        translated => params.in_language(other).link(path),
        other => other.html(),
        main => html(main),
        search => format!("{}/search", site.base),
        crawl => &site.crawl,
        pages => origin.pages,
        version => &origin.version,
        lang => lang.html(),
    };
    let body = fill(lang, include_str!("site.html"), head);
    html::page(title, lang, &[include_str!("site.css")], &body)
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
    lang.text("how-fetched", &[&(page.page + 1), &page.depth, &page.hops])
}
