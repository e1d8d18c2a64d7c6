//! The records of a WARC file of any software, however it is packed and damaged: one reader for import, replay and
//! samples.
//!
//! A record counts if its block ends where a record may end: before the next record, a blank line, the next frame or
//! the end of the file. Otherwise its `Content-Length` is wrong, and reading continues at the next frame with a record,
//! or version line. [`WarcDamage`] has what was skipped.

mod damage;
mod frames;
mod source;
mod unpacked;

use std::io::{self, ErrorKind};

use memchr::memmem;

use super::error::StoreError;
use super::warc::{self, HEAD_LIMIT, RecordHeader};
pub use damage::WarcDamage;
use frames::GapReason;
use source::GZIP_MEMBER;
pub(super) use source::WarcSource;
pub(super) use unpacked::RecordPosition;
use unpacked::{Edge, Unpacked, WARC};

/// Bytes after a block that show whether the record ends there.
const AFTER: usize = 64;

/// Bytes in which a record without a version line has one of its fields.
const HEADER_START: usize = 256;

/// Length of a version line, `WARC/1.1` and the line end.
const VERSION_LINE: usize = 10;

/// How often a file is read again from within a record that is too large to buffer and has a wrong length.
const MOST_RETURNS: u32 = 16;

const CUT: &str = "the file ends in the middle of a record";
const NO_HEADER: &str = "a record without a valid header";
const WRONG_LENGTH: &str = "a record whose Content-Length is wrong";
const WRONG_DIGEST: &str = "a record whose content differs from its digest";
const MIXED: &str = "packed and plain records in one file, of which one kind is read; split it";
const CORRUPT: &str = "compressed data that is corrupt";

/// A complete record.
pub(super) struct Found {
    pub position: RecordPosition,
    pub head: RecordHeader,
    /// Its block is larger than the limit and was skipped.
    pub is_too_large: bool,
}

impl Found {
    /// Whether it is the rendered copy of a response, of at most `limit` bytes.
    pub fn renders(&self, of: &Self, limit: usize) -> bool {
        self.head.renders(&of.head) && self.head.length <= limit as u64
    }
}

pub(super) struct RecordReader {
    input: Unpacked,
    /// Largest block that is read.
    limit: usize,
    /// Length of the head and the block of the record that was returned last, if they are in the buffer.
    current: Option<(usize, usize)>,
    returns: u32,
    damage: WarcDamage,
}

impl RecordReader {
    /// Opens a file; reads blocks of at most `limit` bytes.
    pub fn open(source: &WarcSource, limit: usize) -> Result<Self, StoreError> {
        let input = Unpacked::open(source)?;
        Ok(Self { input, limit, current: None, returns: 0, damage: WarcDamage::default() })
    }

    pub fn damage(&self) -> &WarcDamage {
        &self.damage
    }

    /// Continues with the record at a position.
    pub fn seek(&mut self, to: RecordPosition) -> io::Result<()> {
        self.current = None;
        self.input.seek(to)
    }

    /// The block of the record that `next` returned; empty if it is too large.
    pub fn block(&self) -> &[u8] {
        self.current.map_or(&[], |(head, block)| &self.input.rest()[head..head + block])
    }

    /// The next complete record.
    pub fn next(&mut self) -> io::Result<Option<Found>> {
        if let Some((head, block)) = self.current.take() {
            self.input.consume(head + block);
        }
        while self.skip_line_ends()? {
            let place = self.input.place();
            self.input.fill(HEADER_START)?;
            let rest = self.input.rest();
            if !rest.starts_with(WARC) {
                let start = rest.len().min(HEADER_START);
                let before_next = self.version_line(start).unwrap_or(start);
                let has_fields = memmem::find(&rest[..before_next], b"\nWARC-").is_some();
                match has_fields {
                    true => self.damage.record(place, NO_HEADER),
                    false if rest.starts_with(&GZIP_MEMBER) => self.damage.record(place, MIXED),
                    false => self.damage.other(place, "data that is not a record"),
                }
                self.seek_record()?;
                continue;
            }
            let position = self.input.position(0);
            let (head, head_length) = match self.head()? {
                Ok(head) => head,
                Err(bad) => {
                    self.damage.record(place, bad.what);
                    self.skip_head(&bad);
                    self.seek_record()?;
                    continue;
                }
            };
            let block = usize::try_from(head.length).ok().filter(|length| *length <= self.limit);
            let is_too_large = block.is_none();
            let wrong = match block {
                Some(block) => self.misfit(&head, head_length, block)?,
                None => self.skip_large(&head, head_length)?,
            };
            match wrong {
                None => {
                    self.current = block.map(|block| (head_length, block));
                    return Ok(Some(Found { position, head, is_too_large }));
                }
                Some(what) => {
                    self.damage.record(place, what);
                    if !is_too_large {
                        self.input.consume(1);
                    }
                    self.seek_record()?;
                }
            }
        }
        Ok(None)
    }

    /// Skips the line ends between records, whose number varies; false at the end of the file.
    fn skip_line_ends(&mut self) -> io::Result<bool> {
        loop {
            let rest = &self.input.rest()[..self.input.before_gap().min(self.input.rest().len())];
            let line_ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let is_data = line_ends < rest.len();
            self.input.consume(line_ends);
            if let Some(edge) = self.input.take_gap() {
                self.report(&edge);
            } else if is_data {
                return Ok(true);
            } else if self.input.rest().is_empty() && !self.input.pull()? {
                return Ok(false);
            }
        }
    }

    /// Notes a gap between records.
    fn report(&mut self, edge: &Edge) {
        let Some(gap) = &edge.gap else { return };
        match gap.why {
            GapReason::Zeros => self.damage.other(gap.from, "zeros"),
            GapReason::Unpacked => self.damage.record(gap.from, MIXED),
            GapReason::Text => self.damage.other(gap.from, "text that is not a record"),
            GapReason::NoFrame => self.damage.record(gap.from, "data that is not a compressed record"),
            GapReason::Damaged if edge.has_content => self.damage.other(gap.from, "a wrong checksum"),
            GapReason::Damaged => self.damage.record(gap.from, CORRUPT),
            GapReason::Truncated if edge.has_content => self.damage.other(gap.from, "compressed data without its end"),
            GapReason::Truncated => self.damage.record(gap.from, CUT),
        }
    }

    /// The head of the record here and its length, or what is wrong with it.
    fn head(&mut self) -> io::Result<Result<(RecordHeader, usize), BadHead>> {
        loop {
            let known = self.input.rest().len();
            let mut input = self.input.rest();
            let read = RecordHeader::read(&mut input);
            let extent = known - input.len();
            let edge = self.input.edge_before(extent + usize::from(read.is_err()));
            let edge = edge.map(|(distance, edge)| (distance, edge.gap.is_some()));
            let what = match (read, edge) {
                (Ok(Some(head)), None) => return Ok(Ok((head, extent))),
                (_, Some((_, true))) => CORRUPT,
                (Err(error), None) if error.kind() == ErrorKind::UnexpectedEof && known < HEAD_LIMIT => {
                    self.input.fill((2 * known).max(4096))?;
                    if self.input.rest().len() > known {
                        continue;
                    }
                    CUT
                }
                _ => NO_HEADER,
            };
            let extent = edge.map_or(extent, |(distance, _)| distance.min(extent));
            return Ok(Err(BadHead { what, extent }));
        }
    }

    /// Skips a bad head, up to the last version line in it: no head that starts before that line is complete.
    fn skip_head(&mut self, bad: &BadHead) {
        let rest = &self.input.rest()[..bad.extent];
        let last = memmem::rfind_iter(rest, WARC).find(|at| is_version_line(&rest[*at..])).filter(|at| *at > 0);
        self.input.consume(last.unwrap_or(bad.extent).max(1));
    }

    /// What is wrong with the record here, if anything.
    fn misfit(&mut self, head: &RecordHeader, head_length: usize, block: usize) -> io::Result<Option<&'static str>> {
        let end = head_length + block;
        if self.input.left().is_some_and(|left| left < end as u64) {
            return Ok(Some(CUT));
        }
        self.input.fill(end + AFTER)?;
        if let Some((_, edge)) = self.input.edge_before(end) {
            return Ok(Some(cut_by(edge)));
        }
        let Some(content) = self.input.rest().get(head_length..end) else { return Ok(Some(CUT)) };
        Ok(match self.ending(end) {
            Ending::Record => None,
            // A checksum is wrong, or other bytes follow a blank line: the content shows whether it is complete.
            Ending::Gap | Ending::BlankLine => match head.matches_digest(content) {
                Some(true) => None,
                Some(false) => Some(WRONG_DIGEST),
                None => warc::lacks_bytes(content).then_some(WRONG_LENGTH),
            },
            Ending::Other => Some(WRONG_LENGTH),
        })
    }

    /// Skips the record here, which is too large to buffer; what is wrong with it, if anything. A wrong length may have
    /// hidden records: then reading continues at the first of them.
    fn skip_large(&mut self, head: &RecordHeader, head_length: usize) -> io::Result<Option<&'static str>> {
        let length = (head_length as u64).saturating_add(head.length);
        if self.input.left().is_some_and(|left| left < length) {
            self.input.consume(1);
            return Ok(Some(CUT));
        }
        let end = self.input.at().saturating_add(length);
        let mut hidden = None;
        self.input.consume(head_length);
        let wrong = loop {
            let left = usize::try_from(end - self.input.at()).unwrap_or(usize::MAX);
            if hidden.is_none() {
                let part = &self.input.rest()[..self.input.rest().len().min(left)];
                hidden = self.version_line(part.len()).map(|at| self.input.position(at));
            }
            if let Some((distance, edge)) = self.input.edge_before(left.min(self.input.rest().len())) {
                let what = cut_by(edge);
                self.input.consume(distance);
                break Some(what);
            }
            if self.input.rest().len() >= left.saturating_add(AFTER) {
                self.input.consume(left);
                break matches!(self.ending(0), Ending::Other).then_some(WRONG_LENGTH);
            }
            let used = self.input.rest().len().saturating_sub(AFTER).min(left);
            self.input.consume(used);
            if !self.input.pull()? {
                let have = self.input.rest().len();
                self.input.consume(have.min(left));
                break (have < left).then_some(CUT);
            }
        };
        if let (Some(_), Some(position)) = (wrong, hidden)
            && self.returns < MOST_RETURNS
        {
            self.returns += 1;
            self.input.seek(position)?;
        }
        Ok(wrong)
    }

    /// What follows the byte `end` of the rest.
    fn ending(&self, end: usize) -> Ending {
        let after = &self.input.rest()[end..];
        let line_ends = after.iter().take(AFTER / 2).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        if (end..=end + line_ends).any(|at| self.input.gap_at(at).is_some()) {
            return Ending::Gap;
        }
        let next = &after[line_ends..];
        let lines = after[..line_ends].iter().filter(|byte| **byte == b'\n').count();
        match () {
            () if next.is_empty() || next.starts_with(WARC) => Ending::Record,
            () if lines > 1 => Ending::BlankLine,
            () => Ending::Other,
        }
    }

    /// Goes to the next record, which may be here, or to the end of the file.
    fn seek_record(&mut self) -> io::Result<()> {
        loop {
            let searched = self.input.before_gap().min(self.input.rest().len());
            if let Some(at) = self.version_line(searched) {
                self.input.consume(at);
                match self.head()? {
                    Ok((head, _)) if head.field("warc-type").is_some() => return Ok(()),
                    Ok((_, extent)) => self.skip_head(&BadHead { what: NO_HEADER, extent }),
                    Err(bad) => self.skip_head(&bad),
                }
                continue;
            }
            if self.input.gap_at(searched).is_some() {
                self.input.consume(searched);
                let Some(edge) = self.input.take_gap() else { continue };
                // What was passed is already counted, unless the gap is another damaged place.
                if !edge.has_content {
                    self.report(&edge);
                }
            } else {
                // The start of a version line is kept.
                self.input.consume(searched.saturating_sub(VERSION_LINE));
                if !self.input.pull()? {
                    self.input.consume(self.input.rest().len());
                    return Ok(());
                }
            }
        }
    }

    /// The first version line in the next bytes. It need not start a line: the record before may have been cut.
    fn version_line(&self, searched: usize) -> Option<usize> {
        let rest = self.input.rest();
        memmem::find_iter(rest, WARC).take_while(|at| *at < searched).find(|at| is_version_line(&rest[*at..]))
    }
}

/// A head that is not valid.
struct BadHead {
    what: &'static str,
    /// Bytes that were read of it.
    extent: usize,
}

fn is_version_line(line: &[u8]) -> bool {
    matches!(line.get(WARC.len()..VERSION_LINE - 1), Some([major, b'.', minor, b'\r' | b'\n'])
        if major.is_ascii_digit() && minor.is_ascii_digit())
}

enum Ending {
    /// The next record, or the end of the file.
    Record,
    /// Missing bytes.
    Gap,
    /// A blank line, and then something else.
    BlankLine,
    Other,
}

fn cut_by(edge: &Edge) -> &'static str {
    match edge.gap.as_ref().map(|gap| gap.why) {
        None => WRONG_LENGTH,
        Some(GapReason::Truncated) => CUT,
        Some(_) => CORRUPT,
    }
}

#[cfg(test)]
mod tests;
