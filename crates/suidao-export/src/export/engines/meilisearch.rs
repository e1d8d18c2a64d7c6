//! Meilisearch: documents as NDJSON (`POST /indexes/NAME/documents`, primary key `id`), and the settings of the index.

use serde_json::{Value, json};

use suidao_store::corpus::{CorpusDocument, DocumentFields, JsonDocument};

/// A document's line. Meilisearch filters and sorts numbers only, so `published_at` and `fetched_at` (seconds since
/// 1970) accompany `published` and `fetched`.
pub fn row(document: &CorpusDocument, fields: &DocumentFields) -> serde_json::Result<Vec<u8>> {
    let mut row = serde_json::to_vec(&JsonDocument(document, fields))?;
    // Appended as text, because a JSON value would turn f32 into f64.
    row.pop();
    if fields.holds("published") {
        let seconds = document.published.map(|day| i64::from(day.0) * 86_400);
        row.extend(format!(",\"published_at\":{}", json!(seconds)).bytes());
    }
    if fields.holds("fetched") {
        row.extend(format!(",\"fetched_at\":{}", document.fetched_at.0 / 1000).bytes());
    }
    row.extend(b"}\n");
    Ok(row)
}

/// The body of `PATCH /indexes/NAME/settings`. Texts are declared Chinese, English and Japanese, so that the server
/// does not guess a language from a short title.
pub fn settings() -> Value {
    super::settings(include_str!("meilisearch.json"))
}
