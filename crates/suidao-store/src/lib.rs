//! What is stored, and which pages are there? The log of events, the WARC archive, and the documents made of both.
//!
//! Uses `suidao-crawl` and its dependencies. A batch of events is one transaction, a page is in the archive before the
//! batch that mentions it is in the log, and a killed writer loses only the requests in flight.
//!
//! Start with [`store::Store`] (open, read, write a crawl directory), [`store::Writer`] (the thread that makes both
//! durable), then [`corpus`] (selection, duplicates, and one document type for every format).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

pub mod corpus;
pub mod store;
