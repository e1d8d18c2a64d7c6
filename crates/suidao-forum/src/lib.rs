//! What makes a site a forum, and how is one read? Boards, threads, posts and the times of both.
//!
//! Uses `suidao-page`. It promises to know no software by name: link classes, boards and posts are found by what repeats on
//! the pages of a site. Pure: facts in, decisions out.
//!
//! Start with [`forum::site`] (what a crawl knows of one site), then [`forum::links`] and [`forum::board`] (what is a board),
//! [`forum::posts`] (what was said) and [`forum::schedule`] (when to come back to each board).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints, through its one door

pub mod forum;
