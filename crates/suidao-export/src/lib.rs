//! How do others read a crawl? Exports, the search index, and labels.

#![recursion_limit = "256"] // the index template of es-bulk is one long json!

pub mod export;
pub mod index;
pub mod label;
