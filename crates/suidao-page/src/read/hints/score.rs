//! What speaks for the pages that a sitemap or a feed names, scored as links are: the title of an entry is the text of
//! the link, what else is said of it its context.

use crate::model::{Hints, Region};
use crate::read::{BlockKind, DocumentLink, ParsedDocument, TextBlock, TextRun};
use crate::topic::Topic;

/// Scores every page that is named; what was said about it is not needed from then on.
pub fn score_hints(hints: &mut Hints, topic: &Topic) {
    let mut document = ParsedDocument::default();
    // All of whom nothing is said but the address stand in one block without text.
    document.blocks.push(TextBlock { pieces: 0..0, region: Region::Navigation, form: BlockKind::default() });
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
            // Not the content of a page: there is none.
            document.blocks.push(TextBlock { pieces, region: Region::Navigation, form: BlockKind::default() });
        }
        let (url, region) = (hint.url.clone(), Region::Content);
        document.links.push(DocumentLink { url, anchor, block, region, nofollow: false, next: false, path: 0 });
    }
    for (hint, (evidence, relevance)) in hints.pages.iter_mut().zip(topic.score(&document).links) {
        (hint.evidence, hint.relevance) = (evidence, relevance);
    }
}
