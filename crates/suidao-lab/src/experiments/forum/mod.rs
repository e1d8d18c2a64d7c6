//! How completely, at what cost and with what delay a forum is followed, simulated on post times of a generated forum
//! without pages. Figures 5 and 6 and table 2 of Du, Ma 2010; run by `benches/forum_schedule.rs`.

mod board;
mod delays;
mod incremental;
mod reader;

pub use board::{BoardSkin, CrawlDay, Times};
pub use delays::{BoardPosts, Delays, ForumDays, statistics};
pub use incremental::{ChangeDetector, cycles};
