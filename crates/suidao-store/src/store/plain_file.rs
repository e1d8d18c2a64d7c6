//! Access to the files of a crawl directory: plain files and directories only. Hard links are not detected, because
//! unpacking an archive cannot create one to a file outside.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::error::StoreError;

/// Size limit of configurations and descriptions, in bytes.
pub const SMALL: u64 = 1 << 20;

/// Size limit of lexicons, forum files, labels and summaries, in bytes.
pub const LARGE: u64 = 64 << 20;

/// Checks that a path is a directory, not a link, or does not exist.
pub fn check_plain_directory(path: &Path) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(found) => Err(StoreError::NotPlain { path: path.to_owned(), what: kind_name(found.file_type()) }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StoreError::io(path, "inspect it")(error)),
    }
}

/// Checks recursively that a directory, if it exists, contains only plain files and directories; skips what `include`
/// rejects.
pub fn check_tree(path: &Path, include: impl Fn(&Path) -> bool) -> Result<(), StoreError> {
    check_plain_directory(path)?;
    let mut pending: Vec<PathBuf> = vec![path.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(StoreError::io(&directory, "list the directory")(error)),
        };
        for entry in entries {
            let entry = entry.map_err(StoreError::io(&directory, "list the directory"))?;
            let path = entry.path();
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                // Another process has removed it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(StoreError::io(&path, "inspect it")(error)),
            };
            match () {
                () if kind.is_dir() && include(&path) => pending.push(path),
                () if kind.is_dir() || kind.is_file() => {}
                () => return Err(StoreError::NotPlain { path, what: kind_name(kind) }),
            }
        }
    }
    Ok(())
}

/// Opens a plain file of a crawl directory, without following links or waiting for pipes.
///
/// # Errors
/// [`StoreError::NotPlain`] if it is something else, [`StoreError::Io`].
pub fn open(path: &Path, options: &mut OpenOptions) -> Result<File, StoreError> {
    // Checked first for a clear message; the system checks again when opening.
    if let Ok(found) = fs::symlink_metadata(path)
        && !found.is_file()
    {
        return Err(StoreError::NotPlain { path: path.to_owned(), what: kind_name(found.file_type()) });
    }
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        options.custom_flags(flags.cast_signed());
    }
    let file = options.open(path).map_err(StoreError::io(path, "open it"))?;
    ensure_plain(file, path)
}

/// Opens a file for reading, possibly through a symbolic link to another disk; does not wait for pipes.
pub fn open_following_links(path: &Path) -> Result<File, StoreError> {
    let found = fs::metadata(path).map_err(StoreError::io(path, "open it"))?;
    if !found.is_file() {
        return Err(StoreError::NotPlain { path: path.to_owned(), what: kind_name(found.file_type()) });
    }
    File::open(path).map_err(StoreError::io(path, "open it")).and_then(|file| ensure_plain(file, path))
}

/// Reads a file of a crawl directory of at most `limit` bytes.
///
/// # Errors
/// As [`open`]; [`StoreError::TooLarge`].
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, StoreError> {
    let file = open(path, OpenOptions::new().read(true))?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(StoreError::io(path, "read it"))?;
    if bytes.len() as u64 > limit {
        return Err(StoreError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}

/// The same as text; other encodings than UTF-8 are [`StoreError::DamagedFile`].
pub fn read_text(path: &Path, limit: u64) -> Result<String, StoreError> {
    String::from_utf8(read(path, limit)?).map_err(|_| {
        let path = path.to_owned();
        StoreError::DamagedFile { path, what: "it is not UTF-8 text".to_owned(), can_be_deleted: false }
    })
}

fn ensure_plain(file: File, path: &Path) -> Result<File, StoreError> {
    let found = file.metadata().map_err(StoreError::io(path, "inspect it"))?;
    match found.is_file() {
        true => Ok(file),
        false => Err(StoreError::NotPlain { path: path.to_owned(), what: kind_name(found.file_type()) }),
    }
}

fn kind_name(kind: FileType) -> &'static str {
    match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a directory",
        () if kind.is_file() => "a file",
        () => "a pipe, socket or device",
    }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::os::unix::fs::symlink;

    use super::*;

    #[cfg(unix)]
    fn fifo(path: &Path) -> bool {
        std::process::Command::new("mkfifo").arg(path).status().is_ok_and(|made| made.success())
    }

    #[cfg(unix)]
    #[test]
    fn only_plain_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let (own, link, pipe) = (dir.path().join("own"), dir.path().join("link"), dir.path().join("pipe"));
        fs::write(&own, "12345").unwrap();
        symlink(&own, &link).unwrap();
        assert_eq!(read_text(&own, 5).unwrap(), "12345");
        assert!(matches!(read(&own, 4), Err(StoreError::TooLarge { limit: 4, .. })));
        assert!(open_following_links(&link).is_ok());
        let mut odd = vec![link, dir.path().to_owned()];
        if fifo(&pipe) {
            odd.push(pipe.clone());
            assert!(matches!(open_following_links(&pipe), Err(StoreError::NotPlain { .. })));
        }
        for odd in odd {
            for options in [OpenOptions::new().read(true), OpenOptions::new().create(true).append(true)] {
                let message = open(&odd, options).unwrap_err();
                assert!(matches!(message, StoreError::NotPlain { .. }) && !message.is_environment(), "{message}");
            }
        }
        assert!(read(&dir.path().join("none"), 5).unwrap_err().to_string().contains("none"));
    }
}
