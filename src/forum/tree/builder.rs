//! How a tree grows from the tokens of a page. Apart from what is asked of it because bounds and nesting are decided here
//! and nowhere else.

use std::cell::RefCell;

use encoding_rs::Encoding;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::{LocalName, local_name};

use super::{BASE, Node, Tree, words_of};
use crate::model::CrawlUrl;
use crate::read::hint::is_hidden;
use crate::read::markup::{attribute, fold_into};
use crate::read::names::{is_block, is_skipped, is_void};
use crate::read::nesting::{DEPTH, Opened, explicit_end, implied_end, raw_kind};
use crate::read::references::References;
use crate::read::tokens::tokenize;

/// Elements and texts of one page.
pub(super) const NODES: usize = 200_000;
/// Bytes of text and of attributes.
const TEXT: usize = 4 << 20;
/// Bytes of one attribute.
const VALUE: usize = 2 << 10;

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

/// Reads a page found at `base`, whose links are written in `encoding`.
pub(super) fn build(html: &str, base: &CrawlUrl, encoding: &'static Encoding) -> Tree {
    tokenize(html, || Sink(RefCell::new(Builder::new(base, encoding)))).0.into_inner().finish()
}

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
    references: References,
    stack: Vec<Open>,
    overflow: usize,
    /// While the stack is longer than this, nothing is read.
    skip: Option<usize>,
    /// Bytes kept so far.
    bytes: usize,
}

impl Builder {
    fn new(base: &CrawlUrl, encoding: &'static Encoding) -> Self {
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
            words: Box::default(),
            link: None,
        };
        Self {
            nodes: vec![root],
            title: String::new(),
            in_title: false,
            references: References::new(base, encoding),
            stack: Vec::with_capacity(32),
            overflow: 0,
            skip: None,
            bytes: 0,
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
            local_name!("base") => {
                if let Some(href) = attribute(tag, &local_name!("href")) {
                    self.references.set_base(href);
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
        let link = if tag.name == local_name!("a") { self.references.resolve(href) } else { None };
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
            words: ["class", "id"].into_iter().flat_map(|name| words_of(value(name))).collect(),
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
        let block = self.nodes[self.top()].block as usize;
        if self.nodes[block].name != local_name!("pre") {
            return self.line(text);
        }
        // There a line ends where it is written so.
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 && self.nodes.len() < NODES {
                self.leaf(local_name!("br"));
            }
            self.line(line);
        }
    }

    /// Adds an element or a text without anything below it.
    fn leaf(&mut self, name: LocalName) {
        let (parent, at) = (self.top(), self.nodes.len());
        let up = &self.nodes[parent];
        self.nodes.push(Node {
            name,
            parent: parent as u32,
            end: at as u32 + 1,
            block: up.block,
            depth: up.depth + 1,
            cell: 0,
            hidden: false,
            shape: 1,
            path: up.path.wrapping_mul(BASE).wrapping_add(1),
            text: String::new(),
            attributes: Vec::new(),
            words: Box::default(),
            link: None,
        });
    }

    fn line(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let parent = self.top();
        let last = self.nodes.len() - 1;
        let goes_on = self.nodes[last].parent as usize == parent && last != 0 && self.nodes[last].name.is_empty();
        if !goes_on {
            // White space between blocks is no text; and what does not fit is left out.
            if self.nodes.len() >= NODES {
                return;
            }
            self.leaf(local_name!(""));
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
        Tree { nodes: self.nodes, title: self.title, base: self.references.base().clone() }
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
