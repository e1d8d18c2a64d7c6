//! Learns a lexicon from a crawl whose lexicon has keywords alone: the documents that the keywords are surest of are the
//! samples, and those that the keywords reject the background (self-training; Yarowsky 1995).
//!
//! What the keywords accept without being sure shows how good they are. If these documents lie nearer to the background,
//! the keywords are general words, and most of these documents are off topic: they are background, too. Otherwise most
//! are on topic. They are not learnt from, and the threshold is lower, because the samples are the clearest pages of
//! the topic, and others of the topic score less.

use ordered_float::OrderedFloat;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::learn::learn_lowered;
use super::linear::position_between;
use super::{Background, LearnError, LearnOptions, Learnt, Lexicon, Sample, Topic};

/// Least and most samples to learn from.
const SAMPLES: std::ops::RangeInclusive<usize> = 20..=300;
/// Share of the documents on topic by the keywords that are samples, the surest first; from .3 to .7 F1 is the same
/// within .01.
const SURE: f64 = 0.3;
/// Most samples of a host, so that none decides what the topic is; from 10 to 60 F1 is the same within .01.
const SAMPLES_A_HOST: usize = 15;
/// Position of the unsure documents between background (0) and samples (1) below which the keywords are general words;
/// from .2 to .3 F1 is the same within .01.
const GENERAL: f64 = 0.25;
/// Distance of the threshold from the boundary for general words, and for specific ones; from .3 to .7 F1 is the same
/// within .01.
const BELOW: [f64; 2] = [0.1, 0.6];

/// A lexicon learnt from a crawl, and what it was learnt from.
#[derive(Debug)]
pub struct Grown {
    pub learnt: Learnt,
    /// The documents that the keywords are surest of.
    pub samples: Vec<Sample>,
    /// Those that the keywords reject, and with general keywords what they are not sure of.
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
    let (with, without) = scored.split_at(on);
    let mut of_host: FxHashMap<&str, usize> = FxHashMap::default();
    let (mut chosen, further): (Vec<&Sample>, Vec<&Sample>) = with.iter().map(|(_, page)| *page).partition(|page| {
        let taken = of_host.entry(&page.host).or_default();
        *taken += 1;
        *taken <= SAMPLES_A_HOST
    });
    let mut unsure = chosen.split_off(wanted.min(chosen.len()));
    // A crawl of few hosts.
    let (more, further) = further.split_at(SAMPLES.start().saturating_sub(chosen.len()).min(further.len()));
    chosen.extend(more);
    unsure.extend(further);
    let samples: Vec<Sample> = chosen.into_iter().cloned().collect();
    let others: Vec<Sample> = without.iter().map(|(_, page)| (*page).clone()).collect();
    let needed = *SAMPLES.start();
    if samples.len() < needed || others.len() < needed {
        return Err(LearnError::TooFewDocuments { with: samples.len(), without: others.len(), needed });
    }
    let terms = keywords.terms.iter().map(|(term, weight)| (term.clone(), *weight)).collect();
    let options = LearnOptions { keywords: terms, ..options.clone() };
    let mut background = Background::from_samples(others);
    let position = position_between(&samples, &background, &unsure, &options);
    let is_general = position.is_some_and(|position| position < GENERAL);
    if is_general {
        background = Background::from_samples(background.samples().iter().chain(unsure).cloned().collect());
    }
    let below = BELOW[usize::from(!is_general)];
    Ok(Grown { learnt: learn_lowered(&samples, &background, &options, Some(below))?, samples, background })
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
    fn what_general_words_accept_is_background() {
        let keywords = keywords(&["足球", "篮球", "比赛", "进球"]);
        let options = LearnOptions { terms: 200, ..LearnOptions::new("体育", Method::Linear) };
        let with = |texts: [&str; 4]| {
            let mut documents = crawl();
            documents.extend(pages(texts, 5).into_iter().map(|mut page| {
                page.source += " unsure";
                page
            }));
            let Grown { learnt, background, .. } = grow(&keywords, &documents, &options).unwrap();
            let unsure = background.samples().iter().filter(|page| page.source.ends_with("unsure")).count();
            (unsure, learnt.lexicon.page.value)
        };
        let about_films = with(["电影院比赛放映电影", "演员唱歌比赛", "程序员比赛写代码", "厨师做饭菜比赛"]);
        let about_football = with(["足球比赛进球", "球迷看足球", "篮球比赛球迷", "进球的球迷"]);
        assert!(about_films.0 > 10 && about_football.0 <= 1, "{about_films:?} {about_football:?}");
        assert!(about_films.1 > about_football.1, "{about_films:?} {about_football:?}");
    }

    #[test]
    fn few_pages_with_the_keywords_teach_nothing() {
        let options = LearnOptions::new("体育", Method::Linear);
        let error = grow(&keywords(&["滑雪"]), &crawl(), &options).unwrap_err().to_string();
        assert!(
            error.contains("0 documents of the crawl have enough of the keywords, and 51 do not; 20 of each"),
            "{error}"
        );
        assert!(grow(&keywords(&["足球"]), &[], &options).is_err());
    }
}
