//! Links of a page in a form for forums: each URL of the site once, with the texts and page numbers of its links.

use rustc_hash::FxHashMap;

use suidao_page::model::{CrawlUrl, ForumPageLink, PaginationLink};
use suidao_page::read::{DocumentLink, ParsedDocument};

use super::page_marks::mark;
use super::tree::Tree;
use super::url_classes::{sessions, without};

/// Characters of a link's text that are stored.
const TEXT: usize = 120;

pub fn links(document: &ParsedDocument, own: &CrawlUrl) -> Vec<ForumPageLink> {
    let same_site = |link: &&DocumentLink| link.url.authority() == own.authority();
    let names = sessions(document.links.iter().filter(same_site).map(|link| &link.url));
    let mut positions: FxHashMap<CrawlUrl, usize> = FxHashMap::default();
    let mut links: Vec<ForumPageLink> = Vec::new();
    for link in document.links.iter().filter(|link| same_site(link) || is_related(&link.url, own)) {
        let url = without(&link.url, &names);
        let (visible, hidden) = texts(document, link.anchor.clone());
        let mark_found = mark(document, if visible.is_empty() { &hidden } else { &visible }, link.block);
        // After a redirect to another host, pages of a list may be linked by their old URLs.
        if !same_site(&link) && mark_found.is_none() && !link.next {
            continue;
        }
        let at = *positions.entry(url.clone()).or_insert_with(|| {
            links.push(ForumPageLink { url, text: String::new(), marks: Vec::new() });
            links.len() - 1
        });
        let known = &mut links[at];
        if visible.chars().count() > known.text.chars().count() {
            known.text = visible.chars().take(TEXT).collect();
        }
        // rel=next is explicit, regardless of the link's text.
        let mark = if link.next {
            Some(PaginationLink { number: mark_found.and_then(|mark| mark.number), next: 2, block: link.block })
        } else {
            mark_found
        };
        known.marks.extend(mark);
    }
    links
}

/// Adds the pages that a menu of the page leads to, as `<option value=URL>`.
pub(super) fn add_options(links: &mut Vec<ForumPageLink>, document: &ParsedDocument, tree: &Tree, own: &CrawlUrl) {
    for (url, text) in tree.options().iter().filter(|(url, _)| url.authority() == own.authority()) {
        // Of no block: the menu is no text.
        let Some(mark) = mark(document, text, usize::MAX) else { continue };
        match links.iter_mut().find(|link| link.url == *url) {
            Some(known) => known.marks.push(mark),
            None => links.push(ForumPageLink { url: url.clone(), text: text.clone(), marks: vec![mark] }),
        }
    }
}

/// Whether two hosts belong to one site by their names: one is a part of the other, or both have it with `www.`.
fn is_related(one: &CrawlUrl, other: &CrawlUrl) -> bool {
    let (one, other) = (one.host().trim_start_matches("www."), other.host().trim_start_matches("www."));
    let within = |host: &str, domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    one == other || within(one, other) || within(other, one)
}

/// The URL of a page as links to it are written, without its session parameter.
pub fn own_url(document: &ParsedDocument, own: &CrawlUrl) -> CrawlUrl {
    let site = document.links.iter().map(|link| &link.url).filter(|url| url.authority() == own.authority());
    without(own, &sessions(site.chain(std::iter::repeat_n(own, 1))))
}

fn texts(document: &ParsedDocument, pieces: std::ops::Range<usize>) -> (String, String) {
    let (mut visible, mut hidden) = (String::new(), String::new());
    for piece in pieces {
        let text = if document.pieces[piece].hidden { &mut hidden } else { &mut visible };
        text.push_str(document.piece(piece));
    }
    (visible.trim().to_owned(), hidden.trim().to_owned())
}

/// Width of a text in columns: an ideograph is as wide as two letters.
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| if c as u32 >= 0x1100 { 2 } else { 1 }).sum()
}

#[cfg(test)]
pub(super) mod tests {
    use bytes::Bytes;

    use super::*;
    use suidao_page::model::Fetched;

    pub fn read(path: &str, body: &str) -> (CrawlUrl, Vec<ForumPageLink>) {
        let url = CrawlUrl::parse(&format!("http://bbs.cn{path}")).unwrap();
        let body = Bytes::from(format!("<html><body>{body}</body></html>"));
        let parsed = suidao_page::read::parse(&Fetched::html(url.clone(), body));
        let links = links(&parsed.document, &url);
        (url, links)
    }

    #[test]
    fn the_longest_text_of_a_url_counts_and_images_have_none() {
        let (_, links) = read(
            "/",
            "<p><a href=/t/1><img alt=图></a><a href=/t/1>世界杯的赛程</a> <a href=/t/1>3</a><a href=/t/2><img alt='一张很长的说明'></a>\
             <a href=http://other.cn/>别处</a></p>",
        );
        let brief: Vec<_> = links.iter().map(|link| (link.url.path(), link.text.as_str())).collect();
        assert_eq!(brief, [("/t/1", "世界杯的赛程"), ("/t/2", "")]);
        assert_eq!(links[0].marks.iter().map(|mark| mark.number).collect::<Vec<_>>(), [Some(3)]);
    }

    #[test]
    fn columns_are_widths() {
        assert_eq!((columns("足球 ok"), columns("")), (7, 0));
    }

    #[test]
    fn sessions_make_no_two_pages_of_one() {
        let sid = "0123456789abcdef0123456789abcdef";
        let html: String = (0..4).map(|n| format!("<a href='/show?s={sid}&t={n}'>第{n}个帖子的标题</a>")).collect();
        let (_, links) = read("/", &html);
        assert_eq!(links[3].url.as_str(), "http://bbs.cn/show?t=3");
    }
}
