//! The program: see `suidao --help`.

#![warn(clippy::print_stdout, clippy::print_stderr)] // print through cli/terminal.rs

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
