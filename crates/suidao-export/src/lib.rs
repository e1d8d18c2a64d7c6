//! How do others read a crawl? Files for search engines and data frames, a search index of our own, and labels.
//!
//! Uses `suidao-store` and below. It promises that a file appears under its name only when it is complete, and that every
//! format holds the same documents.
//!
//! Start with [`export`] (one file a format; search servers in `engines/`), then [`index`] (tantivy with Chinese
//! segmentation) and [`label`] (a sample of pages, answers, and what they say of the threshold).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints, through its one door
#![recursion_limit = "256"] // the index template of es-bulk is one long json!

pub mod export;
pub mod index;
pub mod label;
