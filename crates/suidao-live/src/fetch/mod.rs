//! One GET of one URL: from a [`CrawlUrl`](suidao_page::model::CrawlUrl) to a [`Fetched`](suidao_page::model::Fetched)
//! or a [`Failure`](suidao_page::model::Failure), within limits of time, size and address. Redirects, error statuses
//! and retries are for the caller to handle.

/// Sections of names; see the file.
const LISTS: &str = include_str!("lists.txt");

mod client;
mod cookies;
mod credentials;
mod descriptors;
mod failure;
mod guard;
pub mod render;
mod retry;
mod robots_access;
mod settings;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod loopback;
#[cfg(test)]
mod secrets;

pub use client::{Fetcher, FetcherError};
pub use credentials::warn_if_open;
pub use credentials::{Credential, CredentialError, Secret};
pub use retry::retry_after;
pub use robots_access::RobotsAccess;
pub use settings::{FetchSettings, SettingsError};
