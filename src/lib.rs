//! suidao (隧道, tunnel): a focused web crawler that follows off-topic links when they lead back to the topic.

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

#[cfg(feature = "cluster")]
pub use suidao_cluster as cluster;
pub use suidao_crawl::{crawl, replay, revisit, strategy, trap};
pub use suidao_export::{export, index, label, seeds};
pub use suidao_extract as extract;
pub use suidao_forum::forum;
pub use suidao_graph as graph;
pub use suidao_html::{self as html, plot};
pub use suidao_lab::{eval, experiments, recorded, world};
pub use suidao_live::{config, fetch, import, judge, live};
pub use suidao_page::{messages, model, read, scored, seeded_rng, text, topic, visible};
pub use suidao_service as service;
pub use suidao_store::{corpus, store};
pub use suidao_view::{link_graph, listen, plan, report, serve, status};

#[cfg(test)]
mod fuzz;
