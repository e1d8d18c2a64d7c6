//! The topic: a lexicon, and how pages and links are scored by it.

mod background;
mod evaluate;
mod file;
mod layers;
mod learn;
mod lexicon;
mod sample;
mod score;
mod thresholds;
mod tokens;
mod url;
mod vocabulary;

pub use background::Background;
pub use evaluate::{ThresholdPoint, TopicEvaluation, evaluate};
pub use file::{FORMAT, LexiconError};
pub use layers::{ContextGraphModel, DEEPEST, LayersError, OTHER};
pub use learn::{LearnError, LearnOptions, Learnt, Weighting, learn, learn_from_keywords};
pub use lexicon::{DocumentFrequencies, Lexicon, Provenance, TermFrequency, Threshold, Weights};
pub use sample::{LONGEST_ANCHOR, LONGEST_URL, Rejection, Sample};
pub use score::Topic;

use crate::model::{LinkScores, Relevance, TermMatch};

/// What the topic says of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicScores {
    /// Eq. (1) over title and main content.
    pub relevance: Relevance,
    /// Topic terms in title and main content, the most telling first, at most 12.
    pub terms: Vec<TermMatch>,
    /// The page's layer, where the topic knows layers and the page is in one.
    pub layer: Option<u8>,
    /// Eq. (3) of every link of the document, in its order: the parts and their weighted sum.
    pub links: Vec<(LinkScores, Relevance)>,
}
