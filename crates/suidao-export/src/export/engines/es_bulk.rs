//! Elasticsearch and OpenSearch: the body of their bulk API, newline-delimited JSON of an action and a document in turn,
//! and a composable index template.
//!
//! Two templates are made. The plain one needs no plugin: Chinese is cut into overlapping pairs of characters (the
//! built-in `cjk` bigrams), which finds everything and ranks passably. The other takes the official plugin
//! `analysis-smartcn`, which both servers ship, for words. Analysis happens in the server in both, so a query needs no
//! preparation.

use serde_json::{Value, json};

use suidao_store::corpus::{Document, Fields, Shown};

/// A row that puts a document into the index `name`, under its id: action and source, each with its line end.
///
/// # Errors
/// As `serde_json`.
pub fn put(name: &str, document: &Document, fields: &Fields) -> serde_json::Result<Vec<u8>> {
    let mut row = serde_json::to_vec(&json!({ "index": { "_index": name, "_id": document.id } }))?;
    row.push(b'\n');
    serde_json::to_writer(&mut row, &Shown(document, fields))?;
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

/// How Chinese is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Analyser {
    /// Pairs of characters; built in.
    Bigrams,
    /// Words, by the plugin `analysis-smartcn`.
    Smartcn,
}

/// The index template for the index `name`: the body of `PUT _index_template/NAME`.
pub fn template(name: &str, analyser: Analyser) -> Value {
    let chinese = match analyser {
        Analyser::Bigrams => json!({
            "type": "custom",
            "tokenizer": "standard",
            "filter": ["cjk_width", "lowercase", "cjk_bigram", "suidao_stop"],
        }),
        Analyser::Smartcn => json!({
            "type": "custom",
            "tokenizer": "smartcn_tokenizer",
            "filter": ["cjk_width", "lowercase", "porter_stem", "smartcn_stop", "suidao_stop"],
        }),
    };
    let text = json!({ "type": "text", "analyzer": "suidao_text" });
    json!({
        "index_patterns": [name],
        "priority": 200,
        "template": {
            "settings": {
                "index": { "number_of_shards": 1, "refresh_interval": "30s" },
                "analysis": {
                    "analyzer": { "suidao_text": chinese },
                    "filter": { "suidao_stop": { "type": "stop", "stopwords": "_english_" } },
                },
            },
            "mappings": {
                "dynamic": false,
                "properties": {
                    "id": { "type": "keyword" },
                    "url": { "type": "keyword", "ignore_above": 2048 },
                    "host": { "type": "keyword" },
                    "title": { "type": "text", "analyzer": "suidao_text",
                               "fields": { "raw": { "type": "keyword", "ignore_above": 256 } } },
                    "text": text,
                    "anchor": text,
                    "chars": { "type": "integer" },
                    "language": { "type": "keyword" },
                    "author": { "type": "keyword" },
                    "published": { "type": "date", "format": "yyyy-MM-dd" },
                    "fetched": { "type": "date" },
                    "first_seen": { "type": "date" },
                    "last_seen": { "type": "date" },
                    "last_changed": { "type": "date" },
                    "versions": { "type": "integer" },
                    "status": { "type": "short" },
                    "relevance": { "type": "float" },
                    "relevant": { "type": "boolean" },
                    "terms": { "properties": { "term": { "type": "keyword" }, "count": { "type": "integer" } } },
                    "scores": { "properties": { "priority": { "type": "float" }, "lane": { "type": "byte" } } },
                    "k": { "type": "short" },
                    "hops": { "type": "integer" },
                    "depth": { "type": "integer" },
                    "found_on": { "type": "keyword", "ignore_above": 2048 },
                    "digest": { "type": "keyword" },
                    "simhash": { "type": "keyword" },
                    "duplicate_of": { "type": "keyword", "ignore_above": 2048 },
                    "canonical": { "type": "keyword", "ignore_above": 2048 },
                    "listing": { "type": "boolean" },
                    "noindex": { "type": "boolean" },
                    "links": { "properties": { "url": { "type": "keyword", "ignore_above": 2048 }, "anchor": text,
                        "region": { "type": "keyword" }, "nofollow": { "type": "boolean" } } },
                    "posts": { "properties": { "author": { "type": "keyword" }, "posted": { "type": "date" },
                        "floor": { "type": "integer" }, "text": text } },
                },
            },
        },
        "_meta": { "made_by": concat!("suidao ", env!("CARGO_PKG_VERSION")) },
    })
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
        for analyser in [Analyser::Bigrams, Analyser::Smartcn] {
            let template = template("ml", analyser);
            let mapped = template["template"]["mappings"]["properties"].as_object().unwrap();
            for field in Fields::ALL.iter().filter(|field| **field != "warc") {
                assert!(mapped.contains_key(*field), "{field}");
            }
        }
        let patterns = &template("ml", Analyser::Bigrams)["index_patterns"];
        assert_eq!(patterns, &json!(["ml"]), "not other indices that begin alike");
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
