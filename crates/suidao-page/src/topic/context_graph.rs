//! Predicts a page's link distance to the topic from its words: the context graph of Diligenti, Coetzee, Lawrence,
//! Giles, Gori 2000. Layer 0 are relevant pages; from layer n a relevant page is n links away. Eq. (1), in contrast,
//! measures a page's own topic.
//!
//! ```text
//! vocabulary   the 40 words of each page with the largest tf · ln(N / df), those of many pages first
//! ln P(w|c)    = ln (1 + n(w,c)) - ln (V + n(c))
//! layer(page)  = the class with the largest Σ tf(w) ln P(w|c), the lower of equals
//! ```
//! Classes have equal priors, because a crawl meets them in other proportions than the training pages. The paper
//! rejects other pages by a threshold; here they are a class, [`UNREACHABLE`].

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};
use thiserror::Error;

use crate::read::ParsedDocument;
use crate::text;

pub const LAST_LAYER: u8 = 4;
/// The class of pages that are farther away or have no known path to the topic.
pub const UNREACHABLE: u8 = LAST_LAYER + 1;

/// Layers and [`UNREACHABLE`].
const CLASSES: usize = UNREACHABLE as usize + 1;
/// Version of the file's format.
const FORMAT: u32 = 1;
/// Words per page that enter the vocabulary, as in the paper.
const WORDS_PER_PAGE: usize = 40;
/// Maximum words of the vocabulary.
const VOCABULARY: usize = 5000;

/// Why layers cannot be learned or read.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ContextGraphError {
    /// Not a file of layers.
    #[error("not a file of layers: {0}; create one with `suidao topic layers`")]
    Shape(String),
    #[error(
        "format {0} is not supported (this suidao reads up to {FORMAT}); use a newer suidao, or rebuild it with `suidao topic layers`"
    )]
    Newer(u32),
    /// All training pages are of one class.
    #[error("training needs both relevant and other pages; give a web that contains both")]
    OneClass,
    /// No word occurs on two pages.
    #[error("no word occurs on two pages; give a larger web")]
    NoWords,
}

#[derive(Clone, Debug)]
pub struct ContextGraphModel {
    file: File,
    /// For each word, ln P(w|c) by class.
    words: FxHashMap<String, [f32; CLASSES]>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: u32,
    /// Training pages by class; a class without pages is never predicted.
    pages: [u32; CLASSES],
    /// ln P(w|c).
    words: BTreeMap<String, [f32; CLASSES]>,
}

impl ContextGraphModel {
    /// Learns from pages with their classes, 0 to [`UNREACHABLE`].
    ///
    /// # Errors
    /// [`ContextGraphError`] if the pages do not suffice.
    pub fn learn(documents: &[(u8, ParsedDocument)]) -> Result<Self, ContextGraphError> {
        let mut pages = [0; CLASSES];
        let mut bags = Vec::with_capacity(documents.len());
        let mut df: FxHashMap<String, u32> = FxHashMap::default();
        for (class, document) in documents {
            let class = usize::from((*class).min(UNREACHABLE));
            let bag = bag(document);
            pages[class] += u32::from(!bag.is_empty());
            bag.keys().for_each(|word| *df.entry(word.clone()).or_default() += 1);
            bags.push((class, bag));
        }
        if pages[0] == 0 || pages[1..].iter().all(|&count| count == 0) {
            return Err(ContextGraphError::OneClass);
        }
        let vocabulary = vocabulary(&bags, &df);
        if vocabulary.is_empty() {
            return Err(ContextGraphError::NoWords);
        }
        let mut counts: BTreeMap<String, [u32; CLASSES]> =
            vocabulary.into_iter().map(|word| (word.to_owned(), [0; CLASSES])).collect();
        let mut totals = [0_u32; CLASSES];
        for (class, bag) in &bags {
            for (word, count) in bag {
                if let Some(counts) = counts.get_mut(word) {
                    counts[*class] += count;
                    totals[*class] += count;
                }
            }
        }
        let size = counts.len();
        let logs = |counts: [u32; CLASSES]| {
            std::array::from_fn(|class| {
                let p = (1.0 + f64::from(counts[class])) / (size as f64 + f64::from(totals[class]));
                ((p.ln() * 1e4).round() / 1e4) as f32
            })
        };
        let words = counts.into_iter().map(|(word, counts)| (word, logs(counts))).collect();
        Ok(Self::of(File { format: FORMAT, pages, words }))
    }

    /// Parses the output of [`ContextGraphModel::to_toml`].
    pub fn parse(toml: &str) -> Result<Self, ContextGraphError> {
        let file: File = toml::from_str(toml).map_err(|error| {
            let (line, message) = crate::toml_error::line_and_message(toml, &error);
            ContextGraphError::Shape(format!("line {line}: {message}"))
        })?;
        match file.format {
            FORMAT => Ok(Self::of(file)),
            newer => Err(ContextGraphError::Newer(newer)),
        }
    }

    /// The file: equal layers have equal texts.
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.file).expect("numbers, and words as keys, are TOML")
    }

    /// SHA-1 of [`ContextGraphModel::to_toml`], in hexadecimal.
    pub fn digest(&self) -> String {
        data_encoding::HEXLOWER.encode(&Sha1::digest(self.to_toml().as_bytes()))
    }

    /// Training pages by class: layers 0 to [`LAST_LAYER`], then others.
    pub fn pages(&self) -> &[u32] {
        &self.file.pages
    }

    /// Size of the vocabulary.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// The layer of a page, 0 to [`LAST_LAYER`], by title and main content; `None` for others and for pages without a
    /// known word.
    pub fn of_page(&self, document: &ParsedDocument) -> Option<u8> {
        let mut sums = [0.0_f64; CLASSES];
        let mut known = false;
        each_word(document, |word| {
            if let Some(logs) = self.words.get(word) {
                known = true;
                sums.iter_mut().zip(logs).for_each(|(sum, &log)| *sum += f64::from(log));
            }
        });
        let learnt = (0..UNREACHABLE + 1).filter(|&class| self.file.pages[usize::from(class)] > 0);
        let best =
            learnt.reduce(|best, class| if sums[usize::from(class)] > sums[usize::from(best)] { class } else { best });
        best.filter(|&best| known && best != UNREACHABLE)
    }

    fn of(file: File) -> Self {
        Self { words: file.words.iter().map(|(word, logs)| (word.clone(), *logs)).collect(), file }
    }
}

/// The words selected by the most pages, at most [`VOCABULARY`].
fn vocabulary<'a>(bags: &'a [(usize, BTreeMap<String, u32>)], df: &FxHashMap<String, u32>) -> Vec<&'a str> {
    let mut spoken: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, bag) in bags {
        let weigh = |(word, &count): (&'a String, &u32)| {
            let df = f64::from(df[word]);
            (f64::from(count) * (bags.len() as f64 / df).ln(), df, word.as_str())
        };
        let mut words: Vec<_> = bag.iter().map(weigh).filter(|&(weight, df, _)| df > 1.0 && weight > 0.0).collect();
        words.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.2.cmp(right.2)));
        words.iter().take(WORDS_PER_PAGE).for_each(|&(_, _, word)| *spoken.entry(word).or_default() += 1);
    }
    let mut words: Vec<(&str, u32)> = spoken.into_iter().collect();
    words.sort_by_key(|&(_, pages)| std::cmp::Reverse(pages));
    words.into_iter().take(VOCABULARY).map(|(word, _)| word).collect()
}

/// Words of title and main content with their counts.
fn bag(document: &ParsedDocument) -> BTreeMap<String, u32> {
    let mut bag = BTreeMap::new();
    each_word(document, |word| match bag.get_mut(word) {
        Some(count) => *count += 1,
        None => {
            bag.insert(word.to_owned(), 1);
        }
    });
    bag
}

fn each_word(document: &ParsedDocument, mut each: impl FnMut(&str)) {
    let mut folded = String::new();
    for piece in document.content() {
        folded.clear();
        text::segment::fold_into(document.piece(piece), &mut folded);
        text::cut(&folded, |range| {
            let word = &folded[range];
            if text::is_term(word) {
                each(word);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::Sample;

    fn document(text: &str) -> ParsedDocument {
        Sample::from_text("", "", text).document
    }

    fn layers() -> ContextGraphModel {
        let pages = [
            (0, "足球 比赛 进球 联赛"),
            (0, "足球 比赛 进球 守门员"),
            (1, "目录 足球 新闻 列表"),
            (1, "目录 体育 新闻 列表"),
            (UNREACHABLE, "菜谱 豆腐 酱油"),
            (UNREACHABLE, "菜谱 茄子 酱油"),
        ];
        ContextGraphModel::learn(&pages.map(|(class, text)| (class, document(text)))).unwrap()
    }

    #[test]
    fn a_page_is_of_the_layer_whose_words_it_uses() {
        let layers = layers();
        let layer = |text| layers.of_page(&document(text));
        assert_eq!(layer("联赛 的 足球 比赛 里 的 进球"), Some(0));
        assert_eq!(layer("新闻列表和目录"), Some(1));
        assert_eq!(layer("酱油豆腐的菜谱"), None);
        assert_eq!(layer("光合作用"), None, "no word is known");
        assert_eq!(layer(""), None);
    }

    #[test]
    fn the_file_is_read_as_it_was_written() {
        let layers = layers();
        let text = layers.to_toml();
        let again = ContextGraphModel::parse(&text).unwrap();
        assert_eq!((again.to_toml(), again.digest()), (text, layers.digest()));
        assert_eq!(again.pages(), [2, 2, 0, 0, 0, 2]);
    }

    #[test]
    fn what_does_not_fit_is_reported() {
        let message = |text: &str| ContextGraphModel::parse(text).unwrap_err().to_string();
        assert!(message("format = 1\npages = 3").contains("line 2"), "{}", message("format = 1\npages = 3"));
        assert!(message(&layers().to_toml().replace("format = 1", "format = 9")).contains("format 9"));
        let one = [(0, document("足球 比赛")), (0, document("足球"))];
        assert_eq!(ContextGraphModel::learn(&one).unwrap_err(), ContextGraphError::OneClass);
        let none = [(0, document("足球")), (1, document("豆腐"))];
        assert_eq!(ContextGraphModel::learn(&none).unwrap_err(), ContextGraphError::NoWords);
    }
}
