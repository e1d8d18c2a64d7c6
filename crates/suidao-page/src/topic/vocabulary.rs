//! A topic's vocabulary: its terms, the near terms and the IDF of other words, with a search for possible occurrences.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use frostem::{Algorithm, Stemmer};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Lexicon, LinearModel, TermFrequency};
use crate::text::{self, segment::is_han};

pub(super) const TOPIC_HIT: u8 = 1;
pub(super) const NEAR_HIT: u8 = 2;
/// A term with a positive weight in texts or tags of a linear judge.
pub(super) const PAGE_HIT: u8 = 4;

/// A pattern that begins words and need not end them.
const STEM_HIT: u8 = 8;

/// Shorter words have no stem: `css`, `ios`.
const LEAST_STEMMED: usize = 4;

/// What may stand between the words of a term: `node.js`, `ci/cd`, `scikit_learn`, `SQL 注入`, `SQL注入`.
const JOINTS: [&str; 8] = ["", " ", "-", "_", ".", "/", "·", "&"];

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VocabularyWord {
    /// Second factor of eq. (2).
    pub(super) idf: f64,
    /// w_ir over the length of the topic vector; 0 if it is not a topic term.
    pub(super) topic: f64,
    /// The same for the near terms.
    pub(super) near: f64,
    /// Weight of the linear judge in texts.
    pub(super) text: f64,
    /// The same in tags and anchors.
    pub(super) tags: f64,
    /// Number of the term, see [`Lexicon::term_name`], if it has a weight.
    pub(super) term: u32,
}

/// The strings with which terms begin, each with the kinds of its terms. Many terms may share a first word: one pattern
/// for all, to avoid a hit for each.
#[derive(Default)]
struct Patterns {
    patterns: Vec<String>,
    kinds: Vec<u8>,
    numbers: FxHashMap<String, usize>,
}

impl Patterns {
    fn add(&mut self, word: &str, kind: u8) {
        if kind & !STEM_HIT == 0 {
            return;
        }
        let number = *self.numbers.entry(word.to_owned()).or_insert_with(|| {
            self.patterns.push(word.to_owned());
            self.kinds.push(0);
            self.patterns.len() - 1
        });
        self.kinds[number] |= kind;
    }
}

/// Inflected English words as their stem: `attacks`, `attacking` as `attack` (Porter 2001, Snowball).
struct Stems {
    stemmer: Stemmer,
    /// The known word of each stem.
    words: FxHashMap<String, String>,
}

impl Stems {
    fn new() -> Self {
        Self { stemmer: Stemmer::new(Algorithm::English), words: FxHashMap::default() }
    }

    /// The stem of an English word of [`LEAST_STEMMED`] letters or more.
    fn stem(&self, word: &str) -> Option<String> {
        let is_english = word.len() >= LEAST_STEMMED && word.bytes().all(|byte| byte.is_ascii_lowercase());
        is_english.then(|| self.stemmer.stem(word).into_owned())
    }

    /// What all words of a stem begin with; the last letter of a stem may be another (`histori`).
    fn beginning(stem: &str) -> &str {
        &stem[..stem.len().saturating_sub(1)]
    }

    /// The known word that is this one, but for its inflection.
    fn known(&self, word: &str) -> Option<&str> {
        let stem = self.stem(word)?;
        let known = self.words.get(&stem)?;
        word.starts_with(Self::beginning(&stem)).then_some(known)
    }
}

/// A node of the tree of phrases: the words that may follow.
#[derive(Default)]
struct PhraseNode {
    next: FxHashMap<String, usize>,
    /// The phrase that ends here, as one word.
    joined: Option<String>,
}

pub(super) struct Vocabulary {
    /// tf of eq. (2).
    pub(super) tf: TermFrequency,
    words: FxHashMap<String, VocabularyWord>,
    /// IDF of unknown words.
    other: f64,
    /// Terms of several segmented words (`深度 学习`), which are joined when adjacent. A tree by words; the first node is
    /// its root.
    phrases: Vec<PhraseNode>,
    /// If words count as their stem: the words of terms.
    stems: Option<Stems>,
    /// Finds terms (the first word of phrases) in folded text; `None` without terms.
    automaton: Option<AhoCorasick>,
    /// Kind of each pattern.
    kinds: Vec<u8>,
}

impl Vocabulary {
    pub(super) fn new(lexicon: &Lexicon) -> Self {
        let background = &lexicon.background;
        let df: FxHashMap<&str, u32> = background.df.iter().map(|(word, df)| (word.as_str(), *df)).collect();
        let idf = |df: Option<u32>| background.idf(df.map_or(background.other, f64::from));
        let mut vocabulary = Self {
            tf: lexicon.weights.tf,
            words: FxHashMap::default(),
            other: idf(None),
            phrases: vec![PhraseNode::default()],
            stems: lexicon.weights.stem.then(Stems::new),
            automaton: None,
            kinds: Vec::new(),
        };
        for (word, df) in &background.df {
            if text::is_term(word) {
                vocabulary
                    .words
                    .insert(word.clone(), VocabularyWord { idf: idf(Some(*df)), ..VocabularyWord::default() });
            }
        }
        let mut patterns = Patterns::default();
        // The form in which scoring looks up the term.
        let mut add = |vocabulary: &mut Self, term: &str, kind: u8| {
            let (key, parts) = joined(term)?;
            let key_df = df.get(key.as_str()).or_else(|| df.get(text::fold(term).as_str())).copied();
            // A phrase that the background did not count is at most as frequent as its rarest word.
            let key_df = key_df.or_else(|| parts.iter().filter_map(|part| df.get(part.as_str()).copied()).min());
            let unknown = VocabularyWord { idf: idf(key_df), ..VocabularyWord::default() };
            vocabulary.words.entry(key.clone()).or_insert(unknown);
            patterns.add(&parts[0], kind);
            if let Some(stems) = &mut vocabulary.stems {
                for (at, part) in parts.iter().enumerate() {
                    let Some(stem) = stems.stem(part) else { continue };
                    if at == 0 {
                        patterns.add(Stems::beginning(&stem), kind | STEM_HIT);
                    }
                    stems.words.entry(stem).or_insert_with(|| part.clone());
                }
            }
            if parts.len() > 1 {
                vocabulary.add_phrase(parts, &key);
            }
            Some(key)
        };
        if let Some(linear) = &lexicon.linear {
            vocabulary.add_linear(&lexicon.terms, linear, &mut add);
        }
        for (terms, kind) in [(lexicon.main_terms(), TOPIC_HIT), (&lexicon.near, NEAR_HIT)] {
            let mut length = 0.0;
            let mut mine = Vec::new();
            for (index, (term, weight)) in terms.iter().enumerate() {
                let Some(key) = add(&mut vocabulary, term, kind) else { continue };
                let Some(word) = vocabulary.words.get_mut(&key) else { continue };
                // Two spellings of one term count once; a topic term is not a near term.
                if word.topic > 0.0 || word.near > 0.0 {
                    continue;
                }
                if kind == TOPIC_HIT {
                    (word.topic, word.term) = (*weight, index as u32);
                } else {
                    word.near = *weight;
                }
                length += weight * weight;
                mine.push(key);
            }
            for key in mine {
                if let Some(word) = vocabulary.words.get_mut(&key) {
                    word.topic /= if kind == TOPIC_HIT { length.sqrt() } else { 1.0 };
                    word.near /= if kind == NEAR_HIT { length.sqrt() } else { 1.0 };
                }
            }
        }
        let Patterns { patterns, kinds, .. } = patterns;
        vocabulary.kinds = kinds;
        if !patterns.is_empty() {
            // Building fails only beyond 2³¹ states; without an automaton every text counts as a hit.
            vocabulary.automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(patterns).ok();
        }
        vocabulary
    }

    /// Adds the weights of a linear judge. Of two spellings of one term the first counts.
    fn add_linear(
        &mut self,
        terms: &[(String, f64)],
        linear: &LinearModel,
        add: &mut impl FnMut(&mut Self, &str, u8) -> Option<String>,
    ) {
        let kind = |weight: f64, kind: u8| if weight > 0.0 { kind } else { 0 };
        let mut seen = FxHashSet::default();
        for (index, (term, weight)) in terms.iter().chain(&linear.tags).enumerate() {
            let of_text = index < terms.len();
            let Some(key) = add(self, term, kind(*weight, PAGE_HIT)) else { continue };
            if !seen.insert((of_text, key.clone())) {
                continue;
            }
            let Some(word) = self.words.get_mut(&key) else { continue };
            if word.text == 0.0 && word.tags == 0.0 {
                word.term = index as u32;
            }
            word.text += if of_text { *weight } else { 0.0 };
            word.tags += weight;
        }
    }

    pub(super) fn word(&self, word: &str) -> Option<VocabularyWord> {
        self.words
            .get(word)
            .copied()
            .or_else(|| text::is_term(word).then_some(VocabularyWord { idf: self.other, ..VocabularyWord::default() }))
    }

    /// The word of a term of which this one is another form.
    pub(super) fn uninflected(&self, word: &str) -> Option<&str> {
        self.stems.as_ref()?.known(word)
    }

    /// The longest phrase that begins with the first of these words of `text`, and its number of words.
    pub(super) fn phrase(&self, text: &str, cuts: &[Range<usize>]) -> Option<(&str, usize)> {
        let (mut node, mut longest) = (0, None);
        for (at, cut) in cuts.iter().enumerate() {
            if at > 0 && !JOINTS.contains(&&text[cuts[at - 1].end..cut.start]) {
                break;
            }
            let next = &self.phrases[node].next;
            let word = &text[cut.clone()];
            let Some(&next) = next.get(word).or_else(|| next.get(self.uninflected(word)?)) else { break };
            node = next;
            longest = self.phrases[node].joined.as_deref().map(|joined| (joined, at + 1)).or(longest);
        }
        longest
    }

    /// Adds a phrase; of two with the same words the first counts.
    fn add_phrase(&mut self, words: Vec<String>, joined: &str) {
        let mut node = 0;
        for word in words {
            let new = self.phrases.len();
            node = *self.phrases[node].next.entry(word).or_insert(new);
            if node == new {
                self.phrases.push(PhraseNode::default());
            }
        }
        self.phrases[node].joined.get_or_insert_with(|| joined.to_owned());
    }

    /// Passes each position in folded text where a term may begin, by end, and its kind. Lossless: a term that
    /// segmentation finds occurs as a string, and words of Latin letters are whole runs.
    pub(super) fn each_hit(&self, text: &str, mut each: impl FnMut(usize, u8)) {
        let Some(automaton) = &self.automaton else { return };
        let bytes = text.as_bytes();
        let inside_run = |at: usize| {
            at > 0 && at < bytes.len() && bytes[at - 1].is_ascii_alphanumeric() && bytes[at].is_ascii_alphanumeric()
        };
        for hit in automaton.find_overlapping_iter(text) {
            let kind = self.kinds[hit.pattern().as_usize()];
            if !inside_run(hit.start()) && (kind & STEM_HIT != 0 || !inside_run(hit.end())) {
                each(hit.start(), kind & !STEM_HIT);
            }
        }
    }
}

/// A term in the form that scoring looks up, and its segmented words; `None` if it contains no word. The form does not
/// depend on what stands between the words.
pub(super) fn joined(term: &str) -> Option<(String, Vec<String>)> {
    let folded = text::fold(term);
    let mut cuts = Vec::new();
    text::cut(&folded, |range| cuts.push(range));
    let mut key = String::new();
    for cut in &cuts {
        let word = &folded[cut.clone()];
        if key.chars().next_back().zip(word.chars().next()).is_some_and(|(last, next)| !(is_han(last) && is_han(next)))
        {
            key.push(' ');
        }
        key.push_str(word);
    }
    let parts: Vec<String> = cuts.into_iter().map(|cut| folded[cut].to_owned()).collect();
    (!parts.is_empty()).then_some((key, parts))
}
