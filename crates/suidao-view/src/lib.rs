//! How does a person see a crawl? The report, the search site, the status page, and the plots on them.
//!
//! Uses `suidao-live`, `suidao-export` and below. It promises that what others wrote is shown as text alone, and that each page
//! is one file without a script of others.
//!
//! Start with [`report`] (facts from the log on a page), then [`serve`] (the search site), [`status`] (a running crawl and its
//! metrics), [`plot`] (SVG) and [`html`] (the frame of all pages).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints, through its one door

pub mod html;
pub mod listen;
pub mod plot;
pub mod report;
pub mod serve;
pub mod status;
