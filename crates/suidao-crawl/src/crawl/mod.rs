//! The crawl as a synchronous state machine with two entry points, [`Crawl::next`] and [`Crawl::settle`]. It does no
//! I/O, reads no clock and cannot fail. Its drivers: `live` (the network), `replay` (a recorded or generated web), `import`
//! (WARC files) and the worker of `suidao-cluster`.

mod archived;
mod calibration;
mod canonical;
mod checkpoint;
mod counts;
mod decide;
mod draft;
mod forum_state;
mod frontier;
mod goals;
mod grants;
mod groups;
mod health;
mod hosts;
mod machine;
mod outcome;
mod overview;
mod partition;
mod politeness;
mod refresh;
mod robots;
mod rules;
mod run;
mod settings;
mod signals;
mod simulation;
mod sources;
mod spend;
mod state;
#[cfg(test)]
mod tests;
mod texts;
mod ticket;
mod traps;
mod tunnels;
mod urls;
mod wait;
mod watch;

pub use archived::TakenResponse;
pub use counts::Progress;
pub use decide::archived::{ArchivedResponse, NotTaken};
pub use decide::offers::OfferedLink;
pub use decide::seeds::Seeding;
pub use forum_state::{Exploration, ForumMode};
pub use frontier::Frontier;
pub use goals::{Exhaustion, StopConditions};
pub use grants::{FIRST, LAST, RoundShare};
pub use machine::Crawl;
pub use outcome::{FetchOutcome, ResponseMeta, outcome};
pub use overview::{HostCounts, HostView, Overview, QueueView, Unreached, WaitReasons};
pub use partition::{Partition, SentLink};
pub use politeness::Politeness;
pub use refresh::{PlannedVisit, Refresh};
pub use rules::{Robot, Ruling, product};
pub use settings::{CrawlLimits, CrawlSettings};
pub use simulation::{SimulatedRequest, SimulatedStep, simulate};
pub use sources::Sources;
pub use spend::{BestValues, MAX_WAIT_WITHOUT_PAGE, MinimumShare, WaitCosts, WaitThreshold};
pub use ticket::{FetchKind, Next, Ticket};
pub use traps::TrapCounts;
pub use watch::{VISITS_A_DAY, Watch};
