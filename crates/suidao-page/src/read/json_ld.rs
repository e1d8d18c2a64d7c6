//! JSON-LD objects that describe the page, without those that only occur on it.

use serde_json::{Map, Value};

/// Maximum objects of one script.
pub(super) const OBJECTS: usize = 2_000;

pub(super) enum JsonLd<'a> {
    Whole(Value),
    /// Invalid or truncated; can be searched for keys.
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

/// The objects in order, each with its rank: 0 for articles, 1 for pages, 2 for others. Excludes comments, people and
/// events with everything in them.
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
