//! The folder of a service: one crawl directory per crawl, and what the service was asked to do with each.
//!
//! ```text
//! FOLDER/.suidao-serve              the lock, with the process that serves the folder
//! FOLDER/NAME/                      a crawl directory
//! FOLDER/NAME/.service/seeds.txt    seeds given over HTTP
//! FOLDER/NAME/.service/lexicon.toml the topic, as edited
//! FOLDER/NAME/.service/lexicon-before.toml  the topic before its last change
//! FOLDER/NAME/.service/config.toml  settings given over HTTP
//! FOLDER/NAME/.service/running      exists while the crawl should run: a service that was killed starts it again
//! FOLDER/NAME/.service/exports/     finished exports
//! ```

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use suidao_store::store::directory::write_own;
use suidao_store::store::{CrawlDirectory, StoreError, plain_file};

use crate::problem::Problem;

const LOCK: &str = ".suidao-serve";

/// The name of a crawl: 1 to 64 letters or digits of any script, with `-`, `_` and `.` after the first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrawlName(String);

impl CrawlName {
    /// # Errors
    /// A problem with the parameter `name`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let starts = text.chars().next().is_some_and(char::is_alphanumeric);
        let is_name = starts
            && text.chars().count() <= 64
            && text.len() <= 200
            && text.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter));
        if !is_name {
            return Err(Problem::said("web-no-name", 400, &[&text]).of("name"));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CrawlName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// Why a folder cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("{}: {source}; give a folder that can be read and written", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{} is served by another suidao ({by}); stop it, or use its address", path.display())]
    InUse { path: PathBuf, by: String },
}

/// A folder that this process serves; the lock ends with the process.
#[derive(Debug)]
pub struct ServedFolder {
    root: PathBuf,
    _lock: Option<File>,
}

impl ServedFolder {
    /// Creates the folder if it is missing, and locks it.
    ///
    /// # Errors
    /// [`FolderError::InUse`] names the process that serves it.
    pub fn open(root: &Path) -> Result<Self, FolderError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| FolderError::Io { path, source }
        };
        fs::create_dir_all(root).map_err(io(root))?;
        let root = fs::canonicalize(root).map_err(io(root))?;
        fs::read_dir(&root).map_err(io(&root))?;
        let path = root.join(LOCK);
        let mut options = OpenOptions::new();
        let mut file = options.create(true).truncate(false).read(true).write(true).open(&path).map_err(io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let by = fs::read_to_string(&path).unwrap_or_default();
                return Err(FolderError::InUse { path: root, by: by.trim().to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(io(&path)(source)),
        }
        // What a service that was killed left.
        for entry in fs::read_dir(&root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_left = name.to_str().is_some_and(|name| name.starts_with(".new-") || name.starts_with(".deleted-"));
            if is_left && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let noted = file.set_len(0).and_then(|()| write!(file, "process {}", std::process::id()));
        noted.map_err(io(&path))?;
        Ok(Self { root, _lock: Some(file) })
    }

    /// A folder that is only read, also while another process serves it.
    ///
    /// # Errors
    /// [`FolderError::Io`] if it cannot be read.
    pub fn read_only(root: &Path) -> Result<Self, FolderError> {
        let io = |source| FolderError::Io { path: root.to_owned(), source };
        fs::read_dir(root).map_err(io)?;
        Ok(Self { root: fs::canonicalize(root).map_err(io)?, _lock: None })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The names of its crawls, in order. Links and other files are not followed.
    pub fn names(&self) -> Vec<CrawlName> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let names = directories.filter_map(|entry| CrawlName::parse(entry.file_name().to_str()?).ok());
        let mut names: Vec<CrawlName> = names.filter(|name| self.is_crawl(name)).collect();
        names.sort();
        names
    }

    fn is_crawl(&self, name: &CrawlName) -> bool {
        let crawl = self.of(name);
        let is_directory = |path: PathBuf| fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
        is_directory(crawl.directory.state()) || is_directory(crawl.own())
    }

    /// A crawl of the folder.
    ///
    /// # Errors
    /// Not found.
    pub fn crawl(&self, name: &CrawlName) -> Result<CrawlFolder, Problem> {
        let is_plain = fs::symlink_metadata(self.root.join(name.as_str())).is_ok_and(|about| about.is_dir());
        if !is_plain || !self.is_crawl(name) {
            return Err(Problem::said("web-unknown-crawl", 404, &[name]));
        }
        let crawl = self.of(name);
        // Others may have made it: nothing in it may lead out of it.
        plain_file::check_tree(&crawl.own(), |_| true).map_err(|_| {
            let detail = "has links or other special files, which suidao does not follow; remove them";
            Problem::conflict(format!("{name}/.service {detail}"))
        })?;
        Ok(crawl)
    }

    /// The place of a crawl, which may not exist.
    pub(crate) fn of(&self, name: &CrawlName) -> CrawlFolder {
        CrawlFolder { name: name.clone(), directory: CrawlDirectory::new(self.root.join(name.as_str())) }
    }
}

/// One crawl of the folder.
#[derive(Clone, Debug)]
pub struct CrawlFolder {
    pub name: CrawlName,
    pub directory: CrawlDirectory,
}

impl CrawlFolder {
    /// What the service keeps.
    pub fn own(&self) -> PathBuf {
        self.directory.root().join(".service")
    }

    pub fn seeds(&self) -> PathBuf {
        self.own().join("seeds.txt")
    }

    /// The topic as edited; where it is missing, that of the last run counts.
    pub fn lexicon(&self) -> PathBuf {
        self.own().join("lexicon.toml")
    }

    /// The topic before its last change.
    pub fn former_lexicon(&self) -> PathBuf {
        self.own().join("lexicon-before.toml")
    }

    pub fn config(&self) -> PathBuf {
        self.own().join("config.toml")
    }

    pub fn exports(&self) -> PathBuf {
        self.own().join("exports")
    }

    pub fn labels(&self) -> PathBuf {
        self.directory.root().join("labels.tsv")
    }

    fn running(&self) -> PathBuf {
        self.own().join("running")
    }

    /// The topic that counts.
    pub fn current_lexicon(&self) -> PathBuf {
        let own = self.lexicon();
        if own.exists() { own } else { self.directory.topic_toml() }
    }

    /// The settings that count, if there are any.
    pub fn current_config(&self) -> Option<PathBuf> {
        [self.config(), self.directory.config_toml()].into_iter().find(|path| path.exists())
    }

    /// Reads a text; links are refused, since others may have made the directory.
    pub fn read(&self, path: &Path) -> Result<String, Problem> {
        Ok(plain_file::read_text(path, plain_file::LARGE)?)
    }

    /// Writes a file of the service, complete or not at all.
    pub fn write(&self, path: &Path, text: &str) -> Result<(), Problem> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(StoreError::io(parent, "make the directory"))?;
            plain_file::check_plain_directory(parent)?;
        }
        Ok(write_own(path, |out| Ok(out.write_all(text.as_bytes())?))?)
    }

    pub fn should_run(&self) -> bool {
        self.running().exists()
    }

    /// Notes whether the crawl should run, for a later service.
    pub fn set_running(&self, running: bool) -> Result<(), Problem> {
        if running {
            return self.write(&self.running(), "");
        }
        match fs::remove_file(self.running()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io(&self.running(), "remove it")(error).into())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_lead_out() {
        for name in ["ml", "机器学习", "a-1_b.c", "é"] {
            assert_eq!(CrawlName::parse(name).unwrap().as_str(), name);
        }
        let long = "a".repeat(65);
        for name in ["", ".", "..", ".hidden", "a/b", "a\\b", "a b", "-x", "a\0", "a\n", &long] {
            assert_eq!(CrawlName::parse(name).unwrap_err().parameter.as_deref(), Some("name"), "{name}");
        }
    }

    #[test]
    fn a_folder_is_served_once_and_links_are_no_crawls() {
        let root = tempfile::tempdir().unwrap();
        let folder = ServedFolder::open(root.path()).unwrap();
        let message = ServedFolder::open(root.path()).unwrap_err().to_string();
        assert!(message.contains(&format!("process {}", std::process::id())), "{message}");
        let name = CrawlName::parse("one").unwrap();
        folder.of(&name).write(&folder.of(&name).seeds(), "http://a.cn/\n").unwrap();
        fs::create_dir(root.path().join("other")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.path().join("one"), root.path().join("link")).unwrap();
        assert_eq!(folder.names(), std::slice::from_ref(&name));
        assert!(folder.crawl(&CrawlName::parse("link").unwrap()).is_err());
        let crawl = folder.crawl(&name).unwrap();
        crawl.set_running(true).unwrap();
        assert!(crawl.should_run());
        crawl.set_running(false).unwrap();
        crawl.set_running(false).unwrap();
        assert!(!crawl.should_run());
    }
}
