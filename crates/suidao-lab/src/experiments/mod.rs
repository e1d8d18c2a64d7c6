//! Experiments that test the papers' claims on generated data; not part of a crawl. Benches run them, and docs/ has the
//! results.

pub mod forum;
pub mod plans;
