//! Formulas: their TeX source between dollar signs, from MathJax scripts (`script type="math/tex"`) and from
//! annotations of MathML, where it replaces the text of the drawn formula, which has lost fractions and exponents.

use html5ever::local_name;
use html5ever::tokenizer::Tag;

use super::layout::MarkKind;
use super::markup::{MarkupBuilder, attribute};
use super::tokens::head;

/// Maximum bytes of a formula.
const FORMULA: usize = 4_000;

/// The formula that is read.
#[derive(Default)]
pub(super) struct Formula {
    drawn: Option<DrawnFormula>,
    /// TeX source, and the depth of its element.
    tex: Option<(usize, String)>,
}

/// MathML.
struct DrawnFormula {
    depth: usize,
    /// Text before its end or its first HTML element.
    shown: String,
    source: String,
}

impl MarkupBuilder {
    /// Begins a formula or its source, if the start tag does.
    pub(super) fn start_formula(&mut self, tag: &Tag, depth: usize) {
        let is = |name, value: &str| {
            attribute(tag, &name).is_some_and(|given| given.trim_start().to_ascii_lowercase().starts_with(value))
        };
        let is_script = tag.name == local_name!("script") && is(local_name!("type"), "math/tex");
        let is_annotation = &*tag.name == "annotation" && is(local_name!("encoding"), "application/x-tex");
        if &*tag.name == "math" && self.formula.drawn.is_none() {
            self.formula.drawn = Some(DrawnFormula { depth, shown: String::new(), source: String::new() });
        }
        if is_script || is_annotation {
            self.formula.tex = Some((depth, String::new()));
        }
    }

    /// Adds text to an open source.
    pub(super) fn add_to_source(&mut self, text: &str) {
        if let Some((_, tex)) = &mut self.formula.tex {
            tex.push_str(head(text, FORMULA.saturating_sub(tex.len())));
        }
    }

    /// Keeps the visible text of MathML until its source is known. Returns false outside of MathML.
    pub(super) fn keep_formula(&mut self, text: &str) -> bool {
        let drawn = self.formula.drawn.as_mut();
        drawn.map(|drawn| drawn.shown.push_str(text)).is_some()
    }

    /// An element ends at this depth.
    pub(super) fn end_formula(&mut self, depth: usize) {
        if let Some((_, tex)) = self.formula.tex.take_if(|(open, _)| *open == depth) {
            match &mut self.formula.drawn {
                Some(drawn) => drawn.source = tex,
                None => self.show_source(&tex),
            }
        }
        if self.formula.drawn.as_ref().is_some_and(|drawn| drawn.depth == depth) {
            self.show_formula();
        }
    }

    /// Adds the formula to the text; what follows in it is text as anywhere.
    pub(super) fn show_formula(&mut self) {
        let Some(drawn) = self.formula.drawn.take() else { return };
        if drawn.source.trim().is_empty() { self.show(&drawn.shown) } else { self.show_source(&drawn.source) }
    }

    fn show_source(&mut self, tex: &str) {
        if !tex.trim().is_empty() {
            let start = self.mark_start();
            self.show(&format!("${}$", tex.trim()));
            self.mark(start, MarkKind::Formula);
        }
    }
}
