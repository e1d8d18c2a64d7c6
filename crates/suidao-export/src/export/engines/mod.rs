//! Documents for search servers: bulk rows of each server, and the settings that describe the fields.

pub mod es_bulk;
pub mod meilisearch;
pub mod push;
pub mod quickwit;

use serde_json::Value;

use suidao_store::corpus::DocumentFields;

/// The fields useful for search: shown, filtered or sorted.
const SEARCHED: [&str; 18] = [
    "id",
    "url",
    "host",
    "title",
    "text",
    "chars",
    "language",
    "published",
    "fetched",
    "relevance",
    "relevant",
    "terms",
    "anchor",
    "hops",
    "depth",
    "duplicate_of",
    "listing",
    "noindex",
];

/// The default fields for search servers.
pub fn searched() -> DocumentFields {
    DocumentFields::named(SEARCHED).unwrap_or_else(|_| DocumentFields::all())
}

fn settings(text: &str) -> Value {
    serde_json::from_str(text).expect("the file is JSON, as its tests see")
}
