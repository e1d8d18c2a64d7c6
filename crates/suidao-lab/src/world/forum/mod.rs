//! A generated forum: boards, threads, posts and when they come, under the skins of the software in use.
//!
//! What is said, and when, is the same under every skin ([`Activity`], text); a skin (`skins/`) is a template of pages and a list of
//! URLs and nothing else.

mod activity;
mod address;
mod answer;
mod route;
mod site;
pub(in crate::world) mod skin;
mod spec;
#[cfg(test)]
mod tests;
mod text;
pub(in crate::world) mod times;
mod view;
mod web;
mod words;

pub use activity::{Activity, ActivitySpec, BoardActivity, Posting, ThreadActivity};
pub use site::{BoardTruth, Forum, ServedForumPage, ThreadTruth};
pub use skin::Skin;
pub use spec::ForumSpec;
pub use web::ForumWeb;
