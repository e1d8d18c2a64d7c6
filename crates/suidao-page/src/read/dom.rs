//! A response as a tree, built once: every reader of a page takes it.
//!
//! html5ever's tree builder makes the tree by the HTML standard (13.2.6, "Tree construction"), within the limits of
//! `gate`; `sink` stores it. Then the nodes are put in page order, each with the end of its subtree, so that a subtree is
//! a range and every walk is linear.

mod gate;
mod sink;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ops::Range;

use encoding_rs::{Encoding, UTF_8};
use html5ever::tokenizer::Tag;
use html5ever::{Namespace, local_name, ns};

pub use self::gate::DEPTH;
use self::gate::{Gate, NODES};
pub use self::sink::NodeContent;
use self::sink::{DOCUMENT, NONE, TreeNode};
use super::charset::{self, CharsetFrom};
use super::json_ld::{self, JsonLd};
use super::media::{self, MediaKind};
use super::tokens::tokenize;
use crate::model::{CrawlUrl, Defect, Fetched};

/// Index of a node in page order. 0 is the document.
pub type NodeId = usize;

/// The tree of a response, and how its bytes were decoded.
pub struct Dom<'a> {
    /// As a browser left it, if it was rendered.
    response: Cow<'a, Fetched>,
    /// None for what is neither HTML nor text.
    pub(super) kind: Option<MediaKind>,
    pub(super) charset: &'static str,
    pub(super) charset_from: CharsetFrom,
    /// Of decoding.
    pub(super) defects: Vec<Defect>,
    nodes: Vec<Node>,
    /// Nothing was beyond the limits.
    pub(super) complete: bool,
    json_ld: OnceCell<Vec<JsonLd>>,
}

struct Node {
    content: NodeContent,
    parent: u32,
    /// One past the last node of its subtree.
    end: u32,
}

/// A step of a walk in page order.
pub enum TreeStep<'a> {
    /// Start of an element, possibly SVG or MathML.
    Open(&'a Tag, &'a Namespace),
    /// End of an element. Every element ends, the innermost first.
    Close(&'a Tag),
    /// Unfolded text.
    Text(&'a str),
}

impl<'a> Dom<'a> {
    /// Decodes and parses a body: HTML, plain text (one text node), or what looks like HTML under an unknown media type.
    /// Anything else is empty. What is beyond the limits is left out.
    pub fn of(fetched: &'a Fetched) -> Self {
        let response = fetched.as_rendered();
        let mut nodes = vec![Node { content: NodeContent::Nothing, parent: 0, end: 1 }];
        let (mut complete, mut defects) = (true, Vec::new());
        let (mut charset, mut charset_from) = (UTF_8.name(), CharsetFrom::Default);
        let kind = media::kind(&response);
        if let Some(kind) = kind {
            let decoded = charset::decode(&response.body, response.content_type().as_deref());
            (charset, charset_from, defects) = (decoded.charset, decoded.from, decoded.defects);
            match kind {
                MediaKind::Html => complete = add_html(&mut nodes, &decoded.text),
                MediaKind::Plain => {
                    nodes.push(Node { content: NodeContent::Text((&*decoded.text).into()), parent: 0, end: 2 });
                }
            }
        }
        nodes[0].end = index(nodes.len());
        Self { response, kind, charset, charset_from, defects, nodes, complete, json_ld: OnceCell::new() }
    }

    /// The response that was read; its body is the rendered page, if there is one.
    pub fn response(&self) -> &Fetched {
        &self.response
    }

    pub fn url(&self) -> &CrawlUrl {
        &self.response.url
    }

    /// The charset of the page, in which browsers encode the queries of its links.
    pub fn encoding(&self) -> &'static Encoding {
        Encoding::for_label(self.charset.as_bytes()).unwrap_or(UTF_8)
    }

    pub fn is_html(&self) -> bool {
        self.kind == Some(MediaKind::Html)
    }

    /// Its scripts with JSON-LD, in page order.
    pub fn json_ld(&self) -> &[JsonLd] {
        self.json_ld.get_or_init(|| json_ld::scripts(self))
    }

    /// Number of nodes, the document included.
    #[allow(clippy::len_without_is_empty)] // the document is always there
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn content(&self, node: NodeId) -> &NodeContent {
        &self.nodes[node].content
    }

    /// The node and its descendants.
    pub fn subtree(&self, node: NodeId) -> Range<NodeId> {
        node..self.nodes[node].end as usize
    }

    /// Visits all nodes in page order.
    pub fn walk(&self, mut visit: impl FnMut(TreeStep<'_>)) {
        let mut open: Vec<(usize, &Tag)> = Vec::with_capacity(32);
        for (at, node) in self.nodes.iter().enumerate().skip(1) {
            while let Some((_, tag)) = open.pop_if(|(end, _)| *end <= at) {
                visit(TreeStep::Close(tag));
            }
            match &node.content {
                NodeContent::Nothing => {}
                NodeContent::Element(tag, namespace) => {
                    visit(TreeStep::Open(tag, namespace));
                    open.push((node.end as usize, tag));
                }
                NodeContent::Text(text) => visit(TreeStep::Text(text)),
            }
        }
        for (_, tag) in open.into_iter().rev() {
            visit(TreeStep::Close(tag));
        }
    }
}

#[allow(clippy::cast_possible_truncation)] // the gate lets through far fewer
fn index(node: usize) -> u32 {
    node as u32
}

/// Adds the nodes of a page under the document. Returns whether it is complete.
fn add_html(nodes: &mut Vec<Node>, html: &str) -> bool {
    let live = Cell::new(0);
    let (tree, whole) = tokenize(html, || Gate::new(&live)).into_tree();
    let mut complete = whole;
    append(nodes, tree, DOCUMENT, 0, Some(&mut |nodes, text, under| complete &= add_fallback(nodes, text, under)));
    complete
}

/// Adds the content of a `noscript`: the page is parsed as by a browser with scripts, for which it is text, so that it
/// cannot change the tree around it. Returns whether it is complete.
fn add_fallback(nodes: &mut Vec<Node>, html: &str, under: NodeId) -> bool {
    if nodes.len() > NODES {
        return false;
    }
    let live = Cell::new(0);
    let (tree, whole) = tokenize(html, || Gate::for_fallback(&live)).into_tree();
    let top = tree[DOCUMENT as usize].first;
    append(nodes, tree, top, under, None);
    whole
}

/// Reads the text of a `noscript`, which is this node.
type ReadFallback<'a> = dyn FnMut(&mut Vec<Node>, &str, NodeId) + 'a;

/// Moves what is below `top` of a tree under the node `under`, in page order. `fallback` gets the text and the node of
/// each `noscript`.
fn append(
    nodes: &mut Vec<Node>,
    mut tree: Vec<TreeNode>,
    top: u32,
    under: NodeId,
    mut fallback: Option<&mut ReadFallback>,
) {
    let Some(mut at) = tree.get(top as usize).map(|top| top.first).filter(|first| *first != NONE) else { return };
    let mut parent = under;
    loop {
        let own = &mut tree[at as usize];
        let first = own.first;
        let content = std::mem::replace(&mut own.what, NodeContent::Nothing);
        let id = nodes.len();
        let is_noscript = matches!(&content, NodeContent::Element(tag, namespace)
            if tag.name == local_name!("noscript") && *namespace == ns!(html));
        nodes.push(Node { content, parent: index(parent), end: index(id + 1) });
        if first != NONE {
            if let NodeContent::Text(text) = &tree[first as usize].what
                && let Some(fallback) = fallback.as_mut().filter(|_| is_noscript)
            {
                fallback(nodes, text, id);
                nodes[id].end = index(nodes.len());
            } else {
                (parent, at) = (id, first);
                continue;
            }
        }
        while tree[at as usize].next == NONE {
            if parent == under {
                return;
            }
            nodes[parent].end = index(nodes.len());
            (parent, at) = (nodes[parent].parent as usize, tree[at as usize].parent);
        }
        at = tree[at as usize].next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(html: &str) -> Fetched {
        Fetched::html(CrawlUrl::parse("http://a.cn/").expect("a URL"), html.to_owned())
    }

    /// The tree as text: an element as its name with its content in brackets.
    fn shape(html: &str) -> String {
        let (fetched, mut shape) = (page(html), String::new());
        Dom::of(&fetched).walk(|step| match step {
            TreeStep::Open(tag, _) => shape += &format!("{}(", tag.name),
            TreeStep::Close(_) => shape.push(')'),
            TreeStep::Text(text) => shape += text,
        });
        shape
    }

    #[test]
    fn the_tree_is_that_of_a_browser_and_ends_every_element() {
        assert_eq!(shape("<p>a<b>c<p>d"), "html(head()body(p(ab(c))p(b(d))))");
        assert_eq!(shape("<table>x<tr><td>y"), "html(head()body(xtable(tbody(tr(td(y))))))");
        assert_eq!(shape(""), "html(head()body())");
    }

    #[test]
    fn a_fallback_for_scripts_is_markup_that_changes_nothing_around_it() {
        assert_eq!(
            shape("<head><noscript><img><p>a</noscript><title>t</title></head>b"),
            "html(head(noscript(img()p(a))title(t))body(b))"
        );
        assert_eq!(shape("<p>a<noscript></p><div>b</noscript>c"), "html(head()body(p(anoscript(p()div(b))c)))");
        assert_eq!(shape("<noscript>a"), "html(head(noscript(a))body())");
    }

    #[test]
    fn a_subtree_is_a_range_and_contains_its_parents_range() {
        let fetched = page("<ul><li>a<li><b>c</b><noscript>d<i>e</i></noscript></ul><p>f");
        let dom = Dom::of(&fetched);
        for node in 1..dom.len() {
            let above = dom.subtree(dom.nodes[node].parent as usize);
            let own = dom.subtree(node);
            assert!(above.start < own.start && own.end <= above.end && !own.is_empty(), "{node}: {own:?} in {above:?}");
        }
        assert_eq!(dom.subtree(0), 0..dom.len());
    }

    /// The gate counts clones of html5ever's handles instead of open elements: this fails if html5ever clones less.
    #[test]
    fn the_depth_of_the_tree_is_bounded() {
        for tag in ["div", "b", "ul><li", "a", "table><tr><td", "svg><g", "noscript><b"] {
            let fetched = page(&format!("<{tag}>").repeat(4 * DEPTH));
            let (mut depth, mut deepest) = (0, 0);
            Dom::of(&fetched).walk(|step| {
                match step {
                    TreeStep::Open(..) => depth += 1,
                    TreeStep::Close(_) => depth -= 1,
                    TreeStep::Text(_) => {}
                }
                deepest = deepest.max(depth);
            });
            assert!((1..=DEPTH + 8).contains(&deepest), "{tag}: {deepest}");
            assert_eq!(depth, 0, "{tag}");
        }
        let fetched = page(&"<div>".repeat(4 * DEPTH));
        let dom = Dom::of(&fetched);
        let open = (0..dom.len()).filter(|&node| matches!(dom.content(node), NodeContent::Element(..))).count();
        assert!(open > DEPTH / 2, "ordinary depth is kept: {open}");
        assert!(!dom.complete);
    }
}
