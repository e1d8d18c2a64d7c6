//! `suidao topic build` and `suidao topic test`: learns a lexicon from pages, and measures one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand};
use rayon::prelude::*;
use suidao::config::Config;
use suidao::crawl::StopConditions;
use suidao::live::{self, Job};
use suidao::model::{CrawlUrl, Fetched};
use suidao::store::directory::write_whole;
use suidao::store::{CrawlDirectory, Responses};
use suidao::text::entries;
use suidao::topic::{
    Background, LearnOptions, Lexicon, Sample, ThresholdPoint, Topic, TopicEvaluation, Weighting, evaluate, learn,
    learn_from_keywords,
};
use suidao::visible;

use super::names::one_of;
use super::screen::Screen;
use super::{Exit, Verbosity};

/// Limit of decoded bodies.
const MAX_BODY: usize = 64 << 20;

/// Answers parsed at a time, so that a large archive is not held in memory.
const BATCH: usize = 256;

/// `suidao topic`.
#[derive(Args)]
#[command(after_help = "Example: suidao topic build -o sports.toml --name 体育 --pages samples/")]
pub struct TopicArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Build a lexicon from sample pages of the topic, or from keywords
    #[command(
        after_help = "Example: suidao topic build -o sports.toml --name 体育 --pages samples/ --background others/"
    )]
    Build(BuildArgs),
    /// Score pages by a lexicon; with labels, measure precision and recall
    #[command(after_help = "Example: suidao topic test -m sports.toml --pages pages/ --labels labels.tsv")]
    Test(TestArgs),
    /// Train the context graph of strategy context-graph on a recorded web
    #[command(after_help = "Example: suidao topic layers -m sports.toml -s seeds.txt -o layers.toml hosts:recorded/\n\
                      then: suidao crawl --strategy context-graph --set strategy.context-graph.model=layers.toml ...")]
    Layers(super::layers::LayersArgs),
}

#[derive(Args)]
struct BuildArgs {
    /// Lexicon to write
    #[arg(short, long, value_name = "LEXICON", help_heading = "Output")]
    output: PathBuf,
    /// Name of the topic
    #[arg(long)]
    name: String,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    fetch: Fetching,
    /// Folder of pages of all topics, instead of the built-in word counts
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    background: Option<PathBuf>,
    /// How to weight terms
    #[arg(long, default_value = "lift", value_parser = one_of::<Weighting>())]
    weighting: Weighting,
    /// Number of terms to keep
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Limits")]
    terms: u32,
}

/// How `--urls` fetches.
#[derive(Args)]
struct Fetching {
    /// With --urls: your e-mail address or URL for site owners
    #[arg(long, value_name = "CONTACT", requires = "urls", help_heading = "Politeness")]
    contact: Option<String>,
    /// With --urls: HTTP proxy
    #[arg(long, value_name = "URL", requires = "urls", help_heading = "Network")]
    proxy: Option<String>,
    /// With --urls: allow requests to private and loopback addresses
    #[arg(long, requires = "urls", help_heading = "Network")]
    allow_private: bool,
    /// With --urls: override one configuration key; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "urls", help_heading = "Input")]
    sets: Vec<String>,
}

/// Where the samples come from.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Source {
    /// Folder of .html, .htm and .txt files; subfolders named after hosts (a.cn/news/1.html) give their URLs
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    pages: Option<PathBuf>,
    /// WARC file of sample pages
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    warc: Option<PathBuf>,
    /// File of sample page URLs, one per line, to fetch with the usual politeness
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    urls: Option<PathBuf>,
    /// File of keywords, one per line, with an optional weight after a tab
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    keywords: Option<PathBuf>,
}

#[derive(Args)]
struct TestArgs {
    /// Lexicon to test
    #[arg(short = 'm', long, value_name = "LEXICON")]
    lexicon: PathBuf,
    /// Folder of .html, .htm and .txt files
    #[arg(long, value_name = "DIR")]
    pages: PathBuf,
    /// Labels: path within the folder (or URL), a tab, and 1 or yes (on topic), 0 or no; labels.tsv of `suidao label` works
    #[arg(long, value_name = "TSV")]
    labels: Option<PathBuf>,
}

pub fn run(args: &TopicArgs, verbosity: Verbosity) -> Result<Exit> {
    match &args.action {
        Action::Build(args) => build(args, verbosity)?,
        Action::Test(args) => test(args)?,
        Action::Layers(args) => super::layers::run(args, verbosity)?,
    }
    Ok(Exit::Done)
}

fn build(args: &BuildArgs, verbosity: Verbosity) -> Result<()> {
    ensure!(!args.name.trim().is_empty(), "--name is empty; name the topic, for example --name 体育");
    if args.output.is_file() {
        bail!("{} already exists and may contain corrections; delete it or choose another -o", args.output.display());
    }
    let background = match &args.background {
        Some(dir) => Background::from_samples(samples_from_pages(dir)?),
        None => Background::built_in(),
    };
    let mut options = LearnOptions {
        name: args.name.trim().to_owned(),
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        sources: Vec::new(),
        weighting: args.weighting,
        terms: args.terms as usize,
    };
    let source = &args.source;
    let given = [&source.pages, &source.warc, &source.urls, &source.keywords];
    let Some(path) = given.into_iter().flatten().next() else {
        bail!("give the samples: --pages DIR, --warc FILE, --urls FILE or --keywords FILE")
    };
    // Only the name of the folder or file: lexicons are passed on, and paths are private.
    options.sources.push(path.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned()));
    let lexicon = if source.keywords.is_some() {
        learn_from_keywords(&keywords(path)?, &background, &options).with_context(|| path.display().to_string())?
    } else {
        let samples = if source.pages.is_some() {
            samples_from_pages(path)?
        } else if source.warc.is_some() {
            samples_from_warc(std::slice::from_ref(path))?
        } else {
            samples_from_urls(path, &args.fetch, verbosity)?
        };
        let learnt = learn(&samples, &background, &options).with_context(|| path.display().to_string())?;
        if !verbosity.quiet {
            outln!("{} sample pages, {} used", samples.len(), learnt.lexicon.provenance.pages);
            for (reason, count) in &learnt.rejected {
                outln!("  {count} rejected: {}", reason.why());
            }
        }
        learnt.lexicon
    };
    write_whole(&args.output, |out| Ok(out.write_all(lexicon.to_toml().as_bytes())?))?;
    if !verbosity.quiet {
        print(&lexicon)?;
        outln!("Wrote {}. Review it and delete off-topic terms.", args.output.display());
    }
    Ok(())
}

fn print(lexicon: &Lexicon) -> Result<()> {
    let first =
        |terms: &[(String, f64)]| terms.iter().take(20).map(|(term, _)| term.as_str()).collect::<Vec<_>>().join(" ");
    outln!("{}: {} terms: {} ...", lexicon.name, lexicon.terms.len(), first(&lexicon.terms));
    if !lexicon.near.is_empty() {
        outln!("{} near terms (off topic, on pages that lead to it): {} ...", lexicon.near.len(), first(&lexicon.near));
    }
    if !lexicon.url.is_empty() {
        outln!("suggested URL tokens: {}", lexicon.url.join(" "));
    }
    for (name, threshold) in [("page", &lexicon.page), ("link", &lexicon.link)] {
        let expected = match (threshold.precision, threshold.recall) {
            (Some(precision), Some(recall)) => format!("; expected precision {precision:.2}, recall {recall:.2}"),
            (None, Some(recall)) => format!("; expected recall {recall:.2}"),
            _ => String::new(),
        };
        outln!("{name} threshold {:.4}: {}{expected}", threshold.value, threshold.chosen);
    }
    Ok(())
}

fn test(args: &TestArgs) -> Result<()> {
    let topic = super::inputs::topic(&args.lexicon)?;
    let labels = args.labels.as_deref().map(labels).transpose()?;
    let samples = samples_from_pages(&args.pages)?;
    let scores: Vec<_> = samples.par_iter().map(|sample| topic.score(&sample.document)).collect();
    outln!("relevance\tverdict\tpage\tterms");
    let mut labelled = Vec::new();
    let threshold = topic.page_threshold();
    for (sample, scores) in samples.iter().zip(&scores) {
        let verdict = if scores.relevance >= threshold { "on" } else { "off" };
        let terms: Vec<String> =
            scores.terms.iter().take(5).map(|found| format!("{} ×{}", found.term, found.count)).collect();
        let (source, terms) = (visible::line(&sample.source), terms.join(", "));
        outln!("{:.4}\t{verdict}\t{source}\t{terms}", scores.relevance.get());
        if let Some(labels) = &labels {
            let url = sample.url.as_ref().map(CrawlUrl::as_str);
            if let Some(&label) = labels.get(sample.source.as_str()).or_else(|| labels.get(url?)) {
                labelled.push((scores.relevance, label));
            }
        }
    }
    if let (Some(labels), Some(path)) = (&labels, &args.labels) {
        if labelled.is_empty() {
            bail!(
                "{} labels none of the pages; its {} lines must name paths within {} or URLs, such as {}",
                path.display(),
                labels.len(),
                args.pages.display(),
                samples[0].source
            );
        }
        let TopicEvaluation { labelled: pages, on_topic, at, best, average_precision } = evaluate(&labelled, threshold);
        outln!("{pages} labelled pages, {on_topic} on topic; average precision {average_precision:.3}");
        for (which, ThresholdPoint { threshold, precision, recall, f1 }) in [("the lexicon's", at), ("the best", best)]
        {
            outln!("at {which} threshold {threshold:.4}: precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}");
        }
    }
    Ok(())
}

/// Pages and texts of a folder, in order of their paths.
fn samples_from_pages(dir: &Path) -> Result<Vec<Sample>> {
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
    Ok(Sample { source, url: known, host, document: read.document })
}

/// Samples from WARC files of any software.
fn samples_from_warc(paths: &[PathBuf]) -> Result<Vec<Sample>> {
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

/// Samples fetched from a list of URLs, by a crawl of only the seeds, with all politeness.
fn samples_from_urls(path: &Path, fetch: &Fetching, verbosity: Verbosity) -> Result<Vec<Sample>> {
    let seeds = super::inputs::urls(path, "list of sample pages")?;
    let mut config = Config::load(None, &fetch.sets)?;
    config.limits.depth = Some(0);
    config.fetch.contact.clone_from(&fetch.contact);
    config.fetch.proxy.clone_from(&fetch.proxy);
    config.fetch.allow_private |= fetch.allow_private;
    config.check()?;
    if config.fetch.contact.is_none() && !verbosity.quiet {
        errln!("warning: no contact is set, so site owners cannot reach you; set --contact");
    }
    let scratch =
        tempfile::tempdir().context("cannot create a temporary directory; set TMPDIR to a disk with free space")?;
    let directory = CrawlDirectory::new(scratch.path().join("samples"));
    // Scores do not matter: a depth of 0 follows no link.
    let topic = Arc::new(Topic::new(Lexicon::from_terms("samples", &[("样本", 1.0)])));
    let job = Job::new(topic, seeds, config, directory);
    let mut screen = Screen::new(verbosity, false, StopConditions::pages(job.seeds.len() as u64));
    let report = live::run(&job, |news| screen.report(&news), super::crawl::interrupted());
    screen.clear();
    let report = report.context("cannot fetch the sample pages")?;
    let (fetched, asked) = (report.progress.pages, job.seeds.len());
    ensure!(report.stop.is_some(), "interrupted after {fetched} of {asked} sample pages; nothing was written");
    if !verbosity.quiet {
        errln!("{fetched} of {asked} sample pages fetched");
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(job.directory.pages())
        .and_then(|files| files.map(|file| Ok(file?.path())).collect())
        .context("cannot read the fetched sample pages")?;
    files.sort();
    samples_from_warc(&files)
}

fn keywords(path: &Path) -> Result<Vec<(String, Option<f64>)>> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the keywords {name}; give a text file with one keyword per line"))?;
    entries(&text)
        .map(|(at, line)| match line.split_once('\t') {
            None => Ok((line.to_owned(), None)),
            Some((word, weight)) => match weight.trim().parse::<f64>() {
                Ok(weight) if weight > 0.0 && weight.is_finite() => Ok((word.trim().to_owned(), Some(weight))),
                _ => bail!("{name}, line {at}: invalid weight {weight:?}; write a number above 0 after the tab"),
            },
        })
        .collect()
}

fn labels(path: &Path) -> Result<HashMap<String, bool>> {
    let name = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the labels {name}"))?;
    entries(&text)
        .map(|(at, line)| {
            // Text after the label is ignored: `suidao label` writes score and stratum there.
            let mut fields = line.split('\t');
            let (page, label) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
            let label = match label.trim() {
                "1" | "true" | "yes" => true,
                "0" | "false" | "no" => false,
                other => bail!("{name}, line {at}: invalid label {other:?}; write the page, a tab, and 1 or 0"),
            };
            Ok((page.trim().to_owned(), label))
        })
        .collect()
}
