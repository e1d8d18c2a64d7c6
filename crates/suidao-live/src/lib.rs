//! How is a page got? HTTP client, configuration, and the loop of a live crawl.

pub mod config;
pub mod fetch;
pub mod live;
