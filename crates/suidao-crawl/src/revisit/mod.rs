//! When to revisit a page. Pure: observations go in (changes between visits, values), decisions come out (the next
//! page, the visit times). Separate from the strategies, which choose among pages never fetched.
//!
//! Times are days as floats: rates are changes per day, budgets visits per day. The machine converts them from and to
//! milliseconds.

pub mod adaptive;
pub mod history;
pub mod plan;
pub mod rate;
pub mod settings;
pub mod signal;
pub mod tally;
pub mod text_loss;
pub mod visit_value;

#[cfg(test)]
mod crossing;
#[cfg(test)]
mod optimum;

pub use plan::{Choice, plan};
pub use rate::ChangeObservations;
pub use signal::Trust;
pub use visit_value::VisitValue;
