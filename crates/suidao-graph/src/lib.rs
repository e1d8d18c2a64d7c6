//! The link graph of a crawl: which pages of the topic are joined, what leads to them, and which pages others point to.
//!
//! Pure functions over a [`LinkGraph`]; pages are numbers, links are pairs of numbers. Start with [`LinkGraph::new`],
//! then [`Islands::find`] (topic pages joined by links), [`tunnel_depths`] (off-topic pages that must be crossed),
//! [`Gates::find`] (pages that every path crosses), [`shortest_path`], [`page_rank`] and [`hits`], [`HostGraph`].

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

mod depth;
mod dominators;
mod gates;
mod graph;
mod hosts;
mod islands;
mod path;
mod rank;
#[cfg(test)]
mod tests;

pub use depth::tunnel_depths;
pub use gates::Gates;
pub use graph::{GraphPage, LinkGraph, PageTopic};
pub use hosts::{HostGraph, HostLink};
pub use islands::{Island, Islands};
pub use path::shortest_path;
pub use rank::{Hits, hits, page_rank};
