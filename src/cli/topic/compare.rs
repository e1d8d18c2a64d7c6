//! `suidao topic compare`: which of two lexicons is better, by documents that are read blind.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;
use suidao::corpus::{Catalogue, Parts, SelectedDocument, Selection, stream};
use suidao::html::{count, per_cent, thousands};
use suidao::label::{Disagreement, LabelFile, LexiconComparison, ReadDocuments, opening_and_middle};
use suidao::model::{CrawlUrl, Relevance};
use suidao::store::{CrawlDirectory, Store};
use suidao::topic::Topic;

use crate::cli::export::with_progress;
use crate::cli::filter::FilterArgs;
use crate::cli::inputs;
use crate::cli::label::questions::{self, Reply};
use crate::cli::outcome::Verbosity;
use crate::cli::terminal::{Emphasis, MarkedText};

#[derive(Args)]
pub struct CompareLexiconsArgs {
    /// Lexicon; its page threshold decides how many documents both accept
    first: PathBuf,
    /// The lexicon to compare with it
    second: PathBuf,
    /// Crawl directory; answers are saved in its readings.tsv
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    crawl: PathBuf,
    /// Print what the answers so far say; ask nothing
    #[arg(long, help_heading = "Output")]
    summary: bool,
    /// The same as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Number of documents to read, earlier answers included
    #[arg(long, value_name = "N", default_value_t = 60, help_heading = "Limits")]
    pages: usize,
    #[command(flatten)]
    filter: FilterArgs,
}

/// A document with the scores of both lexicons.
struct ScoredDocument {
    /// Its index in the catalogue.
    number: usize,
    url: CrawlUrl,
    scores: (Relevance, Relevance),
}

#[derive(Serialize)]
struct ComparisonSummary<'a> {
    first: String,
    second: String,
    /// Page threshold of the first, and the score of the second that as many documents reach.
    thresholds: [f64; 2],
    #[serde(flatten)]
    comparison: &'a LexiconComparison,
    /// `first` or `second`, if the interval says so.
    better: Option<&'static str>,
}

pub fn run(args: &CompareLexiconsArgs, verbosity: Verbosity) -> Result<()> {
    let topics = [inputs::topic(&args.first)?, inputs::topic(&args.second)?];
    let directory = CrawlDirectory::new(&args.crawl);
    let store = Store::open(&directory)?;
    let catalogue = Catalogue::read(&store)?;
    let selection = args.filter.filter()?.select(&catalogue);
    let place = args.crawl.display();
    if selection.pages == 0 {
        bail!("{place}: no document to read: none is fetched yet, or none matches the filters");
    }
    let documents = score(&topics, &store, &catalogue, &selection, verbosity)?;
    let scores: Vec<_> = documents.iter().map(|document| document.scores).collect();
    let disagreement = Disagreement::new(&scores, topics[0].page_threshold());
    let accepted = disagreement.both + disagreement.alone[0].len();
    if accepted == 0 || accepted == documents.len() {
        let all = if accepted == 0 { "none" } else { "all" };
        bail!(
            "{place}: {} accepts {all} of {}, so nothing can be compared; change its page threshold or give another crawl",
            args.first.display(),
            count(documents.len(), "document", "documents")
        );
    }
    let drawn = disagreement.draw(|document| documents[document].url.as_str(), args.pages);
    let (mut file, mut answers) = LabelFile::open(&directory.root().join("readings.tsv"))?;
    if !args.summary && !args.json {
        let open: Vec<&ScoredDocument> =
            drawn.iter().map(|&document| &documents[document]).filter(|one| !answers.contains_key(&one.url)).collect();
        let pages = excerpts(&open, &store, &catalogue, &selection)?;
        questions::ask(&topics[0].lexicon().name, drawn.len() - open.len(), &pages, |reply| {
            match reply {
                Reply::Answer { page, on_topic } => {
                    let (first, second) = open[page].scores;
                    file.add(&pages[page].0, on_topic, format_args!("{:.4}\t{:.4}", first.get(), second.get()))?;
                    answers.insert(pages[page].0.clone(), on_topic);
                }
                Reply::Undo { page } => {
                    if file.undo()? {
                        answers.remove(&pages[page].0);
                    }
                }
            }
            Ok(())
        })?;
    }
    let comparison = disagreement.compare(&drawn, |document| answers.get(&documents[document].url).copied());
    let better = comparison.is_second_better().map(|second| if second { "second" } else { "first" });
    let thresholds = [topics[0].page_threshold(), disagreement.threshold].map(|score| f64::from(score.get()));
    if args.json {
        let [first, second] = [&args.first, &args.second].map(|path| path.display().to_string());
        let summary = ComparisonSummary { first, second, thresholds, comparison: &comparison, better };
        outln!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        outln!("{}", describe(args, &comparison, thresholds, drawn.len()));
    }
    Ok(())
}

/// The relevance of all selected documents by both lexicons.
fn score(
    topics: &[Topic; 2],
    store: &Store,
    catalogue: &Catalogue,
    selection: &Selection,
    verbosity: Verbosity,
) -> Result<Vec<ScoredDocument>> {
    let mut documents = Vec::new();
    let judge = |chosen: &SelectedDocument| {
        let sample = chosen.sample()?;
        let [first, second] = topics.each_ref().map(|topic| topic.score_page(&sample.document).relevance);
        Ok(ScoredDocument { number: chosen.number, url: chosen.url()?, scores: (first, second) })
    };
    let written = with_progress(selection.pages, verbosity, |bar| {
        stream(store, catalogue, selection, judge, |document| {
            documents.push(document);
            bar.set_position(documents.len() as u64);
            Ok(())
        })
    });
    written.map_err(|error| error.at(store.directory().root()))?;
    Ok(documents)
}

/// Title, beginning and middle of each document, without its URL and tags, from which a reader might guess.
fn excerpts(
    open: &[&ScoredDocument],
    store: &Store,
    catalogue: &Catalogue,
    selection: &Selection,
) -> Result<Vec<(CrawlUrl, MarkedText)>> {
    let mut selection = selection.clone();
    selection.chosen.fill(false);
    open.iter().for_each(|document| selection.chosen[document.number] = true);
    let mut texts = std::collections::BTreeMap::new();
    let render = |chosen: &SelectedDocument| {
        let document = chosen.document(Parts { text: true, ..Parts::default() })?;
        let mut text = MarkedText::new();
        text.mark(Emphasis::Title, if document.title.is_empty() { "(no title)" } else { &document.title });
        text.push("\n\n");
        text.push(&opening_and_middle(&document.text));
        Ok((chosen.number, text))
    };
    let written = stream(store, catalogue, &selection, render, |(number, text)| {
        texts.insert(number, text);
        Ok(())
    });
    written.map_err(|error| error.at(store.directory().root()))?;
    let text = |document: &&ScoredDocument| Some((document.url.clone(), texts.remove(&document.number)?));
    Ok(open.iter().filter_map(text).collect())
}

fn describe(args: &CompareLexiconsArgs, comparison: &LexiconComparison, thresholds: [f64; 2], drawn: usize) -> String {
    let [first, second] = [&args.first, &args.second].map(|path| path.display());
    let mut out = format!(
        "{first} at its page threshold {:.4} and {second} at {:.4} accept {} each; {} they agree on.\n\n\
         {:<12}  {:>9}  {:>5}  {:>8}  {:>9}\n",
        thresholds[0],
        thresholds[1],
        count(comparison.both + comparison.first_alone.documents, "document", "documents"),
        thousands(comparison.both as u64),
        "accepted by",
        "documents",
        "read",
        "on topic",
        "precision"
    );
    for (name, ReadDocuments { documents, read, on_topic }) in
        [("the first", comparison.first_alone), ("the second", comparison.second_alone)]
    {
        let share = per_cent(on_topic as f64, read as f64);
        let _ = writeln!(out, "{name:<12}  {:>9}  {read:>5}  {on_topic:>8}  {share:>9}", thousands(documents as u64));
    }
    out.push('\n');
    let read = comparison.first_alone.read + comparison.second_alone.read;
    let Some(gain) = comparison.gain else {
        return out + "To compare them, read documents that each of them alone accepts.";
    };
    let _ = writeln!(
        out,
        "Among as many documents, {second} has {:.0} [{:.0}, {:.0}] on-topic ones more than {first} (95% interval).",
        gain.value, gain.low, gain.high
    );
    let all = comparison.first_alone.documents + comparison.second_alone.documents;
    out += &match comparison.is_second_better() {
        Some(true) => format!("{second} is better."),
        Some(false) => format!("{first} is better."),
        None if read < drawn => "Which is better is not known yet; read more of them.".to_owned(),
        None if drawn < all => {
            format!("Which is better is not known yet; read more with --pages {}.", (2 * drawn).min(all))
        }
        None => "Neither is clearly better.".to_owned(),
    };
    out
}
