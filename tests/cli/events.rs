//! docs/events.schema.json describes the events exactly, and what a crawl prints follows it. Programs read both, so a
//! renamed field or kind fails here.
//!
//! The schema is written by hand, because types do not say what a reader has to know, and compared with the types by
//! examples made from it: reading and writing one must not change it. A library that validates would bring dozens of
//! crates; tests/python uses one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use suidao::model::{
    Budget, Event, FailureKind, ForumRole, LinkDecision, MissingPageResponse, PageKind, Region, RobotsRules,
    SkipReason, Stop, SumAbout, TextLoss, TrapStep, TunnelBudget, UrlOrigin,
};
use suidao::world::ServerOptions;

use crate::support::{Stage, finite, run};

struct Schema(Value);

impl Schema {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/events.schema.json");
        Self(serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    }

    fn definition(&self, name: &str) -> &Value {
        &self.0["$defs"][name]
    }

    /// What a `$ref` names; other nodes themselves.
    fn resolved<'a>(&'a self, node: &'a Value) -> &'a Value {
        match node["$ref"].as_str() {
            Some(target) => self.definition(target.strip_prefix("#/$defs/").unwrap()),
            None => node,
        }
    }

    /// Examples in which everything that the node describes occurs.
    fn examples(&self, node: &Value) -> Vec<Value> {
        let node = self.resolved(node);
        if let Some(examples) = node.get("examples").or(node.get("enum")) {
            return examples.as_array().unwrap().clone();
        }
        if let Some(nodes) = node["anyOf"].as_array() {
            return nodes.iter().flat_map(|node| self.examples(node)).collect();
        }
        match node["type"].as_str().unwrap() {
            "null" => vec![Value::Null],
            "boolean" => vec![json!(true), json!(false)],
            "integer" => vec![json!(7)],
            "number" => vec![json!(0.5)],
            "string" => vec![json!("text")],
            "array" => match node["prefixItems"].as_array() {
                Some(places) => {
                    zipped(places.iter().map(|place| self.examples(place)).collect()).map(Value::from).collect()
                }
                None => vec![json!([]), self.examples(&node["items"]).into()],
            },
            "object" => self.objects(node),
            other => panic!("unknown type {other}"),
        }
    }

    fn objects(&self, node: &Value) -> Vec<Value> {
        let Some(properties) = node["properties"].as_object() else {
            let values = self.examples(&node["additionalProperties"]).into_iter();
            return values.map(|value| json!({ "key": value })).collect();
        };
        let of = |(name, node): (&String, &Value)| {
            let values = self.examples(node).into_iter();
            values.map(|value| (name.clone(), value)).collect::<Vec<_>>()
        };
        if node["maxProperties"] == 1 {
            return properties.iter().flat_map(of).map(|pair| Map::from_iter([pair]).into()).collect();
        }
        assert_eq!(node["required"].as_array().unwrap().len(), properties.len(), "events have all fields: {node}");
        zipped(properties.iter().map(of).collect()).map(|pairs| Map::from_iter(pairs).into()).collect()
    }

    /// What is wrong with a value.
    fn check(&self, node: &Value, value: &Value) -> Result<(), String> {
        let wrong = || Err(format!("{value} is not {node}"));
        let (keywords, at_least) = (node.as_object().unwrap(), |least: &Value| value.as_f64() >= least.as_f64());
        let property = |name: &str| keywords.get("properties").and_then(|nodes| nodes.get(name));
        for (keyword, argument) in keywords {
            let nodes = || argument.as_array().unwrap().iter();
            let fits = match keyword.as_str() {
                "description" | "examples" | "$schema" | "title" | "$defs" | "additionalProperties" => true,
                // Reading the examples back proves that the types take what they match.
                "pattern" => true,
                "$ref" => return self.check(self.resolved(node), value),
                "anyOf" => nodes().any(|node| self.check(node, value).is_ok()),
                "oneOf" => nodes().filter(|node| self.check(node, value).is_ok()).count() == 1,
                "enum" => nodes().any(|one| one == value),
                "const" => argument == value,
                "minimum" => at_least(argument),
                "maximum" => value.as_f64() <= argument.as_f64(),
                "type" => match argument.as_str().unwrap() {
                    "null" => value.is_null(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "string" => value.is_string(),
                    "array" => value.is_array(),
                    "object" => value.is_object(),
                    other => panic!("unknown type {other}"),
                },
                "minItems" => value.as_array().is_some_and(|items| items.len() as u64 >= argument.as_u64().unwrap()),
                "prefixItems" => {
                    let items = value.as_array().unwrap();
                    nodes().zip(items).try_for_each(|(node, item)| self.check(node, item))?;
                    items.len() == argument.as_array().unwrap().len()
                }
                "items" if *argument == json!(false) => true,
                "items" => {
                    let mut items = value.as_array().into_iter().flatten();
                    items.try_for_each(|item| self.check(argument, item))?;
                    true
                }
                "required" => nodes().all(|name| value.get(name.as_str().unwrap()).is_some()),
                "minProperties" | "maxProperties" => value.as_object().is_some_and(|fields| fields.len() == 1),
                "properties" => {
                    for (name, value) in value.as_object().into_iter().flatten() {
                        match (property(name), node.get("additionalProperties")) {
                            (Some(node), _) => self.check(node, value).map_err(|error| format!("{name}: {error}"))?,
                            (None, Some(_)) => return Err(format!("unknown field {name}")),
                            (None, None) => {}
                        }
                    }
                    true
                }
                other => panic!("unknown keyword {other}"),
            };
            if !fits {
                return wrong();
            }
        }
        Ok(())
    }

    /// The kinds of an enum.
    fn kinds(&self, name: &str) -> BTreeSet<String> {
        let node = self.definition(name);
        let alternatives = node["anyOf"].as_array().map_or(std::slice::from_ref(node), Vec::as_slice);
        let of = |node: &Value| -> Vec<String> {
            match (node["enum"].as_array(), node["properties"].as_object()) {
                (Some(names), _) => names.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
                (None, fields) => fields.unwrap().keys().cloned().collect(),
            }
        };
        alternatives.iter().flat_map(of).collect()
    }

    /// Asserts that the schema has the kinds of this type, which serde lists when it meets an unknown one.
    fn has_kinds_of<T: DeserializeOwned>(&self, name: &str) {
        let Err(error) = serde_json::from_value::<T>(json!("unknown")) else { panic!("{name} is not an enum") };
        let error = error.to_string();
        let known: BTreeSet<String> = error.split('`').skip(3).step_by(2).map(str::to_owned).collect();
        assert_eq!(self.kinds(name), known, "{name}");
    }
}

/// The n-th contains the n-th of each list; shorter lists start again.
fn zipped<T: Clone>(lists: Vec<Vec<T>>) -> impl Iterator<Item = Vec<T>> {
    let most = lists.iter().map(Vec::len).max().unwrap();
    (0..most).map(move |n| lists.iter().map(|list| list[n % list.len()].clone()).collect())
}

#[test]
fn the_schema_has_every_kind_of_event_and_every_field() {
    let schema = Schema::read();
    let examples = schema.examples(schema.definition("event"));
    assert!(examples.len() > 100, "{}", examples.len());
    for example in &examples {
        let event: Event = serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{error}: {example}"));
        assert_eq!(&serde_json::to_value(event).unwrap(), example, "left: the type; right: the schema");
        schema.check(schema.definition("event"), example).unwrap();
    }
    schema.has_kinds_of::<Event>("event");
    schema.has_kinds_of::<UrlOrigin>("origin");
    schema.has_kinds_of::<SkipReason>("skip-reason");
    schema.has_kinds_of::<FailureKind>("failure-kind");
    schema.has_kinds_of::<TextLoss>("text-loss");
    schema.has_kinds_of::<Region>("region");
    schema.has_kinds_of::<TunnelBudget>("tunnel-budget");
    schema.has_kinds_of::<LinkDecision>("decision");
    schema.has_kinds_of::<RobotsRules>("robots-rules");
    schema.has_kinds_of::<ForumRole>("forum-role");
    schema.has_kinds_of::<PageKind>("page-kind");
    schema.has_kinds_of::<Budget>("budget");
    schema.has_kinds_of::<TrapStep>("trap-step");
    schema.has_kinds_of::<MissingPageResponse>("missing-page");
    schema.has_kinds_of::<SumAbout>("sum-about");
    schema.has_kinds_of::<Stop>("stop");
}

#[test]
fn what_a_crawl_prints_follows_the_schema() {
    let (stage, schema) = (Stage::new(finite(), ServerOptions::default()), Schema::read());
    let mut pages = 0;
    // The second run knows URLs that it does not print again.
    for most in ["60", "120"] {
        let printed = run(stage.crawl("crawl", &["--json", "--max-pages", most])).expect(0).out;
        let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for line in &lines {
            schema.check(&schema.0, line).unwrap_or_else(|error| panic!("{error}\n{line}"));
        }
        for line in lines.iter().filter(|line| line["event"].get("page-fetched").is_some()) {
            pages += 1;
            assert!(line["url"].is_string() && line["relevant"].is_boolean(), "{line}");
        }
        assert_eq!(lines.last().unwrap()["summary"]["stopped"], "page-limit");
    }
    assert_eq!(pages, 120);
}

#[test]
fn the_check_refuses_other_names() {
    let schema = Schema::read();
    let line = json!({ "at": 1, "url": "http://a.cn/", "event": { "released": { "id": 0 } } });
    schema.check(&schema.0, &line).unwrap();
    for (from, to) in [
        ("\"at\"", "\"time\""),
        ("released", "freed"),
        ("\"id\"", "\"number\""),
        ("{\"id\":0}", "{\"id\":0,\"more\":1}"),
        (":0}", ":\"0\"}"),
    ] {
        let text = line.to_string();
        assert!(text.contains(from), "{text}");
        let other = serde_json::from_str(&text.replace(from, to)).unwrap();
        assert!(schema.check(&schema.0, &other).is_err(), "{other}");
    }
}
