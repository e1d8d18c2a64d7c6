//! Texts as rows of √tf × IDF, scaled to length 1, over words numbered in order of first occurrence.

use rustc_hash::FxHashMap;

use super::svm::Row;
use super::{Background, TermFrequency};

/// The words of some texts, each a column.
#[derive(Default)]
pub(super) struct Columns {
    pub(super) words: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl Columns {
    pub(super) fn number(&mut self, word: String) -> u32 {
        let new = self.words.len() as u32;
        *self.numbers.entry(word).or_insert_with_key(|word| {
            self.words.push(word.clone());
            new
        })
    }

    /// Weights of words as a vector over the columns.
    pub(super) fn dense(&self, weights: &[(String, f64)]) -> Vec<f64> {
        let mut dense = vec![0.0; self.words.len()];
        for (word, weight) in weights {
            if let Some(&number) = self.numbers.get(word) {
                dense[number as usize] = *weight;
            }
        }
        dense
    }

    /// The row of a text with these words and their counts.
    pub(super) fn row(&mut self, bag: Vec<(String, u32)>, counts: &Background) -> Row {
        let mut row: Vec<(u32, f64)> = Vec::with_capacity(bag.len());
        for (word, count) in bag {
            let value = TermFrequency::Root.weigh(count) * counts.idf(&word);
            row.push((self.number(word), value));
        }
        row.sort_unstable_by_key(|&(number, _)| number);
        let length = row.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        row.into_iter().map(|(number, value)| (number, (value / length) as f32)).collect()
    }
}

/// Weights below this would be written as 0.
const LEAST_WEIGHT: f64 = 1e-4;

/// The `most` weights with the largest absolute values; equal ones by name.
pub(super) fn heaviest<'a>(weights: impl Iterator<Item = (&'a str, f64)>, most: usize) -> Vec<(String, f64)> {
    let kept = weights.filter(|(_, weight)| weight.abs() >= LEAST_WEIGHT);
    let mut weights: Vec<(String, f64)> = kept.map(|(word, weight)| (word.to_owned(), weight)).collect();
    weights.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then_with(|| a.0.cmp(&b.0)));
    weights.truncate(most);
    weights
}
