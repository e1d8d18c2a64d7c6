//! What others read: exports, search servers, the report, the search site.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // test helpers may; processes are waited for

#[path = "../support/mod.rs"]
mod support;

mod formats;
mod push;
mod report;
mod serve;
