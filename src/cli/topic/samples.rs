//! Where sample pages come from: a folder, WARC files, a crawl directory, or a list of URLs to fetch.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use suidao::config::Config;
use suidao::crawl::Goals;
use suidao::live::{self, Job};
use suidao::model::{CrawlUrl, Fetched};
use suidao::store::{CrawlDirectory, Responses};
use suidao::topic::{Lexicon, Sample, Topic};

use super::Fetching;
use crate::cli::Voice;
use crate::cli::screen::Screen;

/// Bodies are unpacked to at most this size.
const MAX_BODY: usize = 64 << 20;

/// Answers parsed at a time, so that a large archive is not held in memory unparsed.
const BATCH: usize = 256;

/// Pages of a folder, of a crawl directory or of a WARC file.
pub fn from_path(path: &Path) -> Result<Vec<Sample>> {
    if path.is_file() {
        from_warc(&[path.to_owned()])
    } else if CrawlDirectory::new(path).holds_crawl() {
        from_crawl(path)
    } else {
        from_folder(path)
    }
}

/// The pages that a crawl fetched; of a page fetched again, the last answer.
pub fn from_crawl(path: &Path) -> Result<Vec<Sample>> {
    let directory = CrawlDirectory::new(path);
    ensure!(directory.holds_crawl(), "{} is no crawl directory: give one that suidao crawl wrote", path.display());
    let mut samples = from_warc(&warc_files(&directory)?)?;
    let mut seen = std::collections::HashSet::new();
    samples.reverse();
    samples.retain(|sample| seen.insert(sample.source.clone()));
    samples.reverse();
    Ok(samples)
}

fn warc_files(directory: &CrawlDirectory) -> Result<Vec<PathBuf>> {
    let pages = directory.pages();
    let mut files: Vec<PathBuf> = std::fs::read_dir(&pages)
        .and_then(|files| files.map(|file| Ok(file?.path())).collect())
        .with_context(|| format!("cannot read the pages in {}", pages.display()))?;
    files.retain(|file| file.to_string_lossy().contains(".warc"));
    files.sort();
    Ok(files)
}

/// Pages and texts of a folder, in order of their paths.
pub fn from_folder(dir: &Path) -> Result<Vec<Sample>> {
    let mut files = Vec::new();
    find_pages(dir, &mut files).with_context(|| format!("cannot read the folder {}", dir.display()))?;
    ensure!(!files.is_empty(), "{} holds no .html, .htm or .txt file", dir.display());
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
    // A page of unknown address is read as if it lay on a host of its own.
    let url = match &known {
        Some(url) => url.clone(),
        None => address("unknown.invalid", &escaped).with_context(|| format!("the name of {}", file.display()))?,
    };
    let media = if extension(file) == "txt" { "text/plain" } else { "text/html" };
    let headers = vec![("content-type".to_owned(), media.to_owned())];
    let read = Sample::from_fetched(&Fetched {
        url,
        status: 200,
        headers,
        body: body.into(),
        wire: None,
        asked: None,
        rendered: None,
    });
    Ok(Sample { source, url: known, host, ..read })
}

/// Samples from WARC files, whoever wrote them.
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
pub fn from_urls(path: &Path, fetch: &Fetching, voice: Voice) -> Result<Vec<Sample>> {
    fetched(crate::cli::inputs::urls(path, "list of sample pages")?, fetch, voice, "sample pages")
}

/// The first `most` pages of each of the samples' hosts, breadth first from its front page.
pub fn around(samples: &[Sample], most: u32, fetch: &Fetching, voice: Voice) -> Result<Vec<Sample>> {
    let mut fronts: Vec<CrawlUrl> = Vec::new();
    let mut counted: Vec<usize> = Vec::new();
    let mut found: Vec<Sample> = Vec::new();
    for sample in samples {
        let Some(url) = &sample.url else { continue };
        let Ok(front) = url.join("/") else { continue };
        if !fronts.contains(&front) {
            fronts.push(front);
            counted.push(0);
        }
    }
    let mut asked: std::collections::HashSet<CrawlUrl> = fronts.iter().cloned().collect();
    asked.extend(samples.iter().filter_map(|sample| sample.url.clone()));
    let mut next = fronts.clone();
    // A few rounds, each a level of the hosts' trees.
    while !next.is_empty() {
        let pages = fetched(next, fetch, voice, "pages around them")?;
        next = Vec::new();
        for page in &pages {
            for link in &page.document.links {
                let Some(host) = fronts.iter().position(|front| front.host() == link.url.host()) else { continue };
                if page.host == link.url.host() && counted[host] < most as usize && asked.insert(link.url.clone()) {
                    counted[host] += 1;
                    next.push(link.url.clone());
                }
            }
        }
        found.extend(pages);
    }
    Ok(found)
}

/// Pages fetched: a crawl of the seeds alone, so with everything that makes a crawl polite.
fn fetched(seeds: Vec<CrawlUrl>, fetch: &Fetching, voice: Voice, what: &str) -> Result<Vec<Sample>> {
    let mut config = Config::load(None, &fetch.sets)?;
    config.limits.depth = Some(0);
    config.fetch.contact.clone_from(&fetch.contact);
    config.fetch.proxy.clone_from(&fetch.proxy);
    config.fetch.allow_private |= fetch.allow_private;
    config.check()?;
    if config.fetch.contact.is_none() && !voice.quiet {
        note!("suidao: no contact set: site owners cannot reach you; give --contact");
    }
    let scratch = tempfile::tempdir().context("cannot make a temporary directory; set TMPDIR to a place with room")?;
    let directory = CrawlDirectory::new(scratch.path().join("samples"));
    // What the pages are worth is not asked: a depth of 0 follows no link.
    let topic = Arc::new(Topic::new(Lexicon::from_terms("samples", &[("样本", 1.0)])));
    let job = Job { topic, seeds, config, directory, forum: None, watch: None, refresh: None };
    let mut screen = Screen::new(voice, false, Goals::pages(job.seeds.len() as u64));
    let report = live::run(&job, |news| screen.tell(&news), crate::cli::crawl::interrupted());
    screen.clear();
    let report = report.with_context(|| format!("the {what} could not be fetched"))?;
    let (fetched, asked) = (report.progress.pages, job.seeds.len());
    ensure!(report.stop.is_some(), "interrupted after {fetched} of {asked} {what}; nothing was written");
    if !voice.quiet {
        note!("{fetched} of {asked} {what} fetched");
    }
    from_warc(&warc_files(&job.directory)?)
}
