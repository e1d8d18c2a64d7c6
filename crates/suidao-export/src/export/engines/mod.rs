//! Documents for search servers: rows as each server takes them in bulk, and beside them the settings that tell it what
//! the fields are.

pub mod es_bulk;
pub mod meilisearch;
pub mod push;
pub mod quickwit;

use serde_json::Value;

use suidao_store::corpus::DocumentFields;

/// The fields that searching asks for: what is told, filtered, sorted or shown, and nothing of the crawl's inner life.
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

/// The fields that go to search servers unless others are asked for.
pub fn searched() -> DocumentFields {
    DocumentFields::named(SEARCHED).unwrap_or_else(|_| DocumentFields::all())
}

/// A file of settings that is built in.
fn settings(text: &str) -> Value {
    serde_json::from_str(text).expect("the file is JSON, as its tests see")
}
