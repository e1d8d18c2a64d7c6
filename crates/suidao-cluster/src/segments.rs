//! Messages of the log stream in files. A segment in the archive has the messages of a partition's log that the server
//! no longer stores:
//!
//! ```text
//! sequence u64, partition u32, length u32, xxh3 u64, bytes         a message, and so on
//! ```

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use suidao_store::store::StoreError;
use suidao_store::store::directory::{WriteError, write_own};
use xxhash_rust::xxh3::xxh3_64;

/// Ending of the names. Before it are the sequence after which the segment begins, and that of its last message.
const ENDING: &str = "segment";
/// Bytes before a message.
const HEADER: usize = 24;
/// Files open at a time.
const OPEN: usize = 256;

/// A message of the log stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub sequence: u64,
    pub partition: u32,
    pub payload: Vec<u8>,
}

impl Message {
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let length = u32::try_from(self.payload.len()).map_err(io::Error::other)?;
        out.write_all(&self.sequence.to_le_bytes())?;
        out.write_all(&self.partition.to_le_bytes())?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&xxh3_64(&self.payload).to_le_bytes())?;
        out.write_all(&self.payload)
    }
}

/// Where a message is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MessageLocation {
    sequence: u64,
    file: usize,
    offset: u64,
    partition: u32,
    length: u32,
    digest: u64,
}

/// Writes the segment of a partition's directory that has the messages after `after` up to `through`; returns its path.
pub(crate) fn write(directory: &Path, after: u64, through: u64, messages: &[Message]) -> Result<PathBuf, StoreError> {
    let path = directory.join(format!("{after:020}-{through:020}.{ENDING}"));
    write_own(&path, |out| {
        let mut out: &mut dyn Write = out;
        messages.iter().try_for_each(|message| message.write_to(&mut out)).map_err(WriteError::from)
    })?;
    Ok(path)
}

/// Segments and other files of messages, read in the order of the server.
#[derive(Default)]
pub(crate) struct LogSegments {
    paths: Vec<PathBuf>,
    locations: Vec<MessageLocation>,
}

impl LogSegments {
    /// Adds the segments of a partition's directory: all messages up to `through`, and perhaps more.
    ///
    /// # Errors
    /// A segment is missing, or cannot be read.
    pub fn add_directory(&mut self, directory: &Path, through: u64) -> Result<(), StoreError> {
        let fail = || StoreError::io(directory, "list the directory");
        let mut paths = std::fs::read_dir(directory)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>())
            .map_err(fail())?;
        paths.sort();
        let mut covered = 0;
        for path in paths {
            let Some((_, last)) = range(&path).filter(|(after, _)| *after <= covered) else { continue };
            covered = covered.max(last);
            self.add(path)?;
        }
        if covered >= through {
            return Ok(());
        }
        Err(StoreError::damaged(directory, format!("the segment after message {covered} is missing")))
    }

    /// Adds a file.
    pub fn add(&mut self, path: PathBuf) -> Result<(), StoreError> {
        let fail = || StoreError::io(&path, "read it");
        let mut from = BufReader::new(File::open(&path).map_err(fail())?);
        let length = from.get_ref().metadata().map_err(fail())?.len();
        let (mut offset, file) = (0, self.paths.len());
        while offset < length {
            let mut header = [0; HEADER];
            from.read_exact(&mut header).map_err(fail())?;
            let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
            let half = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
            let (sequence, partition, length, digest) = (number(0), half(8), half(12), number(16));
            offset += HEADER as u64;
            self.locations.push(MessageLocation { sequence, file, offset, partition, length, digest });
            offset += u64::from(length);
            from.seek_relative(length.into()).map_err(fail())?;
        }
        self.paths.push(path);
        Ok(())
    }

    /// Passes each message once to `each`, in the order of the server, up to `through`.
    pub fn read<E: From<StoreError>>(
        mut self,
        through: u64,
        mut each: impl FnMut(Message) -> Result<(), E>,
    ) -> Result<(), E> {
        self.locations.retain(|location| location.sequence <= through);
        self.locations.sort_unstable();
        // Segments overlap if an owner died before it could record its own on the server.
        self.locations.dedup_by_key(|location| location.sequence);
        let mut open: std::collections::BTreeMap<usize, File> = std::collections::BTreeMap::new();
        for location in &self.locations {
            let path = &self.paths[location.file];
            let fail = || StoreError::io(path, "read it");
            if !open.contains_key(&location.file) {
                if open.len() == OPEN {
                    open.clear();
                }
                open.insert(location.file, File::open(path).map_err(fail())?);
            }
            let Some(file) = open.get_mut(&location.file) else { continue };
            let mut payload = Vec::new();
            let read = file.seek(SeekFrom::Start(location.offset));
            let read = read.and_then(|_| file.take(location.length.into()).read_to_end(&mut payload));
            read.map_err(fail())?;
            if xxh3_64(&payload) != location.digest {
                let what = format!("the message at byte {} is damaged", location.offset);
                return Err(StoreError::damaged(path, what).into());
            }
            each(Message { sequence: location.sequence, partition: location.partition, payload })?;
        }
        Ok(())
    }
}

/// The messages of a segment, from its name.
fn range(path: &Path) -> Option<(u64, u64)> {
    let name = path.file_name()?.to_str()?.strip_suffix(ENDING)?.strip_suffix('.')?;
    let (after, last) = name.split_once('-')?;
    Some((after.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(sequence: u64, partition: u32) -> Message {
        Message { sequence, partition, payload: vec![sequence as u8; 3 + sequence as usize] }
    }

    fn read(segments: LogSegments, through: u64) -> Result<Vec<Message>, StoreError> {
        let mut found = Vec::new();
        segments.read(through, |message| {
            found.push(message);
            Ok::<(), StoreError>(())
        })?;
        Ok(found)
    }

    #[test]
    fn messages_are_read_once_in_the_order_of_the_server() {
        let root = tempfile::tempdir().unwrap();
        let (one, two) = (root.path().join("1"), root.path().join("2"));
        [&one, &two].iter().for_each(|directory| std::fs::create_dir(directory).unwrap());
        // An owner that was replaced wrote the first.
        write(&one, 0, 4, &[message(1, 1), message(4, 1)]).unwrap();
        write(&one, 0, 6, &[message(1, 1), message(4, 1), message(6, 1)]).unwrap();
        write(&two, 0, 3, &[message(2, 2), message(3, 2)]).unwrap();
        write(&two, 3, 5, &[message(5, 2)]).unwrap();
        let all = || {
            let mut segments = LogSegments::default();
            segments.add_directory(&one, 6).unwrap();
            segments.add_directory(&two, 5).unwrap();
            segments
        };
        let of = |sequence| message(sequence, if [1, 4, 6].contains(&sequence) { 1 } else { 2 });
        assert_eq!(read(all(), u64::MAX).unwrap(), (1..=6).map(of).collect::<Vec<_>>());
        assert_eq!(read(all(), 3).unwrap().len(), 3);
        assert!(LogSegments::default().add_directory(&two, 6).is_err());
        std::fs::remove_file(two.join(format!("{:020}-{:020}.{ENDING}", 0, 3))).unwrap();
        assert!(LogSegments::default().add_directory(&two, 5).is_err());
    }

    #[test]
    fn damage_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), 0, 2, &[message(1, 1), message(2, 1)]).unwrap();
        let path = std::fs::read_dir(root.path()).unwrap().next().unwrap().unwrap().path();
        let sound = std::fs::read(&path).unwrap();
        for at in (HEADER..HEADER + 4).chain([sound.len() - 1]) {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            let mut segments = LogSegments::default();
            segments.add_directory(root.path(), 2).unwrap();
            assert!(read(segments, 9).is_err(), "byte {at}");
        }
        std::fs::write(&path, &sound[..sound.len() - 1]).unwrap();
        let mut segments = LogSegments::default();
        assert!(segments.add_directory(root.path(), 2).is_err() || read(segments, 9).is_err());
    }
}
