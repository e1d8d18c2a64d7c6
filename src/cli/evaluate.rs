//! `suidao evaluate`: what a topic's queries find as crawls progressed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use rustc_hash::FxHashSet;
use suidao::corpus::{Catalogue, PageRole, UrlNames};
use suidao::eval::queries::{Collected, at_cutoffs};
use suidao::eval::{CrawlEvaluation, QueryResult, StrategyEvaluation};
use suidao::index::{Index, Request};
use suidao::recorded::LabelledUrls;
use suidao::store::Store;
use suidao::store::directory::{WriteError, write_whole};

use super::index::current;
use super::inputs::{needed_topic_of_crawl, queries, queries_of};
use super::nats::NatsArgs;
use super::outcome::{Exit, Verbosity};
use super::source::{CrawlSource, CrawlSourceArgs};

/// Measure what queries find in a crawl as it progressed: precision and relevant pages.
#[derive(Args)]
#[command(after_help = "Example: suidao evaluate ml --queries queries.txt --truth truth.txt -o evaluation")]
pub struct EvaluateArgs {
    /// Crawl directories, or cluster:NAME for the current state of a distributed crawl
    #[arg(required = true, value_name = "DIRECTORY")]
    pub directories: Vec<PathBuf>,
    #[command(flatten)]
    pub nats: NatsArgs,
    /// File of queries, one per line [default: the first terms of the lexicon]
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub queries: Option<PathBuf>,
    /// Lexicon whose terms are the queries [default: the copy in the first crawl directory]
    #[arg(short = 'm', long, value_name = "LEXICON", conflicts_with = "queries", help_heading = "Input")]
    pub lexicon: Option<PathBuf>,
    /// File of relevant URLs, one per line [default: the crawl's own relevant pages]
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub truth: Option<PathBuf>,
    /// File of hosts to ignore, one per line, such as those the lexicon was built from
    #[arg(long, value_name = "FILE", requires = "truth", help_heading = "Input")]
    pub exclude: Option<PathBuf>,
    /// Write report.html and evaluation.csv into this directory
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Page counts at which to measure, separated by commas [default: up to 20, evenly spaced]
    #[arg(long, value_name = "PAGES", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub cutoffs: Vec<u64>,
}

/// Maximum number of cutoffs by default.
const CUTOFFS: u64 = 20;

pub fn run(args: &EvaluateArgs, verbosity: Verbosity) -> Result<Exit> {
    let of = |directory: &PathBuf| CrawlSourceArgs { directory: directory.clone(), nats: args.nats.clone() }.open();
    let sources: Vec<CrawlSource> = args.directories.iter().map(of).collect::<Result<_>>()?;
    let queries = match &args.queries {
        Some(path) => queries(path)?,
        None => queries_of(&needed_topic_of_crawl(args.lexicon.as_deref(), &sources[0].directory())?),
    };
    let truth = args.truth.as_deref().map(|truth| LabelledUrls::read(truth, args.exclude.as_deref())).transpose()?;
    let mut crawls = Vec::new();
    let mut pages = 0;
    for source in &sources {
        let crawl = Crawl::read(source, &queries, truth.as_ref(), verbosity)?;
        pages = pages.max(crawl.pages.len() as u64);
        crawls.push(crawl);
    }
    let cutoffs = cutoffs(&args.cutoffs, pages);
    name(&mut crawls);
    let crawls = crawls
        .into_iter()
        .map(|crawl| {
            let last = crawl.pages.len() as u64;
            // A crawl that ended early gets no further rows.
            let until = cutoffs.iter().position(|&cutoff| cutoff >= last).map_or(cutoffs.len(), |at| at + 1);
            CrawlEvaluation {
                name: crawl.name,
                cutoffs: at_cutoffs(&crawl.pages, &cutoffs[..until]),
                queries: crawl.queries,
            }
        })
        .collect();
    let judge = match &args.truth {
        Some(truth) => format!("Relevant pages are those listed in {}.", truth.display()),
        None => {
            "Relevant pages are those that the crawl counted as relevant: documents at or above the page threshold."
                .to_owned()
        }
    };
    let evaluation = StrategyEvaluation { cutoffs, judge, crawls };
    if let Some(output) = &args.output {
        write(output, &evaluation)?;
    }
    if args.json {
        outln!("{}", serde_json::to_string_pretty(&evaluation)?);
    } else {
        outln!("{}", evaluation.describe().trim_end());
        if let Some(output) = &args.output {
            infoln!(verbosity, "Wrote {}", output.join("report.html").display());
        }
    }
    Ok(Exit::Done)
}

struct Crawl {
    name: String,
    strategy: String,
    /// Pages that count, in order of fetching.
    pages: Vec<Collected>,
    queries: Vec<QueryResult>,
}

impl Crawl {
    fn read(
        source: &CrawlSource,
        queries: &[String],
        truth: Option<&LabelledUrls>,
        verbosity: Verbosity,
    ) -> Result<Self> {
        let index = current(source.path(), None, verbosity)?;
        let store = Store::open(&source.directory())?;
        let catalogue = Catalogue::read(&store)?;
        let names = UrlNames::read(&store, &catalogue)?;
        let mut seen = FxHashSet::default();
        // Whether each page counts, and whether it is relevant; a second address of a relevant page does not count.
        let judged: Vec<Option<bool>> = catalogue
            .entries
            .iter()
            .map(|entry| match (truth, names.url(entry.id)) {
                // Further pages of threads belong to the document of the first.
                _ if !matches!(entry.role, PageRole::Page | PageRole::Thread) => None,
                (Some(truth), Some(url)) => {
                    let hit = truth.is_hit(url);
                    let repeats = hit && !seen.insert(LabelledUrls::key(url));
                    (!repeats && !truth.is_excluded(url)).then_some(hit)
                }
                _ => Some(entry.is_relevant()),
            })
            .collect();
        let relevant = |page: u64| judged.get(page as usize).copied().flatten() == Some(true);
        let counts = |page: u64| judged.get(page as usize).copied().flatten().is_some();
        let mut hit = vec![false; judged.len()];
        let mut result = Vec::new();
        for query in queries {
            let mut of = QueryResult { query: query.clone(), hits: 0, relevant_hits: 0, precision_at_ten: None };
            for found in index.matching(query)?.iter().filter(|found| counts(found.page)) {
                of.hits += 1;
                of.relevant_hits += u64::from(relevant(found.page));
                if let Some(hit) = hit.get_mut(found.page as usize) {
                    *hit = true;
                }
            }
            of.precision_at_ten = precision_at_ten(&index, query, counts, relevant)?;
            result.push(of);
        }
        let pages = judged.iter().zip(hit);
        let pages = pages.filter_map(|(judged, hit)| judged.map(|relevant| Collected { relevant, hit })).collect();
        let name = source.to_string();
        Ok(Self { name, strategy: store.meta().strategy.clone(), pages, queries: result })
    }
}

/// Share of relevant pages among the first ten that count.
fn precision_at_ten(
    index: &Index,
    query: &str,
    counts: impl Fn(u64) -> bool,
    relevant: impl Fn(u64) -> bool,
) -> Result<Option<f64>> {
    // More than ten, because some do not count.
    let answer = index.search(&Request { query: query.to_owned(), limit: 200, ..Request::default() })?;
    // A page without what was typed is not a hit here.
    if answer.loosened.is_some() {
        return Ok(None);
    }
    let first: Vec<u64> = answer.hits.iter().map(|hit| hit.page.page).filter(|page| counts(*page)).take(10).collect();
    let relevant_hits = first.iter().filter(|page| relevant(**page)).count();
    Ok((!first.is_empty()).then(|| relevant_hits as f64 / first.len() as f64))
}

/// Names crawls by their strategies if these differ, otherwise by their directories.
fn name(crawls: &mut [Crawl]) {
    let strategies: FxHashSet<&str> = crawls.iter().map(|crawl| crawl.strategy.as_str()).collect();
    if strategies.len() == crawls.len() && crawls.len() > 1 {
        for crawl in crawls {
            crawl.name.clone_from(&crawl.strategy);
        }
    }
}

/// The given cutoffs, sorted; by default as many at a round distance as fit into a table.
fn cutoffs(given: &[u64], pages: u64) -> Vec<u64> {
    if given.is_empty() {
        let mut steps = (1..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.saturating_pow(power)));
        let step = steps.find(|step| pages.div_ceil(*step) <= CUTOFFS).unwrap_or(u64::MAX);
        return (1..=pages.div_ceil(step).max(1)).map(|nth| nth * step).collect();
    }
    let mut cutoffs = given.to_vec();
    cutoffs.sort_unstable();
    cutoffs.dedup();
    cutoffs
}

fn write(output: &Path, evaluation: &StrategyEvaluation) -> Result<()> {
    fs::create_dir_all(output).with_context(|| format!("cannot create {}; choose another -o", output.display()))?;
    write_whole(&output.join("evaluation.csv"), |out| evaluation.csv(out).map_err(WriteError::from))?;
    write_whole(&output.join("report.html"), |out| Ok(out.write_all(evaluation.html().as_bytes())?))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_few() {
        assert_eq!(cutoffs(&[], 500), (1..=10).map(|n| n * 50).collect::<Vec<_>>());
        assert_eq!(cutoffs(&[], 5000).len(), 10);
        assert_eq!(cutoffs(&[], 5001).last(), Some(&5500));
        assert_eq!(cutoffs(&[], 1_000_000)[0], 50_000);
        assert_eq!(cutoffs(&[], 0), [10]);
        assert_eq!(cutoffs(&[1000, 500, 500], 9), [500, 1000]);
    }
}
