//! Human labels of a crawl's pages: [`Strata`] draws the sample, [`LabelFile`] stores the answers, [`estimate()`]
//! computes precision, recall and a better threshold, and [`words`] finds words that the lexicon lacks or should weigh
//! less. [`Disagreement`] compares two lexicons. All but the file are pure.

mod disagreement;
mod estimate;
mod excerpt;
mod file;
mod strata;
pub mod words;

pub use disagreement::{Disagreement, LexiconComparison, ReadDocuments};
pub use estimate::{Estimate, IntervalEstimate, estimate};
pub use excerpt::{excerpt, opening_and_middle};
pub use file::{AnswersByWhom, BY_JUDGE, LabelError, LabelFile, Labels};
pub use strata::Strata;
