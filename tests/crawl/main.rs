//! Whole crawls: killed, interrupted, repeated and resumed, and what they request of servers.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // for tests, which wait for processes

#[path = "../support/misbehaving.rs"]
mod misbehaving;
#[path = "../support/mod.rs"]
mod support;

#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod cluster_faults;
#[cfg(feature = "cluster")]
mod cluster_refresh;
mod disk;
mod faults;
mod interrupt;
mod kill;
mod live_and_replay;
mod outage;
mod politeness;
mod readers;
mod refresh;
mod refresh_kill;
mod repair;
mod rescore;
mod sources;
mod traps;
mod walls;
