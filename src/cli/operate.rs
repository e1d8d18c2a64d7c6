//! Flags of long-running verbs: stop conditions, status page, log.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::Args;
use suidao::config::{self, Config};
use suidao::live::{self, CrawlMonitor, CrawlReport, Job, News};
use suidao::status;
use suidao::store::CrawlDirectory;

use super::control;
use super::journal;
use super::outcome::Verbosity;
use super::signals::interrupted;

/// The help of --max-requests where no limit follows from --max-pages.
pub const UNLIMITED: &str = "Stop after N requests, successful or not [default: no limit]";

/// When a crawl is done.
#[derive(Args)]
pub struct GoalsArgs {
    /// Stop after N pages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub max_pages: Option<u64>,
    /// Stop after N requests, successful or not [default: ten per page of --max-pages, plus 1000; without --max-pages,
    /// no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub max_requests: Option<u64>,
    /// Stop when a condition is met: pages=N, relevant=N, bytes=2GB, minutes=N (of this run; of a cluster, in all) or
    /// harvest<0.05/1000 (fewer than 5% of the last 1000 pages are relevant); may be repeated
    #[arg(long = "stop-when", value_name = "CONDITION", help_heading = "Limits")]
    pub stop_when: Vec<String>,
}

impl GoalsArgs {
    /// Overrides the same conditions of the configuration. Of --stop-when pages=N and --max-pages the smaller counts.
    pub fn apply(&self, config: &mut Config) -> Result<()> {
        let mut given = suidao::crawl::StopConditions::default();
        for condition in &self.stop_when {
            if let Err(wrong) = given.add(condition) {
                bail!("--stop-when {condition}: {wrong}");
            }
        }
        config.limits.pages = given.pages.into_iter().chain(self.max_pages).min().or(config.limits.pages);
        config.limits.requests = self.max_requests.or(config.limits.requests);
        let stop = &mut config.stop;
        stop.relevant = given.relevant.or(stop.relevant);
        stop.bytes = given.bytes.or(stop.bytes);
        stop.minutes = given.minutes.or(stop.minutes);
        stop.harvest = given.harvest.or(stop.harvest);
        Ok(config.check()?)
    }
}

/// Status page and log of a crawl.
#[derive(Args)]
pub struct OperatingArgs {
    /// Serve a status page at this address, and Prometheus metrics at /metrics; a port alone means 127.0.0.1
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "Output")]
    pub status: Option<String>,
    /// Log file [default: log/crawl.log in the crawl directory]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub log: Option<PathBuf>,
}

/// A crawl with a status page and a log.
struct Operation {
    /// `None` without a status page.
    monitor: Option<Arc<CrawlMonitor>>,
    /// Dropping it ends the status page.
    _page: Option<status::StatusServer>,
    log: Option<PathBuf>,
    config: Config,
}

impl OperatingArgs {
    /// The address of the status page, if one is wanted.
    pub fn address(&self, config: &Config) -> Result<Option<SocketAddr>> {
        let listen = self.status.as_deref().or(config.status.listen.as_deref());
        let address = |text| {
            config::address(text)
                .with_context(|| format!("--status {text}: expected an address such as 127.0.0.1:9090, or a port"))
        };
        listen.map(address).transpose()
    }

    /// Runs a job until it ends, or the user or (if `controlled`) a command on standard input stops it.
    pub fn run(
        &self,
        job: &Job,
        controlled: bool,
        verbosity: Verbosity,
        mut listener: impl FnMut(&News),
    ) -> Result<CrawlReport> {
        let mut operation = self.begin(&job.config, &job.directory, verbosity)?;
        let mut monitor = operation.monitor.clone();
        let commands = match controlled {
            true => {
                let monitor = monitor.get_or_insert_default();
                Some(control::follow(Arc::clone(monitor)).context("cannot start a thread for commands")?)
            }
            false => None,
        };
        let listener = |news: News| {
            operation.report(&news);
            listener(&news);
        };
        let stop = async {
            match commands {
                None => interrupted().await,
                Some(commands) => tokio::select! {
                    () = interrupted() => {}
                    () = commands => {}
                },
            }
        };
        Ok(live::run_monitored(job, monitor.as_ref(), listener, stop)?)
    }

    /// Opens page and log before anything is fetched: a port in use or a file that cannot be written is an error.
    fn begin(&self, config: &Config, directory: &CrawlDirectory, verbosity: Verbosity) -> Result<Operation> {
        let (mut monitor, mut page) = (None, None);
        if let Some(address) = self.address(config)? {
            let listener = TcpListener::bind(address).with_context(|| {
                format!("cannot serve the status page on {address}; choose another port with --status")
            })?;
            let window = Arc::new(CrawlMonitor::default());
            let server = status::serve(listener, Arc::clone(&window), directory.root(), &config.status.names)
                .context("cannot serve the status page")?;
            infoln!(verbosity, "suidao: status page at http://{}/", server.address());
            (monitor, page) = (Some(window), Some(server));
        }
        let given = self.log.clone().or_else(|| config.log.file.as_ref().map(PathBuf::from));
        if let Some(path) = &given {
            journal::open(path, journal::LogSource::Named, &config.log)
                .with_context(|| format!("cannot write the log {}; choose another file with --log", path.display()))?;
        }
        // The log in the crawl directory is opened when the directory is known to belong to this crawl.
        let log = given.is_none().then(|| directory.root().join("log").join("crawl.log"));
        Ok(Operation { monitor, _page: page, log, config: config.clone() })
    }
}

impl Operation {
    fn report(&mut self, news: &News) {
        if let (News::Ready { .. }, Some(path)) = (news, self.log.take())
            && let Err(error) = journal::open(&path, journal::LogSource::CrawlDirectory, &self.config.log)
        {
            // A crawl matters more than its log.
            errln!("suidao: the crawl continues without a log file: {error}; choose another with --log FILE");
        }
    }
}
