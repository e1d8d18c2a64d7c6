//! A page taken apart, before anything is scored: text pieces, the blocks they make up, the links over them.
//! Apart because it is the boundary between reading (which makes it) and the topic (which segments and scores it):
//! pieces end where anchors and blocks end, so every piece is segmented once and serves page, anchor and context.

use std::ops::Range;

use crate::model::{CrawlUrl, Region};

/// A run of text inside one block and inside or outside one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of [`Document::text`].
    pub text: Range<usize>,
    /// Not shown as text (the `alt` of an image inside a link): evidence for the link, no part of the content.
    pub hidden: bool,
}

/// A block element's own text: a paragraph, a list item, a table cell, a heading, the title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Indices into [`Document::pieces`], contiguous.
    pub pieces: Range<usize>,
    /// Main content or furniture. The title is content.
    pub region: Region,
}

/// A link as it stands on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLink {
    /// Where it leads, resolved against the page's base.
    pub url: CrawlUrl,
    /// Indices into [`Document::pieces`]: the anchor text; empty if the link has none.
    pub anchor: Range<usize>,
    /// Index into [`Document::blocks`]: the block that encloses it.
    pub block: usize,
    /// Where it stands.
    pub region: Region,
    /// Its `rel` holds nofollow, ugc or sponsored.
    pub nofollow: bool,
}

/// A page taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// All text in document order, white space folded, pieces back to back.
    pub text: String,
    /// Runs of text, in order, not overlapping.
    pub pieces: Vec<Piece>,
    /// Blocks, in order; block 0 is the title where there is one.
    pub blocks: Vec<Block>,
    /// Links, in order of appearance; one URL may occur several times.
    pub links: Vec<DocumentLink>,
}

impl Document {
    /// Text of a piece.
    #[must_use]
    pub fn piece(&self, index: usize) -> &str {
        &self.text[self.pieces[index].text.clone()]
    }

    /// Pieces of title and main content that are shown, in order.
    pub fn content(&self) -> impl Iterator<Item = usize> + '_ {
        let blocks = self.blocks.iter().filter(|block| block.region == Region::Content);
        blocks.flat_map(|block| block.pieces.clone()).filter(|&piece| !self.pieces[piece].hidden)
    }
}
