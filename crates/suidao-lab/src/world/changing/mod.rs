//! A generated web that changes: sections gain articles, articles are rewritten and vanish, and servers report this
//! correctly or not.
//!
//! Change times come from [`ChangeHistory`](super::ChangeHistory). Each host has a [`HostProfile`]:
//! its validators, the dates in its sitemap, and its feeds.

mod page;
mod response;
mod sites;
mod spec;
mod syndication;
#[cfg(test)]
mod tests;
mod validation;
mod web;

pub use sites::ArticleTruth;
pub use spec::{ChangingSpec, Dating, Feeds, HostProfile, ValidatorPolicy};
pub use web::{ChangingWeb, RequestCount};
