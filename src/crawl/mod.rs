//! The crawl as a synchronous state machine with two doors, [`Crawl::next`] and [`Crawl::settle`]. It does no I/O,
//! reads no clock and cannot fail. Drivers turn the handle: `live` over the real web, `replay` over a recorded one.

mod fold;
mod forums;
mod frontier;
mod hosts;
mod machine;
mod outcome;
mod refresh;
mod scheme;
mod settle;
mod signals;
#[cfg(test)]
mod tests;
mod urls;
mod visits;
mod watch;

pub use forums::ForumMode;
pub use frontier::Frontier;
pub use hosts::Politeness;
pub use machine::{Conditions, Crawl, Limits, Next, Progress, Ticket, Wanted};
pub use outcome::{Outcome, outcome};
pub use refresh::{Planned, Refresh};
pub use watch::Watch;
