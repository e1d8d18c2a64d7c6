//! `suidao serve`: a search page for a crawl.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use clap::Args;
use suidao::config;
use suidao::serve::{SearchSite, serve};
use tokio::net::TcpListener;

use super::index::current;
use super::outcome::{Exit, Verbosity};
use super::signals::interrupts;
use super::source::CrawlSourceArgs;

/// Serve a local search page for a crawl.
#[derive(Args)]
#[command(
    after_help = "Example: suidao serve ml\n\nThere is no password: anybody who can reach the address can read the corpus."
)]
pub struct ServeArgs {
    #[command(flatten)]
    pub source: CrawlSourceArgs,
    /// Address and port to listen on; a port alone means 127.0.0.1, port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8090", value_parser = address, help_heading = "Network")]
    pub listen: SocketAddr,
    /// Further host name to accept on a loopback address, for example behind a reverse proxy; may be repeated
    #[arg(long = "name", value_name = "NAME", help_heading = "Network")]
    pub names: Vec<String>,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    config::address(text).map_err(|_| "expected an address such as 127.0.0.1:8090, or a port such as 8090")
}

/// Runs until Ctrl-C.
pub fn run(args: &ServeArgs, verbosity: Verbosity) -> Result<Exit> {
    let source = args.source.open()?;
    let index = current(source.path(), None, verbosity)?;
    let site = SearchSite::new(index, &source.to_string());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(args.listen)
            .await
            .with_context(|| format!("cannot listen on {}; choose another address with --listen", args.listen))?;
        let address = listener.local_addr()?;
        let end = interrupts();
        if !verbosity.quiet {
            outln!("http://{address}/");
            if !address.ip().is_loopback() {
                errln!(
                    "warning: there is no password: anybody who can reach this machine on port {} can read the corpus",
                    address.port()
                );
            }
            errln!("Press Ctrl-C to stop.");
        }
        let names = args.names.iter().map(|name| name.to_ascii_lowercase()).collect();
        serve(listener, site, names, end).await;
        Ok(Exit::Done)
    })
}
