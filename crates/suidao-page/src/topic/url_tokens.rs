//! Proposes tokens of URLs that lead to the topic: its words in Latin letters, Chinese ones in pinyin and by their
//! initials, and what is more frequent in URLs of samples than in others. A token is chosen by some hosts and tested on
//! others.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::link_web::{LinkWeb, Observed};
use super::url::joined_url_tokens;
use super::{Lexicon, pinyin};
use crate::text::{self, segment::is_han};

/// Words of the topic to spell, the heaviest first.
const WORDS: usize = 20;
/// Maximum proposed tokens.
const MOST: usize = 30;
/// Characters of pinyin, and of initials, that are hardly anything else: without evidence shorter ones are left out.
const LEAST_PINYIN: usize = 4;
/// Least ratio on hosts that a token was not chosen by.
const HELD_OUT: f64 = 2.0;
/// Least ratio on the hosts that it is chosen by, if it is not a word of the topic.
const CHOSEN: f64 = 4.0;
/// Without samples: maximum share of the URLs of other pages that have a word of the topic.
const COMMON: f64 = 0.01;
/// Least pages and hosts of such a token.
const LEAST_PAGES: usize = 3;
const LEAST_HOSTS: usize = 2;

/// A word of the topic in Latin letters.
struct Spelling {
    token: String,
    /// What it is, for the file.
    meaning: String,
    /// Whether it is kept although no URL has it.
    is_sure: bool,
}

/// The words of a topic as they may occur in URLs, the heaviest first: its name and the terms with the largest weights.
fn spellings(lexicon: &Lexicon) -> Vec<Spelling> {
    let mut weights: FxHashMap<&str, f64> = FxHashMap::default();
    for (term, weight) in lexicon.terms.iter().chain(lexicon.linear.iter().flat_map(|linear| &linear.tags)) {
        *weights.entry(term.as_str()).or_default() += weight;
    }
    let mut words: Vec<(&str, f64)> = weights.into_iter().filter(|(_, weight)| *weight > 0.0).collect();
    words.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    words.truncate(WORDS);
    let mut found: Vec<Spelling> = Vec::new();
    let mut add = |token: String, meaning: String, is_sure: bool| {
        if text::is_term(&token) && !found.iter().any(|known| known.token == token) {
            found.push(Spelling { token, meaning, is_sure });
        }
    };
    // A name in Latin letters may be anything.
    let name = Some(lexicon.name.trim()).filter(|name| name.chars().all(is_han));
    for word in name.into_iter().chain(words.into_iter().map(|(word, _)| word)) {
        let folded = text::fold(word.trim());
        let letters: String = folded.chars().filter(|character| !matches!(character, ' ' | '-' | '_' | '.')).collect();
        if letters.len() > 1 && letters.bytes().all(|byte| byte.is_ascii_lowercase()) {
            add(letters, "word of the topic".to_owned(), true);
            continue;
        }
        let (joined, initials) = pinyin::spellings(&folded);
        for (number, token) in joined.into_iter().enumerate() {
            let is_sure = number == 0 && token.len() >= LEAST_PINYIN;
            add(token, format!("{word} in pinyin"), is_sure);
        }
        for (number, token) in initials.into_iter().enumerate() {
            let is_sure = number == 0 && token.len() >= LEAST_PINYIN;
            add(token, format!("initials of {word}"), is_sure);
        }
    }
    found
}

/// Tokens of a topic without the `removed`, each with its evidence.
pub(super) fn propose(lexicon: &Lexicon, web: &LinkWeb<'_>, removed: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut spellings = spellings(lexicon);
    spellings.retain(|spelling| !removed.contains(&spelling.token));
    if !web.has_others() {
        let sure = spellings.into_iter().filter(|spelling| spelling.is_sure).take(MOST);
        return sure.map(|spelling| (spelling.token, format!("{}; not tested on URLs", spelling.meaning))).collect();
    }
    let counts = count(web);
    let mut chosen: Vec<(f64, String, String)> = Vec::new();
    let own: FxHashSet<&str> = spellings.iter().map(|spelling| spelling.token.as_str()).collect();
    for spelling in &spellings {
        let Some(observed) = counts.get(&spelling.token) else {
            if spelling.is_sure {
                chosen.push((1.0, spelling.token.clone(), format!("{}; in no URL of the pages", spelling.meaning)));
            }
            continue;
        };
        let evidence = observed.of(|_| true);
        if !web.has_samples() {
            let (seen, all) = (evidence.seen, web.pages.len());
            if spelling.is_sure && seen as f64 <= COMMON * all as f64 {
                let text = format!("{}; in {seen} of {all} URLs of other pages", spelling.meaning);
                chosen.push((1.0, spelling.token.clone(), text));
            }
        } else if evidence.ratio() >= HELD_OUT {
            let text = format!("{}; {}", spelling.meaning, in_words(evidence.ratio(), evidence.seen, evidence.hosts));
            chosen.push((evidence.ratio() * (evidence.seen as f64).sqrt(), spelling.token.clone(), text));
        }
    }
    for (token, observed) in
        counts.iter().filter(|(token, _)| !own.contains(token.as_str()) && !removed.contains(*token))
    {
        // Latin words; Chinese ones are terms or they are not, and a linear judge knows their weights.
        if token.len() < 3 || !token.bytes().all(|byte| byte.is_ascii_lowercase()) {
            continue;
        }
        let all = observed.of(|_| true);
        if all.seen < LEAST_PAGES || all.hosts < LEAST_HOSTS {
            continue;
        }
        if let Some(held_out) = observed.held_out(|train| train.seen > 1 && train.ratio() >= CHOSEN)
            && held_out.hosts >= LEAST_HOSTS
            && held_out.shared_ratio() >= HELD_OUT
        {
            let text = in_words(held_out.ratio(), all.seen, all.hosts) + ", on hosts that it was not chosen by";
            chosen.push((held_out.ratio() * (all.seen as f64).sqrt(), token.clone(), text));
        }
    }
    chosen.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    chosen.truncate(MOST);
    chosen.into_iter().map(|(_, token, text)| (token, text)).collect()
}

fn in_words(ratio: f64, urls: usize, hosts: usize) -> String {
    format!("in {urls} URLs on {hosts} hosts, {ratio:.1} times as often on topic as other URLs")
}

/// The tokens of the pages' URLs. By chance a token is as frequent in URLs that lead to the topic as in others.
fn count<'a>(web: &LinkWeb<'a>) -> FxHashMap<String, Observed<'a>> {
    let mut counts: FxHashMap<String, Observed<'a>> = FxHashMap::default();
    let on_topic = web.values.iter().sum::<f64>();
    let odds = on_topic / (web.values.len() as f64 - on_topic).max(1.0);
    for ((page, value), fold) in web.pages.iter().zip(&web.values).zip(&web.folds) {
        let Some(url) = &page.url else { continue };
        let mut tokens = FxHashSet::default();
        joined_url_tokens(url, |token| {
            if text::is_term(token) {
                tokens.insert(token.to_owned());
            }
        });
        for token in tokens {
            counts.entry(token).or_default().add(&page.host, *fold, *value, (1.0 - value) * odds);
        }
    }
    counts
}
