//! Links of a page in a form for forums: each URL of the site once, with the texts and page numbers of its links.

use rustc_hash::FxHashMap;

use suidao_page::model::{CrawlUrl, ForumPageLink, PaginationLink};
use suidao_page::read::{DocumentLink, ParsedDocument};
use suidao_page::word_list::SectionWords;

use super::url_classes::{sessions, without};
use crate::forum::WORDS;

/// Characters of a link's text that are stored.
const TEXT: usize = 120;
/// Characters of a text that may be a page number or a word for the next page.
const MARK: usize = 12;

/// Words for the next page, as a link's whole text without adjacent symbols.
static NEXT: SectionWords = SectionWords::of(WORDS, "next page");
/// Words next to the number of a page.
static PAGE: SectionWords = SectionWords::of(WORDS, "page words");
/// Symbols for the next page, used if there are no words.
const ARROWS: [&str; 7] = ["›", "»", ">", "→", ">>", "▶", "≫"];

pub fn links(document: &ParsedDocument, own: &CrawlUrl) -> Vec<ForumPageLink> {
    let same_site = |link: &&DocumentLink| link.url.authority() == own.authority();
    let names = sessions(document.links.iter().filter(same_site).map(|link| &link.url));
    let mut positions: FxHashMap<CrawlUrl, usize> = FxHashMap::default();
    let mut links: Vec<ForumPageLink> = Vec::new();
    for link in document.links.iter().filter(same_site) {
        let url = without(&link.url, &names);
        let (visible, hidden) = texts(document, link.anchor.clone());
        let at = *positions.entry(url.clone()).or_insert_with(|| {
            links.push(ForumPageLink { url, text: String::new(), marks: Vec::new() });
            links.len() - 1
        });
        let known = &mut links[at];
        if visible.chars().count() > known.text.chars().count() {
            known.text = visible.chars().take(TEXT).collect();
        }
        let mark_found = mark(if visible.is_empty() { &hidden } else { &visible }, link.block);
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

fn mark(text: &str, block: usize) -> Option<PaginationLink> {
    if text.is_empty() || text.chars().count() > MARK {
        return None;
    }
    let signs = |c: char| "[]()（）【】<>‹›«»→←…. |".contains(c) || c.is_whitespace();
    let bare = text.trim_matches(signs);
    let from = bare.find(|c: char| c.is_ascii_digit()).unwrap_or(bare.len());
    let (before, rest) = bare.split_at(from);
    let to = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(to);
    // "第 2 页", "Page 2", "p. 2".
    let is_word = |text: &str| {
        let word = text.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        text.chars().all(|c| c.is_alphabetic() || signs(c)) && (word.is_empty() || PAGE.contains(&word.as_str()))
    };
    let before = before.trim_start_matches('第');
    let is_number = is_word(before)
        && is_word(after)
        && (1..=6).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| digits.parse().ok()).flatten();
    let word = bare.to_lowercase();
    let next = if NEXT.contains(&word.as_str()) { 2 } else { u8::from(ARROWS.contains(&text.trim())) };
    (number.is_some() || next > 0).then_some(PaginationLink { block, number, next })
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
    fn signs_of_paging_are_seen() {
        let marks = |text: &str| mark(text, 0).map(|mark| (mark.number, mark.next));
        assert_eq!(marks("[12]"), Some((Some(12), 0)));
        assert_eq!(marks("第 3 页"), Some((Some(3), 0)));
        assert_eq!(marks("下一页 »"), Some((None, 2)));
        assert_eq!(marks("Next ›"), Some((None, 2)));
        assert_eq!(marks("»"), Some((None, 1)));
        assert_eq!((marks("上一页"), marks("2009年的赛程"), marks("")), (None, None, None));
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
