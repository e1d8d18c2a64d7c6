//! A page taken apart, before anything is scored: text pieces, the blocks they make up, the links over them.

use std::ops::Range;

use crate::model::{CrawlUrl, Region};

/// Most empty cells in a row that are shown as such.
const WIDEST: usize = 32;

/// A run of text inside one block and inside or outside one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRun {
    /// Bytes of [`Document::text`].
    pub text: Range<usize>,
    /// Not shown as text (the `alt` of an image inside a link): evidence for the link, no part of the content.
    pub hidden: bool,
}

/// A block element's own text: a paragraph, a list item, a table cell, a heading, the title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBlock {
    /// Indices into [`Document::pieces`], contiguous.
    pub pieces: Range<usize>,
    /// Main content or furniture. The title is content.
    pub region: Region,
    /// How it stands among the others.
    pub form: BlockKind,
}

/// How a block stands among the others of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockKind {
    /// On its own.
    #[default]
    Paragraph,
    /// The first of a list's item.
    Item {
        /// 1 in a list, 2 in a list within it, at most 8.
        depth: u8,
        /// Its number, in a numbered list.
        number: Option<i32>,
    },
    /// A cell of a table whose rows are lines: each of them holds one block or none.
    Cell {
        /// What its row has of its own: the same for all its cells, another for other rows.
        row: u32,
        /// Cells before it in the row.
        column: u16,
    },
}

/// A link as it stands on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLink {
    /// Where it leads, resolved against the page's base.
    pub url: CrawlUrl,
    /// Indices into [`Document::pieces`]: the anchor text; empty if the link has none.
    pub anchor: Range<usize>,
    /// Index into [`Document::blocks`]: the block that encloses it.
    pub block: usize,
    /// Where it stands.
    pub region: Region,
    /// Its `rel` holds nofollow, ugc or sponsored.
    pub nofollow: bool,
    /// Its `rel` holds next.
    pub next: bool,
    /// Hash of the tag names and classes from the root to it.
    pub path: u32,
}

/// A page taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedDocument {
    /// All text in document order, pieces back to back. White space is folded to a blank, or to a line feed where the page
    /// breaks the line; in preformatted text it is as on the page.
    pub text: String,
    /// Runs of text, in order, not overlapping.
    pub pieces: Vec<TextRun>,
    /// Blocks, in order; block 0 is the title where there is one.
    pub blocks: Vec<TextBlock>,
    /// Links, in order of appearance; one URL may occur several times.
    pub links: Vec<DocumentLink>,
}

impl ParsedDocument {
    /// Text of a piece.
    pub fn piece(&self, index: usize) -> &str {
        &self.text[self.pieces[index].text.clone()]
    }

    /// Text of a block, what is not shown included.
    pub(super) fn block_text(&self, block: &TextBlock) -> &str {
        match (
            self.pieces.get(block.pieces.start),
            block.pieces.end.checked_sub(1).and_then(|last| self.pieces.get(last)),
        ) {
            (Some(first), Some(last)) if !block.pieces.is_empty() => &self.text[first.text.start..last.text.end],
            _ => "",
        }
    }

    /// Pieces of title and main content that are shown, in order.
    pub fn content(&self) -> impl Iterator<Item = usize> + '_ {
        let blocks = self.blocks.iter().filter(|block| block.region == Region::Content);
        blocks.flat_map(|block| block.pieces.clone()).filter(|&piece| !self.pieces[piece].hidden)
    }

    /// Puts the title before all else, as block 0; does nothing if it is empty.
    pub(super) fn put_title(&mut self, title: &str) {
        if title.is_empty() {
            return;
        }
        self.text.insert_str(0, title);
        for piece in &mut self.pieces {
            piece.text = piece.text.start + title.len()..piece.text.end + title.len();
        }
        self.pieces.insert(0, TextRun { text: 0..title.len(), hidden: false });
        for block in &mut self.blocks {
            block.pieces = block.pieces.start + 1..block.pieces.end + 1;
        }
        self.blocks.insert(0, TextBlock { pieces: 0..1, region: Region::Content, form: BlockKind::Paragraph });
        for link in &mut self.links {
            link.anchor = link.anchor.start + 1..link.anchor.end + 1;
            link.block += 1;
        }
    }

    /// The shown text of the main content's blocks, each on its line; `title`, if any, is block 0 and left out, and
    /// so is a heading that only says the title, or its part, again. Items of lists begin with `- ` or their number, two
    /// blanks further in for each list around them; cells of a row stand on one line with tabs between them.
    pub(super) fn main_text(&self, title: &str) -> String {
        let mut text = String::with_capacity(self.text.len() + self.text.len() / 16);
        let mut headings = 3;
        let mut row = None;
        for block in self.blocks.iter().skip(usize::from(!title.is_empty())) {
            if block.region != Region::Content {
                continue;
            }
            let shown = || block.pieces.clone().filter(|&piece| !self.pieces[piece].hidden);
            if shown().all(|piece| self.piece(piece).trim().is_empty()) {
                continue;
            }
            let before = text.len();
            let joined = lead(block.form, row, &mut text);
            let start = text.len();
            shown().for_each(|piece| text.push_str(self.piece(piece)));
            text.truncate(text.trim_end().len());
            if headings > 0 && !joined {
                headings -= 1;
                if is_part_of_title(title, &text[start..]) {
                    text.truncate(before);
                    continue;
                }
            }
            row = if let BlockKind::Cell { row, column } = block.form { Some((row, column)) } else { None };
        }
        text
    }
}

/// Writes what comes before a block of this form: the end of the line before, or of the cell before where that, in
/// `last`, is of the same row; says whether it is.
fn lead(form: BlockKind, last: Option<(u32, u16)>, text: &mut String) -> bool {
    let mut tabs = 0;
    let mut joined = false;
    if let BlockKind::Cell { row, column } = form {
        joined = last.is_some_and(|(last, _)| last == row);
        tabs = usize::from(last.filter(|_| joined).map_or(column, |(_, last)| column - last)).min(WIDEST);
    }
    if !joined && !text.is_empty() {
        text.push('\n');
    }
    text.extend(std::iter::repeat_n('\t', tabs));
    if let BlockKind::Item { depth, number } = form {
        text.extend(std::iter::repeat_n("  ", usize::from(depth.saturating_sub(1))));
        match number {
            Some(number) => text.push_str(&format!("{number}. ")),
            None => text.push_str("- "),
        }
    }
    joined
}

/// Whether `text` is the title, or what stands in it before or after a separator (`Article | Site`).
fn is_part_of_title(title: &str, text: &str) -> bool {
    let separates =
        |c: char| matches!(c, '|' | '-' | '_' | '–' | '—' | '·' | '»' | '«' | ':' | '：' | '｜' | ' ' | ',');
    match (title.strip_prefix(text), title.strip_suffix(text)) {
        (Some(rest), _) => rest.is_empty() || rest.starts_with(separates) && text.chars().count() > 3,
        (_, Some(rest)) => rest.ends_with(separates) && text.chars().count() > 3,
        _ => false,
    }
}
