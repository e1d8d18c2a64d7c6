//! How a web is named on the command line and in a comparison's file, and what its name opens.

use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use xxhash_rust::xxh3::Xxh3;

use super::folder::Folder;
use super::warc::{Warc, warc_files};
use super::{RecordedError, generated};
use crate::replay::Web;
use crate::store::CrawlDirectory;
use crate::world::{Spec, World};

/// A web by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebName {
    /// `hosts:DIR`: a folder with a directory for each host.
    Hosts(PathBuf),
    /// `warc:FILE`: a WARC file, or a directory of such.
    Warc(PathBuf),
    /// `crawl:DIR`: a crawl directory.
    Crawl(PathBuf),
    /// `world:FILE.toml`: a generated world; without a file that of the default spec.
    World(Option<PathBuf>),
}

impl WebName {
    /// Reads a name; relative paths are meant from `base`. A bare path is known by what lies there.
    ///
    /// # Errors
    /// [`RecordedError::Unknown`] if nothing that is a web lies there, [`RecordedError::Read`] if nothing does.
    pub fn parse(text: &str, base: &Path) -> Result<Self, RecordedError> {
        let name = match text.split_once(':') {
            Some(("world", "")) => return Ok(Self::World(None)),
            Some((kind @ ("hosts" | "warc" | "crawl" | "world"), path)) if !path.is_empty() => {
                let path = base.join(path);
                match kind {
                    "hosts" => Self::Hosts(path),
                    "warc" => Self::Warc(path),
                    "crawl" => Self::Crawl(path),
                    _ => Self::World(Some(path)),
                }
            }
            _ => return Self::recognised(base.join(text)),
        };
        Ok(name)
    }

    fn recognised(path: PathBuf) -> Result<Self, RecordedError> {
        let there = fs::metadata(&path).map_err(|source| RecordedError::Read { path: path.clone(), source })?;
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        Ok(match there.is_dir() {
            false if is_toml => Self::World(Some(path)),
            false if path.to_string_lossy().contains(".warc") => Self::Warc(path),
            false => return Err(RecordedError::Unknown(path.display().to_string())),
            true if CrawlDirectory::new(&path).holds_crawl() => Self::Crawl(path),
            true if path.join("hosts").is_dir() => Self::Hosts(path.join("hosts")),
            true if warc_files(&path).is_ok() => Self::Warc(path),
            true => Self::Hosts(path),
        })
    }

    /// Opens the web.
    ///
    /// # Errors
    /// [`RecordedError`] names the file or directory and says what is wrong with it.
    pub fn open(&self) -> Result<Opened, RecordedError> {
        let (web, files): (Arc<dyn Web>, Vec<PathBuf>) = match self {
            Self::Hosts(path) => (Arc::new(Folder::open(path)?), host_files(path)?),
            Self::Warc(path) if path.is_dir() => (Arc::new(Warc::open(path)?), warc_files(path)?),
            Self::Warc(path) => (Arc::new(Warc::open(path)?), vec![path.clone()]),
            Self::Crawl(path) => {
                let directory = CrawlDirectory::new(path);
                let web = Warc::open_crawl(&directory)?;
                let mut files = warc_files(&directory.pages())?;
                files.push(directory.meta_json());
                (Arc::new(web), files)
            }
            Self::World(path) => {
                let spec = path.as_deref().map_or_else(|| Ok(Spec::default()), generated::spec)?;
                return Opened::world(self.clone(), spec);
            }
        };
        let mut identity = match self {
            Self::Hosts(_) => "hosts".to_owned(),
            _ => "warc".to_owned(),
        };
        for file in files {
            let fail = |source| RecordedError::Read { path: file.clone(), source };
            let whole = fs::canonicalize(&file).map_err(fail)?;
            let there = fs::metadata(&whole).map_err(fail)?;
            if there.is_dir() {
                let mut sum = Xxh3::new();
                below(&whole, &mut sum)?;
                identity += &format!("\n{} {:x}", whole.display(), sum.digest());
            } else {
                identity += &format!("\n{}", looks(&whole, &there));
            }
        }
        Ok(Opened { name: self.clone(), web, world: None, identity })
    }
}

impl Display for WebName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hosts(path) => write!(f, "hosts:{}", path.display()),
            Self::Warc(path) => write!(f, "warc:{}", path.display()),
            Self::Crawl(path) => write!(f, "crawl:{}", path.display()),
            Self::World(Some(path)) => write!(f, "world:{}", path.display()),
            Self::World(None) => f.write_str("world:"),
        }
    }
}

/// A web that was opened.
#[derive(Clone)]
pub struct Opened {
    /// By which name.
    pub name: WebName,
    /// What answers.
    pub web: Arc<dyn Web>,
    /// The generated world, if it is one: it knows its seeds and what is relevant.
    pub world: Option<Arc<World>>,
    /// What tells this web from others, and from itself after a change: for a [`super::Cache`].
    pub identity: String,
}

impl Opened {
    /// The world of a spec, under the name it was asked for by.
    ///
    /// # Errors
    /// [`RecordedError::World`] if the spec describes none.
    pub fn world(name: WebName, spec: Spec) -> Result<Self, RecordedError> {
        let identity = format!("world\n{}", serde_json::to_string(&spec).expect("a spec is plain data"));
        let wrong =
            |error: crate::world::SpecError| RecordedError::World { from: name.to_string(), reason: error.to_string() };
        let world = Arc::new(World::new(spec).map_err(wrong)?);
        Ok(Self { web: Arc::clone(&world) as Arc<dyn Web>, world: Some(world), name, identity })
    }
}

/// What lies below `path`, in one number: paths, sizes and times of change of all files.
fn below(path: &Path, sum: &mut Xxh3) -> Result<(), RecordedError> {
    let fail = |source| RecordedError::Read { path: path.to_owned(), source };
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(path).map_err(fail)?.collect::<Result<_, _>>().map_err(fail)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let there = entry.metadata().map_err(fail)?;
        if there.is_dir() {
            below(&entry.path(), sum)?;
        } else {
            sum.update(looks(&entry.path(), &there).as_bytes());
        }
    }
    Ok(())
}

/// What makes up a folder of hosts: each host, and the aliases beside.
fn host_files(root: &Path) -> Result<Vec<PathBuf>, RecordedError> {
    let fail = |source| RecordedError::Read { path: root.to_owned(), source };
    let entries: Result<Vec<PathBuf>, _> = fs::read_dir(root).map_err(fail)?.map(|entry| Ok(entry?.path())).collect();
    let mut files = entries.map_err(fail)?;
    files.sort();
    files.extend(Some(Folder::aliases_of(root)).filter(|aliases| aliases.exists()));
    Ok(files)
}

/// Path, size and time of change.
fn looks(path: &Path, there: &fs::Metadata) -> String {
    let changed = there.modified().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    format!("{} {} {}", path.display(), there.len(), changed.unwrap_or_default().as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_path_is_known_by_what_lies_there() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path();
        for path in ["web/hosts/a.test", "folder/a.test", "crawl/state", "warcs"] {
            fs::create_dir_all(base.join(path)).unwrap();
        }
        for path in ["crawl/state/meta.json", "warcs/x.warc.gz", "world.toml", "notes.txt"] {
            fs::write(base.join(path), "").unwrap();
        }
        for (bare, name) in [
            ("web", WebName::Hosts(base.join("web/hosts"))),
            ("folder", WebName::Hosts(base.join("folder"))),
            ("crawl", WebName::Crawl(base.join("crawl"))),
            ("warcs", WebName::Warc(base.join("warcs"))),
            ("warcs/x.warc.gz", WebName::Warc(base.join("warcs/x.warc.gz"))),
            ("world.toml", WebName::World(Some(base.join("world.toml")))),
            ("hosts:folder", WebName::Hosts(base.join("folder"))),
            ("world:", WebName::World(None)),
        ] {
            assert_eq!(WebName::parse(bare, base).unwrap(), name, "{bare}");
            // What is shown is a name again.
            assert_eq!(WebName::parse(&name.to_string(), Path::new("")).unwrap(), name);
        }
        for (text, told) in [("notes.txt", "hosts:DIR"), ("none", "none"), ("hosts:", "hosts:")] {
            let error = WebName::parse(text, base).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_web_that_changes_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("hosts");
        fs::create_dir_all(root.join("a.test")).unwrap();
        let name = WebName::Hosts(root.clone());
        let before = name.open().unwrap().identity;
        assert_eq!(name.open().unwrap().identity, before);
        fs::create_dir(root.join("b.test")).unwrap();
        let more = name.open().unwrap().identity;
        assert_ne!(more, before);
        fs::write(dir.path().join("aliases.tsv"), "x\ta.test\n").unwrap();
        let aliased = name.open().unwrap().identity;
        assert_ne!(aliased, more);
        fs::create_dir(root.join("a.test/sub")).unwrap();
        fs::write(root.join("a.test/sub/p.html"), "one").unwrap();
        let deeper = name.open().unwrap().identity;
        assert_ne!(deeper, aliased);
        fs::write(root.join("a.test/sub/p.html"), "other").unwrap();
        assert_ne!(name.open().unwrap().identity, deeper);
    }

    #[test]
    fn a_spec_that_does_not_fit_is_told_with_its_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let told = |text: &str| {
            fs::write(file.path(), text).unwrap();
            WebName::World(Some(file.path().to_owned())).open().err().unwrap().to_string()
        };
        assert!(told("seed = 2\npagse = 7\n").contains("line 2"));
        assert!(told("pages = 7\n").contains("needs") || told("pages = 7\n").contains("need "));
        fs::write(file.path(), "seed = 2").unwrap();
        let web = WebName::World(Some(file.path().to_owned())).open().unwrap();
        assert_eq!(web.world.unwrap().spec().seed, 2);
    }
}
