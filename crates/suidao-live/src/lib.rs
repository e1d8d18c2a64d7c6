//! How is a page got? The HTTP client, the configuration, and the loop of a live crawl.
//!
//! Uses `suidao-store` and below. It promises that no private address is asked unless allowed, that sizes and times are
//! bounded, and that a place in flight is free again only when its batch is on disk.
//!
//! Start with [`live::run`] (the loop), then [`fetch::Fetcher`] (one request; `render/` has a browser run a page's scripts)
//! and [`config::Config`] (the configuration file and `--set`).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints, through its one door

pub mod config;
pub mod fetch;
pub mod live;
