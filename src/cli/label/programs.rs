//! Labelling by another program: the next pages as JSON, and answers as arguments.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use suidao::label::{LabelFile, Labels, excerpt};
use suidao::model::{CrawlUrl, number};

use super::{Judged, LabelArgs, drawn, terms};
use crate::cli::outcome::Exit;

/// Saves the answers of the arguments.
pub(super) fn save(
    args: &LabelArgs,
    judged: &Judged,
    file: &mut LabelFile,
    answers: &mut BTreeMap<usize, bool>,
) -> Result<()> {
    let places = judged.places();
    let given = args.yes.iter().map(|url| (url, true)).chain(args.no.iter().map(|url| (url, false)));
    let mut found = Vec::new();
    // All are checked before the first is saved.
    for (word, on_topic) in given {
        let url = CrawlUrl::parse(word).with_context(|| format!("{word} is not a URL"))?;
        let position = places.get(&url).with_context(|| {
            format!("{url}: no page of the crawl with this URL can be labelled; take URLs from --next")
        })?;
        found.push((*position, url, on_topic));
    }
    for (position, url, on_topic) in found {
        let relevance = judged.catalogue.entries[position].relevance;
        let columns = format_args!("{:.4}\t{}", relevance.get(), judged.strata.of(relevance));
        file.add(&url, on_topic, columns)?;
        answers.insert(position, on_topic);
    }
    Ok(())
}

/// Prints the next pages of the sample: `labelled` (by a person), and for each page its text by pieces, of which some
/// are terms of the lexicon.
pub(super) fn next(args: &LabelArgs, judged: &Judged, labelled: Labels, most: usize) -> Result<Exit> {
    let places = judged.places();
    let answered = labelled.keys().filter_map(|url| places.get(url).copied()).collect();
    let mut drawn = drawn(judged, args.pages, &answered);
    let left = drawn.len();
    drawn.truncate(most);
    let mut pages = judged.documents(&drawn, |_, document| {
        let terms = terms(judged, &document);
        let pieces = excerpt(&document.text, &terms).into_iter();
        let pieces: Vec<Value> = pieces.map(|(text, is_term)| json!({ "text": text, "term": is_term })).collect();
        json!({
            "url": document.url,
            "title": document.title,
            "published": document.published.map(|day| day.to_string()),
            "language": document.language,
            "chars": document.chars,
            "excerpt": pieces,
        })
    })?;
    let pages: Vec<Value> = drawn.iter().filter_map(|position| pages.remove(position)).collect();
    let topic = &judged.store.meta().topic;
    let next = json!({ "topic": topic, "labelled": answered.len(), "left": left, "pages": pages });
    outln!("{}", number::plain(next));
    Ok(Exit::Done)
}
