//! What makes a site a forum, and how is one read? Boards, threads and posts, without a rule for any software.

pub mod forum;
