//! What every verb takes and returns: how much it prints, and how it ended.

use clap::Args;

/// How much is printed.
#[derive(Args, Clone, Copy)]
pub struct Verbosity {
    /// Print more detail, such as each page's outcome (-vv for traces)
    #[arg(short, long, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(super) verbose: u8,
    /// Print only errors
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Print the progress of exports, indexes and rescoring as lines of JSON on standard error, for programs:
    /// {"progress":[DONE,OF]}
    #[arg(long, global = true)]
    pub(super) progress: bool,
}

/// How a verb ended, unless with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done,
    /// It stopped before its goal.
    Incomplete,
    /// Its input was wrong, and the error was printed.
    Invalid,
    Interrupted,
}
