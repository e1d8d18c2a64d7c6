//! Tests of hostile input: network, terminal, crawl directory, parser, browser.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // for tests, which wait for processes

#[path = "../support/mod.rs"]
mod support;

mod dependencies;
mod markup;
mod network;
mod render;
mod strangers;
mod terminal;
