//! Which of the files an import takes, and from which batch of the log on: files of earlier imports are known already,
//! and an import that was killed begins again, compared with the log.

use std::path::PathBuf;

use super::ImportError;
use crate::live::{Job, now};
use suidao_store::store::{Import, ImportedFile, Imports, Store};

pub(super) struct Plan {
    /// The import of this run is the last.
    pub imports: Imports,
    /// Its files, in order; none if earlier imports took all of them.
    pub files: Vec<PathBuf>,
    /// Files that earlier imports took.
    pub known: u64,
    /// Further files follow, after an import that was killed.
    pub has_more: bool,
}

impl Plan {
    /// `files` can be read.
    pub fn new(files: &[PathBuf], job: &Job, store: &Store) -> Result<Self, ImportError> {
        let root = || job.directory.root().to_owned();
        let mut imports = Imports::read(&job.directory, store.len())?;
        if imports.is_empty() && !store.is_empty() {
            return Err(ImportError::HoldsCrawl(root()));
        }
        let unfinished = imports.unfinished().cloned();
        let seeds = Import::seeds_digest(&job.seeds);
        let has_other_seeds = |import: &Import| import.seeds != seeds;
        let (mut known, mut wanted): (Vec<bool>, Vec<(ImportedFile, PathBuf)>) = (Vec::new(), Vec::new());
        for path in files {
            let file = ImportedFile::of(path)?;
            match imports.with(&file).filter(|by| Some(*by) != unfinished.as_ref()) {
                Some(by) => known.push(has_other_seeds(by)),
                None if wanted.iter().any(|(other, _)| other.digest == file.digest) => {}
                None => wanted.push((file, path.clone())),
            }
        }
        let mut has_more = false;
        if let Some(import) = &unfinished {
            // It is made to its end first: what follows must not depend on when it was killed.
            let is_wanted = |file: &ImportedFile| wanted.iter().any(|(other, _)| other.digest == file.digest);
            if !import.files.iter().all(is_wanted) {
                return Err(ImportError::Unfinished { path: root(), files: import.first_names() });
            }
            let place =
                |(file, _): &(ImportedFile, PathBuf)| import.files.iter().position(|own| own.digest == file.digest);
            wanted.sort_by_key(|file| place(file).unwrap_or(usize::MAX));
            has_more = wanted.len() > import.files.len();
            wanted.truncate(import.files.len());
        }
        // Of known files no seeds need to be given again.
        let is_other = wanted.is_empty() && !job.seeds.is_empty() && !known.contains(&false);
        if is_other || unfinished.as_ref().is_some_and(has_other_seeds) {
            return Err(ImportError::OtherSeeds(root()));
        }
        let (names, files): (Vec<ImportedFile>, Vec<PathBuf>) = wanted.into_iter().unzip();
        if unfinished.is_none() && !files.is_empty() {
            imports.begin(Import::new(names, seeds, now(), store.len()));
        }
        Ok(Self { imports, files, known: known.len() as u64, has_more })
    }

    /// The import of this run; none if there is nothing to do.
    pub fn import(&self) -> Option<&Import> {
        self.imports.last().filter(|_| !self.files.is_empty())
    }
}
