//! Excludes links to other pages of the site within and below an article, with their texts.
//!
//! A teaser is a line that is only a link to the same host, with the small box around it (headline, label, excerpt).
//! Listings consist of such lines, so they are exempt; they are recognized by excerpts that are not one text.

use super::article::{CONTEXT, LINE, SENTENCES};
use super::block_kind::ElementKind;
use super::element_role::ElementRole;
use super::markup::{BlockStats, ParsedHtml, TextStats};
use crate::model::Region;

/// Minimum letters of a title, an ideograph counting 3; less may be a word of the text.
const TITLE: u32 = 20;
/// An article has at least this many times the text of the titles in it.
const FEW: u32 = 8;

/// Excludes teasers from block `first` on, where the text begins. `element_stats`: the text of each element.
pub(super) fn exclude(markup: &mut ParsedHtml, element_stats: &[TextStats], first: usize, host: &str) {
    let document = &markup.document;
    let mut inner = vec![false; document.blocks.len()];
    for link in &document.links {
        inner[link.block] |= link.url.host() == host;
    }
    let is_teaser = |&at: &usize| {
        let BlockStats { text_stats, element } = markup.block_stats[at];
        let is_title = text_stats.linked >= TITLE && text_stats.plain * 10 <= text_stats.linked;
        let cell = markup.elements[element as usize].part == ElementKind::Cell;
        inner[at] && is_title && !cell && document.blocks[at].region == Region::Content
    };
    let teasers: Vec<usize> = (first..markup.block_stats.len()).filter(is_teaser).collect();
    let titles: u32 = teasers.iter().map(|&at| markup.block_stats[at].text_stats.linked).sum();
    let Prose { all, most, count } = prose(markup);
    // A listing has about as many excerpts as titles.
    let listing = titles * FEW > all || teasers.len() * 2 > count;
    if most * 2 < all && listing {
        return;
    }
    let mut boxes = vec![false; markup.elements.len()];
    for at in teasers {
        // The element may also contain other text.
        markup.document.blocks[at].region = Region::Boilerplate;
        let mut whole = markup.block_stats[at].element as usize;
        while whole != 0 && element_stats[whole].total() <= LINE {
            boxes[whole] = true;
            whole = markup.elements[whole].parent as usize;
        }
    }
    // Children come after their parents.
    for at in 1..boxes.len() {
        boxes[at] |= markup.elements[at].role == ElementRole::Teaser
            && element_stats[at].links > 0
            && element_stats[at].plain <= CONTEXT;
        boxes[at] |= boxes[markup.elements[at].parent as usize];
    }
    for (block, stats) in markup.document.blocks.iter_mut().zip(&markup.block_stats).skip(first) {
        if boxes[stats.element as usize] && block.region == Region::Content {
            block.region = Region::Boilerplate;
        }
    }
}

/// Sentences of the main content: in total, and the most with one parent. An article's sentences share a parent;
/// excerpts do not.
struct Prose {
    all: u32,
    most: u32,
    /// Number of blocks.
    count: usize,
}

fn prose(markup: &ParsedHtml) -> Prose {
    let mut by_parent = vec![0; markup.elements.len()];
    let (mut all, mut count) = (0, 0);
    for (block, stats) in markup.document.blocks.iter().zip(&markup.block_stats) {
        if block.region == Region::Content && stats.text_stats.plain >= SENTENCES {
            by_parent[markup.elements[stats.element as usize].parent as usize] += stats.text_stats.plain;
            all += stats.text_stats.plain;
            count += 1;
        }
    }
    Prose { all, count, most: by_parent.into_iter().max().unwrap_or_default() }
}
