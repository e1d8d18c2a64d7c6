//! From HTML to blocks, pieces and links in one pass over html5ever's tokens, without a tree of nodes.
//!
//! Apart because it knows HTML and nothing of what matters on a page. A DOM would cost most of the reading time, and
//! its builder is quadratic (in time, and for unclosed formatting elements in nodes) on pages made to hurt. Here the
//! only state is the stack of open elements, at most [`DEPTH`] deep, and end tags are matched as browsers do for
//! blocks, cells and list items. What remains of the tree is an [`Element`] for each block-level element.

use std::cell::RefCell;

use encoding_rs::Encoding;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::{LocalName, local_name};

use super::date::Dates;
use super::document::{Block, Document, Piece};
use super::hanzi::is_ideograph;
use super::hint::{self, Hint};
use super::links::OpenLink;
use super::names::{is_block, is_skipped, is_void};
use super::nesting::{self, DEPTH, Opened, explicit_end, implied_end, raw_kind};
use super::robots::Robots;
use crate::model::{CrawlUrl, Region};

/// Bytes of text read of one page.
pub(super) const TEXT: usize = 2 << 20;
/// Block-level elements remembered.
const ELEMENTS: usize = 200_000;

/// A block-level element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Index of the enclosing one; the root (0) is its own.
    pub(super) parent: u32,
    pub(super) hint: Hint,
}

/// How much text there is: an ideograph counts 3, any other character 1, white space nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amount {
    /// Outside links.
    pub(super) plain: u32,
    /// Inside links.
    pub(super) linked: u32,
    /// Links that begin here.
    pub(super) links: u32,
}

/// What is known of a block beside its pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    /// Index of the element it stands in.
    pub(super) element: u32,
    pub(super) amount: Amount,
}

/// All that one pass finds.
#[derive(Debug)]
pub(super) struct Markup {
    /// Text, pieces, blocks and links; regions not decided, the title not in it.
    pub(super) document: Document,
    pub(super) elements: Vec<Element>,
    /// One for each block.
    pub(super) settings: Vec<Setting>,
    pub(super) title: String,
    /// What the page calls itself when shared (`og:title`): stands in for a missing title.
    pub(super) declared_title: String,
    /// `lang` of the root element.
    pub(super) lang: Option<String>,
    pub(super) canonical: Option<CrawlUrl>,
    /// Feeds it names.
    pub(super) feeds: Vec<CrawlUrl>,
    pub(super) robots: Robots,
    /// What it says of its own date.
    pub(super) dates: Dates,
    /// A limit was met.
    pub(super) cut: bool,
}

/// Reads a page. `lenient` takes in what is shown only without scripts or is hidden.
pub(super) fn read(html: &str, url: &CrawlUrl, encoding: &'static Encoding, lenient: bool) -> Markup {
    let sink = Sink(RefCell::new(Builder::new(url, encoding, lenient)));
    nesting::tokenize(html, sink).0.into_inner().finish()
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

/// An open element.
pub(super) struct Open {
    name: LocalName,
    /// The element its text belongs to.
    element: u32,
    block: bool,
    /// Hash of the names and classes from the root to here.
    path: u32,
}

impl Opened for Open {
    fn name(&self) -> &LocalName {
        &self.name
    }

    fn block(&self) -> bool {
        self.block
    }
}

pub(super) struct Builder {
    pub(super) markup: Markup,
    pub(super) base: CrawlUrl,
    pub(super) has_base: bool,
    pub(super) encoding: &'static Encoding,
    pub(super) lenient: bool,
    pub(super) stack: Vec<Open>,
    /// Elements beyond [`DEPTH`] that are open.
    pub(super) overflow: usize,
    /// While the stack is longer than this, nothing is read.
    pub(super) skip: Option<usize>,
    pub(super) in_title: bool,
    /// The current block, if text has come since the last border.
    pub(super) block: Option<usize>,
    /// Whether text goes on in the last piece.
    pub(super) in_piece: bool,
    /// White space since the last text, and whether a line ended in it.
    pub(super) space: Option<bool>,
    /// `br` since the last text.
    pub(super) breaks: u32,
    pub(super) link: Option<OpenLink>,
}

impl Builder {
    fn new(url: &CrawlUrl, encoding: &'static Encoding, lenient: bool) -> Self {
        let markup = Markup {
            document: Document::default(),
            elements: vec![Element { parent: 0, hint: Hint::None }],
            settings: Vec::new(),
            title: String::new(),
            declared_title: String::new(),
            lang: None,
            canonical: None,
            feeds: Vec::new(),
            robots: Robots::default(),
            dates: Dates::default(),
            cut: false,
        };
        Self {
            markup,
            base: url.clone(),
            has_base: false,
            encoding,
            lenient,
            stack: Vec::with_capacity(32),
            overflow: 0,
            skip: None,
            in_title: false,
            block: None,
            in_piece: false,
            space: None,
            breaks: 0,
            link: None,
        }
    }

    fn element(&self) -> u32 {
        self.stack.last().map_or(0, |open| open.element)
    }

    /// What links of one block of a template share, and what links of different blocks seldom do: the hash of tag names and
    /// classes from the root to an element with this tag, digits left out (FNV-1a; Fowler, Noll, Vo 1991).
    pub(super) fn path(&self, tag: &Tag) -> u32 {
        const PRIME: u32 = 0x0100_0193;
        let mut hash = self.stack.last().map_or(0x811c_9dc5, |open| open.path);
        let mut take = |bytes: &[u8]| {
            for byte in bytes.iter().filter(|byte| !byte.is_ascii_digit()) {
                hash = (hash ^ u32::from(*byte)).wrapping_mul(PRIME);
            }
        };
        take(tag.name.as_bytes());
        take(attribute(tag, &local_name!("class")).unwrap_or_default().as_bytes());
        take(b">");
        hash
    }

    /// A start tag; the answer says how the tokenizer is to read what follows.
    fn start(&mut self, tag: &Tag) -> Option<RawKind> {
        let raw = raw_kind(&tag.name);
        self.markup.dates.tag(tag);
        if self.skip.is_some() {
            if !is_void(&tag.name) && !tag.self_closing {
                self.push(tag, self.element(), false);
            }
            return raw;
        }
        match tag.name {
            local_name!("html") => {
                if self.markup.lang.is_none() {
                    self.markup.lang = attribute(tag, &local_name!("lang")).map(str::to_owned);
                }
                return None;
            }
            local_name!("head") | local_name!("body") | local_name!("form") | local_name!("frameset") => return None,
            local_name!("base") => self.base(tag),
            local_name!("meta") => self.meta(tag),
            local_name!("link") => self.head_link(tag),
            local_name!("br") => self.line_break(),
            local_name!("hr") => self.end_block(),
            local_name!("img") | local_name!("image") => self.image(tag),
            local_name!("area") => self.area(tag),
            local_name!("iframe") | local_name!("frame") => self.frame(tag),
            _ => {}
        }
        if is_void(&tag.name) {
            return None;
        }
        if tag.name == local_name!("title") {
            if self.markup.title.is_empty() && !self.inside(&local_name!("svg")) {
                self.in_title = true;
            } else {
                self.skip = Some(self.stack.len());
            }
            self.push(tag, self.element(), false);
            return raw;
        }
        if tag.self_closing && self.inside(&local_name!("svg")) {
            return None;
        }
        if is_skipped(&tag.name) || !self.lenient && tag.name == local_name!("noscript") {
            self.skip = Some(self.stack.len());
            self.push(tag, self.element(), false);
            return raw;
        }
        if tag.name == local_name!("a") {
            self.end_link();
            let path = self.path(tag);
            self.push(tag, self.element(), false);
            self.start_link(tag, path);
            return None;
        }
        let block = is_block(&tag.name);
        if block {
            if let Some(length) = implied_end(&self.stack, &tag.name) {
                self.pop_to(length);
            }
            self.end_block();
        }
        // What scripts show on a click is no content, but its links are as good as any.
        let hidden = hint::is_hidden(tag);
        let hint = if hidden { Hint::Furniture } else { hint::of(tag) };
        if hint == Hint::Hidden {
            self.skip = Some(self.stack.len());
        }
        // Of inline elements no more is believed: highlighted code is full of spans called `comment` and `meta`.
        let mut element = self.element();
        if (block || hidden) && self.markup.elements.len() < ELEMENTS {
            self.markup.elements.push(Element { parent: element, hint });
            element = (self.markup.elements.len() - 1) as u32;
        }
        self.push(tag, element, block);
        raw
    }

    fn push(&mut self, tag: &Tag, element: u32, block: bool) {
        if self.stack.len() >= DEPTH {
            self.overflow += 1;
            self.markup.cut = true;
        } else {
            let path = self.path(tag);
            self.stack.push(Open { name: tag.name.clone(), element, block, path });
        }
    }

    fn inside(&self, name: &LocalName) -> bool {
        self.stack.iter().any(|open| open.name == *name)
    }

    fn end(&mut self, name: &LocalName) {
        if self.overflow > 0 {
            self.overflow -= usize::from(!is_void(name));
            return;
        }
        match *name {
            local_name!("br") if self.skip.is_none() => return self.line_break(),
            local_name!("form") | local_name!("html") | local_name!("body") | local_name!("head") => return,
            local_name!("a") if self.skip.is_none() => self.end_link(),
            _ => {}
        }
        let found = explicit_end(&self.stack, name, self.skip);
        if self.skip.is_none() && is_block(name) {
            self.end_block();
        }
        if let Some(at) = found {
            self.pop_to(at);
        }
    }

    fn pop_to(&mut self, length: usize) {
        if self.stack[length..].iter().any(|open| open.block) {
            self.end_block();
        }
        self.stack.truncate(length);
        self.in_title = false;
        if self.skip.is_some_and(|skip| length <= skip) {
            self.skip = None;
        }
        if self.link.as_ref().is_some_and(|link| length <= link.depth) {
            self.end_link();
        }
    }

    fn end_block(&mut self) {
        self.block = None;
        self.in_piece = false;
        self.space = None;
        self.breaks = 0;
    }

    /// One `br` is white space, two are the border of a paragraph.
    fn line_break(&mut self) {
        if self.block.is_some() {
            self.breaks += 1;
            self.space = Some(false);
            if self.breaks > 1 {
                self.end_block();
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.skip.is_some() {
            self.markup.dates.script(text);
            return;
        }
        if self.in_title {
            fold_into(&mut self.markup.title, text);
            return;
        }
        let mut start = None;
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            if c.is_whitespace() || matches!(c, '\u{200B}' | '\u{FEFF}' | '\u{AD}') || c.is_control() {
                if let Some(start) = start.take() {
                    self.run(&text[start..at], std::mem::take(&mut plain));
                }
                if c.is_whitespace() {
                    // An indented line after a `br` is how old pages write a paragraph.
                    if c == '\u{3000}' && self.breaks > 0 {
                        self.end_block();
                    }
                    self.space = Some(self.space.unwrap_or(false) | (c == '\n'));
                }
            } else {
                plain += if is_wide(c) { 3 } else { 1 };
                start = start.or(Some(at));
            }
        }
        if let Some(start) = start {
            self.run(&text[start..], plain);
        }
    }

    /// A word's worth of text without white space.
    fn run(&mut self, run: &str, amount: u32) {
        let room = TEXT.saturating_sub(self.markup.document.text.len() + 1);
        let mut end = run.len().min(room);
        self.markup.cut |= end < run.len();
        while !run.is_char_boundary(end) {
            end -= 1;
        }
        let run = &run[..end];
        if run.is_empty() {
            return;
        }
        let space = self.space.take();
        self.breaks = 0;
        let block = self.open_block();
        let mut apart = false;
        let document = &mut self.markup.document;
        if let Some(line) = space
            && !document.blocks[block].pieces.is_empty()
        {
            let wide = |c: Option<char>| c.is_some_and(is_wide);
            // A line end between ideographs is the author's editor, not a space.
            if !(line && wide(run.chars().next()) && wide(document.text.chars().next_back())) {
                apart = true;
            }
        }
        let mut start = document.text.len();
        if apart {
            document.text.push(' ');
            // What is not shown is no place for it.
            if let Some(last) = document.pieces.last_mut().filter(|last| !last.hidden) {
                last.text.end += 1;
                start += 1;
            }
        }
        document.text.push_str(run);
        let end = document.text.len();
        match document.pieces.last_mut() {
            Some(piece) if self.in_piece => piece.text.end = end,
            _ => {
                document.pieces.push(Piece { text: start..end, hidden: false });
                document.blocks[block].pieces.end = document.pieces.len();
                self.in_piece = true;
            }
        }
        let total = &mut self.markup.settings[block].amount;
        match &mut self.link {
            Some(link) => {
                total.linked += amount;
                total.links += u32::from(link.block.is_none());
                link.block.get_or_insert(block);
            }
            None => total.plain += amount,
        }
    }

    pub(super) fn open_block(&mut self) -> usize {
        if let Some(block) = self.block {
            return block;
        }
        let pieces = self.markup.document.pieces.len();
        self.markup.document.blocks.push(Block { pieces: pieces..pieces, region: Region::Content });
        self.markup.settings.push(Setting { element: self.element(), amount: Amount::default() });
        self.in_piece = false;
        let block = self.markup.document.blocks.len() - 1;
        self.block = Some(block);
        block
    }

    fn base(&mut self, tag: &Tag) {
        if !self.has_base
            && let Some(href) = attribute(tag, &local_name!("href"))
        {
            self.has_base = true;
            if let Ok(base) = self.base.join(href) {
                self.base = base;
            }
        }
    }

    fn meta(&mut self, tag: &Tag) {
        let Some(content) = attribute(tag, &local_name!("content")) else { return };
        if let Some(name) = attribute(tag, &local_name!("name")) {
            if name.trim().eq_ignore_ascii_case("robots") {
                self.markup.robots.read(content);
            }
        } else if self.markup.declared_title.is_empty()
            && tag.attrs.iter().any(|attribute| &*attribute.name.local == "property" && &*attribute.value == "og:title")
        {
            fold_into(&mut self.markup.declared_title, content);
        } else if attribute(tag, &local_name!("http-equiv")).is_some_and(|name| name.eq_ignore_ascii_case("refresh"))
            && let Some((_, target)) = content.split_once([';', ','])
        {
            let target = target.trim();
            let target = match target.get(..3) {
                Some(word) if word.eq_ignore_ascii_case("url") => target[3..].trim_start().trim_start_matches('='),
                _ => target,
            };
            self.lone_link(tag, target.trim().trim_matches(['"', '\'']), "", "");
        }
    }

    fn finish(mut self) -> Markup {
        self.end_link();
        self.markup
    }
}

/// Appends `text` with white space folded to single spaces, none at either end of the whole.
pub(crate) fn fold_into(folded: &mut String, text: &str) {
    let begins_apart = text.starts_with(char::is_whitespace);
    for (at, word) in text.split_whitespace().enumerate() {
        if !folded.is_empty() && (at > 0 || begins_apart) {
            folded.push(' ');
        }
        folded.push_str(word);
    }
}

/// Ideographs, kana and full-width forms: scripts that put no spaces between words.
fn is_wide(c: char) -> bool {
    c >= '\u{2E80}' && (is_ideograph(c) || matches!(c, '\u{3000}'..='\u{30FF}' | '\u{FF00}'..='\u{FFEF}'))
}

pub(crate) fn attribute<'a>(tag: &'a Tag, name: &LocalName) -> Option<&'a str> {
    tag.attrs.iter().find(|attribute| attribute.name.local == *name).map(|attribute| &*attribute.value)
}
