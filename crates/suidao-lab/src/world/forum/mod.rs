//! A generated forum: boards, threads and posts over time, with skins that imitate forum software in use.
//!
//! Content and times are the same in every skin ([`Activity`], text); a skin (`skins/`) is only a page template and a
//! list of URLs.

mod activity;
mod address;
mod response;
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
