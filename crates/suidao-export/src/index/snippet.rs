//! Selects the best passage of a page's text for a query, and marks the words.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Serialize, Serializer};

use super::terms::SearchTerm;
use super::tokenizer::analyzer;

/// Width of a snippet: a Chinese character counts two, others one.
const WIDTH: usize = 240;
/// How far back it may start, to start with a sentence.
const BEFORE: usize = 80;
/// More occurrences than this add nothing.
const ENOUGH: usize = 6;
/// Bytes of a text that are searched, in steps: a text with all words near its beginning need not be tokenized to its
/// end, which takes most of a query's time.
const REACHES: [usize; 3] = [4_000, 16_000, 64_000];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// On one line.
    pub text: String,
    /// Marked bytes, in order, without overlaps.
    pub marks: Vec<Range<usize>>,
}

impl Serialize for Marked {
    /// Writes text and marks; marks count characters (Unicode scalar values).
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            text: &'a str,
            marks: Vec<[usize; 2]>,
        }
        Shown { text: &self.text, marks: in_characters(&self.text, &self.marks) }.serialize(serializer)
    }
}

impl Marked {
    /// Creates it from marks that count characters.
    pub(super) fn by_characters(text: &str, marks: &[[usize; 2]]) -> Self {
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let end = |at: usize| ends.get(at).copied().unwrap_or(text.len());
        Self { text: text.to_owned(), marks: marks.iter().map(|[from, to]| end(*from)..end(*to)).collect() }
    }

    /// Its pieces in order, and whether each is marked.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, bool)> {
        let ends = self.marks.iter().flat_map(|mark| [(mark.start, false), (mark.end, true)]);
        let mut from = 0;
        ends.chain([(self.text.len(), false)])
            .map(move |(to, marked)| (&self.text[std::mem::replace(&mut from, to)..to], marked))
            .filter(|(piece, _)| !piece.is_empty())
    }
}

fn in_characters(text: &str, marks: &[Range<usize>]) -> Vec<[usize; 2]> {
    let count = |at: usize| text[..at].chars().count();
    marks.iter().map(|mark| [count(mark.start), count(mark.end)]).collect()
}

/// The words of a query, as they are searched in texts.
pub(super) struct QueryWords<'a> {
    terms: Vec<&'a [(usize, String)]>,
}

#[derive(Clone, Debug)]
struct Found {
    range: Range<usize>,
    word: usize,
}

impl<'a> QueryWords<'a> {
    pub(super) fn new(terms: &[&'a SearchTerm]) -> Self {
        let wanted = terms.iter().filter(|term| !term.optional);
        Self { terms: wanted.map(|term| &term.tokens[..]).collect() }
    }

    /// Their occurrences in a text, in order.
    fn find(&self, text: &str) -> Vec<Found> {
        let wanted: FxHashSet<&str> =
            self.terms.iter().flat_map(|tokens| tokens.iter().map(|(_, token)| token.as_str())).collect();
        let mut positions: FxHashMap<(usize, String), Range<usize>> = FxHashMap::default();
        let mut order: Vec<(usize, String)> = Vec::new();
        let mut analyzer = analyzer();
        analyzer.token_stream(text).process(&mut |token| {
            if wanted.contains(token.text.as_str()) {
                let key = (token.position, token.text.clone());
                positions.insert(key.clone(), token.offset_from..token.offset_to);
                order.push(key);
            }
        });
        let mut found = Vec::new();
        for (spot, token) in &order {
            for (word, tokens) in self.terms.iter().enumerate().filter(|(_, tokens)| tokens[0].1 == *token) {
                let all: Option<Vec<_>> =
                    tokens.iter().map(|(offset, token)| positions.get(&(spot + offset, token.clone()))).collect();
                if let Some(all) = all {
                    let end = all.iter().map(|range| range.end).max().unwrap_or_default();
                    found.push(Found { range: all[0].start..end, word });
                }
            }
        }
        found
    }

    /// The words in a title, in characters.
    pub(super) fn in_title(&self, title: &str) -> Vec<[usize; 2]> {
        in_characters(title, &joined(self.find(title).into_iter().map(|found| found.range)))
    }

    /// The passage with the most words; the beginning of the text if it has none.
    pub(super) fn snippet(&self, text: &str) -> Marked {
        let mut found = Vec::new();
        let mut anchor = 0;
        for reach in REACHES {
            let end = floor(text, reach);
            found = self.find(&text[..end]);
            let (words, start) = best(text, &found);
            anchor = start;
            // Words that are this far apart rarely occur together later.
            let all = |words: usize| words == self.terms.len();
            let apart = || all(found.iter().map(|found| found.word).collect::<FxHashSet<_>>().len());
            if end == text.len() || all(words) || reach > REACHES[0] && apart() {
                break;
            }
        }
        let start = begin(text, anchor);
        let window = start..finish(text, start);
        let marks = found.into_iter().map(|found| found.range);
        cut_out(text, &window, joined(marks.filter(|mark| mark.start >= window.start && mark.end <= window.end)))
    }
}

/// Marks without overlaps; adjacent ones are joined.
fn joined(marks: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut apart: Vec<Range<usize>> = Vec::new();
    for mark in marks {
        match apart.last_mut() {
            Some(last) if mark.start <= last.end => last.end = last.end.max(mark.end),
            _ => apart.push(mark),
        }
    }
    apart
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn width(character: char) -> usize {
    if character >= '\u{1100}' { 2 } else { 1 }
}

fn ends_sentence(character: char) -> bool {
    matches!(character, '。' | '！' | '？' | '；' | '\n' | '…')
}

/// Whether a sentence ends at `at`.
fn border(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t', '”', '」', '"', '\'', ')', '）']);
    let spaced = text[before.len()..].starts_with(char::is_whitespace);
    match before.chars().next_back() {
        None => true,
        Some('.' | '!' | '?') => spaced,
        Some(last) => ends_sentence(last),
    }
}

/// The number of words in the best window, and the first of them: the one with the most words, then the most
/// occurrences, then the first.
fn best(text: &str, found: &[Found]) -> (usize, usize) {
    // First column of each occurrence, and the one after its last.
    let (mut at, mut columns) = (0, 0);
    let mut spans = Vec::with_capacity(found.len());
    for found in found {
        columns += text[at..found.range.start].chars().map(width).sum::<usize>();
        at = found.range.start;
        spans.push((columns, columns + text[found.range.clone()].chars().map(width).sum::<usize>()));
    }
    let mut best: Option<((usize, usize), usize)> = None;
    for (first, start) in found.iter().enumerate() {
        let inside = spans[first..].iter().take_while(|span| span.1 <= spans[first].0 + WIDTH - BEFORE).count();
        let words: FxHashSet<usize> = found[first..first + inside].iter().map(|found| found.word).collect();
        let quality = (words.len(), inside.min(ENOUGH));
        if best.is_none_or(|(most, _)| quality > most) {
            best = Some((quality, start.range.start));
        }
    }
    best.map_or((0, 0), |((words, _), at)| (words, at))
}

/// Start of a window that must contain `anchor`.
fn begin(text: &str, anchor: usize) -> usize {
    let mut columns = 0;
    let mut last_word = anchor;
    for (at, character) in text[..anchor].char_indices().rev() {
        if border(text, at + character.len_utf8()) {
            return at + character.len_utf8();
        }
        columns += width(character);
        if columns > BEFORE {
            return last_word;
        }
        if columns <= BEFORE / 2 && (width(character) == 2 || character.is_whitespace()) {
            last_word = at + if character.is_whitespace() { character.len_utf8() } else { 0 };
        }
    }
    0
}

/// End of a window that starts at `start`.
fn finish(text: &str, start: usize) -> usize {
    let mut columns = 0;
    let (mut sentence, mut word) = (None, start);
    for (at, character) in text[start..].char_indices() {
        let at = start + at;
        if columns > WIDTH * 2 / 3 && border(text, at) {
            sentence = Some(at);
        }
        if width(character) == 2 || character.is_whitespace() {
            word = at;
        }
        columns += width(character);
        if columns > WIDTH {
            let end = if word > start { word } else { at };
            return sentence.unwrap_or(end);
        }
    }
    text.len()
}

/// A window as one line, with marks shifted, and dots where text was left out.
fn cut_out(text: &str, window: &Range<usize>, marks: Vec<Range<usize>>) -> Marked {
    let mut shown = Marked::default();
    if window.start > 0 && !border(text, window.start) {
        shown.text.push('…');
    }
    let mut marks = marks.into_iter().peekable();
    let mut open = None;
    for (at, character) in text[window.clone()].char_indices() {
        let at = window.start + at;
        if let Some(mark) = marks.peek() {
            if at == mark.start {
                open = Some(shown.text.len());
            }
            if at == mark.end
                && let Some(from) = open.take()
            {
                shown.marks.push(from..shown.text.len());
                marks.next();
                if marks.peek().is_some_and(|next| next.start == at) {
                    open = Some(shown.text.len());
                }
            }
        }
        match character {
            '\n' | '\t' | '\r' => {
                if !shown.text.ends_with(' ') && !shown.text.is_empty() {
                    shown.text.push(' ');
                }
            }
            other => shown.text.push(other),
        }
    }
    if let Some(from) = open {
        shown.marks.push(from..shown.text.len());
    }
    let trimmed = shown.text.trim_end().len();
    shown.text.truncate(trimmed.max(shown.marks.last().map_or(0, |mark| mark.end)));
    if window.end < text.len() && !border(text, window.end) {
        shown.text.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::super::query::TextField;
    use super::super::tokenizer::phrase_tokens;
    use super::*;

    fn terms(words: &[&str]) -> Vec<SearchTerm> {
        let unit = |word: &&str| SearchTerm {
            text: (*word).to_owned(),
            field: TextField::All,
            tokens: phrase_tokens(word),
            optional: false,
            weight: 1.0,
            slop: 0,
        };
        words.iter().map(unit).collect()
    }

    fn snippet_of(words: &[&str], text: &str) -> String {
        let terms = terms(words);
        let marked = QueryWords::new(&terms.iter().collect::<Vec<_>>()).snippet(text);
        marked.pieces().map(|(piece, hit)| if hit { format!("«{piece}»") } else { piece.to_owned() }).collect()
    }

    #[test]
    fn words_are_marked_in_the_text_as_it_was_given() {
        assert_eq!(snippet_of(&["神经网络"], "用ＧＰＵ訓練神經網絡,很快"), "用ＧＰＵ訓練«神經網絡»,很快");
        assert_eq!(snippet_of(&["gpu", "训练"], "用ＧＰＵ訓練"), "用«ＧＰＵ訓練»", "marks that touch are one");
        assert_eq!(snippet_of(&["gradient descent"], "descent, Gradient  Descents"), "descent, «Gradient  Descents»");
        assert_eq!(snippet_of(&["网络", "神经网络"], "神经网络"), "«神经网络»", "marks do not overlap");
        assert_eq!(snippet_of(&["x"], ""), "");
        assert_eq!(snippet_of(&[], "第一段\n第二段"), "第一段 第二段");
    }

    #[test]
    fn the_window_with_the_most_words_is_shown_and_cut_at_sentences() {
        let filler = "这里说的是别的事情。".repeat(40);
        let text = format!("{filler}决策树。{filler}这一句里有决策树和随机森林。{filler}");
        let found = snippet_of(&["决策树", "随机森林"], &text);
        assert!(found.starts_with("这一句里有«决策树»和«随机森林»。这里"), "{found}");
        assert!(found.ends_with("事情。") && found.chars().map(width).sum::<usize>() <= WIDTH + 10, "{found}");
        let words = format!("{} needle {}", "hay ".repeat(300), "hay ".repeat(300));
        let found = snippet_of(&["needle"], &words);
        assert!(found.starts_with("…hay ") && found.ends_with("hay…") && found.contains("«needle»"), "{found}");
        assert_eq!(snippet_of(&["no"], &filler).matches('情').count(), snippet_of(&[], &filler).matches('情').count());
    }

    proptest::proptest! {
        #[test]
        fn marks_lie_within_the_text(text in "[ -~机器学习機器學習，。\n]{0,400}") {
            let terms = terms(&["机器", "学习", "a"]);
            let marked = QueryWords::new(&terms.iter().collect::<Vec<_>>()).snippet(&text);
            let joined: String = marked.pieces().map(|(piece, _)| piece).collect();
            proptest::prop_assert_eq!(&joined, &marked.text);
            proptest::prop_assert!(!marked.text.contains('\n'));
        }
    }
}
