//! For users of the spider crate: spider drives the crawl, suidao guards, judges and archives it.
//!
//! ```no_run
//! # async fn example(config: suidao_live::config::Config, topic: std::sync::Arc<suidao_page::topic::Topic>) -> Result<(), Box<dyn std::error::Error>> {
//! use suidao_spider::{Guide, spider::website::Website};
//!
//! let mut website = Website::new("http://host.example/");
//! let guide = Guide::new(config, topic, "ml")?;
//! guide.attach(&mut website)?;
//! website.crawl().await;
//! drop(website);
//! let report = guide.finish().await?;
//! # Ok(()) }
//! ```
//!
//! Every request goes through suidao's fetcher: private addresses are refused, sizes and times bounded, robots.txt and
//! the delay of hosts obeyed, redirects followed hop by hop, and responses archived as they were sent. Links of a page
//! are followed as long as at most `strategy.static-tunnel.k` off-topic pages lie in a row.
//! The result is a crawl directory for every verb of suidao.
//!
//! Start with [`Guide`]; `engine` makes the requests, `judge` decides on pages, `staging` holds responses until the
//! end.

mod engine;
mod guide;
mod judge;
mod staging;

pub use guide::{Guide, GuideError};
pub use spider;
