//! Reads lexicon files. Errors name the line. A file needs `name` and `[terms]` only.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use crate::toml_error::line_and_message;

use super::opinion::JudgeSection;
use super::{
    BOUNDARY_RELEVANCE, DocumentFrequencies, Lexicon, LinearModel, LinkEvidence, Provenance, RemovedEvidence,
    RemovedTerms, Threshold, Weights, background,
};

/// Version of the format to read and write.
pub const FORMAT: i64 = 1;

/// Maximum characters of a term. A phrase is matched word by word at every possible start, so very long ones would take
/// quadratic time.
const LONGEST_TERM: usize = 100;

/// Maximum terms of a section. The automaton that finds them takes quadratic time for some sets of terms: 0.2 s for
/// 10,000 terms, over two minutes for a million.
const MAX_TERMS: usize = 20_000;

/// Absolute values of weights.
const WEIGHTS: RangeInclusive<f64> = 1e-4..=1e6;

/// Why a lexicon cannot be read.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum LexiconError {
    /// Invalid TOML or a missing or wrong field.
    #[error("line {line}: {message}; correct it, or rebuild the lexicon with suidao topic build")]
    Shape {
        /// From 1.
        line: usize,
        message: String,
    },
    #[error(
        "format {found} is not supported (this suidao reads format {FORMAT}); rebuild the lexicon with suidao topic build"
    )]
    Format {
        /// The file's format.
        found: i64,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "format")]
    _format: IgnoredAny,
    name: String,
    #[serde(default)]
    provenance: Provenance,
    #[serde(default)]
    threshold: Thresholds,
    #[serde(default, deserialize_with = "weights")]
    weights: Weights,
    terms: SignedTerms,
    linear: Option<LinearSection>,
    judge: Option<JudgeSection>,
    #[serde(default)]
    near: NearTerms,
    #[serde(default)]
    url: Url,
    #[serde(default)]
    proposed: Proposed,
    #[serde(default)]
    background: BackgroundSection,
}

#[derive(Deserialize)]
struct Head {
    #[serde(default = "format")]
    format: i64,
}

fn format() -> i64 {
    FORMAT
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Thresholds {
    page: Option<Threshold>,
    link: Option<Threshold>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Url {
    tokens: UrlTokens,
}

/// All proposed URL tokens and near terms, in words separated by spaces, with _ for a space in a term. Those that are
/// missing elsewhere were deleted by the user.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Proposed {
    near: String,
    url: String,
}

/// The words of a list of learnt terms that are not among those that the file has.
fn missing<'a>(learnt: &str, kept: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let kept: BTreeSet<&str> = kept.collect();
    let learnt = learnt.split_whitespace().map(|term| term.replace('_', " "));
    learnt.filter(|term| !kept.contains(term.as_str())).collect()
}

fn names(terms: &[(String, f64)]) -> impl Iterator<Item = &str> {
    terms.iter().map(|(term, _)| term.as_str())
}

/// A list of tokens, or a table of tokens and their evidence.
#[derive(Deserialize)]
#[serde(untagged, expecting = "url.tokens must be a list of tokens, or a table with lines such as tiyu = \"why\"")]
enum UrlTokens {
    List(Vec<String>),
    Table(BTreeMap<String, String>),
}

impl Default for UrlTokens {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

/// A weight, with or without evidence.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a near term needs a weight, such as \"大学\" = 0.5, or { weight = 0.5, evidence = \"why\" }"
)]
enum NearTerm {
    Weight(f64),
    Known { weight: f64, evidence: String },
}

#[derive(Default, Deserialize)]
#[serde(try_from = "BTreeMap<String, NearTerm>")]
struct NearTerms {
    terms: Vec<(String, f64)>,
    evidence: BTreeMap<String, String>,
}

impl TryFrom<BTreeMap<String, NearTerm>> for NearTerms {
    type Error = String;

    fn try_from(written: BTreeMap<String, NearTerm>) -> Result<Self, String> {
        let (mut weights, mut evidence) = (BTreeMap::new(), BTreeMap::new());
        for (term, near) in written {
            let weight = match near {
                NearTerm::Weight(weight) => weight,
                NearTerm::Known { weight, evidence: text } => {
                    evidence.insert(term.clone(), text);
                    weight
                }
            };
            weights.insert(term, weight);
        }
        Ok(Self { terms: Terms::try_from(weights)?.0, evidence })
    }
}

/// Terms with weights above 0.
struct Terms(Vec<(String, f64)>);

/// Terms with weights other than 0.
#[derive(Default, Deserialize)]
#[serde(try_from = "BTreeMap<String, f64>")]
struct SignedTerms(Vec<(String, f64)>);

impl TryFrom<BTreeMap<String, f64>> for SignedTerms {
    type Error = String;

    fn try_from(terms: BTreeMap<String, f64>) -> Result<Self, String> {
        if terms.len() > MAX_TERMS {
            return Err(format!("{} terms are too many; delete all but the heaviest {MAX_TERMS}", terms.len()));
        }
        for (term, weight) in &terms {
            if let Some((cut, _)) = term.char_indices().nth(LONGEST_TERM) {
                let start: String = term[..cut].chars().take(40).collect();
                return Err(format!("the term {start}... has more than {LONGEST_TERM} characters; split it"));
            }
            if !WEIGHTS.contains(&weight.abs()) {
                return Err(format!("the weight of {term:?} must be a number other than 0, not {weight}"));
            }
        }
        Ok(Self(terms.into_iter().collect()))
    }
}

impl TryFrom<BTreeMap<String, f64>> for Terms {
    type Error = String;

    fn try_from(terms: BTreeMap<String, f64>) -> Result<Self, String> {
        let SignedTerms(terms) = SignedTerms::try_from(terms)?;
        all_positive(&terms)?;
        Ok(Self(terms))
    }
}

fn all_positive(terms: &[(String, f64)]) -> Result<(), String> {
    match terms.iter().find(|(_, weight)| *weight < 0.0) {
        Some((term, weight)) => Err(format!("the weight of {term:?} must be above 0, not {weight}")),
        None => Ok(()),
    }
}

/// `[linear]` as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinearSection {
    boundary: f64,
    #[serde(default = "boundary_relevance", deserialize_with = "relevance")]
    boundary_relevance: f64,
    median: f64,
    #[serde(default)]
    tags: SignedTerms,
    #[serde(default)]
    learnt: LearntTerms,
}

fn boundary_relevance() -> f64 {
    BOUNDARY_RELEVANCE
}

/// All learnt terms in words separated by spaces, with _ for a space in a term.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LearntTerms {
    terms: String,
    tags: String,
}

impl LinearSection {
    /// The linear judge of a lexicon with these terms. Learnt terms that are missing were deleted by the user.
    fn model(self, terms: &[(String, f64)]) -> Result<LinearModel, String> {
        let Self { boundary, boundary_relevance, median, tags: SignedTerms(tags), learnt } = self;
        if !(boundary.is_finite() && median.is_finite() && median < boundary) {
            return Err(format!("linear.median must be below linear.boundary, but {median} is not below {boundary}"));
        }
        let removed =
            RemovedTerms { terms: missing(&learnt.terms, names(terms)), tags: missing(&learnt.tags, names(&tags)) };
        Ok(LinearModel { boundary, boundary_relevance, median, tags, removed })
    }
}

/// `[background]` as written.
#[derive(Default, Deserialize)]
#[serde(try_from = "WrittenBackground")]
enum BackgroundSection {
    #[default]
    BuiltIn,
    Counts(DocumentFrequencies),
}

/// The built-in background by its digest, or words and numbers in one text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBackground {
    built_in: Option<String>,
    pages: Option<u32>,
    other: Option<f64>,
    df: Option<String>,
}

impl TryFrom<WrittenBackground> for BackgroundSection {
    type Error = String;

    fn try_from(written: WrittenBackground) -> Result<Self, String> {
        let (pages, other, df) = match written {
            WrittenBackground { built_in: Some(name), pages: None, other: None, df: None } => {
                let own = background::built_in_name();
                let wrong = || format!("background.built_in is {name:?}, but this suidao has {own:?}");
                return if name == own { Ok(Self::BuiltIn) } else { Err(wrong()) };
            }
            WrittenBackground { built_in: None, pages: Some(pages), other: Some(other), df: Some(df) } => {
                (pages, other, df)
            }
            _ => return Err("[background] must have either built_in alone, or pages, other and df".to_owned()),
        };
        if pages == 0 {
            return Err("background.pages must be 1 or more, not 0".to_owned());
        }
        if !(0.0..=f64::from(pages)).contains(&other) {
            return Err(format!("background.other must be from 0 to background.pages, not {other}"));
        }
        let parse = |entry: &str| {
            let (word, count) = entry.rsplit_once('=')?;
            let count = count.parse().ok().filter(|&count: &u32| count <= pages)?;
            Some((word.replace('_', " "), count))
        };
        let wrong = |entry: &str| {
            let entry: String = entry.chars().take(80).collect();
            format!(
                "background.df: invalid entry {entry:?}; expected word=pages, with a whole number of at most background.pages"
            )
        };
        let df = df.split_whitespace().map(|entry| parse(entry).ok_or_else(|| wrong(entry)));
        Ok(Self::Counts(DocumentFrequencies { pages, other, df: df.collect::<Result<_, _>>()? }))
    }
}

fn within<'de, D: Deserializer<'de>>(input: D, range: RangeInclusive<f64>) -> Result<f64, D::Error> {
    let value = f64::deserialize(input)?;
    let wrong = || D::Error::custom(format!("{value} must be from {} to {}", range.start(), range.end()));
    if range.contains(&value) { Ok(value) } else { Err(wrong()) }
}

pub(super) fn share<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    within(input, 0.0..=1.0)
}

pub(super) fn relevance<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    within(input, 1e-4..=1.0)
}

pub(super) fn expected<'de, D: Deserializer<'de>>(input: D) -> Result<Option<f64>, D::Error> {
    share(input).map(Some)
}

fn weights<'de, D: Deserializer<'de>>(input: D) -> Result<Weights, D::Error> {
    let weights = Weights::deserialize(input)?;
    let sum = weights.anchor + weights.context + weights.url;
    let wrong = || D::Error::custom(format!("weights.anchor + context + url must be 1, not {sum}"));
    if (sum - 1.0).abs() < 1e-3 { Ok(weights) } else { Err(wrong()) }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, LexiconError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let (line, message) = line_and_message(text, &error);
        LexiconError::Shape { line, message }
    })
}

impl Lexicon {
    /// Parses a lexicon. Only `name` and `[terms]` are required; other values default to those of
    /// [`Lexicon::from_terms`], with the built-in background.
    ///
    /// # Errors
    /// [`LexiconError`] if `text` is not a lexicon in a supported format.
    pub fn parse(text: &str) -> Result<Self, LexiconError> {
        let Head { format: found } = read(text)?;
        if found != FORMAT {
            return Err(LexiconError::Format { found });
        }
        let File {
            name, provenance, threshold, weights, terms, linear, judge, near, url, proposed, background, ..
        } = read(text)?;
        let SignedTerms(terms) = terms;
        let wrong = |section: &str, message: String| {
            let line = 1 + text.lines().position(|line| line.trim() == section).unwrap_or(0);
            LexiconError::Shape { line, message }
        };
        if terms.is_empty() {
            return Err(wrong("[terms]", "[terms] is empty; add at least one term, such as \"足球\" = 1.0".to_owned()));
        }
        let linear = match linear {
            Some(section) => Some(section.model(&terms).map_err(|message| wrong("[linear]", message))?),
            None => {
                all_positive(&terms).map_err(|message| wrong("[terms]", message))?;
                None
            }
        };
        let judge = judge.map(JudgeSection::opinion).transpose().map_err(|message| wrong("[judge]", message))?;
        if judge.is_some() && linear.is_none() {
            let message = "[judge] needs [linear], which this lexicon lacks; delete [judge]".to_owned();
            return Err(wrong("[judge]", message));
        }
        let default = Self::from_terms("", &[]);
        let mut lexicon = Self {
            name,
            provenance,
            page: threshold.page.unwrap_or(default.page),
            link: threshold.link.unwrap_or(default.link),
            weights,
            background: default.background,
            terms,
            linear,
            judge,
            near: near.terms,
            url: Vec::new(),
            evidence: LinkEvidence { near: near.evidence, ..LinkEvidence::default() },
        };
        match url.tokens {
            UrlTokens::List(tokens) => lexicon.url = tokens,
            UrlTokens::Table(tokens) => {
                lexicon.url = tokens.keys().cloned().collect();
                lexicon.evidence.url = tokens;
            }
        }
        lexicon.evidence.removed = RemovedEvidence {
            url: missing(&proposed.url, lexicon.url.iter().map(String::as_str)),
            near: missing(&proposed.near, names(&lexicon.near)),
        };
        lexicon.background = match background {
            BackgroundSection::Counts(counts) => counts,
            BackgroundSection::BuiltIn => background::built_in_for(&lexicon),
        };
        lexicon.order();
        Ok(lexicon)
    }
}

#[cfg(test)]
mod tests {
    use super::super::TermFrequency;
    use super::*;

    fn sample() -> Lexicon {
        let mut lexicon = Lexicon::from_terms("体育", &[("足球", 1.0), ("world cup", 0.5), ("C++ \"x\"", 0.123_456)]);
        lexicon.near = vec![("学校".to_owned(), 0.3)];
        lexicon.url = vec!["sports".to_owned()];
        lexicon.page.precision = Some(0.75);
        lexicon.provenance.sources = vec!["pages/".to_owned(), "a \\ b".to_owned()];
        lexicon.background.pages = 100;
        lexicon.background.df = vec![("world cup".to_owned(), 3), ("c++".to_owned(), 40), ("足球".to_owned(), 3)];
        lexicon.order();
        lexicon
    }

    #[test]
    fn a_term_that_no_page_could_hold_is_refused() {
        let with = |term: &str| Lexicon::parse(&format!("format = 1\nname = \"x\"\n[terms]\n\"{term}\" = 1.0\n"));
        assert!(with(&"词".repeat(LONGEST_TERM)).is_ok());
        let error = with(&"词".repeat(LONGEST_TERM + 1)).unwrap_err().to_string();
        assert!(error.starts_with("line 3: the term 词词") && error.contains("100 characters"), "{error}");
    }

    #[test]
    fn the_built_in_background_is_named_and_not_copied() {
        let by_hand = Lexicon::parse("name = \"x\"\n[terms]\n\"足球\" = 1.0\n").unwrap();
        let text = by_hand.to_toml();
        assert!(text.lines().count() < 60 && text.contains("built_in = \"wordfreq 3.1.1, sha1:"), "{text}");
        assert_eq!(Lexicon::parse(&text).unwrap(), by_hand);
        // A term that a person adds gets its count.
        let more = Lexicon::parse(&text.replace("\n[terms]\n", "\n[terms]\n\"骑行\" = 0.5\n")).unwrap();
        assert!(more.background.df.iter().any(|(word, _)| word == "骑行"));
        let error = |text: &str| Lexicon::parse(text).unwrap_err().to_string();
        let other = error(&text.replace("sha1:", "sha1:0"));
        assert!(other.contains("background.built_in") && other.contains("suidao topic build"), "{other}");
        assert!(error(&text.replace("built_in =", "pages = 3\nbuilt_in =")).contains("either built_in alone"));
        let mut own = by_hand.clone();
        own.background.pages += 1;
        assert_eq!(Lexicon::parse(&own.to_toml()).unwrap(), own, "other counts are written");
    }

    #[test]
    fn too_many_terms_are_refused() {
        let terms: String = (0..=MAX_TERMS).map(|at| format!("w{at} = 1\n")).collect();
        let error = Lexicon::parse(&format!("name = \"x\"\n[terms]\n{terms}")).unwrap_err().to_string();
        assert!(error.starts_with("line 2: 20001 terms are too many"), "{error}");
    }

    #[test]
    fn writing_and_reading_gives_the_same_lexicon() {
        let lexicon = sample();
        let text = lexicon.to_toml();
        let again = Lexicon::parse(&text).unwrap();
        assert_eq!(again, lexicon);
        assert_eq!(again.to_toml(), text);
        assert_eq!(again.digest(), lexicon.digest());
        assert_eq!(lexicon.digest().len(), 40);
        assert_ne!(Lexicon::from_terms("体育", &[("足球", 1.0)]).digest(), lexicon.digest());
    }

    #[test]
    fn errors_name_line_and_key() {
        let text = sample().to_toml();
        let message = |text: &str, line: usize, wanted: &str| {
            let error = Lexicon::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}: ")) && error.contains(wanted), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        };
        let error = |from: &str, to: &str, wanted: &str| {
            let (before, _) = text.split_once(from).unwrap_or_else(|| panic!("{from}"));
            let line = 1 + before.matches('\n').count();
            message(&text.replacen(from, to, 1), line, wanted);
        };
        error("[provenance]", "[provenance", "");
        error("[provenance]", "[made]", "`made` was renamed to `provenance`");
        error("near = 0.5", "nearby = 0.5", "nearby");
        error("[url]", "[urls]\n[url]", "urls");
        error("[weights]\nanchor = 0.5", "[weights]\nanchor = 0.9", "must be 1");
        error("anchor = 0.5", "anchor = 5", "from 0 to 1");
        error("[terms]\n\"足球\" = 1.0", "[terms]\n\"足球\" = 0", "足球");
        error("\"足球\" = 1.0", "\"足球\" = \"1\"", "string");
        error("value = 0.09", "value = nan", "NaN");
        error("tf = \"root\"", "tf = \"bm25\"", "bm25");
        error("[background]\npages = 100\n", "[background]\n", "pages");
        for (from, to) in [("c++=40", "c++=4o"), ("c++=40", "c++=400"), ("pages = 100", "pages = 0")] {
            let line = 1 + text.split("[background]").next().unwrap().matches('\n').count();
            message(&text.replacen(from, to, 1), line, "background");
        }
        for found in [0, 2] {
            let other = text.replacen("format = 1", &format!("format = {found}\nnews = 1"), 1);
            assert_eq!(Lexicon::parse(&other), Err(LexiconError::Format { found }));
        }
        message("", 1, "name");
        message("name = 'x'", 1, "terms");
        message("name = 'x'\n[terms]", 2, "at least one term");
    }

    #[test]
    fn a_name_and_terms_are_enough() {
        let lexicon = Lexicon::parse("name = '体育'\n[terms]\n'足球' = 2\n'world cup' = 1.0\n").unwrap();
        let default = Lexicon::from_terms("体育", &[("足球", 2.0), ("world cup", 1.0)]);
        assert_eq!(Lexicon { background: default.background.clone(), ..lexicon.clone() }, default);
        assert!(lexicon.background.pages >= 1000 && lexicon.background.df.iter().any(|(word, _)| word == "足球"));
        assert_eq!(Lexicon::parse(&lexicon.to_toml()).unwrap(), lexicon);
        let part = "name = 'x'\n[threshold.page]\nvalue = 0.2\n[weights]\ntf = 'log'\n[terms]\na = 1\n[url]\n";
        let part = Lexicon::parse(part).unwrap();
        assert_eq!((part.page.value, part.weights), (0.2, Weights { tf: TermFrequency::Log, ..Weights::default() }));
        assert_eq!((part.page.chosen.as_str(), part.link.value, part.url.len()), ("by hand", default.link.value, 0));
    }

    #[test]
    fn the_lexicons_shipped_are_read_and_canonical() {
        for name in ["database", "frontend", "literature", "ml", "ops", "security", "sports"] {
            let path = format!("{}/../../lexicons/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).unwrap();
            let lexicon = Lexicon::parse(&text).unwrap();
            assert!(lexicon.to_toml() == text, "{path}: what suidao writes differs from the file");
            assert!(lexicon.terms.len() >= 90, "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn reading_never_panics(text in "(format = 1\n)?(\\[[a-z]{0,5}\\]\n|[a-z]{1,4} = [0-9a-z\"\\[\\]]{0,4}\n){0,6}") {
            let _ = Lexicon::parse(&text);
        }
    }
}
