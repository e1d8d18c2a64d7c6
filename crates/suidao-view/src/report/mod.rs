//! The report on one crawl: what it brought, how it got there, and what it left, for whoever is to use the corpus.
//!
//! [`gather()`] makes [`Facts`] of log and catalogue; [`page()`] makes a self-contained HTML page of the facts, without clock or
//! chance, so that a crawl reported on twice gives the same bytes.

mod bins;
pub mod facts;
mod gather;
mod ledger;
mod names;
mod page;
mod timetable;
mod tunnels;

pub use facts::ReportFacts;
pub use gather::gather;
pub use page::page;
pub use timetable::{BoardPlan, Timetable, TimetableOptions, clock, timetable};
