//! Crawls as a whole: that they can be killed, cut off, repeated and continued, and what they ask of servers.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // test helpers may; processes are waited for

#[path = "../support/misbehaving.rs"]
mod misbehaving;
#[path = "../support/mod.rs"]
mod support;

mod disk;
mod faults;
mod interrupt;
mod kill;
mod live_and_replay;
mod outage;
mod politeness;
mod refresh;
mod refresh_kill;
mod repair;
mod sources;
mod traps;
