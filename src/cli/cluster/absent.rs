//! `suidao cluster`, `suidao worker` and `cluster:NAME` in a program that was built without the feature `cluster`: they
//! say how to install it.

use std::ffi::OsString;

use anyhow::{Error, Result, bail};
use clap::Args;
use suidao::store::CrawlDirectory;

use super::outcome::{Exit, Verbosity};
use super::refresh::RefreshArgs;

const ABSENT: &str = "this suidao was built without distributed crawls; install it with them from the source directory: \
                      `cargo install --path . --features cluster`";

/// The words of a command that is not in this program.
#[derive(Args)]
#[command(after_help = "This program was built without distributed crawls. Examples:\n  \
                        cargo install --path . --features cluster\n  suidao cluster --help\n  suidao worker --help")]
pub struct Absent {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<OsString>,
}

pub use Absent as ClusterArgs;
pub use Absent as WorkerArgs;

pub fn run(_: &Absent, _: Verbosity) -> Result<Exit> {
    bail!(ABSENT);
}

pub fn work(_: &Absent, _: Verbosity) -> Result<Exit> {
    bail!(ABSENT);
}

pub fn demo(_: usize, _: u64, _: Verbosity) -> Result<Exit> {
    bail!(ABSENT);
}

pub fn refresh(_: &str, args: &RefreshArgs, _: Verbosity) -> Result<Exit> {
    let RefreshArgs { nats: _nats, worker: _worker, .. } = args;
    bail!(ABSENT);
}

pub fn view(_: &str, _: &str, _: &CrawlDirectory) -> Result<()> {
    bail!(ABSENT);
}

pub fn is_environment(_: &Error) -> bool {
    false
}
