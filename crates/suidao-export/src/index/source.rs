//! What an index was built from. Stored in the index.

use serde::{Deserialize, Serialize};

use suidao_page::model::Millis;
use suidao_store::store::Store;

/// Format of the index. Increase it when a field or the tokenizer changes.
pub(super) const FORMAT: u32 = 7;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexSource {
    pub format: u32,
    pub version: String,
    pub topic: String,
    pub strategy: String,
    pub created: Millis,
    /// Batches of the log at that time.
    pub batches: u64,
    pub fetched: u64,
    pub pages: u64,
    /// It has all archived pages.
    pub whole: bool,
    /// The rules by which values were extracted, as written by the user.
    pub rules: Option<String>,
}

impl IndexSource {
    /// Whether it has all pages of the crawl in its present state.
    pub fn is_of(&self, store: &Store) -> bool {
        self.whole && self.batches == store.len() && self.created == store.meta().created
    }
}
