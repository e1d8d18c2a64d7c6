//! What do pages of known hosts state in fixed places: price, brand, rating, ISBN?
//!
//! Uses `suidao-page`. Runs on archived pages, never in the crawl, so a rule can be corrected without fetching again.
//!
//! Start with [`Extractor::parse`] (rules from `fields.toml`), then [`Extractor::extract`] (a page's values and its
//! corrected main text) and [`Extractor::hit_rates`].

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

mod content;
mod extractor;
mod rules;
mod selector;
mod structured;
#[cfg(test)]
mod tests;
mod tree;
mod value;

pub use extractor::{Extracted, Extractor, HitRate};
pub use rules::RulesError;
pub use selector::{CheckedSelector, SelectorError};
pub use tree::PageTree;
