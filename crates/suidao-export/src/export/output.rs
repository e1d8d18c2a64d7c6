//! Where an export goes: one file, or a directory of shards, compressed as the name requires.
//!
//! A directory of shards may have the name of a file: `-o ml` holds `ml-00000.jsonl.zst`, `ml-00001.jsonl.zst` and so
//! on; `-o ml.jsonl` holds `ml-00000.jsonl`, and `-o ml.jsonl.gz` holds `ml-00000.jsonl.gz`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use suidao_page::visible::Visible;
use suidao_store::store::StoreError;
use suidao_store::store::directory::{WriteError, write_whole, write_whole_directory};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// A file, or with a shard size a new or empty directory; `-` is standard output.
    pub path: PathBuf,
    /// Bytes of a shard on disk. Rows are not split: a larger one is a shard of its own.
    pub shard_size: Option<u64>,
}

impl Output {
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), shard_size: None }
    }

    /// Writes rows of bytes. Names in `.gz` and `.zst` are compressed, shards without such an ending are `.zst`.
    /// `extension` is that of the format, without a dot. A compressed shard may exceed its size by what the compressor
    /// buffers, at most 256 KiB.
    pub fn rows<T>(
        &self,
        extension: &str,
        content: impl FnOnce(&mut RowWriter<'_>) -> Result<T, WriteError>,
    ) -> Result<T, StoreError> {
        self.rows_with(extension, None, content)
    }

    /// As [`Output::rows`], with a companion file of this ending (`.card.md`) next to the rows or among the shards,
    /// under the name of the output without the format's ending.
    pub fn rows_with<T>(
        &self,
        extension: &str,
        companion: Option<&str>,
        content: impl FnOnce(&mut RowWriter<'_>) -> Result<T, WriteError>,
    ) -> Result<T, StoreError> {
        let name = OutputName::of(&self.path, extension);
        let packing = match (name.packing, self.shard_size) {
            // Rows for servers stay uncompressed.
            (None, Some(_)) if !name.named && !extension.ends_with("ndjson") => Some(Packing::Zstd),
            (packing, _) => packing,
        };
        let suffix = format!(".{extension}{}", packing.map_or("", Packing::suffix));
        self.files(&name.stem, &suffix, companion, |mut files| {
            let (_, out) = files.begin()?;
            let part = Part::new(out, packing)?;
            let mut rows = RowWriter { files, packing, limit: self.limit(), part, rows: 0, header: Vec::new() };
            let done = content(&mut rows)?;
            rows.part.finish()?;
            Ok(done)
        })
    }

    /// Path of the companion of a file of rows.
    pub fn companion(&self, extension: &str, ending: &str) -> PathBuf {
        self.path.with_file_name(format!("{}{ending}", OutputName::of(&self.path, extension).stem))
    }

    /// Writes files with a compression of their own, as Parquet and WARC; the content starts the next file when it has
    /// reached [`Output::limit`]. `suffix` is that of the format, as `.warc.gz`.
    pub fn packed_files<T>(
        &self,
        suffix: &str,
        content: impl FnOnce(OutputFiles<'_>) -> Result<T, WriteError>,
    ) -> Result<T, StoreError> {
        if self.path == Path::new("-") && stdout().is_terminal() {
            let result = io::Error::other("it is a terminal, but the format is binary; give a file, or pipe it");
            return Err(WriteError::Out(result).at(Path::new("standard output")));
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.files(name.strip_suffix(suffix).unwrap_or(&name), suffix, None, content)
    }

    /// Bytes of a file; unlimited without shards.
    pub fn limit(&self) -> u64 {
        self.shard_size.unwrap_or(u64::MAX)
    }

    fn files<T>(
        &self,
        stem: &str,
        suffix: &str,
        companion: Option<&str>,
        content: impl FnOnce(OutputFiles<'_>) -> Result<T, WriteError>,
    ) -> Result<T, StoreError> {
        let wrong = |path: &Path, kind: ErrorKind| Err(WriteError::Out(kind.into()).at(path));
        if self.path == Path::new("-") {
            let target = Path::new("standard output");
            if self.shard_size.is_some() {
                return wrong(target, ErrorKind::NotADirectory);
            }
            let stdout = stdout();
            // Programs get the pages unchanged, people see hidden characters.
            let out: Out = if stdout.is_terminal() { Box::new(Visible::new(stdout)) } else { Box::new(stdout) };
            let mut out = BufWriter::new(out);
            let done =
                content(OutputFiles::one("-", &mut out, None)).and_then(|done| Ok(out.flush().map(|()| done)?));
            return done.map_err(|error| error.at(target));
        }
        let companion_name = companion.map(|ending| format!("{stem}{ending}"));
        if self.shard_size.is_some() {
            let (stem, suffix) = (stem.to_owned(), suffix.to_owned());
            return write_whole_directory(&self.path, |directory| {
                content(OutputFiles::Shards { directory, stem, suffix, next: 0, companion: companion_name })
            });
        }
        // Checked now, not after everything is written.
        if self.path.is_dir() {
            return wrong(&self.path, ErrorKind::IsADirectory);
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        match companion_name {
            None => write_whole(&self.path, |out| content(OutputFiles::one(&name, out, None))),
            // Both are complete before one gets its final name.
            Some(companion_name) => write_whole(&self.path.with_file_name(companion_name), |companion| {
                Ok(write_whole(&self.path, |out| content(OutputFiles::one(&name, out, Some(companion))))?)
            }),
        }
    }
}

/// The files of an output, in order, and their companion. Flush a writer before dropping it.
pub enum OutputFiles<'a> {
    One { name: String, out: Option<Out<'a>>, companion: Option<Out<'a>> },
    Shards { directory: &'a Path, stem: String, suffix: String, next: u32, companion: Option<String> },
}

pub type Out<'a> = Box<dyn Write + Send + 'a>;

impl<'a> OutputFiles<'a> {
    fn one(name: &str, out: &'a mut (dyn Write + Send), companion: Option<&'a mut (dyn Write + Send)>) -> Self {
        let companion = companion.map(|companion| Box::new(companion) as Out<'a>);
        Self::One { name: name.to_owned(), out: Some(Box::new(out)), companion }
    }

    /// Begins the next file and returns its name without the directory. Fails if it cannot be created, or there is only
    /// one.
    pub fn begin(&mut self) -> io::Result<(String, Out<'a>)> {
        match self {
            Self::One { name, out, .. } => {
                let out = out.take().ok_or_else(|| io::Error::other("there is only one file"))?;
                Ok((name.clone(), out))
            }
            Self::Shards { directory, stem, suffix, next, .. } => {
                let name = format!("{stem}-{next:05}{suffix}");
                *next += 1;
                let out = new_file(&directory.join(&name))?;
                Ok((name, out))
            }
        }
    }

    /// Begins the companion; `None` if there is none, as with standard output.
    pub fn companion(&mut self) -> io::Result<Option<Out<'a>>> {
        match self {
            Self::One { companion, .. } => Ok(companion.take()),
            Self::Shards { directory, companion, .. } => {
                companion.take().map(|name| new_file(&directory.join(name))).transpose()
            }
        }
    }
}

#[allow(clippy::disallowed_methods)] // for pages; messages go through src/cli/terminal.rs
fn stdout() -> io::Stdout {
    io::stdout()
}

fn new_file<'a>(path: &Path) -> io::Result<Out<'a>> {
    Ok(Box::new(BufWriter::with_capacity(1 << 16, File::create_new(path)?)))
}

pub struct RowWriter<'a> {
    files: OutputFiles<'a>,
    packing: Option<Packing>,
    limit: u64,
    part: Part<'a>,
    rows: u64,
    header: Vec<u8>,
}

impl RowWriter<'_> {
    /// Begins this and every further shard with a header.
    pub fn set_header(&mut self, header: Vec<u8>) -> io::Result<()> {
        self.header = header;
        self.part.write_all(&self.header)
    }

    /// Adds a row, which goes into one shard.
    pub fn add(&mut self, row: &[u8]) -> io::Result<()> {
        if self.rows > 0 && self.part.written().saturating_add(row.len() as u64) > self.limit {
            let (_, out) = self.files.begin()?;
            std::mem::replace(&mut self.part, Part::new(out, self.packing)?).finish()?;
            self.part.write_all(&self.header)?;
            self.rows = 0;
        }
        self.rows += 1;
        self.part.write_all(row)
    }

    /// As [`OutputFiles::companion`].
    pub fn companion(&mut self) -> io::Result<Option<Out<'_>>> {
        self.files.companion().map(|out| out.map(|out| out as Out<'_>))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    const ALL: [Self; 2] = [Self::Gzip, Self::Zstd];

    fn suffix(self) -> &'static str {
        match self {
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        }
    }
}

struct OutputName {
    stem: String,
    packing: Option<Packing>,
    /// Whether it has the ending of the format.
    named: bool,
}

impl OutputName {
    fn of(path: &Path, extension: &str) -> Self {
        let name = path.file_name().unwrap_or_else(|| OsStr::new("")).to_string_lossy();
        let packing = Packing::ALL.into_iter().find(|packing| name.ends_with(packing.suffix()));
        let name = packing.and_then(|packing| name.strip_suffix(packing.suffix())).unwrap_or(&name);
        let stem = name.strip_suffix(extension).and_then(|stem| stem.strip_suffix('.'));
        Self { stem: stem.unwrap_or(name).to_owned(), packing, named: stem.is_some() || packing.is_some() }
    }
}

/// A compressed file being written, which counts its bytes.
enum Part<'a> {
    Plain(Counting<'a>),
    Gzip(flate2::write::GzEncoder<Counting<'a>>),
    Zstd(zstd::Encoder<'static, Counting<'a>>),
}

impl<'a> Part<'a> {
    fn new(out: Out<'a>, packing: Option<Packing>) -> io::Result<Self> {
        let out = Counting { out, written: 0 };
        Ok(match packing {
            None => Self::Plain(out),
            Some(Packing::Gzip) => Self::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::default())),
            Some(Packing::Zstd) => Self::Zstd(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?),
        })
    }

    fn written(&self) -> u64 {
        match self {
            Self::Plain(out) => out.written,
            Self::Gzip(packer) => packer.get_ref().written,
            Self::Zstd(packer) => packer.get_ref().written,
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::Gzip(packer) => packer.finish(),
            Self::Zstd(packer) => packer.finish(),
        }?
        .flush()
    }
}

impl Write for Part<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(packer) => packer.write(bytes),
            Self::Zstd(packer) => packer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(packer) => packer.flush(),
            Self::Zstd(packer) => packer.flush(),
        }
    }
}

/// A writer that counts its bytes.
pub(super) struct Counting<'a> {
    pub out: Out<'a>,
    pub written: u64,
}

impl Write for Counting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Names and decompressed contents of 100 written rows of 17 bytes.
    fn written(name: &str, shard_size: Option<u64>) -> Vec<(String, String)> {
        let root = tempfile::tempdir().unwrap();
        let output = Output { path: root.path().join(name), shard_size };
        let write = |rows: &mut RowWriter<'_>| -> Result<(), WriteError> {
            (0..100).try_for_each(|n| Ok(rows.add(format!("row {n:012}\n").as_bytes())?))
        };
        output.rows("jsonl", write).unwrap();
        let folder = if shard_size.is_some() { output.path.clone() } else { root.path().to_owned() };
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let read = |path: PathBuf| {
            let bytes = std::fs::read(&path).unwrap();
            if let Some(size) = shard_size {
                assert!(bytes.len() as u64 <= size + (256 << 10), "{}", path.display());
            }
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let mut text = String::new();
            match name.rsplit_once('.').unwrap().1 {
                "gz" => drop(flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap()),
                "zst" => text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap(),
                _ => text = String::from_utf8(bytes).unwrap(),
            }
            (name, text)
        };
        files.into_iter().map(read).collect()
    }

    #[test]
    fn shards_are_cut_between_rows_and_are_the_file() {
        let whole = written("a.jsonl", None);
        assert_eq!(whole.len(), 1);
        let text = &whole[0].1;
        assert_eq!(text.lines().count(), 100);
        for (name, first) in [
            ("ml", "ml-00000.jsonl.zst"),
            ("ml.v2", "ml.v2-00000.jsonl.zst"),
            ("ml.jsonl", "ml-00000.jsonl"),
            ("ml.jsonl.gz", "ml-00000.jsonl.gz"),
            ("ml.gz", "ml-00000.jsonl.gz"),
        ] {
            let shards = written(name, Some(100));
            assert_eq!(shards[0].0, first);
            assert_eq!(&shards.iter().map(|(_, text)| text.as_str()).collect::<String>(), text, "{name}");
            assert!(shards.iter().all(|(_, text)| text.ends_with('\n')));
        }
        let plain = written("ml.jsonl", Some(100));
        assert_eq!(plain.len(), 20, "5 rows of 17 bytes are 85");
        assert!(plain.iter().all(|(_, text)| text.len() == 85));
        assert_eq!(written("ml.jsonl", Some(1)).len(), 100, "a row that is larger is a shard of its own");
    }

    #[test]
    fn what_is_in_the_way_stays_and_is_reported_before_anything_is_written() {
        let root = tempfile::tempdir().unwrap();
        let nothing = |_: &mut RowWriter<'_>| -> Result<(), WriteError> { panic!("it is not begun") };
        let path = root.path().join("taken");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("mine"), "x").unwrap();
        let error = Output { path: path.clone(), shard_size: Some(9) }.rows("jsonl", nothing).unwrap_err();
        assert!(!error.is_environment() && error.to_string().contains("not empty"), "{error}");
        let error = Output::file(&path).rows("jsonl", nothing).unwrap_err();
        assert!(!error.is_environment(), "{error}");
        let error = Output { path: path.join("mine"), shard_size: Some(9) }.rows("jsonl", nothing).unwrap_err();
        assert!(!error.is_environment(), "{error}");
        let error = Output { path: "-".into(), shard_size: Some(9) }.rows("jsonl", nothing).unwrap_err();
        assert!(!error.is_environment() && error.to_string().contains("standard output"), "{error}");
        let fails = |rows: &mut RowWriter<'_>| -> Result<(), WriteError> {
            rows.add(b"half")?;
            Err(io::Error::from(ErrorKind::StorageFull).into())
        };
        Output { path: root.path().join("out"), shard_size: Some(9) }.rows("jsonl", fails).unwrap_err();
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1, "nothing is left of it");
        let empty = root.path().join("empty");
        std::fs::create_dir(&empty).unwrap();
        Output { path: empty.clone(), shard_size: Some(9) }.rows("jsonl", |_| Ok(())).unwrap();
        assert!(empty.join("empty-00000.jsonl.zst").exists());
    }
}
