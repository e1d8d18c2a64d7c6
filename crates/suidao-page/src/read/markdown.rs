//! The main content as Markdown (CommonMark with the tables of GitHub), from the elements of the page: headings, lists,
//! quotations, tables, code, links, images with a text, and formulas between dollar signs.

mod escape;
mod inline;

use std::ops::Range;

pub use self::escape::{escape, paragraphs};
pub(super) use self::inline::image;
use super::Parsed;
use super::block_kind::ElementKind;
use super::document::{BlockKind, ParsedDocument, TextBlock};
use super::layout::{Layout, Mark, MarkKind};
use super::markup::Element;
use crate::model::Region;

/// Maximum nesting of lists and quotations.
const DEEPEST: usize = 8;
/// Maximum columns of a table.
const WIDEST: usize = 64;

impl Parsed {
    /// The part of the text within `kept` as Markdown; without a recorded layout, its lines as paragraphs.
    pub fn markdown(&self, kept: Range<usize>) -> String {
        match &self.layout {
            Some(layout) => layout.markdown(&self.document, &self.title, &kept),
            None => paragraphs(&self.text[kept]),
        }
    }
}

/// A list item or quotation around a block: its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Quote(u32),
    Item(u32),
}

/// What is around a block.
struct Surroundings {
    /// The outermost first.
    containers: Vec<Container>,
    code: Option<u32>,
    heading: Option<u8>,
    table: Option<u32>,
}

impl Layout {
    fn markdown(&self, document: &ParsedDocument, title: &str, kept: &Range<usize>) -> String {
        let mut chosen = vec![false; document.blocks.len()];
        document.main_text_with(title, &mut |block, start| chosen[block] = kept.contains(&start));
        let first = chosen.iter().position(|chosen| *chosen).unwrap_or(chosen.len());
        let end = chosen.iter().rposition(|chosen| *chosen).map_or(0, |last| last + 1);
        let mut writer = MarkdownWriter::default();
        let mut at = first;
        while at < end {
            let block = &document.blocks[at];
            let around = self.around(self.element_of[at]);
            if !chosen[at] {
                let has_no_text = document.pieces[block.pieces.clone()].iter().all(|piece| piece.hidden);
                if block.region == Region::Content && has_no_text {
                    writer.block(&around.containers, "- ", &self.inline(document, at, true));
                }
                at += 1;
                continue;
            }
            self.images_before(document, at, &mut writer);
            let run = |same: &dyn Fn(&TextBlock, &Surroundings) -> bool| {
                let is_same = |next: &usize| {
                    let (block, around) = (&document.blocks[*next], self.around(self.element_of[*next]));
                    chosen[*next] && same(block, &around)
                };
                (at + 1..end).take_while(is_same).last().unwrap_or(at) + 1
            };
            let mut next = at + 1;
            if let BlockKind::Cell { .. } = block.kind {
                next = run(&|block, other| matches!(block.kind, BlockKind::Cell { .. }) && other.table == around.table);
                writer.block(&around.containers, "- ", &self.table(document, at..next));
            } else if around.code.is_some() {
                next = run(&|block, other| other.code == around.code && !matches!(block.kind, BlockKind::Cell { .. }));
                writer.block(&around.containers, &marker(block.kind), &self.code(document, at..next, around.code));
            } else {
                let mut text = self.inline(document, at, around.heading.is_none());
                if let Some(level) = around.heading {
                    // A last # would be a mark.
                    let text_end = if text.ends_with('#') { "\\#" } else { "" };
                    let text_start = text.strip_suffix('#').unwrap_or(&text);
                    text = format!("{} {text_start}{text_end}", "#".repeat(usize::from(level)));
                }
                writer.block(&around.containers, &marker(block.kind), &text);
            }
            at = next;
        }
        writer.out
    }

    fn around(&self, element: u32) -> Surroundings {
        let mut around = Surroundings { containers: Vec::new(), code: None, heading: None, table: None };
        let mut at = element;
        while at != 0 {
            let Element { part, parent, .. } = self.elements[at as usize];
            match part {
                ElementKind::Quote => around.containers.push(Container::Quote(at)),
                ElementKind::Item(_) => around.containers.push(Container::Item(at)),
                ElementKind::Code => around.code = Some(at),
                ElementKind::Heading(level) => around.heading = around.heading.or(Some(level)),
                ElementKind::Table => around.table = around.table.or(Some(at)),
                _ => {}
            }
            at = parent;
        }
        around.containers.reverse();
        around.containers.truncate(DEEPEST);
        around
    }

    /// Whether an image comes before a block: outside its element, or above the text of a paragraph.
    fn is_before(&self, document: &ParsedDocument, mark: &Mark, block: usize) -> bool {
        let TextBlock { pieces, kind, .. } = &document.blocks[block];
        let begins_with_text = document.pieces[pieces.clone()].first().is_some_and(|piece| !piece.hidden);
        !mark.inside && (mark.element != self.element_of[block] || begins_with_text && *kind == BlockKind::Paragraph)
    }

    fn images_before(&self, document: &ParsedDocument, block: usize, writer: &mut MarkdownWriter) {
        for mark in self.marks_of(block) {
            let MarkKind::Image(image) = &mark.kind else { continue };
            if self.is_before(document, mark, block) {
                writer.block(&self.around(mark.element).containers, "- ", image);
            }
        }
    }

    fn table(&self, document: &ParsedDocument, blocks: Range<usize>) -> String {
        let mut rows: Vec<(u32, Vec<String>)> = Vec::new();
        for at in blocks {
            let BlockKind::Cell { row, column } = document.blocks[at].kind else { continue };
            if rows.last().is_none_or(|(last, _)| *last != row) {
                rows.push((row, Vec::new()));
            }
            if let Some((_, cells)) = rows.last_mut().filter(|_| usize::from(column) < WIDEST) {
                cells.resize(usize::from(column), String::new());
                cells.push(with_escaped_bars(&self.inline(document, at, false)));
            }
        }
        let columns = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        let mut lines = Vec::with_capacity(rows.len() + 1);
        for (_, mut cells) in rows {
            cells.resize(columns, String::new());
            lines.push(format!("| {} |", cells.join(" | ")));
            if lines.len() == 1 {
                lines.push(format!("|{}", " --- |".repeat(columns)));
            }
        }
        lines.join("\n")
    }

    /// A fence longer than any in the code. It is indented if a line looks like the border of front matter.
    fn code(&self, document: &ParsedDocument, blocks: Range<usize>, element: Option<u32>) -> String {
        let text = |at: usize| {
            let pieces = document.blocks[at].pieces.clone().filter(|piece| !document.pieces[*piece].hidden);
            pieces.map(|piece| document.piece(piece)).collect::<String>()
        };
        let start = self.element_of[blocks.start];
        let text = blocks.map(text).collect::<Vec<_>>().join("\n");
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let language = self.language(start, element).unwrap_or_default();
        let indent = if text.lines().any(|line| line.starts_with("---")) { " " } else { "" };
        let lines = text.lines().map(|line| format!("{indent}{line}\n"));
        format!("{indent}{fence}{language}\n{}{indent}{fence}", lines.collect::<String>())
    }

    /// The language of a block of code: that of its innermost element with one, at most two above the code.
    fn language(&self, element: u32, code: Option<u32>) -> Option<&str> {
        let mut at = element;
        let mut above = 0;
        while at != 0 && above < 3 {
            if let Some(language) = self.languages.get(&at) {
                return Some(language);
            }
            above += usize::from(above > 0 || Some(at) == code);
            at = self.elements[at as usize].parent;
        }
        None
    }
}

/// A cell in which code has no bare `|`.
fn with_escaped_bars(cell: &str) -> String {
    let mut out = String::with_capacity(cell.len());
    for c in cell.chars() {
        if c == '|' && !out.ends_with('\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// What begins the list item of a block.
fn marker(kind: BlockKind) -> String {
    match kind {
        BlockKind::Item { number: Some(number @ 0..=999_999_999), .. } => format!("{number}. "),
        _ => "- ".to_owned(),
    }
}

#[derive(Default)]
struct MarkdownWriter {
    out: String,
    /// Containers of the last block, with the width of their markers.
    open: Vec<(Container, usize)>,
}

impl MarkdownWriter {
    /// Adds a block. `marker` begins the innermost list item, if the block is its first.
    fn block(&mut self, containers: &[Container], marker: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        let common = self.open.iter().zip(containers).take_while(|((open, _), now)| open == *now).count();
        if !self.out.is_empty() {
            // Items of a list follow each other without an empty line.
            let is_item = matches!(containers.get(common), Some(Container::Item(_))) && containers.len() == common + 1;
            let follows_item = matches!(self.open.get(common), Some((Container::Item(_), _)))
                // No other number may follow a paragraph.
                || common > 0
                    && common == self.open.len()
                    && matches!(containers[common - 1], Container::Item(_))
                    && matches!(marker, "- " | "1. ");
            self.out.push('\n');
            if !(is_item && follows_item) {
                let before = self.prefix(common);
                self.out.push_str(before.trim_end());
                self.out.push('\n');
            }
        }
        self.open.truncate(common);
        let mut first = self.prefix(common);
        for (at, container) in containers.iter().enumerate().skip(common) {
            let start = match container {
                Container::Quote(_) => "> ",
                Container::Item(_) if at + 1 == containers.len() => marker,
                Container::Item(_) => "- ",
            };
            first.push_str(start);
            self.open.push((*container, start.len()));
        }
        let rest = self.prefix(self.open.len());
        for (at, line) in text.lines().enumerate() {
            if at > 0 {
                self.out.push('\n');
            }
            let line = [if at == 0 { &first } else { &rest }, line].concat();
            self.out.push_str(line.trim_end());
        }
    }

    /// What begins a line inside the first containers.
    fn prefix(&self, containers: usize) -> String {
        let of = |(container, width): &(Container, usize)| match container {
            Container::Quote(_) => "> ".to_owned(),
            Container::Item(_) => " ".repeat(*width),
        };
        self.open[..containers].iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests;
