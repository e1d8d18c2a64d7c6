//! JSON-LD: the objects in it that are the page, and not what only stands on it.

use serde_json::{Map, Value};

/// Objects of one script that are looked at.
pub(super) const OBJECTS: usize = 2_000;

/// A script of JSON-LD.
pub(super) enum JsonLd<'a> {
    Whole(Value),
    /// Broken, or cut: keys and values can be looked for in it.
    Broken(&'a str),
}

impl<'a> JsonLd<'a> {
    pub(super) fn read(script: &'a str) -> Self {
        match serde_json::from_str(script.trim().trim_end_matches(';')) {
            Ok(value) => Self::Whole(value),
            Err(_) => Self::Broken(script),
        }
    }
}

/// The objects in the order of the script, and how much each is the page: 0 articles, 1 pages, 2 other things. What only
/// stands on a page (comments, people, events) is left out with all that is in it.
pub(super) fn objects(value: &Value) -> Vec<(usize, &Map<String, Value>)> {
    let mut found = Vec::new();
    let mut open = vec![value];
    for _ in 0..OBJECTS {
        match open.pop() {
            Some(Value::Array(items)) => open.extend(items.iter().rev()),
            Some(Value::Object(object)) => {
                let Some(rank) = object.get("@type").map_or(Some(1), rank) else { continue };
                found.push((rank, object));
                open.extend(object.values().filter(|value| value.is_object() || value.is_array()));
            }
            Some(_) => {}
            None => break,
        }
    }
    found
}

fn rank(kind: &Value) -> Option<usize> {
    let names = |name: &str| -> Option<usize> {
        let name = name.rsplit(['/', ':']).next().unwrap_or(name);
        match name {
            "Review" | "UserReview" | "CriticReview" | "Comment" | "Answer" | "Person" | "Organization" | "WebSite"
            | "ImageObject" | "Event" | "Offer" => None,
            _ if name.ends_with("Article") || name.ends_with("Posting") || name == "Report" => Some(0),
            _ if name.ends_with("Page") => Some(1),
            _ => Some(2),
        }
    };
    match kind {
        Value::String(name) => names(name),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).filter_map(names).min(),
        _ => Some(2),
    }
}
