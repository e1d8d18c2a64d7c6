//! Learns to predict whether the target of a link is on topic from its anchor and URL: a linear support vector machine over the words of the
//! anchor and the tokens of the URL, from links to samples against links to off-topic background pages. Its weights are
//! added to those of the pages, because a title is a short text.

use rustc_hash::{FxHashMap, FxHashSet};

use super::single_host::SingleHost;
use super::svm::{self, Row};
use super::term_rows::{Columns, heaviest};
use super::url::url_tokens;
use super::{Background, Sample};
use crate::model::CrawlUrl;
use crate::text;

const COST: f64 = 1.0;
/// Weight in anchors, relative to the weights of pages; 0.25 to 1 give the same within .01.
const ANCHORS: f64 = 0.5;
/// Maximum links to one page, most of which repeat its title.
const LINKS_PER_PAGE: usize = 5;
/// Least links of each kind.
const LEAST: usize = 10;
/// Maximum weights of anchors and of URLs.
const KEPT: usize = 200;
/// Weights below this are left out.
const LEAST_WEIGHT: f64 = 0.01;
/// Marks the columns of URL tokens; no word begins with it.
const URL: char = '/';

/// Additional weights of words in anchors, and weights of URL tokens; the largest absolute values first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LinkWeights {
    pub(super) anchors: Vec<(String, f64)>,
    pub(super) urls: Vec<(String, f64)>,
}

/// Learns from the links of `pages` to `on` and `off`. Empty if there are too few.
pub(super) fn learn<'a>(
    pages: impl Iterator<Item = &'a Sample>,
    on: &FxHashSet<&CrawlUrl>,
    off: &FxHashSet<&CrawlUrl>,
    counts: &Background,
) -> LinkWeights {
    let mut columns = Columns::default();
    let mut seen: FxHashMap<&CrawlUrl, Vec<String>> = FxHashMap::default();
    let mut hosts = SingleHost::default();
    let (mut positive, mut negative): (Vec<Row>, Vec<Row>) = (Vec::new(), Vec::new());
    for page in pages {
        for link in page.document.links.iter().filter(|link| Some(&link.url) != page.url.as_ref()) {
            let is_on = on.contains(&link.url);
            if !is_on && !off.contains(&link.url) {
                continue;
            }
            let anchor: String = link.anchor.clone().map(|piece| page.document.piece(piece)).collect();
            let anchors = seen.entry(&link.url).or_default();
            if anchors.len() == LINKS_PER_PAGE || anchors.contains(&anchor) {
                continue;
            }
            let mut row = columns.row(page.bag(link.anchor.clone()), counts);
            row.extend(url_row(&link.url, &mut columns, counts));
            row.sort_unstable_by_key(|&(column, _)| column);
            row.iter().for_each(|&(column, _)| hosts.add(column, link.url.host()));
            if !row.is_empty() {
                if is_on { &mut positive } else { &mut negative }.push(row);
            }
            anchors.push(anchor);
        }
    }
    if positive.len() < LEAST || negative.len() < LEAST {
        return LinkWeights::default();
    }
    let Some(plane) = svm::train(&positive, &negative, columns.words.len(), COST) else {
        return LinkWeights::default();
    };
    let single_host = hosts.columns(on.iter().map(|url| url.host()));
    let known = Background::built_in();
    let weights = columns.words.iter().zip(&plane.weights).enumerate().filter(|(column, (word, weight))| {
        weight.abs() >= LEAST_WEIGHT
            && (!single_host.contains(&(*column as u32)) || known.df(word.trim_start_matches(URL)) > 0)
    });
    let (urls, anchors): (Vec<_>, Vec<_>) =
        weights.map(|(_, (word, weight))| (word.as_str(), *weight)).partition(|(word, _)| word.starts_with(URL));
    LinkWeights {
        anchors: heaviest(anchors.into_iter().map(|(word, weight)| (word, ANCHORS * weight)), KEPT),
        urls: heaviest(urls.into_iter().map(|(token, weight)| (token.trim_start_matches(URL), weight)), KEPT),
    }
}

/// √tf × IDF of a URL's tokens, each counted once, scaled to length 1.
fn url_row(url: &CrawlUrl, columns: &mut Columns, counts: &Background) -> Row {
    let mut tokens: Vec<String> = Vec::new();
    url_tokens(url, |token| {
        if text::is_term(token) && !tokens.iter().any(|known| known == token) {
            tokens.push(token.to_owned());
        }
    });
    let length = tokens.iter().map(|token| counts.idf(token).powi(2)).sum::<f64>().sqrt();
    let value = |token: &str| (counts.idf(token) / length) as f32;
    tokens.into_iter().map(|token| (columns.number(format!("{URL}{token}")), value(&token))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Fetched;

    #[test]
    fn words_of_anchors_and_tokens_of_urls_are_learnt_separately() {
        let link = |at: usize, words: &str, folder: &str| format!("<a href=/{folder}/{at}.html>{words} n{at}</a> ");
        let text: String = (0..12).map(|at| link(at, "足球", "news") + &link(at + 20, "电影", "sports")).collect();
        let home = CrawlUrl::parse("http://a.cn/").unwrap();
        let page = Sample::from_fetched(&Fetched::html(home, format!("<p>{text}</p>")));
        let url = |at: usize| {
            let folder = if at < 20 { "news" } else { "sports" };
            CrawlUrl::parse(&format!("http://a.cn/{folder}/{at}.html")).unwrap()
        };
        let urls: Vec<CrawlUrl> = (0..40).map(url).collect();
        let (on, off): (FxHashSet<&CrawlUrl>, FxHashSet<&CrawlUrl>) =
            (urls[..20].iter().collect(), urls[20..].iter().collect());
        let weights = learn([&page, &page].into_iter(), &on, &off, &Background::built_in());
        let of = |weights: &[(String, f64)], word: &str| {
            weights.iter().find(|(known, _)| known == word).map_or(0.0, |(_, weight)| *weight)
        };
        assert!(of(&weights.anchors, "足球") > 0.1 && of(&weights.anchors, "电影") < -0.1, "{weights:?}");
        assert!(of(&weights.urls, "news") > 0.1 && of(&weights.urls, "sports") < -0.1, "{weights:?}");
        assert_eq!(of(&weights.urls, "足球"), 0.0);
        let none = learn([&page].into_iter(), &on, &FxHashSet::default(), &Background::built_in());
        assert_eq!(none, LinkWeights::default());
    }
}
