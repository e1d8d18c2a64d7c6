//! Reading: from bytes to a [`crate::model::Page`]. Pure, and it never fails.

pub mod charset;
mod document;
#[allow(dead_code)]
mod hanzi;

pub use document::{Block, Document, DocumentLink, Piece};
