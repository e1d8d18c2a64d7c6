//! `suidao search`: the pages of a crawl that match a query.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use suidao::corpus::{DuplicatePolicy, Filter};
use suidao::html::{count, thousands};
use suidao::index::{Hit, Index, Loosened, Marked, Request, SearchResults};
use suidao::live::monotonic_now;
use suidao::text::segment::is_loaded;

use super::filter::FilterArgs;
use super::index::current;
use super::outcome::{Exit, Verbosity};
use super::source::CrawlSourceArgs;
use super::terminal::{Emphasis, MarkedText};

/// Search the pages of a crawl.
#[derive(Args)]
#[command(
    after_help = "A query must occur as typed; if it occurs on no page, pages with all of its words are listed, else with some.\n\
    \"a phrase\"  -without  one OR another  title:x, and the conditions of --where\n\
    Extracted fields: price:<100  price:10..20  brand:x\n\n\
    Example: suidao search ml '\"gradient descent\" -python date:2020..' --json"
)]
pub struct SearchArgs {
    #[command(flatten)]
    pub source: CrawlSourceArgs,
    /// Query [default: all pages, most relevant first]; quote it for the shell, and put -- before it if it begins with
    /// -
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Rules that extract fields such as prices, for conditions such as price:<100; the index keeps them
    #[arg(long, value_name = "FIELDS.toml", help_heading = "Input")]
    pub extract: Option<PathBuf>,
    /// Maximum number of hits
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    pub limit: usize,
    /// Number of hits to skip
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Output")]
    pub offset: usize,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Explain each hit: the score of each word, and how the page was found
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    #[command(flatten)]
    pub filter: FilterArgs,
}

pub fn run(args: &SearchArgs, verbosity: Verbosity) -> Result<Exit> {
    // Listings are found too, after the documents.
    let filter = Filter { no_noindex: true, duplicates: DuplicatePolicy::Best, ..Filter::default() };
    let filter = args.filter.over(filter)?;
    let source = args.source.open()?;
    let index = current(source.path(), args.extract.as_deref(), verbosity)?;
    let (query, explain) = (args.query.join(" "), args.explain);
    let request = Request { query, filter, offset: args.offset, limit: args.limit, explain };
    let was_loaded = is_loaded();
    let mut begun = monotonic_now();
    let answer = index.search(&request)?;
    let mut took = begun.elapsed();
    if is_loaded() && !was_loaded {
        // The first search loaded the dictionary, which takes longer than any search.
        begun = monotonic_now();
        index.search(&request)?;
        took = begun.elapsed();
    }
    for field in unknown_fields(&request.query, index.extracted_fields()) {
        infoln!(
            verbosity,
            "note: no extracted field \"{field}\"; its comparison is searched as words (fields come from --extract)"
        );
    }
    if args.json {
        outln!("{}", serde_json::to_string_pretty(&answer)?);
    } else {
        describe(&index, &request, &answer, took)?.print()?;
    }
    Ok(Exit::Done)
}

/// Names in comparisons such as `price:<100` that are not extracted fields.
fn unknown_fields<'a>(query: &'a str, known: &[String]) -> Vec<&'a str> {
    let comparisons = query.split_whitespace().filter_map(|word| word.trim_start_matches('-').split_once(':'));
    comparisons
        .filter(|(name, value)| value.starts_with(['<', '>', '=']) && !known.iter().any(|field| field == name))
        .map(|(name, _)| name)
        .collect()
}

fn describe(index: &Index, request: &Request, answer: &SearchResults, took: Duration) -> Result<MarkedText> {
    let mut out = MarkedText::new();
    let query = request.query.trim();
    if answer.pages == 0 {
        let what = if query.is_empty() {
            "no page matches the filters".to_owned()
        } else {
            format!("no page matches {query}")
        };
        writeln!(
            out,
            "{what} ({} searched); try fewer or other words",
            count(index.origin().pages as usize, "page", "pages")
        )?;
        return Ok(out);
    }
    write!(out, "{}", count(answer.pages as usize, "page", "pages"))?;
    if answer.duplicates > 0 {
        write!(out, " ({} folded)", count(answer.duplicates as usize, "duplicate", "duplicates"))?;
    }
    writeln!(out, " in {:.1} ms", took.as_secs_f64() * 1000.0)?;
    match answer.loosened {
        None => {}
        Some(Loosened::Words) => writeln!(out, "No page contains {query} as typed; these contain all its words.")?,
        Some(Loosened::Some) => writeln!(out, "No page contains all the words; these contain some.")?,
    }
    for (rank, hit) in (answer.offset.saturating_add(1)..).zip(&answer.hits) {
        let page = &hit.page;
        write!(out, "\n{rank:2}. ")?;
        if page.title.is_empty() {
            out.push(&page.url)
        } else {
            marked(&mut out, &hit.title())
        }
        writeln!(out, "\n    {}", page.url)?;
        let mut facts: Vec<String> = page.published.iter().map(ToString::to_string).collect();
        facts.push(format!(
            "relevance {:.2}{}",
            page.relevance,
            if page.relevant {
                ""
            } else if page.listing {
                ", listing page"
            } else {
                ", not relevant"
            }
        ));
        facts.extend((hit.duplicates > 0).then(|| count(hit.duplicates as usize, "duplicate", "duplicates")));
        facts.extend(page.duplicate_of.iter().map(|url| format!("duplicate of {url}")));
        facts.extend(page.extracted.iter().map(|(name, value)| match value.as_str() {
            Some(text) => format!("{name} {text}"),
            None => format!("{name} {value}"),
        }));
        writeln!(out, "    {}", facts.join(" · "))?;
        if !hit.snippet.text.is_empty() {
            out.push("    ");
            marked(&mut out, &hit.snippet);
            out.push("\n");
        }
        if request.explain {
            why(index, hit, &mut out)?;
        }
    }
    let next = answer.offset.saturating_add(answer.hits.len());
    if (next as u64) < answer.pages && !answer.hits.is_empty() {
        writeln!(out, "\nNext hits: --offset {next}")?;
    } else if answer.hits.is_empty() && request.limit > 0 {
        writeln!(out, "There are only {} hits; use a smaller --offset.", answer.pages)?;
    }
    Ok(out)
}

fn marked(out: &mut MarkedText, text: &Marked) {
    for (piece, marked) in text.pieces() {
        if marked { out.mark(Emphasis::Hit, piece) } else { out.push(piece) }
    }
}

fn why(index: &Index, hit: &Hit, out: &mut MarkedText) -> Result<()> {
    let page = &hit.page;
    let bm25: f32 = hit.why.iter().map(|share| share.bm25).sum();
    writeln!(
        out,
        "      score {:.3} = BM25 {bm25:.3} × {:.3} (1 + 0.5 × relevance)",
        hit.score,
        hit.score / bm25.max(f32::MIN_POSITIVE)
    )?;
    for share in &hit.why {
        writeln!(out, "        {:.3} {} in {}", share.bm25, share.words, share.field)?;
    }
    if !page.terms.is_empty() {
        let terms: Vec<String> = page.terms.iter().map(|found| format!("{} ×{}", found.term, found.count)).collect();
        writeln!(out, "      topic terms: {}", terms.join(", "))?;
    }
    writeln!(
        out,
        "      fetched as page {}, depth {}, {} since the last on-topic one",
        thousands(page.page + 1),
        page.depth,
        count(page.hops as usize, "off-topic page", "off-topic pages")
    )?;
    let path = index.path(page)?;
    // Redirects are not in the index, so what led to one is not known here.
    let is_cut = path.first().is_some_and(|step| step.page.is_none());
    let path: Vec<String> = path.iter().map(|step| step.url.clone()).collect();
    writeln!(out, "      path: {}", path.join(" → "))?;
    if is_cut {
        writeln!(out, "      (begins at a redirect; `suidao why DIR {}` prints the whole path)", page.url)?;
    }
    Ok(())
}
