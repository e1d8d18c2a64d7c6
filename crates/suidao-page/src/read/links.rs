//! Collects the links of a page: anchors, areas, frames and those in the head.

use html5ever::local_name;
use html5ever::tokenizer::Tag;

use super::canonical;
use super::document::{DocumentLink, TextPiece};
use super::markup::{MarkupBuilder, TEXT, attribute, fold_into};
use crate::model::{CrawlUrl, Region};

/// Maximum feeds per page: the site's, its comments' and two more.
const MAX_FEEDS: usize = 4;

/// Maximum links per page.
pub(super) const LINKS: usize = 5_000;

/// A link before its end tag.
pub(super) struct OpenLink {
    /// `None` if it cannot be fetched; its text is still link text.
    pub(super) url: Option<CrawlUrl>,
    pub(super) nofollow: bool,
    pub(super) next: bool,
    pub(super) first: usize,
    pub(super) block: Option<usize>,
    /// Its `title` or `aria-label`, then the `alt` of its images.
    pub(super) title: String,
    pub(super) alt: String,
    /// Length of the stack outside it.
    pub(super) depth: usize,
    /// Hash of names and classes from the root to it.
    pub(super) path: u32,
}

impl MarkupBuilder {
    pub(super) fn start_link(&mut self, tag: &Tag, path: u32) {
        let Some(href) = attribute(tag, &local_name!("href")) else { return };
        self.in_run = false;
        let url = if self.has_room() { self.references.resolve(href) } else { None };
        let rel = attribute(tag, &local_name!("rel")).unwrap_or_default();
        self.link = Some(OpenLink {
            url,
            nofollow: is_nofollow(rel),
            next: is_next(rel) || is_named_next(tag),
            first: self.markup.document.pieces.len(),
            block: None,
            title: label(tag).to_owned(),
            alt: String::new(),
            depth: self.stack.len().saturating_sub(1),
            path,
        });
    }

    pub(super) fn has_room(&mut self) -> bool {
        let room = self.markup.document.links.len() < LINKS && !self.references.is_full();
        self.markup.cut |= !room;
        room
    }

    pub(super) fn end_link(&mut self) {
        let Some(link) = self.link.take() else { return };
        self.in_run = false;
        let Some(url) = link.url else { return };
        let pieces = &self.markup.document.pieces;
        let pieces_of_link = pieces.get(link.first..).unwrap_or_default();
        let cut_off = pieces_of_link.last().is_some_and(|piece| {
            let text = &self.markup.document.text[piece.text.clone()];
            text.ends_with('…') || text.ends_with("...")
        });
        let block = link.block.unwrap_or_else(|| self.open_block());
        if link.first == self.markup.document.pieces.len() {
            self.hide(if link.alt.trim().is_empty() { &link.title } else { &link.alt });
        } else if cut_off && self.block == Some(block) {
            self.hide(&link.title);
        }
        let anchor = link.first..self.markup.document.pieces.len();
        self.markup.document.links.push(DocumentLink {
            url,
            anchor,
            block,
            region: Region::Content,
            nofollow: link.nofollow,
            next: link.next,
            path: link.path,
        });
    }

    /// Adds hidden text to the current block.
    pub(super) fn hide(&mut self, text: &str) {
        let mut folded = String::new();
        fold_into(&mut folded, text);
        let block = self.open_block();
        let document = &mut self.markup.document;
        if folded.is_empty() || document.text.len() + folded.len() > TEXT {
            return;
        }
        let start = document.text.len();
        document.text.push_str(&folded);
        document.pieces.push(TextPiece { text: start..start + folded.len(), hidden: true });
        document.blocks[block].pieces.end = document.pieces.len();
        self.in_run = false;
    }

    /// Adds a link without end tag and visible text.
    pub(super) fn lone_link(&mut self, tag: &Tag, reference: &str, rel: &str, text: &str) {
        if !self.has_room() {
            return;
        }
        let Some(url) = self.references.resolve(reference) else { return };
        let block = self.open_block();
        let first = self.markup.document.pieces.len();
        self.hide(text);
        let anchor = first..self.markup.document.pieces.len();
        let path = self.path(tag);
        let (nofollow, next) = (is_nofollow(rel), is_next(rel));
        let link = DocumentLink { url, anchor, block, region: Region::Content, nofollow, next, path };
        self.markup.document.links.push(link);
    }

    pub(super) fn image(&mut self, tag: &Tag) {
        if let Some(link) = &mut self.link {
            let alt = attribute(tag, &local_name!("alt")).filter(|alt| !alt.trim().is_empty());
            let text = alt.or_else(|| attribute(tag, &local_name!("title"))).unwrap_or_default();
            if !text.is_empty() && link.alt.len() < 1_000 {
                link.alt.push(' ');
                link.alt.push_str(text);
            }
        }
    }

    pub(super) fn area(&mut self, tag: &Tag) {
        if let Some(href) = attribute(tag, &local_name!("href")) {
            let alt = attribute(tag, &local_name!("alt")).filter(|alt| !alt.trim().is_empty());
            let text = alt.or_else(|| attribute(tag, &local_name!("title"))).unwrap_or_default();
            self.lone_link(tag, href, attribute(tag, &local_name!("rel")).unwrap_or_default(), text);
        }
    }

    pub(super) fn frame(&mut self, tag: &Tag) {
        if let Some(source) = attribute(tag, &local_name!("src")) {
            self.lone_link(tag, source, "", "");
        }
    }

    pub(super) fn head_link(&mut self, tag: &Tag) {
        let (Some(rel), Some(href)) = (attribute(tag, &local_name!("rel")), attribute(tag, &local_name!("href")))
        else {
            return;
        };
        for word in rel.split_ascii_whitespace() {
            if word.eq_ignore_ascii_case("canonical") {
                // In the body anybody may have written it.
                let is_head = self.inside(&local_name!("head"));
                let target = self.references.resolve(href).filter(|_| is_head);
                let page = self.references.page();
                let Some(own) = target.filter(|target| canonical::counts(href, target, page)).map(Some) else {
                    continue;
                };
                let agrees = self.markup.canonical.as_ref().is_none_or(|known| *known == own);
                self.markup.canonical = Some(own.filter(|_| agrees));
            } else if word.eq_ignore_ascii_case("next") {
                self.lone_link(tag, href, rel, "");
            } else if word.eq_ignore_ascii_case("alternate") && self.markup.feeds.len() < MAX_FEEDS && is_feed(tag) {
                let feed = self.references.resolve(href).filter(|feed| !self.markup.feeds.contains(feed));
                self.markup.feeds.extend(feed);
            }
        }
    }
}

/// Its `title`, else its `aria-label`.
fn label(tag: &Tag) -> &str {
    let title = attribute(tag, &local_name!("title")).filter(|title| !title.trim().is_empty());
    title.or_else(|| attribute(tag, &local_name!("aria-label"))).unwrap_or_default()
}

fn is_feed(tag: &Tag) -> bool {
    let media = attribute(tag, &local_name!("type")).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    ["application/rss+xml", "application/atom+xml", "application/rdf+xml"]
        .iter()
        .any(|feed| media.eq_ignore_ascii_case(feed))
}

/// Whether `rel` means the next page.
fn is_next(rel: &str) -> bool {
    rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("next"))
}

/// Whether the class of a link names it the next page: it may show an icon only.
fn is_named_next(tag: &Tag) -> bool {
    const NAMES: [&str; 7] = [
        "pager-next",
        "page-next",
        "next-page",
        "nextpage",
        "pagination-next",
        "pagination__next",
        "pagenav-jump--next",
    ];
    let classes = attribute(tag, &local_name!("class")).unwrap_or_default();
    classes.split_ascii_whitespace().any(|class| NAMES.iter().any(|name| class.eq_ignore_ascii_case(name)))
}

/// Whether `rel` means that the link is not recommended.
pub(super) fn is_nofollow(rel: &str) -> bool {
    ["nofollow", "ugc", "sponsored"]
        .iter()
        .any(|no| rel.split(|c: char| c.is_ascii_whitespace() || c == ',').any(|word| word.eq_ignore_ascii_case(no)))
}
