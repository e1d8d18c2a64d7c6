//! The log file of a long crawl: warnings and progress, in files of bounded size and number. Output on the screen is
//! separate.
//!
//! Our own code, because existing libraries rotate files only by date, or panic if a name is taken or a disk is full. A
//! crawl continues without its log.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use suidao::config::{Log, LogLevel};
use suidao::store::{StoreError, plain_file};
use tracing::level_filters::LevelFilter;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::registry::LookupSpan;

static JOURNAL: OnceLock<(LevelFilter, Mutex<Rotating>)> = OnceLock::new();

/// Who chose the location of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSource {
    /// The user, so it may be a link or a pipe.
    Named,
    /// The crawl directory, which others may have made: only a plain file in a directory is used.
    CrawlDirectory,
}

/// Starts logging, and appends to an existing file. Only the first call counts. Fails if the file cannot be opened or
/// is not suitable.
pub fn open(path: &Path, source: LogSource, settings: &Log) -> Result<(), StoreError> {
    let level = match settings.level {
        LogLevel::Off => return Ok(()),
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
    };
    let file = Rotating::open(path, source, settings.max_size, settings.files)?;
    let _ = JOURNAL.set((level, Mutex::new(file)));
    Ok(())
}

/// The layer that writes the log, once it is open.
pub fn layer<S: Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    let wanted = |meta: &Metadata, _: &tracing_subscriber::layer::Context<S>| {
        let own = meta.target().starts_with("suidao");
        JOURNAL.get().is_some_and(|(level, _)| meta.level() <= level && (own || *meta.level() <= Level::WARN))
    };
    let filter = dynamic_filter_fn(wanted).with_max_level_hint(LevelFilter::INFO);
    let layer = tracing_subscriber::fmt::layer().fmt_fields(super::terminal::fields());
    layer.with_ansi(false).with_target(false).with_writer(|| Line).with_filter(filter)
}

/// Writes a line to the log: the layer passes whole lines, one at a time.
struct Line;

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some((_, file)) = JOURNAL.get() {
            file.lock().unwrap_or_else(PoisonError::into_inner).line(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file that is renamed to `NAME.1` when it is full, `NAME.1` to `NAME.2` and so on; the last is deleted.
struct Rotating {
    path: PathBuf,
    source: LogSource,
    /// Devices and pipes are not rotated.
    is_plain: bool,
    /// `None` while it cannot be opened.
    file: Option<File>,
    size: u64,
    most: u64,
    files: u32,
}

impl Rotating {
    fn open(path: &Path, source: LogSource, most: u64, files: u32) -> Result<Self, StoreError> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            if source == LogSource::CrawlDirectory {
                plain_file::check_plain_directory(parent)?;
            }
            fs::create_dir_all(parent).map_err(StoreError::io(parent, "make the directory"))?;
        }
        let file = append(path, source)?;
        let about = file.metadata().map_err(StoreError::io(path, "inspect it"))?;
        let (is_plain, size) = (about.is_file(), about.len());
        Ok(Self { path: path.to_owned(), source, is_plain, file: Some(file), size, most, files })
    }

    /// Writes a line, or drops it if the disk fails: nothing waits for a log.
    fn line(&mut self, line: &[u8]) {
        if self.is_plain && self.size > 0 && self.size + line.len() as u64 > self.most {
            self.rotate();
        }
        if self.file.is_none() {
            self.file = append(&self.path, self.source).ok();
        }
        if let Some(file) = &mut self.file
            && file.write_all(line).is_ok()
        {
            self.size += line.len() as u64;
        }
    }

    fn rotate(&mut self) {
        self.file = None;
        let numbered = |number: u32| {
            let mut name = OsString::from(&self.path);
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        // A file that cannot be renamed is overwritten by the next.
        for number in (1..self.files.saturating_sub(1)).rev() {
            let _ = fs::rename(numbered(number), numbered(number + 1));
        }
        let moved = if self.files > 1 { fs::rename(&self.path, numbered(1)) } else { fs::remove_file(&self.path) };
        if moved.is_err() {
            let _ = append(&self.path, self.source)
                .and_then(|file| file.set_len(0).map_err(StoreError::io(&self.path, "write it")));
        }
        self.size = 0;
    }
}

/// Opens a log for appending.
fn append(path: &Path, source: LogSource) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    let options = options.create(true).append(true);
    match source {
        LogSource::Named => options.open(path).map_err(StoreError::io(path, "open it")),
        LogSource::CrawlDirectory => plain_file::open(path, options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_bounded_in_size_and_number_and_the_last_lines_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log").join("crawl.log");
        for run in 0..4 {
            let mut log = Rotating::open(&path, LogSource::Named, 100, 3).unwrap();
            (0..10).for_each(|n| log.line(format!("run {run} line {n:02} ........\n").as_bytes()));
        }
        let mut names: Vec<String> = fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["crawl.log", "crawl.log.1", "crawl.log.2"]);
        let text: String =
            names.iter().rev().map(|name| fs::read_to_string(path.with_file_name(name)).unwrap()).collect();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.last(), Some(&"run 3 line 09 ........"));
        assert!(lines.windows(2).all(|pair| pair[0] < pair[1]), "in order, none twice: {text}");
        assert!(names.iter().all(|name| fs::metadata(path.with_file_name(name)).unwrap().len() <= 100));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_plain_file_stays_where_it_is() {
        use std::os::unix::fs::FileTypeExt;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        if !std::process::Command::new("mkfifo").arg(&path).status().is_ok_and(|made| made.success()) {
            return eprintln!("skipped: no mkfifo on this machine, so no pipe was logged to");
        }
        // Opened for both, because opening a pipe for writing waits for a reader.
        let _reader = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let mut log = Rotating::open(&path, LogSource::Named, 40, 3).unwrap();
        (0..9).for_each(|_| log.line(b"a line of twenty or so\n"));
        assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing was set aside");
    }

    #[test]
    fn a_log_that_cannot_be_written_stops_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("crawl.log");
        let mut log = Rotating::open(&path, LogSource::Named, 40, 2).unwrap();
        log.line(b"first line of twenty.\n");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        fs::create_dir(dir.path().join("crawl.log.1")).unwrap();
        fs::write(dir.path().join("crawl.log.1/full"), "").unwrap();
        (0..9).for_each(|_| log.line(b"another line of twenty\n"));
        assert!(Rotating::open(&path, LogSource::Named, 40, 2).is_err());
        if Path::new("/dev/full").exists() {
            Rotating::open(Path::new("/dev/full"), LogSource::Named, 1 << 20, 1).unwrap().line(b"x\n");
        }
    }

    #[cfg(unix)]
    #[test]
    fn in_a_crawl_directory_no_link_is_written_through() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mine = outside.path().join("mine");
        fs::write(&mine, "mine").unwrap();
        let path = dir.path().join("log").join("crawl.log");
        fs::create_dir(path.parent().unwrap()).unwrap();
        let mut log = Rotating::open(&path, LogSource::CrawlDirectory, 40, 2).unwrap();
        log.line(b"first line of twenty.\n");
        // During rotation: what blocks the name is neither emptied nor written to.
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&mine, &path).unwrap();
        fs::create_dir_all(dir.path().join("log/crawl.log.1/full")).unwrap();
        (0..9).for_each(|_| log.line(b"another line of twenty\n"));
        assert!(Rotating::open(&path, LogSource::CrawlDirectory, 40, 2).is_err());
        fs::remove_dir_all(dir.path().join("log")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("log")).unwrap();
        assert!(Rotating::open(&path, LogSource::CrawlDirectory, 40, 2).is_err());
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}
