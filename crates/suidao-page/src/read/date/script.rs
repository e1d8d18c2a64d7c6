//! Dates in scripts: JSON-LD, which is about the page, and application data, which may be about anything.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;

use super::written::{ParsedDate, epoch, first};
use crate::read::json_ld::{self, JsonLd, OBJECTS};
use crate::read::tokens::head;

/// Maximum bytes of a date.
const DATE: usize = 48;

/// Facts about the page in JSON-LD.
#[derive(Debug, Default)]
pub(super) struct JsonLdFacts {
    /// Publication dates, from the objects most likely to be the page itself.
    pub(super) published: Vec<ParsedDate>,
    pub(super) created: Vec<ParsedDate>,
    pub(super) changed: Vec<ParsedDate>,
}

pub(super) fn json_ld(script: &JsonLd) -> JsonLdFacts {
    let value = match script {
        JsonLd::Whole(value) => value,
        JsonLd::Broken(script) => {
            let of = |key: &str| values(script, key);
            return JsonLdFacts {
                published: of("\"datePublished\""),
                created: of("\"dateCreated\""),
                changed: of("\"dateModified\""),
            };
        }
    };
    let mut found: [JsonLdFacts; 3] = Default::default();
    for (rank, object) in json_ld::objects(value) {
        let date = |key: &str| object.get(key).and_then(value_of);
        found[rank].published.extend(date("datePublished"));
        found[rank].created.extend(date("uploadDate").or_else(|| date("dateCreated")));
        found[rank].changed.extend(date("dateModified"));
    }
    let mut best = JsonLdFacts::default();
    for kind in found {
        let take = |into: &mut Vec<ParsedDate>, from: Vec<ParsedDate>| {
            if into.is_empty() {
                *into = from;
            }
        };
        take(&mut best.published, kind.published);
        take(&mut best.created, kind.created);
        take(&mut best.changed, kind.changed);
    }
    best
}

fn value_of(value: &Value) -> Option<ParsedDate> {
    match value {
        Value::String(text) => date(text),
        Value::Array(values) => values.first().and_then(Value::as_str).and_then(date),
        _ => None,
    }
}

fn date(text: &str) -> Option<ParsedDate> {
    first(head(text, DATE), true)
}

/// The dates after a key, in order.
fn values(script: &str, key: &str) -> Vec<ParsedDate> {
    let rests = memchr::memmem::find_iter(script.as_bytes(), key).map(|at| &script[at + key.len()..]);
    let value = |rest: &str| {
        let rest = rest.trim_start().strip_prefix(':')?.trim_start();
        date(rest.strip_prefix('"').map(|rest| rest.split('"').next().unwrap_or(rest))?)
    };
    rests.take(OBJECTS).filter_map(value).collect()
}

/// Keys of applications for the publication date: in lower case, quoted or not, in any spelling of the compound.
static KEYS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    const KEYS: &str = "datepublished|publishedat|published_at|publisheddate|published_date|publishdate|publish_date|publishtime|\
        publish_time|publishedtime|published_time|publicationdate|publication_date|pubdate|pub_date|pubtime|\
        firstpublished|first_published|datepublication|date_published|post_date|postdate|dateofpublication|\
        date_publication";
    let built = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(KEYS.split('|'));
    built.expect("a few keys make a small automaton")
});

/// At most `most` publication dates in the data of other scripts.
pub(super) fn data(script: &str, most: usize) -> Vec<ParsedDate> {
    let value = |rest: &str| {
        // Quotes are escaped if the data is in a string.
        let rest = rest.trim_start_matches(['"', '\'', '\\', ' ']).strip_prefix([':', '='])?;
        let rest = rest.trim_start_matches([' ', '"', '\'', '\\']);
        let end = rest.find(['"', '\'', '\\', ',', ';', '}', '\n']).unwrap_or(rest.len());
        let text = head(&rest[..end], DATE);
        // `Mon, 27 Jun 2019` contains a comma.
        date(text).or_else(|| epoch(text)).or_else(|| date(head(rest, 24)))
    };
    KEYS.find_iter(script)
        .take(OBJECTS)
        .filter_map(|found| value(head(&script[found.end()..], 96)))
        .take(most)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn json_ld(script: &str) -> JsonLdFacts {
        super::json_ld(&JsonLd::read(script))
    }

    fn days(written: &[ParsedDate]) -> Vec<String> {
        written.iter().map(|written| written.day.to_string()).collect()
    }

    #[test]
    fn articles_go_before_other_objects() {
        let script = r#"{"@graph":[{"@type":"WebSite","datePublished":"2001-01-01"},
            {"@type":"WebPage","datePublished":"2019-06-28","comment":[{"@type":"Comment","datePublished":"2020-01-01"}]},
            {"@type":["NewsArticle"],"datePublished":"2019-06-27T10:00:00+02:00","dateModified":"2019-07-01"}]}"#;
        let found = json_ld(script);
        assert_eq!(days(&found.published), ["2019-06-27"]);
        assert_eq!(days(&found.changed), ["2019-07-01"]);
        assert_eq!(days(&json_ld("{broken \"datePublished\" : \"2019-06-27\", }").published), ["2019-06-27"]);
    }

    #[test]
    fn data_of_applications() {
        for script in [
            r#"window.x={"publishedAt":"2019-06-27T10:00:00Z"}"#,
            r#"a = "{\"publish_date\":\"2019-06-27\"}""#,
            "var pubDate = '2019/06/27';",
            r#"{"publishTime":1561629600000}"#,
            r#"{"publication_date":"Thu, 27 Jun 2019 21:16:15 GMT"}"#,
        ] {
            assert_eq!(days(&data(script, 3)), ["2019-06-27"], "{script}");
        }
        assert!(data("if (publishDate) { show(2019, 1, 2) }", 3).is_empty());
    }

    proptest! {
        #[test]
        fn no_script_panics(script in "[\"{}:,a-z0-9年\\\\-]{0,60}", tail in "\\PC{0,20}") {
            let script = format!("{{\"datePublished\":\"{script}\",{tail}");
            let _ = (json_ld(&script), data(&script, 3), json_ld(&tail));
        }
    }
}
