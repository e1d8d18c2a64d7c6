//! Reads sample pages from a folder, WARC files or a crawl directory, or fetches them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use suidao::corpus::{Catalogue, TopicSamples};
use suidao::crawl::StopConditions;
use suidao::live::{self, Job};
use suidao::model::{CrawlUrl, Fetched};
use suidao::store::{CrawlDirectory, Responses, Store, archive};
use suidao::topic::{Lexicon, Sample, Topic};

use crate::cli::network::NetworkArgs;
use crate::cli::outcome::Verbosity;
use crate::cli::screen::Screen;
use crate::cli::temporary::temporary_directory;

/// Limit of decoded bodies.
const MAX_BODY: usize = 64 << 20;

/// Responses parsed at a time, so that a large archive is not held in memory.
const BATCH: usize = 256;

/// Maximum samples from a crawl.
const DOCUMENTS: usize = 500;

/// Maximum pages of a crawl that lead to these and others.
const LINKING: usize = 1_000;

/// Maximum requests for each wanted document of a host, because a site may consist of listings.
const REQUESTS: usize = 3;

/// Pages of a folder, a crawl directory or a WARC file.
pub fn from_path(path: &Path) -> Result<Vec<Sample>> {
    if path.is_file() {
        from_warc(&[path.to_owned()])
    } else if CrawlDirectory::new(path).holds_crawl() {
        from_crawl(path)
    } else {
        from_folder(path)
    }
}

/// Which documents of a crawl to learn from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// All alike.
    All,
    /// The relevant ones, and others of their hosts.
    Relevant,
    /// The relevant ones, and others of all hosts.
    Both,
}

/// Documents of a crawl, spread over it, and if `drawn` distinguishes them, pages on the paths to them.
pub fn from_documents(path: &Path, drawn: Drawn) -> Result<(TopicSamples, Vec<Sample>)> {
    let store = Store::open(&CrawlDirectory::new(path))?;
    let catalogue = Catalogue::read(&store)?;
    let found = match drawn {
        Drawn::All => TopicSamples::all(&store, &catalogue, DOCUMENTS)?,
        Drawn::Relevant => TopicSamples::relevant(&store, &catalogue, DOCUMENTS)?,
        Drawn::Both => TopicSamples::both(&store, &catalogue, DOCUMENTS)?,
    };
    let what = if drawn == Drawn::All { "document" } else { "relevant document" };
    ensure!(
        !found.samples.is_empty(),
        "{}: contains no {what} to learn from; crawl more pages, or give sample pages with --pages",
        path.display()
    );
    let linking = match drawn {
        Drawn::All => Vec::new(),
        Drawn::Relevant | Drawn::Both => found.linking(&store, &catalogue, LINKING)?,
    };
    Ok((found, linking))
}

/// The pages of a crawl; of a page fetched again, the last response.
fn from_crawl(path: &Path) -> Result<Vec<Sample>> {
    let mut samples = from_warc(&archive_files(&CrawlDirectory::new(path))?)?;
    let mut seen = HashSet::new();
    samples.reverse();
    samples.retain(|sample| seen.insert(sample.source.clone()));
    samples.reverse();
    Ok(samples)
}

/// The files of a crawl's archive in order.
fn archive_files(directory: &CrawlDirectory) -> Result<Vec<PathBuf>> {
    let mut files = archive::warc_files(&directory.pages())?;
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

/// Pages and texts of a folder, in order of their paths.
pub fn from_folder(dir: &Path) -> Result<Vec<Sample>> {
    let mut files = Vec::new();
    find_pages(dir, &mut files).with_context(|| format!("cannot read the folder {}", dir.display()))?;
    ensure!(!files.is_empty(), "{} contains no .html, .htm or .txt file", dir.display());
    files.par_iter().map(|file| sample_from_file(dir, file)).collect()
}

fn find_pages(dir: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries = std::fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            find_pages(&path, files)?;
        } else if matches!(extension(&path).as_str(), "html" | "htm" | "txt") {
            files.push(path);
        }
    }
    Ok(())
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

fn sample_from_file(dir: &Path, file: &Path) -> Result<Sample> {
    let body = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let source = file.strip_prefix(dir).unwrap_or(file).to_string_lossy().replace('\\', "/");
    let host = source.split_once('/').map_or("", |(host, _)| host).to_owned();
    let escaped = source.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    let address = |host: &str, path: &str| CrawlUrl::parse(&format!("http://{host}/{path}"));
    let known = escaped
        .split_once('/')
        .filter(|(host, _)| host.contains('.'))
        .and_then(|(host, path)| address(host, path.strip_suffix("index.html").unwrap_or(path)).ok());
    // A page of unknown address gets a host of its own.
    let url = match &known {
        Some(url) => url.clone(),
        None => address("unknown.invalid", &escaped)
            .with_context(|| format!("cannot make a URL of the file name {}", file.display()))?,
    };
    let media = if extension(file) == "txt" { "text/plain" } else { "text/html" };
    let headers = vec![("content-type".to_owned(), media.to_owned())];
    let read = Sample::from_fetched(&Fetched::new(url, 200, headers, body));
    Ok(Sample { source, url: known, host, ..read })
}

/// Samples from WARC files of any software.
pub fn from_warc(paths: &[PathBuf]) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for path in paths {
        let mut answers = Responses::open(path, MAX_BODY)?;
        loop {
            let batch: Vec<Fetched> = answers.by_ref().take(BATCH).collect::<Result<_, _>>()?;
            if batch.is_empty() {
                break;
            }
            let pages: Vec<&Fetched> = batch.iter().filter(|answer| (200..300).contains(&answer.status)).collect();
            samples.par_extend(pages.par_iter().map(|answer| Sample::from_fetched(answer)));
        }
    }
    Ok(samples)
}

/// Samples fetched from a list of URLs.
pub fn from_urls(path: &Path, network: &NetworkArgs, verbosity: Verbosity) -> Result<Vec<Sample>> {
    fetch(crate::cli::inputs::urls(path, "list of sample pages")?, network, verbosity, "sample pages")
}

/// About `most` documents of each of the samples' hosts, breadth first from its home page and the samples.
pub fn around(samples: &[Sample], most: usize, network: &NetworkArgs, verbosity: Verbosity) -> Result<Vec<Sample>> {
    let mut hosts: Vec<Host> = Vec::new();
    for home in samples.iter().filter_map(|sample| sample.url.as_ref()?.join("/").ok()) {
        if !hosts.iter().any(|host| host.home == home) {
            hosts.push(Host { home, requests: 0, documents: 0 });
        }
    }
    let mut known: HashSet<CrawlUrl> = samples.iter().filter_map(|sample| sample.url.clone()).collect();
    let homes = hosts.iter().map(|host| &host.home);
    let homes: Vec<CrawlUrl> = homes.filter(|home| known.insert((*home).clone())).cloned().collect();
    let mut found = fetch(homes, network, verbosity, "home pages")?;
    let mut sources: Vec<Sample> = found.iter().chain(samples).cloned().collect();
    loop {
        let wanted: Vec<usize> = hosts.iter().map(|host| host.wanted(most)).collect();
        let mut next: Vec<CrawlUrl> = Vec::new();
        for page in &sources {
            let Some(at) = hosts.iter().position(|host| host.home.host() == page.host) else { continue };
            for link in page.document.links.iter().filter(|link| link.url.host() == page.host) {
                if hosts[at].requests < wanted[at] && known.insert(link.url.clone()) {
                    hosts[at].requests += 1;
                    next.push(link.url.clone());
                }
            }
        }
        if next.is_empty() {
            return Ok(found);
        }
        sources = fetch(next, network, verbosity, "background pages")?;
        for page in sources.iter().filter(|page| !page.listing) {
            if let Some(host) = hosts.iter_mut().find(|host| host.home.host() == page.host) {
                host.documents += 1;
            }
        }
        found.extend(sources.iter().cloned());
    }
}

/// What was fetched of a host of samples.
struct Host {
    home: CrawlUrl,
    requests: usize,
    documents: usize,
}

impl Host {
    /// Requests to make in total after this level, if all new pages are documents; at most [`REQUESTS`] for each.
    fn wanted(&self, most: usize) -> usize {
        (self.requests + most.saturating_sub(self.documents)).min(REQUESTS * most)
    }
}

/// Fetches pages by a crawl of only the seeds, with all politeness.
fn fetch(seeds: Vec<CrawlUrl>, network: &NetworkArgs, verbosity: Verbosity, what: &str) -> Result<Vec<Sample>> {
    let mut config = network.load()?;
    config.limits.depth = Some(0);
    network.warn_without_contact(&config, verbosity);
    let scratch = temporary_directory()?;
    let directory = CrawlDirectory::new(scratch.path().join("samples"));
    // Scores do not matter: a depth of 0 follows no link.
    let topic = Arc::new(Topic::new(Lexicon::from_terms("samples", &[("样本", 1.0)])));
    let job = Job::new(topic, seeds, config, directory);
    let mut screen = Screen::new(verbosity, false, StopConditions::pages(job.seeds.len() as u64));
    let report = live::run(&job, |news| screen.report(&news), crate::cli::signals::interrupted());
    screen.clear();
    let report = report.with_context(|| format!("cannot fetch the {what}"))?;
    let (fetched, requested) = (report.progress.pages, job.seeds.len());
    ensure!(report.stop.is_some(), "interrupted after {fetched} of {requested} {what}; nothing was written");
    infoln!(verbosity, "{fetched} of {requested} {what} fetched");
    from_warc(&archive_files(&job.directory)?)
}
