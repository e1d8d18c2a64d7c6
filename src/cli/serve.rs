//! `suidao serve`: a search page for a crawl.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use suidao::config;
use suidao::serve::{Site, serve};
use tokio::net::TcpListener;

use super::crawl::interrupts;
use super::index::current;
use super::{Exit, Voice};

/// A search page for the pages of a crawl, on this machine.
#[derive(Args)]
#[command(
    after_help = "Example: suidao serve ml\n\nAnybody who can reach the address can read the corpus: another than this machine's \
    own shows it to others."
)]
pub struct ServeArgs {
    /// Crawl directory; its index is made or made anew where pages were fetched since
    pub directory: PathBuf,
    /// Address and port; a port alone is on 127.0.0.1, port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8090", value_parser = address)]
    pub listen: SocketAddr,
    /// Name under which it may be asked for too (behind a web server of your own, say), where it listens at an address of
    /// this machine alone; may be repeated
    #[arg(long = "name", value_name = "NAME")]
    pub names: Vec<String>,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    config::address(text).map_err(|_| "write it as 127.0.0.1:8090, or as a port: 8090")
}

/// Runs the verb: until Ctrl-C, which is its end.
pub fn run(args: &ServeArgs, voice: Voice) -> Result<Exit> {
    let index = current(&args.directory, voice)?;
    let site = Site::new(index, &args.directory.display().to_string());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(args.listen)
            .await
            .with_context(|| format!("cannot listen on {}; give another with --listen", args.listen))?;
        let address = listener.local_addr()?;
        let end = interrupts();
        if !voice.quiet {
            say!("http://{address}/");
            if !address.ip().is_loopback() {
                note!(
                    "warning: everybody in the network who can reach this machine at port {} can read the corpus; there is no \
                     password",
                    address.port()
                );
            }
            note!("serving until Ctrl-C");
        }
        let names = args.names.iter().map(|name| name.to_ascii_lowercase()).collect();
        serve(listener, site, names, end).await;
        Ok(Exit::Done)
    })
}
