//! What next? Pure decisions: facts in, events out. Strategies, frontier, politeness, traps, revisits; no I/O and no clock.

pub mod crawl;
pub mod replay;
pub mod revisit;
pub mod strategy;
pub mod trap;
