//! Documents for search servers: rows as each server takes them in bulk, and beside them the settings that tell it what
//! the fields are.

pub mod es_bulk;
pub mod meilisearch;
pub mod push;
pub mod quickwit;
pub mod target;
mod verdict;

use suidao_store::corpus::Fields;

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
pub fn searched() -> Fields {
    Fields::named(SEARCHED).unwrap_or_else(|_| Fields::all())
}
