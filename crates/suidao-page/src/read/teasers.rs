//! Links to other pages of the site within and below an article, and the words that go with them.
//!
//! A line that is nothing but a link to the same host is one, and with it the small box around it: a headline, a label,
//! an excerpt. On a listing such lines are what the page is about; it is told by its excerpts, which are no one text.

use super::article::{CONTEXT, LINE, SENTENCES};
use super::form::ElementKind;
use super::hint::ElementRole;
use super::markup::{BlockStats, ParsedHtml, TextStats};
use crate::model::Region;

/// A title has so many letters, or a third of it in ideographs; less may be a word of the text.
const TITLE: u32 = 20;
/// An article has so many times as many letters as the titles within it.
const FEW: u32 = 8;

/// Leaves out the teasers from the block `first` on, where the text begins. `amounts`: what each element holds.
pub(super) fn leave_out(markup: &mut ParsedHtml, amounts: &[TextStats], first: usize, host: &str) {
    let document = &markup.document;
    let mut inner = vec![false; document.blocks.len()];
    for link in &document.links {
        inner[link.block] |= link.url.host() == host;
    }
    let is_teaser = |&at: &usize| {
        let BlockStats { amount, element } = markup.settings[at];
        let is_title = amount.linked >= TITLE && amount.plain * 10 <= amount.linked;
        let cell = markup.elements[element as usize].part == ElementKind::Cell;
        inner[at] && is_title && !cell && document.blocks[at].region == Region::Content
    };
    let teasers: Vec<usize> = (first..markup.settings.len()).filter(is_teaser).collect();
    let titles: u32 = teasers.iter().map(|&at| markup.settings[at].amount.linked).sum();
    let Prose { all, most, count } = prose(markup);
    // Excerpts of a listing are about as many as its titles.
    let listing = titles * FEW > all || teasers.len() * 2 > count;
    if most * 2 < all && listing {
        return;
    }
    let mut boxes = vec![false; markup.elements.len()];
    for at in teasers {
        // Other text may stand in the same element.
        markup.document.blocks[at].region = Region::Navigation;
        let mut whole = markup.settings[at].element as usize;
        while whole != 0 && amounts[whole].total() <= LINE {
            boxes[whole] = true;
            whole = markup.elements[whole].parent as usize;
        }
    }
    // Parents come before their children.
    for at in 1..boxes.len() {
        boxes[at] |=
            markup.elements[at].hint == ElementRole::Teaser && amounts[at].links > 0 && amounts[at].plain <= CONTEXT;
        boxes[at] |= boxes[markup.elements[at].parent as usize];
    }
    for (block, setting) in markup.document.blocks.iter_mut().zip(&markup.settings).skip(first) {
        if boxes[setting.element as usize] && block.region == Region::Content {
            block.region = Region::Navigation;
        }
    }
}

/// The sentences of the main content: all of them, and the most that are children of one element. Those of an article are one
/// text; excerpts of a listing are not.
struct Prose {
    all: u32,
    most: u32,
    /// Blocks of them.
    count: usize,
}

fn prose(markup: &ParsedHtml) -> Prose {
    let mut together = vec![0; markup.elements.len()];
    let (mut all, mut count) = (0, 0);
    for (block, setting) in markup.document.blocks.iter().zip(&markup.settings) {
        if block.region == Region::Content && setting.amount.plain >= SENTENCES {
            together[markup.elements[setting.element as usize].parent as usize] += setting.amount.plain;
            all += setting.amount.plain;
            count += 1;
        }
    }
    Prose { all, count, most: together.into_iter().max().unwrap_or_default() }
}
