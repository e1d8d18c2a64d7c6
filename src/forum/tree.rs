//! A page as a tree: elements and texts in document order, what a record's fields are found in.
//!
//! Apart from the reading of text, which needs no tree, because a record is a place in it. The nodes lie in one vector in
//! the order of the page, each with the end of its subtree, so a subtree is a range and every walk is linear. Depth,
//! nodes and text are bounded; how tags nest is decided as for text (`read/nesting.rs`), so that nothing a page does
//! costs more than its length.

use std::cell::RefCell;
use std::ops::Range;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::{LocalName, local_name};

use crate::model::CrawlUrl;
use crate::read::hint::is_hidden;
use crate::read::markup::{attribute, fold_into};
use crate::read::names::{is_block, is_skipped, is_void};
use crate::read::nesting::{DEPTH, Opened, explicit_end, implied_end, raw_kind, tokenize};

/// Elements and texts of one page.
const NODES: usize = 200_000;
/// Bytes of text and of attributes.
const TEXT: usize = 4 << 20;
/// Bytes of one attribute.
const VALUE: usize = 2 << 10;
/// Links that are resolved.
const LINKS: usize = 20_000;

/// What is kept of a tag.
const ATTRIBUTES: [&str; 19] = [
    "class",
    "id",
    "title",
    "datetime",
    "content",
    "itemprop",
    "itemscope",
    "itemtype",
    "href",
    "src",
    "alt",
    "type",
    "name",
    "role",
    "colspan",
    "data-time",
    "data-timestamp",
    "aria-label",
    "rel",
];

/// Class words that tell the state of a row, not what it is.
const STATES: [&str; 20] = [
    "odd", "even", "alt", "first", "last", "hot", "new", "unread", "read", "online", "offline", "current", "active",
    "locked", "lock", "top", "sticky", "pinned", "announce", "global",
];

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
    /// Reads a page found at `base`. Never fails: what is beyond the bounds is left out.
    #[must_use]
    pub fn parse(html: &str, base: &CrawlUrl) -> Self {
        let builder = tokenize(html, Sink(RefCell::new(Builder::new(base)))).0.into_inner();
        builder.finish()
    }

    /// The page's title, white space folded.
    #[must_use]
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
    pub(super) fn words(&self, node: NodeId) -> impl Iterator<Item = String> + '_ {
        ["class", "id"].into_iter().filter_map(move |name| self.attribute(node, name)).flat_map(words_of)
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

struct Sink(RefCell<Builder>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut builder = self.0.borrow_mut();
        match token {
            Token::CharacterTokens(text) => builder.text(&text),
            Token::TagToken(tag) => match tag.kind {
                TagKind::StartTag => {
                    if let Some(kind) = builder.start(&tag) {
                        return TokenSinkResult::RawData(kind);
                    }
                }
                TagKind::EndTag => builder.end(&tag.name),
            },
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.0.borrow().stack.iter().any(|open| matches!(open.name, local_name!("svg") | local_name!("math")))
    }
}

struct Open {
    name: LocalName,
    node: u32,
    block: bool,
    /// Cells so far, where it is a row of a table.
    cells: u16,
}

impl Opened for Open {
    fn name(&self) -> &LocalName {
        &self.name
    }

    fn block(&self) -> bool {
        self.block
    }
}

struct Builder {
    nodes: Vec<Node>,
    title: String,
    in_title: bool,
    base: CrawlUrl,
    has_base: bool,
    stack: Vec<Open>,
    overflow: usize,
    /// While the stack is longer than this, nothing is read.
    skip: Option<usize>,
    /// Bytes kept so far, and links resolved.
    bytes: usize,
    links: usize,
}

impl Builder {
    fn new(base: &CrawlUrl) -> Self {
        let root = Node {
            name: local_name!("html"),
            parent: 0,
            end: 1,
            block: 0,
            depth: 0,
            cell: 0,
            hidden: false,
            shape: 0,
            path: 0,
            text: String::new(),
            attributes: Vec::new(),
            link: None,
        };
        Self {
            nodes: vec![root],
            title: String::new(),
            in_title: false,
            base: base.clone(),
            has_base: false,
            stack: Vec::with_capacity(32),
            overflow: 0,
            skip: None,
            bytes: 0,
            links: 0,
        }
    }

    fn top(&self) -> usize {
        self.stack.last().map_or(0, |open| open.node as usize)
    }

    fn start(&mut self, tag: &Tag) -> Option<RawKind> {
        let raw = raw_kind(&tag.name);
        if self.skip.is_some() {
            if !is_void(&tag.name) && !tag.self_closing {
                self.push(tag, self.top(), false);
            }
            return raw;
        }
        match tag.name {
            local_name!("html") | local_name!("head") | local_name!("body") | local_name!("form") => return None,
            local_name!("base") if !self.has_base => {
                if let Some(base) = attribute(tag, &local_name!("href")).and_then(|href| self.base.join(href).ok()) {
                    (self.base, self.has_base) = (base, true);
                }
            }
            local_name!("title") => {
                self.in_title = self.title.is_empty();
                self.skip = Some(self.stack.len());
                self.push(tag, self.top(), false);
                return raw;
            }
            // A link within a link ends the first.
            local_name!("a") => {
                let within = self.stack.iter().rposition(|open| open.block || open.name == tag.name);
                if let Some(at) = within.filter(|&at| self.stack[at].name == tag.name) {
                    self.cut(at);
                }
            }
            _ => {}
        }
        let block = is_block(&tag.name);
        if block && let Some(length) = implied_end(&self.stack, &tag.name) {
            self.cut(length);
        }
        let node = self.add(tag, block);
        if is_void(&tag.name) || tag.self_closing && tag.name != local_name!("a") && !block {
            return None;
        }
        let declares = tag.name == local_name!("script")
            && attribute(tag, &local_name!("type"))
                .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"));
        if is_skipped(&tag.name) && !declares {
            self.skip = Some(self.stack.len());
        }
        self.push(tag, node, block);
        raw
    }

    /// Adds an element below the innermost open one.
    fn add(&mut self, tag: &Tag, block: bool) -> usize {
        if self.nodes.len() >= NODES || self.stack.len() >= DEPTH {
            return self.top();
        }
        let mut attributes = Vec::new();
        for name in ATTRIBUTES {
            let own = tag.attrs.iter().find(|attribute| &*attribute.name.local == name);
            if let Some(value) = own.map(|attribute| &*attribute.value)
                && value.len() <= VALUE
                && self.bytes + value.len() <= TEXT
            {
                self.bytes += value.len();
                attributes.push((name, value.trim().into()));
            }
        }
        let value =
            |name: &str| attributes.iter().find(|(own, _)| *own == name).map_or("", |(_, value): &(_, Box<str>)| value);
        let mut cell = 0;
        if matches!(tag.name, local_name!("td") | local_name!("th")) {
            let span = value("colspan").parse::<u16>().unwrap_or(1).clamp(1, 50);
            if let Some(row) = self.stack.last_mut().filter(|open| open.name == local_name!("tr")) {
                cell = row.cells;
                row.cells = row.cells.saturating_add(span);
            }
        }
        let shape = shape(&tag.name, value("class"), cell);
        let href = value("href");
        let link = if tag.name == local_name!("a") && !href.is_empty() && !href.starts_with('#') && self.links < LINKS {
            self.links += 1;
            self.base.join(href).ok()
        } else {
            None
        };
        let (parent, at) = (self.top(), self.nodes.len());
        let up = &self.nodes[parent];
        self.nodes.push(Node {
            name: tag.name.clone(),
            parent: parent as u32,
            end: at as u32 + 1,
            block: if block { at as u32 } else { up.block },
            depth: up.depth + 1,
            cell,
            hidden: up.hidden || is_hidden(tag),
            shape,
            path: up.path.wrapping_mul(BASE).wrapping_add(shape),
            text: String::new(),
            attributes,
            link,
        });
        at
    }

    fn push(&mut self, tag: &Tag, node: usize, block: bool) {
        if self.stack.len() >= DEPTH {
            self.overflow += 1;
        } else {
            self.stack.push(Open { name: tag.name.clone(), node: node as u32, block, cells: 0 });
        }
    }

    fn end(&mut self, name: &LocalName) {
        if self.overflow > 0 {
            self.overflow -= usize::from(!is_void(name));
            return;
        }
        if matches!(*name, local_name!("form") | local_name!("html") | local_name!("body") | local_name!("head")) {
            return;
        }
        if let Some(length) = explicit_end(&self.stack, name, self.skip) {
            self.cut(length);
        }
    }

    fn cut(&mut self, length: usize) {
        let end = self.nodes.len() as u32;
        for open in self.stack.drain(length..) {
            self.nodes[open.node as usize].end = end;
        }
        if self.skip.is_some_and(|skip| length <= skip) {
            self.skip = None;
            self.in_title = false;
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title && self.title.len() < VALUE {
            fold_into(&mut self.title, text);
        }
        if self.skip.is_some() || self.bytes + text.len() > TEXT {
            return;
        }
        let parent = self.top();
        let up = &self.nodes[parent];
        let (block, depth, path) = (up.block, up.depth + 1, up.path.wrapping_mul(BASE).wrapping_add(1));
        let last = self.nodes.len() - 1;
        let goes_on = self.nodes[last].parent as usize == parent && last != 0 && self.nodes[last].name.is_empty();
        if !goes_on {
            // White space between blocks is no text; and what does not fit is left out.
            if self.nodes.len() >= NODES {
                return;
            }
            self.nodes.push(Node {
                name: local_name!(""),
                parent: parent as u32,
                end: last as u32 + 2,
                block,
                depth,
                cell: 0,
                hidden: false,
                shape: 1,
                path,
                text: String::new(),
                attributes: Vec::new(),
                link: None,
            });
        }
        let Some(node) = self.nodes.last_mut() else { return };
        let before = node.text.len();
        for c in text.chars() {
            if c.is_whitespace() {
                if !node.text.ends_with(' ') {
                    node.text.push(' ');
                }
            } else if !c.is_control() && !matches!(c, '\u{200B}' | '\u{FEFF}' | '\u{AD}' | '\u{200E}' | '\u{200F}') {
                node.text.push(c);
            }
        }
        self.bytes += node.text.len() - before;
    }

    fn finish(mut self) -> Tree {
        self.cut(0);
        self.nodes[0].end = self.nodes.len() as u32;
        Tree { nodes: self.nodes, title: self.title, base: self.base }
    }
}

/// FNV-1a (Fowler, Noll, Vo 1991) over a tag and its classes.
fn shape(name: &LocalName, classes: &str, cell: u16) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut take = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().for_each(&mut take);
    take(cell.min(255) as u8);
    for class in classes.split_ascii_whitespace().take(8) {
        let is_state = words_of(class).iter().any(|word| STATES.contains(&word.as_str()));
        if !is_state {
            take(b'.');
            class.bytes().filter(|byte| !byte.is_ascii_digit()).for_each(&mut take);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tree(html: &str) -> Tree {
        Tree::parse(html, &CrawlUrl::parse("http://a.cn/bbs/list.php").unwrap())
    }

    #[test]
    fn tags_nest_as_browsers_nest_them() {
        let tree = tree(
            "<title>A  b</title><table><tr class=odd><td>一<td colspan=2><a href=t.php?id=1#p>二 <b>三</b><td>四<tr><td>五</table>后",
        );
        assert_eq!(tree.title(), "A b");
        let rows: Vec<_> = (0..tree.len()).filter(|&at| tree.name(at) == "tr").collect();
        let cells: Vec<_> = tree.children(rows[0]).map(|cell| (tree.text(cell), tree.cell(cell))).collect();
        assert_eq!(cells, [("一".to_owned(), 0), ("二 三".to_owned(), 1), ("四".to_owned(), 3)]);
        let link = (0..tree.len()).find_map(|at| tree.link(at)).unwrap();
        assert_eq!(link.as_str(), "http://a.cn/bbs/t.php?id=1");
        assert_eq!(tree.shape(rows[0]), tree.shape(rows[1]), "odd and even rows are of one shape");
        let firsts: Vec<_> = rows.iter().map(|&row| tree.place(tree.children(row).next().unwrap(), row)).collect();
        assert_eq!(firsts[0], firsts[1]);
        assert_eq!(tree.text(0), "一 二 三 四 五 后");
    }

    #[test]
    fn hidden_and_skipped_text_is_not_shown() {
        let tree = tree("<p>看<span style='display:none'>不</span>得<script>x</script><textarea>y</textarea><br>见<p>");
        let lines: Vec<_> = tree.paragraphs(0, &|_| false).into_iter().map(|line| line.text).collect();
        assert_eq!(lines, ["看得", "见"]);
    }

    #[test]
    fn words_of_names_are_told_apart() {
        assert_eq!(words_of("lastPost_12 threadTitle"), ["last", "post", "thread", "title"]);
    }

    #[test]
    fn pages_made_to_hurt_are_read_within_bounds() {
        for part in ["<div>", "<a href=x>", "<table><tr><td>", "<b>x", "<li>x</ul>", "<p title=x>"] {
            let tree = tree(&part.repeat(300_000));
            assert!(tree.len() <= NODES && (0..tree.len()).all(|at| tree.depth(at) <= DEPTH + 1), "{part}");
        }
    }

    proptest! {
        #[test]
        fn every_subtree_is_a_range_within_its_parents(html in "(<(a href=x|td|tr|table|li|ul|p|div|br|b)>|</(a|td|tr|table|li|ul|p|div|b)>|x| ){0,60}") {
            let tree = tree(&html);
            for node in 1..tree.len() {
                let (own, up) = (tree.subtree(node), tree.subtree(tree.parent(node)));
                prop_assert!(up.start < own.start && own.end <= up.end, "{html}");
                prop_assert_eq!(tree.depth(node), tree.depth(tree.parent(node)) + 1);
            }
        }
    }
}
