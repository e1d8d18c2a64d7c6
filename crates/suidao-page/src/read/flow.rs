//! White space and line breaks in text.
//!
//! Outside `pre`, white space folds to one blank, one `br` is a line feed and two end a paragraph; line ends between
//! ideographs come from an editor and are removed. In `pre`, lines and indentation remain, because program code needs
//! them.

use super::document::{BlockKind, TextBlock, TextPiece};
use super::hanzi::is_ideograph;
use super::markup::{BlockStats, MarkupBuilder, TEXT, TextStats};
use crate::model::Region;

/// Maximum white space in a row in preformatted text.
const MAX_GAP: usize = 200;

/// White space since the last text of a block.
#[derive(Debug, Default)]
pub(super) struct Gap {
    any: bool,
    /// It contains a line end.
    line: bool,
    /// `br` since the last text.
    breaks: u32,
    /// Its characters, in preformatted text.
    exact: String,
}

impl Gap {
    fn clear(&mut self) {
        (self.any, self.line, self.breaks) = (false, false, 0);
        self.exact.clear();
    }

    /// Adds a character of preformatted text.
    fn push(&mut self, c: char) {
        self.any = true;
        if c == '\n' {
            // Removes blanks at line ends and repeated empty lines.
            let bare = self.exact.trim_end_matches([' ', '\t']).len();
            self.exact.truncate(bare);
            if self.exact.bytes().rev().take_while(|&byte| byte == b'\n').count() < 2 {
                self.exact.push(c);
            }
        } else if self.exact.len() < MAX_GAP && c != '\r' {
            self.exact.push(if c == '\t' { c } else { ' ' });
        }
    }
}

impl MarkupBuilder {
    pub(super) fn end_block(&mut self) {
        self.block = None;
        self.in_run = false;
        self.gap.clear();
    }

    /// One `br` ends a line, two end a paragraph.
    pub(super) fn line_break(&mut self) {
        if self.pre.is_some() {
            self.gap.push('\n');
        } else if self.block.is_some() {
            self.gap.breaks += 1;
            self.gap.any = true;
            if self.gap.breaks > 1 {
                self.end_block();
            }
        }
    }

    /// Adds visible text.
    pub(super) fn flow(&mut self, text: &str) {
        let mut start = None;
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            if c.is_whitespace() || matches!(c, '\u{200B}' | '\u{FEFF}' | '\u{AD}') || c.is_control() {
                if let Some(start) = start.take() {
                    self.run(&text[start..at], std::mem::take(&mut plain));
                }
                if self.pre.is_some() && c.is_whitespace() {
                    self.gap.push(c);
                } else if c.is_whitespace() {
                    // Old pages begin a paragraph with `br` and an indented line.
                    if c == '\u{3000}' && self.gap.breaks > 0 {
                        self.end_block();
                    }
                    self.gap.any = true;
                    self.gap.line |= c == '\n';
                }
            } else {
                plain += if is_wide(c) { 3 } else { 1 };
                start = start.or(Some(at));
            }
        }
        if let Some(start) = start {
            self.run(&text[start..], plain);
        }
    }

    /// Adds text without white space.
    fn run(&mut self, run: &str, length: u32) {
        let room = TEXT.saturating_sub(self.markup.document.text.len() + self.gap.exact.len() + 1);
        self.markup.cut |= room < run.len();
        let run = &run[..run.floor_char_boundary(room)];
        if run.is_empty() {
            return;
        }
        let block = self.open_block();
        let document = &mut self.markup.document;
        let begun = !document.blocks[block].pieces.is_empty();
        let mut start = document.text.len();
        match between(&self.gap, begun, self.link.is_some(), &document.text, run) {
            "" => {}
            blank => {
                document.text.push_str(blank);
                // Hidden pieces cannot contain it.
                match document.pieces.last_mut().filter(|last| begun && !last.hidden) {
                    Some(last) => {
                        last.text.end = document.text.len();
                        start = last.text.end;
                    }
                    None => self.in_run = false,
                }
            }
        }
        self.gap.clear();
        document.text.push_str(run);
        let end = document.text.len();
        match document.pieces.last_mut() {
            Some(piece) if self.in_run => piece.text.end = end,
            _ => {
                document.pieces.push(TextPiece { text: start..end, hidden: false });
                document.blocks[block].pieces.end = document.pieces.len();
                self.in_run = true;
            }
        }
        let total = &mut self.markup.block_stats[block].text_stats;
        match &mut self.link {
            Some(link) => {
                total.linked += length;
                total.links += u32::from(link.block.is_none());
                link.block.get_or_insert(block);
            }
            None => total.plain += length,
        }
    }

    pub(super) fn open_block(&mut self) -> usize {
        if let Some(block) = self.block {
            return block;
        }
        let pieces = self.markup.document.pieces.len();
        self.markup.document.blocks.push(TextBlock {
            pieces: pieces..pieces,
            region: Region::Content,
            kind: BlockKind::Paragraph,
        });
        self.markup.block_stats.push(BlockStats { element: self.element(), text_stats: TextStats::default() });
        self.in_run = false;
        let block = self.markup.document.blocks.len() - 1;
        self.block = Some(block);
        block
    }
}

/// The separator between the text before and a run: none, white space unchanged, a line feed or a blank. `begun`: the
/// block has text already.
fn between<'a>(gap: &'a Gap, begun: bool, linked: bool, before: &str, run: &str) -> &'a str {
    if !gap.any {
        return "";
    }
    if !gap.exact.is_empty() {
        // Before the first line only its own indentation counts.
        let exact = if begun { &*gap.exact } else { gap.exact.rsplit('\n').next().unwrap_or_default() };
        // The text of a link is one line.
        return if linked && begun { " " } else { exact };
    }
    if !begun {
        return "";
    }
    if gap.breaks > 0 && !linked {
        return "\n";
    }
    // A line end between ideographs comes from an editor and is not a blank.
    let wide = |c: Option<char>| c.is_some_and(is_wide);
    if gap.line && gap.breaks == 0 && wide(run.chars().next()) && wide(before.chars().next_back()) { "" } else { " " }
}

/// Ideographs, kana and full-width forms: scripts without spaces between words.
fn is_wide(c: char) -> bool {
    c >= '\u{2E80}' && (is_ideograph(c) || matches!(c, '\u{3000}'..='\u{30FF}' | '\u{FF00}'..='\u{FFEF}'))
}
