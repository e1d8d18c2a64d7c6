//! Chooses a lexicon's thresholds by cross-validation on its samples and background pages.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::evaluate::Curve;
use super::{Background, Lexicon, Sample, Threshold, Topic};
use crate::model::{CrawlUrl, Relevance};

/// Folds of the cross-validation.
pub(super) const FOLDS: usize = 4;
/// Maximum background pages to score.
const PAGES: usize = 1000;
/// Assumed prior: one page (or link) in this many is on topic.
pub(super) const ONE_IN: f64 = 20.0;
/// Target recall without background pages; the highest F1 on four topics gave .56 to .88.
const RECALL: f64 = 0.65;
/// Number of random pages, and the share of them that may reach the threshold.
const RANDOM_PAGES: usize = 1000;
const RANDOM_SHARE: f64 = 0.01;
/// The share of real background pages, some of which are on topic.
const BACKGROUND_SHARE: f64 = 0.03;
/// Words besides a term in the anchor of the weakest promising link.
const OTHER_WORDS: f64 = 3.0;
/// The page threshold if nothing can be measured.
const DEFAULT_PAGE: f64 = 0.05;
/// Least on-topic links for a measurement.
const LEAST_LINKS: usize = 30;

pub(super) struct ChosenThresholds {
    pub(super) page: Threshold,
    pub(super) link: Threshold,
}

/// A lexicon that was learnt without some samples.
pub(super) struct Part {
    fold: usize,
    held_out: Vec<usize>,
    pub(super) lexicon: Lexicon,
}

/// The lexicons of the cross-validation.
pub(super) fn parts(fit: &[&Sample], learn: impl Fn(&[usize]) -> Option<Lexicon>) -> Vec<Part> {
    let fold_of = folds(fit);
    let part = |fold: usize| {
        let (held_out, part): (Vec<usize>, Vec<usize>) = (0..fit.len()).partition(|&index| fold_of[index] == fold);
        if held_out.is_empty() || part.is_empty() {
            return None;
        }
        Some(Part { fold, held_out, lexicon: learn(&part)? })
    };
    (0..FOLDS).filter_map(part).collect()
}

/// Thresholds for the lexicon of all samples, chosen on the lexicons of parts of them.
pub(super) fn choose(
    fit: &[&Sample],
    background: &Background,
    lexicon: &Lexicon,
    parts: Vec<Part>,
) -> ChosenThresholds {
    let own: FxHashSet<&CrawlUrl> = fit.iter().filter_map(|sample| sample.url.as_ref()).collect();
    let sources: FxHashSet<&str> = fit.iter().map(|sample| sample.source.as_str()).collect();
    let off_topic = |sample: &&Sample| {
        !sources.contains(sample.source.as_str()) && sample.url.as_ref().is_none_or(|url| !own.contains(url))
    };
    let others: Vec<&Sample> = background.samples().iter().filter(off_topic).collect();
    let step = others.len().div_ceil(PAGES).max(1);
    let negatives: Vec<&Sample> = others.iter().step_by(step).copied().collect();
    let negative_urls: FxHashSet<&CrawlUrl> = others.iter().filter_map(|sample| sample.url.as_ref()).collect();

    let mut pages: Vec<(Relevance, bool)> = Vec::new();
    let mut links: Vec<(Relevance, bool)> = Vec::new();
    for Part { fold, held_out, lexicon } in parts {
        let topic = Topic::new(lexicon);
        let targets: FxHashSet<&CrawlUrl> = held_out.iter().filter_map(|&index| fit[index].url.as_ref()).collect();
        let mut requested: Vec<(&Sample, bool)> = held_out.iter().map(|&index| (fit[index], true)).collect();
        requested.extend(negatives.iter().skip(fold).step_by(FOLDS).map(|sample| (*sample, false)));
        let scored: Vec<_> = requested.par_iter().map(|(sample, _)| topic.score(&sample.document)).collect();
        for ((sample, on_topic), scores) in requested.into_iter().zip(scored) {
            pages.push((scores.relevance, on_topic));
            for (link, (_, relevance)) in sample.document.links.iter().zip(scores.links) {
                if targets.contains(&link.url) {
                    links.push((relevance, true));
                } else if negative_urls.contains(&link.url) {
                    links.push((relevance, false));
                }
            }
        }
    }
    let hosts: FxHashSet<&str> = fit.iter().map(|sample| sample.host.as_str()).collect();
    let by = if hosts.len() > 1 { "hosts" } else { "pages" };
    let page = match pages.iter().filter(|(_, on_topic)| *on_topic).count() {
        _ if lexicon.linear.is_some() => lexicon.page.clone(),
        0 => Threshold::unmeasured(DEFAULT_PAGE, "default: too few samples to hold some out"),
        _ if negatives.is_empty() => recall_threshold(&pages, lexicon, background, by),
        on => measured(&pages, 0.0, |off| {
            format!(
                "highest F1 on {on} sample pages and {off} background pages in {FOLDS}-fold cross-validation, split by {by}"
            )
        }),
    };
    ChosenThresholds { page, link: link_threshold(&links, lexicon) }
}

/// Assigns hosts to folds, the largest first, each to the smallest fold; single pages if there is one host.
pub(super) fn folds(fit: &[&Sample]) -> Vec<usize> {
    let mut hosts: Vec<(&str, usize)> = Vec::new();
    for sample in fit {
        match hosts.iter_mut().find(|(host, _)| *host == sample.host) {
            Some((_, pages)) => *pages += 1,
            None => hosts.push((&sample.host, 1)),
        }
    }
    if hosts.len() < 2 {
        return (0..fit.len()).map(|index| index % FOLDS).collect();
    }
    hosts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let mut filled = [0; FOLDS];
    let mut fold_of: Vec<(&str, usize)> = Vec::new();
    for (host, pages) in hosts {
        let least = (0..FOLDS).min_by_key(|&fold| filled[fold]).unwrap_or(0);
        filled[least] += pages;
        fold_of.push((host, least));
    }
    let find = |host: &str| fold_of.iter().find(|(known, _)| *known == host).map_or(0, |(_, fold)| *fold);
    fit.iter().map(|sample| find(&sample.host)).collect()
}

/// The threshold with the highest F1 if one in [`ONE_IN`] is on topic, but at least `least`.
fn measured(scored: &[(Relevance, bool)], least: f64, chosen: impl Fn(usize) -> String) -> Threshold {
    let on = scored.iter().filter(|(_, on_topic)| *on_topic).count();
    let off = scored.len() - on;
    let curve = Curve::new(scored, (ONE_IN - 1.0) * on as f64 / (off as f64).max(1.0));
    let best = curve.best();
    let point = if best.threshold < least { curve.at(least) } else { best };
    Threshold {
        value: point.threshold,
        chosen: format!("{}, assuming that 1 page in {ONE_IN:.0} is on topic", chosen(off)),
        precision: Some(point.precision),
        recall: Some(point.recall),
    }
}

/// Without background pages: the threshold that most held-out samples reach and random pages do not.
fn recall_threshold(pages: &[(Relevance, bool)], lexicon: &Lexicon, background: &Background, by: &str) -> Threshold {
    let mut scores: Vec<f64> = pages.iter().map(|(relevance, _)| f64::from(relevance.get())).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    let last = ((RECALL * scores.len() as f64).ceil() as usize).clamp(1, scores.len()) - 1;
    let random = random_scores(lexicon, background);
    let value = scores[last].max(top_share(random.clone(), RANDOM_SHARE));
    let mut all = pages.to_vec();
    all.extend(random.iter().map(|&relevance| (relevance, false)));
    let point = Curve::new(&all, (ONE_IN - 1.0) * scores.len() as f64 / (random.len() as f64).max(1.0)).at(value);
    Threshold {
        value,
        chosen: format!(
            "reached by {:.0}% of {} sample pages in {FOLDS}-fold cross-validation, split by {by}, and by at most {:.0}% of pages \
             of random words; precision is measured against these, assuming that 1 page \
             in {ONE_IN:.0} is on topic. Pages of neighbouring topics score higher, so expect less, or measure with \
             --background DIR",
            RECALL * 100.0,
            scores.len(),
            RANDOM_SHARE * 100.0
        ),
        precision: Some(point.precision),
        recall: Some(point.recall),
    }
}

/// Relevance of random pages of the background's words.
fn random_scores(lexicon: &Lexicon, background: &Background) -> Vec<Relevance> {
    let topic = Topic::new(lexicon.clone());
    let pages = background.random_pages(RANDOM_PAGES);
    pages.par_iter().map(|page| topic.score(&page.document).relevance).collect()
}

/// Slightly above what all but this share of the scores reach.
fn top_share(mut scores: Vec<Relevance>, share: f64) -> f64 {
    scores.sort_by(|a, b| b.get().total_cmp(&a.get()));
    let allowed = (scores.len() as f64 * share) as usize;
    scores.get(allowed).map_or(0.0, |score| f64::from(score.get()) + 1e-4)
}

/// Thresholds for keywords, without samples.
pub(super) fn of_keywords(lexicon: &Lexicon, background: &Background) -> ChosenThresholds {
    let (scores, share, what) = if background.samples().is_empty() {
        (random_scores(lexicon, background), RANDOM_SHARE, "pages of random words")
    } else {
        let topic = Topic::new(lexicon.clone());
        let documents: Vec<&Sample> = background.samples().iter().filter(|page| !page.listing).collect();
        let scores = documents.par_iter().map(|page| topic.score(&page.document).relevance).collect();
        (scores, BACKGROUND_SHARE, "background documents")
    };
    let value = top_share(scores, share);
    let chosen = format!(
        "reached by at most {:.0}% of {what}, and at least {DEFAULT_PAGE}; precision and recall are unknown without \
         sample pages",
        share * 100.0
    );
    ChosenThresholds {
        page: Threshold::unmeasured(value.max(DEFAULT_PAGE), &chosen),
        link: link_threshold(&[], lexicon),
    }
}

/// The score of a median topic term in a four-word anchor and nothing else; measured links can raise it.
fn link_threshold(scored: &[(Relevance, bool)], lexicon: &Lexicon) -> Threshold {
    let terms = lexicon.main_terms();
    let length: f64 = terms.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    let median = terms.get(terms.len() / 2).map_or(1.0, |(_, weight)| *weight);
    let least = lexicon.weights.anchor * median / length / (1.0 + OTHER_WORDS).sqrt();
    let text = "score of a median topic term in a four-word anchor";
    let on = scored.iter().filter(|(_, on_topic)| *on_topic).count();
    if on < LEAST_LINKS || scored.len() - on < LEAST_LINKS {
        return Threshold::unmeasured(least, &format!("{text}; too few links between the samples to measure"));
    }
    measured(scored, least, |off| {
        format!("highest F1 of {on} links to held-out samples against {off} to background pages, at least the {text}")
    })
}

/// df of a keyword: of the whole, or of its rarest word; `None` if it contains no word.
pub(super) fn keyword_df(keyword: &str, background: &Background) -> Option<u32> {
    let (key, parts) = super::vocabulary::joined(keyword)?;
    Some(match background.df(&key) {
        0 => parts.iter().map(|part| background.df(part)).min().unwrap_or(0),
        df => df,
    })
}
