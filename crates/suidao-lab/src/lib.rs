//! Evaluation of strategies and of the papers' claims: generated and recorded webs, comparisons, experiments.
//!
//! Uses the crates of a crawl; no crawl uses this one. Equal specs and seeds give the same web, byte for byte, and
//! every mean has an interval.
//!
//! Start with [`world::SyntheticWeb`] (a generated web; specs in `worlds/`), [`recorded`] (folders of hosts, WARC
//! files, crawl directories), then [`eval`] (runs, measures, bootstrap, reports) and [`experiments`] (the papers'
//! tables and figures).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

pub mod eval;
pub mod experiments;
pub mod recorded;
pub mod world;
