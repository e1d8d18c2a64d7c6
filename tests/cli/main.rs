//! Tests of the command line: every verb, invalid input, the tutorial.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)] // for tests, which wait for processes

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod commands;
mod compare;
mod documentation;
mod events;
mod examples;
mod import;
mod judge;
mod operate;
mod python;
mod replay;
mod seeds;
mod topic;
mod tutorial;
