//! Parses HTML to blocks, runs of text and links in one walk through the tree of a page. An [`Element`] remains for each block-level element.

use encoding_rs::Encoding;
use html5ever::tokenizer::Tag;
use html5ever::{LocalName, Namespace, local_name, ns};

use super::block_kind::ElementKind;
use super::byline::Bylines;
use super::date::Dates;
use super::document::ParsedDocument;
use super::dom::{Dom, TreeStep};
use super::element_role::{self, ElementRole};
use super::flow::Gap;
use super::formula::Formula;
use super::headline;
use super::json_ld::JsonLd;
use super::layout::Recorder;
use super::links::OpenLink;
use super::names::{is_block, is_fallback, is_skipped};
use super::references::References;
use super::refresh;
use super::robots::RobotsDirectives;
use super::source::Sources;
use super::tokens::head;
use super::videos::Videos;
use crate::model::CrawlUrl;

/// Maximum bytes of text per page.
pub(super) const TEXT: usize = 2 << 20;
/// Maximum bytes of a title.
const TITLE: usize = 4_000;
/// Maximum `meta` elements with robots directives, and bytes of a name or language.
const ROBOTS: usize = 1_000;
const NAME: usize = 64;
/// Maximum block-level elements.
const ELEMENTS: usize = 200_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Element {
    /// Index of the parent; the root (0) is its own parent.
    pub(super) parent: u32,
    pub(super) role: ElementRole,
    pub(super) part: ElementKind,
}

/// Amount of text: an ideograph counts 3, white space 0, any other character 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextStats {
    /// Outside links.
    pub(super) plain: u32,
    /// Inside links.
    pub(super) linked: u32,
    /// Links that begin here.
    pub(super) links: u32,
}

/// Statistics of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockStats {
    /// Index of its element.
    pub(super) element: u32,
    pub(super) text_stats: TextStats,
}

#[derive(Debug)]
pub(super) struct ParsedHtml {
    /// Without regions and title.
    pub(super) document: ParsedDocument,
    pub(super) elements: Vec<Element>,
    /// One per block.
    pub(super) block_stats: Vec<BlockStats>,
    pub(super) title: String,
    /// `og:title`, used if there is no title.
    pub(super) declared_title: String,
    /// More about the title.
    pub(super) declared: headline::Declared,
    /// `lang` of the root element.
    pub(super) lang: Option<String>,
    /// `rel=canonical`; `Some(None)` if there are two different ones.
    pub(super) canonical: Option<Option<CrawlUrl>>,
    /// Target of an early `meta refresh`, which counts as a redirect.
    pub(super) refresh: Option<CrawlUrl>,
    pub(super) feeds: Vec<CrawlUrl>,
    /// Robots directives: name and content.
    pub(super) robots: Vec<(String, String)>,
    pub(super) dates: Dates,
    pub(super) bylines: Bylines,
    pub(super) sources: Sources,
    pub(super) videos: Vec<CrawlUrl>,
    /// A limit was reached.
    pub(super) cut: bool,
}

/// Reads a page. `lenient` includes hidden elements and fallbacks for scripts and players; `recorder` gets what Markdown
/// shows.
pub(super) fn read(dom: &Dom, lenient: bool, recorder: Option<&mut Recorder>) -> ParsedHtml {
    let mut builder = MarkupBuilder::new(dom.url(), dom.encoding(), lenient);
    builder.recorder = recorder.is_some().then(Recorder::default);
    dom.walk(|step| match step {
        TreeStep::Open(tag, ns) => builder.start(tag, ns),
        TreeStep::Close(tag) => {
            builder.markup.dates.end(&tag.name);
            builder.end();
        }
        TreeStep::Text(text) => builder.text(text),
    });
    builder.declared(dom.json_ld());
    builder.markup.cut |= !dom.complete;
    builder.finish(recorder)
}

pub(super) struct OpenElement {
    name: LocalName,
    /// The [`Element`] that its text belongs to.
    element: u32,
    block: bool,
    /// Part of a drawing.
    drawn: bool,
    /// Hash of the names and classes from the root.
    path: u32,
}

pub(super) struct MarkupBuilder {
    pub(super) markup: ParsedHtml,
    pub(super) references: References,
    pub(super) lenient: bool,
    pub(super) stack: Vec<OpenElement>,
    /// Ignore everything while the stack is longer than this.
    pub(super) skip: Option<usize>,
    /// That element is the reading of a ruby.
    in_reading: bool,
    pub(super) in_title: bool,
    /// Unfolded title.
    title: String,
    /// The current block, if it has text.
    pub(super) block: Option<usize>,
    /// Whether text continues in the last piece.
    pub(super) in_run: bool,
    /// White space since the last text.
    pub(super) gap: Gap,
    /// Text is hidden while the stack is longer than this.
    pub(super) hidden: Option<usize>,
    /// White space is preserved while the stack is longer than this.
    pub(super) pre: Option<usize>,
    videos: Videos,
    pub(super) formula: Formula,
    pub(super) link: Option<OpenLink>,
    pub(super) recorder: Option<Recorder>,
}

impl MarkupBuilder {
    fn new(url: &CrawlUrl, encoding: &'static Encoding, lenient: bool) -> Self {
        let markup = ParsedHtml {
            document: ParsedDocument::default(),
            elements: vec![Element { parent: 0, role: ElementRole::None, part: ElementKind::Other }],
            block_stats: Vec::new(),
            title: String::new(),
            declared_title: String::new(),
            declared: headline::Declared::default(),
            lang: None,
            canonical: None,
            refresh: None,
            feeds: Vec::new(),
            robots: Vec::new(),
            dates: Dates::default(),
            bylines: Bylines::default(),
            sources: Sources::default(),
            videos: Vec::new(),
            cut: false,
        };
        Self {
            markup,
            references: References::new(url, encoding),
            lenient,
            stack: Vec::with_capacity(32),
            skip: None,
            in_reading: false,
            in_title: false,
            title: String::new(),
            block: None,
            in_run: false,
            gap: Gap::default(),
            hidden: None,
            pre: None,
            videos: Videos::default(),
            formula: Formula::default(),
            link: None,
            recorder: None,
        }
    }

    pub(super) fn element(&self) -> u32 {
        self.stack.last().map_or(0, |open| open.element)
    }

    /// Hash of tag names and classes, digits removed, from the root to an element with this tag (FNV-1a; Fowler, Noll,
    /// Vo 1991). The same for links of one template block, usually different elsewhere.
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

    fn start(&mut self, tag: &Tag, ns: &Namespace) {
        self.markup.dates.tag(tag);
        self.videos.tag(tag, tag.name == local_name!("source") && self.inside(&local_name!("video")));
        let depth = self.stack.len();
        if self.in_reading && is_block(&tag.name) {
            // A reading that was never closed.
            (self.skip, self.in_reading) = (None, false);
        }
        if self.skip.is_some() {
            return self.push(tag, self.element(), false);
        }
        self.start_formula(tag, depth);
        if *ns == ns!(html) {
            self.show_formula();
        } else {
            // The source of a formula repeats it.
            if matches!(&*tag.name, "annotation" | "annotation-xml") {
                self.skip = Some(depth);
            }
            self.push(tag, self.element(), false);
            // Labels of a drawing are not page text, but it may contain HTML.
            if let Some(open) = self.stack.last_mut() {
                open.drawn = *ns == ns!(svg);
            }
            return;
        }
        match tag.name {
            local_name!("html") => {
                self.markup.lang = attribute(tag, &local_name!("lang")).map(|lang| head(lang, NAME).to_owned());
            }
            local_name!("base") => self.base(tag),
            local_name!("meta") => self.meta(tag),
            local_name!("link") => self.head_link(tag),
            local_name!("br") => self.line_break(),
            local_name!("hr") => self.end_block(),
            local_name!("img") => {
                self.image(tag);
                self.record_image(tag);
            }
            local_name!("area") => self.area(tag),
            local_name!("iframe") | local_name!("frame") => self.frame(tag),
            local_name!("title") if self.title.trim().is_empty() => self.in_title = true,
            _ => {}
        }
        // The reading of a ruby repeats its text.
        self.in_reading = matches!(&*tag.name, "rt" | "rp" | "rtc") && self.is_in_ruby();
        if is_skipped(&tag.name) && !self.in_title || !self.lenient && is_fallback(&tag.name) || self.in_reading {
            self.skip = Some(depth);
            return self.push(tag, self.element(), false);
        }
        if tag.name == local_name!("a") {
            self.end_link();
            let path = self.path(tag);
            self.markup.bylines.open(tag, depth, &self.markup.document);
            self.push(tag, self.element(), false);
            self.record_start(tag, depth);
            return self.start_link(tag, path);
        }
        let block = is_block(&tag.name);
        if block {
            self.end_block();
        }
        let hidden = element_role::is_hidden(tag);
        let role = if hidden { ElementRole::Boilerplate } else { element_role::of(tag) };
        if role == ElementRole::Hidden {
            self.skip = Some(depth);
        }
        // Content that scripts show on a click is not main content, but its links count.
        if hidden && !block && !self.lenient && self.hidden.is_none() {
            self.hidden = Some(depth);
            self.in_run = false;
        }
        // Roles of inline elements are mostly unreliable: highlighted code has many spans named `comment` and `meta`.
        let mut element = self.element();
        if block && self.markup.elements.len() < ELEMENTS {
            self.markup.elements.push(Element { parent: element, role, part: ElementKind::of(tag) });
            element = (self.markup.elements.len() - 1) as u32;
        }
        if self.pre.is_none() && is_preformatted(&tag.name) {
            self.pre = Some(depth);
        }
        self.markup.bylines.open(tag, depth, &self.markup.document);
        self.push(tag, element, block);
        self.record_start(tag, depth);
    }

    fn push(&mut self, tag: &Tag, element: u32, block: bool) {
        let path = self.path(tag);
        self.stack.push(OpenElement { name: tag.name.clone(), element, block, drawn: false, path });
    }

    fn is_in_ruby(&self) -> bool {
        self.stack.last().is_some_and(|open| &*open.name == "ruby")
    }

    pub(super) fn inside(&self, name: &LocalName) -> bool {
        self.stack.iter().any(|open| open.name == *name)
    }

    fn end(&mut self) {
        self.record_end(self.stack.len().saturating_sub(1));
        if self.stack.pop().is_some_and(|open| open.block) {
            self.end_block();
        }
        let depth = self.stack.len();
        self.in_title = false;
        if self.skip == Some(depth) {
            (self.skip, self.in_reading) = (None, false);
        }
        if self.skip.is_none() {
            self.end_formula(depth);
        }
        if self.pre == Some(depth) {
            self.pre = None;
        }
        if self.hidden == Some(depth) {
            self.hidden = None;
        }
        if self.link.as_ref().is_some_and(|link| link.depth == depth) {
            self.end_link();
        }
        self.markup.bylines.close(depth, &self.markup.document);
    }

    fn text(&mut self, text: &str) {
        self.markup.dates.text(text);
        if self.skip.is_some() {
            self.add_to_source(text);
        } else if self.in_title {
            self.title.push_str(head(text, TITLE.saturating_sub(self.title.len())));
        } else if !self.stack.last().is_some_and(|open| open.drawn) && !self.keep_formula(text) {
            // The line breaks between the parts of a ruby are the editor's.
            let is_wide = self.markup.document.text.ends_with(|c: char| !c.is_ascii());
            if !(self.is_in_ruby() && is_wide && text.trim().is_empty()) {
                self.show(text);
            }
        }
    }

    pub(super) fn show(&mut self, text: &str) {
        if self.hidden.is_some() {
            self.hide(text);
        } else {
            self.flow(text);
        }
    }

    fn declared(&mut self, scripts: &[JsonLd]) {
        for script in scripts {
            self.markup.dates.json_ld(script);
            self.markup.bylines.json_ld(script);
            self.markup.sources.json_ld(script);
            self.videos.json_ld(script);
            self.markup.declared.json_ld(script);
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
        self.markup.sources.meta(tag, content);
        if let Some(name) = attribute(tag, &local_name!("name")) {
            if self.markup.robots.len() < ROBOTS && name.len() <= NAME && RobotsDirectives::is_declared_by(content) {
                self.markup.robots.push((name.to_owned(), content.to_owned()));
            }
        } else if self.markup.declared_title.is_empty()
            && tag.attrs.iter().any(|attribute| &*attribute.name.local == "property" && &*attribute.value == "og:title")
        {
            fold_into(&mut self.markup.declared_title, head(content, TITLE));
        } else if self.markup.declared.site.is_empty()
            && tag
                .attrs
                .iter()
                .any(|attribute| &*attribute.name.local == "property" && &*attribute.value == "og:site_name")
        {
            fold_into(&mut self.markup.declared.site, head(content, TITLE));
        } else if attribute(tag, &local_name!("http-equiv")).is_some_and(|name| name.eq_ignore_ascii_case("refresh"))
            && let Some((delay, target)) = refresh::parse(content)
        {
            // For browsers without scripts, it may lead to a page that asks to enable them.
            let at_once = delay <= refresh::REDIRECT && !self.inside(&local_name!("noscript"));
            match self.references.resolve(target) {
                Some(to) if at_once => self.markup.refresh = self.markup.refresh.take().or(Some(to)),
                _ => self.lone_link(tag, target, "", ""),
            }
        }
    }

    fn finish(mut self, recorder: Option<&mut Recorder>) -> ParsedHtml {
        self.show_formula();
        self.end_link();
        if let (Some(recorder), Some(recorded)) = (recorder, self.recorder.take()) {
            *recorder = recorded;
        }
        self.markup.videos = std::mem::take(&mut self.videos).resolved(&self.references);
        fold_into(&mut self.markup.title, &self.title);
        self.markup.cut |= self.references.is_full();
        self.markup
    }
}

pub(super) fn is_json_ld(tag: &Tag) -> bool {
    attribute(tag, &local_name!("type")).is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"))
}

fn is_preformatted(name: &LocalName) -> bool {
    matches!(*name, local_name!("pre") | local_name!("listing") | local_name!("xmp"))
}

/// Appends `text` with white space folded to single blanks, none at either end of the whole.
pub fn fold_into(folded: &mut String, text: &str) {
    let begins_apart = text.starts_with(char::is_whitespace);
    for (at, word) in text.split_whitespace().enumerate() {
        if !folded.is_empty() && (at > 0 || begins_apart) {
            folded.push(' ');
        }
        folded.push_str(word);
    }
}

pub fn attribute<'a>(tag: &'a Tag, name: &LocalName) -> Option<&'a str> {
    tag.attrs.iter().find(|attribute| attribute.name.local == *name).map(|attribute| &*attribute.value)
}
