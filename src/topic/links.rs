//! Learning what a link's anchor and URL say of the page that it leads to: a linear support vector machine ([`super::svm`]) over the
//! words of the anchor and the tokens of the URL, from links to samples against links to off-topic pages of the background.
//! It stands beside the machine of the pages, whose weights serve anchors, contexts and URLs too: a title is a short text.
//! On links of hosts not learnt from, average precision was .24 by the cosine with the heaviest terms, .30 by the weights of the
//! pages, .25 by a machine of the links alone, .33 by both (`benches/judge.rs`, with `links` as the method).

use rustc_hash::{FxHashMap, FxHashSet};

use super::one_host::OneHost;
use super::svm::{self, Row};
use super::url::url_tokens;
use super::{Background, Sample, TermFrequency};
use crate::model::CrawlUrl;
use crate::text;

/// C.
const COST: f64 = 1.0;
/// What the machine of the links adds in anchors beside those of the pages; .25 to 1 give the same within .01.
const ANCHORS: f64 = 0.5;
/// Links to one page learnt from: its title is the same in most of them.
const LINKS_A_PAGE: usize = 5;
/// Fewer links of either kind teach nothing.
const LEAST: usize = 10;
/// Weights kept, the heaviest, of anchors and of URLs each.
const KEPT: usize = 200;
/// Lighter weights say nothing.
const LEAST_WEIGHT: f64 = 0.01;

/// Further weights of words in anchors, and weights of tokens of URLs, the heaviest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LinkWeights {
    pub(super) anchors: Vec<(String, f64)>,
    pub(super) urls: Vec<(String, f64)>,
}

/// Anchor or URL: columns of the rows.
type Column = (bool, String);

/// Learns from the links among `pages` that lead to one of `on` or `off`. Nothing where there are too few.
pub(super) fn learn<'a>(
    pages: impl Iterator<Item = &'a Sample>,
    on: &FxHashSet<&CrawlUrl>,
    off: &FxHashSet<&CrawlUrl>,
    counts: &Background,
) -> LinkWeights {
    let mut numbers: FxHashMap<Column, u32> = FxHashMap::default();
    let mut names: Vec<Column> = Vec::new();
    let mut seen: FxHashMap<&CrawlUrl, Vec<String>> = FxHashMap::default();
    let mut one_host = OneHost::default();
    let (mut positive, mut negative): (Vec<Row>, Vec<Row>) = (Vec::new(), Vec::new());
    for page in pages {
        for link in page.document.links.iter().filter(|link| Some(&link.url) != page.url.as_ref()) {
            let is_on = on.contains(&link.url);
            if !is_on && !off.contains(&link.url) {
                continue;
            }
            let anchor: String = link.anchor.clone().map(|piece| page.document.piece(piece)).collect();
            let anchors = seen.entry(&link.url).or_default();
            if anchors.len() == LINKS_A_PAGE || anchors.contains(&anchor) {
                continue;
            }
            let mut number = |column: Column| {
                let new = names.len() as u32;
                *numbers.entry(column).or_insert_with_key(|column| {
                    names.push(column.clone());
                    new
                })
            };
            let mut row = part(page.bag(link.anchor.clone()), counts, |word| number((false, word)));
            row.extend(part(tokens(&link.url), counts, |token| number((true, token))));
            row.sort_unstable_by_key(|&(column, _)| column);
            row.iter().for_each(|&(column, _)| one_host.see(column, link.url.host()));
            if !row.is_empty() {
                if is_on { &mut positive } else { &mut negative }.push(row);
            }
            anchors.push(anchor);
        }
    }
    if positive.len() < LEAST || negative.len() < LEAST {
        return LinkWeights::default();
    }
    let Some(plane) = svm::train(&positive, &negative, names.len(), COST) else { return LinkWeights::default() };
    let mut weights = LinkWeights::default();
    let known = Background::built_in();
    let local = one_host.columns(on.iter().map(|url| url.host()));
    for (column, ((of_url, name), weight)) in names.into_iter().zip(plane.weights).enumerate() {
        if local.contains(&(column as u32)) && known.df(&name) == 0 {
            continue;
        }
        if of_url {
            weights.urls.push((name, weight));
        } else {
            weights.anchors.push((name, ANCHORS * weight));
        }
    }
    for kept in [&mut weights.anchors, &mut weights.urls] {
        kept.retain(|(_, weight)| weight.abs() >= LEAST_WEIGHT);
        kept.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then_with(|| a.0.cmp(&b.0)));
        kept.truncate(KEPT);
    }
    weights
}

/// The terms among a URL's tokens, each once.
fn tokens(url: &CrawlUrl) -> Vec<(String, u32)> {
    let mut tokens: Vec<(String, u32)> = Vec::new();
    url_tokens(url, |token| {
        if text::is_term(token) && !tokens.iter().any(|(known, _)| known == token) {
            tokens.push((token.to_owned(), 1));
        }
    });
    tokens
}

/// Root tf × IDF, brought to length 1.
fn part(bag: Vec<(String, u32)>, counts: &Background, mut number: impl FnMut(String) -> u32) -> Row {
    let weigh = |word: &str, count| TermFrequency::Root.weigh(count) * counts.idf(word);
    let length = bag.iter().map(|(word, count)| weigh(word, *count).powi(2)).sum::<f64>().sqrt();
    bag.into_iter()
        .map(|(word, count)| {
            let value = weigh(&word, count) / length;
            (number(word), value as f32)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::model::Fetched;

    fn listing(links: &str) -> Sample {
        Sample::from_fetched(&Fetched {
            url: CrawlUrl::parse("http://a.cn/").unwrap(),
            status: 200,
            headers: vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())],
            body: Bytes::from(format!("<p>{links}</p>")),
            wire: None,
            asked: None,
            rendered: None,
        })
    }

    #[test]
    fn words_of_anchors_and_tokens_of_urls_are_told_apart() {
        let link = |at: usize, words: &str, folder: &str| format!("<a href=/{folder}/{at}.html>{words} n{at}</a> ");
        let text: String = (0..12).map(|at| link(at, "足球", "news") + &link(at + 20, "电影", "sports")).collect();
        let urls: Vec<CrawlUrl> = (0..40)
            .map(|at| {
                CrawlUrl::parse(&format!("http://a.cn/{}/{at}.html", if at < 20 { "news" } else { "sports" })).unwrap()
            })
            .collect();
        let (on, off): (FxHashSet<&CrawlUrl>, FxHashSet<&CrawlUrl>) =
            (urls[..20].iter().collect(), urls[20..].iter().collect());
        let page = listing(&text);
        let weights = learn([&page, &page].into_iter(), &on, &off, &Background::built_in());
        let of = |weights: &[(String, f64)], word: &str| {
            weights.iter().find(|(known, _)| known == word).map_or(0.0, |(_, weight)| *weight)
        };
        assert!(of(&weights.anchors, "足球") > 0.1 && of(&weights.anchors, "电影") < -0.1, "{weights:?}");
        assert!(of(&weights.urls, "news") > 0.1 && of(&weights.urls, "sports") < -0.1, "{weights:?}");
        assert_eq!(of(&weights.urls, "足球"), 0.0);
        assert_eq!(
            learn([&page].into_iter(), &on, &FxHashSet::default(), &Background::built_in()),
            LinkWeights::default()
        );
    }
}
