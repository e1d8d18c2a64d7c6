//! Builds a tree from the tree of a page.

use html5ever::tokenizer::Tag;
use html5ever::{LocalName, Namespace, local_name, ns};

use super::{BASE, Node, Tree, words_of};
use crate::forum::WORDS;
use suidao_page::model::CrawlUrl;
use suidao_page::read::dom::{DEPTH, Dom, TreeStep};
use suidao_page::read::element_role::is_hidden;
use suidao_page::read::json_ld::JsonLd;
use suidao_page::read::markup::{attribute, fold_into};
use suidao_page::read::names::{is_block, is_fallback, is_skipped};
use suidao_page::read::references::References;
use suidao_page::word_list::SectionWords;

/// Maximum number of nodes per page.
pub(super) const NODES: usize = 200_000;
/// Maximum number of bytes of text and attributes.
const TEXT: usize = 4 << 20;
/// Maximum number of bytes of one attribute.
const VALUE: usize = 2 << 10;

/// Maximum number of menu entries per page, and bytes of the text of one.
const OPTIONS: usize = 500;
const OPTION: usize = 64;

/// Characters of a language code.
const LANGUAGE: usize = 16;

/// Attributes that are stored.
static ATTRIBUTES: SectionWords = SectionWords::of(WORDS, "attributes");

/// Words in CSS classes that express the state of a row.
static STATES: SectionWords = SectionWords::of(WORDS, "states");

/// Content of `noscript` counts: some forums show nothing else.
pub(super) fn build(dom: &Dom) -> Tree {
    let mut builder = Builder::new(References::new(dom.url(), dom.encoding()));
    dom.walk(|step| match step {
        TreeStep::Open(tag, ns) => builder.start(tag, ns),
        TreeStep::Close(_) => builder.close(),
        TreeStep::Text(text) => builder.text(text),
    });
    builder.finish(dom.json_ld().to_vec())
}

struct OpenElement {
    node: u32,
    /// Cells so far, if it is a table row.
    cells: Option<u16>,
}

struct Builder {
    nodes: Vec<Node>,
    title: String,
    language: String,
    in_title: bool,
    references: References,
    stack: Vec<OpenElement>,
    /// While the stack is longer than this, nothing is read.
    skip: Option<usize>,
    options: Vec<(CrawlUrl, String)>,
    /// The last option is open.
    in_option: bool,
    /// Bytes stored so far.
    bytes: usize,
}

impl Builder {
    fn new(references: References) -> Self {
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
            language: String::new(),
            in_title: false,
            references,
            stack: Vec::with_capacity(32),
            skip: None,
            options: Vec::new(),
            in_option: false,
            bytes: 0,
        }
    }

    fn top(&self) -> usize {
        self.stack.last().map_or(0, |open| open.node as usize)
    }

    fn start(&mut self, tag: &Tag, ns: &Namespace) {
        let depth = self.stack.len();
        self.in_option = tag.name == local_name!("option") && self.add_option(tag);
        if self.skip.is_some() {
            return self.push(tag, self.top());
        }
        match tag.name {
            local_name!("html") | local_name!("head") | local_name!("body") | local_name!("form") => {
                if tag.name == local_name!("html") && self.language.is_empty() {
                    let language = attribute(tag, &local_name!("lang")).unwrap_or_default();
                    self.language = language.trim().chars().take(LANGUAGE).collect();
                }
                return self.push(tag, self.top());
            }
            local_name!("base") => {
                if let Some(href) = attribute(tag, &local_name!("href")) {
                    self.references.set_base(href);
                }
            }
            local_name!("title") if *ns == ns!(html) => self.in_title = self.title.is_empty(),
            _ => {}
        }
        let skipped = is_skipped(&tag.name)
            || is_fallback(&tag.name) && tag.name != local_name!("noscript")
            || tag.name == local_name!("button")
            || *ns != ns!(html) && matches!(tag.name, local_name!("svg") | local_name!("math"));
        // Titles need no element.
        let node = if tag.name == local_name!("title") { self.top() } else { self.add(tag, is_block(&tag.name)) };
        if skipped {
            self.skip = Some(depth);
        }
        self.push(tag, node);
    }

    /// Adds a menu entry if its value is written as a URL. Returns whether it is.
    fn add_option(&mut self, tag: &Tag) -> bool {
        let value = attribute(tag, &local_name!("value")).unwrap_or_default().trim();
        let is_url = ["/", "./", "?", "http://", "https://"].iter().any(|start| value.starts_with(start));
        let url = if is_url && self.options.len() < OPTIONS { self.references.resolve(value) } else { None };
        let Some(url) = url else { return false };
        self.options.push((url, String::new()));
        true
    }

    /// Adds an element under the innermost open one.
    fn add(&mut self, tag: &Tag, block: bool) -> usize {
        if self.nodes.len() >= NODES || self.stack.len() >= DEPTH {
            return self.top();
        }
        let mut attributes = Vec::new();
        for &name in ATTRIBUTES.iter() {
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
            if let Some(row) = self.stack.last_mut().and_then(|open| open.cells.as_mut()) {
                cell = *row;
                *row = row.saturating_add(span);
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

    fn push(&mut self, tag: &Tag, node: usize) {
        let cells = (tag.name == local_name!("tr")).then_some(0);
        self.stack.push(OpenElement { node: node as u32, cells });
    }

    fn close(&mut self) {
        self.in_option = false;
        if let Some(open) = self.stack.pop() {
            self.nodes[open.node as usize].end = self.nodes.len() as u32;
        }
        if self.skip.is_some_and(|skip| self.stack.len() <= skip) {
            self.skip = None;
            self.in_title = false;
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title && self.title.len() < VALUE {
            fold_into(&mut self.title, text);
        }
        if let Some((_, name)) = self.options.last_mut().filter(|(_, name)| self.in_option && name.len() < OPTION) {
            fold_into(name, text);
        }
        if self.skip.is_some() || self.bytes + text.len() > TEXT {
            return;
        }
        let block = self.nodes[self.top()].block as usize;
        if self.nodes[block].name != local_name!("pre") {
            return self.line(text);
        }
        // In preformatted text, line feeds end lines.
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 && self.nodes.len() < NODES {
                self.leaf(local_name!("br"));
            }
            self.line(line);
        }
    }

    /// Adds an element or a text without descendants.
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
            // White space between blocks is ignored; texts beyond the limit are dropped.
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

    fn finish(mut self, json_ld: Vec<JsonLd>) -> Tree {
        self.nodes[0].end = self.nodes.len() as u32;
        let Self { nodes, title, language, options, .. } = self;
        Tree { nodes, title, language, base: self.references.base().clone(), json_ld, options }
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
