//! Unpacks a WARC file frame by frame (gzip members, zstd frames; a plain file is one frame), and passes over bytes
//! that do not unpack.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use flate2::{Decompress, FlushDecompress, Status};
use memchr::{memchr, memmem};
use zstd::stream::raw::{Decoder as ZstdDecoder, InBuffer, Operation, OutBuffer};

use super::super::error::StoreError;
use super::super::warc::GZIP;
use super::source::{Packing, Section, WarcSource, ZSTD};

/// Bytes that are unpacked at a time.
const PIECE: usize = 32 << 10;

/// Longest magic number of a frame.
const MAGIC: usize = 4;

/// Packed bytes that show whether a frame begins at a place, and of zstd if its first block is longer.
const TRIED: usize = 4 << 10;
const ZSTD_BLOCK: usize = 160 << 10;

/// Bytes after a damaged place are unpacked again, because the damage may have hidden the start of a frame. In total at
/// most so many, or as many as the file has.
const REREAD: u64 = 1 << 20;

/// What comes next of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A frame starts at this byte of the file.
    Frame(u64),
    /// Unpacked bytes.
    Data,
    Gap(Gap),
    End,
}

/// Bytes of the file that could not be unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub from: u64,
    pub to: u64,
    pub why: GapReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GapReason {
    /// Only zeros.
    Zeros,
    /// Text, such as a line that another program has printed.
    Text,
    /// Records that are not packed, unlike the others.
    Unpacked,
    /// Anything else where a frame should begin.
    NoFrame,
    /// A frame whose data or checksum is wrong.
    Damaged,
    /// The file ends within a frame.
    Truncated,
}

pub(super) struct Frames {
    raw: BufReader<Section>,
    length: u64,
    decoder: Decoder,
    /// Start of the current frame.
    within: Option<u64>,
    /// The frame does not unpack further.
    is_damaged: bool,
    /// What was unpacked last.
    piece: Vec<u8>,
    /// The byte of the file after the last one read.
    at: u64,
    /// Whether each frame so far began with a record.
    one_per_record: bool,
    /// Unpacked bytes of the current frame.
    unpacked: u64,
    reread: u64,
}

enum Decoder {
    Plain,
    Gzip(Decompress),
    Zstd(ZstdDecoder<'static>),
}

impl Frames {
    pub fn open(source: &WarcSource) -> Result<Self, StoreError> {
        let section = source.open()?;
        let decoder = match &source.packing {
            Packing::Plain => Decoder::Plain,
            Packing::Gzip => Decoder::Gzip(gzip()),
            // With a damaged dictionary all frames are damaged.
            Packing::Zstd(dictionary) => Decoder::Zstd(
                ZstdDecoder::with_dictionary(dictionary)
                    .or_else(|_| ZstdDecoder::new())
                    .map_err(StoreError::io(&source.path, "read it"))?,
            ),
        };
        let length = section.len();
        let raw = BufReader::with_capacity(1 << 16, section);
        Ok(Self {
            raw,
            length,
            decoder,
            within: None,
            is_damaged: false,
            piece: vec![0; PIECE],
            at: 0,
            one_per_record: true,
            unpacked: 0,
            reread: 0,
        })
    }

    /// Bytes of the file, if it is not packed.
    pub fn plain_length(&self) -> Option<u64> {
        matches!(self.decoder, Decoder::Plain).then_some(self.length)
    }

    /// Continues at a byte of the file where a frame starts; of a plain file, at any byte.
    pub fn seek(&mut self, frame: u64) -> io::Result<()> {
        self.at = self.raw.seek(SeekFrom::Start(frame))?;
        (self.within, self.is_damaged) = (None, false);
        Ok(())
    }

    /// The next piece; data is appended to `out`.
    pub fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Piece> {
        match self.within {
            None => self.begin(),
            Some(start) => self.unpack(start, out),
        }
    }

    fn begin(&mut self) -> io::Result<Piece> {
        if self.raw.fill_buf()?.is_empty() {
            return Ok(Piece::End);
        }
        let from = self.at;
        if !matches!(self.decoder, Decoder::Plain) && !self.decoder.begins_with(&self.ahead(MAGIC)?) {
            let (to, why) = self.next_frame(from)?;
            return Ok(Piece::Gap(Gap { from, to, why }));
        }
        match &mut self.decoder {
            Decoder::Plain => {}
            Decoder::Gzip(decoder) => *decoder = gzip(),
            Decoder::Zstd(decoder) => decoder.reinit()?,
        }
        (self.within, self.unpacked) = (Some(from), 0);
        Ok(Piece::Frame(from))
    }

    fn unpack(&mut self, start: u64, out: &mut Vec<u8>) -> io::Result<Piece> {
        if std::mem::take(&mut self.is_damaged) {
            return self.pass_damaged(start);
        }
        let before = out.len();
        loop {
            let input = self.raw.fill_buf()?;
            let is_end = input.is_empty();
            let Step { read, written, status } = self.decoder.step(input, &mut self.piece);
            out.extend_from_slice(&self.piece[..written]);
            self.raw.consume(read);
            self.at += read as u64;
            if self.unpacked == 0 && written > 0 && !matches!(self.decoder, Decoder::Plain) {
                self.one_per_record &= begins_record(&out[before..]);
            }
            self.unpacked += written as u64;
            match status {
                FrameStatus::Damaged if written > 0 => {
                    self.is_damaged = true;
                    return Ok(Piece::Data);
                }
                FrameStatus::Damaged => return self.pass_damaged(start),
                FrameStatus::Ended => {
                    self.within = None;
                    return Ok(Piece::Data);
                }
                FrameStatus::Open if written > 0 => return Ok(Piece::Data),
                FrameStatus::Open if read > 0 => {}
                FrameStatus::Open if !is_end => return self.pass_damaged(start),
                FrameStatus::Open => {
                    self.within = None;
                    let truncated = Gap { from: start, to: self.at, why: GapReason::Truncated };
                    let is_plain = matches!(self.decoder, Decoder::Plain);
                    return Ok(if is_plain { Piece::End } else { Piece::Gap(truncated) });
                }
            }
        }
    }

    /// Ends a frame that does not unpack further.
    fn pass_damaged(&mut self, start: u64) -> io::Result<Piece> {
        self.within = None;
        let again = self.at - start;
        let from = if self.may_reread() { start + 1 } else { self.at.max(start + 1) };
        self.reread += again;
        let (to, _) = self.next_frame(from)?;
        Ok(Piece::Gap(Gap { from: start, to, why: GapReason::Damaged }))
    }

    fn may_reread(&self) -> bool {
        self.reread <= REREAD.max(self.length)
    }

    /// Goes to the next frame at or after `from`, or the end of the file; also returns what is before it.
    fn next_frame(&mut self, from: u64) -> io::Result<(u64, GapReason)> {
        self.raw.seek_relative(from.wrapping_sub(self.at).cast_signed())?;
        self.at = from;
        let magic = if matches!(self.decoder, Decoder::Zstd(_)) { ZSTD[0] } else { GZIP[0] };
        let (mut is_zero, mut is_text, mut has_record) = (true, true, false);
        loop {
            let bytes = self.raw.fill_buf()?;
            let is_end = bytes.is_empty();
            if is_end || bytes[0] == magic && self.is_frame()? {
                break;
            }
            let bytes = self.raw.buffer();
            let passed = memchr(magic, &bytes[1..]).map_or(bytes.len(), |at| at + 1);
            is_zero &= bytes[..passed].iter().all(|byte| *byte == 0);
            has_record |= memmem::find(&bytes[..passed], b"WARC-Type:").is_some();
            is_text &= bytes[..passed].iter().all(|byte| !byte.is_ascii_control() || byte.is_ascii_whitespace());
            self.raw.consume(passed);
            self.at += passed as u64;
        }
        let why = match () {
            () if has_record => GapReason::Unpacked,
            () if is_zero => GapReason::Zeros,
            () if is_text => GapReason::Text,
            () => GapReason::NoFrame,
        };
        Ok((self.at, why))
    }

    /// Whether a frame begins here that unpacks; if each frame so far was a record, one with a record.
    fn is_frame(&mut self) -> io::Result<bool> {
        if !self.decoder.begins_with(&self.ahead(MAGIC)?) {
            return Ok(false);
        }
        if !self.may_reread() {
            return Ok(true);
        }
        let mut start = [0; 64];
        let mut tried = TRIED;
        loop {
            let packed = self.ahead(tried)?;
            let (read, written) = self.decoder.try_start(&packed, &mut start);
            self.reread += read as u64;
            let is_short = written == 0 && read == tried && matches!(self.decoder, Decoder::Zstd(_));
            if !is_short || tried == ZSTD_BLOCK {
                return Ok(written > 0 && (!self.one_per_record || begins_record(&start[..written])));
            }
            tried = ZSTD_BLOCK;
        }
    }

    /// The next bytes of the file, which are not used.
    fn ahead(&self, length: usize) -> io::Result<Vec<u8>> {
        if let Some(bytes) = self.raw.buffer().get(..length) {
            return Ok(bytes.to_vec());
        }
        let mut bytes = Vec::new();
        self.raw.get_ref().clone().skip(self.at).take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Whether unpacked bytes are the start of a record, perhaps after line ends.
fn begins_record(start: &[u8]) -> bool {
    let start = start.trim_ascii_start();
    start.starts_with(b"WARC/") || b"WARC/".starts_with(start)
}

fn gzip() -> Decompress {
    Decompress::new_gzip(15)
}

struct Step {
    read: usize,
    written: usize,
    status: FrameStatus,
}

enum FrameStatus {
    Open,
    Ended,
    Damaged,
}

impl Decoder {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self {
            Self::Plain => {
                let length = input.len().min(output.len());
                output[..length].copy_from_slice(&input[..length]);
                Step { read: length, written: length, status: FrameStatus::Open }
            }
            Self::Gzip(decoder) => {
                let before = (decoder.total_in(), decoder.total_out());
                let status = match decoder.decompress(input, output, FlushDecompress::None) {
                    Ok(Status::StreamEnd) => FrameStatus::Ended,
                    Ok(_) => FrameStatus::Open,
                    Err(_) => FrameStatus::Damaged,
                };
                let read = (decoder.total_in() - before.0) as usize;
                Step { read, written: (decoder.total_out() - before.1) as usize, status }
            }
            Self::Zstd(decoder) => {
                let (mut packed, mut unpacked) = (InBuffer::around(input), OutBuffer::around(output));
                let status = match decoder.run(&mut packed, &mut unpacked) {
                    Ok(0) => FrameStatus::Ended,
                    Ok(_) => FrameStatus::Open,
                    Err(_) => FrameStatus::Damaged,
                };
                Step { read: packed.pos(), written: unpacked.pos(), status }
            }
        }
    }

    /// Unpacks the start of a frame: bytes read and written. The frame before is given up.
    fn try_start(&mut self, mut packed: &[u8], start: &mut [u8]) -> (usize, usize) {
        match self {
            Self::Plain => {}
            Self::Gzip(decoder) => *decoder = gzip(),
            Self::Zstd(decoder) => drop(decoder.reinit()),
        }
        let (mut read, mut written) = (0, 0);
        while written < start.len() {
            let step = self.step(packed, &mut start[written..]);
            packed = &packed[step.read..];
            (read, written) = (read + step.read, written + step.written);
            if step.read + step.written == 0 || !matches!(step.status, FrameStatus::Open) {
                break;
            }
        }
        (read, written)
    }

    fn begins_with(&self, packed: &[u8]) -> bool {
        match self {
            Self::Plain => true,
            // Deflate is the only method.
            Self::Gzip(_) => packed.starts_with(&[GZIP[0], GZIP[1], 8]),
            Self::Zstd(_) => packed.starts_with(&ZSTD) || matches!(packed, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]),
        }
    }
}
