//! Quickwit: documents as NDJSON (`quickwit index ingest`, or `POST /api/v1/NAME/ingest`), and the configuration of the
//! index. Its tokenizer `chinese_compatible` makes a token of every Chinese character and of every word of other
//! scripts.

use serde_json::{Value, json};

use suidao_store::corpus::{CorpusDocument, DocumentFields, JsonDocument};

pub fn row(document: &CorpusDocument, fields: &DocumentFields) -> serde_json::Result<Vec<u8>> {
    let mut row = serde_json::to_vec(&JsonDocument(document, fields))?;
    row.push(b'\n');
    Ok(row)
}

/// The index configuration (`quickwit index create --index-config FILE`), format 0.8.
pub fn settings(name: &str) -> Value {
    let mut settings = super::settings(include_str!("quickwit.json"));
    settings["index_id"] = json!(name);
    settings
}

/// Whether Quickwit accepts this index name: 3 to 255 letters, digits, hyphens, underscores, the first a letter.
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
