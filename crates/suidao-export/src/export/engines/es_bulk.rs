//! Elasticsearch and OpenSearch: the body of their bulk API, newline-delimited JSON of an action and a document in turn,
//! and a composable index template.
//!
//! Two templates are made. The plain one needs no plugin: Chinese is cut into overlapping pairs of characters (the
//! built-in `cjk` bigrams), which finds everything and ranks passably. The other takes the official plugin
//! `analysis-smartcn`, which both servers ship, for words. Analysis happens in the server in both, so a query needs no
//! preparation.

use serde_json::{Value, json};

use suidao_store::corpus::{CorpusDocument, DocumentFields, JsonDocument};

/// A row that puts a document into the index `name`, under its id: action and source, each with its line end.
///
/// # Errors
/// As `serde_json`.
pub fn put(name: &str, document: &CorpusDocument, fields: &DocumentFields) -> serde_json::Result<Vec<u8>> {
    let mut row = serde_json::to_vec(&json!({ "index": { "_index": name, "_id": document.id } }))?;
    row.push(b'\n');
    serde_json::to_writer(&mut row, &JsonDocument(document, fields))?;
    row.push(b'\n');
    Ok(row)
}

/// A row that takes the document of this id out of the index `name`.
///
/// # Errors
/// As `serde_json`.
pub fn delete(name: &str, id: &str) -> serde_json::Result<Vec<u8>> {
    let mut row = serde_json::to_vec(&json!({ "delete": { "_index": name, "_id": id } }))?;
    row.push(b'\n');
    Ok(row)
}

/// The index template for the index `name`, which needs no plugin: the body of `PUT _index_template/NAME`.
pub fn template(name: &str) -> Value {
    let mut template = super::settings(include_str!("elasticsearch.json"));
    template["index_patterns"] = json!([name]);
    template["_meta"] = json!({ "made_by": concat!("suidao ", env!("CARGO_PKG_VERSION")) });
    template
}

/// The same for servers that have the plugin `analysis-smartcn`.
pub fn template_by_words(name: &str) -> Value {
    let mut template = template(name);
    template["template"]["settings"]["analysis"]["analyzer"]["suidao_text"] = json!({
        "type": "custom",
        "tokenizer": "smartcn_tokenizer",
        "filter": ["cjk_width", "lowercase", "porter_stem", "smartcn_stop", "suidao_stop"],
    });
    template
}

/// Whether a server takes an index of this name: lower case, no signs that mean something in addresses, at most 255 bytes.
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
    fn names_that_servers_refuse_are_told_before_anything_is_written() {
        for name in ["ml", "机器学习", "ml-2026.01"] {
            assert!(is_index_name(name), "{name}");
        }
        for name in ["", "ML", "a b", "a/b", "-a", "_a", ".a", "a:b", "a,b", &"x".repeat(256)] {
            assert!(!is_index_name(name), "{name}");
        }
    }
}
