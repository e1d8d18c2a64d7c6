//! The unpacked content of a WARC file: a buffer over its frames that knows where frames start and where bytes are
//! missing.

use std::collections::VecDeque;
use std::io;

use super::super::error::StoreError;
use super::frames::{Frames, Gap, Piece};
use super::source::WarcSource;

/// The start of a record's version line.
pub(super) const WARC: &[u8] = b"WARC/";

/// Used bytes that are kept before the buffer is compacted.
const SPENT: usize = 1 << 20;

/// Where a record starts: the frame, and the byte of its unpacked content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct RecordPosition {
    pub frame: u64,
    pub offset: u64,
}

/// Where a record must end.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    at: u64,
    /// Bytes that are missing here; `None` if a frame with a record starts.
    pub gap: Option<Gap>,
    /// The frame before the gap has given bytes.
    pub has_content: bool,
}

pub(super) struct Unpacked {
    frames: Frames,
    /// Bytes before `start` are used.
    buffer: Vec<u8>,
    start: usize,
    /// Bytes before the buffer.
    before: u64,
    /// Where frames start, in unpacked bytes and in the file. The first is that of `start`.
    marks: VecDeque<(u64, u64)>,
    edges: VecDeque<Edge>,
    /// The last frame has not given enough bytes to show whether it starts with a record.
    is_new: bool,
}

impl Unpacked {
    pub fn open(source: &WarcSource) -> Result<Self, StoreError> {
        let frames = Frames::open(source)?;
        let (marks, edges) = (VecDeque::new(), VecDeque::new());
        Ok(Self { frames, buffer: Vec::new(), start: 0, before: 0, marks, edges, is_new: false })
    }

    /// The bytes that are buffered and not used.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Bytes before [`rest`](Self::rest).
    pub fn at(&self) -> u64 {
        self.before + self.start as u64
    }

    /// The position of the byte `ahead` in the rest.
    pub fn position(&self, ahead: usize) -> RecordPosition {
        let at = self.at() + ahead as u64;
        let after = self.marks.partition_point(|(mark, _)| *mark <= at);
        let (mark, frame) = after.checked_sub(1).map_or((at, 0), |index| self.marks[index]);
        RecordPosition { frame, offset: at - mark }
    }

    /// The byte of the file to name in a message.
    pub fn place(&self) -> u64 {
        let position = self.position(0);
        position.frame + if self.frames.plain_length().is_some() { position.offset } else { 0 }
    }

    /// Bytes to the end of the file, if they are known.
    pub fn left(&self) -> Option<u64> {
        self.frames.plain_length().map(|length| length.saturating_sub(self.place()))
    }

    /// Reads on; false at the end of the file.
    pub fn pull(&mut self) -> io::Result<bool> {
        if self.start > SPENT.max(self.buffer.len() / 2) {
            self.buffer.drain(..self.start);
            self.before += self.start as u64;
            self.start = 0;
        }
        let piece = self.frames.next(&mut self.buffer)?;
        let mark = self.marks.back().map_or(0, |(mark, _)| *mark);
        let content = &self.buffer[mark.saturating_sub(self.before) as usize..];
        if self.is_new && (content.len() >= WARC.len() || piece != Piece::Data) {
            self.is_new = false;
            if content.starts_with(WARC) {
                self.edges.push_back(Edge { at: mark, gap: None, has_content: true });
            }
        }
        let end = self.before + self.buffer.len() as u64;
        match piece {
            Piece::Data => {}
            Piece::Frame(frame) => {
                // A frame without content.
                if self.marks.back().is_some_and(|(mark, _)| *mark == end) {
                    self.marks.pop_back();
                }
                self.marks.push_back((end, frame));
                self.is_new = true;
            }
            Piece::Gap(gap) => {
                let has_content = mark < end;
                // Nothing between two gaps: they are one.
                match self.edges.back_mut() {
                    Some(Edge { at, gap: Some(_), .. }) if *at == end => {}
                    _ => self.edges.push_back(Edge { at: end, gap: Some(gap), has_content }),
                }
            }
            Piece::End => return Ok(false),
        }
        Ok(true)
    }

    /// Reads until the rest has `length` bytes, or a place where a record must end.
    pub fn fill(&mut self, length: usize) -> io::Result<()> {
        while self.rest().len() < length && self.edge_before(self.rest().len()).is_none() && self.pull()? {}
        Ok(())
    }

    pub fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        let at = self.at();
        while self.marks.get(1).is_some_and(|(mark, _)| *mark <= at) {
            self.marks.pop_front();
        }
        while self.edges.front().is_some_and(|edge| edge.at < at || edge.at == at && edge.gap.is_none()) {
            self.edges.pop_front();
        }
    }

    /// The first place within the next bytes, but not at their start, where a record must end: its distance.
    pub fn edge_before(&self, length: usize) -> Option<(usize, &Edge)> {
        let (at, end) = (self.at(), self.at() + length as u64);
        let edge = self.edges.iter().find(|edge| edge.at > at)?;
        (edge.at < end).then(|| ((edge.at - at) as usize, edge))
    }

    /// The gap at the byte `ahead` of the rest.
    pub fn gap_at(&self, ahead: usize) -> Option<&Edge> {
        let at = self.at() + ahead as u64;
        self.edges.iter().take_while(|edge| edge.at <= at).find(|edge| edge.at == at && edge.gap.is_some())
    }

    /// The gap here, which is then passed.
    pub fn take_gap(&mut self) -> Option<Edge> {
        let at = self.at();
        let is_here = self.edges.front().is_some_and(|edge| edge.at == at && edge.gap.is_some());
        if is_here { self.edges.pop_front() } else { None }
    }

    /// Distance to the next gap, or the length of the rest.
    pub fn before_gap(&self) -> usize {
        let gap = self.edges.iter().find(|edge| edge.gap.is_some());
        gap.map_or(self.rest().len(), |edge| (edge.at.saturating_sub(self.at())) as usize)
    }

    /// Continues at a position.
    pub fn seek(&mut self, to: RecordPosition) -> io::Result<()> {
        self.buffer.clear();
        self.marks.clear();
        self.edges.clear();
        (self.start, self.before, self.is_new) = (0, 0, false);
        if self.frames.plain_length().is_some() {
            return self.frames.seek(to.frame + to.offset);
        }
        self.frames.seek(to.frame)?;
        let mut left = to.offset;
        while left > 0 && (!self.rest().is_empty() || self.pull()?) {
            let part = usize::try_from(left).unwrap_or(usize::MAX).min(self.rest().len());
            self.consume(part);
            left -= part as u64;
        }
        Ok(())
    }
}
