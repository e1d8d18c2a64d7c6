//! What is kept, and which pages are there? The log of events, the WARC archive, and the pages of a crawl.

pub mod corpus;
pub mod store;
