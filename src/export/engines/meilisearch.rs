//! Meilisearch: documents as NDJSON (`POST /indexes/NAME/documents`, primary key `id`), and the settings of the index.

use serde_json::{Map, Value, json};

use crate::corpus::{Document, Fields, Shown};

/// A document's line. Dates that can be filtered and sorted by are numbers there (seconds since 1970), so `published_at`
/// and `fetched_at` come with `published` and `fetched`.
///
/// # Errors
/// As `serde_json`.
pub fn row(document: &Document, fields: &Fields) -> serde_json::Result<Vec<u8>> {
    let mut value = serde_json::to_value(Shown(document, fields))?;
    if let Value::Object(object) = &mut value {
        add_seconds(object, document, fields);
    }
    let mut row = serde_json::to_vec(&value)?;
    row.push(b'\n');
    Ok(row)
}

fn add_seconds(object: &mut Map<String, Value>, document: &Document, fields: &Fields) {
    if fields.holds("published") {
        let seconds = document.published.map(|day| i64::from(day.0) * 86_400);
        object.insert("published_at".to_owned(), json!(seconds));
    }
    if fields.holds("fetched") {
        object.insert("fetched_at".to_owned(), json!(document.fetched_at.0 / 1000));
    }
}

/// The body of `PATCH /indexes/NAME/settings`. Texts are declared Chinese, English and Japanese, so that the server does
/// not guess a language from a short title.
#[must_use]
pub fn settings() -> Value {
    json!({
        "searchableAttributes": ["title", "anchor", "terms.term", "text", "url"],
        "filterableAttributes": [
            "host", "language", "published_at", "fetched_at", "relevance", "relevant", "chars", "listing", "noindex",
            "duplicate_of", "terms.term", "depth", "hops",
        ],
        "sortableAttributes": ["published_at", "fetched_at", "relevance", "chars"],
        "rankingRules": ["words", "typo", "proximity", "attribute", "sort", "exactness", "relevance:desc"],
        "localizedAttributes": [{ "attributePatterns": ["title", "anchor", "text"], "locales": ["cmn", "eng", "jpn"] }],
        "distinctAttribute": null,
        "faceting": { "maxValuesPerFacet": 100, "sortFacetValuesBy": { "*": "count" } },
    })
}
