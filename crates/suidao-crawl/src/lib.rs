//! What is fetched next? The crawl as a synchronous state machine with two entry points, [`crawl::Crawl::next`] and
//! [`crawl::Crawl::settle`].
//!
//! Uses `suidao-page`, `suidao-forum` and `suidao-graph`. It does no I/O, reads no clock and cannot fail. Its state is
//! a fold of its events, so the same seeds, settings and web give the same log, and a restart replays it.
//!
//! Start with [`crawl`] (frontier, hosts, robots.txt, politeness), then [`strategy`] (scores links, one file per
//! strategy), [`trap`] (endless sites), [`revisit`] (when to revisit a page) and [`replay`] (the driver without a
//! network: a recorded or generated web and a virtual clock).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

pub mod crawl;
pub mod replay;
pub mod revisit;
pub mod strategy;
pub mod trap;
