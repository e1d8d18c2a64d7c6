//! How well a forum is followed: whether what changed is found, at how many requests, and how long it waited. Simulated on
//! facts of a generated forum, without pages: times of posts in, figures out. Figures 5 and 6 and table 2 of Du, Ma 2010;
//! `benches/forum_schedule.rs` runs it.

mod board;
mod delays;
mod incremental;
mod reader;

pub use board::{BoardSkin, Times};
pub use delays::{BoardPosts, Delays, ForumDays, statistics};
pub use incremental::{ChangeDetector, CrawlDay, cycles};
