//! The tokens of one document: each piece of text is folded once and segmented at most once, for page, anchors and
//! contexts.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::vocabulary::{NEAR_HIT, PAGE_HIT, TOPIC_HIT, Vocabulary, VocabularyWord};
use crate::read::ParsedDocument;
use crate::text;

/// A token that is not a term: it fills a position in a window and adds nothing.
pub(super) const NO_TERM: u32 = u32::MAX;

/// The folded text of a document, its pieces separated by line feeds (no term contains one).
pub(super) struct Folded {
    text: String,
    pieces: Vec<Range<usize>>,
}

impl Folded {
    pub(super) fn new(document: &ParsedDocument) -> Self {
        let mut text = String::with_capacity(document.text.len() + document.pieces.len());
        let fold = |index: usize| {
            let start = text.len();
            text::segment::fold_into(document.piece(index), &mut text);
            let piece = start..text.len();
            text.push('\n');
            piece
        };
        let pieces = (0..document.pieces.len()).map(fold).collect();
        Self { text, pieces }
    }
}

/// Tokens, numbered by word in order of first occurrence.
pub(super) struct Tokens<'a> {
    folded: &'a Folded,
    vocabulary: &'a Vocabulary,
    /// By piece: [`TOPIC_HIT`] and others if such a term occurs as a string, and so may occur as a word.
    hits: Vec<u8>,
    /// By piece, and one past the last: number of visible pieces before it that may contain a term.
    shown_hits: Vec<u32>,
    /// By piece: its range of `tokens`, once segmented.
    segmented: Vec<Option<Range<usize>>>,
    /// Word numbers.
    tokens: Vec<u32>,
    numbers: FxHashMap<&'a str, u32>,
    words: Vec<VocabularyWord>,
    cuts: Vec<Range<usize>>,
    counts: Vec<u32>,
    touched: Vec<u32>,
}

/// Sums over some tokens, for eq. (1) and for a linear judge.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TermSums {
    /// Σ w_ij w_ir over the topic's terms.
    pub(super) topic: f64,
    /// The same over the near terms.
    pub(super) near: f64,
    /// Σ w_ij times the weight of the linear judge, in texts.
    pub(super) text: f64,
    /// The same in tags and anchors.
    pub(super) tags: f64,
    /// Whether a term has a positive weight in texts or tags.
    pub(super) positive: bool,
    /// Σ w_ij² over all terms.
    pub(super) norm: f64,
}

impl<'a> Tokens<'a> {
    /// `folded`: the text of `document`. Without `prefilter` everything is segmented, to test that the result is the
    /// same.
    pub(super) fn new(
        document: &ParsedDocument,
        folded: &'a Folded,
        vocabulary: &'a Vocabulary,
        prefilter: bool,
    ) -> Self {
        let mut hits = vec![TOPIC_HIT | NEAR_HIT | PAGE_HIT; folded.pieces.len()];
        if prefilter {
            hits.fill(0);
            let mut piece = 0;
            vocabulary.each_hit(&folded.text, |at, kind| {
                while folded.pieces.get(piece).is_some_and(|range| range.end <= at) {
                    piece += 1;
                }
                if let Some(hit) = hits.get_mut(piece) {
                    *hit |= kind;
                }
            });
        }
        let mut shown_hits = Vec::with_capacity(hits.len() + 1);
        let mut before = 0;
        for (piece, hit) in document.pieces.iter().zip(&hits) {
            shown_hits.push(before);
            before += u32::from(*hit & (TOPIC_HIT | NEAR_HIT) != 0 && !piece.hidden);
        }
        shown_hits.push(before);
        Self {
            folded,
            vocabulary,
            hits,
            shown_hits,
            segmented: vec![None; folded.pieces.len()],
            tokens: Vec::new(),
            numbers: FxHashMap::default(),
            words: Vec::new(),
            cuts: Vec::new(),
            counts: Vec::new(),
            touched: Vec::new(),
        }
    }

    pub(super) fn may_hold(&self, piece: usize, kinds: u8) -> bool {
        self.hits[piece] & kinds != 0
    }

    /// Whether a visible piece of the range may contain a term. Constant time, because every link of a block of 100,000
    /// pieces asks for all of it.
    pub(super) fn any_may_hold(&self, pieces: Range<usize>) -> bool {
        self.shown_hits[pieces.start] < self.shown_hits[pieces.end]
    }

    /// The piece's tokens, segmented on first use.
    pub(super) fn of_piece(&mut self, piece: usize) -> Range<usize> {
        if let Some(range) = &self.segmented[piece] {
            return range.clone();
        }
        let folded: &'a Folded = self.folded;
        let text = &folded.text[folded.pieces[piece].clone()];
        self.cuts.clear();
        text::cut(text, |range| self.cuts.push(range));
        let start = self.tokens.len();
        let mut at = 0;
        while at < self.cuts.len() {
            let (word, parts) = match self.vocabulary.phrase(text, &self.cuts[at..]) {
                Some((phrase, parts)) => (phrase, parts),
                None => {
                    let word = &text[self.cuts[at].clone()];
                    (self.vocabulary.uninflected(word).unwrap_or(word), 1)
                }
            };
            at += parts;
            let number = *self.numbers.entry(word).or_insert_with(|| match self.vocabulary.word(word) {
                Some(known) => {
                    self.words.push(known);
                    (self.words.len() - 1) as u32
                }
                None => NO_TERM,
            });
            self.tokens.push(number);
        }
        let range = start..self.tokens.len();
        self.segmented[piece] = Some(range.clone());
        range
    }

    /// Whether one of these tokens is a term of the topic or a near term.
    pub(super) fn holds_term(&self, range: Range<usize>) -> bool {
        let has_meaning =
            |&number: &u32| self.words.get(number as usize).is_some_and(|word| word.topic > 0.0 || word.near > 0.0);
        self.tokens[range].iter().any(has_meaning)
    }

    /// Adds tokens to the bag of [`Tokens::empty_bag`].
    pub(super) fn add_to_bag(&mut self, range: Range<usize>) {
        self.counts.resize(self.words.len(), 0);
        for &number in &self.tokens[range] {
            if number != NO_TERM {
                let count = &mut self.counts[number as usize];
                if *count == 0 {
                    self.touched.push(number);
                }
                *count += 1;
            }
        }
    }

    /// Sums up the bag in order of first addition, passes its terms with their counts, and clears it.
    pub(super) fn empty_bag(&mut self, mut each_term: impl FnMut(&VocabularyWord, u32)) -> TermSums {
        let mut sums = TermSums::default();
        for &number in &self.touched {
            let (word, count) = (&self.words[number as usize], std::mem::take(&mut self.counts[number as usize]));
            let weight = self.vocabulary.tf.weigh(count) * word.idf;
            sums.topic += weight * word.topic;
            sums.near += weight * word.near;
            sums.text += weight * word.text;
            sums.tags += weight * word.tags;
            sums.positive |= word.text > 0.0 || word.tags > 0.0;
            sums.norm += weight * weight;
            each_term(word, count);
        }
        self.touched.clear();
        sums
    }
}
