//! Folding, segmentation, terms, TextRank and near-duplicates of texts.

mod address;
mod list;
pub mod near_duplicates;
pub mod segment;
pub mod simhash;
mod stop;
pub mod textrank;

pub use address::without_address;
pub use list::entries;
pub use segment::{cut, fold, is_term};
pub use stop::{is_function_word, is_stop};
