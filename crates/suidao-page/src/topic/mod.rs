//! Scores pages and links by a topic's lexicon.

mod adapt;
mod background;
mod boundary;
mod context_graph;
mod evaluate;
mod file;
mod file_writer;
mod grow;
mod learn;
mod lexicon;
mod linear;
mod link_test;
mod link_web;
mod near_terms;
mod opinion;
mod pinyin;
mod sample;
mod score;
mod single_host;
mod svm;
mod term_rows;
mod term_weights;
mod thresholds;
mod tokens;
mod url;
mod url_tokens;
mod vocabulary;

pub use adapt::{AdaptError, Adapted, learn_from_labels};
pub use background::Background;
pub use context_graph::{ContextGraphError, ContextGraphModel, LAST_LAYER, UNREACHABLE};
pub use evaluate::{ThresholdPoint, TopicEvaluation, evaluate};
pub use file::{FORMAT, LexiconError};
pub use grow::{Grown, grow};
pub use learn::{LearnError, LearnOptions, Learnt, Method, learn, learn_from_keywords};
pub use lexicon::{
    BOUNDARY_RELEVANCE, DocumentFrequencies, Lexicon, LinearModel, LinkEvidence, Provenance, RemovedEvidence,
    RemovedTerms, TermFrequency, Threshold, Weights,
};
pub use link_test::{LinkEvaluation, LinkEvaluations, RECALLS, evaluate_links};
pub use opinion::{
    CHECK, MAX_DIMENSION, OpinionError, OpinionUse, SAME_MODEL, SecondOpinion, TrainingPages, UnitVector, VectorError,
    opening, opening_of,
};
pub use sample::{LONGEST_ANCHOR, LONGEST_URL, Rejection, Sample};
pub use score::{NearBoundary, Topic};

use crate::model::{LinkScores, Relevance, TermMatch};

/// The scores of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicScores {
    /// Eq. (1) over title and main content.
    pub relevance: Relevance,
    /// At most 12 topic terms in title and main content, those with the highest scores first.
    pub terms: Vec<TermMatch>,
    /// Layer in the context graph, if the topic has layers and the page is in one.
    pub layer: Option<u8>,
    /// Eq. (3) of every link in order: terms and weighted sum.
    pub links: Vec<(LinkScores, Relevance)>,
}
