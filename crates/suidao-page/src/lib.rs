//! What is on this page, and how relevant is it? URLs, words, reading, and the relevance of pages and links.

pub mod model;
pub mod read;
pub mod text;
pub mod topic;
pub mod visible;
