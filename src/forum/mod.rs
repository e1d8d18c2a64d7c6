//! What makes a site a forum, and how one is read: boards that list threads, pages that continue them, posts.
//! Pure: pages and times in, decisions out.
//!
//! Papers: Li, Cheng, Guo, Zhang 2007 (board-topic correlation judgement, BTCJ); Du, Ma 2010 (incremental crawling by
//! boards, BIC and BRA).

pub mod increment;
pub mod schedule;
