//! Recognises and reads forums: boards that list threads, pages that continue them, posts. Pure: pages and times in,
//! decisions out.
//!
//! Papers: Li, Cheng, Guo, Zhang 2007 (board-topic correlation judgement, BTCJ); Du, Ma 2010 (incremental crawling by
//! boards, BIC and BRA).

/// Sections of words; see the file.
const WORDS: &str = include_str!("words.txt");

pub mod analysis;
mod authors;
pub mod board;
mod bodies;
pub mod clock;
mod columns;
mod cursor;
pub mod date_order;
mod declared;
pub mod evidence;
pub mod explore;
mod fields;
pub mod increment;
pub mod links;
mod login;
mod mail;
pub mod map;
mod page_marks;
pub mod paging;
mod post_numbers;
mod posts;
mod records;
mod region;
mod rows;
pub mod schedule;
pub mod signatures;
pub mod site;
pub mod sites;
#[cfg(test)]
mod skins;
mod stated_authors;
mod sticky;
pub mod tally;
mod time_labels;
mod times;
mod titles;
mod tree;
pub mod url_classes;

pub use login::asks_login;
pub use posts::{posts, posts_of_thread};
pub use records::records;
pub use tree::Tree;
