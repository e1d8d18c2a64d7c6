//! A parsed page before scoring: text, blocks and links.

use std::ops::Range;

use crate::model::{CrawlUrl, Region};

/// Maximum empty cells written for a row.
const WIDEST: usize = 32;

/// A piece of text inside one block, and entirely inside or outside one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPiece {
    /// Bytes of [`ParsedDocument::text`].
    pub text: Range<usize>,
    /// Not visible (the `alt` of an image in a link): used to score the link, not part of the content.
    pub hidden: bool,
}

/// The text of one block element: paragraph, list item, table cell, heading or title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBlock {
    /// Indices into [`ParsedDocument::pieces`], contiguous.
    pub pieces: Range<usize>,
    /// The title is content.
    pub region: Region,
    pub kind: BlockKind,
}

/// Layout of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockKind {
    #[default]
    Paragraph,
    /// The first block of a list item.
    Item {
        /// Nesting of lists, from 1 to 8.
        depth: u8,
        number: Option<i32>,
    },
    /// A cell of a table whose rows are lines: each cell contains at most one block.
    Cell {
        /// Identifies its row.
        row: u32,
        /// Cells before it in the row.
        column: u16,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLink {
    /// Resolved against the page's base.
    pub url: CrawlUrl,
    /// Anchor text as indices into [`ParsedDocument::pieces`]; may be empty.
    pub anchor: Range<usize>,
    /// The enclosing block, an index into [`ParsedDocument::blocks`].
    pub block: usize,
    pub region: Region,
    /// `rel` contains nofollow, ugc or sponsored.
    pub nofollow: bool,
    /// `rel` contains next, or its class is a name such as `pager-next`.
    pub next: bool,
    /// Hash of the tag names and classes from the root to the link.
    pub path: u32,
}

/// The content of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedDocument {
    /// All text in document order. White space is folded to a blank, or to a line feed at a line break; preformatted
    /// text is unchanged.
    pub text: String,
    pub pieces: Vec<TextPiece>,
    /// In order; block 0 is the title if there is one.
    pub blocks: Vec<TextBlock>,
    /// In order of appearance; a URL may occur several times.
    pub links: Vec<DocumentLink>,
}

impl ParsedDocument {
    pub fn piece(&self, index: usize) -> &str {
        &self.text[self.pieces[index].text.clone()]
    }

    /// Text of a block, including hidden text.
    pub(super) fn block_text(&self, block: &TextBlock) -> &str {
        match (
            self.pieces.get(block.pieces.start),
            block.pieces.end.checked_sub(1).and_then(|last| self.pieces.get(last)),
        ) {
            (Some(first), Some(last)) if !block.pieces.is_empty() => &self.text[first.text.start..last.text.end],
            _ => "",
        }
    }

    /// Visible pieces of title and main content, in order.
    pub fn content(&self) -> impl Iterator<Item = usize> + '_ {
        let blocks = self.blocks.iter().filter(|block| block.region == Region::Content);
        blocks.flat_map(|block| block.pieces.clone()).filter(|&piece| !self.pieces[piece].hidden)
    }

    /// Inserts a non-empty title as block 0.
    pub(super) fn put_title(&mut self, title: &str) {
        if title.is_empty() {
            return;
        }
        self.text.insert_str(0, title);
        for piece in &mut self.pieces {
            piece.text = piece.text.start + title.len()..piece.text.end + title.len();
        }
        self.pieces.insert(0, TextPiece { text: 0..title.len(), hidden: false });
        for block in &mut self.blocks {
            block.pieces = block.pieces.start + 1..block.pieces.end + 1;
        }
        self.blocks.insert(0, TextBlock { pieces: 0..1, region: Region::Content, kind: BlockKind::Paragraph });
        for link in &mut self.links {
            link.anchor = link.anchor.start + 1..link.anchor.end + 1;
            link.block += 1;
        }
    }

    /// The visible main content, one block per line, without the title (block 0 if not empty) and headings that repeat
    /// it or a part of it. List items begin with `- ` or their number, indented by two blanks per level; cells of a row
    /// are separated by tabs.
    pub(super) fn main_text(&self, title: &str) -> String {
        self.main_text_with(title, &mut |_, _| {})
    }

    /// As [`Self::main_text`]; `see` gets each block of it and where it begins.
    pub(super) fn main_text_with(&self, title: &str, see: &mut dyn FnMut(usize, usize)) -> String {
        let mut text = String::with_capacity(self.text.len() + self.text.len() / 16);
        let mut headings = 3;
        let mut row = None;
        for (at, block) in self.blocks.iter().enumerate().skip(usize::from(!title.is_empty())) {
            if block.region != Region::Content {
                continue;
            }
            let visible = || block.pieces.clone().filter(|&piece| !self.pieces[piece].hidden);
            if visible().all(|piece| self.piece(piece).trim().is_empty()) {
                continue;
            }
            let before = text.len();
            let joined = lead(block.kind, row, &mut text);
            let start = text.len();
            visible().for_each(|piece| text.push_str(self.piece(piece)));
            text.truncate(text.trim_end().len());
            if headings > 0 && !joined {
                headings -= 1;
                if is_part_of_title(title, &text[start..]) {
                    text.truncate(before);
                    continue;
                }
            }
            see(at, start);
            row = if let BlockKind::Cell { row, column } = block.kind { Some((row, column)) } else { None };
        }
        text
    }
}

/// Writes the separator before a block: a line feed, or tabs if `last`, the previous cell, is in the same row. Returns
/// whether it is.
fn lead(kind: BlockKind, last: Option<(u32, u16)>, text: &mut String) -> bool {
    let mut tabs = 0;
    let mut joined = false;
    if let BlockKind::Cell { row, column } = kind {
        joined = last.is_some_and(|(last, _)| last == row);
        tabs = usize::from(last.filter(|_| joined).map_or(column, |(_, last)| column - last)).min(WIDEST);
    }
    if !joined && !text.is_empty() {
        text.push('\n');
    }
    text.extend(std::iter::repeat_n('\t', tabs));
    if let BlockKind::Item { depth, number } = kind {
        text.extend(std::iter::repeat_n("  ", usize::from(depth.saturating_sub(1))));
        match number {
            Some(number) => text.push_str(&format!("{number}. ")),
            None => text.push_str("- "),
        }
    }
    joined
}

/// Whether `text` is the title, or a part of it at a separator (`Article | Site`).
fn is_part_of_title(title: &str, text: &str) -> bool {
    let separates =
        |c: char| matches!(c, '|' | '-' | '_' | '–' | '—' | '·' | '»' | '«' | ':' | '：' | '｜' | ' ' | ',');
    match (title.strip_prefix(text), title.strip_suffix(text)) {
        (Some(rest), _) => rest.is_empty() || rest.starts_with(separates) && text.chars().count() > 3,
        (_, Some(rest)) => rest.ends_with(separates) && text.chars().count() > 3,
        _ => false,
    }
}
