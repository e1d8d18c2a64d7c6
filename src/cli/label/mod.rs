//! `suidao label`: asks about a sample of a crawl's pages, stores the answers, and estimates from them.

mod by_judge;
mod programs;
pub mod questions;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use rustc_hash::FxHashMap;
use strum::{EnumMessage, IntoStaticStr, VariantArray};
use suidao::corpus::{Catalogue, CorpusDocument, Parts, SelectedDocument, Selection, UrlNames, stream};
use suidao::label::{AnswersByWhom, LabelFile, Strata, excerpt};
use suidao::model::{CrawlUrl, Relevance};
use suidao::store::{CrawlDirectory, Store};
use suidao::topic::Topic;

use super::filter::FilterArgs;
use super::names::one_of;
use super::network::ConfigArgs;
use super::outcome::{Exit, Verbosity};
use super::terminal::{Emphasis, MarkedText};
use questions::Reply;

/// Answers needed for a summary.
const ENOUGH: usize = 50;

/// Label a sample of pages to measure the crawl's precision and recall.
#[derive(Args)]
#[command(after_help = format!("{}\n\nExample: suidao label ml --pages 60", questions::ANSWERS))]
pub struct LabelArgs {
    /// Crawl directory; answers are saved in its labels.tsv
    pub directory: PathBuf,
    /// Lexicon, to highlight its terms and to suggest changes [default: the copy in the crawl directory]
    #[arg(short = 'm', long, value_name = "LEXICON", help_heading = "Input")]
    pub lexicon: Option<PathBuf>,
    /// Print the estimates from the answers so far; ask nothing
    #[arg(long, help_heading = "Output")]
    pub summary: bool,
    /// Print the estimates as JSON; ask nothing
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print the next N pages of the sample as JSON; ask nothing
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1",
        conflicts_with_all = ["summary", "json"], help_heading = "Output")]
    pub next: Option<usize>,
    /// Save that the page of this URL is about the topic; may be repeated
    #[arg(long, value_name = "URL", conflicts_with_all = ["summary", "by"], help_heading = "Input")]
    pub yes: Vec<String>,
    /// Save that the page of this URL is not about the topic; may be repeated
    #[arg(long, value_name = "URL", conflicts_with_all = ["summary", "by"], help_heading = "Input")]
    pub no: Vec<String>,
    /// Total number of pages to label, earlier answers included
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Limits")]
    pub pages: usize,
    /// Who answers: you, or the chat or command that [judge] configures
    #[arg(long, value_name = "WHO", default_value = "person", value_parser = one_of::<Labeller>(), help_heading = "Input")]
    pub by: Labeller,
    /// For `--by judge`; only `[judge]` is used.
    #[command(flatten)]
    pub judge: ConfigArgs,
    #[command(flatten)]
    pub filter: FilterArgs,
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Labeller {
    /// You, one page after the other
    Person,
    /// The judge, whose answers are marked in labels.tsv; yours count before them
    Judge,
}

struct Judged<'a> {
    store: &'a Store,
    catalogue: &'a Catalogue,
    names: UrlNames,
    selection: Selection,
    strata: Strata,
    topic: Option<Topic>,
}

pub fn run(args: &LabelArgs, verbosity: Verbosity) -> Result<Exit> {
    let filter = args.filter.filter()?;
    let directory = CrawlDirectory::new(&args.directory);
    let topic = super::inputs::topic_of_crawl(args.lexicon.as_deref(), &directory)?;
    let store = Store::open(&directory)?;
    let catalogue = Catalogue::read(&store)?;
    let selection = filter.select(&catalogue);
    if selection.pages == 0 {
        bail!("{}: no page to label: none is fetched yet, or none matches the filters", args.directory.display());
    }
    let names = UrlNames::read(&store, &catalogue)?;
    let Some(threshold) = threshold(&catalogue, topic.as_ref()) else {
        bail!(
            "{}: no page is relevant, so the page threshold is unknown; give the lexicon with -m",
            args.directory.display()
        );
    };
    let chosen = catalogue.entries.iter().zip(&selection.chosen).filter(|(_, chosen)| **chosen);
    let strata = Strata::new(threshold, chosen.map(|(entry, _)| entry.relevance));
    let judged = Judged { store: &store, catalogue: &catalogue, names, selection, strata, topic };

    let path = directory.root().join("labels.tsv");
    let answers_given = !args.yes.is_empty() || !args.no.is_empty();
    let asks = !args.summary && !args.json && args.next.is_none() && !answers_given;
    let none = || format!("{}: no page is labelled yet; run suidao label without --summary", args.directory.display());
    if !asks && !answers_given && args.next.is_none() && !path.exists() {
        bail!(none());
    }
    let (mut file, labels) = LabelFile::open(&path)?;
    let places = judged.places();
    let known = labels.iter().filter_map(|(url, relevant)| Some((*places.get(url)?, *relevant)));
    let mut answers: BTreeMap<usize, bool> = known.collect();
    let filtered = labels.len() - answers.len();
    if filtered > 0 {
        infoln!(verbosity, "suidao: ignored {filtered} labels in labels.tsv whose pages the filters exclude");
    }
    if answers_given {
        programs::save(args, &judged, &mut file, &mut answers)?;
    }
    if let Some(most) = args.next {
        let labelled = AnswersByWhom::read(&path)?.person;
        return programs::next(args, &judged, labelled, most);
    }
    if answers_given && !args.json {
        infoln!(verbosity, "{} pages labelled", answers.len());
        return Ok(Exit::Done);
    }
    if asks {
        match args.by {
            Labeller::Person => {
                // A person is asked about pages of the judge too, which tells how often it is wrong.
                let by_person = AnswersByWhom::read(&path)?.person;
                let answered = by_person.keys().filter_map(|url| places.get(url).copied()).collect();
                ask(args, &judged, &mut file, &mut answers, answered)?;
            }
            Labeller::Judge => by_judge::ask(args, &judged, &mut file, &mut answers, verbosity)?,
        }
        if answers.len() < ENOUGH {
            let more = ENOUGH - answers.len();
            outln!("{} pages labelled. Estimates appear after {more} more answers (or use --summary).", answers.len());
            return Ok(Exit::Done);
        }
    }
    if answers.is_empty() {
        bail!(none());
    }
    let result = summary::LabelSummary::new(&judged, &answers)?;
    let (same, both) = AnswersByWhom::read(&path)?.agreement();
    if args.json {
        let mut json = serde_json::to_value(&result)?;
        if let Some(fields) = json.as_object_mut().filter(|_| both > 0) {
            fields.insert("judge".to_owned(), serde_json::json!({ "compared": both, "agrees": same }));
        }
        outln!("{}", serde_json::to_string_pretty(&json)?);
    } else {
        outln!("{}", result.to_string().trim_end());
        if both > 0 {
            outln!("\nThe judge agrees with you on {same} of {both} pages that both answered.");
        }
    }
    Ok(Exit::Done)
}

/// The current page threshold: the lexicon's if it separates the pages as the crawl did, else the lowest relevance that
/// the crawl took as relevant (another `crawl.page_threshold` may have been set).
fn threshold(catalogue: &Catalogue, topic: Option<&Topic>) -> Option<Relevance> {
    let lowest = catalogue.entries.iter().filter(|entry| entry.on_topic).map(|entry| entry.relevance);
    let lowest = lowest.min_by(|one, other| one.get().total_cmp(&other.get()));
    let lexicon = topic.map(Topic::page_threshold);
    let agrees =
        |threshold: &Relevance| catalogue.entries.iter().all(|entry| entry.on_topic == (entry.relevance >= *threshold));
    lexicon.filter(agrees).or(lowest).or(lexicon)
}

impl Judged<'_> {
    /// Index in the catalogue of each selected page.
    fn places(&self) -> FxHashMap<&CrawlUrl, usize> {
        let chosen = self.catalogue.entries.iter().enumerate().filter(|(position, _)| self.selection.chosen[*position]);
        chosen.filter_map(|(position, entry)| Some((self.names.url(entry.id)?, position))).collect()
    }

    /// Parses some pages, given by index.
    fn documents<T: Send>(
        &self,
        positions: &[usize],
        make: impl Fn(usize, CorpusDocument) -> T + Sync,
    ) -> Result<BTreeMap<usize, T>> {
        let mut selection = self.selection.clone();
        selection.chosen.fill(false);
        positions.iter().for_each(|&position| selection.chosen[position] = true);
        let mut made = BTreeMap::new();
        let render = |chosen: &SelectedDocument| {
            let document = chosen.document(Parts { text: true, ..Parts::default() })?;
            Ok((chosen.number, make(chosen.number, document)))
        };
        let written = stream(self.store, self.catalogue, &selection, render, |(position, document)| {
            made.insert(position, document);
            Ok(())
        });
        written.map_err(|error| error.at(self.store.directory().root()))?;
        Ok(made)
    }
}

/// The remaining pages of a sample of `most` pages, besides those `answered`.
fn drawn(judged: &Judged, most: usize, answered: &BTreeSet<usize>) -> Vec<usize> {
    let entries = &judged.catalogue.entries;
    let chosen: Vec<usize> = (0..entries.len()).filter(|&position| judged.selection.chosen[position]).collect();
    let page = |&position: &usize| {
        let url = judged.names.url(entries[position].id).map_or("", CrawlUrl::as_str);
        (entries[position].relevance, url, answered.contains(&position))
    };
    let pages: Vec<(Relevance, &str, bool)> = chosen.iter().map(page).collect();
    judged.strata.draw(&pages, most).into_iter().map(|drawn| chosen[drawn]).collect()
}

/// As [`drawn`]; says so if there are none.
fn announced(args: &LabelArgs, judged: &Judged, answered: &BTreeSet<usize>) -> Result<Vec<usize>> {
    let drawn = drawn(judged, args.pages, answered);
    if drawn.is_empty() {
        outln!("{} pages are labelled already; use a larger --pages to label more", answered.len());
    }
    Ok(drawn)
}

/// The words to highlight: the lexicon's terms; without it, those that the log says were found.
fn terms<'a>(judged: &'a Judged, document: &'a CorpusDocument) -> Vec<&'a str> {
    match &judged.topic {
        Some(topic) => topic.lexicon().main_terms().iter().map(|(term, _)| term.as_str()).collect(),
        None => document.terms.iter().map(|found| found.term.as_str()).collect(),
    }
}

/// Asks about the remaining pages of the sample, until there are no more or the answers end. `answered`: by a person.
fn ask(
    args: &LabelArgs,
    judged: &Judged,
    file: &mut LabelFile,
    answers: &mut BTreeMap<usize, bool>,
    answered: BTreeSet<usize>,
) -> Result<()> {
    let entries = &judged.catalogue.entries;
    let drawn = announced(args, judged, &answered)?;
    if drawn.is_empty() {
        return Ok(());
    }
    let mut documents = judged.documents(&drawn, |_, document| {
        let terms = terms(judged, &document);
        let mut text = head(&document);
        for (piece, is_term) in excerpt(&document.text, &terms) {
            if is_term { text.mark(Emphasis::Term, &piece) } else { text.push(&piece) }
        }
        (document.url.clone(), text)
    })?;
    let (positions, pages): (Vec<usize>, Vec<_>) =
        drawn.into_iter().filter_map(|position| Some((position, documents.remove(&position)?))).unzip();
    questions::ask(&judged.store.meta().topic, answered.len(), &pages, |reply| {
        match reply {
            Reply::Answer { page, on_topic } => {
                let relevance = entries[positions[page]].relevance;
                let columns = format_args!("{:.4}\t{}", relevance.get(), judged.strata.of(relevance));
                file.add(&pages[page].0, on_topic, columns)?;
                answers.insert(positions[page], on_topic);
            }
            Reply::Undo { page } => {
                if file.undo()? {
                    answers.remove(&positions[page]);
                }
            }
        }
        Ok(())
    })
}

/// Title, URL, date and language.
fn head(document: &CorpusDocument) -> MarkedText {
    let mut out = MarkedText::new();
    out.mark(Emphasis::Title, if document.title.is_empty() { "(no title)" } else { &document.title });
    let date = document.published.map_or_else(|| "no date".to_owned(), |day| day.to_string());
    let language = document.language.as_deref().unwrap_or("unknown language");
    out.push(&format!("\n{}\n{date}, {language}, {} characters\n\n", document.url, document.chars));
    out
}
