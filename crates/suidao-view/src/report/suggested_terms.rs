//! Terms that the lexicon may lack: frequent in relevant documents, and rare in others of the same hosts.

use rustc_hash::FxHashSet;

use suidao_page::topic::{Background, LearnOptions, Lexicon, Method, learn};
use suidao_store::corpus::{Catalogue, TopicSamples};
use suidao_store::store::{Store, StoreError, plain_file};

/// Relevant documents to look at.
const DOCUMENTS: usize = 200;
/// With fewer, terms of single documents would be listed.
const FEWEST: usize = 20;
const LISTED: usize = 20;
/// Terms to choose them from.
const LEARNT: usize = 150;

/// The heaviest first; none if the crawl has too few documents or no copy of its lexicon.
pub(super) fn suggested_terms(store: &Store, catalogue: &Catalogue) -> Result<Vec<String>, StoreError> {
    let path = store.directory().topic_toml();
    let relevant = catalogue.entries.iter().filter(|entry| entry.is_relevant()).count();
    if relevant < FEWEST || !path.exists() {
        return Ok(Vec::new());
    }
    let text = plain_file::read_text(&path, plain_file::LARGE)?;
    let Ok(lexicon) = Lexicon::parse(&text) else { return Ok(Vec::new()) };
    let TopicSamples { samples, background } = TopicSamples::relevant(store, catalogue, DOCUMENTS)?;
    let options = LearnOptions { terms: LEARNT, ..LearnOptions::new(&lexicon.name, Method::Lift) };
    let Ok(learnt) = learn(&samples, &Background::from_samples(background), &options) else { return Ok(Vec::new()) };
    let removed = lexicon.linear.iter().flat_map(|linear| &linear.removed.terms);
    let known: FxHashSet<&str> = lexicon
        .terms
        .iter()
        .chain(&lexicon.near)
        .map(|(term, _)| term.as_str())
        .chain(removed.map(String::as_str))
        .collect();
    let is_new = |term: &String| !known.contains(term.as_str()) && term.chars().count() > 1;
    Ok(learnt.lexicon.terms.into_iter().map(|(term, _)| term).filter(is_new).take(LISTED).collect())
}
