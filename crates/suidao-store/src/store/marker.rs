//! `state/acknowledged`: how many batches are durable, and where they end in `state/batches`. Readers start here.
//!
//! It is written after the batches and not synced, so it never promises too much. The engine treats damage in the
//! middle of its file as the end, and opens with what came before, or with nothing: a log with fewer batches than this
//! is rejected.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::PathBuf;

use super::batches::LogExtent;
use super::error::StoreError;
use super::{CrawlDirectory, plain_file};

/// What the marker states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acknowledged {
    pub all: LogExtent,
    /// The part of `state/batches` that was synced; the engine can restore the rest.
    pub synced: LogExtent,
}

#[derive(Debug)]
pub(super) struct CommitMarker {
    file: File,
    path: PathBuf,
}

impl CommitMarker {
    /// Reads the marker of a crawl that may be running; `None` if its content is invalid.
    pub fn of(dir: &CrawlDirectory) -> Result<Option<Acknowledged>, StoreError> {
        match Self::open(dir, File::options().read(true)) {
            Ok(marker) => marker.read(),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn open(dir: &CrawlDirectory, options: &mut OpenOptions) -> Result<Self, StoreError> {
        let path = dir.acknowledged();
        let file = plain_file::open(&path, options)?;
        Ok(Self { file, path })
    }

    /// `None` if its content is invalid.
    #[allow(clippy::disallowed_methods, reason = "an edge, and files offer nothing to wait on")]
    pub fn read(&self) -> Result<Option<Acknowledged>, StoreError> {
        /// A writer may be in the middle of an update, which takes microseconds.
        const TRIES: u32 = 50;
        for _ in 0..TRIES {
            let mut text = String::new();
            let mut file = &self.file;
            let read = file.rewind().and_then(|()| file.take(200).read_to_string(&mut text));
            match read {
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => return Ok(None),
                Err(error) => return Err(StoreError::io(&self.path, "read it")(error)),
            }
            if let Some(found) = parse(&text) {
                return Ok(Some(found));
            }
            if text.is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Ok(None)
    }

    pub fn write(&self, now: Acknowledged) -> Result<(), StoreError> {
        let mut file = &self.file;
        let written = file.rewind().and_then(|()| file.write_all(line(now).as_bytes()));
        written.map_err(StoreError::io(&self.path, "write it"))
    }
}

/// Batches and bytes of both, and a checksum, because a reader may see half of an update. The length never changes.
fn line(Acknowledged { all, synced }: Acknowledged) -> String {
    let numbers = format!("{:020} {:020} {:020} {:020}", all.batches, all.bytes, synced.batches, synced.bytes);
    let mut sum = flate2::Crc::new();
    sum.update(numbers.as_bytes());
    format!("{numbers} {:08x}\n", sum.sum())
}

fn parse(text: &str) -> Option<Acknowledged> {
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    let mut next = || Some(LogExtent { batches: numbers.next()?, bytes: numbers.next()? });
    let found = Acknowledged { all: next()?, synced: next()? };
    (line(found) == text).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_an_update_is_not_read() {
        let extent = |batches| LogExtent { batches, bytes: batches * 3000 };
        let [old, new] = [9_999, 10_000].map(|n| Acknowledged { all: extent(n), synced: extent(n / 2) });
        let (before, after) = (line(old), line(new));
        assert_eq!((parse(&before), parse(&after)), (Some(old), Some(new)));
        for cut in 1..before.len() {
            let torn = format!("{}{}", &after[..cut], &before[cut..]);
            assert!([None, Some(old), Some(new)].contains(&parse(&torn)), "{torn}");
            assert_eq!(parse(&before[..cut]), None);
        }
    }
}
