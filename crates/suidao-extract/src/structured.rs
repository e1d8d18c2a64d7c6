//! Values declared as JSON-LD: objects of schema.org in scripts.

use serde_json::Value;

use suidao_page::read::json_ld::JsonLd;

/// Most values of a path.
const VALUES: usize = 1_000;

/// The texts at the end of a path of keys, in document order. Lists count as each of their elements, `@graph` as its
/// objects, and an object at the end as its name or value.
pub fn at_path(scripts: &[JsonLd], path: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    scripts.iter().filter_map(JsonLd::whole).for_each(|object| follow(object, path, &mut found));
    found
}

fn follow(value: &Value, path: &[String], found: &mut Vec<String>) {
    if found.len() >= VALUES {
        return;
    }
    match (value, path) {
        (Value::Array(list), _) => list.iter().for_each(|value| follow(value, path, found)),
        (Value::Object(object), [key, rest @ ..]) => match (object.get(key), object.get("@graph")) {
            (Some(value), _) => follow(value, rest, found),
            (None, Some(graph)) => follow(graph, path, found),
            (None, None) => {}
        },
        (Value::Object(object), []) => {
            if let Some(value) = object.get("@value").or_else(|| object.get("name")) {
                follow(value, &[], found);
            }
        }
        (Value::String(text), []) if !text.trim().is_empty() => found.push(text.trim().to_owned()),
        (Value::Number(number), []) => found.push(number.to_string()),
        (Value::Bool(value), []) => found.push(value.to_string()),
        _ => {}
    }
}
