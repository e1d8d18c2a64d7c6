//! `suidao serve`: a search page for a crawl, or the service of a folder of crawls.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use suidao::config::{self, Config};
use suidao::serve::{SearchSite, serve};
use suidao::service::http::{self, Access};
use suidao::service::{CrawlService, Program, ServedFolder};
use suidao::store::CrawlDirectory;
use tokio::net::TcpListener;

use super::index::current;
use super::outcome::{Exit, Verbosity};
use super::signals::interrupts;
use super::source::CrawlSourceArgs;

/// Serve crawls: of a folder the HTTP API, with which crawls are made, run, labelled, searched and exported; of one crawl
/// directory a search page.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  suidao serve crawls\n  suidao serve ml\n\nWithout --token-file anybody who can reach \
        the address can use it. A folder is served on other addresses than this machine's own only with a token."
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
    /// Of a folder: file with the token that every request must have (Authorization: Bearer TOKEN)
    #[arg(long, value_name = "FILE", help_heading = "Network")]
    pub token_file: Option<PathBuf>,
    /// Of a folder: website whose scripts may use the API, such as https://ui.example.cn; may be repeated
    #[arg(long = "cors", value_name = "ORIGIN", help_heading = "Network")]
    pub origins: Vec<String>,
    /// Of a folder: agents at /mcp may also start, stop and change crawls
    #[cfg(feature = "mcp")]
    #[arg(long, help_heading = "Network")]
    pub allow_control: bool,
    /// Of a folder: configuration file for all crawls, with what no crawl may set itself: proxy, private addresses,
    /// credentials, judge
    #[arg(short, long, value_name = "FILE", help_heading = "Configuration")]
    pub config: Option<PathBuf>,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    config::address(text).map_err(|_| "expected an address such as 127.0.0.1:8090, or a port such as 8090")
}

/// Runs until Ctrl-C.
pub fn run(args: &ServeArgs, verbosity: Verbosity) -> Result<Exit> {
    if is_folder(args) {
        return folder(args, verbosity);
    }
    let of_folder = [
        (args.token_file.is_some(), "--token-file"),
        (!args.origins.is_empty(), "--cors"),
        #[cfg(feature = "mcp")]
        (args.allow_control, "--allow-control"),
        (args.config.is_some(), "--config"),
    ];
    if let Some((_, flag)) = of_folder.into_iter().find(|(is_given, _)| *is_given) {
        bail!("{flag} is for a folder of crawls, and {} is a crawl; leave it out", args.source.directory.display());
    }
    let source = args.source.open()?;
    let index = current(source.path(), None, verbosity)?;
    let site = SearchSite::new(index, &source.to_string());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = listener(args).await?;
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

async fn listener(args: &ServeArgs) -> Result<TcpListener> {
    let listener = TcpListener::bind(args.listen).await;
    listener.with_context(|| format!("cannot listen on {}; choose another address with --listen", args.listen))
}

/// Whether the directory holds crawls and is not one itself.
fn is_folder(args: &ServeArgs) -> bool {
    let directory = CrawlDirectory::new(&args.source.directory);
    args.source.cluster().is_none() && !directory.state().exists() && !directory.pages().exists()
}

/// Serves a folder of crawls until Ctrl-C.
fn folder(args: &ServeArgs, verbosity: Verbosity) -> Result<Exit> {
    let token = args.token_file.as_deref().map(token).transpose()?;
    ensure!(
        token.is_some() || args.listen.ip().is_loopback(),
        "{} can be reached from other machines, and the service controls crawls; give a token with --token-file FILE",
        args.listen
    );
    let program = program(args.config.as_deref())?;
    let is_new = !args.source.directory.exists();
    let folder = ServedFolder::open(&args.source.directory)?;
    if is_new {
        infoln!(verbosity, "Made the folder {}", folder.root().display());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener = listener(args).await?;
        let address = listener.local_addr()?;
        let end = interrupts();
        if !verbosity.quiet {
            outln!("http://{address}/");
            errln!("Serving {}. Press Ctrl-C to stop; the crawls go on with the next start.", folder.root().display());
        }
        let names = args.names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let names = address.ip().is_loopback().then_some(names);
        let access = Access::new(token, names, args.origins.clone());
        #[cfg(feature = "mcp")]
        let access = access.with_control(args.allow_control);
        let service = CrawlService::new(folder, program);
        http::serve(listener, service, access, end).await;
        Ok(Exit::Done)
    })
}

/// This program, with the administrator's configuration.
pub fn program(config: Option<&Path>) -> Result<Program> {
    if let Some(path) = config {
        // So that an error in it is told now, and not by every crawl.
        Config::load([path], &[])?;
    }
    let machine = config.map(std::path::absolute).transpose().context("cannot find --config")?;
    let executable = std::env::current_exe().context("cannot find the program itself")?;
    Ok(Program { executable, machine })
}

/// The token in a file: one line of at least 16 characters.
fn token(path: &Path) -> Result<String> {
    let name = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the token {name}"))?;
    let token = text.trim();
    let is_token = token.len() >= 16 && token.chars().all(|letter| letter.is_ascii_graphic());
    ensure!(is_token, "{name}: the token must be one line of at least 16 ASCII characters without spaces");
    Ok(token.to_owned())
}
