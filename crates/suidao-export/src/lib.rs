//! How do other programs read a crawl? Export files, a search index, and labels.
//!
//! Uses `suidao-store` and its dependencies. A file gets its final name only when it is complete, and every format has
//! the same documents.
//!
//! Start with [`export`] (one file per format; search servers in `engines/`), then [`index`] (tantivy with Chinese
//! segmentation) and [`label`] (a sample of pages, answers, and estimates from them).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs
#![recursion_limit = "256"] // the index template of es-bulk is one long json!

pub mod export;
pub mod index;
pub mod label;
pub mod seeds;
