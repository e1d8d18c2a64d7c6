//! Pages at the end of their tunnel.

use serde::{Deserialize, Serialize};

use suidao_page::model::{Link, QueueEntry, Relevance};

/// A page whose links were dropped at the end of its tunnel, stored in case a longer tunnel reaches it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EndedTunnel {
    pub relevance: Relevance,
    pub entry: QueueEntry,
    pub links: Vec<Link>,
    /// See `PageProcessed::layer`.
    pub layer: Option<u8>,
}
