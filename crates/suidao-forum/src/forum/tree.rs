//! A page as a tree: elements and texts in document order, for the extraction of fields.
//!
//! The nodes are in one vector in page order, each with the end of its subtree, so a subtree is a range and every walk
//! is linear. Depth, nodes and text are bounded; nesting is that of `Dom`, so the cost of any page is linear in its length.

mod builder;
#[cfg(test)]
mod tests;

use std::ops::Range;

use html5ever::{LocalName, local_name};

use suidao_page::model::{CrawlUrl, Fetched};
use suidao_page::read::dom::Dom;
use suidao_page::read::json_ld::JsonLd;

/// Index of a node in page order. 0 is the root.
pub(crate) type NodeId = usize;

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
    /// Index of its table cell in the row, from 0.
    cell: u16,
    hidden: bool,
    /// Hash of its tag and classes, without digits.
    shape: u64,
    /// Hash of the shapes from the root to here.
    path: u64,
    text: String,
    attributes: Vec<(&'static str, Box<str>)>,
    /// Words of its classes and id, cached.
    words: Box<[String]>,
    link: Option<CrawlUrl>,
}

/// A paragraph: text between block boundaries or line breaks.
#[derive(Clone, Debug, Default)]
pub(super) struct Paragraph {
    pub(super) text: String,
    /// Start of each text node in the text.
    pub(super) pieces: Vec<(usize, NodeId)>,
    /// A rule separates it from the text above.
    pub(super) after_rule: bool,
}

impl Paragraph {
    /// The text node at this byte of the text.
    pub(super) fn node(&self, at: usize) -> NodeId {
        let after = self.pieces.partition_point(|(start, _)| *start <= at);
        self.pieces.get(after.saturating_sub(1)).map_or(0, |(_, node)| *node)
    }
}

#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    title: String,
    /// Declared language of the page.
    language: String,
    base: CrawlUrl,
    json_ld: Vec<JsonLd>,
    /// Menu entries whose values are URLs, with their texts.
    options: Vec<(CrawlUrl, String)>,
}

impl Tree {
    /// Never fails: content beyond the limits is dropped.
    pub fn of(dom: &Dom) -> Self {
        builder::build(dom)
    }

    /// The tree of HTML found at `base`.
    pub(super) fn parse(html: &str, base: &CrawlUrl) -> Self {
        Self::of(&Dom::of(&Fetched::html(base.clone(), html.to_owned())))
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    pub(super) fn json_ld(&self) -> &[JsonLd] {
        &self.json_ld
    }

    pub(super) fn language(&self) -> &str {
        &self.language
    }

    pub(super) fn options(&self) -> &[(CrawlUrl, String)] {
        &self.options
    }

    pub(super) fn base(&self) -> &CrawlUrl {
        &self.base
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node and its descendants.
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

    /// Whether it or an ancestor is hidden.
    pub(super) fn is_hidden(&self, node: NodeId) -> bool {
        self.nodes[node].hidden
    }

    /// Hash of its tag and classes, without digits and state words.
    pub(super) fn shape(&self, node: NodeId) -> u64 {
        self.nodes[node].shape
    }

    /// Hash of the classifier from the root to it.
    pub(super) fn path(&self, node: NodeId) -> u64 {
        self.nodes[node].path
    }

    /// Hash of the classifier from `row` (excluded) to the node, equal for the same field of two rows. A path is a
    /// polynomial of its classifier (Karp, Rabin 1987), so this is a subtraction.
    pub(super) fn place(&self, node: NodeId, row: NodeId) -> u64 {
        let steps = self.depth(node).saturating_sub(self.depth(row));
        let above = self.nodes[row].path.wrapping_mul(BASE.wrapping_pow(steps as u32));
        self.nodes[node].path.wrapping_sub(above)
    }

    /// Index of its table cell in the row, from 0, with spanned columns counted.
    pub(super) fn cell(&self, node: NodeId) -> usize {
        usize::from(self.nodes[node].cell)
    }

    pub(super) fn attribute(&self, node: NodeId, name: &str) -> Option<&str> {
        self.nodes[node].attributes.iter().find(|(own, _)| *own == name).map(|(_, value)| &**value)
    }

    /// Link target, if it can be fetched.
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

    /// The text of a text node; empty for an element.
    pub(super) fn own_text(&self, node: NodeId) -> &str {
        &self.nodes[node].text
    }

    /// Visible text of the subtree, on one line.
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

    /// Visible paragraphs of the subtree, without the subtrees that `skip` selects.
    pub(super) fn paragraphs(&self, node: NodeId, skip: &dyn Fn(NodeId) -> bool) -> Vec<Paragraph> {
        let mut all = Vec::new();
        let mut open = Paragraph::default();
        let (mut block, mut border, mut rule) = (0, false, false);
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
                rule |= own.name == local_name!("hr");
                border |= own.block as usize == at || own.name == local_name!("br") || rule;
                at += 1;
                continue;
            }
            if border || own.block != block {
                close(&mut open, &mut all);
                (block, border) = (own.block, false);
            }
            if rule && !own.text.trim().is_empty() {
                (open.after_rule, rule) = (true, false);
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

    /// Words of its classes and id in lower case, letters only: `lastPost_12` is `last` and `post`.
    pub(super) fn words(&self, node: NodeId) -> impl Iterator<Item = &str> + '_ {
        self.nodes[node].words.iter().map(String::as_str)
    }
}

/// Splits a name into words: at characters that are not letters, and before a capital after a small letter.
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
        open.after_rule = false;
    }
}

const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
