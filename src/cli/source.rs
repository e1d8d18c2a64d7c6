//! The crawl that a verb reads: a directory, or `cluster:NAME`, which becomes one for as long as the verb runs.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use suidao::store::CrawlDirectory;
use tempfile::TempDir;

use super::cluster;
use super::nats::NatsArgs;
use super::temporary::temporary_directory;

/// Prefix of the name of a crawl on a NATS server.
pub const CLUSTER: &str = "cluster:";

/// The crawl that a verb reads.
#[derive(Args, Clone, Debug)]
pub struct CrawlSourceArgs {
    /// Crawl directory, or cluster:NAME for the current state of a distributed crawl
    pub directory: PathBuf,
    #[command(flatten)]
    pub nats: NatsArgs,
}

/// A crawl that can be read.
pub struct CrawlSource {
    given: CrawlSourceArgs,
    view: Option<TempDir>,
}

impl CrawlSourceArgs {
    /// The name of a crawl on a NATS server.
    pub fn cluster(&self) -> Option<&str> {
        self.directory.to_str()?.strip_prefix(CLUSTER)
    }

    /// Opens the crawl.
    pub fn open(&self) -> Result<CrawlSource> {
        let view = self.cluster().map(|name| {
            let view = temporary_directory()?;
            cluster::view(&self.nats.nats, name, &CrawlDirectory::new(view.path()))?;
            Ok::<TempDir, anyhow::Error>(view)
        });
        Ok(CrawlSource { given: self.clone(), view: view.transpose()? })
    }
}

impl CrawlSource {
    pub fn path(&self) -> &Path {
        self.view.as_ref().map_or(&self.given.directory, TempDir::path)
    }

    pub fn directory(&self) -> CrawlDirectory {
        CrawlDirectory::new(self.path())
    }

    /// The name of a crawl on a NATS server. Its directory is temporary.
    pub fn cluster(&self) -> Option<&str> {
        self.given.cluster()
    }
}

impl fmt::Display for CrawlSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.given.directory.display().fmt(f)
    }
}
