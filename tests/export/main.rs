//! Tests of exports, search servers, the report and the search site.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // for tests, which wait for processes

#[path = "../support/mod.rs"]
mod support;

mod agreement;
mod chinese;
mod extract;
mod formats;
mod graph;
mod push;
mod report;
mod serve;
mod service;
