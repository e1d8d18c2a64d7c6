//! The index of a crawl for the verbs that search it, updated if necessary.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use suidao::corpus::Filter;
use suidao::export::export_state;
use suidao::extract::Extractor;
use suidao::html::count;
use suidao::index::{Index, IndexBuild, IndexError};
use suidao::store::{CrawlDirectory, Store, plain_file};

use super::export::with_progress;
use super::outcome::Verbosity;
use super::temporary::temporary_directory;
use super::{extraction, inputs};

pub fn index_directory(directory: &Path) -> PathBuf {
    directory.join("index")
}

/// The index of the crawl in `directory`, built or rebuilt if pages were fetched since. While another process does
/// that, the existing one is used, or its end awaited.
///
/// `rules` are extraction rules to index with; without them those of the existing index are used again.
pub fn current(directory: &Path, rules: Option<&Path>, verbosity: Verbosity) -> Result<Index> {
    let rules = rules.map(extraction::read).transpose()?;
    let mut path = index_directory(directory);
    plain_file::check_tree(&path, |_| true)?;
    let crawl = CrawlDirectory::new(directory);
    let same =
        |index: &Index| rules.as_ref().is_none_or(|rules| index.origin().rules.as_deref() == Some(rules.rules()));
    let is_current = |index: &Index, store: &Store| same(index) && index.origin().is_of(store);
    let (mut store, mut there) = (Store::open(&crawl)?, Index::open(&path));
    if let Ok(index) = there
        && is_current(&index, &store)
    {
        return Ok(index);
    }
    let mut temporary = None;
    let read_only = crawl.is_read_only();
    if read_only {
        (path, temporary) = elsewhere(&store, directory)?;
    }
    // One process updates at a time. The lock is on the directory, so that it leaves nothing behind; where directories
    // do not open as files, the last index to be finished stays.
    let lock = File::open(path.parent().unwrap_or(directory)).ok();
    if let Some(lock) = &lock
        && let Err(TryLockError::WouldBlock) = lock.try_lock()
    {
        if let Ok(index) = Index::open(&path)
            && same(&index)
        {
            let pages = count(index.origin().fetched as usize, "page", "pages");
            infoln!(verbosity, "another process is updating the index; searching that of the first {pages}");
            return Ok(index);
        }
        lock.lock().with_context(|| format!("cannot wait for the index {}", path.display()))?;
    }
    (store, there) = (Store::open(&crawl)?, Index::open(&path));
    let before = there.as_ref().ok().and_then(|index| index.origin().rules.clone());
    let state = match there {
        Ok(index) if is_current(&index, &store) => return Ok(index),
        Ok(_) => "Updating the index",
        Err(IndexError::Missing(_)) => "Building the index",
        Err(IndexError::Incompatible { .. } | IndexError::Engine { .. }) => "Rebuilding the unreadable index",
        Err(error) => return Err(error.into()),
    };
    let catalogue = inputs::pages(&store)?;
    let selection = Filter::default().select(&catalogue);
    let rules = rules.or_else(|| before.and_then(|before| Extractor::parse(&before).ok()));
    let build = IndexBuild::new(&store, &catalogue, &selection, &path, rules.as_ref())?;
    let elsewhere = || format!(" in {} ({} is read-only)", path.display(), directory.display());
    let place = read_only.then(elsewhere).unwrap_or_default();
    infoln!(verbosity, "{state} ({}){place}", count(build.pages() as usize, "page", "pages"));
    with_progress(build.pages(), verbosity, |bar| build.run(&|| bar.inc(1)))?;
    if let Some(rules) = rules.filter(|_| !verbosity.quiet) {
        extraction::print_hit_rates(&rules);
    }
    let index = Index::open(&path)?;
    Ok(match temporary {
        Some(temporary) => index.with_temporary_directory(temporary),
        None => index,
    })
}

/// Location of the index for a read-only crawl directory: in the user's cache, keyed by the crawl's path and start; if
/// that is read-only too, in a temporary directory.
fn elsewhere(store: &Store, directory: &Path) -> Result<(PathBuf, Option<tempfile::TempDir>)> {
    let real = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let named = format!("{}\n{}", real.display(), store.meta().created.0);
    let path = users_cache().map(|users| users.join("index").join(format!("{:016x}", export_state::digest(&named))));
    if let Some(path) = path
        && let Some(above) = path.parent()
        && std::fs::create_dir_all(above).is_ok()
        && tempfile::tempfile_in(above).is_ok()
    {
        return Ok((path, None));
    }
    let temporary = temporary_directory()?;
    Ok((temporary.path().join("index"), Some(temporary)))
}

/// `suidao` in the user's cache directory: `$XDG_CACHE_HOME`, else `~/.cache`, on Windows `%LOCALAPPDATA%`.
fn users_cache() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) { named("LOCALAPPDATA") } else { None };
    let base = base.or_else(|| named("XDG_CACHE_HOME")).or_else(|| named("HOME").map(|home| home.join(".cache")));
    base.map(|base| base.join("suidao"))
}
