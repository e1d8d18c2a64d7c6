//! `suidao mcp`: the crawls of a folder for an agent, over standard input and output.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use suidao::service::agent::Agent;
use suidao::service::{CrawlService, ServedFolder};

use super::outcome::Exit;
use super::serve::program;

/// Give an agent tools to search and read crawls, by the Model Context Protocol on standard input and output.
#[derive(Args)]
#[command(
    after_help = "Example: suidao mcp crawls\n\nConfiguration of an agent:\n  {\"mcpServers\": {\"suidao\": {\"command\": \"suidao\", \
    \"args\": [\"mcp\", \"/home/me/crawls\"]}}}"
)]
pub struct McpArgs {
    /// Folder of crawl directories
    pub directory: PathBuf,
    /// The agent may also start, stop and change crawls
    #[arg(long)]
    pub allow_control: bool,
    /// Configuration file for all crawls, with what no crawl may set itself: proxy, private addresses, credentials, judge
    #[arg(short, long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,
}

/// Runs until the input ends.
pub fn run(args: &McpArgs) -> Result<Exit> {
    let program = program(args.config.as_deref())?;
    let folder = match args.allow_control {
        true => ServedFolder::open(&args.directory)?,
        false => ServedFolder::read_only(&args.directory)?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let service = CrawlService::new(folder, program);
        if args.allow_control {
            // The agent does not wait for crawls that are still stopping.
            let resumed = std::sync::Arc::clone(&service);
            tokio::spawn(async move { resumed.resume().await });
        }
        Agent::new(service, args.allow_control).serve_stdio().await.context("the agent's messages cannot be read")
    })?;
    // Reading standard input would hold it open.
    runtime.shutdown_background();
    Ok(Exit::Done)
}
