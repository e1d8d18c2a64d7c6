//! `state/meta.json`: the metadata of a crawl. It is outside the log, so that a later version can change the log and
//! still recognise the format.

use serde::{Deserialize, Serialize};

use super::archive::warc_files;
use super::directory::{CrawlDirectory, write_own};
use super::error::StoreError;
use super::plain_file;
use suidao_page::model::{Millis, Relevance};

/// Format of directory and log that this program writes, and the only one that it reads.
pub const FORMAT: u32 = 7;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    pub format: u32,
    pub version: String,
    pub topic: String,
    pub lexicon: String,
    pub strategy: String,
    /// Pages of at least this relevance are relevant.
    pub page_threshold: Relevance,
    pub created: Millis,
    /// The scores of pages that were judged again, by `lexicon` and `page_threshold`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescoring: Option<Rescoring>,
}

/// Where the newest scores are in the log. Part of meta.json, which is written last: an unfinished run has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rescoring {
    pub at: Millis,
    /// Number of the first batch of scores.
    pub first: u64,
    /// Of each batch of scores: the number of the batch with its first page.
    pub pages: Vec<u64>,
}

impl Rescoring {
    /// Whether these batches contain all its scores.
    pub fn is_in(&self, batches: u64) -> bool {
        self.first + self.pages.len() as u64 <= batches
    }

    /// The batch of scores that may contain the score of the page in batch `number`.
    pub(super) fn batch_of(&self, number: u64) -> Option<u64> {
        let later = self.pages.partition_point(|first| *first <= number) as u64;
        (number < self.first && later > 0).then(|| self.first + later - 1)
    }
}

impl Meta {
    pub fn new(topic: &str, lexicon: &str, strategy: &str, page_threshold: Relevance, created: Millis) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            topic: topic.to_owned(),
            lexicon: lexicon.to_owned(),
            strategy: strategy.to_owned(),
            page_threshold,
            created,
            rescoring: None,
        }
    }

    /// Reads the metadata of a directory; changes nothing.
    ///
    /// # Errors
    /// [`StoreError::NoCrawl`], [`StoreError::NoState`], [`StoreError::OtherFormat`], [`StoreError::DamagedFile`],
    /// [`StoreError::Io`].
    pub fn read(dir: &CrawlDirectory) -> Result<Self, StoreError> {
        /// The part that every format has.
        #[derive(Deserialize)]
        struct Head {
            format: u32,
            #[serde(default)]
            version: String,
        }
        // Every access to a crawl starts here.
        dir.check_state()?;
        let path = dir.meta_json();
        if !path.exists() {
            let (root, pages) = (dir.root().to_owned(), dir.pages());
            let has_pages = pages.is_dir() && warc_files(&pages).is_ok_and(|files| !files.is_empty());
            return Err(if has_pages {
                StoreError::NoState { dir: root, missing: path }
            } else {
                StoreError::NoCrawl { dir: root, missing: path }
            });
        }
        let text = plain_file::read(&path, plain_file::SMALL)?;
        let damaged = |error: serde_json::Error| {
            let path = path.clone();
            StoreError::DamagedFile { path, what: error.to_string(), can_be_deleted: false }
        };
        let head: Head = serde_json::from_slice(&text).map_err(damaged)?;
        if head.format != FORMAT {
            return Err(StoreError::OtherFormat { path, found: head.format, known: FORMAT, version: head.version });
        }
        serde_json::from_slice(&text).map_err(damaged)
    }

    pub(super) fn write(&self, dir: &CrawlDirectory) -> Result<(), StoreError> {
        write_own(&dir.meta_json(), |out| Ok(serde_json::to_writer_pretty(out, self)?))
    }

    /// Checks that a crawl described by `self` may resume one described by `there`: only date and program version may
    /// differ.
    ///
    /// # Errors
    /// [`StoreError::OtherCrawl`] with the first difference.
    pub fn resumes(&self, there: &Self, dir: &CrawlDirectory) -> Result<(), StoreError> {
        let [before, now] = [there, self].map(|meta| meta.page_threshold.get().to_string());
        let pairs = [
            ("topic", &there.topic, &self.topic),
            ("lexicon", &there.lexicon, &self.lexicon),
            ("strategy", &there.strategy, &self.strategy),
            // Pages judged by two thresholds would make every count wrong.
            ("crawl.page_threshold", &before, &now),
        ];
        match pairs.into_iter().find(|(_, found, wanted)| found != wanted) {
            None => Ok(()),
            Some((what, found, wanted)) => Err(StoreError::OtherCrawl {
                path: dir.meta_json(),
                what,
                found: found.clone(),
                wanted: wanted.clone(),
            }),
        }
    }
}
