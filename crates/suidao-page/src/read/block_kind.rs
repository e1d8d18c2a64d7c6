//! Layout of blocks: list items and table cells. A table is a data table, not page layout, if its cells contain at most
//! one short block and no table; its rows become lines.

use html5ever::local_name;
use html5ever::tokenizer::Tag;

use super::document::BlockKind;
use super::markup::{ParsedHtml, attribute};
use crate::model::Region;

/// A longer cell is a text of its own (200 ideographs or 600 letters).
const CELL: u32 = 600;
/// Maximum nesting of lists.
const DEEPEST: u8 = 8;

/// The part of an element in the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementKind {
    Other,
    Bullets,
    /// A numbered list and its first number.
    Numbers(i32),
    /// An item and its explicit number.
    Item(Option<i32>),
    Table,
    Row,
    Cell,
    Code,
    Quote,
    /// Its level, from 1.
    Heading(u8),
    /// A picture with its caption, which may contain a table or code.
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
            local_name!("blockquote") => Self::Quote,
            local_name!("h1") => Self::Heading(1),
            local_name!("h2") => Self::Heading(2),
            local_name!("h3") => Self::Heading(3),
            local_name!("h4") => Self::Heading(4),
            local_name!("h5") => Self::Heading(5),
            local_name!("h6") => Self::Heading(6),
            local_name!("figure") => Self::Figure,
            _ => Self::Other,
        }
    }
}

/// Enclosing list, item, row and so on of an element; 0 for none, because the root is none of these.
#[derive(Clone, Copy, Default)]
struct TablePosition {
    /// The list that it is or is in.
    list: u32,
    depth: u8,
    /// The item that it is or is in.
    item: u32,
    row: u32,
    cell: u32,
    column: u16,
}

/// Counters of an element.
#[derive(Clone, Copy, Default)]
struct Count {
    /// List: items so far. Row: cells so far.
    children: u32,
    /// Item or cell: one of its blocks was seen.
    begun: bool,
    /// Item: its number.
    number: Option<i32>,
    /// Row: cells with text.
    filled: u32,
    /// Row: cannot be a line.
    apart: bool,
}

/// Sets the layout of every block. Regions must be set before.
pub(super) fn decide(markup: &mut ParsedHtml) {
    let (places, mut counts) = places(markup);
    let blocks = markup.document.blocks.iter_mut().zip(&markup.block_stats);
    let is_content =
        |region: Region, text_stats: super::markup::TextStats| region == Region::Content && text_stats.total() > 0;
    for (block, stats) in blocks {
        let TablePosition { row, cell, .. } = places[stats.element as usize];
        if row != 0 && cell != 0 && is_content(block.region, stats.text_stats) {
            let second = std::mem::replace(&mut counts[cell as usize].begun, true);
            let row = &mut counts[row as usize];
            row.apart |= second || stats.text_stats.total() > CELL;
            row.filled += u32::from(!second);
        }
    }
    for (block, stats) in markup.document.blocks.iter_mut().zip(&markup.block_stats) {
        if !is_content(block.region, stats.text_stats) {
            continue;
        }
        let position = places[stats.element as usize];
        let line = counts[position.row as usize];
        if position.cell != 0 && position.row != 0 && !line.apart && line.filled > 1 {
            block.kind = BlockKind::Cell { row: position.row, column: position.column };
        } else if position.item != 0 && !std::mem::replace(&mut counts[position.item as usize].begun, true) {
            block.kind = BlockKind::Item { depth: position.depth, number: counts[position.item as usize].number };
        }
    }
}

fn places(markup: &ParsedHtml) -> (Vec<TablePosition>, Vec<Count>) {
    let count = markup.elements.len();
    let mut places = vec![TablePosition::default(); count];
    let mut counts = vec![Count::default(); count];
    for at in 1..count {
        let element = &markup.elements[at];
        let mut position = places[element.parent as usize];
        #[allow(clippy::cast_possible_truncation)] // the builder keeps far fewer elements
        let own = at as u32;
        match element.part {
            ElementKind::Other
            | ElementKind::Code
            | ElementKind::Quote
            | ElementKind::Heading(_)
            | ElementKind::Figure => {}
            ElementKind::Bullets | ElementKind::Numbers(_) => {
                (position.list, position.item) = (own, 0);
                position.depth = (position.depth + 1).min(DEEPEST);
            }
            ElementKind::Item(value) => {
                let list = position.list as usize;
                if let (true, ElementKind::Numbers(first)) = (list != 0, markup.elements[list].part) {
                    #[allow(clippy::cast_possible_wrap)] // as above
                    let number = value.unwrap_or(first.saturating_add(counts[list].children as i32));
                    // The next item continues from here.
                    #[allow(clippy::cast_sign_loss)] // wraps back in the sum above
                    {
                        counts[list].children = number.wrapping_sub(first).wrapping_add(1) as u32;
                    }
                    counts[at].number = Some(number);
                }
                position.item = own;
                position.depth = position.depth.max(1);
            }
            ElementKind::Table => {
                // Tables that contain tables are layout.
                counts[position.row as usize].apart = true;
                position = TablePosition::default();
            }
            ElementKind::Row => (position.row, position.cell, position.column) = (own, 0, 0),
            ElementKind::Cell => {
                let row = &mut counts[position.row as usize];
                position.column = u16::try_from(row.children).unwrap_or(u16::MAX);
                row.children += 1;
                position.cell = own;
                (position.list, position.item, position.depth) = (0, 0, 0);
            }
        }
        places[at] = position;
    }
    (places, counts)
}
