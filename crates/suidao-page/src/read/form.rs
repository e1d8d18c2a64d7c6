//! How blocks stand among each other: items of lists, cells of tables.
//!
//! Tables that lay a page out are told from those that say something by what their cells hold: only rows whose cells
//! hold one short block or none, and no table, become lines.

use html5ever::local_name;
use html5ever::tokenizer::Tag;

use super::document::BlockKind;
use super::markup::{ParsedHtml, attribute};
use crate::model::Region;

/// A cell of more is a text of its own: 200 ideographs or 600 letters.
const CELL: u32 = 600;
/// Lists within lists that are told apart.
const DEEPEST: u8 = 8;

/// What an element is to the shape of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementKind {
    Other,
    /// A list without numbers.
    Bullets,
    /// A numbered list, and its first number.
    Numbers(i32),
    /// An item, and the number it gives itself.
    Item(Option<i32>),
    Table,
    Row,
    Cell,
    /// Preformatted text.
    Code,
    /// A picture with its caption; it may hold a table or code.
    Figure,
}

impl ElementKind {
    pub(super) fn of(tag: &Tag) -> Self {
        let number = |name| attribute(tag, name).and_then(|value| value.trim().parse().ok());
        match tag.name {
            local_name!("ul") | local_name!("menu") | local_name!("dir") => Self::Bullets,
            local_name!("ol") => Self::Numbers(number(&local_name!("start")).unwrap_or(1)),
            local_name!("li") => Self::Item(number(&local_name!("value"))),
            local_name!("table") => Self::Table,
            local_name!("tr") => Self::Row,
            local_name!("td") | local_name!("th") => Self::Cell,
            local_name!("pre") => Self::Code,
            local_name!("figure") => Self::Figure,
            _ => Self::Other,
        }
    }
}

/// Where an element stands; 0 is none, for the root is nothing of this.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The list it is, or is in.
    list: u32,
    depth: u8,
    /// The item it is, or is in.
    item: u32,
    row: u32,
    cell: u32,
    column: u16,
}

/// What there is to count of an element.
#[derive(Clone, Copy, Default)]
struct Count {
    /// Of a list: items before; of a row: cells before.
    children: u32,
    /// Of an item or a cell: whether a block of it has come.
    begun: bool,
    /// Of an item: its number.
    number: Option<i32>,
    /// Of a row: cells with text in it.
    filled: u32,
    /// Of a row: it cannot be a line.
    apart: bool,
}

/// Sets the form of every block. Call it when their regions are decided.
pub(super) fn decide(markup: &mut ParsedHtml) {
    let (places, mut counts) = places(markup);
    let blocks = markup.document.blocks.iter_mut().zip(&markup.settings);
    let shown = |region: Region, amount: super::markup::TextStats| region == Region::Content && amount.total() > 0;
    for (block, setting) in blocks {
        let Place { row, cell, .. } = places[setting.element as usize];
        if row != 0 && cell != 0 && shown(block.region, setting.amount) {
            let second = std::mem::replace(&mut counts[cell as usize].begun, true);
            let row = &mut counts[row as usize];
            row.apart |= second || setting.amount.total() > CELL;
            row.filled += u32::from(!second);
        }
    }
    for (block, setting) in markup.document.blocks.iter_mut().zip(&markup.settings) {
        if !shown(block.region, setting.amount) {
            continue;
        }
        let place = places[setting.element as usize];
        let line = counts[place.row as usize];
        if place.cell != 0 && place.row != 0 && !line.apart && line.filled > 1 {
            block.form = BlockKind::Cell { row: place.row, column: place.column };
        } else if place.item != 0 && !std::mem::replace(&mut counts[place.item as usize].begun, true) {
            block.form = BlockKind::Item { depth: place.depth, number: counts[place.item as usize].number };
        }
    }
}

fn places(markup: &ParsedHtml) -> (Vec<Place>, Vec<Count>) {
    let count = markup.elements.len();
    let mut places = vec![Place::default(); count];
    let mut counts = vec![Count::default(); count];
    for at in 1..count {
        let element = &markup.elements[at];
        let mut place = places[element.parent as usize];
        #[allow(clippy::cast_possible_truncation)] // the builder keeps far fewer elements
        let own = at as u32;
        match element.part {
            ElementKind::Other | ElementKind::Code | ElementKind::Figure => {}
            ElementKind::Bullets | ElementKind::Numbers(_) => {
                (place.list, place.item) = (own, 0);
                place.depth = (place.depth + 1).min(DEEPEST);
            }
            ElementKind::Item(value) => {
                let list = place.list as usize;
                if let (true, ElementKind::Numbers(first)) = (list != 0, markup.elements[list].part) {
                    #[allow(clippy::cast_possible_wrap)] // as above
                    let number = value.unwrap_or(first.saturating_add(counts[list].children as i32));
                    // The next goes on from here.
                    #[allow(clippy::cast_sign_loss)] // wraps back in the sum above
                    {
                        counts[list].children = number.wrapping_sub(first).wrapping_add(1) as u32;
                    }
                    counts[at].number = Some(number);
                }
                place.item = own;
                place.depth = place.depth.max(1);
            }
            ElementKind::Table => {
                // Rows of tables that hold tables lay something out.
                counts[place.row as usize].apart = true;
                place = Place::default();
            }
            ElementKind::Row => (place.row, place.cell, place.column) = (own, 0, 0),
            ElementKind::Cell => {
                let row = &mut counts[place.row as usize];
                place.column = u16::try_from(row.children).unwrap_or(u16::MAX);
                row.children += 1;
                place.cell = own;
                (place.list, place.item, place.depth) = (0, 0, 0);
            }
        }
        places[at] = place;
    }
    (places, counts)
}
