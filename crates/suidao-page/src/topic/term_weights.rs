//! Weighs the terms of sample pages.
//!
//! Weight of a term = √(mean TextRank over the pages) × IDF × ln(min(20, lift)), where lift is the ratio of the shares
//! of sample pages and background pages that contain the term. Plain TextRank, as in the paper, ranks 使用, 进行 and 需要
//! first for every topic; the root prevents the few words common to all pages of a topic from dominating (mean average
//! precision on other hosts .51 without it, .53 with it, .39 for plain TextRank).

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Background, Sample};
use crate::text::is_term;
use crate::text::textrank::{is_candidate, textrank};

/// A larger lift is chance, and is cut.
pub(super) const LARGEST_LIFT: f64 = 20.0;
/// Minimum counts of a term; reduced if there are fewer pages or hosts.
pub(super) struct MinimumCounts {
    pub(super) pages: usize,
    pub(super) hosts: usize,
    /// Share of the samples.
    pub(super) share: f64,
    /// Ratio of its shares of the samples and of the background.
    pub(super) lift: f64,
}
/// For terms of the topic and tokens of its URLs.
pub(super) const TERM: MinimumCounts = MinimumCounts { pages: 3, hosts: 2, share: 0.01, lift: 1.5 };

/// The ranked words of one sample, computed once for all subsets of the samples.
pub(super) struct Ranked {
    host: String,
    /// TextRank of each candidate, the highest 1.
    ranks: Vec<(String, f64)>,
}

impl Ranked {
    pub(super) fn new(sample: &Sample) -> Self {
        let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
        let mut names: Vec<String> = Vec::new();
        let mut sequence = Vec::new();
        sample.tagged_words(|word, tag| {
            sequence.push((is_candidate(tag) && is_term(word)).then(|| match numbers.get(word) {
                Some(&number) => number,
                None => {
                    let number = names.len() as u32;
                    numbers.insert(word.to_owned(), number);
                    names.push(word.to_owned());
                    number
                }
            }));
        });
        let ranks = textrank(&sequence, names.len());
        Self { host: sample.host.clone(), ranks: names.into_iter().zip(ranks).collect() }
    }
}

/// The `limit` heaviest terms of these pages, except those in `without`, scaled to a maximum of 1. `textrank_alone`:
/// the weight of the paper.
pub(super) fn weigh(
    pages: &[&Ranked],
    background: &Background,
    textrank_alone: bool,
    limit: usize,
    least: &MinimumCounts,
    without: &FxHashSet<&str>,
) -> Vec<(String, f64)> {
    struct OfHost<'a> {
        host: &'a str,
        rank: f64,
        share: f64,
    }
    #[derive(Default)]
    struct Sum<'a> {
        pages: usize,
        hosts: Vec<OfHost<'a>>,
    }
    let mut per_host: FxHashMap<&str, f64> = FxHashMap::default();
    for page in pages {
        *per_host.entry(&page.host).or_default() += 1.0;
    }
    // A host of n pages counts as √n, between one vote per host and one per page.
    let host_weight = |page: &Ranked| 1.0 / per_host[page.host.as_str()].sqrt();
    let total: f64 = pages.iter().map(|page| host_weight(page)).sum();
    let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
    let mut sums: Vec<(&str, Sum<'_>)> = Vec::new();
    for page in pages {
        let host_weight = host_weight(page) / total;
        for (word, rank) in &page.ranks {
            let number = *numbers.entry(word).or_insert_with(|| {
                sums.push((word, Sum::default()));
                sums.len() - 1
            });
            let sum = &mut sums[number].1;
            sum.pages += 1;
            match sum.hosts.iter_mut().find(|known| known.host == page.host) {
                Some(known) => {
                    known.rank += host_weight * rank;
                    known.share += host_weight;
                }
                None => sum.hosts.push(OfHost { host: &page.host, rank: host_weight * rank, share: host_weight }),
            }
        }
    }
    let least_pages = least.pages.min(pages.len().div_ceil(3)).max((least.share * pages.len() as f64) as usize);
    let least_hosts = least.hosts.min(per_host.len());
    let total = f64::from(background.pages());
    let several = per_host.len() > 1;
    // A host's weight is at most that of all others together, because a word of a single host is its boilerplate.
    let capped = |of_hosts: &mut dyn Iterator<Item = f64>| {
        let (sum, top) = of_hosts.fold((0.0, 0.0_f64), |(sum, top), own| (sum + own, top.max(own)));
        if several { (sum - top) + top.min(sum - top) } else { sum }
    };
    let weight = |word: &str, sum: &Sum<'_>| {
        if sum.pages < least_pages || sum.hosts.len() < least_hosts || without.contains(word) {
            return 0.0;
        }
        let rank = capped(&mut sum.hosts.iter().map(|host| host.rank));
        if textrank_alone {
            return rank;
        }
        let df = f64::from(background.df(word));
        let share = capped(&mut sum.hosts.iter().map(|host| host.share));
        let lift = share / ((df + 0.5) / (total + 1.0));
        if lift < least.lift { 0.0 } else { rank.sqrt() * background.idf(word) * lift.min(LARGEST_LIFT).ln() }
    };
    let mut weighed: Vec<(String, f64)> =
        sums.iter().map(|(word, sum)| ((*word).to_owned(), weight(word, sum))).filter(|(_, w)| *w > 0.0).collect();
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    weighed.truncate(limit);
    let highest = weighed.first().map_or(1.0, |(_, weight)| *weight);
    for (_, weight) in &mut weighed {
        *weight /= highest;
    }
    weighed.retain(|(_, weight)| *weight >= 1e-4);
    weighed
}
