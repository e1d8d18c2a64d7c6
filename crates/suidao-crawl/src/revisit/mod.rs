//! When to come back to a page? Facts go in (what changed between visits, what a page is worth), decisions come out (which
//! page next, which days of a month). Pure, and apart from the strategies because those ask where to go first, and this
//! asks where to go again.
//!
//! Times are days, as floats: rates are changes a day, budgets visits a day. Turning them from and into milliseconds is
//! the machine's.

pub mod adaptive;
pub mod agenda;
mod crossing;
pub mod history;
pub mod plan;
pub mod rate;
pub mod settings;
pub mod signal;
pub mod tally;
pub mod worth;

#[cfg(test)]
mod optimum;

pub use agenda::RevisitQueue;
pub use plan::{Choice, plan};
pub use rate::ChangeObservations;
pub use signal::Trust;
pub use worth::VisitValue;
