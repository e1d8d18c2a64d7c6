//! suidao (隧道, tunnel): a focused web crawler that tunnels.

#![warn(clippy::print_stdout, clippy::print_stderr)] // the command prints, through its one door
#![recursion_limit = "256"] // the index template of es-bulk is one long json!

pub mod config;
pub mod corpus;
pub mod crawl;
pub mod eval;
pub mod experiments;
pub mod export;
pub mod fetch;
pub mod forum;
pub mod html;
pub mod index;
pub mod label;
mod listen;
pub mod live;
pub mod model;
pub mod plot;
pub mod read;
pub mod recorded;
pub mod repair;
pub mod replay;
pub mod report;
pub mod revisit;
pub mod serve;

pub mod status;
pub mod store;
pub mod strategy;
pub mod text;
pub mod topic;
pub mod trap;
pub mod visible;
pub mod world;

#[cfg(test)]
mod fuzz;
