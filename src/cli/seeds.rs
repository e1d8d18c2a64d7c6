//! `suidao seeds`: proposes seeds for a topic.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use suidao::config::Config;
use suidao::fetch::Fetcher;
use suidao::html::count;
use suidao::seeds::search::ServiceRequest;
use suidao::seeds::{CdxHosts, Proposal, Service, file, of_crawl, search};
use suidao::store::directory::write_whole;
use suidao::topic::Topic;

use super::export::with_progress;
use super::inputs;
use super::network::NetworkArgs;
use super::outcome::{Exit, Verbosity};

/// Propose seeds for a topic: from the links of a crawl, a web archive's index or a search service.
///
/// The output is a seeds file with a reason for each URL. Read it and delete what is not about the topic.
#[derive(Args)]
#[command(mut_arg("render", |flag| flag.hide(true)))]
#[command(after_help = "Example: suidao seeds -m lexicons/ml.toml --crawl ml -o more-seeds.txt")]
pub struct SeedsArgs {
    /// Lexicon of the topic
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    lexicon: PathBuf,
    /// Crawl directory: hosts that its relevant pages link to and that it has not visited
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    crawl: Option<PathBuf>,
    /// Index of a web archive (CDXJ, or lines of JSON): hosts with words of the topic in their URLs
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    cdxj: Option<PathBuf>,
    /// CDX server of a web archive: hosts with words of the topic in their URLs, such as
    /// https://index.commoncrawl.org/CC-MAIN-2024-10-index?url=*.cn&output=json
    #[arg(long, value_name = "URL", help_heading = "Input")]
    cdx: Option<String>,
    /// Search service to ask for the heaviest terms: brave, serper, bing, or a file that describes another
    #[arg(long, value_name = "SERVICE|FILE", help_heading = "Input")]
    search: Option<String>,
    /// Number of terms to search for
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000), requires = "search", help_heading = "Input")]
    queries: u32,
    /// Maximum number of hosts per source
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, help_heading = "Output")]
    limit: usize,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    #[command(flatten)]
    network: NetworkArgs,
}

pub fn run(args: &SeedsArgs, verbosity: Verbosity) -> Result<Exit> {
    let topic = inputs::topic(&args.lexicon)?;
    if args.network.render.is_some() {
        bail!("--render does not apply, because `suidao seeds` fetches no pages; remove it");
    }
    let config = args.network.load()?;
    if args.cdx.is_some() || args.search.is_some() {
        args.network.warn_without_contact(&config, verbosity);
    }
    let mut proposals = Vec::new();
    let mut add = |more: Vec<Proposal>| proposals.extend(more.into_iter().take(args.limit));
    if let Some(directory) = &args.crawl {
        let (store, catalogue) = inputs::crawl(directory)?;
        let pages = catalogue.entries.iter().filter(|entry| entry.is_relevant()).count() as u64;
        add(with_progress(pages, verbosity, |bar| of_crawl(&store, &catalogue, &topic, &|| bar.inc(1)))?);
    }
    if let Some(path) = &args.cdxj {
        add(usable(cdxj(path, &topic)?, &path.display().to_string())?);
    }
    if let Some(address) = &args.cdx {
        let mut requests = Requests::new(&config)?;
        add(usable(search::cdx(address, &topic, &mut |request| requests.send(request))?, address)?);
    }
    if let Some(name) = &args.search {
        let service = service(name)?;
        let terms = topic.lexicon().main_terms().iter().take(args.queries as usize);
        let queries: Vec<String> = terms.map(|(term, _)| term.clone()).collect();
        let mut requests = Requests::new(&config)?;
        add(search::search(&service, &queries, &mut |request| requests.send(request))?);
    }
    if args.crawl.is_none() && args.cdxj.is_none() && args.cdx.is_none() && args.search.is_none() {
        bail!("there is no source; add --crawl DIR, --cdxj FILE, --cdx URL or --search SERVICE");
    }
    let (text, hosts) = file(&topic.lexicon().name, &proposals);
    match &args.output {
        Some(path) => {
            write_whole(path, |out| Ok(out.write_all(text.as_bytes())?))?;
            infoln!(
                verbosity,
                "Wrote {} ({}). Delete what is not about the topic.",
                path.display(),
                count(hosts, "host", "hosts")
            );
        }
        None => outln!("{}", text.trim_end()),
    }
    Ok(if hosts == 0 { Exit::Incomplete } else { Exit::Done })
}

/// Sends requests one after the other, as far apart as those of a crawl to a host.
struct Requests {
    runtime: tokio::runtime::Runtime,
    fetcher: Fetcher,
    delay: Duration,
    is_first: bool,
}

impl Requests {
    fn new(config: &Config) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot wait for answers; close other programs and rerun the same command")?;
        let fetcher = Fetcher::new(&config.fetch)?.with_ports(&config.scope.allow_ports);
        let delay = Duration::try_from_secs_f64(config.politeness.delay).unwrap_or_default();
        Ok(Self { runtime, fetcher, delay, is_first: true })
    }

    fn send(&mut self, request: &ServiceRequest) -> Result<(u16, Vec<u8>), String> {
        let wait = if std::mem::take(&mut self.is_first) { Duration::ZERO } else { self.delay };
        let answer = self.runtime.block_on(async {
            tokio::time::sleep(wait).await;
            self.fetcher.fetch_service(&request.url, &request.fields, request.body.as_deref()).await
        });
        answer.map(|answer| (answer.status, answer.body.to_vec())).map_err(|failure| failure.to_string())
    }
}

fn cdxj(path: &Path, topic: &Topic) -> Result<CdxHosts> {
    let open = || format!("cannot read {}; check the path", path.display());
    let lines = BufReader::new(std::fs::File::open(path).with_context(open)?);
    let mut hosts = CdxHosts::default();
    for line in lines.split(b'\n') {
        hosts.add(&String::from_utf8_lossy(&line.with_context(open)?), topic);
    }
    Ok(hosts)
}

/// The proposals of an index, unless none of its lines is a record.
fn usable(hosts: CdxHosts, name: &str) -> Result<Vec<Proposal>> {
    if hosts.unusable == hosts.lines {
        bail!("{name}: contains no record of a CDX index; give CDXJ, or JSON lines with a url");
    }
    Ok(hosts.proposals())
}

fn service(name: &str) -> Result<Service> {
    if !Path::new(name).exists() {
        return Ok(Service::named(name)?);
    }
    let text = std::fs::read_to_string(name).with_context(|| format!("cannot read {name}; check the path"))?;
    Service::parse(&text).with_context(|| format!("invalid search service {name}"))
}
