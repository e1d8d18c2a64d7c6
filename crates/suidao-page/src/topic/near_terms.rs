//! Near terms: words of links that lead to the topic, directly or through a tunnel of off-topic pages, and are not words
//! of the topic.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::link_web::{Evidence, LinkWeb, Observed};
use super::{Lexicon, Sample};
use crate::text;

/// Least links and hosts of a near term.
const LEAST_LINKS: usize = 4;
const LEAST_HOSTS: usize = 2;
/// Least ratio on the hosts that a term is chosen by, and on the others.
const CHOSEN: f64 = 2.0;
const HELD_OUT: f64 = 1.5;
/// Characters of a title.
const LONGEST_TITLE: usize = 60;

/// At most `most` words of anchors that lead to the topic more often than the other links of their pages do, also on
/// hosts that they were not chosen by; each with its evidence. The heaviest has weight 1. None is of the `removed`.
pub(super) fn near_terms(
    lexicon: &Lexicon,
    web: &LinkWeb<'_>,
    most: usize,
    removed: &BTreeSet<String>,
) -> (Vec<(String, f64)>, BTreeMap<String, String>) {
    let tags = lexicon.linear.iter().flat_map(|linear| &linear.tags);
    let own: FxHashSet<String> = lexicon
        .terms
        .iter()
        .chain(tags)
        .filter(|(_, weight)| *weight > 0.0)
        .map(|(term, _)| text::fold(term))
        .collect();
    let mut chosen: Vec<(f64, String, String)> = Vec::new();
    for (word, observed) in count(web) {
        let all = observed.of(|_| true);
        if own.contains(&word) || removed.contains(&word) || all.seen < LEAST_LINKS || all.hosts < LEAST_HOSTS {
            continue;
        }
        let is_chosen = |train: Evidence| train.seen > 1 && train.shared_ratio() >= CHOSEN;
        let Some(held_out) = observed.held_out(is_chosen) else { continue };
        if held_out.hosts >= LEAST_HOSTS && held_out.shared_ratio() >= HELD_OUT {
            let ratio = held_out.ratio();
            let (links, hosts) = (all.seen, all.hosts);
            let text = format!(
                "in {links} links on {hosts} hosts, {ratio:.1} times as often to the topic as other links of their pages, on \
                 hosts that it was not chosen by"
            );
            chosen.push((ratio.ln(), word, text));
        }
    }
    chosen.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    chosen.truncate(most);
    let highest = chosen.first().map_or(1.0, |(weight, ..)| *weight);
    let terms = chosen.iter().map(|(weight, word, _)| (word.clone(), weight / highest)).collect();
    (terms, chosen.into_iter().map(|(_, word, text)| (word, text)).collect())
}

/// The words of the links between known pages, and of the titles of pages, which resemble the links to them. Each link
/// of a host counts once, and by chance leads where the other links of its page lead; a title where the other pages of
/// its host lead.
fn count<'a>(web: &LinkWeb<'a>) -> FxHashMap<String, Observed<'a>> {
    let mut counts = WordCounts::default();
    let mut hosts: FxHashMap<&str, (f64, usize)> = FxHashMap::default();
    for (page, value) in web.pages.iter().zip(&web.values) {
        let (sum, pages) = hosts.entry(&page.host).or_default();
        (*sum, *pages) = (*sum + value, *pages + 1);
    }
    for (number, (page, fold)) in web.pages.iter().zip(&web.folds).enumerate() {
        let links = page.document.links.iter();
        let links = links.filter_map(|link| Some((link, *web.numbers.get(&link.url)?)));
        let links: Vec<_> = links.filter(|(_, target)| *target != number).collect();
        let sum: f64 = links.iter().map(|(_, target)| web.values[*target]).sum();
        for (link, target) in &links {
            let anchor: String = link.anchor.clone().map(|piece| page.document.piece(piece)).collect();
            counts.add(&anchor, *target, page, (*fold, web.values[*target]), (sum, links.len()));
        }
        if let Some(title) = title(page) {
            counts.add(title, number, page, (*fold, web.values[number]), hosts[page.host.as_str()]);
        }
    }
    counts.words
}

/// The title, if it is as short as an anchor.
fn title(page: &Sample) -> Option<&str> {
    let piece = page.document.blocks.first().filter(|_| page.has_title)?.pieces.clone().next()?;
    Some(page.document.piece(piece)).filter(|title| title.chars().count() <= LONGEST_TITLE)
}

#[derive(Default)]
struct WordCounts<'a> {
    words: FxHashMap<String, Observed<'a>>,
    seen: FxHashSet<(&'a str, usize, String)>,
}

impl<'a> WordCounts<'a> {
    /// Adds the words of an anchor or title of `page` with this value, one of `number` with this sum.
    fn add(
        &mut self,
        text: &str,
        target: usize,
        page: &'a Sample,
        (fold, value): (usize, f64),
        (sum, number): (f64, usize),
    ) {
        let folded = text::fold(text);
        // Nothing to compare it with.
        if number < 2 || !self.seen.insert((&page.host, target, folded.clone())) {
            return;
        }
        let expected = (sum - value) / (number - 1) as f64;
        let mut words: FxHashSet<&str> = FxHashSet::default();
        text::cut(&folded, |range| {
            words.insert(&folded[range]);
        });
        for word in words.into_iter().filter(|word| text::is_term(word)) {
            self.words.entry(word.to_owned()).or_default().add(&page.host, fold, value, expected);
        }
    }
}
