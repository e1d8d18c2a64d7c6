//! Document frequencies on pages of all topics, for IDF and lift, and pages to choose thresholds with.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use sha1::{Digest as _, Sha1};

use super::{DocumentFrequencies, Lexicon, Sample};
use crate::seeded_rng::SeededRng;
use crate::text;

/// Document frequencies of an average Chinese page, made by `background.py` from public word frequencies: `pages N`,
/// then lines `df word word …`; zstd.
const BUILT_IN: &[u8] = include_bytes!("background.zst");

/// Distinct words of a random page, approximately.
const RANDOM_WORDS: usize = 150;

/// How often a page of the user counts, because it resembles what is judged more than the average page does: with 1
/// mean average precision is .564, with 4 .571, with 16 .575.
const OWN: u32 = 8;

/// Words kept in a lexicon besides its own terms.
const MOST: usize = 3000;

/// Name and digest of the built-in background, for lexicons that refer to it.
pub(super) fn built_in_name() -> String {
    let digest = data_encoding::HEXLOWER.encode(&Sha1::digest(BUILT_IN));
    format!("wordfreq 3.1.1, sha1:{digest}")
}

/// The part of the built-in background that a lexicon needs, in canonical order.
pub(super) fn built_in_for(lexicon: &Lexicon) -> DocumentFrequencies {
    let linear = lexicon.linear.iter().flat_map(|linear| &linear.tags);
    let terms = lexicon.terms.iter().chain(&lexicon.near).chain(linear);
    let mut counts = Background::built_in().for_terms(terms.map(|(term, _)| term.as_str()));
    counts.order();
    counts
}

/// Document frequencies, with the pages they were counted on if available.
#[derive(Clone, Debug, Default)]
pub struct Background {
    pages: u32,
    df: FxHashMap<String, u32>,
    samples: Vec<Sample>,
}

impl Background {
    /// Document frequencies estimated from public word frequencies, without pages.
    pub fn built_in() -> Self {
        // The file is compiled in and a test reads it, so neither step fails.
        let bytes = zstd::decode_all(BUILT_IN).unwrap_or_default();
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    /// Counts the words of these pages and keeps the pages.
    pub fn from_samples(samples: Vec<Sample>) -> Self {
        let words: Vec<FxHashSet<String>> = samples.par_iter().map(|sample| sample.words()).collect();
        let mut df: FxHashMap<String, u32> = FxHashMap::default();
        for word in words.into_iter().flatten() {
            *df.entry(word).or_default() += 1;
        }
        Self { pages: samples.len() as u32, df, samples }
    }

    /// Parses `pages N` and lines `df word word …`; ignores invalid lines.
    pub fn parse(text: &str) -> Self {
        let mut background = Self::default();
        for line in text.lines() {
            let mut fields = line.split(' ');
            match (fields.next(), fields.next().and_then(|field| field.parse().ok())) {
                (Some("pages"), Some(pages)) => background.pages = pages,
                _ => {
                    let mut fields = line.split(' ');
                    if let Some(df) = fields.next().and_then(|field| field.parse().ok()) {
                        background
                            .df
                            .extend(fields.filter(|word| text::is_term(word)).map(|word| (word.to_owned(), df)));
                    }
                }
            }
        }
        background
    }

    /// Its counts, [`OWN`] times, plus the built-in ones, without pages: a few hundred pages of a few hosts are too few
    /// for rare words.
    pub fn with_built_in(&self) -> Self {
        let mut counts = Self::built_in();
        if !self.samples.is_empty() {
            counts.pages += OWN * self.pages;
            for (word, df) in &self.df {
                *counts.df.entry(word.clone()).or_default() += OWN * df;
            }
        }
        counts
    }

    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Number of pages with a folded word.
    pub fn df(&self, word: &str) -> u32 {
        self.df.get(word).copied().unwrap_or(0)
    }

    /// IDF of a folded word, eq. (2) smoothed.
    pub(super) fn idf(&self, word: &str) -> f64 {
        (1.0 + f64::from(self.pages) / (1.0 + f64::from(self.df(word)))).ln()
    }

    /// The pages; empty for the built-in background.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Words with their frequencies, the most frequent first.
    pub(super) fn by_frequency(&self) -> Vec<(&str, u32)> {
        let mut words: Vec<(&str, u32)> = self.df.iter().map(|(word, df)| (word.as_str(), *df)).collect();
        words.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        words
    }

    /// Random pages of background words, drawn by df and repeated a few times: a lower bound for scores of off-topic
    /// pages. Deterministic.
    pub(super) fn random_pages(&self, count: usize) -> Vec<Sample> {
        let words = self.by_frequency();
        let mut below: Vec<u64> = Vec::with_capacity(words.len());
        let mut sum = 0;
        for (_, df) in &words {
            sum += u64::from(*df);
            below.push(sum);
        }
        if sum == 0 {
            return Vec::new();
        }
        let mut rng = SeededRng::at(0);
        let mut page = |_| {
            let mut text = String::new();
            for _ in 0..RANDOM_WORDS {
                let drawn = rng.bits() % sum;
                let at = below.partition_point(|&end| end <= drawn);
                for _ in 0..1 + (rng.bits() | 8).trailing_zeros() {
                    text.push_str(words[at].0);
                    text.push(' ');
                }
            }
            Sample::from_text("", "", &text)
        };
        (0..count).map(&mut page).collect()
    }

    /// The part to keep in a lexicon with these terms. The df of other words gives the mean IDF of the omitted words,
    /// weighted by frequency.
    pub fn for_terms<'a>(&self, terms: impl Iterator<Item = &'a str>) -> DocumentFrequencies {
        let words = self.by_frequency();
        let (frequent, rare) = words.split_at(words.len().min(MOST));
        let mut part = DocumentFrequencies { pages: self.pages.max(1), other: 0.0, df: Vec::with_capacity(MOST + 200) };
        part.df.extend(frequent.iter().map(|&(word, df)| (word.to_owned(), df)));
        let listed: FxHashSet<&str> = frequent.iter().map(|&(word, _)| word).collect();
        for term in terms {
            let folded = text::fold(term);
            if !listed.contains(folded.as_str()) && self.df.contains_key(&folded) {
                part.df.push((folded.clone(), self.df(&folded)));
            }
        }
        let (mut sum, mut weight) = (0.0, 0.0);
        for &(_, df) in rare {
            sum += f64::from(df) * part.idf(f64::from(df));
            weight += f64::from(df);
        }
        if weight > 0.0 {
            let mean: f64 = sum / weight;
            part.other = (f64::from(part.pages) / (mean.exp() - 1.0) - 1.0).clamp(0.0, f64::from(part.pages));
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn background() -> Background {
        let texts = ["足球 电影 电影", "足球 音乐", "电影", "足球的 gpt4"];
        Background::from_samples(texts.iter().map(|text| Sample::from_text("a.txt", "", text)).collect())
    }

    #[test]
    fn a_word_counts_once_a_page() {
        let background = background();
        assert_eq!((background.pages(), background.samples().len()), (4, 4));
        assert_eq!(
            [background.df("足球"), background.df("电影"), background.df("gpt4"), background.df("的")],
            [3, 2, 1, 0]
        );
    }

    #[test]
    fn frequencies_are_read() {
        let read = Background::parse("pages 4\n3 足球\n2 电影\n?\n1 gpt4 音乐\n");
        assert_eq!((read.pages(), read.by_frequency()), (4, vec![("足球", 3), ("电影", 2), ("gpt4", 1), ("音乐", 1)]));
    }

    #[test]
    fn made_up_pages_hold_words_as_often_as_the_background_does() {
        let pages = background().random_pages(20);
        let again = background().random_pages(20);
        let texts = |pages: &[Sample]| pages.iter().map(|page| page.document.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&pages), texts(&again));
        let count = |word: &str| texts(&pages).iter().map(|text| text.matches(word).count()).sum::<usize>();
        assert!(count("足球") > count("电影") && count("电影") > count("音乐") && count("音乐") > 100);
        assert!(Background::default().random_pages(3).is_empty());
    }

    #[test]
    fn the_built_in_background_is_whole() {
        let built_in = Background::built_in();
        assert!(built_in.pages() >= 1000, "{}", built_in.pages());
        assert!(built_in.df("中国") > built_in.df("足球") && built_in.df("足球") > 0);
        let part = built_in.for_terms(["足球", "罕见的词组"].into_iter());
        assert!(part.df.len() >= MOST && part.df.len() <= MOST + 1);
        assert!(part.other >= 1.0 && part.other < f64::from(part.df[MOST - 1].1));
    }
}
