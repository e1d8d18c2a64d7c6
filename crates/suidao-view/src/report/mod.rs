//! The report on one crawl, for users of the corpus. [`gather()`] derives the facts from log and catalogue;
//! [`page()`] makes a self-contained HTML page of them without clock or randomness, so that the same crawl gives the
//! same bytes.

mod accumulator;
mod bins;
pub mod facts;
mod gather;
mod names;
mod page;
mod suggested_terms;
mod timetable;
mod tunnels;

pub use facts::ReportFacts;
pub use gather::gather;
pub use page::page;
pub use timetable::{BoardPlan, Timetable, TimetableOptions, timetable};
