//! Applies the rules to pages and counts hits.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};
use suidao_page::read::dom::Dom;
use suidao_page::read::json_ld::JsonLd;

use crate::content::main_text;
use crate::rules::{FieldRule, PageRule, RulesError, ValueKind, applies, parse};
use crate::selector::CheckedSelector;
use crate::structured::at_path;
use crate::tree::PageTree;
use crate::value::{extract_value, property, typed};

/// Maximum number of values of a field with `many`.
const MAX_VALUES: usize = 1_000;

/// The rules of a `fields.toml`, and how often they found something.
#[derive(Debug)]
pub struct Extractor {
    rules: String,
    fields: Vec<FieldRule>,
    pages: Vec<PageRule>,
    body: CheckedSelector,
    /// Pages with a value and pages, by field and host.
    hits: Mutex<BTreeMap<(String, String), [u64; 2]>>,
}

/// What rules found on a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extracted {
    /// By field name; of a field with `many` a list. Fields without a value are absent.
    pub values: Map<String, Value>,
    /// The main text, if a rule for pages corrects it.
    pub text: Option<String>,
}

/// How often a field had a value on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitRate {
    pub field: String,
    pub host: String,
    pub hits: u64,
    pub pages: u64,
}

impl Extractor {
    /// Parses rules.
    ///
    /// # Errors
    /// [`RulesError`] names the line or rule and what to change.
    pub fn parse(rules: &str) -> Result<Self, RulesError> {
        let (fields, pages) = parse(rules)?;
        let known = |text| CheckedSelector::parse(text).expect("the selector is part of the program");
        Ok(Self { rules: rules.to_owned(), fields, pages, body: known("body"), hits: Mutex::default() })
    }

    /// The rules as they were written.
    pub fn rules(&self) -> &str {
        &self.rules
    }

    /// Names of the fields, in the order of their first rules.
    pub fn fields(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for rule in &self.fields {
            if !names.contains(&rule.name.as_str()) {
                names.push(&rule.name);
            }
        }
        names
    }

    /// Names of the fields with texts, not numbers, dates or URLs.
    pub fn text_fields(&self) -> Vec<&str> {
        let is_text = |name: &&str| self.fields.iter().any(|rule| rule.name == *name && rule.kind == ValueKind::Text);
        self.fields().into_iter().filter(is_text).collect()
    }

    /// Whether a rule applies to the pages of a host.
    pub fn applies(&self, host: &str) -> bool {
        self.fields.iter().any(|rule| applies(&rule.hosts, host))
            || self.pages.iter().any(|rule| applies(&rule.hosts, host))
    }

    /// The values of a page; counts them as hits of its host.
    pub fn extract(&self, dom: &Dom) -> Extracted {
        let host = dom.url().host();
        if !self.applies(host) || !dom.is_html() {
            return Extracted::default();
        }
        let tree = &PageTree::of(dom);
        let mut values = Map::new();
        let mut tried: Vec<&str> = Vec::new();
        for rule in self.fields.iter().filter(|rule| applies(&rule.hosts, host)) {
            if !tried.contains(&rule.name.as_str()) {
                tried.push(&rule.name);
            }
            // A rule for the host comes before one for all.
            if !values.contains_key(&rule.name)
                && let Some(value) = value(rule, tree, dom.json_ld())
            {
                values.insert(rule.name.clone(), value);
            }
        }
        let mut hits = self.hits.lock().unwrap_or_else(PoisonError::into_inner);
        for name in tried {
            let [found, pages] = hits.entry((name.to_owned(), host.to_owned())).or_default();
            *found += u64::from(values.contains_key(name));
            *pages += 1;
        }
        let rule = self.pages.iter().find(|rule| applies(&rule.hosts, host));
        Extracted { values, text: rule.and_then(|rule| main_text(tree, rule, &self.body)) }
    }

    /// Hit rates of the pages so far, by field, then host.
    pub fn hit_rates(&self) -> Vec<HitRate> {
        let hits = self.hits.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = |((field, host), [hits, pages]): (&(String, String), &[u64; 2])| HitRate {
            field: field.clone(),
            host: host.clone(),
            hits: *hits,
            pages: *pages,
        };
        hits.iter().map(rate).collect()
    }
}

/// The value of a field by the first source that has one: selector, JSON-LD, microdata.
fn value(rule: &FieldRule, tree: &PageTree, scripts: &[JsonLd]) -> Option<Value> {
    let convert = |texts: &mut dyn Iterator<Item = String>| {
        let mut values = texts.filter_map(|text| typed(&text, rule.kind, &tree.base));
        if !rule.many {
            return values.next();
        }
        let values: Vec<Value> = values.take(MAX_VALUES).collect();
        (!values.is_empty()).then_some(Value::Array(values))
    };
    let selected = rule.select.as_ref().and_then(|selector| {
        convert(&mut tree.select(selector).filter_map(|element| extract_value(&element, &rule.take)))
    });
    selected
        .or_else(|| convert(&mut at_path(scripts, &rule.jsonld).into_iter().filter(|_| !rule.jsonld.is_empty())))
        .or_else(|| {
            let selector = rule.microdata.as_ref()?;
            convert(&mut tree.select(selector).filter_map(|element| property(&element)))
        })
}
