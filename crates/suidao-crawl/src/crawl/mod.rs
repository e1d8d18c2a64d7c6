//! The crawl as a synchronous state machine with two entry points, [`Crawl::next`] and [`Crawl::settle`]. It does no
//! I/O, reads no clock and cannot fail. Two drivers call it: `live` over the network, `replay` over a recorded web.

mod canonical;
mod checkpoint;
mod endless;
mod fold;
mod forum_state;
mod forums;
mod frontier;
mod goals;
mod groups;
mod health;
mod hosts;
mod machine;
mod next;
mod outcome;
mod overview;
mod politeness;
mod refresh;
mod robots;
mod rules;
mod scheme;
mod seeds;
mod settle;
mod signals;
mod simulation;
mod sources;
#[cfg(test)]
mod tests;
mod texts;
mod tickets;
mod traps;
mod urls;
mod visits;
mod watch;

pub use forum_state::ForumMode;
pub use frontier::Frontier;
pub use goals::{Exhaustion, StopConditions, bytes};
pub use machine::{Crawl, CrawlLimits, CrawlSettings, FetchKind, Next, Progress, Ticket};
pub use outcome::{FetchOutcome, ResponseMeta, outcome};
pub use overview::{HostCounts, HostView, LaneView, Overview, Unreached, WaitReasons};
pub use politeness::Politeness;
pub use refresh::{PlannedVisit, Refresh};
pub use rules::{Robot, Ruling, product};
pub use seeds::Seeding;
pub use simulation::{Rehearsed, SimulatedStep};
pub use sources::Sources;
pub use traps::TrapCounts;
pub use watch::{VISITS_A_DAY, Watch};
