//! What is on this page, and how relevant is it? From bytes to a page with text, links, dates and scores.
//!
//! Uses no other crate of the workspace. It promises that reading never fails: a broken page is a page with defects, and
//! what hostile markup costs is bounded. No file, no network, no clock.
//!
//! Start with [`read::read`], the one door from an answer to a [`model::Page`]; then [`topic::Topic`] (the lexicon and eqs. (1)
//! to (3) of the paper), [`text`] (segmentation, folding, SimHash) and [`model`] (URLs in normal form, scores, events:
//! the words that all other crates speak). [`draw`] is the one generator of numbers; [`visible`] escapes what others wrote before it reaches a terminal.

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints, through its one door

pub mod draw;
pub mod model;
pub mod read;
pub mod text;
pub mod toml_error;
pub mod topic;
pub mod visible;
