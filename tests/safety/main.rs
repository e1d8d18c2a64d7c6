//! Tests of hostile input: network, terminal, crawl directory, parser, browser.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // for tests, which wait for processes

#[path = "../support/mod.rs"]
mod support;

mod control_characters;
mod dependencies;
mod foreign_directories;
mod markup;
mod network;
mod render;
