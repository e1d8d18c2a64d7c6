//! Where evidence of recorded webs is kept, as the flags say; for `replay` and whatever else reads such webs.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use suidao::recorded::{Cache, Opened};
use suidao::topic::Topic;

/// The flags.
#[derive(Args)]
pub struct CacheArgs {
    /// Keep what reading makes of each page in this directory [default: suidao in the user's cache directory]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Read every page anew and keep nothing of it
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

impl CacheArgs {
    /// The evidence of this web under this lexicon; none where none is to be kept. A directory that was asked for must
    /// be usable, the user's own may be missing.
    pub fn open(&self, web: &Opened, topic: &Topic) -> Result<Option<Cache>> {
        if self.no_cache {
            return Ok(None);
        }
        if let Some(directory) = &self.cache {
            return Ok(Some(Cache::open(directory, &web.identity, topic)?));
        }
        let Some(directory) = users() else { return Ok(None) };
        match Cache::open(&directory, &web.identity, topic) {
            Ok(cache) => Ok(Some(cache)),
            Err(error) => {
                tracing::warn!("{error}");
                Ok(None)
            }
        }
    }
}

/// Where evidence, and indexes of crawls that cannot be written, are kept: `suidao` in the user's cache directory, `$XDG_CACHE_HOME`, else `~/.cache`, on Windows `%LOCALAPPDATA%`.
pub fn users() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) { named("LOCALAPPDATA") } else { None };
    let base = base.or_else(|| named("XDG_CACHE_HOME")).or_else(|| named("HOME").map(|home| home.join(".cache")));
    base.map(|base| base.join(Path::new("suidao")))
}
