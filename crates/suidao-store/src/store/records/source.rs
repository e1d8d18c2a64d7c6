//! Opens WARC files of any software: plain, gzip or zstd, alone or in a WACZ.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipArchive};

use super::super::archive::open_archive_file;
use super::super::error::StoreError;
use super::super::warc::{GZIP, RecordHeader};

/// How a record, a file of the format before WARC, and a gzip member (deflate is the only method) start.
const WARC: &[u8] = b"WARC/";
const ARC: &[u8] = b"filedesc://";
pub(super) const GZIP_MEMBER: [u8; 3] = [GZIP[0], GZIP[1], 8];
pub(super) const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Start of the skippable frame with the dictionary of a `.warc.zst` (WARC-Zstandard 1.0, section 3).
const DICTIONARY: [u8; 4] = [0x5d, 0x2a, 0x4d, 0x18];

/// Largest dictionary that is read, in bytes. The specification recommends at most 100 KiB.
const LARGEST_DICTIONARY: u64 = 8 << 20;

/// Bytes in which the first record is sought, if the file starts with something else.
const SOUGHT: usize = 64 << 10;

/// How often each kind of first record is tried.
const CANDIDATES: usize = 100;

/// Most bytes that a byte of a packed file in a WACZ may become: more than text gives, and far from a bomb.
const HIGHEST_RATIO: u64 = 100;

/// A WARC file, or one in a WACZ.
#[derive(Clone, Debug)]
pub(in crate::store) struct WarcSource {
    pub path: PathBuf,
    pub packing: Packing,
    /// The file within a WACZ.
    entry: Option<Entry>,
}

#[derive(Clone, Debug)]
pub(in crate::store) enum Packing {
    Plain,
    Gzip,
    /// With the dictionary of its frames, or an empty one.
    Zstd(Arc<[u8]>),
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    start: u64,
    end: u64,
    /// A temporary file with its content, if it was deflated.
    unpacked: Option<Arc<File>>,
}

impl WarcSource {
    /// The WARC file `path`, or those in the WACZ `path`.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it does not open, [`StoreError::Warc`] if it is neither.
    pub fn find(path: &Path) -> Result<Vec<Self>, StoreError> {
        let fail = || StoreError::io(path, "read it");
        let whole = Self { path: path.to_owned(), packing: Packing::Gzip, entry: None };
        let file = whole.open()?;
        if starts_with(&file, b"PK\x03\x04").map_err(fail())?
            && let Some(sources) = whole.entries()?
        {
            return Ok(sources);
        }
        let packing = packing(&file).map_err(fail())?;
        match packing.ok_or_else(|| unusable(&file)) {
            Ok(packing) => Ok(vec![Self { packing, ..whole }]),
            Err(what) => Err(StoreError::Warc { path: path.to_owned(), what: what.map_err(fail())?.to_owned() }),
        }
    }

    /// The WARC files in a WACZ. `None` if its directory is missing, as in a truncated one: then its records, which are
    /// stored as they are, are found like those of a damaged file.
    fn entries(&self) -> Result<Option<Vec<Self>>, StoreError> {
        let fail = |what: String| StoreError::Warc { path: self.path.clone(), what };
        let damaged = |error: rawzip::Error| fail(format!("its ZIP directory is damaged ({error}); download it again"));
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let whole = self.open()?;
        // No more than the file has: entries that share bytes would be a bomb.
        let mut left = whole.len();
        let Ok(archive) = ZipArchive::from_seekable(whole, &mut buffer) else { return Ok(None) };
        let mut sources = Vec::new();
        let mut entries = archive.entries(&mut buffer);
        while let Some(found) = entries.next_entry().map_err(damaged)? {
            let name = String::from_utf8_lossy(found.file_path().as_ref()).into_owned();
            if !is_warc_name(&name) {
                continue;
            }
            let (start, end) = archive.get_entry(found.wayfinder()).map_err(damaged)?.compressed_data_range();
            let length = end.checked_sub(start).filter(|length| *length <= left);
            left -= length.ok_or_else(|| fail(format!("{name} in it overlaps others; unzip it first")))?;
            let mut entry = Entry { name, start, end, unpacked: None };
            match found.compression_method() {
                CompressionMethod::STORE => {}
                CompressionMethod::DEFLATE => {
                    let section = Self { entry: Some(entry.clone()), ..self.clone() }.open()?;
                    let unpacked = inflated(section, found.uncompressed_size_hint());
                    let (file, length) =
                        unpacked.map_err(StoreError::io(&self.path, "unpack it"))?.ok_or_else(|| {
                            fail(format!("{} in it is damaged or unpacks to too much; unzip it first", entry.name))
                        })?;
                    entry = Entry { start: 0, end: length, unpacked: Some(Arc::new(file)), ..entry };
                }
                _ => return Err(fail(format!("{} in it is neither stored nor deflated; unzip it first", entry.name))),
            }
            let mut source = Self { entry: Some(entry), ..self.clone() };
            let packing = packing(&source.open()?).map_err(StoreError::io(&self.path, "read it"))?;
            if let Some(packing) = packing {
                source.packing = packing;
                sources.push(source);
            }
        }
        if sources.is_empty() {
            return Err(fail("it is a ZIP file without a WARC file in it; give the WARC or WACZ files".to_owned()));
        }
        Ok(Some(sources))
    }

    /// Its bytes.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn open(&self) -> Result<Section, StoreError> {
        let opened = || match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(open_archive_file(&self.path)?.1),
            opened => opened.map_err(StoreError::io(&self.path, "read it")),
        };
        let Some(entry) = &self.entry else {
            let file = opened()?;
            // A directory opens, and has a length.
            file.read_at(&mut [0], 0).map_err(StoreError::io(&self.path, "read it"))?;
            let end = file.metadata().map_err(StoreError::io(&self.path, "read it"))?.len();
            return Ok(Section { file: Arc::new(file), start: 0, end, at: 0 });
        };
        let file = entry.unpacked.clone().map_or_else(|| opened().map(Arc::new), Ok)?;
        Ok(Section { file, start: entry.start, end: entry.end, at: entry.start })
    }

    /// For messages: the path, and the file in the WACZ.
    pub fn name(&self) -> String {
        let path = self.path.display();
        self.entry.as_ref().map_or_else(|| path.to_string(), |entry| format!("{path}, {}", entry.name))
    }
}

/// Whether a file of a WACZ is a WARC file. Its other `.gz` files are indexes.
fn is_warc_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".warc", ".warc.gz", ".warc.zst"].iter().any(|ending| name.ends_with(ending))
}

/// Unpacks a deflated file to a temporary one; `None` if it is damaged or larger than declared.
fn inflated(section: Section, declared: u64) -> io::Result<Option<(File, u64)>> {
    let packed = section.len();
    if declared > packed.saturating_mul(HIGHEST_RATIO) {
        return Ok(None);
    }
    let mut file = tempfile::tempfile()?;
    let mut input = flate2::bufread::DeflateDecoder::new(io::BufReader::new(section)).take(declared + 1);
    let mut part = vec![0; 1 << 16];
    let mut length = 0;
    loop {
        match input.read(&mut part) {
            Ok(0) => break,
            Ok(read) => {
                io::Write::write_all(&mut file, &part[..read])?;
                length += read as u64;
            }
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData) => break,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
    }
    Ok((length > 0 && length <= declared).then_some((file, length)))
}

/// How the records are packed, by the first record in the first bytes; if none can be read there, by the magic number at
/// the start. `None` if there is neither.
fn packing(section: &Section) -> io::Result<Option<Packing>> {
    let mut start = Vec::with_capacity(SOUGHT);
    section.clone().take(SOUGHT as u64).read_to_end(&mut start)?;
    if start.trim_ascii_start().starts_with(ARC) || unzipped(&start).starts_with(ARC) {
        return Ok(None);
    }
    let gzip =
        memmem::find_iter(&start, &GZIP_MEMBER).take(CANDIDATES).find(|at| unzipped(&start[*at..]).starts_with(WARC));
    let is_head = |mut text: &[u8]| RecordHeader::read(&mut text).is_ok_and(|head| head.is_some());
    let plain = memmem::find_iter(&start, WARC).take(CANDIDATES).find(|at| is_head(&start[*at..]));
    let dictionary = memmem::find(&start, &DICTIONARY);
    let zstd = memmem::find(&start, &ZSTD).into_iter().chain(dictionary).min();
    let first = [plain, gzip, zstd].into_iter().flatten().min();
    Ok(match first {
        None if start.starts_with(&GZIP_MEMBER) => Some(Packing::Gzip),
        None => memmem::find(&start, WARC).map(|_| Packing::Plain),
        at if at == plain => Some(Packing::Plain),
        at if at == gzip => Some(Packing::Gzip),
        _ => {
            let dictionary = dictionary.map(|at| self::dictionary(section, at as u64)).transpose()?;
            Some(Packing::Zstd(dictionary.unwrap_or_default()))
        }
    })
}

/// The first bytes of a gzip member, as far as they can be unpacked.
fn unzipped(packed: &[u8]) -> Vec<u8> {
    let mut start = Vec::new();
    let packed = &packed[..packed.len().min(4 << 10)];
    // What is unpacked before an error stays.
    let _ = flate2::bufread::GzDecoder::new(packed).take(ARC.len() as u64).read_to_end(&mut start);
    start
}

/// What a file without WARC records is, and what to do.
fn unusable(section: &Section) -> io::Result<&'static str> {
    let mut start = Vec::new();
    section.clone().take(SOUGHT as u64).read_to_end(&mut start)?;
    Ok(match start.as_slice() {
        [] => "it is empty; leave it out or download it again",
        arc if arc.trim_ascii_start().starts_with(ARC) || unzipped(arc).starts_with(ARC) => {
            "it is an ARC file, the format before WARC; convert it first: `warcio recompress FILE.arc.gz FILE.warc.gz`"
        }
        [b'B', b'Z', b'h', ..] => "it is compressed with bzip2; unpack it first (`bunzip2 FILE`)",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "it is compressed with xz; unpack it first (`unxz FILE`)",
        [b'7', b'z', 0xbc, 0xaf, ..] => "it is a 7z archive; unpack it first (`7z x FILE`)",
        tar if tar.get(257..262) == Some(b"ustar") => "it is a tar archive; unpack it first (`tar xf FILE`)",
        _ => "it starts with neither WARC/ nor gzip, zstd or a WACZ (ZIP); leave it out or download it again",
    })
}

/// The dictionary in the skippable frame at a byte, which may itself be compressed; empty if it is not one.
fn dictionary(section: &Section, at: u64) -> io::Result<Arc<[u8]>> {
    let mut input = section.clone().skip(at);
    let mut head = [0; 8];
    let mut data = Vec::new();
    if input.read_exact(&mut head).is_ok() && head.starts_with(&DICTIONARY) {
        let length = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        if length <= LARGEST_DICTIONARY {
            input.take(length).read_to_end(&mut data)?;
        }
        if data.starts_with(&ZSTD) {
            let mut unpacked = Vec::new();
            let decoder = zstd::stream::read::Decoder::with_buffer(data.as_slice())?;
            data = match decoder.take(LARGEST_DICTIONARY).read_to_end(&mut unpacked) {
                Ok(_) => unpacked,
                Err(_) => Vec::new(),
            };
        }
    }
    Ok(data.into())
}

fn starts_with(section: &Section, magic: &[u8]) -> io::Result<bool> {
    let mut start = Vec::new();
    section.clone().take(magic.len() as u64).read_to_end(&mut start)?;
    Ok(start == magic)
}

/// A part of a file. Positions count from its start.
#[derive(Clone, Debug)]
pub(in crate::store) struct Section {
    file: Arc<File>,
    start: u64,
    end: u64,
    at: u64,
}

impl Section {
    pub fn len(&self) -> u64 {
        self.end - self.start
    }

    /// The same from a byte on.
    pub fn skip(mut self, bytes: u64) -> Self {
        self.at = self.start.saturating_add(bytes).min(self.end);
        self
    }
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read_at(&mut buffer[..most], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Section {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => self.start.checked_add(at),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.filter(|at| *at >= self.start).ok_or(ErrorKind::InvalidInput)?.min(self.end);
        Ok(self.at - self.start)
    }
}
