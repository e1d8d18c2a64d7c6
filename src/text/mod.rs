//! Text: folding, segmentation, what counts as a term, TextRank.

pub mod segment;
pub mod simhash;
mod stop;
pub mod textrank;

pub use segment::{cut, fold, is_term};
pub use stop::{is_function_word, is_stop};
