//! How well a forum is followed: whether what changed is found, at how many requests, and how long it waited. Simulated on
//! facts of a generated forum, without pages: times of posts in, figures out.

mod board;
mod delays;
mod incremental;
mod predicted;
mod reader;

pub use board::{Skin, Times};
pub use delays::{Followed, Said, Waits, Window, follow, statistics};
pub use incremental::{Cycles, Day, Finder, cycles};
pub use predicted::Intervals;
