//! Extracted values in the index: a JSON field with one path per field name.
//!
//! A query has `price:<100`, `price:10..20`, `isbn:978...` or `brand:词`. Text matches as words do; a value that may be
//! a number or a date also matches as a range.

use std::collections::BTreeMap;
use std::ops::Bound;

use rustc_hash::FxHashMap;
use tantivy::Searcher;
use tantivy::query::{BooleanQuery, ConstScoreQuery, PhraseQuery, RangeQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, TantivyDocument, Term};

use super::collect::CollectedRow;
use super::tokenizer::phrase_tokens;

/// Maximum number of values counted for a field.
const MAX_VALUES: usize = 20;

/// A condition on the values of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueCondition {
    pub field: String,
    /// Lower and upper bound; texts are compared by code point.
    pub bounds: (Bound<String>, Bound<String>),
    /// The words, unless it is a range.
    pub words: Option<String>,
}

impl ValueCondition {
    /// Parses what follows `field:`.
    pub fn parse(field: &str, value: &str) -> Self {
        let value = value.trim();
        let own = |text: &str| text.trim().to_owned();
        let bound = |text: &str| if text.trim().is_empty() { Bound::Unbounded } else { Bound::Included(own(text)) };
        let bounds = if let Some(value) = value.strip_prefix("<=") {
            (Bound::Unbounded, Bound::Included(own(value)))
        } else if let Some(value) = value.strip_prefix(">=") {
            (Bound::Included(own(value)), Bound::Unbounded)
        } else if let Some(value) = value.strip_prefix('<') {
            (Bound::Unbounded, Bound::Excluded(own(value)))
        } else if let Some(value) = value.strip_prefix('>') {
            (Bound::Excluded(own(value)), Bound::Unbounded)
        } else if let Some((from, until)) = value.split_once("..") {
            (bound(from), bound(until))
        } else {
            return Self::of_words(field, value);
        };
        Self { field: field.to_owned(), bounds, words: None }
    }

    /// The condition that the value has these words, or is this number.
    pub fn of_words(field: &str, value: &str) -> Self {
        let value = value.trim().to_owned();
        let bounds = (Bound::Included(value.clone()), Bound::Included(value.clone()));
        Self { field: field.to_owned(), bounds, words: Some(value) }
    }

    /// A query that adds nothing to the score.
    pub(super) fn query(&self, json: Field) -> Box<dyn tantivy::query::Query> {
        let path = || Term::from_field_json_path(json, &self.field, false);
        let text = |value: &str| {
            let mut term = path();
            term.append_type_and_str(value);
            term
        };
        let number = |value: &String| {
            let mut term = path();
            term.append_type_and_fast_value(value.parse::<f64>().ok()?);
            Some(term)
        };
        let mut any: Vec<Box<dyn tantivy::query::Query>> = Vec::new();
        let numbers = [&self.bounds.0, &self.bounds.1].map(|bound| match bound {
            Bound::Unbounded => Some(Bound::Unbounded),
            Bound::Included(value) => number(value).map(Bound::Included),
            Bound::Excluded(value) => number(value).map(Bound::Excluded),
        });
        match (numbers, &self.words) {
            ([Some(from), Some(until)], _) => any.push(Box::new(RangeQuery::new(from, until))),
            (_, None) => {
                let [from, until] =
                    [&self.bounds.0, &self.bounds.1].map(|bound| bound.as_ref().map(|value| text(value)));
                any.push(Box::new(RangeQuery::new(from, until)));
            }
            (_, Some(_)) => {}
        }
        let tokens = self.words.as_deref().map(phrase_tokens).unwrap_or_default();
        match &tokens[..] {
            [] => {}
            [(_, token)] => any.push(Box::new(TermQuery::new(text(token), IndexRecordOption::Basic))),
            several => {
                let tokens = several.iter().map(|(at, token)| (*at, text(token))).collect();
                any.push(Box::new(PhraseQuery::new_with_offset(tokens)));
            }
        }
        Box::new(ConstScoreQuery::new(Box::new(BooleanQuery::union(any)), 0.0))
    }
}

/// The stored values of a page, by field.
pub(super) fn stored(document: &TantivyDocument, json: Field) -> serde_json::Map<String, serde_json::Value> {
    let value =
        document.get_first(json).and_then(|value| serde_json::to_value(tantivy::schema::OwnedValue::from(value)).ok());
    match value {
        Some(serde_json::Value::Object(values)) => values,
        _ => serde_json::Map::new(),
    }
}

/// The most frequent texts of each field among these pages.
pub(super) fn counts(
    searcher: &Searcher,
    fields: &[String],
    rows: &[CollectedRow],
) -> tantivy::Result<BTreeMap<String, Vec<(String, u64)>>> {
    let mut all = BTreeMap::new();
    for field in fields {
        let mut texts: BTreeMap<String, u64> = BTreeMap::new();
        for (segment, reader) in (0..).zip(searcher.segment_readers()) {
            let Some(column) = reader.fast_fields().str(&format!("extracted.{field}"))? else { continue };
            let mut numbers: FxHashMap<u64, u64> = FxHashMap::default();
            for row in rows.iter().filter(|row| row.address.segment_ord == segment) {
                column.term_ords(row.address.doc_id).for_each(|number| *numbers.entry(number).or_default() += 1);
            }
            for (number, pages) in numbers {
                let mut text = String::new();
                column.ord_to_str(number, &mut text)?;
                *texts.entry(text).or_default() += pages;
            }
        }
        let mut counts: Vec<(String, u64)> = texts.into_iter().collect();
        counts.sort_by_key(|(_, pages)| std::cmp::Reverse(*pages));
        counts.truncate(MAX_VALUES);
        if !counts.is_empty() {
            all.insert(field.clone(), counts);
        }
    }
    Ok(all)
}
