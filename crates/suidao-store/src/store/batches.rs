//! `state/batches`: every batch of the log once more, in a plain file that any number of processes read while one
//! writes, because the engine admits a single process.
//!
//! A frame is the length of its content and the crc32 of it (u32 each, little endian), and the content: postcard of a
//! [`Record`]. The file is append-only. How much of it counts is in the [`CommitMarker`](super::marker::CommitMarker).

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::error::StoreError;
use super::plain_file;
use super::record::Record;

/// Limits of what is read and decoded at a time, in parallel.
pub(super) const READ_AHEAD: usize = 1024;
const READ_AHEAD_BYTES: usize = 16 << 20;

/// Length and checksum.
const HEAD: u64 = 8;

/// The first batches of the log: their number, and where they end in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogExtent {
    pub batches: u64,
    pub bytes: u64,
}

impl LogExtent {
    /// With one more batch, whose checksum and content are `frame`.
    pub fn and(self, frame: &[u8]) -> Self {
        Self { batches: self.batches + 1, bytes: self.bytes + 4 + frame.len() as u64 }
    }
}

/// Checksum and content of a batch.
pub(super) fn encode(record: &Record) -> Result<Vec<u8>, String> {
    let mut frame = postcard::to_extend(record, vec![0; 4]).map_err(|error| error.to_string())?;
    let sum = checksum(&frame[4..]);
    frame[..4].copy_from_slice(&sum.to_le_bytes());
    Ok(frame)
}

pub(super) fn decode(frame: &[u8]) -> Result<Record, String> {
    postcard::from_bytes(content(frame)?).map_err(|error| error.to_string())
}

/// The content of a frame, if its checksum is right.
pub(super) fn content(frame: &[u8]) -> Result<&[u8], String> {
    let (sum, content) = frame.split_at_checked(4).ok_or("too short")?;
    if sum != checksum(content).to_le_bytes() {
        return Err("its checksum is wrong".to_owned());
    }
    Ok(content)
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Appends a frame as it is in the file.
pub(super) fn put(frame: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(frame.len() - 4).expect("a batch is shorter than 4 GB");
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(frame);
}

/// Reads the frames from one position of the file to another.
#[derive(Debug)]
pub(super) struct Frames {
    from: BufReader<File>,
    path: PathBuf,
    at: LogExtent,
    end: LogExtent,
    ended: bool,
}

impl Frames {
    pub fn open(path: &Path, at: LogExtent, end: LogExtent) -> Result<Self, StoreError> {
        let file = plain_file::open(path, File::options().read(true))?;
        let mut from = BufReader::with_capacity(1 << 18, file);
        from.seek(SeekFrom::Start(at.bytes)).map_err(StoreError::io(path, "read it"))?;
        Ok(Self { from, path: path.to_owned(), at, end, ended: false })
    }

    /// The end of the intact frames from `from` on, whatever follows.
    pub fn intact(path: &Path, from: LogExtent) -> Result<LogExtent, StoreError> {
        let file = plain_file::open(path, File::options().read(true))?;
        let bytes = file.metadata().map_err(StoreError::io(path, "read its size"))?.len();
        let from = if from.bytes > bytes { LogExtent::default() } else { from };
        let mut frames = Self::open(path, from, LogExtent { batches: u64::MAX, bytes })?;
        let mut end = from;
        loop {
            match frames.next() {
                Some(Ok(frame)) if content(&frame).is_ok() => end = end.and(&frame),
                Some(Err(error @ StoreError::Io { .. })) => return Err(error),
                _ => return Ok(end),
            }
        }
    }

    /// Where each batch ends, up to the first damaged head.
    pub fn ends(mut self) -> Vec<u64> {
        let mut ends = Vec::new();
        while let Ok(Some(length)) = self.head() {
            if self.from.seek_relative(i64::from(length) + 4).is_err() {
                break;
            }
            self.at = LogExtent { batches: self.at.batches + 1, bytes: self.at.bytes + HEAD + u64::from(length) };
            ends.push(self.at.bytes);
        }
        ends
    }

    /// Length of the next content; `None` at the end.
    fn head(&mut self) -> Result<Option<u32>, StoreError> {
        let Self { at, end, .. } = *self;
        if at == end {
            return Ok(None);
        }
        let left = end.bytes.saturating_sub(at.bytes);
        if at.batches >= end.batches {
            return Err(self.damaged(format!("{left} bytes follow its last batch")));
        }
        let mut length = [0; 4];
        match self.from.read_exact(&mut length) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Err(self.cut()),
            Err(error) => return Err(StoreError::io(&self.path, "read it")(error)),
        }
        let length = u32::from_le_bytes(length);
        // Zeros are what a power failure leaves of bytes that were not on disk.
        if length == 0 || u64::from(length) + HEAD > left {
            return Err(self.damaged(format!("batch {}: it has a length of {length} bytes", at.batches)));
        }
        Ok(Some(length))
    }

    fn frame(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(length) = self.head()? else { return Ok(None) };
        let length = u64::from(length) + 4;
        let mut frame = Vec::new();
        // Memory is allocated only as bytes arrive.
        let read = self.from.by_ref().take(length).read_to_end(&mut frame);
        read.map_err(StoreError::io(&self.path, "read it"))?;
        if (frame.len() as u64) < length {
            return Err(self.cut());
        }
        self.at = self.at.and(&frame);
        Ok(Some(frame))
    }

    fn cut(&self) -> StoreError {
        let number = self.at.batches;
        let saved = self.end.batches;
        self.damaged(format!("it ends in batch {number}, but {saved} were saved"))
    }

    fn damaged(&self, what: String) -> StoreError {
        StoreError::damaged(&self.path, what)
    }
}

impl Iterator for Frames {
    type Item = Result<Vec<u8>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.frame().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

/// Decodes frames: on all cores, a portion at a time, because that costs more than reading (most of it is URLs). An
/// error ends the iteration.
pub(super) fn decoded(frames: Result<Frames, StoreError>) -> impl Iterator<Item = Result<Record, StoreError>> {
    let (mut frames, mut failure) = match frames {
        Ok(frames) => (Some(frames), None),
        Err(error) => (None, Some(error)),
    };
    let mut portion: std::vec::IntoIter<Result<Record, StoreError>> = Vec::new().into_iter();
    std::iter::from_fn(move || {
        if portion.len() == 0
            && failure.is_none()
            && let Some(frames) = &mut frames
        {
            let first = frames.at.batches;
            let (mut raw, mut bytes) = (Vec::new(), 0);
            while raw.len() < READ_AHEAD && bytes < READ_AHEAD_BYTES {
                match frames.next() {
                    Some(Ok(frame)) => {
                        bytes += frame.len();
                        raw.push(frame);
                    }
                    Some(Err(error)) => {
                        failure = Some(error);
                        break;
                    }
                    None => break,
                }
            }
            let path = &frames.path;
            let records = raw.into_par_iter().enumerate().map(|(at, frame)| {
                let number = first + at as u64;
                decode(&frame).map_err(|what| StoreError::damaged(path, format!("batch {number}: {what}")))
            });
            portion = records.collect::<Vec<_>>().into_iter();
        }
        let item = portion.next().or_else(|| failure.take().map(Err));
        if matches!(item, Some(Err(_))) {
            (portion, frames, failure) = (Vec::new().into_iter(), None, None);
        }
        item
    })
}

/// Appends frames to the file.
pub(super) fn append(file: &mut File, path: &Path, frames: &[u8]) -> Result<(), StoreError> {
    io::Write::write_all(file, frames).map_err(StoreError::io(path, "append to the log"))
}
