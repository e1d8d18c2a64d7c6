//! The command: see `suidao --help`.

#![warn(clippy::print_stdout, clippy::print_stderr)] // cli/door.rs is the way

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
