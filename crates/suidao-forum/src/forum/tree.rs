//! A page as a tree: elements and texts in document order, what a record's fields are found in.
//!
//! The nodes lie in one vector in the order of the page, each with the end of its subtree, so a subtree is a range and
//! every walk is linear. Depth, nodes and text are bounded; how tags nest is decided as for text (`read/nesting.rs`),
//! so that nothing a page does costs more than its length.

mod builder;
#[cfg(test)]
mod tests;

use std::ops::Range;

use encoding_rs::{Encoding, UTF_8};
use html5ever::{LocalName, local_name};

use suidao_page::model::{CrawlUrl, Fetched};
use suidao_page::read::charset::decode;

/// Number of a node: its place on the page. 0 is the root.
pub type NodeId = usize;

#[derive(Debug)]
struct Node {
    /// Of an element; empty for a text.
    name: LocalName,
    parent: u32,
    /// One past the last node of its subtree.
    end: u32,
    /// The nearest block-level element: itself if it is one.
    block: u32,
    depth: u16,
    /// Which cell of its row it is, from 0.
    cell: u16,
    hidden: bool,
    /// Hash of its tag and classes, digits left out.
    shape: u64,
    /// Hash of the shapes from the root to here.
    path: u64,
    text: String,
    attributes: Vec<(&'static str, Box<str>)>,
    /// Of its classes and its id, asked for again and again.
    words: Box<[String]>,
    link: Option<CrawlUrl>,
}

/// A paragraph: text between two borders of blocks or line ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Paragraph {
    pub(super) text: String,
    /// Where in the text each text node begins.
    pub(super) pieces: Vec<(usize, NodeId)>,
}

impl Paragraph {
    /// The text node that holds this byte of the text.
    pub(super) fn node(&self, at: usize) -> NodeId {
        let after = self.pieces.partition_point(|(start, _)| *start <= at);
        self.pieces.get(after.saturating_sub(1)).map_or(0, |(_, node)| *node)
    }
}

/// A page as a tree.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    title: String,
    base: CrawlUrl,
}

impl Tree {
    /// Reads an answer in its charset, which links are written in too. Never fails: what is beyond the bounds is left out.
    pub fn read(fetched: &Fetched) -> Self {
        let fetched = &*fetched.shown();
        let decoded = decode(&fetched.body, fetched.header("content-type"));
        let encoding = Encoding::for_label(decoded.charset.as_bytes()).unwrap_or(UTF_8);
        builder::build(&decoded.text, &fetched.url, encoding)
    }

    /// Reads a text found at `base`, as of a page in UTF-8. Never fails: what is beyond the bounds is left out.
    pub fn parse(html: &str, base: &CrawlUrl) -> Self {
        builder::build(html, base, UTF_8)
    }

    /// The page's title, white space folded.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What its links are relative to.
    pub(super) fn base(&self) -> &CrawlUrl {
        &self.base
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node and all below it.
    pub(super) fn subtree(&self, node: NodeId) -> Range<NodeId> {
        node..self.nodes[node].end as usize
    }

    pub(super) fn parent(&self, node: NodeId) -> NodeId {
        self.nodes[node].parent as usize
    }

    pub(super) fn depth(&self, node: NodeId) -> usize {
        usize::from(self.nodes[node].depth)
    }

    pub(super) fn name(&self, node: NodeId) -> &str {
        &self.nodes[node].name
    }

    pub(super) fn is_element(&self, node: NodeId) -> bool {
        !self.nodes[node].name.is_empty()
    }

    /// Whether it or what it stands in is not shown.
    pub(super) fn is_hidden(&self, node: NodeId) -> bool {
        self.nodes[node].hidden
    }

    /// Hash of its tag and classes; digits and words of state are left out.
    pub(super) fn shape(&self, node: NodeId) -> u64 {
        self.nodes[node].shape
    }

    /// Hash of the shapes from the root to it.
    pub(super) fn path(&self, node: NodeId) -> u64 {
        self.nodes[node].path
    }

    /// Hash of the shapes below `row` down to it: what the same field of two rows shares. A path is a polynomial of its
    /// shapes (Karp, Rabin 1987), so this is a subtraction.
    pub(super) fn place(&self, node: NodeId, row: NodeId) -> u64 {
        let steps = self.depth(node).saturating_sub(self.depth(row));
        let above = self.nodes[row].path.wrapping_mul(BASE.wrapping_pow(steps as u32));
        self.nodes[node].path.wrapping_sub(above)
    }

    /// Which cell of its row it is, from 0, columns that a cell spans counted.
    pub(super) fn cell(&self, node: NodeId) -> usize {
        usize::from(self.nodes[node].cell)
    }

    pub(super) fn attribute(&self, node: NodeId, name: &str) -> Option<&str> {
        self.nodes[node].attributes.iter().find(|(own, _)| *own == name).map(|(_, value)| &**value)
    }

    /// Where it leads, if it is a link to something that can be fetched.
    pub(super) fn link(&self, node: NodeId) -> Option<&CrawlUrl> {
        self.nodes[node].link.as_ref()
    }

    pub(super) fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.nodes[node].end as usize;
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.nodes[child].end as usize;
            Some(child)
        })
    }

    /// From its parent up to the root.
    pub(super) fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let mut at = node;
        std::iter::from_fn(move || {
            let up = (at != 0).then(|| self.parent(at))?;
            at = up;
            Some(up)
        })
    }

    /// What a text node says; nothing of an element.
    pub(super) fn own_text(&self, node: NodeId) -> &str {
        &self.nodes[node].text
    }

    /// What is shown below it, on one line.
    pub(super) fn text(&self, node: NodeId) -> String {
        let mut line = String::new();
        for paragraph in self.paragraphs(node, &|_| false) {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&paragraph.text);
        }
        line
    }

    /// What is shown below it, paragraph by paragraph, without the subtrees that `skip` names.
    pub(super) fn paragraphs(&self, node: NodeId, skip: &dyn Fn(NodeId) -> bool) -> Vec<Paragraph> {
        let mut all = Vec::new();
        let mut open = Paragraph::default();
        let (mut block, mut border) = (0, false);
        let range = self.subtree(node);
        let mut at = range.start;
        while at < range.end {
            let own = &self.nodes[at];
            if own.hidden || own.name == local_name!("script") || skip(at) {
                border |= own.block as usize == at;
                at = own.end as usize;
                continue;
            }
            if !own.name.is_empty() {
                border |= own.block as usize == at || own.name == local_name!("br") || own.name == local_name!("hr");
                at += 1;
                continue;
            }
            if border || own.block != block {
                close(&mut open, &mut all);
                (block, border) = (own.block, false);
            }
            let apart = open.text.is_empty() || open.text.ends_with(' ');
            let text = if apart { own.text.trim_start() } else { &own.text };
            if !text.is_empty() {
                open.pieces.push((open.text.len(), at));
                open.text.push_str(text);
            }
            at += 1;
        }
        close(&mut open, &mut all);
        all
    }

    /// The words of its classes and its id, in lower case: letters only, so `lastPost_12` is `last` and `post`.
    pub(super) fn words(&self, node: NodeId) -> impl Iterator<Item = &str> + '_ {
        self.nodes[node].words.iter().map(String::as_str)
    }
}

/// Words of a name as page authors run them together: borders are what is no letter, and a capital after a small letter.
pub(super) fn words_of(names: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut small = false;
    for c in names.chars().take(256) {
        if (!c.is_alphabetic() || c.is_uppercase() && small) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        small = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn close(open: &mut Paragraph, all: &mut Vec<Paragraph>) {
    let length = open.text.trim_end().len();
    open.text.truncate(length);
    if length > 0 {
        all.push(std::mem::take(open));
    } else {
        open.pieces.clear();
    }
}

const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
