//! What makes a site a forum, and how is one read? Boards, threads, posts and the times of both.
//!
//! Uses `suidao-page`. No rule refers to specific forum software: link classes, boards and posts are found by
//! repetition on a site's pages. Pure: facts in, decisions out.
//!
//! Start with [`forum::site`] (state of one site), then [`forum::links`] and [`forum::board`] (recognises boards),
//! [`forum::posts`] (extracts posts) and [`forum::schedule`] (when to revisit each board).

#![warn(clippy::print_stdout, clippy::print_stderr)] // the program prints through src/cli/terminal.rs

pub mod forum;
