//! The command: see `suidao --help`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
