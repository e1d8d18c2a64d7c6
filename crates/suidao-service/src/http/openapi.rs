//! The OpenAPI 3.1 document, made from the table of routes.

use serde_json::{Map, Value, json};

use super::routes::{ROUTES, Route};

/// The whole document.
pub fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES.iter().filter(|route| route.path.starts_with("/api/")) {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "suidao",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Focused crawls: topic, tunnelling, search, labels, exports. Errors are problem details (RFC \
                9457) with the name of the wrong parameter. Lists have cursors. What takes long is a job.",
            "license": { "name": "MIT", "identifier": "MIT" },
        },
        "servers": [{ "url": "/" }],
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas(),
        },
    })
}

fn operation(route: &Route) -> Value {
    let parts = route.path.split(['{', '}']).skip(1).step_by(2);
    let parts =
        parts.map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }));
    let query = route.query.iter().map(|(name, what)| {
        let kind =
            if ["limit", "wait", "offset", "count", "sample", "after"].contains(name) { "integer" } else { "string" };
        json!({ "name": name, "in": "query", "description": what, "schema": { "type": kind } })
    });
    let parameters: Vec<Value> = parts.chain(query).collect();
    let words: Vec<&str> =
        route.path.split('/').skip(3).filter(|part| !part.is_empty() && !part.starts_with('{')).collect();
    let one = if route.path.ends_with('}') { "-one" } else { "" };
    let mut operation = json!({
        "operationId": format!("{}-{}{one}", route.method.as_str().to_ascii_lowercase(), words.join("-")),
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            "2XX": { "description": "What was asked for" },
            "default": {
                "description": "A problem",
                "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
            },
        },
    });
    if let Some(name) = route.body {
        let schema = json!({ "$ref": format!("#/components/schemas/{name}") });
        operation["requestBody"] = json!({ "content": { "application/json": { "schema": schema } } });
    }
    operation
}

/// The bodies of requests, and problems.
fn schemas() -> Value {
    let strings = json!({ "type": "array", "items": { "type": "string" } });
    let text = |what: &str| json!({ "type": "string", "description": what });
    let count = |what: &str| json!({ "type": "integer", "minimum": 1, "description": what });
    let settings = json!({
        "type": "object",
        "description": "Settings as in a configuration file, by section; none that reaches outside of the crawl directory",
    });
    let object =
        |properties: Value| json!({ "type": "object", "additionalProperties": false, "properties": properties });
    json!({
        "NewCrawl": object(json!({
            "name": text("1 to 64 letters or digits of any script, - _ ."),
            "topic": object(json!({
                "name": text("Name of the topic; by default that of the crawl"),
                "keywords": strings,
                "urls": { "description": "Sample pages, which are fetched", "type": "array", "items": { "type": "string" } },
                "texts": { "description": "Sample pages: texts or HTML", "type": "array", "items": { "type": "string" } },
                "lexicon": text("A whole lexicon, as TOML"),
            })),
            "seeds": strings,
            "pages": count("Stop after this number of pages"),
            "config": settings,
            "start": { "type": "boolean", "default": false },
        })),
        "CrawlChange": object(json!({ "pages": count("Stop after this number of pages"), "config": settings })),
        "Seeds": object(json!({ "seeds": strings })),
        "Refresh": object(json!({ "requests": count("Maximum number of requests, by default 1000") })),
        "Answers": object(json!({ "yes": strings, "no": strings })),
        "TopicChange": object(json!({
            "terms": {
                "type": "object",
                "description": "New weights of terms; null removes a term",
                "additionalProperties": { "type": ["number", "null"] },
            },
            "page_threshold": { "type": "number", "exclusiveMinimum": 0, "maximum": 1 },
        })),
        "NewExport": object(json!({
            "format": { "enum": ["jsonl", "csv", "parquet", "markdown", "text", "warc"] },
            "where": text("Conditions as in suidao export --where"),
            "fields": strings,
        })),
        "Problem": {
            "type": "object",
            "required": ["type", "title", "status", "detail"],
            "properties": {
                "type": { "const": "about:blank" },
                "title": { "type": "string" },
                "status": { "type": "integer" },
                "detail": text("What happened and what to do"),
                "parameter": text("The parameter or field that is wrong"),
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_body_has_a_schema_and_every_operation_a_name_of_its_own() {
        let document = document();
        let mut names = std::collections::BTreeSet::new();
        for route in ROUTES.iter().filter(|route| route.path.starts_with("/api/")) {
            let operation = &document["paths"][route.path][route.method.as_str().to_ascii_lowercase()];
            assert!(
                names.insert(operation["operationId"].as_str().unwrap().to_owned()),
                "{}",
                operation["operationId"]
            );
            if let Some(body) = route.body {
                assert!(document["components"]["schemas"][body].is_object(), "{body}");
            }
        }
    }
}
