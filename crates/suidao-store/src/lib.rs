//! What is kept, and which pages are there? The log of events, the WARC archive, and the pages that both tell of.
//!
//! Uses `suidao-crawl` and below. It promises that a batch of events is one transaction, that a page is in the archive before
//! the batch that mentions it is in the log, and that a killed writer loses what was in flight and nothing else.
//!
//! Start with [`store::Store`] (open, read, write a crawl directory), [`store::Writer`] (the thread that makes both durable),
//! then [`corpus`] (which pages are wanted, which say the same, and one document for every format).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints, through its one door

pub mod corpus;
pub mod store;
