//! `suidao completions` and `suidao man`: what a shell and `man` need, made from the definitions of the arguments.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;

use super::outcome::Exit;

/// Print a completion script for a shell.
#[derive(Args)]
#[command(after_help = "Example: suidao completions bash > ~/.local/share/bash-completion/completions/suidao")]
pub struct CompletionsArgs {
    /// Shell
    pub shell: Shell,
}

/// Write man pages, one per verb.
#[derive(Args)]
#[command(after_help = "Example: suidao man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Directory for the pages; existing pages of suidao are replaced
    pub directory: PathBuf,
}

pub fn completions(args: &CompletionsArgs, command: &mut Command) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "suidao", &mut script);
    outln!("{}", String::from_utf8(script)?.trim_end());
    Ok(Exit::Done)
}

pub fn man(args: &ManArgs, command: Command) -> Result<Exit> {
    let name = args.directory.display();
    std::fs::create_dir_all(&args.directory)
        .and_then(|()| clap_mangen::generate_to(command, &args.directory))
        .with_context(|| format!("cannot write man pages to {name}; give a directory that you may write to"))?;
    Ok(Exit::Done)
}
