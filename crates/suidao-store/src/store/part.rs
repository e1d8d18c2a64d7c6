//! Temporary files and directories that are renamed to their final name when complete.
//!
//! The writer locks each. One without a lock is abandoned, and the next writer of the same target removes it.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile, TempDir};

/// Prefix and suffix of a temporary name; between them are the target's name and random characters.
const NAME: (&str, &str) = (".suidao-", ".part");
/// Bytes of the target's name in it, because names have at most 255.
const MAX_TARGET_NAME: usize = 180;
/// How often a part is created again after another process has removed it before it was locked.
const TRIES: usize = 8;

/// A directory that is being filled. Removed on drop.
#[derive(Debug)]
pub struct PartDirectory {
    directory: TempDir,
    _lock: Option<File>,
}

impl PartDirectory {
    /// Creates one next to `path`, which need not exist, and removes abandoned ones.
    pub fn next_to(path: &Path) -> io::Result<Self> {
        let lock = |directory: &TempDir| {
            let file = File::open(directory.path()).map_err(TryLockError::Error)?;
            file.try_lock().map(|()| Some(file))
        };
        let place = |directory: &TempDir| directory.path().to_owned();
        let (directory, lock) = make(path, 0o755, |builder, parent| builder.tempdir_in(parent), place, lock)?;
        Ok(Self { directory, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Gives it its final name. After an error it is removed.
    pub fn rename(self, path: &Path) -> io::Result<()> {
        fs::rename(self.directory.path(), path)?;
        // It has its final name: do not remove it.
        let _ = self.directory.keep();
        Ok(())
    }

    /// Takes the place of an existing directory, atomically if the system can, so that a kill leaves one of them. The
    /// existing one is moved to `previous`, or removed.
    pub(super) fn exchange(self, path: &Path, previous: Option<&Path>) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            if renameat_with(CWD, self.path(), CWD, path, RenameFlags::EXCHANGE).is_ok() {
                return previous.map_or(Ok(()), |previous| self.rename(previous));
            }
        }
        if path.exists() {
            match previous {
                Some(previous) => fs::rename(path, previous)?,
                None => fs::remove_dir_all(path)?,
            }
        }
        self.rename(path)
    }
}

/// Creates a file next to `path`, which need not exist, and removes abandoned ones. It has the usual permissions.
pub(super) fn file_next_to(path: &Path) -> io::Result<NamedTempFile> {
    // The lock belongs to the open file, and ends with it.
    let lock = |file: &NamedTempFile| file.as_file().try_lock().map(|()| None);
    let place = |file: &NamedTempFile| file.path().to_owned();
    make(path, 0o644, |builder, parent| builder.tempfile_in(parent), place, lock).map(|(file, _)| file)
}

fn make<T>(
    path: &Path,
    mode: u32,
    make: impl Fn(&Builder<'_, '_>, &Path) -> io::Result<T>,
    place: impl Fn(&T) -> PathBuf,
    lock: impl Fn(&T) -> Result<Option<File>, TryLockError>,
) -> io::Result<(T, Option<File>)> {
    let (parent, start) = (parent(path), start(path));
    clear(parent, &start);
    let mut builder = Builder::new();
    builder.prefix(&start).suffix(NAME.1);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    for _ in 0..TRIES {
        let part = make(&builder, parent).map_err(|error| explain(parent, &error))?;
        match lock(&part) {
            // It was not removed before it was locked.
            Ok(file) if place(&part).exists() => return Ok((part, file)),
            Ok(_) | Err(TryLockError::WouldBlock) => {}
            // A file system without locks: it never counts as abandoned.
            Err(TryLockError::Error(_)) => return Ok((part, None)),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process is writing there"))
}

/// The error of creating a part, without its random name.
fn explain(parent: &Path, error: &io::Error) -> io::Error {
    let text = match error.kind() {
        io::ErrorKind::NotFound => format!("the directory {} does not exist", parent.display()),
        _ => error.to_string().split(" at path ").next().unwrap_or_default().to_owned(),
    };
    io::Error::new(error.kind(), text)
}

/// Removes abandoned parts of this target. Failures do no harm.
fn clear(parent: &Path, start: &str) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(start) && name.ends_with(NAME.1));
        let Ok(kind) = entry.file_type() else { continue };
        // A link would remove something else, and opening a pipe would block.
        if !ours || !kind.is_file() && !kind.is_dir() {
            continue;
        }
        let Ok(part) = File::open(entry.path()) else { continue };
        if part.try_lock().is_ok() {
            let removed = if kind.is_dir() { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
            if let Err(error) = removed {
                tracing::debug!("{}: {error}", entry.path().display());
            }
        }
    }
}

/// Whether the name is that of a part.
pub(super) fn is_part(name: &std::ffi::OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(NAME.0.as_bytes()) && name.ends_with(NAME.1.as_bytes())
}

fn start(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=MAX_TARGET_NAME.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or_default();
    format!("{}{}-", NAME.0, &name[..end])
}

pub(super) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abandoned_parts_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let names = || {
            let entries = fs::read_dir(root.path()).unwrap();
            let mut names: Vec<String> =
                entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        let target = root.path().join("index");
        // As a kill leaves it.
        fs::create_dir_all(root.path().join(".suidao-index-abandn.part/index")).unwrap();
        fs::write(root.path().join(".suidao-index-abandf.part"), "x").unwrap();
        // The part of another target, and a file that only looks like one.
        let others = [".suidao-other-abcdef.part", ".suidao-index-note.txt"];
        others.iter().for_each(|name| fs::write(root.path().join(name), "x").unwrap());
        let first = PartDirectory::next_to(&target).unwrap();
        assert_eq!(names().len(), 3, "{:?}", names());
        let second = PartDirectory::next_to(&target).unwrap();
        let file = file_next_to(&target).unwrap();
        assert_eq!(names().len(), 5, "those under way stay: {:?}", names());
        first.rename(&target).unwrap();
        drop((second, file));
        assert_eq!(names(), [".suidao-index-note.txt", ".suidao-other-abcdef.part", "index"]);
    }
}
