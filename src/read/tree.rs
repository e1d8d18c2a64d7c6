//! The tree of a page as the HTML standard says (13.2.6, "Tree construction"), built by html5ever, and walked in document order.
//!
//! Apart because two readers walk it, the one of text (`markup`) and the one of a forum's records, and because of one defence.
//! html5ever has no bounds, and some of its steps cost as much as there are open elements, or formatting elements that were
//! left open. So a gate stands before it. A tag that would open too much is left out, its text is not. Elements that only say how
//! text looks reach html5ever without their attributes: of those that are alike it keeps three.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{RawKind, Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{ElemName, TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};

use super::tokens::tokenize;

/// Elements open at a time; real pages have fewer than a hundred.
pub(crate) const DEPTH: usize = 512;
/// Elements and runs of text of one page.
const NODES: usize = 1_000_000;
/// Attributes of an `a` that are kept: html5ever copies it into every block that it goes on in.
const LINK: usize = 16;
/// Attributes of the root and of the body, which may be written several times.
const ROOT: usize = 32;
/// Elements of one page that are a border to formatting elements: the list of these grows by one where such an element is left open.
const BORDERS: usize = 200;

/// One step through a page.
pub(crate) enum Step<'a> {
    /// An element begins. It may be one of SVG or MathML.
    Open(&'a Tag, &'a Namespace),
    /// It ends. Every element ends, the innermost first.
    Close(&'a Tag),
    /// Text as it stands on the page.
    Text(&'a str),
}

/// Reads a page and walks it in document order; says whether all of it was read. `scripting`: as a browser that runs
/// scripts does, for which what `noscript` holds is no markup.
pub(crate) fn walk(html: &str, scripting: bool, mut visit: impl FnMut(Step<'_>)) -> bool {
    let live = Cell::new(0);
    let gate = tokenize(html, || {
        live.set(0);
        Gate::new(&live, scripting)
    });
    let tree = gate.builder.sink.nodes.into_inner();
    let mut at = ROOT_NODE;
    loop {
        let node = &tree[at as usize];
        match &node.what {
            What::Nothing => {}
            What::Element(tag, ns) => visit(Step::Open(tag, ns)),
            What::Text(text) => visit(Step::Text(text)),
        }
        if node.first != NONE {
            at = node.first;
            continue;
        }
        loop {
            let node = &tree[at as usize];
            if let What::Element(tag, _) = &node.what {
                visit(Step::Close(tag));
            }
            if at == ROOT_NODE {
                return !gate.cut.get();
            }
            if node.next != NONE {
                at = node.next;
                break;
            }
            at = node.parent;
        }
    }
}

/// How the tokenizer is to read what follows a start tag.
pub(crate) fn raw_kind(name: &LocalName) -> Option<RawKind> {
    match *name {
        local_name!("script") => Some(ScriptData),
        local_name!("title") | local_name!("textarea") => Some(Rcdata),
        local_name!("style")
        | local_name!("xmp")
        | local_name!("iframe")
        | local_name!("noembed")
        | local_name!("noframes") => Some(Rawtext),
        _ => None,
    }
}

const NONE: u32 = u32::MAX;
/// The document.
const ROOT_NODE: u32 = 0;
/// What is not walked: comments, and above what templates hold.
const UNSEEN: u32 = 1;

/// An element or a run of text, and its neighbours.
struct Node {
    what: What,
    parent: u32,
    first: u32,
    last: u32,
    previous: u32,
    next: u32,
}

enum What {
    /// The document, a comment, or what a template holds.
    Nothing,
    Element(Tag, Namespace),
    Text(StrTendril),
}

/// What html5ever knows an element by. Its clones are counted: they are the open elements, and few more.
struct Handle<'a> {
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

/// Stands between the tokenizer and html5ever's tree builder, and keeps the second within bounds.
struct Gate<'a> {
    builder: TreeBuilder<Handle<'a>, Sink<'a>>,
    live: &'a Cell<usize>,
    scripting: bool,
    /// Elements that were left out and have not ended.
    left_out: Cell<usize>,
    /// What is read is the raw text of one of them.
    raw: Cell<bool>,
    borders: Cell<usize>,
    cut: Cell<bool>,
}

impl<'a> Gate<'a> {
    fn new(live: &'a Cell<usize>, scripting: bool) -> Self {
        let options =
            TreeBuilderOpts { scripting_enabled: scripting, drop_doctype: true, ..TreeBuilderOpts::default() };
        let node = || Node { what: What::Nothing, parent: NONE, first: NONE, last: NONE, previous: NONE, next: NONE };
        let sink = Sink { nodes: RefCell::new(vec![node(), node()]), attributes: RefCell::new(None), live };
        Self {
            builder: TreeBuilder::new(sink, options),
            live,
            scripting,
            left_out: Cell::new(0),
            raw: Cell::new(false),
            borders: Cell::new(0),
            cut: Cell::new(false),
        }
    }

    /// A start tag that would open too much; none if it may pass.
    fn leave_out(&self, tag: &Tag) -> Option<TokenSinkResult<Handle<'a>>> {
        let full = self.live.get() > DEPTH || self.builder.sink.nodes.borrow().len() > NODES;
        if !full && self.left_out.get() == 0 {
            return None;
        }
        self.cut.set(true);
        if super::names::is_void(&tag.name) {
            return (self.builder.sink.nodes.borrow().len() > NODES).then_some(TokenSinkResult::Continue);
        }
        self.left_out.set(self.left_out.get() + 1);
        let raw = raw_kind(&tag.name).or((self.scripting && tag.name == local_name!("noscript")).then_some(Rawtext));
        self.raw.set(raw.is_some());
        Some(raw.map_or(TokenSinkResult::Continue, TokenSinkResult::RawData))
    }

    /// Changes a tag into what html5ever is to see of it.
    fn change(&self, tag: &mut Tag) {
        let starts = tag.kind == TagKind::StartTag;
        match tag.name {
            local_name!("a") => tag.attrs.truncate(LINK),
            ref name if LOOKS.contains(name) && starts && !tag.attrs.is_empty() => {
                let attrs = std::mem::take(&mut tag.attrs);
                // In a drawing `font` is the HTML element only with one of these.
                let says = |name: &LocalName| {
                    matches!(*name, local_name!("color") | local_name!("face") | local_name!("size"))
                };
                if tag.name == local_name!("font") && attrs.iter().any(|attribute| says(&attribute.name.local)) {
                    let name = QualName::new(None, ns!(), local_name!("color"));
                    tag.attrs.push(Attribute { name, value: StrTendril::new() });
                }
                *self.builder.sink.attributes.borrow_mut() = Some((tag.name.clone(), attrs));
            }
            ref name => {
                if let Some(at) = BORDER.iter().position(|known| name == known) {
                    self.borders.set(self.borders.get() + usize::from(starts));
                    if self.borders.get() > BORDERS {
                        tag.name = LocalName::from(PLAIN[at]);
                    }
                }
            }
        }
    }
}

/// Elements that say how text looks, which html5ever opens again in later blocks where they were left open.
static LOOKS: [LocalName; 13] = [
    local_name!("b"),
    local_name!("big"),
    local_name!("code"),
    local_name!("em"),
    local_name!("font"),
    local_name!("i"),
    local_name!("nobr"),
    local_name!("s"),
    local_name!("small"),
    local_name!("strike"),
    local_name!("strong"),
    local_name!("tt"),
    local_name!("u"),
];
/// Elements that formatting elements do not go on beyond, and names for them that mean nothing to html5ever.
static BORDER: [LocalName; 4] =
    [local_name!("applet"), local_name!("marquee"), local_name!("object"), local_name!("template")];
const PLAIN: [&str; 4] = ["=applet", "=marque", "=object", "=templa"];

impl<'a> TokenSink for Gate<'a> {
    type Handle = Handle<'a>;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle<'a>> {
        let token = match token {
            Token::ParseError(_) | Token::CommentToken(_) => return TokenSinkResult::Continue,
            Token::CharacterTokens(_) | Token::NullCharacterToken if self.raw.get() => {
                return TokenSinkResult::Continue;
            }
            Token::TagToken(mut tag) => {
                if tag.kind == TagKind::EndTag {
                    self.raw.set(false);
                    if self.left_out.get() > 0 {
                        self.left_out.set(self.left_out.get() - usize::from(!super::names::is_void(&tag.name)));
                        return TokenSinkResult::Continue;
                    }
                } else if let Some(answer) = self.leave_out(&tag) {
                    return answer;
                }
                self.change(&mut tag);
                Token::TagToken(tag)
            }
            other => other,
        };
        let answer = self.builder.process_token(token, line);
        self.builder.sink.attributes.replace(None);
        match answer {
            // Nothing is run, and the charset is known.
            TokenSinkResult::Script(_) | TokenSinkResult::EncodingIndicator(_) => TokenSinkResult::Continue,
            answer => answer,
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Where html5ever puts what it makes.
struct Sink<'a> {
    nodes: RefCell<Vec<Node>>,
    /// What was taken from the tag that is on its way.
    attributes: RefCell<Option<(LocalName, Vec<Attribute>)>>,
    live: &'a Cell<usize>,
}

impl<'a> Sink<'a> {
    #[allow(clippy::cast_possible_truncation)] // the gate lets through far fewer
    fn add(&self, what: What) -> u32 {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { what, parent: NONE, first: NONE, last: NONE, previous: NONE, next: NONE });
        (nodes.len() - 1) as u32
    }

    /// Puts something below `parent`, before `next` or at the end. Text joins the text before it.
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
                    && let What::Text(before) = &mut self.nodes.borrow_mut()[previous as usize].what
                {
                    return before.push_tendril(&text);
                }
                self.add(What::Text(text))
            }
        };
        self.cut_off(child);
        let nodes = &mut *self.nodes.borrow_mut();
        let own = &mut nodes[child as usize];
        (own.parent, own.previous, own.next) = (parent, previous, next);
        match previous {
            NONE => nodes[parent as usize].first = child,
            previous => nodes[previous as usize].next = child,
        }
        match next {
            NONE => nodes[parent as usize].last = child,
            next => nodes[next as usize].previous = child,
        }
    }

    /// Takes something out of the tree.
    fn cut_off(&self, node: u32) {
        let nodes = &mut *self.nodes.borrow_mut();
        let own = &mut nodes[node as usize];
        let (parent, previous, next) = (own.parent, own.previous, own.next);
        if parent == NONE {
            return;
        }
        (own.parent, own.previous, own.next) = (NONE, NONE, NONE);
        match previous {
            NONE => nodes[parent as usize].first = next,
            previous => nodes[previous as usize].next = next,
        }
        match next {
            NONE => nodes[parent as usize].last = previous,
            next => nodes[next as usize].previous = previous,
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
        self.handle(ROOT_NODE, QualName::new(None, ns!(), local_name!("")))
    }

    fn elem_name<'b>(&'b self, target: &'b Handle<'a>) -> &'b Handle<'a> {
        target
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _flags: ElementFlags) -> Handle<'a> {
        let mut attributes = self.attributes.borrow_mut();
        let attrs = match attributes.take() {
            Some((of, own)) if of == name.local => own,
            other => {
                *attributes = other;
                attrs
            }
        };
        let named = PLAIN.iter().position(|&plain| *plain == *name.local).map(|at| BORDER[at].clone());
        let tag = Tag {
            kind: TagKind::StartTag,
            name: named.unwrap_or_else(|| name.local.clone()),
            self_closing: false,
            attrs,
            had_duplicate_attributes: false,
        };
        let node = self.add(What::Element(tag, name.ns.clone()));
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
        if let What::Element(tag, _) = &mut self.nodes.borrow_mut()[target.node as usize].what {
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
        match before {
            NONE => nodes[to as usize].first = first,
            before => nodes[before as usize].next = first,
        }
        nodes[to as usize].last = last;
        let mut at = first;
        while at != NONE {
            nodes[at as usize].parent = to;
            at = nodes[at as usize].next;
        }
    }
}
