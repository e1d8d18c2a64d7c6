//! A generated forum: boards, threads, posts and when they come, under the skins of the software in use.
//!
//! What is said, and when, is the same under every skin ([`Activity`], text); a skin writes pages and URLs and nothing
//! else.

mod activity;
mod address;
mod answer;
mod bbs;
mod cards;
mod discuz;
mod english;
mod functional;
mod path;
mod phpbb;
mod query;
mod route;
mod site;
mod skin;
mod slug;
mod spec;
#[cfg(test)]
mod tests;
mod text;
mod tieba;
pub(in crate::world) mod times;
mod vbulletin;
mod view;
mod web;
mod words;

pub use activity::{Activity, ActivitySpec, BoardActivity, Event, Posting, ThreadActivity};
pub use site::{BoardTruth, Forum, Kind, ThreadTruth};
pub use skin::Skin;
pub use spec::{Beyond, ForumSpec, ForumSpecError, Traps};
pub use web::ForumWeb;
