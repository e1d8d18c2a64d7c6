//! Which strategy is better, and what did the papers claim? Generated and recorded webs, comparisons, experiments.
//!
//! Uses all crates below; nothing of a crawl uses it. It promises that the same spec and seed give the same web, byte for
//! byte, and that every mean comes with an interval.
//!
//! Start with [`world::World`] (a generated web; specs in `worlds/`), [`recorded`] (folders of hosts, WARC files, crawl
//! directories), then [`eval`] (runs, measures, bootstrap, reports) and [`experiments`] (the papers' tables and figures).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints, through its one door

pub mod eval;
pub mod experiments;
pub mod recorded;
pub mod world;
