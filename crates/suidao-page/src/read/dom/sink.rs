//! The output of html5ever's tree builder: all nodes in one vector, linked by indices.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind};
use html5ever::tree_builder::ElemName;
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};

/// Maximum attributes of root and body, which several tags may add to.
const ROOT: usize = 32;

/// No node.
pub(super) const NONE: u32 = u32::MAX;
pub(super) const DOCUMENT: u32 = 0;
/// Parent of what is not walked: comments and templates.
const UNSEEN: u32 = 1;

/// An element or text, and its neighbours.
pub(super) struct TreeNode {
    pub(super) what: NodeContent,
    pub(super) parent: u32,
    pub(super) first: u32,
    last: u32,
    previous: u32,
    pub(super) next: u32,
}

impl TreeNode {
    fn new(what: NodeContent) -> Self {
        Self { what, parent: NONE, first: NONE, last: NONE, previous: NONE, next: NONE }
    }
}

/// What a node is.
pub enum NodeContent {
    /// The document.
    Nothing,
    Element(Tag, Namespace),
    Text(StrTendril),
}

/// html5ever's reference to an element. The number of clones is about that of the open elements.
pub(super) struct Handle<'a> {
    node: u32,
    ns: Namespace,
    local: LocalName,
    live: &'a Cell<usize>,
}

impl<'a> Handle<'a> {
    fn new(node: u32, ns: Namespace, local: LocalName, live: &'a Cell<usize>) -> Self {
        live.set(live.get() + 1);
        Self { node, ns, local, live }
    }
}

impl Clone for Handle<'_> {
    fn clone(&self) -> Self {
        Self::new(self.node, self.ns.clone(), self.local.clone(), self.live)
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        self.live.set(self.live.get().saturating_sub(1));
    }
}

impl std::fmt::Debug for Handle<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.local)
    }
}

impl ElemName for &Handle<'_> {
    fn ns(&self) -> &Namespace {
        &self.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.local
    }
}

pub(super) struct Sink<'a> {
    nodes: RefCell<Vec<TreeNode>>,
    /// The replacement name of the next element, and its original tag.
    expected: RefCell<Option<(LocalName, Tag)>>,
    live: &'a Cell<usize>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(live: &'a Cell<usize>) -> Self {
        let nodes = vec![TreeNode::new(NodeContent::Nothing), TreeNode::new(NodeContent::Nothing)];
        Self { nodes: RefCell::new(nodes), expected: RefCell::new(None), live }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.borrow().len()
    }

    pub(super) fn into_nodes(self) -> Vec<TreeNode> {
        self.nodes.into_inner()
    }

    /// Announces that the next element of this name replaces `tag`.
    pub(super) fn expect(&self, name: LocalName, tag: Tag) {
        self.expected.replace(Some((name, tag)));
    }

    pub(super) fn expect_no_more(&self) {
        self.expected.replace(None);
    }

    #[allow(clippy::cast_possible_truncation)] // the gate lets through far fewer
    fn add(&self, what: NodeContent) -> u32 {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(TreeNode::new(what));
        (nodes.len() - 1) as u32
    }

    /// Inserts under `parent`, before `next` or at the end. Adjacent texts are joined.
    fn insert(&self, parent: u32, next: u32, child: NodeOrText<Handle<'a>>) {
        let previous = {
            let nodes = &mut *self.nodes.borrow_mut();
            if next == NONE { nodes[parent as usize].last } else { nodes[next as usize].previous }
        };
        let child = match child {
            NodeOrText::AppendNode(handle) if handle.node == UNSEEN => return,
            NodeOrText::AppendNode(handle) => handle.node,
            NodeOrText::AppendText(text) => {
                if previous != NONE
                    && let NodeContent::Text(before) = &mut self.nodes.borrow_mut()[previous as usize].what
                {
                    return before.push_tendril(&text);
                }
                self.add(NodeContent::Text(text))
            }
        };
        self.cut_off(child);
        let nodes = &mut *self.nodes.borrow_mut();
        let own = &mut nodes[child as usize];
        (own.parent, own.previous, own.next) = (parent, previous, next);
        join(nodes, parent, (previous, child), (child, next));
    }

    /// Detaches a node.
    fn cut_off(&self, node: u32) {
        let nodes = &mut *self.nodes.borrow_mut();
        let own = &mut nodes[node as usize];
        let (parent, previous, next) = (own.parent, own.previous, own.next);
        if parent != NONE {
            (own.parent, own.previous, own.next) = (NONE, NONE, NONE);
            join(nodes, parent, (previous, next), (previous, next));
        }
    }

    fn handle(&self, node: u32, name: QualName) -> Handle<'a> {
        Handle::new(node, name.ns, name.local, self.live)
    }

    fn parent(&self, handle: &Handle<'a>) -> u32 {
        self.nodes.borrow()[handle.node as usize].parent
    }
}

impl<'a> TreeSink for Sink<'a> {
    type Handle = Handle<'a>;
    type Output = ();
    type ElemName<'b>
        = &'b Handle<'a>
    where
        Self: 'b;

    fn finish(self) {}

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> Handle<'a> {
        self.handle(DOCUMENT, QualName::new(None, ns!(), local_name!("")))
    }

    fn elem_name<'b>(&'b self, target: &'b Handle<'a>) -> &'b Handle<'a> {
        target
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _flags: ElementFlags) -> Handle<'a> {
        let expected = self.expected.borrow_mut().take_if(|(expected, _)| *expected == name.local);
        let tag = expected.map_or_else(|| start_tag(name.local.clone(), attrs), |(_, tag)| tag);
        let node = self.add(NodeContent::Element(tag, name.ns.clone()));
        self.handle(node, name)
    }

    fn create_comment(&self, _text: StrTendril) -> Handle<'a> {
        self.handle(UNSEEN, QualName::new(None, ns!(), local_name!("")))
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> Handle<'a> {
        self.create_comment(StrTendril::new())
    }

    fn append(&self, parent: &Handle<'a>, child: NodeOrText<Handle<'a>>) {
        self.insert(parent.node, NONE, child);
    }

    fn append_before_sibling(&self, sibling: &Handle<'a>, child: NodeOrText<Handle<'a>>) {
        self.insert(self.parent(sibling), sibling.node, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle<'a>, previous: &Handle<'a>, child: NodeOrText<Handle<'a>>) {
        if self.parent(element) == NONE {
            self.append(previous, child);
        } else {
            self.append_before_sibling(element, child);
        }
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public: StrTendril, _system: StrTendril) {}

    fn get_template_contents(&self, _target: &Handle<'a>) -> Handle<'a> {
        self.handle(UNSEEN, QualName::new(None, ns!(), local_name!("")))
    }

    fn same_node(&self, one: &Handle<'a>, other: &Handle<'a>) -> bool {
        one.node == other.node
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn add_attrs_if_missing(&self, target: &Handle<'a>, attributes: Vec<Attribute>) {
        if let NodeContent::Element(tag, _) = &mut self.nodes.borrow_mut()[target.node as usize].what {
            for attribute in attributes.into_iter().take(ROOT) {
                if tag.attrs.len() < ROOT && tag.attrs.iter().all(|known| known.name != attribute.name) {
                    tag.attrs.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle<'a>) {
        self.cut_off(target.node);
    }

    fn reparent_children(&self, from: &Handle<'a>, to: &Handle<'a>) {
        let (from, to) = (from.node as usize, to.node);
        let nodes = &mut *self.nodes.borrow_mut();
        let (first, last) = (nodes[from].first, nodes[from].last);
        if first == NONE {
            return;
        }
        (nodes[from].first, nodes[from].last) = (NONE, NONE);
        let before = nodes[to as usize].last;
        nodes[first as usize].previous = before;
        join(nodes, to, (before, first), (last, NONE));
        let mut at = first;
        while at != NONE {
            nodes[at as usize].parent = to;
            at = nodes[at as usize].next;
        }
    }
}

/// Links the neighbours under `parent`: `after` follows `previous`, and `before` precedes `next`. `parent` as a
/// neighbour means none.
fn join(nodes: &mut [TreeNode], parent: u32, (previous, after): (u32, u32), (before, next): (u32, u32)) {
    match previous {
        NONE => nodes[parent as usize].first = after,
        previous => nodes[previous as usize].next = after,
    }
    match next {
        NONE => nodes[parent as usize].last = before,
        next => nodes[next as usize].previous = before,
    }
}

fn start_tag(name: LocalName, attrs: Vec<Attribute>) -> Tag {
    Tag { kind: TagKind::StartTag, name, self_closing: false, attrs, had_duplicate_attributes: false }
}
