//! What makes a site a forum, and how one is read: boards that list threads, pages that continue them, posts.
//! Pure: pages and times in, decisions out.
//!
//! Papers: Li, Cheng, Guo, Zhang 2007 (board-topic correlation judgement, BTCJ); Du, Ma 2010 (incremental crawling by
//! boards, BIC and BRA).

mod cursor;
mod declared;
mod fields;
mod login;
mod posts;
mod records;
mod region;
mod rows;
#[cfg(test)]
mod skins;
mod times;
mod tree;

pub use login::asks_login;
pub use posts::posts;
pub use records::records;
pub use tree::Tree;
