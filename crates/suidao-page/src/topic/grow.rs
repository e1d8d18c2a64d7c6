//! Learns a lexicon from a crawl whose lexicon has keywords alone: the documents that the keywords are surest of are the
//! samples, and all others of the crawl the background (self-training; Yarowsky 1995).
//!
//! Many of the others are on topic too. The linear judge expects that: it leaves out of the training what looks on
//! topic, and estimates how much of the background is (Elkan, Noto 2008). If only documents without the keywords were
//! background, the boundary would be too low: precision .46 instead of .64.

use ordered_float::OrderedFloat;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{Background, LearnError, LearnOptions, Learnt, Lexicon, Sample, Topic, learn};

/// Least and most samples to learn from.
const SAMPLES: std::ops::RangeInclusive<usize> = 20..=300;
/// Share of the documents on topic by the keywords that are samples, the surest first; from .25 to .5 F1 is the same
/// within .02.
const SURE: f64 = 0.3;
/// Most samples of a host, so that none decides what the topic is.
const SAMPLES_A_HOST: usize = 30;

/// A lexicon learnt from a crawl, and what it was learnt from.
#[derive(Debug)]
pub struct Grown {
    pub learnt: Learnt,
    /// The documents that the keywords are surest of.
    pub samples: Vec<Sample>,
    /// All others.
    pub background: Background,
}

/// Learns from documents of a crawl, none of which is labelled, what else the pages of its keywords have in common.
///
/// # Errors
/// [`LearnError`] if too few documents have the keywords.
pub fn grow(keywords: &Lexicon, documents: &[Sample], options: &LearnOptions) -> Result<Grown, LearnError> {
    let topic = Topic::new(keywords.clone());
    let threshold = f64::from(topic.page_threshold().get());
    let mut scored: Vec<(f64, &Sample)> = documents
        .par_iter()
        .filter(|page| !page.listing)
        .map(|page| (f64::from(topic.score_page(&page.document).relevance.get()), page))
        .collect();
    // Equal scores stay in the order of the crawl.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(OrderedFloat(*score)));
    let on = scored.partition_point(|(score, _)| *score >= threshold);
    let wanted = ((on as f64 * SURE) as usize).clamp(*SAMPLES.start(), *SAMPLES.end());
    let mut of_host: FxHashMap<&str, usize> = FxHashMap::default();
    let mut samples: Vec<Sample> = Vec::new();
    let mut others: Vec<Sample> = Vec::new();
    for (rank, (_, page)) in scored.into_iter().enumerate() {
        let taken = of_host.entry(&page.host).or_default();
        if rank < on && samples.len() < wanted && *taken < SAMPLES_A_HOST {
            *taken += 1;
            samples.push(page.clone());
        } else {
            others.push(page.clone());
        }
    }
    if samples.len() < *SAMPLES.start() {
        return Err(LearnError::NoSamples {
            samples: samples.len(),
            reasons: format!("{} documents with the keywords are needed", SAMPLES.start()),
        });
    }
    let terms = keywords.terms.iter().map(|(term, weight)| (term.clone(), *weight)).collect();
    let options = LearnOptions { keywords: terms, ..options.clone() };
    let background = Background::from_samples(others);
    Ok(Grown { learnt: learn(&samples, &background, &options)?, samples, background })
}

#[cfg(test)]
mod tests {
    use super::super::linear::tests::{OFF, ON, pages};
    use super::super::{Method, learn_from_keywords};
    use super::*;

    fn keywords(words: &[&str]) -> Lexicon {
        let words: Vec<(String, Option<f64>)> = words.iter().map(|word| ((*word).to_owned(), None)).collect();
        learn_from_keywords(&words, &Background::built_in(), &LearnOptions::new("体育", Method::Linear)).unwrap()
    }

    fn crawl() -> Vec<Sample> {
        let mut documents = pages(ON, 5);
        documents.extend(pages(OFF, 5));
        documents.extend(pages(["球迷看球", "球迷们", "球迷", "看球的球迷"], 5).into_iter().take(3).map(|mut page| {
            page.source += " without keywords";
            page
        }));
        documents
    }

    #[test]
    fn what_the_pages_with_the_keywords_have_in_common_is_learnt() {
        let keywords = keywords(&["足球", "篮球", "比赛", "进球"]);
        let documents = crawl();
        let options = LearnOptions { terms: 200, ..LearnOptions::new("体育", Method::Linear) };
        let grown = grow(&keywords, &documents, &options).unwrap().learnt.lexicon;
        let weight = |word: &str| grown.terms.iter().find(|(term, _)| term == word).map_or(0.0, |(_, weight)| *weight);
        assert!(weight("足球") > 0.0 && weight("球迷") > 0.0 && weight("电影") <= 0.0, "{:?}", grown.terms);
        let (before, after) = (Topic::new(keywords.clone()), Topic::new(grown.clone()));
        // A page without keywords is nearer to the topic than any page about something else.
        let relevance = |topic: &Topic, page: &Sample| topic.score_page(&page.document).relevance;
        assert_eq!(relevance(&before, &documents[48]), crate::model::Relevance::ZERO);
        let others = documents[24..48].iter().map(|page| relevance(&after, page));
        assert!(others.into_iter().all(|other| other < relevance(&after, &documents[48])));
        assert_eq!(grow(&keywords, &documents, &options).unwrap().learnt.lexicon.digest(), grown.digest());
    }

    #[test]
    fn few_pages_with_the_keywords_teach_nothing() {
        let options = LearnOptions::new("体育", Method::Linear);
        let error = grow(&keywords(&["滑雪"]), &crawl(), &options).unwrap_err().to_string();
        assert!(error.contains("20 documents with the keywords are needed"), "{error}");
        assert!(grow(&keywords(&["足球"]), &[], &options).is_err());
    }
}
