//! What a judge did wrong, by kind.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use strum::IntoStaticStr;
use thiserror::Error;

use suidao_page::topic::{SAME_MODEL, VectorError};

/// Why a judge cannot be used at all: something that the user must correct.
#[derive(Debug, Error)]
pub enum JudgeError {
    #[error(
        "no judge is configured; give --set judge.url=http://127.0.0.1:8000/v1/embeddings --set judge.model=multilingual-e5-small, or write these two keys under [judge] into the configuration (-c FILE)"
    )]
    NotConfigured,
    #[error("cannot read the prompt {path} (judge.prompt): {source}; check the path")]
    Prompt { path: String, source: std::io::Error },
    #[error("the prompt {path} (judge.prompt) does not contain {{text}}; write it where the page's text belongs")]
    NoText { path: String },
    #[error(
        "the environment variable {0} (judge.key_env) is not set or not a header value; export the judge's key in it"
    )]
    Key(String),
    #[error(
        "the lexicon has no section [judge], which a judge of embeddings needs; learn one with `suidao topic build --judge`, or name a URL that ends in /v1/chat/completions"
    )]
    NotInLexicon,
    #[error(
        "the lexicon has no section [linear], so nothing tells which pages are near its boundary; learn it from sample pages with `suidao topic build --pages`"
    )]
    NotLinear,
    #[error(
        "the judge ({model}) is not the model of the lexicon ({wanted}): the cosine of a fixed sentence is {likeness:.3} and must be at least {SAME_MODEL}; start the lexicon's model, or learn the lexicon again with `suidao topic build --judge`"
    )]
    OtherModel { model: String, wanted: String, likeness: f64 },
    #[error(
        "the judge ({model}) is not the model of the lexicon ({wanted}): it answers with {error}; start the lexicon's model, or learn the lexicon again with `suidao topic build --judge`"
    )]
    OtherDimension { model: String, wanted: String, error: VectorError },
    #[error("cannot prepare requests to the judge: {0}")]
    Client(#[source] std::io::Error),
}

/// Why a text got no answer that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Error, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum JudgeFailure {
    #[error("an answer that is not what was asked for")]
    Nonsense,
    #[error("a number that is not finite")]
    NotFinite,
    #[error("a vector of another dimension")]
    Dimension,
    #[error("an answer that ends too early")]
    Incomplete,
    #[error("no answer in time")]
    Timeout,
    #[error("the judge cannot be reached, or ended")]
    Died,
    #[error("an answer of more than 1 MB")]
    TooLarge,
    #[error("an HTTP status other than 200")]
    Status,
    /// The limit of calls, or three failures in a row.
    #[error("not asked")]
    NotAsked,
}

impl From<VectorError> for JudgeFailure {
    fn from(error: VectorError) -> Self {
        match error {
            VectorError::NotFinite => Self::NotFinite,
            VectorError::Dimension { .. } | VectorError::Size => Self::Dimension,
        }
    }
}

/// Numbers of failures by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failures(BTreeMap<JudgeFailure, u64>);

impl Failures {
    pub fn count(&mut self, failure: JudgeFailure) {
        *self.0.entry(failure).or_default() += 1;
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (JudgeFailure, u64)> + '_ {
        self.0.iter().map(|(kind, count)| (*kind, *count))
    }
}

impl Serialize for Failures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(kind, count)| (<&str>::from(kind), count)))
    }
}
