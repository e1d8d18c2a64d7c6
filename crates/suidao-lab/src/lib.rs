//! Which strategy is better, and what did the papers claim? Generated and recorded webs, comparisons and experiments.

pub mod eval;
pub mod experiments;
pub mod recorded;
pub mod repair;
pub mod world;
