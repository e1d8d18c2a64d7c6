//! How does a person see a crawl? The report, the search site, the status page.
//!
//! Uses `suidao-live`, `suidao-export` and its dependencies. Text of others is shown only as text, and each page is
//! one file without scripts.
//!
//! Start with [`report`] (facts from the log as a page) and [`link_graph`] (the link graph), then [`serve`] (the search
//! site), [`status`] (a running crawl and its metrics) and [`plan`] (dry runs). The frame of all pages is in
//! [`suidao_html`], their texts are in [`suidao_page::messages`].

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

pub mod link_graph;
pub mod listen;
pub mod plan;
pub mod report;
pub mod serve;
pub mod status;
