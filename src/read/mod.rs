//! Reading: from bytes to a [`crate::model::Page`]. Pure, and it never fails.

mod document;

pub use document::{Block, Document, DocumentLink, Piece};
