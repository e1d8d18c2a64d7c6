//! `suidao demo --workers N`: a cluster on this machine. One process crawls a generated web to its end, then N workers
//! do, one of which is killed in the middle, and both have the same pages.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use suidao::cluster::{self, ClusterStatus, NatsConnection, NewCrawl, SharedCrawl};
use suidao::config::Config;
use suidao::html::{count, thousands};
use suidao::live::{self, Job, monotonic_now};
use suidao::model::Event;
use suidao::recorded;
use suidao::store::{CrawlDirectory, Store};
use suidao::strategy::StrategyName;
use suidao::topic::Topic;
use suidao::world::{Proxied, ServedRequest, ServerOptions, SyntheticWeb, WebServer, WebSpec};

use crate::cli::outcome::{Exit, Verbosity};
use crate::cli::temporary::temporary_directory;

/// Name of the crawl.
const NAME: &str = "demo";
const PARTITIONS: u32 = 16;
const IN_FLIGHT: usize = 8;
/// The longest time for the whole crawl.
const BOUND: Duration = Duration::from_secs(300);

/// A process that is killed when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn run(workers: usize, seed: u64, verbosity: Verbosity) -> Result<Exit> {
    let server = nats_server()?;
    let scratch = temporary_directory()?;
    // Without endless parts: the pages do not depend on the order.
    let spec = WebSpec { pages: 1_200, hosts: 24, calendar_hosts: 0.0, session_hosts: 0.0, seed, ..WebSpec::demo() };
    let world = Arc::new(SyntheticWeb::new(spec).context("cannot generate the demo web")?);
    let options = ServerOptions { delay: Duration::from_millis(20), log: true, ..ServerOptions::default() };
    let web = WebServer::start_with(Arc::new(Proxied(Arc::clone(&world))), options)
        .context("cannot serve the demo web on 127.0.0.1; check the loopback interface")?;
    let topic = Arc::new(Topic::new(recorded::learn(&world)?));

    infoln!(verbosity, "One process crawls a generated web of {} blogs to its end ...", world.spec().hosts);
    let config = config(&web);
    let one = CrawlDirectory::new(scratch.path().join("one"));
    let job = Job::new(Arc::clone(&topic), world.seeds(), config.clone(), one.clone());
    if live::run(&job, |_| {}, crate::cli::signals::interrupted())?.stop.is_none() {
        return Ok(Exit::Interrupted);
    }
    let (expected, asked) = (pages(&one)?, web.log().len());

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let nats = format!("nats://127.0.0.1:{port}");
    let _server = start_server(&server, port, &scratch.path().join("nats"))?;
    let new = NewCrawl {
        name: NAME.to_owned(),
        lexicon: topic.lexicon().clone(),
        config,
        partitions: PARTITIONS,
        replicas: 1,
        archive: scratch.path().join("pages").to_string_lossy().into_owned(),
        created: live::now(),
    };
    let connection = runtime.block_on(async {
        let connection = NatsConnection::connect(&nats).await?;
        cluster::create(&connection, &new, &world.seeds()).await?;
        Ok::<_, cluster::ClusterError>(connection)
    })?;
    let status = || runtime.block_on(cluster::status(&connection, NAME));
    infoln!(verbosity, "{} crawl it ...", count(workers, "worker", "workers"));
    let mut running =
        (1..=workers).map(|number| worker(number, &nats, &web, scratch.path())).collect::<Result<Vec<_>>>()?;

    let begun = monotonic_now();
    let mut takeover = None;
    until(begun, || Ok(status()?.total().pages >= expected.len() as u64 / 3))?;
    if workers > 1 {
        drop(running.remove(workers - 1));
        infoln!(verbosity, "Worker {workers} is killed ...");
        let killed = monotonic_now();
        until(begun, || {
            let status = status()?;
            Ok(owned_by_others(&status, workers) == PARTITIONS as usize || status.end.is_some())
        })?;
        takeover = Some(monotonic_now().duration_since(killed));
    }
    until(begun, || Ok(status()?.end.is_some()))?;
    for mut worker in running {
        worker.0.wait()?;
    }
    let collected = CrawlDirectory::new(scratch.path().join("collected"));
    runtime
        .block_on(async { cluster::collect(&SharedCrawl::open(&connection, NAME).await?, &collected, false).await })?;
    let found = pages(&collected)?;
    outln!("{}", table(&expected, &found, &web.log()[asked..], takeover));
    Ok(if found == expected { Exit::Done } else { Exit::Incomplete })
}

/// Breadth-first to the end.
fn config(web: &WebServer) -> Config {
    let mut config = Config::default();
    config.strategy.name = StrategyName::BreadthFirst;
    config.limits.hops = Some(10_000);
    config.crawl.in_flight = IN_FLIGHT;
    config.politeness.delay = 0.0;
    config.politeness.backoff = 0.0;
    config.politeness.robots_retry = 0.0;
    config.fetch.proxy = Some(web.proxy());
    config.fetch.contact = Some("suidao demo on loopback".to_owned());
    config
}

/// The NATS server to start.
fn nats_server() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("NATS_SERVER") {
        return Ok(path.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("nats-server")).find(|file| file.is_file());
    found.context("there is no nats-server on the path; install NATS 2.9 or later (Debian: nats-server), or set NATS_SERVER to its path")
}

fn start_server(program: &Path, port: u16, files: &Path) -> Result<Process> {
    let mut command = Command::new(program);
    command.args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"]).arg(files);
    let server = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut server = Process(server.with_context(|| format!("cannot start {}", program.display()))?);
    until(monotonic_now(), || {
        if let Some(status) = server.0.try_wait()? {
            bail!("{} ended at once ({status}); run it with -js to see why", program.display());
        }
        Ok(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok())
    })?;
    Ok(server)
}

fn worker(number: usize, nats: &str, web: &WebServer, scratch: &Path) -> Result<Process> {
    let name = format!("worker-{number}");
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--quiet", "worker", NAME, "--worker", &name, "--nats", nats, "--proxy", &web.proxy(), "-o"]);
    command.arg(scratch.join(&name)).stdin(Stdio::null()).stdout(Stdio::null());
    Ok(Process(command.spawn().context("cannot start a worker")?))
}

/// Partitions that another worker than the killed one reports.
fn owned_by_others(status: &ClusterStatus, killed: usize) -> usize {
    let killed = format!("worker-{killed}");
    let others = status.workers.iter().filter(|(name, worker)| worker.alive && **name != killed);
    others.map(|(_, worker)| worker.partitions.len()).sum()
}

/// Waits for a condition, a while.
fn until(begun: Instant, mut reached: impl FnMut() -> Result<bool>) -> Result<()> {
    while !reached()? {
        if monotonic_now().duration_since(begun) > BOUND {
            bail!(
                "the demo took longer than {} s, so it was ended; close other programs, or use fewer workers \
                 (--workers)",
                BOUND.as_secs()
            );
        }
        wait();
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "an edge: other processes work meanwhile")]
fn wait() {
    std::thread::sleep(Duration::from_millis(50));
}

/// The URLs of a crawl's pages.
fn pages(directory: &CrawlDirectory) -> Result<BTreeSet<String>> {
    let (mut urls, mut pages) = (Vec::new(), BTreeSet::new());
    for record in Store::open(directory)?.batches() {
        for event in record?.batch.events {
            match event {
                Event::Discovered(found) => urls.push(found.url.to_string()),
                Event::PageFetched(page) => pages.extend(urls.get(page.id.0 as usize).cloned()),
                _ => {}
            }
        }
    }
    Ok(pages)
}

fn table(
    expected: &BTreeSet<String>,
    found: &BTreeSet<String>,
    requests: &[ServedRequest],
    takeover: Option<Duration>,
) -> String {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for request in requests.iter().filter(|request| request.status < 500) {
        *times.entry(format!("http://{}{}", request.host, request.path)).or_default() += 1;
    }
    let twice = found.iter().filter(|url| times.get(*url).is_some_and(|times| *times > 1)).count();
    let lost = expected.difference(found).count();
    let same = if lost == 0 && found.len() == expected.len() { "yes" } else { "no" };
    let takeover =
        takeover.map_or_else(|| "no worker was killed".to_owned(), |time| format!("{:.1} s", time.as_secs_f64()));
    format!(
        "\npages               {}\nlost                {lost}\nfetched twice       {twice} (at most {IN_FLIGHT} were in flight in the killed worker)\n\
         takeover            {takeover}\nas by one process   {same} ({} pages)",
        thousands(found.len() as u64),
        thousands(expected.len() as u64)
    )
}
