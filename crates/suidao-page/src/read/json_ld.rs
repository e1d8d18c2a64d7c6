//! The one reader of JSON-LD, and the objects that describe the page, without those that only occur on it.

use serde_json::{Map, Value};

use super::dom::{Dom, NodeContent};
use super::markup::is_json_ld;
use super::tokens::head;

/// Maximum bytes of one script; the rest is left out.
const SCRIPT: usize = 1 << 20;
/// Maximum objects of one script.
pub(super) const OBJECTS: usize = 2_000;

/// A script with JSON-LD.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonLd {
    Whole(Value),
    /// Invalid or truncated; can be searched for keys.
    Broken(String),
}

impl JsonLd {
    /// Reads a script as search engines do: within a comment or CDATA, before a semicolon, with line breaks in strings, or
    /// with escaped quotation marks.
    pub fn read(script: &str) -> Self {
        let json = unwrapped(script);
        let unescaped = json.contains("&quot;").then(|| json.replace("&quot;", "\"").replace("&amp;", "&"));
        let json = unescaped.as_deref().filter(|_| !json.contains('"')).unwrap_or(json);
        let whole = serde_json::from_str(json).or_else(|error| {
            let in_one_line = |c: char| if c.is_control() { ' ' } else { c };
            if json.contains(char::is_control) {
                serde_json::from_str(&json.chars().map(in_one_line).collect::<String>())
            } else {
                Err(error)
            }
        });
        whole.map_or_else(|_| Self::Broken(script.to_owned()), Self::Whole)
    }

    pub fn whole(&self) -> Option<&Value> {
        match self {
            Self::Whole(value) => Some(value),
            Self::Broken(_) => None,
        }
    }
}

/// The scripts of a page, in page order.
pub(super) fn scripts(dom: &Dom) -> Vec<JsonLd> {
    let is_script = |&node: &usize| matches!(dom.content(node), NodeContent::Element(tag, _) if *tag.name == *"script" && is_json_ld(tag));
    let text = |node| {
        let mut script = String::new();
        for part in dom.subtree(node) {
            if let NodeContent::Text(text) = dom.content(part) {
                script.push_str(head(text, SCRIPT.saturating_sub(script.len())));
            }
        }
        script
    };
    (1..dom.len()).filter(is_script).map(|node| JsonLd::read(&text(node))).collect()
}

/// JSON without what hides it from browsers of old, and without a semicolon at the end.
fn unwrapped(script: &str) -> &str {
    let mut json = script.trim();
    for (opening, closing) in
        [("<!--", "-->"), ("//<![CDATA[", "//]]>"), ("/*<![CDATA[*/", "/*]]>*/"), ("<![CDATA[", "]]>")]
    {
        if let Some(inner) = json.strip_prefix(opening) {
            json = inner.trim();
            json = json.strip_suffix(closing).unwrap_or(json).trim();
        }
    }
    json.trim_end_matches(|c: char| c == ';' || c.is_whitespace())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CrawlUrl, Fetched};

    #[test]
    fn what_is_around_json_and_line_breaks_within_it_do_no_harm() {
        let json = serde_json::json!({ "a": "b c", "n": [1, 2] });
        for script in [
            "{\"a\":\"b c\",\"n\":[1,2]}",
            " {\"a\":\"b c\",\n\"n\":[1,2]} ;\n;",
            "{\"a\":\"b\nc\",\"n\":[1,\t2]}",
            "//<![CDATA[\n{\"a\":\"b c\",\"n\":[1,2]}\n//]]>",
            "/*<![CDATA[*/{\"a\":\"b c\",\"n\":[1,2]}/*]]>*/",
            "<!--\n{\"a\":\"b c\",\"n\":[1,2]};\n-->",
            "<![CDATA[{\"a\":\"b c\",\"n\":[1,2]}]]>",
        ] {
            assert_eq!(JsonLd::read(script), JsonLd::Whole(json.clone()), "{script}");
        }
        assert!(JsonLd::read("{\"a\":").whole().is_none());
    }

    #[test]
    fn a_page_has_the_scripts_that_are_json_ld_by_their_type() {
        let page = Fetched::html(
            CrawlUrl::parse("http://a.cn/").expect("a URL"),
            "<script>{}</script><script type=' Application/LD+JSON '>[1]</script><p><script type=application/ld+json>[2</script>",
        );
        assert_eq!(*Dom::of(&page).json_ld(), [JsonLd::Whole(serde_json::json!([1])), JsonLd::Broken("[2".to_owned())]);
    }
}
