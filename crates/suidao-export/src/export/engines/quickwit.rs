//! Quickwit: documents as NDJSON (`quickwit index ingest`, or `POST /api/v1/NAME/ingest`), and the configuration of the
//! index. Its tokenizer `chinese_compatible` makes every Chinese character a token, and of other scripts words.

use serde_json::{Value, json};

use suidao_store::corpus::{Document, Fields, Shown};

/// A document's line.
///
/// # Errors
/// As `serde_json`.
pub fn row(document: &Document, fields: &Fields) -> serde_json::Result<Vec<u8>> {
    let mut row = serde_json::to_vec(&Shown(document, fields))?;
    row.push(b'\n');
    Ok(row)
}

/// The index configuration (`quickwit index create --index-config FILE`), format 0.8.
pub fn settings(name: &str) -> Value {
    let keyword = |field: &str| json!({ "name": field, "type": "text", "tokenizer": "raw", "fast": true });
    let text = |field: &str| json!({ "name": field, "type": "text", "tokenizer": "chinese_compatible", "record": "position", "fieldnorms": true });
    let plain = |field: &str, kind: &str| json!({ "name": field, "type": kind, "fast": true });
    json!({
        "version": "0.8",
        "index_id": name,
        "doc_mapping": {
            "mode": "lenient",
            "field_mappings": [
                keyword("id"),
                keyword("url"),
                keyword("host"),
                text("title"),
                text("anchor"),
                text("text"),
                keyword("language"),
                { "name": "published", "type": "datetime", "input_formats": ["%Y-%m-%d"], "fast": true,
                  "fast_precision": "seconds" },
                { "name": "fetched", "type": "datetime", "input_formats": ["rfc3339"], "fast": true,
                  "fast_precision": "milliseconds" },
                plain("chars", "u64"),
                plain("relevance", "f64"),
                plain("relevant", "bool"),
                plain("hops", "u64"),
                plain("depth", "u64"),
                { "name": "terms", "type": "array<json>", "stored": true },
                keyword("duplicate_of"),
                plain("listing", "bool"),
                plain("noindex", "bool"),
            ],
            "timestamp_field": "fetched",
            "tag_fields": ["language"],
        },
        "search_settings": { "default_search_fields": ["title", "anchor", "text"] },
        "indexing_settings": { "commit_timeout_secs": 30 },
    })
}

/// Whether Quickwit takes an index of this name: 3 to 255 letters, digits, hyphens, underscores, the first a letter.
pub fn is_index_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (3..=255).contains(&name.len()) && name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_that_is_sent_is_mapped() {
        let settings = settings("corpus");
        let mapped = settings["doc_mapping"]["field_mappings"].as_array().unwrap();
        let names: Vec<&str> = mapped.iter().filter_map(|field| field["name"].as_str()).collect();
        for field in super::super::searched().names() {
            assert!(names.contains(&field), "{field}");
        }
        assert!(is_index_name("ml-1") && !is_index_name("ml") && !is_index_name("机器学习") && !is_index_name("1ml"));
    }
}
