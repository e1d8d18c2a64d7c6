//! Elasticsearch and OpenSearch: rows of the bulk API (NDJSON of actions and documents) and a composable index
//! template.
//!
//! The plain template needs no plugin: it indexes Chinese as overlapping pairs of characters (`cjk` bigrams), which
//! finds everything and ranks acceptably. The other uses the official plugin `analysis-smartcn` for words. The server
//! analyses queries too.

use serde_json::{Value, json};

use suidao_store::corpus::{CorpusDocument, DocumentFields, JsonDocument};

/// A row that puts a document into the index `name`: action and source.
pub fn put(name: &str, document: &CorpusDocument, fields: &DocumentFields) -> serde_json::Result<Vec<u8>> {
    let mut row = serde_json::to_vec(&json!({ "index": { "_index": name, "_id": document.id } }))?;
    row.push(b'\n');
    serde_json::to_writer(&mut row, &JsonDocument(document, fields))?;
    row.push(b'\n');
    Ok(row)
}

/// A row that deletes the document of this id from the index `name`.
pub fn delete(name: &str, id: &str) -> serde_json::Result<Vec<u8>> {
    let mut row = serde_json::to_vec(&json!({ "delete": { "_index": name, "_id": id } }))?;
    row.push(b'\n');
    Ok(row)
}

/// The template of the index `name` without a plugin: the body of `PUT _index_template/NAME`.
pub fn template(name: &str) -> Value {
    let mut template = super::settings(include_str!("elasticsearch.json"));
    template["index_patterns"] = json!([name]);
    template["_meta"] = json!({ "made_by": concat!("suidao ", env!("CARGO_PKG_VERSION")) });
    template
}

/// The template for servers with the plugin `analysis-smartcn`.
pub fn template_by_words(name: &str) -> Value {
    let mut template = template(name);
    template["template"]["settings"]["analysis"]["analyzer"]["suidao_text"] = json!({
        "type": "custom",
        "tokenizer": "smartcn_tokenizer",
        "filter": ["cjk_width", "lowercase", "porter_stem", "smartcn_stop", "suidao_stop"],
    });
    template
}

/// Whether servers accept this index name: lower case, no characters special in URLs, at most 255 bytes.
pub fn is_index_name(name: &str) -> bool {
    let plain = |c: char| !c.is_uppercase() && !c.is_whitespace() && !"\\/*?\"<>|,#:".contains(c) && !c.is_control();
    let begins = !name.starts_with(['-', '_', '+', '.']);
    !name.is_empty() && name.len() <= 200 && begins && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_document_has_a_mapping() {
        let template = template("ml");
        let mapped = template["template"]["mappings"]["properties"].as_object().unwrap();
        for field in DocumentFields::ALL.iter().filter(|field| **field != "warc") {
            assert!(mapped.contains_key(*field), "{field}");
        }
        assert_eq!(template["index_patterns"], json!(["ml"]), "not other indices that begin alike");
        assert!(template_by_words("ml").to_string().contains("smartcn_tokenizer"));
    }

    #[test]
    fn names_that_servers_refuse_are_reported_before_anything_is_written() {
        for name in ["ml", "机器学习", "ml-2026.01"] {
            assert!(is_index_name(name), "{name}");
        }
        for name in ["", "ML", "a b", "a/b", "-a", "_a", ".a", "a:b", "a,b", &"x".repeat(256)] {
            assert!(!is_index_name(name), "{name}");
        }
    }
}
