//! Taking a lexicon's tables apart, key by key, with errors that name the key.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::error::{LONGEST_TERM, LexiconError};
use crate::topic::{DocumentFrequencies, Linear, Struck, TermFrequency, Threshold, Weights};

/// What weights may be.
pub(super) struct Range {
    low: f64,
    high: f64,
    said: &'static str,
}

pub(super) const ABOVE_0: Range = Range { low: 1e-4, high: 1e6, said: "above 0" };
pub(super) const SIGNED: Range = Range { low: -100.0, high: 100.0, said: "from -100 to 100" };

pub(super) fn in_range(key: &str, value: f64, inside: bool, range: &'static str) -> Result<(), LexiconError> {
    if inside { Ok(()) } else { Err(LexiconError::Range { key: key.to_owned(), value, range }) }
}

/// A table whose keys are taken out one by one; what is left at the end is unknown.
pub(super) struct Section {
    /// Dotted key with a dot at its end; empty at the top.
    pub(super) path: String,
    pub(super) table: Table,
}

impl Section {
    pub(super) fn key(&self, key: &str) -> String {
        format!("{}{key}", self.path)
    }

    pub(super) fn take(&mut self, key: &str) -> Result<Value, LexiconError> {
        self.table.remove(key).ok_or_else(|| LexiconError::Missing { key: self.key(key) })
    }

    pub(super) fn wrong(&self, key: &str, expected: &'static str) -> LexiconError {
        LexiconError::Type { key: self.key(key), expected }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// A table in it; one that is left out is empty.
    pub(super) fn section(&mut self, key: &str) -> Result<Self, LexiconError> {
        match self.table.remove(key).unwrap_or_else(|| Value::Table(Table::new())) {
            Value::Table(table) => Ok(Self { path: self.key(key) + ".", table }),
            _ => Err(self.wrong(key, "a table")),
        }
    }

    pub(super) fn string(&mut self, key: &str) -> Result<String, LexiconError> {
        match self.take(key)? {
            Value::String(text) => Ok(text),
            _ => Err(self.wrong(key, "a string")),
        }
    }

    pub(super) fn string_or(&mut self, key: &str, default: &str) -> Result<String, LexiconError> {
        if self.has(key) { self.string(key) } else { Ok(default.to_owned()) }
    }

    /// A list; one that is left out is empty.
    pub(super) fn strings(&mut self, key: &str) -> Result<Vec<String>, LexiconError> {
        if !self.has(key) {
            return Ok(Vec::new());
        }
        let wrong = self.wrong(key, "a list of strings");
        let Value::Array(values) = self.take(key)? else { return Err(wrong) };
        values.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(|| wrong.clone())).collect()
    }

    pub(super) fn integer(&mut self, key: &str) -> Result<i64, LexiconError> {
        let wrong = self.wrong(key, "a whole number");
        self.take(key)?.as_integer().ok_or(wrong)
    }

    pub(super) fn integer_or(&mut self, key: &str, default: i64) -> Result<i64, LexiconError> {
        if self.has(key) { self.integer(key) } else { Ok(default) }
    }

    pub(super) fn count_or(&mut self, key: &str, default: u32) -> Result<u32, LexiconError> {
        if self.has(key) { self.count(key) } else { Ok(default) }
    }

    pub(super) fn count(&mut self, key: &str) -> Result<u32, LexiconError> {
        let number = self.integer(key)?;
        let range = |_| LexiconError::Range { key: self.key(key), value: number as f64, range: "0 or more" };
        u32::try_from(number).map_err(range)
    }

    pub(super) fn number(&mut self, key: &str, low: f64, high: f64, range: &'static str) -> Result<f64, LexiconError> {
        let value = match self.take(key)? {
            Value::Float(value) => value,
            Value::Integer(value) => value as f64,
            _ => return Err(self.wrong(key, "a number")),
        };
        in_range(&self.key(key), value, value >= low && value <= high, range)?;
        Ok(value)
    }

    pub(super) fn end(mut self) -> Result<(), LexiconError> {
        self.table.keys().next().cloned().map_or(Ok(()), |key| {
            self.path.push_str(&key);
            Err(LexiconError::Unknown { key: self.path })
        })
    }

    pub(super) fn threshold(mut self, default: Threshold) -> Result<Threshold, LexiconError> {
        if self.table.is_empty() {
            return Ok(default);
        }
        let value = self.number("value", 1e-4, 1.0, "above 0 and at most 1")?;
        let chosen = self.string_or("chosen", "by hand")?;
        let mut expected = [None, None, None];
        for (key, expected) in ["precision", "recall", "listings"].into_iter().zip(&mut expected) {
            if self.has(key) {
                *expected = Some(self.number(key, 0.0, 1.0, "from 0 to 1")?);
            }
        }
        self.end()?;
        let [precision, recall, listings] = expected;
        Ok(Threshold { value, chosen, precision, recall, listings })
    }

    pub(super) fn term_frequency(&mut self) -> Result<TermFrequency, LexiconError> {
        if !self.has("tf") {
            return Ok(TermFrequency::default());
        }
        let name = self.string("tf")?;
        let known = TermFrequency::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|&(_, tf)| tf).ok_or_else(|| self.wrong("tf", "\"root\", \"raw\" or \"log\""))
    }

    pub(super) fn link_weights(&mut self) -> Result<Weights, LexiconError> {
        let mut share = |key, default| {
            if self.has(key) { self.number(key, 0.0, 1.0, "from 0 to 1") } else { Ok(default) }
        };
        let default = Weights::default();
        let weights = Weights {
            anchor: share("anchor", default.anchor)?,
            context: share("context", default.context)?,
            url: share("url", default.url)?,
            near: share("near", default.near)?,
            tags: share("tags", default.tags)?,
        };
        let sum = weights.anchor + weights.context + weights.url;
        in_range("weights.anchor + context + url", sum, (sum - 1.0).abs() < 1e-3, "1")?;
        Ok(weights)
    }

    pub(super) fn linear(
        mut self,
        terms: &[(String, f64)],
        [tags, anchors, urls]: [Vec<(String, f64)>; 3],
        mut learnt: Self,
    ) -> Result<Linear, LexiconError> {
        let border = self.number("border", SIGNED.low, SIGNED.high, SIGNED.said)?;
        let middle = self.number("middle", SIGNED.low, SIGNED.high, SIGNED.said)?;
        in_range("linear.middle", middle, middle < border, "below linear.border")?;
        let mut missing = |key: &str, kept: &[(String, f64)]| -> Result<BTreeSet<String>, LexiconError> {
            let kept: BTreeSet<&str> = kept.iter().map(|(term, _)| term.as_str()).collect();
            Ok(learnt.strings(key)?.into_iter().filter(|term| !kept.contains(term.as_str())).collect())
        };
        let struck = Struck { terms: missing("terms", terms)?, tags: missing("tags", &tags)? };
        learnt.end()?;
        self.end()?;
        Ok(Linear { tags, anchors, urls, border, middle, struck })
    }

    pub(super) fn weights(mut self, range: &Range) -> Result<Vec<(String, f64)>, LexiconError> {
        let terms: Vec<String> = self.table.keys().cloned().collect();
        let weigh = |term: String| {
            if term.chars().nth(LONGEST_TERM).is_some() {
                return Err(LexiconError::TermTooLong { start: term.chars().take(40).collect() });
            }
            let weight = self.number(&term, range.low, range.high, range.said)?;
            Ok((term, weight))
        };
        terms.into_iter().map(weigh).collect()
    }

    pub(super) fn document_frequencies(&mut self) -> Result<DocumentFrequencies, LexiconError> {
        let pages = self.count("pages")?;
        in_range("background.pages", f64::from(pages), pages > 0, "1 or more")?;
        let other = self.number("other", 0.0, f64::from(pages), "from 0 to background.pages")?;
        let parse = |entry: &str| {
            let (word, count) = entry.rsplit_once('=')?;
            let count = count.parse().ok().filter(|&count: &u32| count <= pages)?;
            Some((word.replace('_', " "), count))
        };
        let text = self.string("df")?;
        let entries = text.split_whitespace();
        let df = entries.map(|entry| {
            parse(entry).ok_or_else(|| LexiconError::DocumentFrequency { entry: entry.chars().take(80).collect() })
        });
        Ok(DocumentFrequencies { pages, other, df: df.collect::<Result<_, _>>()? })
    }
}
