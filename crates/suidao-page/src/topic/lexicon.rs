//! The lexicon: the description of a topic in one TOML file for users to read and edit. It contains everything that
//! scoring needs, so that scores are reproducible.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ordered_float::OrderedFloat;
use serde::Deserialize;
use sha1::{Digest as _, Sha1};
use strum::IntoStaticStr;

use super::{SecondOpinion, file};

/// Origin of a lexicon.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Provenance {
    pub method: String,
    /// Passed in by the caller.
    pub date: String,
    /// Number of sample pages.
    pub pages: u32,
    /// Number of their hosts.
    pub hosts: u32,
    /// Files, folders or URLs of the samples.
    pub sources: Vec<String>,
}

impl Default for Provenance {
    fn default() -> Self {
        let method = "terms given by hand".to_owned();
        Self { method, date: String::new(), pages: 0, hosts: 0, sources: Vec::new() }
    }
}

/// A minimum relevance.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// In `(0, 1]`.
    #[serde(deserialize_with = "file::relevance")]
    pub value: f64,
    /// How it was chosen, in words.
    #[serde(default = "by_hand")]
    pub chosen: String,
    /// Expected precision, if measured.
    #[serde(default, deserialize_with = "file::expected")]
    pub precision: Option<f64>,
    /// Expected recall, if measured.
    #[serde(default, deserialize_with = "file::expected")]
    pub recall: Option<f64>,
}

fn by_hand() -> String {
    "by hand".to_owned()
}

impl Threshold {
    pub fn unmeasured(value: f64, chosen: &str) -> Self {
        Self { value, chosen: chosen.to_owned(), precision: None, recall: None }
    }
}

/// Weights of eq. (3), w1 + w2 + w3 = 1, and of additions to eq. (1).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// w1, of R_Anchor.
    #[serde(deserialize_with = "file::share")]
    pub anchor: f64,
    /// w2, of R_Context.
    #[serde(deserialize_with = "file::share")]
    pub context: f64,
    /// w3, of R_Url.
    #[serde(deserialize_with = "file::share")]
    pub url: f64,
    /// b: weight of similarity with the near terms, relative to the topic's.
    #[serde(deserialize_with = "file::share")]
    pub near: f64,
    /// Weight of Sim of the page's own tags, added to that of its text; 0 is eq. (1) of the paper.
    #[serde(deserialize_with = "file::share")]
    pub tags: f64,
    /// tf of eq. (2).
    pub tf: TermFrequency,
    /// Whether an English word is a term also in its other forms, plural or past.
    pub stem: bool,
}

impl Default for Weights {
    fn default() -> Self {
        Self { anchor: 0.5, context: 0.3, url: 0.2, near: 0.5, tags: 1.0, tf: TermFrequency::Root, stem: false }
    }
}

/// The tf of eq. (2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum TermFrequency {
    /// Square root of the count, so that a word repeated on a long page does not outweigh the others.
    #[default]
    Root,
    /// Count, as in the paper.
    Raw,
    /// 1 + ln(count).
    Log,
}

impl TermFrequency {
    pub fn weigh(self, count: u32) -> f64 {
        match self {
            Self::Root => f64::from(count).sqrt(),
            Self::Raw => f64::from(count),
            Self::Log => 1.0 + f64::from(count).ln(),
        }
    }
}

/// Document frequencies of a background of all topics.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentFrequencies {
    /// N, the number of pages.
    pub pages: u32,
    /// df of words that are not listed.
    pub other: f64,
    /// df of the lexicon's terms and of the most frequent words, folded.
    pub df: Vec<(String, u32)>,
}

impl DocumentFrequencies {
    /// IDF of a word on `df` pages: ln(1 + N / (1 + df)), eq. (2) smoothed.
    pub fn idf(&self, df: f64) -> f64 {
        (1.0 + f64::from(self.pages) / (1.0 + df)).ln()
    }

    pub(super) fn order(&mut self) {
        self.other = rounded(self.other);
        self.df.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        self.df.dedup_by(|a, b| a.0 == b.0);
    }
}

/// Relevance at the boundary of a linear judge that was learnt from samples.
pub const BOUNDARY_RELEVANCE: f64 = 0.3;

/// A linear judge, in place of eq. (1): the weights of [`Lexicon::terms`] are signed.
///
/// S = terms · text + (terms + tags) · tags, where text and tags are root tf × IDF, each of length 1.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    /// Least S of an on-topic page.
    pub boundary: f64,
    /// Relevance where S is `boundary`, in `(0, 1]`.
    pub boundary_relevance: f64,
    /// Median S of the background, below `boundary`; its relevance is 0.
    pub median: f64,
    /// Additional weights in the page's own tags and in anchors.
    pub tags: Vec<(String, f64)>,
    /// Terms that the user deleted.
    pub removed: RemovedTerms,
}

/// Terms that were learnt and then deleted by the user. They are not learnt again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovedTerms {
    /// From [`Lexicon::terms`].
    pub terms: BTreeSet<String>,
    /// From [`LinearModel::tags`].
    pub tags: BTreeSet<String>,
}

impl LinearModel {
    /// Relevance of a page with this S, in `[0, 1]`.
    pub fn relevance(&self, score: f64) -> f64 {
        (self.boundary_relevance * (score - self.median) / (self.boundary - self.median)).clamp(0.0, 1.0)
    }

    /// Distance of the boundary from the median of the background.
    pub fn distance(&self) -> f64 {
        self.boundary - self.median
    }

    /// The S of a page with this relevance, if that is above 0 and below 1.
    pub fn score_at(&self, relevance: f64) -> f64 {
        self.median + relevance * (self.boundary - self.median) / self.boundary_relevance
    }

    /// Relevance of an anchor, context or URL with this S, in `[0, 1]`, on the same scale. 0 for a score of 0, because
    /// most links contain no term.
    pub fn link_relevance(&self, score: f64) -> f64 {
        (self.boundary_relevance * score / (self.boundary - self.median)).clamp(0.0, 1.0)
    }
}

/// Why a lexicon has its URL tokens and near terms, in words; nothing for those that a person added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkEvidence {
    pub url: BTreeMap<String, String>,
    pub near: BTreeMap<String, String>,
    pub removed: RemovedEvidence,
}

/// URL tokens and near terms that were proposed and then deleted by the user. They are not proposed again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovedEvidence {
    pub url: BTreeSet<String>,
    pub near: BTreeSet<String>,
}

/// Maximum number of [`Lexicon::main_terms`] with a linear judge.
const MAIN_TERMS: usize = 100;

#[derive(Clone, Debug, PartialEq)]
pub struct Lexicon {
    pub name: String,
    pub provenance: Provenance,
    /// Minimum relevance of an on-topic page.
    pub page: Threshold,
    /// Minimum relevance of a promising link.
    pub link: Threshold,
    /// Weights of eq. (3) and of the tags, and the tf of eq. (2).
    pub weights: Weights,
    /// Terms of the topic with weights > 0, highest first; with a linear judge then those with weights < 0, lowest
    /// first.
    pub terms: Vec<(String, f64)>,
    /// The linear judge; `None` for eq. (1).
    pub linear: Option<LinearModel>,
    /// The second opinion near the boundary of the linear judge.
    pub judge: Option<SecondOpinion>,
    /// Terms of upstream pages, likewise; may be empty.
    pub near: Vec<(String, f64)>,
    /// Tokens of URLs that lead to the topic, in alphabetical order.
    pub url: Vec<String>,
    pub evidence: LinkEvidence,
    /// Document frequencies for IDF.
    pub background: DocumentFrequencies,
}

impl Lexicon {
    /// Whether it has terms that somebody chose, and nothing learnt from pages.
    pub fn is_of_keywords(&self) -> bool {
        self.linear.is_none() && self.provenance.pages == 0
    }

    /// A lexicon of these terms with default weights and thresholds and without background: every word has the same
    /// IDF.
    pub fn from_terms(name: &str, terms: &[(&str, f64)]) -> Self {
        let mut lexicon = Self {
            name: name.to_owned(),
            provenance: Provenance::default(),
            page: Threshold::unmeasured(0.09, "the default"),
            link: Threshold::unmeasured(0.15, "the default"),
            weights: Weights::default(),
            terms: terms.iter().map(|&(term, weight)| (term.to_owned(), weight)).collect(),
            linear: None,
            judge: None,
            near: Vec::new(),
            url: Vec::new(),
            evidence: LinkEvidence::default(),
            background: DocumentFrequencies { pages: 1, other: 0.0, df: Vec::new() },
        };
        lexicon.order();
        lexicon
    }

    /// The terms for the topic, the highest weight first: all of eq. (1), the heaviest of a linear judge.
    pub fn main_terms(&self) -> &[(String, f64)] {
        let positive = self.terms.iter().take_while(|(_, weight)| *weight > 0.0).count();
        let most = if self.linear.is_some() { MAIN_TERMS } else { positive };
        &self.terms[..positive.min(most)]
    }

    /// Sets the weights of terms, or removes them (`None`). What is removed is not learnt again.
    pub fn change_terms(&mut self, changes: &[(String, Option<f64>)]) {
        for (term, weight) in changes {
            self.terms.retain(|(known, _)| known != term);
            if let Some(linear) = &mut self.linear {
                match weight {
                    Some(_) => drop(linear.removed.terms.remove(term)),
                    None => {
                        linear.tags.retain(|(known, _)| known != term);
                        linear.removed.terms.insert(term.clone());
                    }
                }
            }
            self.terms.extend(weight.map(|weight| (term.clone(), weight)));
        }
        self.order();
    }

    /// The linear judge; that of eq. (1) with its tags, exactly, if there is none; `boundary` is 1.
    pub(super) fn into_linear(mut self) -> (Self, LinearModel) {
        if let Some(linear) = self.linear.take() {
            return (self, linear);
        }
        let length = self.terms.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt() * self.page.value;
        self.terms.iter_mut().for_each(|(_, weight)| *weight /= length);
        let extra = self.weights.tags - 1.0;
        let mut tags: Vec<(String, f64)> =
            self.terms.iter().map(|(term, weight)| (term.clone(), extra * weight)).collect();
        tags.retain(|(_, weight)| weight.abs() > f64::EPSILON);
        let linear = LinearModel {
            boundary: 1.0,
            boundary_relevance: self.page.value,
            median: 0.0,
            tags,
            removed: RemovedTerms::default(),
        };
        (self, linear)
    }

    /// The term with this number: those of `terms`, then those of the linear judge's tags.
    pub(super) fn term_name(&self, number: usize) -> &str {
        let tags = self.linear.as_ref().map_or(&[][..], |linear| &linear.tags);
        self.terms.iter().chain(tags).nth(number).map_or("", |(term, _)| term)
    }

    /// SHA-1 of [`Lexicon::to_toml`], in hexadecimal; identifies a crawl's lexicon.
    pub fn digest(&self) -> String {
        data_encoding::HEXLOWER.encode(&Sha1::digest(self.to_toml().as_bytes()))
    }

    /// Brings all fields into the canonical order and precision.
    pub(super) fn order(&mut self) {
        for threshold in [&mut self.page, &mut self.link] {
            threshold.value = rounded(threshold.value);
            threshold.precision = threshold.precision.map(rounded);
            threshold.recall = threshold.recall.map(rounded);
        }
        self.background.order();
        let mut lists = vec![&mut self.terms, &mut self.near];
        if let Some(linear) = &mut self.linear {
            for value in [&mut linear.boundary, &mut linear.boundary_relevance, &mut linear.median] {
                *value = rounded(*value);
            }
            lists.push(&mut linear.tags);
        }
        if let Some(judge) = &mut self.judge {
            judge.boundary = rounded(judge.boundary);
        }
        self.url.sort_unstable();
        self.url.dedup();
        for terms in lists {
            terms.iter_mut().for_each(|(_, weight)| *weight = rounded(*weight));
            let key = |&(_, weight): &(String, f64)| (weight < 0.0, Reverse(OrderedFloat(weight.abs())));
            terms.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.0.cmp(&b.0)));
            // Of a duplicate term the first remains, because a duplicate key is invalid TOML.
            let mut seen = BTreeSet::new();
            terms.retain(|(term, _)| seen.insert(term.clone()));
        }
        self.evidence.url.retain(|token, text| !text.is_empty() && self.url.contains(token));
        self.evidence.near.retain(|term, text| !text.is_empty() && self.near.iter().any(|(near, _)| near == term));
    }
}

/// Four decimals, for readers and comparisons.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
