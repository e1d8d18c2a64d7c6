//! The topic: a lexicon, and how pages and links are scored by it.

mod lexicon;
mod score;
mod tokens;
mod url;
mod vocabulary;

pub use lexicon::{DocumentFrequencies, FORMAT, Lexicon, LexiconError, Made, TermFrequency, Threshold, Weights};
pub use score::Topic;

use crate::model::{Evidence, Relevance, TermMatch};

/// What the topic says of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    /// Eq. (1) over title and main content.
    pub relevance: Relevance,
    /// Topic terms in title and main content, the most telling first, at most 12.
    pub terms: Vec<TermMatch>,
    /// Eq. (3) of every link of the document, in its order: the parts and their weighted sum.
    pub links: Vec<(Evidence, Relevance)>,
}
