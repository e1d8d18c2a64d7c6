//! The lexicon: all that is known of a topic, as one TOML file that a person can read and edit. It holds everything
//! scoring needs, so that a page scores the same wherever and whenever it is scored. Apart from [`super::Topic`],
//! which is the lexicon made ready for scoring.

use sha1::{Digest as _, Sha1};

/// How a lexicon was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Made {
    /// In words.
    pub method: String,
    /// Day, as handed in by the caller.
    pub date: String,
    /// Sample pages learnt from.
    pub pages: u32,
    /// Hosts they came from.
    pub hosts: u32,
    /// Where they came from: files, folders, URLs.
    pub sources: Vec<String>,
}

/// A relevance from which on something is on topic.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// In `(0, 1]`.
    pub value: f64,
    /// How it was chosen, in words.
    pub chosen: String,
    /// Precision expected there, where it was measured.
    pub precision: Option<f64>,
    /// Recall expected there, where it was measured.
    pub recall: Option<f64>,
    /// Share of the background's listing pages that reach it, where there were some: they are no documents, and count
    /// neither for precision nor for recall.
    pub listings: Option<f64>,
}

impl Threshold {
    /// A threshold of which neither precision nor recall is known.
    #[must_use]
    pub fn unmeasured(value: f64, chosen: &str) -> Self {
        Self { value, chosen: chosen.to_owned(), precision: None, recall: None, listings: None }
    }
}

/// Weights of eq. (3), w1 + w2 + w3 = 1, and of what stands beside eq. (1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// w1, of R_Anchor.
    pub anchor: f64,
    /// w2, of R_Context.
    pub context: f64,
    /// w3, of R_Url.
    pub url: f64,
    /// b: what nearness to the near-topic terms is worth beside nearness to the topic's.
    pub near: f64,
    /// What Sim of the page's own tags adds to that of its text; 0 is eq. (1) as the paper has it.
    pub tags: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { anchor: 0.5, context: 0.3, url: 0.2, near: 0.5, tags: 1.0 }
    }
}

/// What eq. (2) takes for tf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermFrequency {
    /// √occurrences: a word said again says less each time, and the few words that fill a long page (its code, its
    /// subject's name) hide the others less.
    #[default]
    Root,
    /// Occurrences, as in the paper.
    Raw,
    /// 1 + ln(occurrences).
    Log,
}

impl TermFrequency {
    pub(super) const NAMES: [(&'static str, Self); 3] = [("root", Self::Root), ("raw", Self::Raw), ("log", Self::Log)];

    /// Weight of `count` ≥ 1 occurrences.
    #[must_use]
    pub fn weigh(self, count: u32) -> f64 {
        match self {
            Self::Root => f64::from(count).sqrt(),
            Self::Raw => f64::from(count),
            Self::Log => 1.0 + f64::from(count).ln(),
        }
    }
}

/// Document frequencies in a background of pages of all topics.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentFrequencies {
    /// N, the pages counted.
    pub pages: u32,
    /// df taken for words that are not listed.
    pub other: f64,
    /// df of the lexicon's terms and of the most frequent words, folded.
    pub df: Vec<(String, u32)>,
}

impl DocumentFrequencies {
    /// IDF of a word that occurs in `df` pages: ln(1 + N / (1 + df)), eq. (2) smoothed.
    #[must_use]
    pub fn idf(&self, df: f64) -> f64 {
        (1.0 + f64::from(self.pages) / (1.0 + df)).ln()
    }
}

/// Judging by a linear machine ([`super::linear`]) instead of eq. (1): `terms` have signed weights then.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// What a term counts in the page's own tags besides its weight in `terms`, highest first.
    pub tags: Vec<(String, f64)>,
    /// What a word counts in an anchor besides its weights in `terms` and `tags`, highest first; may be empty.
    pub anchors: Vec<(String, f64)>,
    /// What a token counts in a URL besides its weight in `terms`, highest first; may be empty.
    pub urls: Vec<(String, f64)>,
    /// The score from which on a page is on topic; its relevance is [`BORDER`].
    pub border: f64,
    /// The score of a middling page of the background, below `border`; its relevance is 0.
    pub middle: f64,
    /// What a person struck out of what was learnt.
    pub struck: Struck,
}

/// Terms that were learnt and that a person struck out: they stay out when the lexicon is learnt again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Struck {
    /// Of the terms.
    pub terms: std::collections::BTreeSet<String>,
    /// Of the tags.
    pub tags: std::collections::BTreeSet<String>,
}

/// So many of a linear machine's terms stand for the topic where a word alone is asked for.
const TELLING: usize = 100;

/// Relevance of a page whose score lies on the border.
pub const BORDER: f64 = 0.3;

impl Linear {
    /// The relevance of a score: 0 for a middling page of the background, [`BORDER`] on the border, at most 1.
    #[must_use]
    pub fn relevance(&self, score: f64) -> f64 {
        (BORDER * (score - self.middle) / (self.border - self.middle)).clamp(0.0, 1.0)
    }

    /// The relevance of a link's anchor, context or URL by its score: on the scale of [`Linear::relevance`], but 0 for a score
    /// of 0, as most links say nothing.
    #[must_use]
    pub fn link_relevance(&self, score: f64) -> f64 {
        (BORDER * score / (self.border - self.middle)).clamp(0.0, 1.0)
    }
}

/// What is known of a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct Lexicon {
    /// Name of the topic.
    pub name: String,
    /// How it was made.
    pub made: Made,
    /// From which relevance on a page is on topic.
    pub page: Threshold,
    /// From which relevance on a link is promising.
    pub link: Threshold,
    /// Weights of eq. (3), and of the tags.
    pub weights: Weights,
    /// tf of eq. (2).
    pub tf: TermFrequency,
    /// Terms of the topic and their weights, > 0, highest first.
    pub terms: Vec<(String, f64)>,
    /// How pages are judged, if not by eq. (1).
    pub linear: Option<Linear>,
    /// Terms near the topic, likewise; may be empty.
    pub near: Vec<(String, f64)>,
    /// Tokens of URLs that lead to the topic.
    pub url: Vec<String>,
    /// Document frequencies for IDF.
    pub background: DocumentFrequencies,
}

impl Lexicon {
    /// A lexicon of these terms with default weights, thresholds and no background: every word has the same IDF.
    #[must_use]
    pub fn from_terms(name: &str, terms: &[(&str, f64)]) -> Self {
        let mut lexicon = Self {
            name: name.to_owned(),
            made: Made { method: "terms given by hand".to_owned(), ..Made::default() },
            page: Threshold::unmeasured(0.09, "the default"),
            link: Threshold::unmeasured(0.15, "the default"),
            weights: Weights::default(),
            tf: TermFrequency::default(),
            terms: terms.iter().map(|&(term, weight)| (term.to_owned(), weight)).collect(),
            linear: None,
            near: Vec::new(),
            url: Vec::new(),
            background: DocumentFrequencies { pages: 1, other: 0.0, df: Vec::new() },
        };
        lexicon.order();
        lexicon
    }

    /// The terms that speak for the topic, the heaviest first: what is looked for in anchors and shown to people.
    #[must_use]
    pub fn telling_terms(&self) -> &[(String, f64)] {
        let positive = self.terms.partition_point(|(_, weight)| *weight > 0.0);
        let most = if self.linear.is_some() { TELLING } else { usize::MAX };
        &self.terms[..positive.min(most)]
    }

    /// The term with this number: those of `terms`, then those of the linear machine's tags.
    pub(super) fn term(&self, number: usize) -> &str {
        let tags = self.linear.as_ref().map_or(&[][..], |linear| &linear.tags);
        self.terms.iter().chain(tags).nth(number).map_or("", |(term, _)| term)
    }

    /// SHA-1 of [`Lexicon::to_toml`], in hexadecimal: which lexicon a crawl was made with.
    #[must_use]
    pub fn digest(&self) -> String {
        data_encoding::HEXLOWER.encode(&Sha1::digest(self.to_toml().as_bytes()))
    }

    /// Brings everything into the canonical order and precision of the file.
    pub(super) fn order(&mut self) {
        for (_, weight) in self.terms.iter_mut().chain(&mut self.near) {
            *weight = rounded(*weight);
        }
        for threshold in [&mut self.page, &mut self.link] {
            threshold.value = rounded(threshold.value);
            threshold.precision = threshold.precision.map(rounded);
            threshold.recall = threshold.recall.map(rounded);
            threshold.listings = threshold.listings.map(rounded);
        }
        if let Some(linear) = &mut self.linear {
            for (_, weight) in linear.tags.iter_mut().chain(&mut linear.anchors).chain(&mut linear.urls) {
                *weight = rounded(*weight);
            }
            (linear.border, linear.middle) = (rounded(linear.border), rounded(linear.middle));
        }
        self.background.other = rounded(self.background.other);
        let linear =
            self.linear.iter_mut().flat_map(|linear| [&mut linear.tags, &mut linear.anchors, &mut linear.urls]);
        for terms in [&mut self.terms, &mut self.near].into_iter().chain(linear) {
            terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            // A term given twice would be a key given twice in the file, which is no TOML: the heavier stays.
            let mut seen = std::collections::BTreeSet::new();
            terms.retain(|(term, _)| seen.insert(term.clone()));
        }
        self.background.df.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        self.background.df.dedup_by(|a, b| a.0 == b.0);
    }
}

/// Four decimals: what a person reads, and what is compared.
fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
