//! Turns the links of a document into the outlinks of a page, each URL once.

use rustc_hash::FxHashMap;

use crate::model::{CrawlUrl, Outlink, Page, Region};
use crate::read::{Parsed, anchor};
use crate::topic::TopicScores;

/// Builds a page from its parsed form and scores, without links to `own_url`. A repeated URL takes scores and anchor
/// text from its best link (the first of equals; the first with text if that has none), and region and path from the
/// most central region. It is nofollow only if all of its links are.
pub fn page(parsed: Parsed, scores: TopicScores, own_url: &CrawlUrl) -> Page {
    let outlinks = outlinks(&parsed, &scores, own_url);
    Page {
        title: parsed.headline,
        text: parsed.text,
        language: parsed.language,
        author: parsed.author,
        charset: parsed.charset,
        relevance: scores.relevance,
        terms: scores.terms,
        layer: scores.layer,
        digest: parsed.digest,
        bytes: parsed.bytes,
        outlinks,
        noindex: parsed.noindex,
        expires: parsed.expires,
        nofollow: parsed.nofollow,
        listing: parsed.listing,
        canonical: parsed.canonical,
        feeds: parsed.feeds,
        sketch: parsed.sketch,
        missing: false,
        published: parsed.published,
        rendered: parsed.rendered,
        defects: parsed.defects,
    }
}

fn outlinks(parsed: &Parsed, scores: &TopicScores, own_url: &CrawlUrl) -> Vec<Outlink> {
    let document = &parsed.document;
    let mut positions: FxHashMap<&str, usize> = FxHashMap::default();
    let mut outlinks: Vec<Outlink> = Vec::new();
    for (link, &(evidence, relevance)) in document.links.iter().zip(&scores.links) {
        if link.url == *own_url {
            continue;
        }
        let nofollow = link.nofollow;
        let anchor = anchor(document, link.anchor.clone());
        match positions.get(link.url.as_str()) {
            None => {
                positions.insert(link.url.as_str(), outlinks.len());
                let (url, region, path) = (link.url.clone(), link.region, link.path);
                outlinks.push(Outlink { url, anchor, scores: evidence, relevance, region, dom_path: path, nofollow });
            }
            Some(&position) => {
                let known = &mut outlinks[position];
                known.nofollow &= nofollow;
                if rank(link.region) > rank(known.region) {
                    (known.region, known.dom_path) = (link.region, link.path);
                }
                let better = relevance > known.relevance;
                if better {
                    (known.scores, known.relevance) = (evidence, relevance);
                }
                if known.anchor.is_empty() || better && !anchor.is_empty() {
                    known.anchor = anchor;
                }
            }
        }
    }
    outlinks
}

/// Rank of a region, to choose among the links of one URL.
fn rank(region: Region) -> u8 {
    match region {
        Region::Boilerplate => 0,
        Region::Metadata => 1,
        Region::Content => 2,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::model::{Fetched, LinkScores, Relevance};
    use crate::read::ANCHOR;

    fn read(html: &str, scores: &[f32]) -> Vec<Outlink> {
        let url = CrawlUrl::parse("http://a.cn/x/").unwrap();
        let body = Bytes::copy_from_slice(html.as_bytes());
        let parsed = crate::read::parse(&Fetched::html(url.clone(), body));
        assert_eq!(parsed.document.links.len(), scores.len());
        let links = scores.iter().map(|&score| (LinkScores::default(), Relevance::new(score))).collect();
        page(parsed, TopicScores { relevance: Relevance::ZERO, terms: vec![], layer: None, links }, &url).outlinks
    }

    #[test]
    fn each_url_once_by_its_best_link() {
        let html = "<p><a href=1>one</a><a href=2 rel=nofollow>two</a><a href=./>self</a><a href=1 rel=ugc>uno</a>\
                    <a href=2 rel='external nofollow'><img alt=zwei></a></p><nav><a href=1>best</a></nav>";
        let links = read(html, &[0.2, 0.1, 1.0, 0.2, 0.5, 0.3]);
        let brief: Vec<_> =
            links.iter().map(|l| (l.url.path(), l.anchor.as_str(), l.relevance.get(), l.nofollow)).collect();
        assert_eq!(brief, [("/x/1", "best", 0.3, false), ("/x/2", "zwei", 0.5, true)]);
    }

    #[test]
    fn anchors_are_clipped_and_never_lost_to_an_empty_one() {
        let long = "长".repeat(100);
        let links = read(
            &format!("<p><a href=1>{long}</a> <a href=1><img></a> <a href=2> </a> <a href=2>b</a>"),
            &[0.1, 0.9, 0.9, 0.1],
        );
        assert_eq!(links[0].anchor, "长".repeat(ANCHOR));
        assert_eq!((links[0].relevance.get(), links[1].anchor.as_str()), (0.9, "b"));
    }
}
