//! `suidao topic build`: learns a lexicon from sample pages, keywords, or both.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use suidao::html::count;
use suidao::judge::JudgeSettings;
use suidao::store::directory::write_whole;
use suidao::topic::{
    Background, LearnOptions, Lexicon, Method, RemovedEvidence, RemovedTerms, Sample, learn, learn_from_keywords,
};

use super::samples::Drawn;
use super::{lists, samples};
use crate::cli::names::one_of;
use crate::cli::network::NetworkArgs;
use crate::cli::outcome::Verbosity;
use crate::cli::second_opinion;

#[derive(Args)]
pub struct BuildArgs {
    /// Name of the topic
    #[arg(long)]
    name: String,
    #[command(flatten)]
    source: Source,
    /// With --crawl: only relevant documents, against other documents of their hosts
    #[arg(long, requires = "crawl", help_heading = "Input")]
    relevant: bool,
    /// Ordinary pages, preferably of the samples' hosts: a folder, a crawl directory or a WARC file; samples in it are
    /// ignored [default: built-in word counts, or pages fetched with --urls]
    #[arg(long, value_name = "PATH", help_heading = "Input")]
    background: Option<PathBuf>,
    /// Lexicon to write
    #[arg(short, long, value_name = "LEXICON", help_heading = "Output")]
    output: PathBuf,
    /// Replace an existing lexicon; terms deleted from it stay out, other edits are lost
    #[arg(long, help_heading = "Output")]
    again: bool,
    /// With --urls and without --background: approximate number of documents to fetch from each host of a sample; 0 for
    /// none
    #[arg(long, value_name = "N", default_value_t = 30, requires = "urls", help_heading = "Limits")]
    around: usize,
    /// Number of terms to keep [default: 1000 for linear, 100 for the others]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Limits")]
    terms: Option<u32>,
    /// Also learn a second opinion near the boundary, from the embeddings of the judge that [judge] configures
    #[arg(long)]
    judge: bool,
    #[command(flatten)]
    network: NetworkArgs,
    /// How to learn the lexicon and judge pages
    #[arg(long, default_value = "linear", value_parser = one_of::<Method>())]
    method: Method,
}

/// Where the samples come from.
#[derive(Args)]
#[group(required = true, multiple = true)]
struct Source {
    /// Folder of .html, .htm and .txt files; subfolders named after hosts (a.cn/news/1.html) give their URLs
    #[arg(long, value_name = "DIR", help_heading = "Input", conflicts_with_all = ["warc", "urls", "crawl"])]
    pages: Option<PathBuf>,
    /// WARC file or WACZ of sample pages
    #[arg(long, value_name = "FILE", help_heading = "Input", conflicts_with_all = ["urls", "crawl"])]
    warc: Option<PathBuf>,
    /// File of sample page URLs, one per line, to fetch as in a crawl
    #[arg(long, value_name = "FILE", help_heading = "Input", conflicts_with = "crawl")]
    urls: Option<PathBuf>,
    /// Crawl directory: up to 500 of its documents
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    crawl: Option<PathBuf>,
    /// File of keywords, one per line with an optional weight after a tab, or separated by commas; alone or with
    /// samples
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    keywords: Option<PathBuf>,
}

pub fn run(args: &BuildArgs, verbosity: Verbosity) -> Result<()> {
    ensure!(!args.name.trim().is_empty(), "--name is empty; name the topic, for example --name 体育");
    let output = args.output.display();
    ensure!(
        args.again || !args.output.is_file(),
        "{output} already exists and may contain corrections; choose another -o, or replace it with --again"
    );
    let source = &args.source;
    let judge = args.judge.then(|| judge(args)).transpose()?;
    let keywords = source.keywords.as_deref().map(lists::keywords).transpose()?.unwrap_or_default();
    let (mut of_crawl, mut linking) = (Vec::new(), Vec::new());
    let samples = match (&source.pages, &source.warc, &source.urls, &source.crawl) {
        (Some(path), ..) => Some((path, samples::from_folder(path)?)),
        (_, Some(path), ..) => Some((path, samples::from_warc(std::slice::from_ref(path))?)),
        (_, _, Some(path), _) => Some((path, samples::from_urls(path, &args.network, verbosity)?)),
        (.., Some(path)) => {
            let drawn = if args.relevant { Drawn::Relevant } else { Drawn::All };
            let (found, pages) = samples::from_documents(path, drawn)?;
            (of_crawl, linking) = (found.background, pages);
            Some((path, found.samples))
        }
        (None, None, None, None) => None,
    };
    ensure!(
        samples.is_none() || keywords.is_empty() || args.method == Method::Linear,
        "only --method linear takes keywords and samples together; remove --keywords or --method"
    );
    let background = match (&args.background, &samples) {
        (Some(path), _) => Background::from_samples(samples::from_path(path)?),
        (None, Some((_, found))) if source.urls.is_some() && args.around > 0 => {
            Background::from_samples(samples::around(found, args.around, &args.network, verbosity)?)
        }
        _ if !of_crawl.is_empty() => Background::from_samples(of_crawl),
        _ => Background::built_in(),
    };
    let background = if background.pages() == 0 { Background::built_in() } else { background };
    let options = LearnOptions { linking, ..options(args, &keywords, verbosity)? };
    let mut lexicon = match (&samples, &source.keywords) {
        (Some((path, found)), _) => from_samples(path, found, &background, &options, verbosity)?,
        (None, Some(path)) => {
            learn_from_keywords(&keywords, &background, &options).with_context(|| path.display().to_string())?
        }
        (None, None) => {
            bail!("give the samples: --pages DIR, --warc FILE, --urls FILE, --crawl DIR or --keywords FILE")
        }
    };
    let samples = samples.map(|(_, found)| found).unwrap_or_default();
    let learnt = judge.map(|settings| second_opinion::learn(&settings, &mut lexicon, &samples, &background, verbosity));
    let learnt = learnt.transpose()?;
    write_whole(&args.output, |out| Ok(out.write_all(lexicon.to_toml().as_bytes())?))?;
    if !verbosity.quiet {
        print(&lexicon)?;
        if let Some(learnt) = learnt {
            outln!("{learnt}");
        }
        if samples.is_empty() {
            outln!(
                "Keywords alone judge roughly. In crawls of 1,000 pages, eight of ten documents that specific words (卷积, \
                 SQL注入) accepted were on topic, and these words missed a quarter of the documents on topic. General \
                 words (模型, 安全) missed a fifth, and two of five documents that they accepted were off topic. At \
                 the end of a crawl, suidao topic grow learns a better lexicon from it."
            );
        }
        outln!("Wrote {output}. Review it and delete off-topic terms.");
    }
    Ok(())
}

/// The judge to learn from, before pages are read or fetched.
fn judge(args: &BuildArgs) -> Result<JudgeSettings> {
    let judge = second_opinion::embedding_judge(args.network.load()?.judge)?;
    let Source { pages, warc, urls, crawl, .. } = &args.source;
    ensure!(
        args.method == Method::Linear && [pages, warc, urls, crawl].into_iter().any(Option::is_some),
        "--judge needs sample pages and --method linear; give samples with --pages, --warc, --urls or --crawl"
    );
    Ok(judge)
}

fn options(args: &BuildArgs, keywords: &[(String, Option<f64>)], verbosity: Verbosity) -> Result<LearnOptions> {
    let (removed, removed_evidence) = if args.again { removed_terms(&args.output)? } else { Default::default() };
    let deleted = removed.terms.len() + removed.tags.len() + removed_evidence.url.len() + removed_evidence.near.len();
    if deleted > 0 && !verbosity.quiet {
        outln!("{} deleted from {}: not learnt again", count(deleted, "term", "terms"), args.output.display());
    }
    let Source { pages, warc, urls, crawl, keywords: list } = &args.source;
    // Only the name of the folder or file: lexicons are passed on, and paths are private.
    let name =
        |path: &PathBuf| path.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned());
    Ok(LearnOptions {
        name: args.name.trim().to_owned(),
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        sources: [pages, warc, urls, crawl, list].into_iter().flatten().map(name).collect(),
        method: args.method,
        keywords: keywords.iter().map(|(word, weight)| (word.clone(), weight.unwrap_or(1.0))).collect(),
        removed,
        removed_evidence,
        linking: Vec::new(),
        terms: args.terms.map_or_else(|| args.method.default_terms(), |terms| terms as usize),
    })
}

/// What the user deleted from the lexicon that is about to be replaced.
fn removed_terms(path: &Path) -> Result<(RemovedTerms, RemovedEvidence)> {
    if !path.exists() {
        return Ok(Default::default());
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lexicon = Lexicon::parse(&text).with_context(|| path.display().to_string())?;
    Ok((lexicon.linear.map(|linear| linear.removed).unwrap_or_default(), lexicon.evidence.removed))
}

fn from_samples(
    path: &Path,
    found: &[Sample],
    background: &Background,
    options: &LearnOptions,
    verbosity: Verbosity,
) -> Result<Lexicon> {
    let learnt = learn(found, background, options).with_context(|| path.display().to_string())?;
    if !verbosity.quiet {
        outln!("{}, {} used", count(found.len(), "sample page", "sample pages"), learnt.lexicon.provenance.pages);
        for (reason, count) in &learnt.rejected {
            outln!("  {count} rejected: {}", reason.why());
        }
    }
    Ok(learnt.lexicon)
}

pub fn print(lexicon: &Lexicon) -> Result<()> {
    let first =
        |terms: &[(String, f64)]| terms.iter().take(20).map(|(term, _)| term.as_str()).collect::<Vec<_>>().join(" ");
    outln!("{}: {} terms: {} ...", lexicon.name, lexicon.terms.len(), first(lexicon.main_terms()));
    if !lexicon.near.is_empty() {
        outln!("{} near terms (in links that lead to the topic): {} ...", lexicon.near.len(), first(&lexicon.near));
    }
    if !lexicon.url.is_empty() {
        outln!("{} suggested URL tokens: {}", lexicon.url.len(), lexicon.url.join(" "));
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
