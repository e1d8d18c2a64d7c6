//! The engine of the log, sled: it makes a group of batches durable, all or none. Only the writer opens it.
//!
//! The key is the number of a batch (u64, big endian); the value is where its frame ends in `state/batches` (u64,
//! little endian), then checksum and content as there.

use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::batches::{Frames, LogExtent};
use super::error::StoreError;

/// Memory limit of the engine's cache, in bytes.
const CACHE: u64 = 32 << 20;

#[derive(Debug)]
pub(super) struct Engine {
    db: sled::Db,
    /// For messages.
    log: PathBuf,
}

impl Engine {
    /// Opens the log in a directory and returns its extent. `log` is the path for messages.
    pub fn open(directory: &Path, log: &Path) -> Result<(Self, LogExtent), StoreError> {
        let config = sled::Config::new().path(directory).cache_capacity(CACHE).flush_every_ms(None);
        let db = open_patiently(&config).map_err(|error| engine_error(log, "open the log", error))?;
        let engine = Self { db, log: log.to_owned() };
        let last = engine.db.last().map_err(|error| engine_error(log, "read the log", error))?;
        let Some((key, value)) = last else { return Ok((engine, LogExtent::default())) };
        let batches = engine.number(&key)? + 1;
        let extent = LogExtent { batches, bytes: engine.split(batches - 1, &value)?.0 };
        Ok((engine, extent))
    }

    /// As [`Engine::open`]; returns a description if damage prevents it. Some damage makes the engine panic.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the system failed, not the engine.
    pub fn try_open(log: &Path) -> Result<Result<(Self, LogExtent), String>, StoreError> {
        let is_the_systems = |error: &io::Error| {
            error.raw_os_error().is_some() && !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput)
        };
        Ok(Err(match catch_unwind(AssertUnwindSafe(|| Self::open(log, log))) {
            Ok(Ok(opened)) => return Ok(Ok(opened)),
            Ok(Err(StoreError::Damaged { what, .. })) => what,
            Ok(Err(StoreError::Io { source, .. })) if !is_the_systems(&source) => source.to_string(),
            Ok(Err(error)) => return Err(error),
            Err(_) => "the database engine fails on it".to_owned(),
        }))
    }

    /// Creates a log of these frames in an empty directory.
    pub fn create(directory: &Path, frames: Frames) -> Result<(), StoreError> {
        /// Frames written at a time.
        const GROUP: usize = 512;
        let (engine, mut end) = Self::open(directory, directory)?;
        let mut group = Vec::new();
        for frame in frames {
            group.push(frame?);
            if group.len() == GROUP {
                end = engine.append(end, &group)?;
                group.clear();
            }
        }
        engine.append(end, &group).map(drop)
    }

    /// Appends frames after `end`, all or none; they are on disk on return. Returns the new end.
    pub fn append(&self, mut end: LogExtent, frames: &[Vec<u8>]) -> Result<LogExtent, StoreError> {
        let mut batch = sled::Batch::default();
        for frame in frames {
            let number = end.batches;
            end = end.and(frame);
            batch.insert(&number.to_be_bytes(), [&end.bytes.to_le_bytes()[..], frame].concat());
        }
        let written = self.db.apply_batch(batch).and_then(|()| self.db.flush());
        written.map_err(|error| engine_error(&self.log, "append to the log", error))?;
        Ok(end)
    }

    /// A batch: where it ends in the file, and its frame.
    pub fn get(&self, number: u64) -> Result<(u64, Vec<u8>), StoreError> {
        let value = self.db.get(number.to_be_bytes());
        let value = value.map_err(|error| engine_error(&self.log, "read the log", error))?;
        let value = value.ok_or_else(|| self.damaged(format!("batch {number} is missing")))?;
        self.split(number, &value)
    }

    /// Position in the file after the first `batches`.
    pub fn end_of(&self, batches: u64) -> Result<LogExtent, StoreError> {
        let bytes = batches.checked_sub(1).map_or(Ok(0), |last| Ok(self.get(last)?.0))?;
        Ok(LogExtent { batches, bytes })
    }

    fn split(&self, number: u64, value: &[u8]) -> Result<(u64, Vec<u8>), StoreError> {
        let parts = value.split_first_chunk::<8>();
        let (end, frame) = parts.ok_or_else(|| self.damaged(format!("batch {number}: too short")))?;
        Ok((u64::from_le_bytes(*end), frame.to_vec()))
    }

    fn number(&self, key: &[u8]) -> Result<u64, StoreError> {
        let key = key.try_into().map_err(|_| self.damaged(format!("a key of {} bytes", key.len())))?;
        Ok(u64::from_be_bytes(key))
    }

    fn damaged(&self, what: String) -> StoreError {
        StoreError::damaged(&self.log, what)
    }
}

/// The engine's threads release its own lock a moment after it was closed. We hold ours, so no other process has it,
/// and an error that is not the system's is about this lock.
#[allow(clippy::disallowed_methods, reason = "an edge, and the engine offers nothing to wait on")]
fn open_patiently(config: &sled::Config) -> sled::Result<sled::Db> {
    for _ in 0..100 {
        match config.open() {
            Err(sled::Error::Io(error)) if error.kind() == ErrorKind::Other && error.raw_os_error().is_none() => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            other => return other,
        }
    }
    config.open()
}

fn engine_error(log: &Path, doing: &'static str, error: sled::Error) -> StoreError {
    match error {
        sled::Error::Io(source) => {
            // The engine wraps the system's error; its text is in the fields.
            let plain = source.raw_os_error().is_none() && source.kind() != ErrorKind::Other;
            let source = if plain { source.kind().into() } else { source };
            StoreError::Io { path: log.to_owned(), doing, source }
        }
        other => StoreError::damaged(log, other.to_string()),
    }
}
