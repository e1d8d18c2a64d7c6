//! From HTML to blocks, pieces and links in one pass over html5ever's tokens, without a tree of nodes.
//!
//! Apart because it knows HTML and nothing of what matters on a page. A DOM would cost most of the reading time, and
//! its builder is quadratic (in time, and for unclosed formatting elements in nodes) on pages made to hurt. Here the
//! only state is the stack of open elements, at most [`DEPTH`] deep, and end tags are matched as browsers do for
//! blocks, cells and list items. What remains of the tree is an [`Element`] for each block-level element.

use std::cell::RefCell;

use encoding_rs::{Encoding, UTF_8};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{RawKind, Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::{LocalName, local_name};

use super::document::{Block, Document, DocumentLink, Piece};
use super::hanzi::is_ideograph;
use super::hint::{self, Hint};
use super::robots::Robots;
use crate::model::{CrawlUrl, Region};

/// Links read of one page.
pub(super) const LINKS: usize = 5_000;
/// Bytes of text read of one page.
pub(super) const TEXT: usize = 2 << 20;
/// Open elements; deeper ones are read as if their parents' own.
const DEPTH: usize = 512;
/// Block-level elements remembered.
const ELEMENTS: usize = 200_000;

/// A block-level element, or one that says what it is for.
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
    /// `lang` of the root element.
    pub(super) lang: Option<String>,
    pub(super) canonical: Option<CrawlUrl>,
    pub(super) robots: Robots,
    /// A limit was met.
    pub(super) cut: bool,
}

/// Reads a page. `lenient` takes in what is shown only without scripts or is hidden.
pub(super) fn read(html: &str, url: &CrawlUrl, encoding: &'static Encoding, lenient: bool) -> Markup {
    let sink = Sink(RefCell::new(Builder::new(url, encoding, lenient)));
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    // A tendril holds less than 4 GiB; bodies are far smaller.
    let mut end = html.len().min(1 << 30);
    while !html.is_char_boundary(end) {
        end -= 1;
    }
    input.push_back(StrTendril::from_slice(&html[..end]));
    // Scripts are not run, so the tokenizer never stops for one.
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner().finish()
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
struct Open {
    name: LocalName,
    /// The element its text belongs to.
    element: u32,
    block: bool,
}

/// A link whose end tag has not come.
struct OpenLink {
    /// None where it leads nowhere that can be fetched; its text is a link's all the same.
    url: Option<CrawlUrl>,
    nofollow: bool,
    /// First piece of the anchor.
    first: usize,
    /// Block of its first text.
    block: Option<usize>,
    /// Its own `title`, then what its images say.
    title: String,
    alt: String,
    /// Length of the stack outside it.
    depth: usize,
}

struct Builder {
    markup: Markup,
    base: CrawlUrl,
    has_base: bool,
    encoding: &'static Encoding,
    lenient: bool,
    stack: Vec<Open>,
    /// Elements beyond [`DEPTH`] that are open.
    overflow: usize,
    /// While the stack is longer than this, nothing is read.
    skip: Option<usize>,
    in_title: bool,
    /// The current block, if text has come since the last border.
    block: Option<usize>,
    /// Whether text goes on in the last piece.
    in_piece: bool,
    /// White space since the last text, and whether a line ended in it.
    space: Option<bool>,
    /// `br` since the last text.
    breaks: u32,
    link: Option<OpenLink>,
}

impl Builder {
    fn new(url: &CrawlUrl, encoding: &'static Encoding, lenient: bool) -> Self {
        let markup = Markup {
            document: Document::default(),
            elements: vec![Element { parent: 0, hint: Hint::None }],
            settings: Vec::new(),
            title: String::new(),
            lang: None,
            canonical: None,
            robots: Robots::default(),
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

    /// A start tag; the answer says how the tokenizer is to read what follows.
    fn start(&mut self, tag: &Tag) -> Option<RawKind> {
        let raw = match tag.name {
            local_name!("script") => Some(ScriptData),
            local_name!("style") | local_name!("xmp") => Some(Rawtext),
            local_name!("title") | local_name!("textarea") => Some(Rcdata),
            // Its content is shown in old browsers only, and may hold the end of a link.
            local_name!("iframe") | local_name!("noembed") => Some(Rawtext),
            _ => None,
        };
        if self.skip.is_some() {
            if !is_void(&tag.name) && !tag.self_closing {
                self.push(tag.name.clone(), self.element(), false);
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
            local_name!("head") | local_name!("form") | local_name!("frameset") => return None,
            local_name!("body") => {
                self.markup.elements[0].hint = Hint::None;
                return None;
            }
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
            self.push(tag.name.clone(), self.element(), false);
            return raw;
        }
        if tag.self_closing && self.inside(&local_name!("svg")) {
            return None;
        }
        if is_skipped(&tag.name) || !self.lenient && (tag.name == local_name!("noscript") || hint::is_hidden(tag)) {
            self.skip = Some(self.stack.len());
            self.push(tag.name.clone(), self.element(), false);
            return raw;
        }
        if tag.name == local_name!("a") {
            self.end_link();
            self.push(tag.name.clone(), self.element(), false);
            self.start_link(tag);
            return None;
        }
        let block = is_block(&tag.name);
        if block {
            self.imply_ends(&tag.name);
            self.end_block();
        }
        let hint = hint::of(tag);
        if hint == Hint::Hidden {
            self.skip = Some(self.stack.len());
        }
        let mut element = self.element();
        if (block || hint != Hint::None) && self.markup.elements.len() < ELEMENTS {
            self.markup.elements.push(Element { parent: element, hint });
            element = (self.markup.elements.len() - 1) as u32;
        }
        self.push(tag.name.clone(), element, block);
        raw
    }

    fn push(&mut self, name: LocalName, element: u32, block: bool) {
        if self.stack.len() >= DEPTH {
            self.overflow += 1;
            self.markup.cut = true;
        } else {
            self.stack.push(Open { name, element, block });
        }
    }

    fn inside(&self, name: &LocalName) -> bool {
        self.stack.iter().any(|open| open.name == *name)
    }

    /// Closes what this start tag closes without an end tag: `<p>`, `<li>`, cells and rows.
    fn imply_ends(&mut self, name: &LocalName) {
        let (ends, borders): (&[LocalName], &[LocalName]) = match *name {
            local_name!("li") => (&[local_name!("li")], &[local_name!("ul"), local_name!("ol")]),
            local_name!("dt") | local_name!("dd") => (&[local_name!("dt"), local_name!("dd")], &[local_name!("dl")]),
            local_name!("td") | local_name!("th") => {
                (&[local_name!("td"), local_name!("th")], &[local_name!("tr"), local_name!("table")])
            }
            local_name!("tr") => (&[local_name!("tr")], &[local_name!("table")]),
            local_name!("tbody") | local_name!("thead") | local_name!("tfoot") => {
                (&[local_name!("tbody"), local_name!("thead"), local_name!("tfoot")], &[local_name!("table")])
            }
            _ => (&[local_name!("p")], &[]),
        };
        for (at, open) in self.stack.iter().enumerate().rev() {
            if ends.contains(&open.name) {
                self.pop_to(at);
                return;
            }
            let cell = matches!(open.name, local_name!("td") | local_name!("th") | local_name!("table"));
            if borders.contains(&open.name) || borders.is_empty() && (cell || open.block) {
                return;
            }
        }
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
        let inline = !is_block(name);
        let in_table = matches!(
            *name,
            local_name!("table")
                | local_name!("tr")
                | local_name!("tbody")
                | local_name!("thead")
                | local_name!("tfoot")
        );
        let floor = self.skip.unwrap_or(0);
        let mut found = None;
        for (at, open) in self.stack.iter().enumerate().skip(floor).rev() {
            if open.name == *name {
                found = Some(at);
                break;
            }
            // An inline end tag closes nothing beyond its block, and none but a table's own closes a cell.
            let cell = matches!(open.name, local_name!("td") | local_name!("th") | local_name!("table"));
            if inline && open.block && self.skip.is_none() || cell && !in_table && open.name != *name {
                break;
            }
        }
        if self.skip.is_none() && !inline {
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
        if self.markup.document.text.len() + run.len() + 1 > TEXT {
            self.markup.cut = true;
            return;
        }
        let space = self.space.take();
        self.breaks = 0;
        let block = self.open_block();
        let document = &mut self.markup.document;
        if let Some(line) = space
            && !document.blocks[block].pieces.is_empty()
        {
            let wide = |c: Option<char>| c.is_some_and(is_wide);
            // A line end between ideographs is the author's editor, not a space.
            if !(line && wide(run.chars().next()) && wide(document.text.chars().next_back())) {
                document.text.push(' ');
                if let Some(last) = document.pieces.last_mut() {
                    last.text.end += 1;
                }
            }
        }
        let start = document.text.len();
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

    fn open_block(&mut self) -> usize {
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

    fn resolve(&self, reference: &str) -> Option<CrawlUrl> {
        let reference = reference.trim_matches(|c: char| c <= ' ');
        if reference.is_empty() || reference.starts_with('#') {
            return None;
        }
        if self.encoding == UTF_8 || reference.is_ascii() {
            return self.base.join(reference).ok();
        }
        // Browsers write the query in the page's charset (WHATWG URL, query state).
        let Some((path, query)) = reference.split_once('?') else {
            return self.base.join(reference).ok();
        };
        let (bytes, _, _) = self.encoding.encode(query);
        let mut escaped = format!("{path}?");
        for &byte in bytes.iter() {
            if byte.is_ascii() {
                escaped.push(char::from(byte));
            } else {
                escaped.push_str(&format!("%{byte:02X}"));
            }
        }
        self.base.join(&escaped).ok()
    }

    fn start_link(&mut self, tag: &Tag) {
        let Some(href) = attribute(tag, &local_name!("href")) else { return };
        self.in_piece = false;
        let url = if self.has_room() { self.resolve(href) } else { None };
        let rel = attribute(tag, &local_name!("rel")).unwrap_or_default();
        self.link = Some(OpenLink {
            url,
            nofollow: refuses(rel),
            first: self.markup.document.pieces.len(),
            block: None,
            title: attribute(tag, &local_name!("title")).unwrap_or_default().to_owned(),
            alt: String::new(),
            depth: self.stack.len().saturating_sub(1),
        });
    }

    fn has_room(&mut self) -> bool {
        let room = self.markup.document.links.len() < LINKS;
        self.markup.cut |= !room;
        room
    }

    fn end_link(&mut self) {
        let Some(link) = self.link.take() else { return };
        self.in_piece = false;
        let Some(url) = link.url else { return };
        let pieces = &self.markup.document.pieces;
        let shown = pieces.get(link.first..).unwrap_or_default();
        let cut_off = shown.last().is_some_and(|piece| {
            let text = &self.markup.document.text[piece.text.clone()];
            text.ends_with('…') || text.ends_with("...")
        });
        let block = link.block.unwrap_or_else(|| self.open_block());
        if link.first == self.markup.document.pieces.len() {
            self.hide(if link.alt.trim().is_empty() { &link.title } else { &link.alt });
        } else if cut_off && self.block == Some(block) {
            self.hide(&link.title);
        }
        let anchor = link.first..self.markup.document.pieces.len();
        self.markup.document.links.push(DocumentLink {
            url,
            anchor,
            block,
            region: Region::Content,
            nofollow: link.nofollow,
        });
    }

    /// Adds text that is not shown to the current block.
    fn hide(&mut self, text: &str) {
        let mut folded = String::new();
        fold_into(&mut folded, text);
        let block = self.open_block();
        let document = &mut self.markup.document;
        if folded.is_empty() || document.text.len() + folded.len() > TEXT {
            return;
        }
        let start = document.text.len();
        document.text.push_str(&folded);
        document.pieces.push(Piece { text: start..start + folded.len(), hidden: true });
        document.blocks[block].pieces.end = document.pieces.len();
        self.in_piece = false;
    }

    /// A link without an end tag and without text of its own.
    fn lone_link(&mut self, reference: &str, nofollow: bool, text: &str) {
        if !self.has_room() {
            return;
        }
        let Some(url) = self.resolve(reference) else { return };
        let block = self.open_block();
        let first = self.markup.document.pieces.len();
        self.hide(text);
        let anchor = first..self.markup.document.pieces.len();
        self.markup.document.links.push(DocumentLink { url, anchor, block, region: Region::Content, nofollow });
    }

    fn image(&mut self, tag: &Tag) {
        if let Some(link) = &mut self.link {
            let alt = attribute(tag, &local_name!("alt")).filter(|alt| !alt.trim().is_empty());
            let said = alt.or_else(|| attribute(tag, &local_name!("title"))).unwrap_or_default();
            if !said.is_empty() && link.alt.len() < 1_000 {
                link.alt.push(' ');
                link.alt.push_str(said);
            }
        }
    }

    fn area(&mut self, tag: &Tag) {
        if let Some(href) = attribute(tag, &local_name!("href")) {
            let alt = attribute(tag, &local_name!("alt")).filter(|alt| !alt.trim().is_empty());
            let said = alt.or_else(|| attribute(tag, &local_name!("title"))).unwrap_or_default();
            self.lone_link(href, refuses(attribute(tag, &local_name!("rel")).unwrap_or_default()), said);
        }
    }

    fn frame(&mut self, tag: &Tag) {
        if let Some(source) = attribute(tag, &local_name!("src")) {
            self.lone_link(source, false, "");
        }
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

    fn head_link(&mut self, tag: &Tag) {
        let (Some(rel), Some(href)) = (attribute(tag, &local_name!("rel")), attribute(tag, &local_name!("href")))
        else {
            return;
        };
        for word in rel.split_ascii_whitespace() {
            if word.eq_ignore_ascii_case("canonical") && self.markup.canonical.is_none() {
                self.markup.canonical = self.resolve(href);
            } else if word.eq_ignore_ascii_case("next") {
                self.lone_link(href, refuses(rel), "");
            }
        }
    }

    fn meta(&mut self, tag: &Tag) {
        let Some(content) = attribute(tag, &local_name!("content")) else { return };
        if let Some(name) = attribute(tag, &local_name!("name")) {
            if name.trim().eq_ignore_ascii_case("robots") {
                self.markup.robots.read(content);
            }
        } else if attribute(tag, &local_name!("http-equiv")).is_some_and(|name| name.eq_ignore_ascii_case("refresh"))
            && let Some((_, target)) = content.split_once([';', ','])
        {
            let target = target.trim();
            let target = match target.get(..3) {
                Some(word) if word.eq_ignore_ascii_case("url") => target[3..].trim_start().trim_start_matches('='),
                _ => target,
            };
            self.lone_link(target.trim().trim_matches(['"', '\'']), false, "");
        }
    }

    fn finish(mut self) -> Markup {
        self.end_link();
        self.markup
    }
}

/// Appends `text` with white space folded to single spaces, none at either end of the whole.
fn fold_into(folded: &mut String, text: &str) {
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

/// Whether `rel` says that the link is not recommended.
fn refuses(rel: &str) -> bool {
    ["nofollow", "ugc", "sponsored"]
        .iter()
        .any(|no| rel.split(|c: char| c.is_ascii_whitespace() || c == ',').any(|word| word.eq_ignore_ascii_case(no)))
}

pub(super) fn attribute<'a>(tag: &'a Tag, name: &LocalName) -> Option<&'a str> {
    tag.attrs.iter().find(|attribute| attribute.name.local == *name).map(|attribute| &*attribute.value)
}

fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("basefont")
            | local_name!("bgsound")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("frame")
            | local_name!("hr")
            | local_name!("image")
            | local_name!("img")
            | local_name!("input")
            | local_name!("keygen")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr")
    )
}

/// Never part of what a page says.
fn is_skipped(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("template")
            | local_name!("textarea")
            | local_name!("select")
            | local_name!("button")
            | local_name!("svg")
            | local_name!("iframe")
            | local_name!("noembed")
            | local_name!("object")
            | local_name!("canvas")
            | local_name!("audio")
            | local_name!("video")
            | local_name!("math")
    )
}

fn is_block(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("address")
            | local_name!("article")
            | local_name!("aside")
            | local_name!("blockquote")
            | local_name!("caption")
            | local_name!("center")
            | local_name!("dd")
            | local_name!("details")
            | local_name!("dir")
            | local_name!("div")
            | local_name!("dl")
            | local_name!("dt")
            | local_name!("fieldset")
            | local_name!("figcaption")
            | local_name!("figure")
            | local_name!("footer")
            | local_name!("h1")
            | local_name!("h2")
            | local_name!("h3")
            | local_name!("h4")
            | local_name!("h5")
            | local_name!("h6")
            | local_name!("header")
            | local_name!("hgroup")
            | local_name!("legend")
            | local_name!("li")
            | local_name!("main")
            | local_name!("menu")
            | local_name!("nav")
            | local_name!("noscript")
            | local_name!("ol")
            | local_name!("p")
            | local_name!("pre")
            | local_name!("section")
            | local_name!("summary")
            | local_name!("table")
            | local_name!("tbody")
            | local_name!("td")
            | local_name!("tfoot")
            | local_name!("th")
            | local_name!("thead")
            | local_name!("tr")
            | local_name!("ul")
    )
}
