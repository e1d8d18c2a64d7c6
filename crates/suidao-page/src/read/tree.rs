//! Builds the tree of a page by the HTML standard (13.2.6, "Tree construction") and walks it in document order.
//! html5ever's tree builder makes the tree (in `sink`), within the limits of `gate`.

mod gate;
mod sink;

use std::cell::Cell;

use html5ever::Namespace;
use html5ever::tokenizer::Tag;

pub use self::gate::DEPTH;
use self::gate::Gate;
use self::sink::{DOCUMENT, NONE, NodeContent};
use super::tokens::tokenize;

pub enum TreeStep<'a> {
    /// Start of an element, possibly SVG or MathML.
    Open(&'a Tag, &'a Namespace),
    /// End of an element. Every element ends, the innermost first.
    Close(&'a Tag),
    /// Unfolded text.
    Text(&'a str),
}

/// Walks a page in document order; returns whether it is complete. With `scripting`, `noscript` contains text instead
/// of markup, as in a browser that runs scripts.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The gate counts clones of html5ever's handles instead of open elements: this fails if html5ever clones less.
    #[test]
    fn the_depth_of_the_tree_is_bounded() {
        for tag in ["div", "b", "ul><li", "a", "table><tr><td", "svg><g"] {
            let page = format!("<{tag}>").repeat(4 * DEPTH);
            let (mut depth, mut deepest) = (0, 0);
            walk(&page, false, |step| {
                match step {
                    TreeStep::Open(..) => depth += 1,
                    TreeStep::Close(_) => depth -= 1,
                    TreeStep::Text(_) => {}
                }
                deepest = deepest.max(depth);
            });
            assert!((1..=DEPTH + 8).contains(&deepest), "{tag}: {deepest}");
        }
        let page = "<div>".repeat(4 * DEPTH);
        let mut open = 0;
        walk(&page, false, |step| open += usize::from(matches!(step, TreeStep::Open(..))));
        assert!(open > DEPTH / 2, "ordinary depth is kept: {open}");
    }
}
