//! Near terms: terms of off-topic pages one link upstream of the topic.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::term_weights::{MinimumCounts, Ranked, weigh};
use super::{Background, Lexicon, Sample, Topic};
use crate::model::{CrawlUrl, Region};

/// Stricter than for the topic, because upstream pages are few and of mixed topics.
const NEAR: MinimumCounts = MinimumCounts { pages: 5, hosts: 4, share: 0.1, lift: 3.0 };

/// The `most` heaviest terms of pages that link to a usable sample (`fit`) but are off topic.
pub(super) fn near_terms(
    lexicon: &Lexicon,
    samples: &[Sample],
    fit: &[&Sample],
    background: &Background,
    textrank_alone: bool,
    most: usize,
) -> Vec<(String, f64)> {
    let targets: FxHashSet<&CrawlUrl> = fit.iter().filter_map(|sample| sample.url.as_ref()).collect();
    let topic = Topic::new(lexicon.clone());
    let leads_there = |page: &Sample| {
        let mut links = page.document.links.iter().filter(|link| link.region == Region::Content);
        links.any(|link| targets.contains(&link.url)) && topic.score(&page.document).relevance < topic.page_threshold()
    };
    let pages: Vec<&Sample> = samples
        .iter()
        .chain(background.samples())
        .filter(|page| page.url.as_ref().is_none_or(|url| !targets.contains(url)))
        .collect();
    let leading: Vec<bool> = pages.par_iter().map(|page| leads_there(page)).collect();
    let (upstream, others): (Vec<_>, Vec<_>) = pages.into_iter().zip(leading).partition(|(_, leads)| *leads);
    if upstream.len() < NEAR.pages {
        return Vec::new();
    }
    // Compared with other pages of the same hosts, to exclude what those hosts write about in general.
    let hosts: FxHashSet<&str> = upstream.iter().map(|(page, _)| page.host.as_str()).collect();
    let contrast = others.into_iter().filter(|(page, _)| hosts.contains(page.host.as_str()));
    let contrast = Background::from_samples(contrast.map(|(page, _)| page.clone()).collect());
    let ranked: Vec<Ranked> = upstream.par_iter().map(|(page, _)| Ranked::new(page)).collect();
    let without = lexicon.main_terms().iter().map(|(term, _)| term.as_str()).collect();
    weigh(&ranked.iter().collect::<Vec<_>>(), &contrast, textrank_alone, most, &NEAR, &without)
}
