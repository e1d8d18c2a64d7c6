//! How is a page fetched? The HTTP client, the configuration, and the loop of a live crawl.
//!
//! Uses `suidao-store` and its dependencies. Private addresses are not contacted unless allowed, sizes and times are
//! bounded, and a slot in flight is free again only when its batch is on disk.
//!
//! Start with [`live::run`] (the loop), then [`fetch::Fetcher`] (one request; `render/` has a browser run a page's
//! scripts) and [`config::Config`] (the configuration file and `--set`). [`import`] is the driver for archives of
//! other crawlers.

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

pub mod config;
pub mod fetch;
pub mod import;
pub mod judge;
pub mod live;
pub mod memory;
