//! The index of a crawl as the verbs that ask it want it: brought up to date, and said so.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use suidao::corpus::{Catalogue, Filter};
use suidao::index::{Index, IndexError, build};
use suidao::store::{CrawlDirectory, Store, StoreError, own};

use super::Voice;
use super::export::progress;

/// Where the index of a crawl lies.
pub fn place(directory: &Path) -> PathBuf {
    directory.join("index")
}

/// The index of the crawl in `directory`, made or made anew where pages were fetched since. While a crawl runs there, the
/// one that is there is used as it is.
pub fn current(directory: &Path, voice: Voice) -> Result<Index> {
    let path = place(directory);
    own::check_below(&path, |_| true)?;
    let there = Index::open(&path);
    let store = match Store::open(&CrawlDirectory::new(directory)) {
        Ok(store) => store,
        Err(StoreError::InUse(_)) => {
            let Ok(index) = there else {
                bail!(
                    "{}: a crawl runs in this directory, and there is no index yet; wait for it or stop it",
                    directory.display()
                );
            };
            if !voice.quiet {
                note!(
                    "a crawl runs in {}: the index of its first {} pages is used",
                    directory.display(),
                    index.origin().fetched
                );
            }
            return Ok(index);
        }
        Err(error) => return Err(error.into()),
    };
    let state = match there {
        Ok(index) if index.origin().is_of(&store) => return Ok(index),
        Ok(_) => "the crawl went on since the index was made",
        Err(IndexError::Missing(_)) => "there is no index yet",
        Err(IndexError::Foreign { .. } | IndexError::Engine { .. }) => "the index does not read",
        Err(error) => return Err(error.into()),
    };
    let catalogue = Catalogue::read(&store)?;
    if catalogue.entries.is_empty() {
        bail!("{}: no page was fetched yet; run the crawl again", directory.display());
    }
    let selection = Filter::default().select(&catalogue);
    if !voice.quiet {
        note!("{state}: making one of {} pages", selection.pages);
    }
    // Each page is gone through twice.
    let bar = progress(2 * selection.pages, voice);
    let made = build(&store, &catalogue, &selection, &path, &|| bar.inc(1));
    bar.finish_and_clear();
    made?;
    Ok(Index::open(&path)?)
}
