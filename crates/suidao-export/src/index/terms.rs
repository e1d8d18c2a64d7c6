//! The terms that a query searches for: its words, and the strings that it was typed as.

use std::ops::Range;

use super::query::TextField;
use super::tokenizer::phrase_tokens;
use suidao_page::text::segment::is_han;
use suidao_page::text::{cut, fold, is_function_word};

/// Maximum words of a term of the topic after its first.
const MAX_FURTHER_WORDS: usize = 5;
/// Maximum words of a compound.
const MAX_COMPOUND_WORDS: usize = 3;
/// Characters permitted between the words of a compound beyond those typed (足球的精彩比赛 for 足球比赛).
const COMPOUND_SLOP: u32 = 6;

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

impl SearchTerm {
    /// The text as a phrase; `None` if it has no word.
    pub(super) fn phrase(field: TextField, text: &str) -> Option<Self> {
        let tokens = phrase_tokens(text);
        let text = fold(text.trim());
        (!tokens.is_empty()).then_some(Self { text, field, tokens, optional: false, weight: 1.0, slop: 0 })
    }
}

/// What was typed without a space.
#[derive(Clone, Debug)]
pub(super) struct TypedWord {
    /// All of it as a phrase; `None` if it is a single word.
    pub string: Option<SearchTerm>,
    pub words: Vec<SearchTerm>,
    /// Its words near each other, if it is a compound.
    pub compound: Option<SearchTerm>,
}

impl TypedWord {
    /// `None` if the text has no word. `is_term` recognises terms of the topic.
    pub(super) fn new(field: TextField, text: &str, is_term: &dyn Fn(&str) -> bool) -> Option<Self> {
        let words = words(field, text, is_term);
        if words.is_empty() {
            return None;
        }
        let compound = compound(field, text, &words);
        let is_word = |string: &SearchTerm| words.len() == 1 && words[0].tokens == string.tokens;
        let string = SearchTerm::phrase(field, text).filter(|string| !is_word(string));
        Some(Self { string, words, compound })
    }

    /// Whether it has only words that need not occur.
    pub(super) fn is_optional(&self) -> bool {
        self.words.iter().all(|word| word.optional)
    }
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
            // A character between words (的, 在) is optional; alone it is what was asked for.
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
fn compound(field: TextField, text: &str, words: &[SearchTerm]) -> Option<SearchTerm> {
    let typed = fold(text);
    let whole: usize = words.iter().map(|word| word.text.len()).sum();
    let few = (2..=MAX_COMPOUND_WORDS).contains(&words.len()) && words.iter().all(|word| !word.optional);
    (few && whole == typed.len() && typed.chars().all(is_han)).then(|| SearchTerm {
        tokens: phrase_tokens(&typed),
        text: typed,
        field,
        optional: false,
        weight: 0.0,
        slop: COMPOUND_SLOP,
    })
}
