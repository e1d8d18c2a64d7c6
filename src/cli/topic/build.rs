//! `suidao topic build`: from pages or key words to a lexicon.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use suidao::store::directory::write_whole;
use suidao::topic::{
    Background, LearnOptions, Lexicon, Method, Sample, Struck, TermFrequency, learn, learn_from_keywords,
};

use super::{Fetching, lists, samples};
use crate::cli::Voice;

/// Terms kept unless told otherwise.
const TERMS: usize = 100;
/// The same of a linear lexicon: cut to 100 it would lose much of what it learnt.
const LINEAR_TERMS: usize = 1000;

/// Arguments.
#[derive(Args)]
pub struct BuildArgs {
    /// Lexicon to write; one that is there is replaced
    #[arg(short, long, value_name = "LEXICON")]
    output: PathBuf,
    /// Name of the topic
    #[arg(long)]
    name: String,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    fetch: Fetching,
    /// Ordinary pages, best of the samples' own hosts: a folder of pages, a crawl directory, or a WARC file. Samples in it are
    /// left out. Without it the built-in word counts serve
    #[arg(long, value_name = "PATH")]
    background: Option<PathBuf>,
    /// With --urls and without --background: fetch about so many pages of each sample's host as background; 0 for none
    #[arg(long, value_name = "N", default_value_t = 30, requires = "urls")]
    around: u32,
    /// How terms are weighed and pages judged
    #[arg(long, value_enum, default_value = "linear")]
    method: MethodArg,
    /// Terms kept; 1000 with --method linear, else 100
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    terms: Option<u32>,
    /// tf of eq. (2): the root of the occurrences, the occurrences, or 1 + ln of them
    #[arg(long, value_enum, default_value = "root")]
    tf: TfArg,
    /// Learn only from index and default pages
    #[arg(long)]
    index_pages: bool,
}

/// Where the samples come from.
#[derive(Args)]
#[group(required = true, multiple = true)]
struct Source {
    /// Folder of .html, .htm and .txt files; folders in it named as hosts (a.cn/news/1.html) tell their URLs
    #[arg(long, value_name = "DIR", conflicts_with_all = ["warc", "urls"])]
    pages: Option<PathBuf>,
    /// WARC file of sample pages
    #[arg(long, value_name = "FILE", conflicts_with = "urls")]
    warc: Option<PathBuf>,
    /// List of URLs of sample pages, one a line; they are fetched politely
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// List of key words, one a line, a weight after a tab if need be; alone or beside samples
    #[arg(long, value_name = "FILE")]
    keywords: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum MethodArg {
    /// Linear support vector machines over the words of texts and of tags
    Linear,
    /// √TextRank × IDF × ln(lift over the background), and eq. (1)
    Lift,
    /// TextRank alone, and eq. (1), as the paper has it
    Textrank,
}

#[derive(Clone, Copy, ValueEnum)]
enum TfArg {
    Root,
    Raw,
    Log,
}

/// Runs it.
pub fn run(args: &BuildArgs, voice: Voice) -> Result<()> {
    ensure!(!args.name.trim().is_empty(), "--name is empty: give the topic a name, for example --name 体育");
    let source = &args.source;
    let given = match &source.keywords {
        Some(path) => lists::keywords(path)?,
        None => Vec::new(),
    };
    let found = match (&source.pages, &source.warc, &source.urls) {
        (Some(path), ..) => Some((path, samples::from_folder(path)?)),
        (None, Some(path), _) => Some((path, samples::from_warc(std::slice::from_ref(path))?)),
        (None, None, Some(path)) => Some((path, samples::from_urls(path, &args.fetch, voice)?)),
        (None, None, None) => None,
    };
    let background = match (&args.background, &found) {
        (Some(path), _) => Background::from_samples(samples::from_path(path)?),
        (None, Some((_, found))) if source.urls.is_some() && args.around > 0 => {
            Background::from_samples(samples::around(found, args.around, &args.fetch, voice)?)
        }
        _ => Background::built_in(),
    };
    let background = if background.samples().is_empty() { Background::built_in() } else { background };
    let options = options(args, &given, voice)?;
    let lexicon = match &found {
        None => learn_from_keywords(&given, &background, &options)
            .with_context(|| source.keywords.as_deref().unwrap_or(Path::new("")).display().to_string())?,
        Some((path, found)) => from_samples(path, found, &background, &options, voice)?,
    };
    write_whole(&args.output, |out| Ok(out.write_all(lexicon.to_toml().as_bytes())?))?;
    if !voice.quiet {
        super::tell(&lexicon)?;
        say!("written to {}: read it, strike out what is not the topic's", args.output.display());
    }
    Ok(())
}

fn options(args: &BuildArgs, keywords: &[(String, Option<f64>)], voice: Voice) -> Result<LearnOptions> {
    let linear = args.method == MethodArg::Linear;
    ensure!(
        keywords.is_empty()
            || linear
            || (args.source.pages.is_none() && args.source.warc.is_none() && args.source.urls.is_none()),
        "key words beside samples are for --method linear: leave out --keywords or --method"
    );
    let struck = if linear { struck_before(&args.output) } else { Struck::default() };
    let count = struck.terms.len() + struck.tags.len();
    if count > 0 && !voice.quiet {
        say!("terms struck out of {}, which stay out: {count}", args.output.display());
    }
    let paths = [&args.source.pages, &args.source.warc, &args.source.urls, &args.source.keywords];
    // The folder's or file's own name: a lexicon is handed on, and where it was made is nobody's business.
    let name =
        |path: &PathBuf| path.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned());
    Ok(LearnOptions {
        name: args.name.trim().to_owned(),
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        sources: paths.into_iter().flatten().map(name).collect(),
        method: match args.method {
            MethodArg::Linear => Method::Linear,
            MethodArg::Lift => Method::Lift,
            MethodArg::Textrank => Method::TextRank,
        },
        keywords: keywords.iter().map(|(word, weight)| (word.clone(), weight.unwrap_or(1.0))).collect(),
        struck,
        terms: args.terms.map_or(if linear { LINEAR_TERMS } else { TERMS }, |terms| terms as usize),
        tf: match args.tf {
            TfArg::Root => TermFrequency::Root,
            TfArg::Raw => TermFrequency::Raw,
            TfArg::Log => TermFrequency::Log,
        },
        only_index_pages: args.index_pages,
    })
}

/// What a person struck out of the lexicon that is about to be replaced.
fn struck_before(path: &Path) -> Struck {
    let lexicon = std::fs::read_to_string(path).ok().and_then(|text| Lexicon::parse(&text).ok());
    lexicon.and_then(|lexicon| lexicon.linear).map(|linear| linear.struck).unwrap_or_default()
}

fn from_samples(
    path: &Path,
    found: &[Sample],
    background: &Background,
    options: &LearnOptions,
    voice: Voice,
) -> Result<Lexicon> {
    let learnt = learn(found, background, options).with_context(|| path.display().to_string())?;
    if !voice.quiet {
        say!("{} sample pages, {} learnt from", found.len(), learnt.lexicon.made.pages);
        for (reason, count) in &learnt.rejected {
            say!("  {count} rejected: {}", reason.why());
        }
    }
    Ok(learnt.lexicon)
}
