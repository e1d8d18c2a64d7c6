//! Compiles a query for the engine: which pages match, and what each word adds to their score.
//!
//! Text typed without spaces (核函数) is searched as one phrase, because its words alone (函数) have other meanings. If
//! no page contains the phrase, pages with all its words match; if there are none, pages with some of them.
//!
//! The score of a page d for the words w of a query is the sum over words and fields f of b_f · BM25(w, f, d), with
//! BM25 = idf(w) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · |d_f| / avg |f|)), k1 = 1.2, b = 0.75, and idf(w) = ln(1 +
//! (N − n + 0.5) / (n + 0.5)) (Robertson, Zaragoza 2009, eqs. 3.3 and 3.15), as in the engine. Strings of several words
//! and adjacent parts of the query add the same for their phrases, with a weight.

use std::ops::Bound;

use serde::Serialize;
use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, PhraseQuery, RangeQuery, TermQuery, TermSetQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::query::{Clause, Query, TextField};
use super::schema::{Fields, midnight};
use super::terms::{SearchTerm, TypedWord};
use suidao_page::model::{Day, Relevance};
use suidao_store::corpus::{Bounds, Condition, Filter};

/// b_f: a title names the page, a link text is what others call it.
const TITLE: f32 = 3.0;
const ANCHORS: f32 = 1.5;
const BODY: f32 = 1.0;
/// Weight of the phrase of adjacent parts of the query.
const PHRASE_WEIGHT: f32 = 0.5;

type Boxed = Box<dyn tantivy::query::Query>;

/// What a page may lack because no page has all of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Loosened {
    /// The words are apart or in another order than typed.
    Words,
    /// Some words are missing.
    Some,
}

enum Part {
    Typed(TypedWord),
    Phrase(SearchTerm),
    Condition(Boxed),
}

pub(super) struct Compiled<'a> {
    fields: &'a Fields,
    conditions: Vec<(Occur, Boxed)>,
    /// A page must match one of the parts of each item.
    items: Vec<Vec<Part>>,
    /// The texts of the query, one after the other.
    near: Option<SearchTerm>,
}

impl<'a> Compiled<'a> {
    /// Compiles a query and a filter. `is_term` recognises terms of the topic.
    pub(super) fn new(fields: &'a Fields, is_term: &dyn Fn(&str) -> bool, query: &Query, filter: &Filter) -> Self {
        let mut compiled =
            Self { fields, conditions: filter_conditions(fields, filter), items: Vec::new(), near: None };
        let mut near: Vec<&str> = Vec::new();
        for item in &query.items {
            let mut parts: Vec<Part> = item.any.iter().filter_map(|clause| part(fields, is_term, clause)).collect();
            if item.not || item.any.len() > 1 {
                require(&mut parts);
            }
            if item.not {
                let unwanted = parts.iter().map(|part| compiled.required(part, None)).collect();
                compiled.conditions.push((Occur::MustNot, Box::new(BooleanQuery::union(unwanted))));
            } else if !parts.is_empty() {
                match &item.any[..] {
                    [Clause::Words(TextField::All, text)] => near.push(text),
                    [Clause::Words(..)] => require(&mut parts),
                    _ => {}
                }
                compiled.items.push(parts);
            }
        }
        if near.len() > 1 {
            let phrase = SearchTerm::phrase(TextField::All, &near.join(" "));
            compiled.near = phrase.map(|phrase| SearchTerm { optional: true, weight: PHRASE_WEIGHT, ..phrase });
        }
        if compiled.free().all(TypedWord::is_optional) {
            compiled.items.iter_mut().for_each(|parts| require(parts));
        }
        compiled
    }

    /// The words and phrases that count for pages which lack at most this.
    pub(super) fn terms(&self, loosened: Option<Loosened>) -> Vec<&SearchTerm> {
        let parts = self.items.iter().flatten().flat_map(|part| match part {
            Part::Typed(TypedWord { string: Some(string), .. }) if loosened.is_none() => vec![string],
            Part::Typed(typed) => typed.string.iter().chain(&typed.words).collect(),
            Part::Phrase(phrase) => vec![phrase],
            Part::Condition(_) => Vec::new(),
        });
        parts.chain(&self.near).collect()
    }

    /// The query that finds pages which lack at most this.
    pub(super) fn query(&self, loosened: Option<Loosened>) -> Boxed {
        let mut clauses: Vec<(Occur, Boxed)> =
            self.conditions.iter().map(|(occur, query)| (*occur, query.box_clone())).collect();
        let mut any: Vec<Boxed> = Vec::new();
        for item in &self.items {
            match &item[..] {
                [Part::Typed(typed)] if is_free(typed) && loosened == Some(Loosened::Some) => {
                    let (optional, wanted): (Vec<_>, Vec<_>) = typed.words.iter().partition(|word| word.optional);
                    any.extend(wanted.into_iter().map(|word| term_query(self.fields, word)));
                    let extra = optional.into_iter().chain(&typed.string);
                    clauses.extend(extra.map(|term| (Occur::Should, term_query(self.fields, term))));
                }
                [part @ Part::Typed(typed)] if is_free(typed) => {
                    let occur = if typed.is_optional() { Occur::Should } else { Occur::Must };
                    clauses.push((occur, self.required(part, loosened)));
                }
                parts => {
                    let one = parts.iter().map(|part| self.required(part, loosened)).collect();
                    clauses.push((Occur::Must, Box::new(BooleanQuery::union(one))));
                }
            }
        }
        if !any.is_empty() {
            clauses.push((Occur::Must, Box::new(BooleanQuery::union(any))));
        }
        clauses.extend(self.near.iter().map(|near| (Occur::Should, term_query(self.fields, near))));
        if !clauses.iter().any(|(occur, _)| *occur == Occur::Must) {
            clauses.push((Occur::Must, without_score(AllQuery)));
        }
        Box::new(BooleanQuery::new(clauses))
    }

    /// Texts that are not tied to a field.
    fn free(&self) -> impl Iterator<Item = &TypedWord> {
        self.items.iter().filter_map(|item| match &item[..] {
            [Part::Typed(typed)] if is_free(typed) => Some(typed),
            _ => None,
        })
    }

    fn required(&self, part: &Part, loosened: Option<Loosened>) -> Boxed {
        let typed = match part {
            Part::Typed(typed) => typed,
            Part::Phrase(phrase) => return term_query(self.fields, phrase),
            Part::Condition(condition) => return condition.box_clone(),
        };
        if let (Some(string), None) = (&typed.string, loosened) {
            return term_query(self.fields, string);
        }
        let mut clauses: Vec<(Occur, Boxed)> = Vec::new();
        for word in &typed.words {
            let occur = if word.optional { Occur::Should } else { Occur::Must };
            clauses.push((occur, term_query(self.fields, word)));
        }
        clauses.extend(typed.string.iter().map(|string| (Occur::Should, term_query(self.fields, string))));
        if let Some(compound) = &typed.compound {
            // Only a condition: the words and their phrase determine the score.
            clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(term_query(self.fields, compound), 0.0))));
        }
        Box::new(BooleanQuery::new(clauses))
    }
}

/// In texts of stop words only, these are required.
fn require(parts: &mut [Part]) {
    for part in parts {
        if let Part::Typed(typed) = part
            && typed.is_optional()
        {
            typed.words.iter_mut().for_each(|word| word.optional = false);
        }
    }
}

fn is_free(typed: &TypedWord) -> bool {
    typed.words.iter().all(|word| word.field == TextField::All)
}

/// `None` for a text without a word.
fn part(fields: &Fields, is_term: &dyn Fn(&str) -> bool, clause: &Clause) -> Option<Part> {
    Some(match clause {
        Clause::Words(field, text) => Part::Typed(TypedWord::new(*field, text, is_term)?),
        Clause::Phrase(field, text) => Part::Phrase(SearchTerm::phrase(*field, text)?),
        Clause::Condition(condition) => Part::Condition(condition_query(fields, condition)),
        Clause::Value(condition) => Part::Condition(condition.query(fields.extracted)),
    })
}

/// A term in every field where it may occur, with the field's weight.
pub(super) fn in_fields(fields: &Fields, term: &SearchTerm) -> Vec<(TextField, Boxed)> {
    let all = [
        (TextField::Title, fields.title, TITLE),
        (TextField::Anchors, fields.anchor, ANCHORS),
        (TextField::Body, fields.body, BODY),
    ];
    let wanted = all.into_iter().filter(|(name, ..)| term.field == TextField::All || term.field == *name);
    wanted.map(|(name, field, weight)| (name, scored(term, field, weight * term.weight))).collect()
}

fn scored(term: &SearchTerm, field: Field, weight: f32) -> Boxed {
    let token = |text: &str| Term::from_field_text(field, text);
    let query: Boxed = match &term.tokens[..] {
        [(_, text)] => Box::new(TermQuery::new(token(text), IndexRecordOption::WithFreqs)),
        several => {
            let tokens = several.iter().map(|(at, text)| (*at, token(text))).collect();
            Box::new(PhraseQuery::new_with_offset_and_slop(tokens, term.slop))
        }
    };
    Box::new(BoostQuery::new(query, weight))
}

fn term_query(fields: &Fields, term: &SearchTerm) -> Boxed {
    Box::new(BooleanQuery::union(in_fields(fields, term).into_iter().map(|(_, query)| query).collect()))
}

/// A condition that adds nothing to the score.
fn without_score(query: impl tantivy::query::Query) -> Boxed {
    Box::new(ConstScoreQuery::new(Box::new(query), 0.0))
}

fn flag(field: Field, value: bool) -> Boxed {
    without_score(TermQuery::new(Term::from_field_bool(field, value), IndexRecordOption::Basic))
}

fn condition_query(fields: &Fields, condition: &Condition) -> Boxed {
    let among = |field: Field, names: &[String]| {
        without_score(TermSetQuery::new(
            names.iter().map(|name| Term::from_field_text(field, name)).collect::<Vec<_>>(),
        ))
    };
    let range = |from: Option<Term>, to: Bound<Term>| {
        without_score(RangeQuery::new(from.map_or(Bound::Unbounded, Bound::Included), to))
    };
    let included = |to: Option<Term>| to.map_or(Bound::Unbounded, Bound::Included);
    let days = |field: Field, days: &Bounds<Day>| {
        let midnight = |day: Day| Term::from_field_date(field, midnight(day));
        let end = days.to.map(|day| midnight(Day(day.0.saturating_add(1))));
        range(days.from.map(midnight), end.map_or(Bound::Unbounded, Bound::Excluded))
    };
    match condition {
        Condition::Relevant(relevant) => flag(fields.relevant, *relevant),
        Condition::Relevance(bounds) => {
            let term = |score: Relevance| Term::from_field_f64(fields.relevance, f64::from(score.get()));
            range(bounds.from.map(term), included(bounds.to.map(term)))
        }
        Condition::Language(tags) => among(fields.language, tags),
        Condition::Host(hosts) => among(fields.site, hosts),
        Condition::Published(bounds) => days(fields.published, bounds),
        Condition::Fetched(bounds) => days(fields.fetched, bounds),
        Condition::Chars(bounds) => {
            let term = |chars: u32| Term::from_field_u64(fields.chars, u64::from(chars));
            range(bounds.from.map(term), included(bounds.to.map(term)))
        }
    }
}

/// The conditions of a filter, except the one on duplicates, which needs all hits.
fn filter_conditions(fields: &Fields, filter: &Filter) -> Vec<(Occur, Boxed)> {
    let flags = [(filter.documents, fields.document, true), (filter.no_noindex, fields.noindex, false)];
    let all = filter.all_of.iter().map(|condition| (Occur::Must, condition_query(fields, condition)));
    let none = filter.none_of.iter().map(|condition| (Occur::MustNot, condition_query(fields, condition)));
    let flags = flags.into_iter().filter(|(is_wanted, ..)| *is_wanted);
    all.chain(none).chain(flags.map(|(_, field, value)| (Occur::Must, flag(field, value)))).collect()
}
