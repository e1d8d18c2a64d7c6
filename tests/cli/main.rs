//! What people and programs meet at the command line: every verb, wrong input, the tutorial.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // test helpers may; processes are waited for

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod commands;
mod compare;
mod documentation;
mod operate;
mod replay;
mod topic;
mod tutorial;
