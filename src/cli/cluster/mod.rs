//! `suidao cluster` and `suidao worker`: a distributed crawl.

mod demo;
mod refresh;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Error, Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;
use suidao::cluster::{
    self, ClusterError, ClusterStatus, End, NatsConnection, NewCrawl, PartitionStatus, SharedCrawl, WorkerJob,
    WorkerNews, WorkerReport,
};
use suidao::config;
use suidao::html::{count, thousands};
use suidao::messages::Lang;
use suidao::status::serve_cluster;
use suidao::store::CrawlDirectory;
use suidao::strategy::StrategyName;
use tokio::net::TcpListener;

use super::inputs;
use super::names::one_of;
use super::nats::NatsArgs;
use super::network::NetworkArgs;
use super::operate::GoalsArgs;
use super::outcome::{Exit, Verbosity};
use super::signals::interrupted;

pub use demo::run as demo;
pub use refresh::run as refresh;

/// Manage a distributed crawl; `suidao worker` runs its workers.
#[derive(Args)]
#[command(
    after_help = "Example:\n  suidao cluster create ml -m lexicons/ml.toml -s seeds/ml.txt --max-pages 100000 --archive /shared/ml\n  \
        suidao worker ml -o work"
)]
pub struct ClusterArgs {
    #[command(subcommand)]
    verb: ClusterVerb,
}

#[derive(Subcommand)]
enum ClusterVerb {
    /// Create a crawl on a NATS server
    #[command(
        after_help = "Example: suidao cluster create ml -m lexicons/ml.toml -s seeds/ml.txt --max-pages 100000 --archive /shared/ml"
    )]
    Create(Box<CreateArgs>),
    /// Show workers, partitions and counts
    #[command(after_help = "Example: suidao cluster status ml --listen 9090")]
    Status(StatusArgs),
    /// Write a crawl directory from the pages and logs of all workers, for export, search and reports
    #[command(after_help = "Example: suidao cluster collect ml -o ml")]
    Collect(CollectArgs),
    /// Add seeds to a crawl; a finished crawl continues
    #[command(after_help = "Example: suidao cluster add ml -s more-seeds.txt")]
    Add(AddArgs),
    /// Stop all workers; the crawl continues when a worker starts
    #[command(after_help = "Example: suidao cluster stop ml")]
    Stop(NamedArgs),
    /// Remove a crawl from the server; its pages stay in the archive
    #[command(after_help = "Example: suidao cluster delete ml")]
    Delete(NamedArgs),
}

#[derive(Args)]
struct NamedArgs {
    /// Name of the crawl
    name: String,
    #[command(flatten)]
    nats: NatsArgs,
    /// Print the result as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Args)]
struct StatusArgs {
    #[command(flatten)]
    crawl: NamedArgs,
    /// Serve the status as a web page on this address, for example 127.0.0.1:9090; a port alone means 127.0.0.1
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "json", help_heading = "Network")]
    listen: Option<String>,
}

#[derive(Args)]
struct CreateArgs {
    /// Name of the crawl: 1 to 32 lower-case letters, digits, hyphens and underscores
    name: String,
    /// Lexicon of the topic
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    lexicon: PathBuf,
    /// Seed URLs
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    /// File of seed URLs, one per line
    #[arg(short, long, value_name = "FILE", help_heading = "Input")]
    seeds: Option<PathBuf>,
    #[command(flatten)]
    nats: NatsArgs,
    /// Directory for the pages, at the same path on all machines, or s3://BUCKET/FOLDER (keys and endpoint: AWS_*
    /// variables)
    #[arg(long, value_name = "DIR|URL", help_heading = "Output")]
    archive: String,
    /// Partitions, 1 to 65536; fixed for the life of the crawl, and the most workers that it can use
    #[arg(long, value_name = "N", default_value_t = 64)]
    partitions: u32,
    /// Crawl strategy [default: tunnel]
    #[arg(long, value_parser = one_of::<StrategyName>())]
    strategy: Option<StrategyName>,
    #[command(flatten)]
    goals: GoalsArgs,
    /// NATS servers that store each message: 1, or 3 for a group of servers of which one may fail
    #[arg(long, value_name = "N", default_value_t = 1)]
    replicas: usize,
    #[command(flatten)]
    network: NetworkArgs,
}

#[derive(Args)]
struct CollectArgs {
    /// Leave out pages whose files are missing because a worker lost its disk before it uploaded them
    #[arg(long, help_heading = "Input")]
    skip_missing: bool,
    #[command(flatten)]
    crawl: NamedArgs,
    /// New crawl directory
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: PathBuf,
}

#[derive(Args)]
struct AddArgs {
    /// Name of the crawl
    name: String,
    /// Seed URLs
    #[arg(value_name = "URL")]
    urls: Vec<String>,
    /// File of seed URLs, one per line
    #[arg(short, long, value_name = "FILE", help_heading = "Input")]
    seeds: Option<PathBuf>,
    #[command(flatten)]
    nats: NatsArgs,
}

/// Run a worker of a distributed crawl (`suidao cluster create`) until the crawl is done; Ctrl-C gives its partitions
/// to the others.
#[derive(Args)]
#[command(after_help = "Example: suidao worker ml -o work --nats nats://10.0.0.5:4222")]
pub struct WorkerArgs {
    /// Name of the crawl
    name: String,
    #[command(flatten)]
    nats: NatsArgs,
    /// Directory for the files of this machine; created if missing
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: PathBuf,
    /// Name of this worker: letters, digits, hyphens and underscores [default: the name of the machine]
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,
    /// Print the result as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    network: NetworkArgs,
}

pub fn run(args: &ClusterArgs, verbosity: Verbosity) -> Result<Exit> {
    match &args.verb {
        ClusterVerb::Create(args) => create(args, verbosity),
        ClusterVerb::Status(StatusArgs { crawl: args, listen: Some(listen) }) => serve_status(args, listen, verbosity),
        ClusterVerb::Status(StatusArgs { crawl: args, listen: None }) => {
            let status = on(args, async |nats| cluster::status(nats, &args.name).await)?;
            if args.json {
                outln!("{}", serde_json::to_string_pretty(&status)?);
            } else {
                outln!("{}", describe_status(&status));
            }
            Ok(Exit::Done)
        }
        ClusterVerb::Add(args) => {
            let seeds = inputs::seeds(&args.urls, args.seeds.as_deref())?;
            block_on(async {
                let nats = NatsConnection::connect(&args.nats.nats).await?;
                Ok(cluster::add_seeds(&nats, &args.name, &seeds, suidao::live::now()).await?)
            })?;
            infoln!(verbosity, "Added {} to {}.", count(seeds.len(), "seed", "seeds"), args.name);
            Ok(Exit::Done)
        }
        ClusterVerb::Collect(args) => {
            let directory = CrawlDirectory::new(&args.output);
            let collect = async |nats: &NatsConnection| {
                cluster::collect(&SharedCrawl::open(nats, &args.crawl.name).await?, &directory, args.skip_missing).await
            };
            let collected = on(&args.crawl, collect)?;
            if args.crawl.json {
                outln!("{}", serde_json::to_string_pretty(&collected)?);
            } else {
                infoln!(
                    verbosity,
                    "Wrote {} with {} pages, {} of them relevant.",
                    args.output.display(),
                    thousands(collected.pages),
                    thousands(collected.relevant)
                );
                if collected.missing > 0 {
                    infoln!(
                        verbosity,
                        "Left out {} whose files are missing.",
                        count(collected.missing, "page", "pages")
                    );
                }
            }
            Ok(Exit::Done)
        }
        ClusterVerb::Stop(args) => {
            on(args, async |nats| cluster::stop(nats, &args.name).await)?;
            infoln!(verbosity, "The workers of {} stop when their requests in flight are done.", args.name);
            Ok(Exit::Done)
        }
        ClusterVerb::Delete(args) => {
            let archive = on(args, async |nats| cluster::delete(nats, &args.name).await)?;
            infoln!(verbosity, "Deleted {}. Its pages are still in {archive}.", args.name);
            Ok(Exit::Done)
        }
    }
}

fn create(args: &CreateArgs, verbosity: Verbosity) -> Result<Exit> {
    let mut config = args.network.load()?;
    config.strategy.name = args.strategy.unwrap_or(config.strategy.name);
    args.goals.apply(&mut config)?;
    let topic = inputs::topic(&args.lexicon)?;
    let seeds = inputs::seeds(&args.urls, args.seeds.as_deref())?;
    let archive = match cluster::is_bucket(&args.archive) {
        true => args.archive.clone(),
        false => std::path::absolute(&args.archive)?.to_string_lossy().into_owned(),
    };
    let new = NewCrawl {
        name: args.name.clone(),
        lexicon: topic.lexicon().clone(),
        config: config.clone(),
        partitions: args.partitions,
        replicas: args.replicas,
        archive,
        created: suidao::live::now(),
    };
    block_on(async {
        let nats = NatsConnection::connect(&args.nats.nats).await?;
        Ok(cluster::create(&nats, &new, &seeds).await?)
    })?;
    args.network.warn_without_contact(&config, verbosity);
    infoln!(
        verbosity,
        "Created {} with {} and {}.\nStart workers on any machine: suidao worker {} -o DIR --nats URL",
        args.name,
        count(args.partitions as usize, "partition", "partitions"),
        count(seeds.len(), "seed", "seeds"),
        args.name
    );
    Ok(Exit::Done)
}

pub fn work(args: &WorkerArgs, verbosity: Verbosity) -> Result<Exit> {
    let WorkerArgs { name, nats, output, worker, json, network } = args;
    join(&Joining { name, nats, output, worker: worker.as_deref(), json: *json, network }, verbosity)
}

/// How a worker works for a crawl.
struct Joining<'a> {
    /// Of the crawl.
    name: &'a str,
    nats: &'a NatsArgs,
    output: &'a Path,
    worker: Option<&'a str>,
    json: bool,
    network: &'a NetworkArgs,
}

fn join(args: &Joining, verbosity: Verbosity) -> Result<Exit> {
    let name = match args.worker {
        Some(name) => name.to_owned(),
        None => rustix::system::uname().nodename().to_string_lossy().into_owned(),
    };
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    if name.is_empty() {
        bail!("the name of a worker cannot be empty; give letters, digits, hyphens or underscores with --worker");
    }
    let report = block_on(async {
        let nats = NatsConnection::connect(&args.nats.nats).await?;
        let shared = SharedCrawl::open(&nats, args.name).await?;
        let config = args.network.load_over(&shared.copy_config(args.output)?, true)?;
        let topic = Arc::new(shared.topic()?);
        let job = WorkerJob {
            shared,
            topic,
            config,
            files: args.output.to_owned(),
            nats: args.nats.nats.clone(),
            name: name.clone(),
        };
        let news = |news| match news {
            WorkerNews::Joined => infoln!(verbosity, "{name} works for {}.", args.name),
            WorkerNews::Owns(partitions) => tracing::debug!("{partitions} partitions"),
            WorkerNews::Pages(pages, relevant) => {
                infoln!(verbosity, "{} pages, {} relevant", thousands(pages), thousands(relevant))
            }
        };
        Ok(cluster::work(&job, news, interrupted()).await?)
    })?;
    if args.json {
        outln!(
            "{}",
            json!({"pages": report.pages, "relevant": report.relevant, "end": report.end, "crawl": report.status})
        );
    } else {
        infoln!(verbosity, "{}", describe(&report));
    }
    Ok(match report.end {
        None => Exit::Interrupted,
        // Also if hosts were unreachable: a service would start it again and again.
        Some(End::Stopped | End::Done(_)) => Exit::Done,
    })
}

/// Serves the status page until Ctrl-C.
fn serve_status(args: &NamedArgs, listen: &str, verbosity: Verbosity) -> Result<Exit> {
    let address = config::address(listen)
        .with_context(|| format!("--listen {listen}: expected an address such as 127.0.0.1:9090, or a port"))?;
    block_on(async {
        let nats = NatsConnection::connect(&args.nats.nats).await?;
        cluster::status(&nats, &args.name).await?;
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}; choose another address with --listen"))?;
        infoln!(verbosity, "http://{}/\nPress Ctrl-C to stop.", listener.local_addr()?);
        let name = args.name.clone();
        let read = move || {
            let (nats, name) = (nats.clone(), name.clone());
            async move { cluster::status(&nats, &name).await }
        };
        serve_cluster(listener, Vec::new(), read, interrupted()).await;
        Ok(Exit::Done)
    })
}

fn describe(report: &WorkerReport) -> String {
    let why = match report.end {
        None => "Interrupted. The other workers continue; rerun the same command to join again.",
        Some(End::Stopped) => "Stopped. Start a worker to continue.",
        Some(End::Done(stop)) => stop.reason(Lang::English),
    };
    let own = format!(
        "This worker fetched {} pages, {} of them relevant.",
        thousands(report.pages),
        thousands(report.relevant)
    );
    let all = report.status.as_ref().map_or_else(String::new, |status| format!("\n{}", describe_status(status)));
    format!("{why}\n{own}{all}")
}

fn describe_status(status: &ClusterStatus) -> String {
    let total = status.total();
    let state = match status.end {
        Some(End::Done(stop)) => stop.reason(Lang::English),
        Some(End::Stopped) => "Stopped by `suidao cluster stop`.",
        None if status.alive().next().is_none() => "No worker is running.",
        None => "Running.",
    };
    let limit = status.limit.map_or_else(String::new, |limit| format!(" of {}", thousands(limit)));
    let mut text = format!(
        "{}: {state} {} of {} partitions have a worker.\n{}{limit} pages, {} relevant ({:.1}%), {} queued, {} in flight",
        status.name,
        thousands(status.owned() as u64),
        thousands(status.partitions.into()),
        thousands(total.pages),
        thousands(total.relevant),
        100.0 * total.relevant as f64 / total.pages.max(1) as f64,
        thousands(total.queued),
        thousands(total.in_flight),
    );
    if let Some((requests, visits)) = round_of(status) {
        text += &format!("\nRound of revisits: {} sent, {} to known pages in all rounds", requests, visits);
    }
    if status.end.is_none() {
        text += &format!(", {} messages with links to deliver", thousands(status.waiting_links));
    }
    for (name, worker) in &status.workers {
        let sum = |count: fn(&PartitionStatus) -> u64| thousands(worker.partitions.values().map(count).sum());
        text += &format!(
            "\n  {name}{}: {} partitions, {} pages, {} relevant, {} queued, {} in flight",
            if worker.alive { "" } else { " (left)" },
            worker.partitions.len(),
            sum(|part| part.pages),
            sum(|part| part.relevant),
            sum(|part| part.queued),
            sum(|part| part.in_flight),
        );
        if worker.alive {
            text += &format!(", {:.1} pages/s, {:.1} links/s", worker.pages_per_second, worker.links_per_second);
        }
    }
    text
}

/// Requests of the round that workers report, and visits to known pages so far.
fn round_of(status: &ClusterStatus) -> Option<(String, String)> {
    let spent = status.round_requests()?;
    let visits = status.total().visits as usize;
    Some((count(spent as usize, "request", "requests"), count(visits, "visit", "visits")))
}

fn on<T>(args: &NamedArgs, ask: impl AsyncFnOnce(&NatsConnection) -> Result<T, ClusterError>) -> Result<T> {
    block_on(async { Ok(ask(&NatsConnection::connect(&args.nats.nats).await?).await?) })
}

/// Makes a directory with the current state of a crawl.
pub fn view(nats: &str, name: &str, directory: &CrawlDirectory) -> Result<()> {
    block_on(async {
        let shared = SharedCrawl::open(&NatsConnection::connect(nats).await?, name).await?;
        Ok(cluster::view(&shared, directory).await?)
    })
}

/// Whether server, disk or network failed, not the user's input.
pub fn is_environment(error: &Error) -> bool {
    error.chain().any(|cause| cause.downcast_ref().is_some_and(ClusterError::is_environment))
}

/// Runs a future that uses a NATS server.
fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(work)
}
