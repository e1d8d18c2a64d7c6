//! `suidao topic build` and `suidao topic test`: from pages to a lexicon, and from a lexicon to how well it tells.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use rayon::prelude::*;
use suidao::model::{CrawlUrl, Fetched};
use suidao::topic::{
    Background, Evaluation, LearnOptions, Lexicon, Point, Sample, TermFrequency, Topic, Weighting, evaluate, learn,
    learn_from_keywords,
};

/// Answers parsed at a time, so that a large archive is not held in memory unparsed.
const BATCH: usize = 256;

/// `suidao topic`.
#[derive(Args)]
pub struct TopicArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Learn a lexicon from sample pages of the topic, or from key words
    #[command(
        after_help = "Example: suidao topic build -o sports.toml --name 体育 --pages samples/ --background others/"
    )]
    Build(BuildArgs),
    /// Score pages by a lexicon; with labels, tell how well it does
    #[command(after_help = "Example: suidao topic test -m sports.toml --pages pages/ --labels labels.tsv")]
    Test(TestArgs),
}

#[derive(Args)]
struct BuildArgs {
    /// Lexicon to write; one that is there is replaced
    #[arg(short, long, value_name = "LEXICON")]
    output: PathBuf,
    /// Name of the topic
    #[arg(long)]
    name: String,
    #[command(flatten)]
    source: Source,
    /// Folder of pages of all topics; without it the built-in word counts serve
    #[arg(long, value_name = "DIR")]
    background: Option<PathBuf>,
    /// How terms are weighed
    #[arg(long, value_enum, default_value = "lift")]
    weighting: WeightingArg,
    /// Terms kept
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    terms: u32,
    /// tf of eq. (2): occurrences, or 1 + ln of them
    #[arg(long, value_enum, default_value = "raw")]
    tf: TfArg,
    /// Learn only from index and default pages
    #[arg(long)]
    index_pages: bool,
}

/// Where the samples come from.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Source {
    /// Folder of .html, .htm and .txt files; folders in it named as hosts (a.cn/news/1.html) tell their URLs
    #[arg(long, value_name = "DIR")]
    pages: Option<PathBuf>,
    /// WARC file of sample pages
    #[arg(long, value_name = "FILE")]
    warc: Option<PathBuf>,
    /// List of URLs of sample pages, one a line; they are fetched politely
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// List of key words, one a line, a weight after a tab if need be
    #[arg(long, value_name = "FILE")]
    keywords: Option<PathBuf>,
}

#[derive(Args)]
struct TestArgs {
    /// Lexicon to test
    #[arg(short, long, value_name = "LEXICON")]
    model: PathBuf,
    /// Folder of .html, .htm and .txt files
    #[arg(long, value_name = "DIR")]
    pages: PathBuf,
    /// Labels: path within the folder (or URL), a tab, and 1 for on topic or 0
    #[arg(long, value_name = "TSV")]
    labels: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum WeightingArg {
    /// √TextRank × IDF × ln(lift over the background)
    Lift,
    /// TextRank alone, as the paper has it
    Textrank,
}

#[derive(Clone, Copy, ValueEnum)]
enum TfArg {
    Raw,
    Log,
}

/// Runs the verb.
pub fn run(args: &TopicArgs) -> Result<()> {
    match &args.action {
        Action::Build(args) => build(args),
        Action::Test(args) => test(args),
    }
}

fn build(args: &BuildArgs) -> Result<()> {
    ensure!(!args.name.trim().is_empty(), "--name is empty: give the topic a name, for example --name 体育");
    let background = match &args.background {
        Some(dir) => Background::from_samples(samples_from_pages(dir)?),
        None => Background::built_in(),
    };
    let mut options = LearnOptions {
        name: args.name.trim().to_owned(),
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        sources: Vec::new(),
        weighting: match args.weighting {
            WeightingArg::Lift => Weighting::Lift,
            WeightingArg::Textrank => Weighting::TextRank,
        },
        terms: args.terms as usize,
        tf: match args.tf {
            TfArg::Raw => TermFrequency::Raw,
            TfArg::Log => TermFrequency::Log,
        },
        only_index_pages: args.index_pages,
    };
    let source = &args.source;
    let given = [&source.pages, &source.warc, &source.urls, &source.keywords];
    let Some(path) = given.into_iter().flatten().next() else {
        bail!("give the samples: --pages DIR, --warc FILE, --urls FILE or --keywords FILE")
    };
    // The folder's or file's own name: a lexicon is handed on, and where it was made is nobody's business.
    options.sources.push(path.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned()));
    let mut out = std::io::stdout();
    let lexicon = if source.keywords.is_some() {
        learn_from_keywords(&keywords(path)?, &background, &options).with_context(|| path.display().to_string())?
    } else {
        let samples = if source.pages.is_some() {
            samples_from_pages(path)?
        } else if source.warc.is_some() {
            samples_from_warc(path)?
        } else {
            samples_from_urls(path)?
        };
        let learnt = learn(&samples, &background, &options).with_context(|| path.display().to_string())?;
        writeln!(out, "{} sample pages, {} learnt from", samples.len(), learnt.lexicon.made.pages)?;
        for (reason, count) in &learnt.rejected {
            writeln!(out, "  {count} rejected: {}", reason.why())?;
        }
        learnt.lexicon
    };
    write_whole(&args.output, &lexicon.to_toml())?;
    tell(&mut out, &lexicon)?;
    writeln!(out, "written to {}: read it, strike out what is not the topic's", args.output.display())?;
    Ok(())
}

fn tell(out: &mut impl std::io::Write, lexicon: &Lexicon) -> Result<()> {
    let first =
        |terms: &[(String, f64)]| terms.iter().take(20).map(|(term, _)| term.as_str()).collect::<Vec<_>>().join(" ");
    writeln!(out, "{}: {} terms, first {}", lexicon.name, lexicon.terms.len(), first(&lexicon.terms))?;
    if !lexicon.near.is_empty() {
        writeln!(out, "{} terms near it, first {}", lexicon.near.len(), first(&lexicon.near))?;
    }
    if !lexicon.url.is_empty() {
        writeln!(out, "URL tokens proposed: {}", lexicon.url.join(" "))?;
    }
    for (name, threshold) in [("page", &lexicon.page), ("link", &lexicon.link)] {
        write!(out, "{name} threshold {:.4}: {}", threshold.value, threshold.chosen)?;
        match (threshold.precision, threshold.recall) {
            (Some(precision), Some(recall)) => {
                writeln!(out, "; precision {precision:.2}, recall {recall:.2} expected")?
            }
            (None, Some(recall)) => writeln!(out, "; recall {recall:.2} expected")?,
            _ => writeln!(out)?,
        }
    }
    Ok(())
}

fn test(args: &TestArgs) -> Result<()> {
    let name = args.model.display();
    let text = std::fs::read_to_string(&args.model)
        .with_context(|| format!("cannot read the lexicon {name}; make one with `suidao topic build -o {name}`"))?;
    let topic = Topic::new(Lexicon::parse(&text).with_context(|| format!("the lexicon {name} cannot be used"))?);
    let labels = args.labels.as_deref().map(labels).transpose()?;
    let samples = samples_from_pages(&args.pages)?;
    let scores: Vec<_> = samples.par_iter().map(|sample| topic.score(&sample.document)).collect();
    let mut out = std::io::BufWriter::new(std::io::stdout());
    writeln!(out, "relevance\tverdict\tpage\tterms")?;
    let mut labelled = Vec::new();
    let threshold = topic.page_threshold();
    for (sample, scores) in samples.iter().zip(&scores) {
        let verdict = if scores.relevance >= threshold { "on" } else { "off" };
        let terms: Vec<String> =
            scores.terms.iter().take(5).map(|found| format!("{} {}", found.term, found.count)).collect();
        writeln!(out, "{:.4}\t{verdict}\t{}\t{}", scores.relevance.get(), sample.source, terms.join(", "))?;
        if let Some(labels) = &labels {
            let url = sample.url.as_ref().map(CrawlUrl::as_str);
            if let Some(&label) = labels.get(sample.source.as_str()).or_else(|| labels.get(url?)) {
                labelled.push((scores.relevance, label));
            }
        }
    }
    if let (Some(labels), Some(path)) = (&labels, &args.labels) {
        if labelled.is_empty() {
            out.flush()?;
            bail!(
                "{} labels none of the pages: its {} lines must name paths within {} or URLs, as {}",
                path.display(),
                labels.len(),
                args.pages.display(),
                samples[0].source
            );
        }
        let Evaluation { labelled: pages, on_topic, at, best, average_precision } = evaluate(&labelled, threshold);
        writeln!(
            out,
            "{pages} pages with a label, {on_topic} of them on topic; average precision {average_precision:.3}"
        )?;
        for (which, Point { threshold, precision, recall, f1 }) in [("the lexicon's", at), ("the best", best)] {
            writeln!(
                out,
                "at {which} threshold {threshold:.4}: precision {precision:.3}, recall {recall:.3}, F1 {f1:.3}"
            )?;
        }
    }
    out.flush()?;
    Ok(())
}

/// Pages and texts of a folder, in order of their paths.
fn samples_from_pages(dir: &Path) -> Result<Vec<Sample>> {
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
    let read = Sample::from_fetched(&Fetched { url, status: 200, headers, body: body.into(), wire: None });
    Ok(Sample { source, url: known, host, document: read.document })
}

/// Samples from a WARC file.
fn samples_from_warc(path: &Path) -> Result<Vec<Sample>> {
    bail!("{}: --warc is not connected to the archive yet", path.display())
}

/// Samples fetched from a list of URLs.
fn samples_from_urls(path: &Path) -> Result<Vec<Sample>> {
    bail!("{}: --urls is not connected to the fetcher yet", path.display())
}

/// Samples from answers, however they were come by.
#[allow(dead_code)]
fn samples_from_answers(answers: impl Iterator<Item = Fetched>) -> Vec<Sample> {
    let mut answers = answers.filter(|answer| (200..300).contains(&answer.status)).peekable();
    let mut samples = Vec::new();
    while answers.peek().is_some() {
        let batch: Vec<Fetched> = answers.by_ref().take(BATCH).collect();
        samples.par_extend(batch.par_iter().map(Sample::from_fetched));
    }
    samples
}

/// Lines of a file that are neither empty nor comments, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn keywords(path: &Path) -> Result<Vec<(String, Option<f64>)>> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the key words {name}; give a text file with one a line"))?;
    lines(&text)
        .map(|(at, line)| match line.split_once('\t') {
            None => Ok((line.to_owned(), None)),
            Some((word, weight)) => match weight.trim().parse::<f64>() {
                Ok(weight) if weight > 0.0 && weight.is_finite() => Ok((word.trim().to_owned(), Some(weight))),
                _ => bail!("{name}, line {at}: {weight:?} is no weight; write a number above 0 after the tab"),
            },
        })
        .collect()
}

fn labels(path: &Path) -> Result<HashMap<String, bool>> {
    let name = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the labels {name}"))?;
    lines(&text)
        .map(|(at, line)| {
            let (page, label) = line.rsplit_once('\t').unwrap_or((line, ""));
            let label = match label.trim() {
                "1" | "true" | "yes" => true,
                "0" | "false" | "no" => false,
                other => bail!("{name}, line {at}: {other:?} is no label; write the page, a tab, and 1 or 0"),
            };
            Ok((page.trim().to_owned(), label))
        })
        .collect()
}

/// Writes a file so that it is there whole or not at all.
fn write_whole(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".suidao").tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
