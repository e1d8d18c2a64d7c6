//! Forums: generated skins, pages of real software, and software of others on loopback.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // test helpers may; processes are waited for

#[path = "../support/mod.rs"]
mod support;

mod reading;
mod skins;
mod software;
mod watch;
