//! How does a program, or a person in a browser, control crawls? The service of a folder of crawl directories.
//!
//! Start reading at [`CrawlService`]: what all interfaces can do. What changes a crawl is a verb of the program, run as a child
//! process ([`program`]); what only reads is done here ([`reading`]). The directory of a crawl is the contract: the
//! service keeps nothing of its own, and everything that it does can be done by the command line.

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

#[cfg(feature = "mcp")]
pub mod agent;
mod control;
mod create;
mod events;
mod exports;
pub mod folder;
pub mod http;
mod jobs;
mod pages;
mod problem;
pub mod program;
pub mod reading;
mod running;
mod search;
mod service;
mod status;
mod topic;
mod web;

pub use folder::{CrawlName, FolderError, ServedFolder};
pub use problem::Problem;
pub use program::Program;
pub use service::CrawlService;
