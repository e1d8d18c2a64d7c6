//! Compiles a query for the engine: which pages match, and what each word adds to their score.
//!
//! The score of a page d for the words w of a query is the sum over words and fields f of b_f · BM25(w, f, d), with
//! BM25 = idf(w) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · |d_f| / avg |f|)), k1 = 1.2, b = 0.75, and idf(w) = ln(1 +
//! (N − n + 0.5) / (n + 0.5)) (Robertson, Zaragoza 2009, eqs. 3.3 and 3.15), as in the engine. Adjacent words add half
//! of the same for their phrase.

use std::ops::{Bound, Range};

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, PhraseQuery, RangeQuery, TermQuery, TermSetQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::query::{Clause, Query, TextField};
use super::schema::{Fields, midnight};
use super::tokenizer::phrase_tokens;
use suidao_page::model::Day;
use suidao_page::text::segment::is_han;
use suidao_page::text::{cut, fold, is_function_word};
use suidao_store::corpus::Filter;

/// b_f: a title names the page, a link text is what others call it.
const TITLE: f32 = 3.0;
const ANCHORS: f32 = 1.5;
const BODY: f32 = 1.0;
/// Maximum number of words of a topic term, after its first.
const MAX_FURTHER_WORDS: usize = 5;
/// Maximum number of words of a compound.
const MAX_COMPOUND_WORDS: usize = 3;
/// Additional characters permitted between the words of a compound (足球的精彩比赛 for 足球比赛).
const COMPOUND_SLOP: u32 = 6;
/// Weight of the phrase of adjacent words, against 1 for a word.
const PHRASE_WEIGHT: f32 = 0.5;

type Boxed = Box<dyn tantivy::query::Query>;

/// A word or phrase to search for.
#[derive(Clone, Debug)]
pub(super) struct SearchTerm {
    pub text: String,
    pub field: TextField,
    /// Tokens with their distances from the first.
    pub tokens: Vec<(usize, String)>,
    /// It adds to the score and need not occur.
    pub optional: bool,
    pub weight: f32,
    /// Additional characters permitted between its tokens.
    pub slop: u32,
}

pub(super) struct Compiled {
    pub all: Boxed,
    /// Pages with at least one word, if that differs.
    pub any: Option<Boxed>,
    /// Its words and phrases, except excluded ones.
    pub terms: Vec<SearchTerm>,
}

/// Compiles a query and a filter. `is_term` recognises terms of the topic.
pub(super) fn compile(fields: &Fields, is_term: &dyn Fn(&str) -> bool, query: &Query, filter: &Filter) -> Compiled {
    let mut terms = Vec::new();
    let mut fixed: Vec<(Occur, Boxed)> = filter_conditions(fields, filter);
    let mut free: Vec<SearchTerm> = Vec::new();
    let mut near = String::new();
    let mut compounds: Vec<SearchTerm> = Vec::new();
    for item in &query.items {
        if item.not {
            let unwanted =
                item.any.iter().map(|clause| clause_query(fields, is_term, clause, &mut Vec::new())).collect();
            fixed.push((Occur::MustNot, Box::new(BooleanQuery::union(unwanted))));
            continue;
        }
        match &item.any[..] {
            [Clause::Words(TextField::All, text)] => {
                let own = words(TextField::All, text, is_term);
                compounds.extend(compound(text, &own));
                free.extend(own);
                near.push_str(text);
                near.push(' ');
            }
            any => {
                let wanted = any.iter().map(|clause| clause_query(fields, is_term, clause, &mut terms)).collect();
                fixed.push((Occur::Must, Box::new(BooleanQuery::union(wanted))));
            }
        }
    }
    require_if_all_optional(&mut free);
    let bonus = phrase_tokens(&near);
    let bonus = (free.iter().filter(|term| !term.optional).count() > 1).then(|| SearchTerm {
        text: fold(near.trim()),
        field: TextField::All,
        tokens: bonus,
        optional: true,
        weight: PHRASE_WEIGHT,
        slop: 0,
    });
    let query = |strict: bool| -> Boxed {
        let mut clauses: Vec<(Occur, Boxed)> = fixed.iter().map(|(occur, query)| (*occur, query.box_clone())).collect();
        let (wanted, extra): (Vec<&SearchTerm>, Vec<&SearchTerm>) =
            free.iter().chain(&bonus).partition(|term| !term.optional);
        let wanted: Vec<Boxed> = wanted.into_iter().map(|term| term_query(fields, term)).collect();
        if strict {
            clauses.extend(wanted.into_iter().map(|query| (Occur::Must, query)));
            // Only a condition: the words and their phrase determine the score.
            clauses.extend(compounds.iter().map(|term| {
                let near = ConstScoreQuery::new(term_query(fields, term), 0.0);
                (Occur::Must, Box::new(near) as Boxed)
            }));
        } else {
            clauses.push((Occur::Must, Box::new(BooleanQuery::union(wanted))));
        }
        clauses.extend(extra.into_iter().map(|term| (Occur::Should, term_query(fields, term))));
        if !clauses.iter().any(|(occur, _)| *occur == Occur::Must) {
            clauses.push((Occur::Must, without_score(AllQuery)));
        }
        Box::new(BooleanQuery::new(clauses))
    };
    let several = free.iter().filter(|term| !term.optional).count() > 1;
    let (all, any) = (query(true), several.then(|| query(false)));
    terms.splice(0..0, free.into_iter().chain(bonus));
    Compiled { all, any, terms }
}

/// The words of a text. Words that form a term of the topic are one, even if no dictionary has it.
fn words(field: TextField, text: &str, is_term: &dyn Fn(&str) -> bool) -> Vec<SearchTerm> {
    let folded = fold(text);
    let mut ranges: Vec<Range<usize>> = Vec::new();
    cut(&folded, |range| ranges.push(range));
    let mut found: Vec<SearchTerm> = Vec::new();
    let mut first = 0;
    while first < ranges.len() {
        let touching = ranges[first..].windows(2).take_while(|pair| pair[0].end == pair[1].start).count();
        let whole = |words: usize| &folded[ranges[first].start..ranges[first + words].end];
        let more = (1..=touching.min(MAX_FURTHER_WORDS)).rev().find(|&words| is_term(whole(words))).unwrap_or(0);
        let word = whole(more);
        let tokens = phrase_tokens(word);
        if !tokens.is_empty() && found.iter().all(|term| term.text != word) {
            // A character between words (的, 在) is optional; alone it is the query.
            let is_particle = word.chars().count() == 1
                && (touching > 0 || first > 0 && ranges[first - 1].end == ranges[first].start);
            let optional = is_particle || is_function_word(word);
            found.push(SearchTerm { text: word.to_owned(), field, tokens, optional, weight: 1.0, slop: 0 });
        }
        first += more + 1;
    }
    found
}

/// The compound of a few Chinese words typed without spaces (推荐系统). A page with one word in its margin and the other in
/// its text is not about them. A sentence is not a compound.
fn compound(text: &str, words: &[SearchTerm]) -> Option<SearchTerm> {
    let typed = fold(text);
    let whole: usize = words.iter().map(|term| term.text.len()).sum();
    let few = (2..=MAX_COMPOUND_WORDS).contains(&words.len()) && words.iter().all(|term| !term.optional);
    (few && whole == typed.len() && typed.chars().all(is_han)).then(|| SearchTerm {
        tokens: phrase_tokens(&typed),
        text: typed,
        field: TextField::All,
        optional: false,
        weight: 0.0,
        slop: COMPOUND_SLOP,
    })
}

/// In a query of stop words only, they are required.
fn require_if_all_optional(terms: &mut [SearchTerm]) {
    if terms.iter().all(|term| term.optional) {
        terms.iter_mut().for_each(|term| term.optional = false);
    }
}

fn clause_query(
    fields: &Fields,
    is_term: &dyn Fn(&str) -> bool,
    clause: &Clause,
    terms: &mut Vec<SearchTerm>,
) -> Boxed {
    let mut all = |own: Vec<SearchTerm>| -> Boxed {
        let must = |term: &SearchTerm| if term.optional { Occur::Should } else { Occur::Must };
        let query = BooleanQuery::new(own.iter().map(|term| (must(term), term_query(fields, term))).collect());
        terms.extend(own);
        Box::new(query)
    };
    match clause {
        Clause::Words(field, text) => {
            let mut own = words(*field, text, is_term);
            require_if_all_optional(&mut own);
            all(own)
        }
        Clause::Phrase(field, text) => {
            let term = SearchTerm {
                text: fold(text),
                field: *field,
                tokens: phrase_tokens(text),
                optional: false,
                weight: 1.0,
                slop: 0,
            };
            all(if term.tokens.is_empty() { Vec::new() } else { vec![term] })
        }
        Clause::Host(host) => without_score(term(fields.site, host)),
        Clause::Language(code) => without_score(term(fields.language, code)),
        Clause::Published(from, until) => published(fields, *from, *until),
        Clause::Value(condition) => condition.query(fields.extracted),
        Clause::Relevant(relevant) => flag(fields.relevant, *relevant),
    }
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

fn scored(searched: &SearchTerm, field: Field, weight: f32) -> Boxed {
    let term = |text: &str| Term::from_field_text(field, text);
    let query: Boxed = match &searched.tokens[..] {
        [(_, text)] => Box::new(TermQuery::new(term(text), IndexRecordOption::WithFreqs)),
        several => {
            let tokens = several.iter().map(|(at, text)| (*at, term(text))).collect();
            Box::new(PhraseQuery::new_with_offset_and_slop(tokens, searched.slop))
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

fn term(field: Field, text: &str) -> TermQuery {
    TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::Basic)
}

fn flag(field: Field, value: bool) -> Boxed {
    without_score(TermQuery::new(Term::from_field_bool(field, value), IndexRecordOption::Basic))
}

fn published(fields: &Fields, from: Option<Day>, until: Option<Day>) -> Boxed {
    let bound = |day: Option<Day>| {
        day.map_or(Bound::Unbounded, |day| Bound::Included(Term::from_field_date(fields.published, midnight(day))))
    };
    without_score(RangeQuery::new(bound(from), bound(until)))
}

/// The conditions of a filter, except the one on duplicates, which needs all hits.
fn filter_conditions(fields: &Fields, filter: &Filter) -> Vec<(Occur, Boxed)> {
    let mut found: Vec<(Occur, Boxed)> = Vec::new();
    let among = |field: Field, names: &[String]| {
        without_score(TermSetQuery::new(
            names.iter().map(|name| Term::from_field_text(field, name)).collect::<Vec<_>>(),
        ))
    };
    let mut must = |condition: bool, query: &dyn Fn() -> Boxed| {
        if condition {
            found.push((Occur::Must, query()));
        }
    };
    must(filter.relevant, &|| flag(fields.relevant, true));
    let least = f64::from(filter.min_relevance.unwrap_or_default().get());
    must(least > 0.0, &|| {
        without_score(RangeQuery::new(Bound::Included(Term::from_field_f64(fields.relevance, least)), Bound::Unbounded))
    });
    must(!filter.languages.is_empty(), &|| among(fields.language, &filter.languages));
    must(!filter.hosts.is_empty(), &|| among(fields.site, &filter.hosts));
    must(filter.published_from.is_some() || filter.published_until.is_some(), &|| {
        published(fields, filter.published_from, filter.published_until)
    });
    must(filter.fetched_from.is_some(), &|| {
        let from = Term::from_field_date(fields.fetched, midnight(filter.fetched_from.unwrap_or_default()));
        without_score(RangeQuery::new(Bound::Included(from), Bound::Unbounded))
    });
    must(filter.min_chars > 0, &|| {
        let least = Term::from_field_u64(fields.chars, u64::from(filter.min_chars));
        without_score(RangeQuery::new(Bound::Included(least), Bound::Unbounded))
    });
    must(filter.documents, &|| flag(fields.listing, false));
    must(filter.no_noindex, &|| flag(fields.noindex, false));
    if !filter.not_hosts.is_empty() {
        found.push((Occur::MustNot, among(fields.site, &filter.not_hosts)));
    }
    found
}
