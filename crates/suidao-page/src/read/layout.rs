//! What Markdown shows beyond blocks and links: code, formulas, images and the elements around a block. Recorded only
//! for an export as Markdown.

use std::ops::Range;

use html5ever::local_name;
use html5ever::tokenizer::Tag;
use rustc_hash::FxHashMap;

use super::markdown::image;
use super::markup::{BlockStats, Element, MarkupBuilder, attribute};

/// Maximum marks per page.
const MARKS: usize = 20_000;
/// Maximum bytes of the alternative text of an image.
const ALT: usize = 1_000;
/// Where lazy loading keeps the image; `src` is then a placeholder.
const SOURCES: [&str; 4] = ["data-original", "data-src", "data-lazy-src", "src"];

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) elements: Vec<Element>,
    /// Element of each block, the title (block 0) included.
    pub(super) element_of: Vec<u32>,
    /// By start.
    pub(super) marks: Vec<Mark>,
    /// Programming languages that classes name, by element.
    pub(super) languages: FxHashMap<u32, String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    /// Bytes of the document's text; empty for an image.
    pub(super) text: Range<usize>,
    /// The block that it is in or before.
    pub(super) block: usize,
    /// It is inside the block, not only before it.
    pub(super) inside: bool,
    pub(super) element: u32,
    pub(super) kind: MarkKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum MarkKind {
    Code,
    /// The sign with which a heading links to itself.
    Permalink,
    Formula,
    /// In Markdown.
    Image(String),
}

/// Marks being recorded.
#[derive(Default)]
pub(super) struct Recorder {
    marks: Vec<Mark>,
    languages: FxHashMap<u32, String>,
    /// The open element to mark: its depth and where its text begins.
    open: Option<(usize, usize, MarkKind)>,
}

impl MarkupBuilder {
    /// Where text that is to be marked begins.
    pub(super) fn mark_start(&self) -> usize {
        self.markup.document.text.len()
    }

    pub(super) fn mark(&mut self, start: usize, kind: MarkKind) {
        let (element, end) = (self.element(), self.markup.document.text.len());
        let (block, inside) = (self.block.unwrap_or(self.markup.document.blocks.len()), self.block.is_some());
        if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.marks.len() < MARKS) {
            recorder.marks.push(Mark { text: start..end, block, inside, element, kind });
        }
    }

    /// An element began, at this depth.
    pub(super) fn record_start(&mut self, tag: &Tag, depth: usize) {
        let (element, start, pre) = (self.element(), self.mark_start(), self.pre.is_some());
        let Some(recorder) = &mut self.recorder else { return };
        let is_code = matches!(&*tag.name, "code" | "kbd" | "samp" | "tt");
        let is_permalink = tag.name == local_name!("a")
            && attribute(tag, &local_name!("href")).is_some_and(|href| href.starts_with('#'));
        if (is_code && !pre || is_permalink) && recorder.open.is_none() {
            recorder.open = Some((depth, start, if is_code { MarkKind::Code } else { MarkKind::Permalink }));
        }
        if let (true, Some(language)) = (is_code || matches!(&*tag.name, "pre" | "div"), language(tag)) {
            recorder.languages.entry(element).or_insert_with(|| language.to_owned());
        }
    }

    /// The element at this depth ends; its block is still open.
    pub(super) fn record_end(&mut self, depth: usize) {
        let Some(recorder) = &mut self.recorder else { return };
        if let Some((_, start, kind)) = recorder.open.take_if(|(open, ..)| *open == depth)
            && (kind == MarkKind::Code || matches!(self.markup.document.text[start..].trim(), "#" | "¶" | "§"))
        {
            self.mark(start, kind);
        }
    }

    /// An image with a text. If its class is that of formulas, the text is the source of the formula.
    pub(super) fn record_image(&mut self, tag: &Tag) {
        let Some(alt) = attribute(tag, &local_name!("alt")).map(str::trim).filter(|alt| !alt.is_empty()) else {
            return;
        };
        if self.recorder.is_none() || alt.len() > ALT || self.hidden.is_some() {
            return;
        }
        let class = attribute(tag, &local_name!("class")).unwrap_or_default();
        let source = SOURCES.iter().find_map(|name| {
            let value = tag.attrs.iter().find(|attribute| &*attribute.name.local == *name)?;
            Some(&*value.value).filter(|value| !value.trim().is_empty() && !value.trim_start().starts_with("data:"))
        });
        let is_formula = ["tex", "latex", "math", "equation", "eeimg"].iter().any(|word| class.contains(word))
            || source.is_some_and(|source| source.contains("/equation?tex="));
        let url = if is_formula { None } else { source.and_then(|source| self.references.resolve(source)) };
        self.mark(self.mark_start(), MarkKind::Image(image(alt, url.as_ref(), is_formula)));
    }
}

/// The programming language that a class names.
fn language(tag: &Tag) -> Option<&str> {
    let classes = attribute(tag, &local_name!("class"))?.split_ascii_whitespace();
    let named = |class: &'_ str| {
        let at = ["language-", "lang-", "highlight-source-"]
            .iter()
            .find_map(|prefix| class.starts_with(prefix).then_some(prefix.len()))?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_');
        (class.len() > at && class.len() < at + 24 && class[at..].chars().all(is_name)).then_some(at)
    };
    classes.take(12).find_map(|class| named(class).map(|at| &class[at..]))
}

impl Layout {
    /// What was recorded of a page whose document gets its title as block 0.
    pub(super) fn of(recorder: Recorder, elements: Vec<Element>, block_stats: &[BlockStats], title: &str) -> Self {
        let (shift, first) = (title.len(), usize::from(!title.is_empty()));
        let mut marks = recorder.marks;
        for mark in &mut marks {
            mark.text = mark.text.start + shift..mark.text.end + shift;
            mark.block += first;
        }
        marks.sort_by_key(|mark| (mark.block, mark.text.start, mark.text.end));
        let of_blocks = block_stats.iter().map(|stats| stats.element);
        Self {
            elements,
            element_of: std::iter::repeat_n(0, first).chain(of_blocks).collect(),
            marks,
            languages: recorder.languages,
        }
    }
}
