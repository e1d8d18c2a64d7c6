//! Links to other pages of the site within and below an article, and the words that go with them.
//!
//! Apart from `article` because these stand between the sentences, wherever a site puts them. A line that is nothing but a link to
//! the same host is one, and with it the small box around it: a headline, a label, an excerpt. On a listing such lines are what
//! the page is about; it is told by its excerpts, which are no one text.

use super::article::{LINE, SENTENCES};
use super::form::Part;
use super::markup::{Amount, Markup, Setting};
use crate::model::Region;

/// A title has so many letters, or a third of it in ideographs; less may be a word of the text.
const TITLE: u32 = 20;

/// Leaves out the teasers from the block `first` on, where the text begins. `amounts`: what each element holds.
pub(super) fn leave_out(markup: &mut Markup, amounts: &[Amount], first: usize, host: &str) {
    if !is_one_text(markup) {
        return;
    }
    let mut inner = vec![false; markup.document.blocks.len()];
    for link in &markup.document.links {
        inner[link.block] |= link.url.host() == host;
    }
    let mut boxes = vec![false; markup.elements.len()];
    for at in first..markup.settings.len() {
        let Setting { amount, element } = markup.settings[at];
        let cell = markup.elements[element as usize].part == Part::Cell;
        let is_title = amount.linked >= TITLE && amount.plain * 10 <= amount.linked;
        if inner[at] && is_title && !cell && markup.document.blocks[at].region == Region::Content {
            let mut whole = element as usize;
            if amounts[whole].total() > LINE {
                // Other text stands in the same element.
                markup.document.blocks[at].region = Region::Navigation;
                continue;
            }
            while amounts[markup.elements[whole].parent as usize].total() <= LINE {
                whole = markup.elements[whole].parent as usize;
            }
            boxes[whole] = true;
        }
    }
    // Parents come before their children.
    for at in 1..boxes.len() {
        boxes[at] |= boxes[markup.elements[at].parent as usize];
    }
    for (block, setting) in markup.document.blocks.iter_mut().zip(&markup.settings).skip(first) {
        if boxes[setting.element as usize] && block.region == Region::Content {
            block.region = Region::Navigation;
        }
    }
}

/// Whether most sentences are one text: the children of one element. Excerpts of a listing are not, nor are comments.
fn is_one_text(markup: &Markup) -> bool {
    let mut together = vec![0; markup.elements.len()];
    let mut all = 0;
    for (block, setting) in markup.document.blocks.iter().zip(&markup.settings) {
        if block.region == Region::Content && setting.amount.plain >= SENTENCES {
            together[markup.elements[setting.element as usize].parent as usize] += setting.amount.plain;
            all += setting.amount.plain;
        }
    }
    together.into_iter().max().is_some_and(|most| most * 2 >= all)
}
