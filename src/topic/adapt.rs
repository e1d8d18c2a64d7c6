//! Learning more from pages that a person labelled: the linear machines of a lexicon are moved as little as it takes to judge
//! these pages as the person did (Yang, Yan and Hauptmann 2007, adaptive support vector machines). The pages that the lexicon was
//! learnt from are not needed.

use rustc_hash::FxHashMap;
use thiserror::Error;

use super::svm::{self, Row};
use super::{Lexicon, Sample, Threshold};
use crate::text;

/// C, as in first training.
const COST: f64 = 1.0;
/// The border stands this far beyond the middle between the classes, as in first training.
const MARGIN: f64 = 0.1;
/// Lighter weights would be written as 0.
const LEAST_WEIGHT: f64 = 5e-5;

/// Why nothing was learnt from labels.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AdaptError {
    /// It judges by eq. (1).
    #[error(
        "only linear lexicons learn from labels, and this one judges by eq. (1): build one by suidao topic build --method linear"
    )]
    NotLinear,
    /// No page with words.
    #[error("none of the {pages} labelled pages has a word in its main content")]
    NoPages {
        /// Pages given.
        pages: usize,
    },
}

/// What became of a lexicon.
#[derive(Clone, Debug)]
pub struct Adapted {
    /// The lexicon.
    pub lexicon: Lexicon,
    /// Pages learnt from that are on topic, and off.
    pub pages: (usize, usize),
    /// Weights that were changed most, with their change, the largest first.
    pub changed: Vec<(String, f64)>,
}

/// Learns from pages and whether each is on topic. Terms that were struck out stay out.
///
/// # Errors
/// [`AdaptError`] if the lexicon is not linear or no page holds a word.
pub fn learn_labels(lexicon: &Lexicon, pages: &[(Sample, bool)]) -> Result<Adapted, AdaptError> {
    let Some(linear) = &lexicon.linear else { return Err(AdaptError::NotLinear) };
    let terms: FxHashMap<String, f64> = folded(&lexicon.terms);
    let of_tags: FxHashMap<String, f64> = folded(&linear.tags);
    let df: FxHashMap<&str, u32> = lexicon.background.df.iter().map(|(word, df)| (word.as_str(), *df)).collect();
    let idf = |word: &str| lexicon.background.idf(df.get(word).map_or(lexicon.background.other, |&df| f64::from(df)));
    let mut words: Vec<String> = Vec::new();
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    let mut on: Vec<(Row, f64)> = Vec::new();
    let mut off = on.clone();
    for (sample, on_topic) in pages {
        let mut score = MARGIN - linear.border;
        let mut row: FxHashMap<u32, f64> = FxHashMap::default();
        let mut add = |bag: Vec<(String, u32)>, weight: &dyn Fn(&str) -> f64| {
            let weighed: Vec<(String, f64)> = bag
                .into_iter()
                .map(|(word, count)| {
                    let value = lexicon.tf.weigh(count) * idf(&word);
                    (word, value)
                })
                .collect();
            let length = weighed.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
            for (word, value) in weighed {
                score += weight(&word) * value / length;
                if linear.struck.terms.contains(&word) {
                    continue;
                }
                let new = words.len() as u32;
                let number = *numbers.entry(word).or_insert_with_key(|word| {
                    words.push(word.clone());
                    new
                });
                *row.entry(number).or_default() += value / length;
            }
        };
        let weight = |of: &FxHashMap<String, f64>, word: &str| of.get(word).copied().unwrap_or(0.0);
        add(sample.bag(sample.document.content()), &|word| weight(&terms, word));
        add(sample.bag(sample.document.tags().into_iter()), &|word| weight(&terms, word) + weight(&of_tags, word));
        let mut row: Row = row.into_iter().map(|(number, value)| (number, value as f32)).collect();
        row.sort_unstable_by_key(|&(number, _)| number);
        if !row.is_empty() {
            if *on_topic { &mut on } else { &mut off }.push((row, score));
        }
    }
    if on.is_empty() && off.is_empty() {
        return Err(AdaptError::NoPages { pages: pages.len() });
    }
    let change = svm::adapt(&on, &off, words.len(), COST);
    let mut adapted = lexicon.clone();
    let mut changed: Vec<(String, f64)> =
        words.into_iter().zip(change.weights).filter(|(_, weight)| weight.abs() >= LEAST_WEIGHT).collect();
    changed.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then_with(|| a.0.cmp(&b.0)));
    let change_of: FxHashMap<&str, f64> = changed.iter().map(|(word, weight)| (word.as_str(), *weight)).collect();
    let mut known: Vec<String> = Vec::new();
    for (term, weight) in &mut adapted.terms {
        let term = text::fold(term);
        *weight += change_of.get(term.as_str()).copied().unwrap_or(0.0);
        known.push(term);
    }
    let known: rustc_hash::FxHashSet<String> = known.into_iter().collect();
    // As many new terms as were changed most, so that the lexicon does not grow without end.
    let most = adapted.terms.len();
    let new = changed.iter().filter(|(word, _)| !known.contains(word)).cloned();
    adapted.terms.extend(new);
    adapted.terms.retain(|(_, weight)| weight.abs() >= LEAST_WEIGHT);
    adapted.terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then_with(|| a.0.cmp(&b.0)));
    adapted.terms.truncate(most.max(1));
    if let Some(linear) = &mut adapted.linear {
        linear.border -= change.bias;
        linear.middle -= change.bias;
    }
    // Labels are learnt from again and again: the text must not grow each time.
    let before = lexicon.page.chosen.split("; moved by").next().unwrap_or_default();
    let chosen = format!("{before}; moved by {} labelled pages, and not measured since", on.len() + off.len());
    adapted.page = Threshold { listings: None, ..Threshold::unmeasured(lexicon.page.value, &chosen) };
    adapted.order();
    Ok(Adapted { lexicon: adapted, pages: (on.len(), off.len()), changed })
}

fn folded(terms: &[(String, f64)]) -> FxHashMap<String, f64> {
    terms.iter().map(|(term, weight)| (text::fold(term), *weight)).collect()
}
