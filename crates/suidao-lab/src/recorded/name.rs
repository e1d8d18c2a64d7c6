//! Parses the name of a web, from the command line or a comparison's plan, and opens the web.

use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::RecordedError;
use super::folder::Folder;
use super::warc::{Warc, warc_files_in};
use crate::world::{SpecError, SyntheticWeb, WebSpec};
use suidao_crawl::replay::Web;
use suidao_store::store::CrawlDirectory;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebName {
    /// `hosts:DIR`: a folder with a directory for each host.
    Hosts(PathBuf),
    /// `warc:FILE`: a WARC file, or a directory of WARC files.
    Warc(PathBuf),
    /// `crawl:DIR`: a crawl directory.
    Crawl(PathBuf),
    /// `world:FILE.toml`: a generated world; the default spec without a file.
    World(Option<PathBuf>),
}

impl WebName {
    /// Parses a name; paths are relative to `base`. The kind of a bare path is detected.
    ///
    /// # Errors
    /// [`RecordedError::Unusable`] if the path is not a web, [`RecordedError::Read`] if it does not exist.
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
            false => {
                let path = path.display();
                return Err(RecordedError::Unusable(format!(
                    "{path}: unknown kind of web; write hosts:DIR, warc:FILE, crawl:DIR or world:FILE.toml"
                )));
            }
            true if CrawlDirectory::new(&path).holds_crawl() => Self::Crawl(path),
            true if path.join("hosts").is_dir() => Self::Hosts(path.join("hosts")),
            true if warc_files_in(&path).is_ok() => Self::Warc(path),
            true => Self::Hosts(path),
        })
    }

    /// Opens the web.
    ///
    /// # Errors
    /// [`RecordedError`] names the file or directory and the problem.
    pub fn open(&self) -> Result<OpenedWeb, RecordedError> {
        let web: Arc<dyn Web> = match self {
            Self::Hosts(path) => Arc::new(Folder::open(path)?),
            Self::Warc(path) => Arc::new(Warc::open(path)?),
            Self::Crawl(path) => Arc::new(Warc::open_crawl(&CrawlDirectory::new(path))?),
            Self::World(path) => {
                let spec = path.as_deref().map_or_else(|| Ok(WebSpec::default()), WebSpec::load);
                return OpenedWeb::world(self.clone(), spec.map_err(|error| does_not_fit(self, &error))?);
            }
        };
        Ok(OpenedWeb { name: self.clone(), web, world: None })
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

#[derive(Clone)]
pub struct OpenedWeb {
    /// The name it was opened by.
    pub name: WebName,
    pub web: Arc<dyn Web>,
    /// The generated world, if it is one, with seeds and ground truth.
    pub world: Option<Arc<SyntheticWeb>>,
}

impl OpenedWeb {
    /// The world of a spec under this name.
    ///
    /// # Errors
    /// [`RecordedError::Unusable`] if the spec is invalid.
    pub fn world(name: WebName, spec: WebSpec) -> Result<Self, RecordedError> {
        let world = Arc::new(SyntheticWeb::new(spec).map_err(|error| does_not_fit(&name, &error))?);
        Ok(Self { web: Arc::clone(&world) as Arc<dyn Web>, world: Some(world), name })
    }
}

fn does_not_fit(name: &WebName, error: &SpecError) -> RecordedError {
    RecordedError::Unusable(format!("invalid web specification {name}: {error}"))
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
            // The displayed form parses again.
            assert_eq!(WebName::parse(&name.to_string(), Path::new("")).unwrap(), name);
        }
        for (text, result) in [("notes.txt", "hosts:DIR"), ("none", "none"), ("hosts:", "hosts:")] {
            let error = WebName::parse(text, base).unwrap_err().to_string();
            assert!(error.contains(result), "{error}");
        }
    }

    #[test]
    fn a_spec_that_does_not_fit_is_reported_with_its_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let result = |text: &str| {
            fs::write(file.path(), text).unwrap();
            WebName::World(Some(file.path().to_owned())).open().err().unwrap().to_string()
        };
        assert!(result("seed = 2\npagse = 7\n").contains("line 2"));
        assert!(result("pages = 7\n").contains("needs") || result("pages = 7\n").contains("need "));
        fs::write(file.path(), "seed = 2").unwrap();
        let web = WebName::World(Some(file.path().to_owned())).open().unwrap();
        assert_eq!(web.world.unwrap().spec().seed, 2);
    }
}
