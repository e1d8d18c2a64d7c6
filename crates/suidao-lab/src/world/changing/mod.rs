//! A generated web that changes: sites whose sections gain articles, whose articles are rewritten and vanish, and whose servers
//! tell the truth about it, or not.
//!
//! When a page changes is [`change`](super::Life)'s; this room says what is served then.
//!
//! Every host has a [`Manner`]: by what its answers can be validated, what its sitemap claims, which feeds it has.

mod answer;
mod page;
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
