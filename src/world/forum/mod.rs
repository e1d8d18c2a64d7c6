//! A generated forum: boards, threads, posts and when they come.
//!
//! Apart from the web of topic islands: a forum is a matter of time, that web one of links.

mod activity;

pub use activity::{Activity, ActivitySpec, BoardActivity, Event, Posting, ThreadActivity};
