//! Scores the entries of a sitemap or feed as links: the title is the anchor text, the description the context.

use crate::model::{Region, SitemapContent};
use crate::read::{BlockKind, DocumentLink, ParsedDocument, TextBlock, TextPiece};
use crate::topic::Topic;

/// Scores every entry and clears its description.
pub fn score_entries(content: &mut SitemapContent, topic: &Topic) {
    let mut document = ParsedDocument::default();
    // Entries with a URL only share one block without text.
    document.blocks.push(TextBlock { pieces: 0..0, region: Region::Boilerplate, kind: BlockKind::default() });
    let add = |document: &mut ParsedDocument, text: &str| {
        let start = document.text.len();
        document.text.push_str(text);
        document.pieces.push(TextPiece { text: start..document.text.len(), hidden: false });
    };
    for entry in &mut content.pages {
        let about = std::mem::take(&mut entry.description);
        let first = document.pieces.len();
        let mut anchor = first..first;
        let mut block = 0;
        if !(entry.anchor.is_empty() && about.is_empty()) {
            add(&mut document, &entry.anchor);
            anchor.end = document.pieces.len();
            add(&mut document, &about);
            block = document.blocks.len();
            let pieces = first..document.pieces.len();
            // Not main content, because there is no page.
            document.blocks.push(TextBlock { pieces, region: Region::Boilerplate, kind: BlockKind::default() });
        }
        let (url, region) = (entry.url.clone(), Region::Content);
        document.links.push(DocumentLink { url, anchor, block, region, nofollow: false, next: false, path: 0 });
    }
    for (entry, (scores, relevance)) in content.pages.iter_mut().zip(topic.score(&document).links) {
        (entry.scores, entry.relevance) = (scores, relevance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CrawlUrl, Fetched};
    use crate::read::read_sitemap;
    use crate::topic::Lexicon;

    #[test]
    fn titles_are_anchors_and_descriptions_their_context() {
        let mut lexicon = Lexicon::from_terms("体育", &[("足球", 1.0)]);
        lexicon.url = vec!["zuqiu".to_owned()];
        let topic = Topic::new(lexicon);
        let parts = |xml: &str| {
            let url = CrawlUrl::parse("http://a.cn/maps/list.xml").unwrap();
            let mut content = read_sitemap(&Fetched::html(url, xml.to_owned()));
            score_entries(&mut content, &topic);
            assert!(content.pages.iter().all(|entry| entry.description.is_empty()));
            let scores = content.pages.into_iter().map(|entry| entry.scores);
            scores.map(|scores| [scores.anchor, scores.context, scores.url].map(|part| part.get() > 0.0)).collect()
        };
        let rss: Vec<[bool; 3]> = parts(
            "<rss><channel><item><title>A</title><link>/1</link><description>足球 比赛</description></item>\
             <item><link>/2</link></item></channel></rss>",
        );
        assert_eq!(rss, [[false, true, false], [false; 3]]);
        let news: Vec<[bool; 3]> = parts(
            "<urlset xmlns:news='x'><url><loc>/1</loc><news:news><news:title>足球</news:title>\
             <news:keywords>a, b</news:keywords></news:news></url><url><loc>/zuqiu</loc></url></urlset>",
        );
        assert_eq!(news, [[true, false, false], [false, false, true]]);
    }
}
