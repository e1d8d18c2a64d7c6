//! Scores the entries of a sitemap or feed as links: the title is the anchor text, the description the context.

use crate::model::{Region, SitemapContent};
use crate::read::{BlockKind, DocumentLink, ParsedDocument, TextBlock, TextRun};
use crate::topic::Topic;

/// Scores every entry and clears its description.
pub fn score_entries(hints: &mut SitemapContent, topic: &Topic) {
    let mut document = ParsedDocument::default();
    // Entries with a URL only share one block without text.
    document.blocks.push(TextBlock { pieces: 0..0, region: Region::Boilerplate, form: BlockKind::default() });
    let add = |document: &mut ParsedDocument, text: &str| {
        let start = document.text.len();
        document.text.push_str(text);
        document.pieces.push(TextRun { text: start..document.text.len(), hidden: false });
    };
    for hint in &mut hints.pages {
        let about = std::mem::take(&mut hint.about);
        let first = document.pieces.len();
        let mut anchor = first..first;
        let mut block = 0;
        if !(hint.anchor.is_empty() && about.is_empty()) {
            add(&mut document, &hint.anchor);
            anchor.end = document.pieces.len();
            add(&mut document, &about);
            block = document.blocks.len();
            let pieces = first..document.pieces.len();
            // Not main content, because there is no page.
            document.blocks.push(TextBlock { pieces, region: Region::Boilerplate, form: BlockKind::default() });
        }
        let (url, region) = (hint.url.clone(), Region::Content);
        document.links.push(DocumentLink { url, anchor, block, region, nofollow: false, next: false, path: 0 });
    }
    for (hint, (scores, relevance)) in hints.pages.iter_mut().zip(topic.score(&document).links) {
        (hint.scores, hint.relevance) = (scores, relevance);
    }
}
