//! Reads pages: from bytes to text, links, dates and relevance scores.
//!
//! Uses no other crate of the workspace, no file, no network, no clock. Reading never fails: a broken page is a page
//! with defects, and the cost of hostile markup is bounded.
//!
//! Start with [`scored::read`], which turns a response into a [`model::Page`]; then [`topic::Topic`] (the lexicon and
//! eqs. (1) to (3) of the paper), [`text`] (segmentation, folding, SimHash) and [`model`] (URLs, scores, events).
//! [`seeded_rng`] generates random numbers; [`visible`] escapes untrusted text for terminals; [`messages`] has the text of
//! all pages that suidao makes, in English and Chinese.

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

pub mod messages;
pub mod model;
pub mod read;
pub mod scored;
pub mod seeded_rng;
pub mod text;
pub mod toml_error;
pub mod topic;
pub mod visible;
pub mod word_list;
