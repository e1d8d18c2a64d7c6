//! A saved state of the crawl in `state/checkpoint`, after the first batches of the log.
//!
//! ```text
//! suidao checkpoint 6\n   header (postcard): batches, digest of the last of them, digest of the settings
//! length u32, xxh3 u64, bytes         a piece, and so on
//! 0 u32, number of pieces u64         the end
//! ```

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::xxh3_64;

use super::directory::sync_directory;
use super::error::StoreError;
use super::part::file_next_to;
use super::{CrawlDirectory, Store, plain_file};
use suidao_page::model::Batch;

/// First line of the file. Increase the number when pieces of an earlier build cannot be read.
const HEAD: &[u8] = b"suidao checkpoint 6\n";

/// Longest piece accepted, in bytes. The largest are lists of queued URLs, 10 bytes per entry.
const LONGEST: u32 = 1 << 31;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointState {
    pub batches: u64,
    /// Digest of the last batch ([`digest`]): detects another log.
    pub last: u64,
    /// Digest of all settings that affect how events change the state.
    pub settings: u64,
}

impl CheckpointState {
    /// Whether the log matches it.
    fn is_of(&self, store: &Store) -> bool {
        let last = self.batches.checked_sub(1).filter(|last| *last < store.len());
        last.is_some_and(|last| store.batch(last).is_ok_and(|record| digest(&record.batch) == self.last))
    }
}

pub fn digest(batch: &Batch) -> u64 {
    xxh3_64(&postcard::to_stdvec(batch).expect("events are plain data"))
}

/// A checkpoint without its final name: its batches must be on disk first.
#[derive(Debug)]
pub struct Checkpoint {
    file: NamedTempFile,
    path: PathBuf,
    state: CheckpointState,
}

impl Checkpoint {
    /// Writes the pieces of a state. After an error the previous checkpoint remains.
    pub fn write(
        dir: &CrawlDirectory,
        state: CheckpointState,
        pieces: impl Iterator<Item = Vec<u8>>,
    ) -> Result<Self, StoreError> {
        let path = dir.checkpoint();
        let fail = || StoreError::io(&path, "write it");
        let mut out = BufWriter::with_capacity(1 << 18, file_next_to(&path).map_err(fail())?);
        write_to(&mut out, state, pieces).map_err(fail())?;
        let file = out.into_inner().map_err(|error| fail()(error.into_error()))?;
        Ok(Self { file, path, state })
    }

    /// Batches that must be on disk before it gets its name.
    pub fn batches(&self) -> u64 {
        self.state.batches
    }

    /// Replaces the previous checkpoint. After an error that remains.
    pub fn publish(self) -> Result<(), StoreError> {
        let Self { file, path, .. } = self;
        let fail = || StoreError::io(&path, "write it");
        file.as_file().sync_all().map_err(fail())?;
        file.persist(&path).map_err(|error| fail()(error.error))?;
        sync_directory(path.parent().unwrap_or(Path::new(".")))
    }
}

fn write_to(out: &mut impl Write, state: CheckpointState, pieces: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
    out.write_all(HEAD)?;
    let head = postcard::to_stdvec(&state).map_err(io::Error::other)?;
    let mut count: u64 = 0;
    for piece in std::iter::once(head).chain(pieces) {
        let length = u32::try_from(piece.len()).map_err(io::Error::other)?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&xxh3_64(&piece).to_le_bytes())?;
        out.write_all(&piece)?;
        count += 1;
    }
    out.write_all(&0_u32.to_le_bytes())?;
    out.write_all(&count.to_le_bytes())
}

pub struct Pieces {
    from: BufReader<File>,
    read: u64,
    whole: bool,
}

impl Pieces {
    /// The checkpoint of a store with these settings, if its log matches, and the number of its batches.
    pub fn of(store: &Store, settings: u64) -> Option<(Self, u64)> {
        let (pieces, state) = Self::open(store.directory())?;
        (state.settings == settings && state.is_of(store)).then_some((pieces, state.batches))
    }

    /// The checkpoint of a directory, of any log and settings.
    pub fn open(dir: &CrawlDirectory) -> Option<(Self, CheckpointState)> {
        let file = plain_file::open(&dir.checkpoint(), File::options().read(true)).ok()?;
        let mut from = BufReader::with_capacity(1 << 18, file);
        let mut head = [0; HEAD.len()];
        from.read_exact(&mut head).ok()?;
        let mut pieces = Self { from, read: 0, whole: false };
        let state = postcard::from_bytes(&pieces.next().filter(|_| head == HEAD)?).ok()?;
        Some((pieces, state))
    }

    /// Whether all pieces were read with correct checksums.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).ok().map(|()| bytes)
    }
}

impl Iterator for Pieces {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        if self.whole {
            return None;
        }
        let length = u32::from_le_bytes(self.take()?);
        let sum = u64::from_le_bytes(self.take()?);
        if length == 0 {
            self.whole = sum == self.read;
            return None;
        }
        let mut piece = Vec::new();
        // Memory is allocated only as bytes arrive.
        self.from.by_ref().take(u64::from(length.min(LONGEST))).read_to_end(&mut piece).ok()?;
        self.read += 1;
        (piece.len() as u64 == u64::from(length) && xxh3_64(&piece) == sum).then_some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::super::{Record, Store};
    use super::*;

    fn store(root: &Path, batches: u32) -> Store {
        let mut store = Store::resume(&CrawlDirectory::new(root), &meta(), "test").unwrap();
        let record = |n| Record { batch: batch(n, 3), archive: None, revisit: false };
        store.append(&(0..batches).map(record).collect::<Vec<_>>()).unwrap();
        store
    }

    fn state(of: u32, settings: u64) -> CheckpointState {
        CheckpointState { batches: u64::from(of), last: digest(&batch(of - 1, 3)), settings }
    }

    #[test]
    fn a_checkpoint_is_read_only_after_publish() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path(), 5);
        let pieces = vec![vec![1; 70_000], vec![2], (0..=255).collect()];
        let checkpoint = Checkpoint::write(store.directory(), state(4, 7), pieces.clone().into_iter()).unwrap();
        assert!(Pieces::of(&store, 7).is_none());
        checkpoint.publish().unwrap();
        let (mut read, batches) = Pieces::of(&store, 7).unwrap();
        assert_eq!((read.by_ref().collect::<Vec<_>>(), batches, read.is_whole()), (pieces, 4, true));
        assert!(Pieces::of(&store, 8).is_none(), "other settings");
        let left: Vec<_> =
            std::fs::read_dir(store.directory().state()).unwrap().flatten().map(|e| e.file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".part")), "{left:?}");
    }

    #[test]
    fn one_that_the_log_does_not_bear_out_is_left_aside() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path(), 5);
        for state in
            [state(6, 7), CheckpointState { last: 1, ..state(4, 7) }, CheckpointState { batches: 0, ..state(4, 7) }]
        {
            Checkpoint::write(store.directory(), state, std::iter::empty()).unwrap().publish().unwrap();
            assert!(Pieces::of(&store, 7).is_none(), "{state:?}");
        }
    }

    #[test]
    fn a_damaged_one_is_never_whole() {
        let root = tempfile::tempdir().unwrap();
        let store = store(root.path(), 5);
        let pieces = [vec![1; 100], vec![2; 100]];
        Checkpoint::write(store.directory(), state(5, 7), pieces.into_iter()).unwrap().publish().unwrap();
        let path = store.directory().checkpoint();
        let sound = std::fs::read(&path).unwrap();
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x20;
            std::fs::write(&path, &damaged).unwrap();
            if let Some((mut pieces, _)) = Pieces::of(&store, 7) {
                pieces.by_ref().for_each(drop);
                assert!(!pieces.is_whole(), "byte {at}");
            }
            std::fs::write(&path, &sound[..at]).unwrap();
            if let Some((mut pieces, _)) = Pieces::of(&store, 7) {
                pieces.by_ref().for_each(drop);
                assert!(!pieces.is_whole(), "cut at {at}");
            }
        }
    }
}
