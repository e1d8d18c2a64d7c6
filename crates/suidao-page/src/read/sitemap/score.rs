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
