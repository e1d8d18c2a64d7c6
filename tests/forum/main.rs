//! Tests of forums: generated skins, pages of real software, and real software on loopback.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // for tests, which wait for processes

#[path = "../support/mod.rs"]
mod support;

mod addresses;
mod documents;
mod plain;
mod reading;
mod several;
mod skins;
mod software;
mod texts;
mod watch;
