//! `state/imports.json`: the archives that `suidao import` took into a crawl directory, and the batches that they became.
//! Whoever imports more knows from it what is new; the data card, which pages suidao did not fetch itself.

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

use super::directory::{CrawlDirectory, write_own};
use super::error::StoreError;
use super::plain_file;
use super::warc::digest_name;
use suidao_page::model::{CrawlUrl, Millis};

/// Of the file: some 400,000 imported files.
const LIMIT: u64 = 64 << 20;

/// A file of another crawler. The digest tells whether it was imported before, under whatever name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedFile {
    /// Without its directory.
    pub name: String,
    /// `sha1:` and 32 letters, as in WARC files.
    pub digest: String,
}

impl ImportedFile {
    /// Reads the file.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn of(path: &Path) -> Result<Self, StoreError> {
        let fail = || StoreError::io(path, "read it");
        let mut file = File::open(path).map_err(fail())?;
        let (mut sha, mut buffer) = (Sha1::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer).map_err(fail())? {
                0 => break,
                read => sha.update(&buffer[..read]),
            }
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, digest: digest_name(&sha.finalize()) })
    }
}

/// One run of `suidao import`, with its continuations after a kill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    pub files: Vec<ImportedFile>,
    /// Of its seed URLs, by [`Import::seeds_digest`].
    pub seeds: String,
    pub begun: Millis,
    /// The number of its first batch.
    pub first: u64,
    /// The number of batches when it was complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
}

impl Import {
    pub fn new(files: Vec<ImportedFile>, seeds: String, begun: Millis, first: u64) -> Self {
        Self { files, seeds, begun, first, end: None }
    }

    /// The first of its files, by name.
    pub fn first_names(&self) -> String {
        const NAMED: usize = 3;
        let named: Vec<&str> = self.files.iter().take(NAMED).map(|file| file.name.as_str()).collect();
        let more = if self.files.len() > NAMED { " ..." } else { "" };
        named.join(", ") + more
    }

    pub fn seeds_digest(seeds: &[CrawlUrl]) -> String {
        let mut sha = Sha1::new();
        for seed in seeds {
            sha.update(seed.as_str());
            sha.update([0]);
        }
        digest_name(&sha.finalize())
    }
}

/// The imports of a crawl directory in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imports(Vec<Import>);

impl Imports {
    /// Reads the imports into a directory whose log has this many batches; none if nothing was imported. What a repair
    /// cut off the log is to be imported again.
    ///
    /// # Errors
    /// [`StoreError::DamagedFile`], [`StoreError::Io`].
    pub fn read(directory: &CrawlDirectory, batches: u64) -> Result<Self, StoreError> {
        let path = directory.imports_json();
        if !path.exists() {
            return Ok(Self::default());
        }
        let mut imports: Self = serde_json::from_slice(&plain_file::read(&path, LIMIT)?)
            .map_err(|error| StoreError::DamagedFile { path, what: error.to_string(), can_be_deleted: false })?;
        imports.0.retain(|import| import.first <= batches);
        for import in &mut imports.0 {
            import.end = import.end.filter(|end| *end <= batches);
        }
        Ok(imports)
    }

    /// # Errors
    /// [`StoreError::Io`].
    pub fn write(&self, directory: &CrawlDirectory) -> Result<(), StoreError> {
        write_own(&directory.imports_json(), |out| Ok(serde_json::to_writer_pretty(out, self)?))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All files, in the order in which they were imported.
    pub fn files(&self) -> impl Iterator<Item = &ImportedFile> {
        self.0.iter().flat_map(|import| &import.files)
    }

    /// The import that has this file.
    pub fn with(&self, file: &ImportedFile) -> Option<&Import> {
        self.0.iter().find(|import| import.files.iter().any(|known| known.digest == file.digest))
    }

    /// The last import, if it was killed or interrupted.
    pub fn unfinished(&self) -> Option<&Import> {
        self.0.last().filter(|import| import.end.is_none())
    }

    /// The last import.
    pub fn last(&self) -> Option<&Import> {
        self.0.last()
    }

    pub fn begin(&mut self, import: Import) {
        self.0.push(import);
    }

    /// The last import is complete, with this many batches in the log.
    pub fn complete(&mut self, batches: u64) {
        if let Some(last) = self.0.last_mut() {
            last.end = Some(batches);
        }
    }

    /// The batches of each import; those of an unfinished one go on to the end of the log.
    pub fn batches(&self) -> impl Iterator<Item = Range<u64>> {
        self.0.iter().map(|import| import.first..import.end.unwrap_or(u64::MAX))
    }
}
