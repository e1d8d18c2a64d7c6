//! Dates in the visible lines of a page.

use super::words::{DateSense, sense};
use super::written::{ParsedDate, located};
use super::{FEW, few};
use crate::model::Region;
use crate::read::document::ParsedDocument;
use crate::read::tokens::head;

/// Bytes of the shortest date, and of a line that may state the publication date.
const LEAST: usize = 6;
const LINE: usize = 600;
/// Characters of a line with a date and little else.
const SHORT: usize = 80;
/// Characters of a line with a date only, with weekday, time or a word.
const LONE: usize = 36;
/// Bytes of a title, and blocks to search for the headline.
const TITLE: usize = 400;
const BLOCKS: usize = 20_000;
/// Maximum lines with digits to read.
const READ: usize = 2_000;
/// Blocks from the top that may be metadata lines (author, date, tags), without a headline.
const TOP: usize = 40;
/// Blocks before and after the headline that belong to it.
const BEFORE: usize = 5;
const MAX_LINES_AFTER: usize = 12;

/// Candidate dates by the kind of line.
#[derive(Debug, Default)]
pub(super) struct DatedLines {
    /// Named as publication date, in a line with little else.
    pub(super) labelled: Option<ParsedDate>,
    /// The same in a longer line, of metadata below the article or in its text.
    pub(super) in_sentence: Option<ParsedDate>,
    /// In a short line next to the headline.
    pub(super) near: Option<ParsedDate>,
    /// In a short line near the top.
    pub(super) top: Option<ParsedDate>,
    /// In a line of its own.
    pub(super) lone: Option<ParsedDate>,
    /// Named as modification date.
    pub(super) changed: Option<ParsedDate>,
}

struct Line {
    block: usize,
    written: ParsedDate,
    sense: Option<DateSense>,
    short: bool,
    /// Little text besides the date.
    lone: bool,
}

impl Line {
    /// Nothing indicates another date than publication.
    fn is_own(&self) -> bool {
        !matches!(self.sense, Some(DateSense::Changed | DateSense::Other))
    }
}

pub(super) fn dated_lines(document: &ParsedDocument, title: &str) -> DatedLines {
    let headline = headline(document, title);
    let lines = lines(document, usize::from(!title.is_empty()));
    let of = |sense: DateSense| lines.iter().filter(move |line| line.sense == Some(sense));
    DatedLines {
        labelled: dated(of(DateSense::Published).filter(|line| line.short), headline),
        in_sentence: dated(of(DateSense::Published).filter(|line| !line.short), headline),
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

/// The meaning of a date at the start of a line, from the block before: `Datum:`, an adjacent cell.
fn label_before(document: &ParsedDocument, at: usize) -> Option<DateSense> {
    let text = document.block_text(document.blocks.get(at.checked_sub(1)?)?);
    let label = text.len() <= 40 && !text.contains(|c: char| c.is_ascii_digit());
    if label { sense(text, "") } else { None }
}

/// The date named as publication date; of several the first after the headline.
fn dated<'a>(lines: impl Iterator<Item = &'a Line> + Clone, headline: Option<usize>) -> Option<ParsedDate> {
    let mut days = Vec::new();
    lines.clone().for_each(|line| few(&mut days, line.written.day));
    let following = headline.and_then(|headline| lines.clone().find(|line| line.block + BEFORE > headline));
    if days.len() > FEW {
        let headline = headline?;
        return following.filter(|line| line.block <= headline + MAX_LINES_AFTER).map(|line| line.written);
    }
    following.or_else(|| lines.clone().next()).map(|line| line.written)
}

/// The date in a short line next to the headline, preferably after it.
fn near(lines: &[Line], headline: usize) -> Option<ParsedDate> {
    let (from, to) = (headline.saturating_sub(BEFORE), headline + MAX_LINES_AFTER);
    let nearby = lines.iter().filter(|line| (from..=to).contains(&line.block) && line.short && line.is_own());
    let mut days = Vec::new();
    nearby.clone().for_each(|line| few(&mut days, line.written.day));
    if days.len() > FEW {
        return None;
    }
    let distance = |line: &&Line| {
        if line.block >= headline { line.block - headline } else { headline - line.block + 2 }
    };
    nearby.min_by_key(distance).map(|line| line.written)
}

/// The first date of these lines, if they contain few days.
fn one<'a>(lines: impl Iterator<Item = &'a Line> + Clone) -> Option<ParsedDate> {
    let mut days = Vec::new();
    lines.clone().for_each(|line| few(&mut days, line.written.day));
    if days.len() <= FEW { lines.clone().next().map(|line| line.written) } else { None }
}

/// The block that repeats the title or a part of it, possibly with another ending: the longest, then the first in the
/// main content.
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
