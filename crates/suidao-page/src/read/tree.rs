//! The tree of a page as the HTML standard says (13.2.6, "Tree construction"), walked in document order.
//!
//! html5ever's tree builder makes the tree (`sink` holds it), within the bounds that `gate` keeps.

mod gate;
mod sink;

use std::cell::Cell;

use html5ever::Namespace;
use html5ever::tokenizer::Tag;

pub use self::gate::DEPTH;
use self::gate::Gate;
use self::sink::{DOCUMENT, NONE, NodeContent};
use super::tokens::tokenize;

/// One step through a page.
pub enum TreeStep<'a> {
    /// An element begins. It may be one of SVG or MathML.
    Open(&'a Tag, &'a Namespace),
    /// It ends. Every element ends, the innermost first.
    Close(&'a Tag),
    /// Text as it stands on the page.
    Text(&'a str),
}

/// Reads a page and walks it in document order; says whether all of it was read. `scripting`: as a browser that runs
/// scripts does, for which what `noscript` holds is no markup.
pub fn walk(html: &str, scripting: bool, mut visit: impl FnMut(TreeStep<'_>)) -> bool {
    let live = Cell::new(0);
    let (tree, whole) = tokenize(html, || Gate::new(&live, scripting)).into_tree();
    let mut at = DOCUMENT;
    loop {
        let node = &tree[at as usize];
        match &node.what {
            NodeContent::Nothing => {}
            NodeContent::Element(tag, ns) => visit(TreeStep::Open(tag, ns)),
            NodeContent::Text(text) => visit(TreeStep::Text(text)),
        }
        if node.first != NONE {
            at = node.first;
            continue;
        }
        loop {
            let node = &tree[at as usize];
            if let NodeContent::Element(tag, _) = &node.what {
                visit(TreeStep::Close(tag));
            }
            if at == DOCUMENT {
                return whole;
            }
            if node.next != NONE {
                at = node.next;
                break;
            }
            at = node.parent;
        }
    }
}
