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

use super::byline::Bylines;
use super::date::Dates;
use super::document::Document;
use super::flow::Gap;
use super::form::Part;
use super::hint::{self, Hint};
use super::links::OpenLink;
use super::names::{is_block, is_skipped, is_void};
use super::nesting::{DEPTH, Opened, explicit_end, implied_end, raw_kind};
use super::references::References;
use super::refresh;
use super::robots::Robots;
use super::tokens::{head, tokenize};
use crate::model::CrawlUrl;

/// Bytes of text read of one page.
pub(super) const TEXT: usize = 2 << 20;
/// Bytes of a title that are read.
const TITLE: usize = 4_000;
/// Bytes of a page's JSON-LD that are looked at.
const SCRIPT: usize = 64 << 10;
/// Elements that may hold directives for robots that are kept, and bytes of a name or a language.
const ROBOTS: usize = 1_000;
const NAME: usize = 64;
/// Block-level elements remembered.
const ELEMENTS: usize = 200_000;

/// A block-level element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    /// Index of the enclosing one; the root (0) is its own.
    pub(super) parent: u32,
    pub(super) hint: Hint,
    pub(super) part: Part,
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
    /// What it calls its own address; none inside if it names two.
    pub(super) canonical: Option<Option<CrawlUrl>>,
    /// Where it leads on by itself, so soon that it is a redirect.
    pub(super) refresh: Option<CrawlUrl>,
    /// Feeds it names.
    pub(super) feeds: Vec<CrawlUrl>,
    /// What it asks of robots: under which name, and what.
    pub(super) robots: Vec<(String, String)>,
    /// What it says of its own date.
    pub(super) dates: Dates,
    /// And of who wrote it.
    pub(super) bylines: Bylines,
    /// A limit was met.
    pub(super) cut: bool,
}

/// Reads a page. `lenient` takes in what is shown only without scripts or is hidden.
pub(super) fn read(html: &str, url: &CrawlUrl, encoding: &'static Encoding, lenient: bool) -> Markup {
    tokenize(html, || Sink(RefCell::new(Builder::new(url, encoding, lenient)))).0.into_inner().finish()
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
                TagKind::EndTag => {
                    builder.markup.dates.end(&tag.name);
                    builder.end(&tag.name);
                }
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
    pub(super) references: References,
    pub(super) lenient: bool,
    pub(super) stack: Vec<Open>,
    /// Elements beyond [`DEPTH`] that are open.
    pub(super) overflow: usize,
    /// While the stack is longer than this, nothing is read.
    pub(super) skip: Option<usize>,
    pub(super) in_title: bool,
    /// The title as it stands.
    title: String,
    /// The current block, if text has come since the last border.
    pub(super) block: Option<usize>,
    /// Whether text goes on in the last piece.
    pub(super) in_piece: bool,
    /// White space since the last text.
    pub(super) gap: Gap,
    /// While the stack is longer than this, white space is kept.
    pub(super) pre: Option<usize>,
    /// JSON-LD that is being read.
    pub(super) script: Option<String>,
    pub(super) link: Option<OpenLink>,
}

impl Builder {
    fn new(url: &CrawlUrl, encoding: &'static Encoding, lenient: bool) -> Self {
        let markup = Markup {
            document: Document::default(),
            elements: vec![Element { parent: 0, hint: Hint::None, part: Part::Other }],
            settings: Vec::new(),
            title: String::new(),
            declared_title: String::new(),
            lang: None,
            canonical: None,
            refresh: None,
            feeds: Vec::new(),
            robots: Vec::new(),
            dates: Dates::default(),
            bylines: Bylines::default(),
            cut: false,
        };
        Self {
            markup,
            references: References::new(url, encoding),
            lenient,
            stack: Vec::with_capacity(32),
            overflow: 0,
            skip: None,
            in_title: false,
            title: String::new(),
            block: None,
            in_piece: false,
            gap: Gap::default(),
            pre: None,
            script: None,
            link: None,
        }
    }

    pub(super) fn element(&self) -> u32 {
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
        self.end_script();
        self.markup.dates.tag(tag);
        if tag.name == local_name!("script") && is_json_ld(tag) {
            self.script = Some(String::new());
        }
        self.end_skipped(&tag.name);
        if self.skip.is_some() {
            if !is_void(&tag.name) && !tag.self_closing {
                self.push(tag, self.element(), false);
            }
            return raw;
        }
        match tag.name {
            local_name!("html") => {
                if self.markup.lang.is_none() {
                    self.markup.lang = attribute(tag, &local_name!("lang")).map(|lang| head(lang, NAME).to_owned());
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
            if self.title.trim().is_empty() && !self.inside(&local_name!("svg")) {
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
            self.markup.bylines.open(tag, self.stack.len(), &self.markup.document);
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
            self.markup.elements.push(Element { parent: element, hint, part: Part::of(tag) });
            element = (self.markup.elements.len() - 1) as u32;
        }
        if self.pre.is_none() && is_preformatted(&tag.name) {
            self.pre = Some(self.stack.len());
        }
        self.markup.bylines.open(tag, self.stack.len(), &self.markup.document);
        self.push(tag, element, block);
        raw
    }

    /// Ends what is not read where a start tag ends it without an end tag: a column of line numbers is followed by another cell.
    fn end_skipped(&mut self, name: &LocalName) {
        if let Some(skip) = self.skip
            && self.stack.get(skip).is_some_and(|open| open.block)
            && is_block(name)
            && let Some(length) = implied_end(&self.stack, name).filter(|&length| length <= skip)
        {
            self.pop_to(length);
        }
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
        let mut found = explicit_end(&self.stack, name, self.skip);
        // A block that is not read ends with what is around it.
        if found.is_none()
            && self.skip.and_then(|skip| self.stack.get(skip)).is_some_and(|open| open.block)
            && is_block(name)
        {
            found = explicit_end(&self.stack, name, None);
        }
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
        if self.pre.is_some_and(|pre| length <= pre) {
            self.pre = None;
        }
        if self.link.as_ref().is_some_and(|link| length <= link.depth) {
            self.end_link();
        }
        self.markup.bylines.close(length, &self.markup.document);
    }

    fn text(&mut self, text: &str) {
        self.markup.dates.text(text);
        if self.skip.is_some() {
            if let Some(script) = self.script.as_mut().filter(|script| script.len() + text.len() <= SCRIPT) {
                script.push_str(text);
            }
        } else if self.in_title {
            self.title.push_str(head(text, TITLE.saturating_sub(self.title.len())));
        } else {
            self.flow(text);
        }
    }

    fn end_script(&mut self) {
        if let Some(script) = self.script.take() {
            self.markup.dates.json_ld(&script);
            self.markup.bylines.json_ld(&script);
        }
    }

    fn base(&mut self, tag: &Tag) {
        if let Some(href) = attribute(tag, &local_name!("href")) {
            self.references.set_base(href);
        }
    }

    fn meta(&mut self, tag: &Tag) {
        let Some(content) = attribute(tag, &local_name!("content")) else { return };
        self.markup.bylines.meta(tag, content);
        if let Some(name) = attribute(tag, &local_name!("name")) {
            if self.markup.robots.len() < ROBOTS && name.len() <= NAME && Robots::is_said_by(content) {
                self.markup.robots.push((name.to_owned(), content.to_owned()));
            }
        } else if self.markup.declared_title.is_empty()
            && tag.attrs.iter().any(|attribute| &*attribute.name.local == "property" && &*attribute.value == "og:title")
        {
            fold_into(&mut self.markup.declared_title, head(content, TITLE));
        } else if attribute(tag, &local_name!("http-equiv")).is_some_and(|name| name.eq_ignore_ascii_case("refresh"))
            && let Some((delay, target)) = refresh::parse(content)
        {
            // What is said only to browsers without scripts may lead to a page that asks for some.
            let at_once = delay <= refresh::REDIRECT && !self.inside(&local_name!("noscript"));
            match self.references.resolve(target) {
                Some(to) if at_once => self.markup.refresh = self.markup.refresh.take().or(Some(to)),
                _ => self.lone_link(tag, target, "", ""),
            }
        }
    }

    fn finish(mut self) -> Markup {
        self.end_link();
        self.end_script();
        fold_into(&mut self.markup.title, &self.title);
        self.markup.cut |= self.references.is_full();
        self.markup
    }
}

pub(super) fn is_json_ld(tag: &Tag) -> bool {
    attribute(tag, &local_name!("type")).is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"))
}

/// Whether white space is part of what an element says.
fn is_preformatted(name: &LocalName) -> bool {
    matches!(*name, local_name!("pre") | local_name!("listing") | local_name!("xmp"))
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

pub(crate) fn attribute<'a>(tag: &'a Tag, name: &LocalName) -> Option<&'a str> {
    tag.attrs.iter().find(|attribute| attribute.name.local == *name).map(|attribute| &*attribute.value)
}
