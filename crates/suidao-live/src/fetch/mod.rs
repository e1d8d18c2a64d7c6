//! One GET of one URL: from a [`CrawlUrl`](suidao_page::model::CrawlUrl) to a [`Fetched`](suidao_page::model::Fetched) or a named
//! [`Failure`](suidao_page::model::Failure), with every limit on time, size and address kept on the way.
//!
//! It decides nothing about the crawl: redirects and error statuses are handed back as they came, when to ask again is
//! the machine's.

mod client;
mod cookies;
mod credentials;
mod descriptors;
mod failure;
mod guard;
pub mod render;
mod retry;
mod settings;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod loopback;
#[cfg(test)]
mod secrets;

pub use client::{Fetcher, FetcherError};
pub use credentials::warn_if_open;
pub use credentials::{Credential, Secret};
pub use retry::retry_after;
pub use settings::{FetchSettings, SettingsError};
