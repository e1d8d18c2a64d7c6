//! How well the parts of eq. (3) predict whether a link leads to the topic.

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::evaluate::Curve;
use super::{Lexicon, Sample, Topic};
use crate::model::{CrawlUrl, Relevance};
use crate::text;

/// The recalls at which precision is read.
pub const RECALLS: [f64; 3] = [0.25, 0.5, 0.75];

/// The parts: R_Anchor, R_Context and R_Url without near terms, the near terms, and eq. (3).
const EVIDENCE: [&str; 5] = ["anchor", "context", "url", "near", "together"];

/// How links are scored by [`evaluate_links`].
#[derive(Clone, Debug, PartialEq)]
pub struct LinkEvaluations {
    /// Number of links.
    pub links: usize,
    /// Of those that lead to the topic; their share is the precision by chance.
    pub on_topic: usize,
    pub by_evidence: Vec<LinkEvaluation>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LinkEvaluation {
    /// `anchor`, `context`, `url`, `near` or `together`.
    pub evidence: &'static str,
    /// Precision at each of [`RECALLS`], in `[0, 1]`.
    pub precision: [f64; 3],
    pub average_precision: f64,
}

struct ScoredLink<'a> {
    url: &'a CrawlUrl,
    anchor: String,
    /// In the order of [`EVIDENCE`].
    scores: [Relevance; EVIDENCE.len()],
    on_topic: bool,
}

/// Scores the links of `pages` by each part of eq. (3) alone, and all together. `on_topic`: whether the page with a URL
/// is on topic; `None` if links to it do not count. Each link of a host to a page counts once for each anchor.
pub fn evaluate_links(
    lexicon: &Lexicon,
    pages: &[&Sample],
    on_topic: impl Fn(&CrawlUrl) -> Option<bool> + Sync,
) -> LinkEvaluations {
    let whole = Topic::new(lexicon.clone());
    let topic = Topic::new(Lexicon { near: Vec::new(), ..lexicon.clone() });
    let near = Topic::new(Lexicon {
        terms: lexicon.near.clone(),
        linear: None,
        near: Vec::new(),
        url: Vec::new(),
        ..lexicon.clone()
    });
    let topics = [&whole, &topic, &near];
    let scored: Vec<_> = pages.par_iter().map(|page| scored_links(page, topics, &on_topic)).collect();
    let mut seen = FxHashSet::default();
    let mut lists: [Vec<(Relevance, bool)>; EVIDENCE.len()] = Default::default();
    for (page, links) in pages.iter().zip(&scored) {
        for link in links.iter().filter(|link| seen.insert((&page.host, link.url, &link.anchor))) {
            for (list, score) in lists.iter_mut().zip(link.scores) {
                list.push((score, link.on_topic));
            }
        }
    }
    let evaluation = |(evidence, list): (&'static str, &Vec<(Relevance, bool)>)| {
        let curve = Curve::new(list, 1.0);
        let precision = RECALLS.map(|recall| curve.precision_at(recall));
        LinkEvaluation { evidence, precision, average_precision: curve.average_precision() }
    };
    LinkEvaluations {
        links: lists[0].len(),
        on_topic: lists[0].iter().filter(|(_, on_topic)| *on_topic).count(),
        by_evidence: EVIDENCE.into_iter().zip(&lists).map(evaluation).collect(),
    }
}

/// The links of a page that count, by the whole lexicon, that without near terms, and that of the near terms.
fn scored_links<'a>(
    page: &'a Sample,
    topics: [&Topic; 3],
    on_topic: &(impl Fn(&CrawlUrl) -> Option<bool> + Sync),
) -> Vec<ScoredLink<'a>> {
    let document = &page.document;
    let [whole, topic, near] = topics.map(|topic| topic.score(document).links);
    let mut scored = Vec::new();
    for (at, link) in document.links.iter().enumerate() {
        let Some(on_topic) = on_topic(&link.url).filter(|_| page.url.as_ref() != Some(&link.url)) else { continue };
        let anchor: String = link.anchor.clone().map(|piece| document.piece(piece)).collect();
        let parts = topic[at].0;
        let scores = [parts.anchor, parts.context, parts.url, near[at].1, whole[at].1];
        scored.push(ScoredLink { url: &link.url, anchor: text::fold(&anchor), scores, on_topic });
    }
    scored
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Fetched;

    #[test]
    fn each_evidence_is_measured_alone_and_all_together() {
        let mut lexicon = Lexicon::from_terms("体育", &[("足球", 1.0)]);
        lexicon.near = vec![("赛程".to_owned(), 1.0)];
        lexicon.url = vec!["tiyu".to_owned()];
        let links = [
            ("/1", "足球"),
            ("/tiyu/2", "更多"),
            ("/3", "赛程"),
            ("/4", "电影"),
            ("/5", "音乐"),
            ("/5", "音乐"),
            ("/6", "天气"),
            ("/elsewhere", "足球"),
            ("/", "足球"),
        ];
        let links: String = links.iter().map(|(url, text)| format!("<p><a href=\"{url}\">{text}</a></p>")).collect();
        let page = Sample::from_fetched(&Fetched::html(CrawlUrl::parse("http://a.cn/").unwrap(), links));
        let on_topic = |url: &CrawlUrl| match url.path() {
            "/1" | "/tiyu/2" | "/3" => Some(true),
            "/elsewhere" => None,
            _ => Some(false),
        };
        let LinkEvaluations { links, on_topic, by_evidence } = evaluate_links(&lexicon, &[&page], on_topic);
        assert_eq!((links, on_topic), (6, 3));
        let precision = |evidence: &str| by_evidence.iter().find(|one| one.evidence == evidence).unwrap().precision;
        assert_eq!(precision("together"), [1.0; 3]);
        for evidence in ["anchor", "url", "near"] {
            let [low, _, high] = precision(evidence);
            assert!(low == 1.0 && high < 0.7, "{evidence}: {low} {high}");
        }
        assert_eq!(precision("context")[0], 0.5, "no evidence is chance");
    }
}
