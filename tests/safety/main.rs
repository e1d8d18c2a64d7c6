//! What strangers can do: to the network, a terminal, a crawl directory, the reader, the browser.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // test helpers may; processes are waited for

#[path = "../support/mod.rs"]
mod support;

mod dependencies;
mod markup;
mod network;
mod render;
mod strangers;
mod terminal;
