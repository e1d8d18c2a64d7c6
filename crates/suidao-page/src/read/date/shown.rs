//! Dates among the lines that a page shows.

use super::words::{DateSense, sense};
use super::written::{ParsedDate, located};
use super::{FEW, few};
use crate::model::Region;
use crate::read::document::ParsedDocument;
use crate::read::tokens::head;

/// Bytes of the shortest date, and of a line that may say when the page was published.
const LEAST: usize = 6;
const LINE: usize = 600;
/// Characters of a line that holds a date and little else.
const SHORT: usize = 80;
/// Of one that holds nothing else: a day of the week may stand before it, a time or a word behind.
const LONE: usize = 36;
/// Bytes of a title, and blocks among which the headline is looked for.
const TITLE: usize = 400;
const BLOCKS: usize = 20_000;
/// Lines with digits that are read for a date.
const READ: usize = 2_000;
/// Blocks from the top among which lines of particulars (author, date, tags) stand, where nothing else tells.
const TOP: usize = 40;
/// Blocks before and behind the headline that belong to it.
const BEFORE: usize = 5;
const BEHIND: usize = 12;

/// What a page's lines say.
#[derive(Debug, Default)]
pub(super) struct DatedLines {
    /// Said to be the date of publication in a line that says little more.
    pub(super) said: Option<ParsedDate>,
    /// The same in a longer line: of particulars behind the article, or of the article itself.
    pub(super) told: Option<ParsedDate>,
    /// In a short line beside the headline.
    pub(super) near: Option<ParsedDate>,
    /// In a short line near the top.
    pub(super) top: Option<ParsedDate>,
    /// On a line that says nothing else.
    pub(super) lone: Option<ParsedDate>,
    /// Said to be the date of the last change.
    pub(super) changed: Option<ParsedDate>,
}

struct Line {
    block: usize,
    written: ParsedDate,
    sense: Option<DateSense>,
    short: bool,
    /// It holds little but the date.
    lone: bool,
}

impl Line {
    /// Nothing says that the date is another's.
    fn is_own(&self) -> bool {
        !matches!(self.sense, Some(DateSense::Changed | DateSense::Other))
    }
}

/// Reads the lines of a page with this title.
pub(super) fn shown(document: &ParsedDocument, title: &str) -> DatedLines {
    let headline = headline(document, title);
    let lines = lines(document, usize::from(!title.is_empty()));
    let of = |sense: DateSense| lines.iter().filter(move |line| line.sense == Some(sense));
    DatedLines {
        said: said(of(DateSense::Published).filter(|line| line.short), headline),
        told: said(of(DateSense::Published).filter(|line| !line.short), headline),
        near: headline.and_then(|headline| near(&lines, headline)),
        top: one(lines.iter().filter(|line| line.block < TOP && line.short && line.is_own())),
        lone: one(lines.iter().filter(|line| line.lone && line.is_own())),
        changed: of(DateSense::Changed).next_back().map(|line| line.written),
    }
}

fn lines(document: &ParsedDocument, from: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut read = 0;
    let mut text = String::new();
    for (at, block) in document.blocks.iter().enumerate().skip(from) {
        let pieces = block.pieces.clone();
        let length: usize = pieces.clone().map(|piece| document.pieces[piece].text.len()).sum();
        if !(LEAST..=LINE).contains(&length) {
            continue;
        }
        text.clear();
        pieces.for_each(|piece| text.push_str(document.piece(piece)));
        if !text.contains(|c: char| c.is_numeric() || matches!(c, '〇' | '○')) {
            continue;
        }
        read += 1;
        if read > READ {
            break;
        }
        let chars = text.chars().count();
        let Some((start, written)) = located(&text, text.len() < 24) else { continue };
        let label = sense(&text[..start], &text[start..]).or_else(|| label_before(document, at));
        let lone = chars <= LONE && text[..start].chars().count() <= LONE / 3;
        lines.push(Line { block: at, written, sense: label, short: chars <= SHORT, lone });
    }
    lines
}

/// What the block before a line that begins with a date says of it: `Datum:`, a cell beside it.
fn label_before(document: &ParsedDocument, at: usize) -> Option<DateSense> {
    let text = document.block_text(document.blocks.get(at.checked_sub(1)?)?);
    let label = text.len() <= 40 && !text.contains(|c: char| c.is_ascii_digit());
    if label { sense(text, "") } else { None }
}

/// The one date that is said to be that of publication; of several the first behind the headline.
fn said<'a>(lines: impl Iterator<Item = &'a Line> + Clone, headline: Option<usize>) -> Option<ParsedDate> {
    let mut days = Vec::new();
    lines.clone().for_each(|line| few(&mut days, line.written.day));
    let behind = headline.and_then(|headline| lines.clone().find(|line| line.block + BEFORE > headline));
    if days.len() > FEW {
        let headline = headline?;
        return behind.filter(|line| line.block <= headline + BEHIND).map(|line| line.written);
    }
    behind.or_else(|| lines.clone().next()).map(|line| line.written)
}

/// The date in a short line beside the headline, behind it rather than before.
fn near(lines: &[Line], headline: usize) -> Option<ParsedDate> {
    let (from, to) = (headline.saturating_sub(BEFORE), headline + BEHIND);
    let beside = lines.iter().filter(|line| (from..=to).contains(&line.block) && line.short && line.is_own());
    let mut days = Vec::new();
    beside.clone().for_each(|line| few(&mut days, line.written.day));
    if days.len() > FEW {
        return None;
    }
    let distance = |line: &&Line| {
        if line.block >= headline { line.block - headline } else { headline - line.block + 2 }
    };
    beside.min_by_key(distance).map(|line| line.written)
}

/// The date of the first of these lines, where few days stand in them.
fn one<'a>(lines: impl Iterator<Item = &'a Line> + Clone) -> Option<ParsedDate> {
    let mut days = Vec::new();
    lines.clone().for_each(|line| few(&mut days, line.written.day));
    if days.len() <= FEW { lines.clone().next().map(|line| line.written) } else { None }
}

/// The block that repeats the title or its part, the end of it perhaps written otherwise: the longest, of those alike the first of the main content.
fn headline(document: &ParsedDocument, title: &str) -> Option<usize> {
    let title = head(title, TITLE);
    let mut best: Option<(usize, bool, usize)> = None;
    for (at, block) in document.blocks.iter().enumerate().take(BLOCKS).skip(1) {
        let text = document.block_text(block).trim();
        if text.len() < 6 || text.len() > title.len() + 8 || !title.contains(head(text, text.len() * 2 / 3)) {
            continue;
        }
        let rank = (text.len(), block.region == Region::Content);
        if best.is_none_or(|(length, content, _)| rank > (length, content)) {
            best = Some((rank.0, rank.1, at));
        }
    }
    best.map(|(_, _, at)| at)
}
