//! How does a person see a crawl? Reports, plots, the search site and the status page.

pub mod html;
pub mod listen;
pub mod plot;
pub mod report;
pub mod serve;
pub mod status;
