//! Limits what the tokenizer passes to html5ever's tree builder.
//!
//! The tree builder has no limits, and some of its steps cost as much as there are open elements or unclosed formatting
//! elements (HTML standard, 13.2.4.3). So a start tag that would open too much is dropped, but not its text. Formatting
//! elements lose their attributes, because the tree builder keeps at most three equal ones.

use std::cell::Cell;

use html5ever::interface::{ElementFlags, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{RawKind, Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, QualName, local_name, ns};

use super::sink::{Handle, Sink, TreeNode};
use crate::read::names::is_void;

/// Open elements; real pages have fewer than a hundred.
pub const DEPTH: usize = 512;
/// Elements and runs of text per page.
pub(super) const NODES: usize = 1_000_000;
/// Attributes of an `a`: html5ever copies them into every block that the link extends to.
const LINK: usize = 16;
/// Elements per page that are markers for formatting elements, whose list grows if one is left open.
const BORDERS: usize = 200;

/// The tokenizer state after a start tag.
fn raw_kind(name: &LocalName) -> Option<RawKind> {
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

pub(super) struct Gate<'a> {
    builder: TreeBuilder<Handle<'a>, Sink<'a>>,
    live: &'a Cell<usize>,
    scripting: bool,
    /// Dropped elements that are still open.
    left_out: Cell<usize>,
    /// The current raw text belongs to one of them.
    raw: Cell<bool>,
    /// Start tags of marker elements.
    borders: Cell<usize>,
    cut: Cell<bool>,
}

impl<'a> Gate<'a> {
    /// For a page, parsed as by a browser that runs scripts.
    pub(super) fn new(live: &'a Cell<usize>) -> Self {
        live.set(0);
        Self::around(TreeBuilder::new(Sink::new(live), options(true)), live, true)
    }

    /// For the content of a `noscript`, parsed as by a browser that does not.
    pub(super) fn for_fallback(live: &'a Cell<usize>) -> Self {
        live.set(0);
        let sink = Sink::new(live);
        let name = QualName::new(None, ns!(html), local_name!("div"));
        let context = sink.create_element(name, Vec::new(), ElementFlags::default());
        Self::around(TreeBuilder::new_for_fragment(sink, context, None, options(false)), live, false)
    }

    fn around(builder: TreeBuilder<Handle<'a>, Sink<'a>>, live: &'a Cell<usize>, scripting: bool) -> Self {
        Self {
            builder,
            live,
            scripting,
            left_out: Cell::new(0),
            raw: Cell::new(false),
            borders: Cell::new(0),
            cut: Cell::new(false),
        }
    }

    /// The tree, and whether it is complete.
    pub(super) fn into_tree(self) -> (Vec<TreeNode>, bool) {
        (self.builder.sink.into_nodes(), !self.cut.get())
    }

    /// The tokenizer's result for a start tag that must be dropped; `None` if it may pass.
    fn leave_out(&self, tag: &Tag) -> Option<TokenSinkResult<Handle<'a>>> {
        let full = self.live.get() > DEPTH || self.builder.sink.len() > NODES;
        if !full && self.left_out.get() == 0 {
            return None;
        }
        self.cut.set(true);
        if is_void(&tag.name) {
            return (self.builder.sink.len() > NODES).then_some(TokenSinkResult::Continue);
        }
        self.left_out.set(self.left_out.get() + 1);
        let raw = raw_kind(&tag.name).or((self.scripting && tag.name == local_name!("noscript")).then_some(Rawtext));
        self.raw.set(raw.is_some());
        Some(raw.map_or(TokenSinkResult::Continue, TokenSinkResult::RawData))
    }

    /// Replaces a tag by what html5ever needs of it; the sink receives the original.
    fn change(&self, tag: &mut Tag) {
        let starts = tag.kind == TagKind::StartTag;
        let name = &tag.name;
        if *name == local_name!("a") {
            tag.attrs.truncate(LINK);
        } else if FORMATTING.contains(name) && starts && !tag.attrs.is_empty() {
            let seen = Tag { attrs: Vec::from_iter(font_attribute(tag)), ..bare(name.clone()) };
            self.builder.sink.expect(seen.name.clone(), std::mem::replace(tag, seen));
        } else if let Some(at) = BORDER.iter().position(|known| name == known) {
            self.borders.set(self.borders.get() + usize::from(starts));
            if self.borders.get() > BORDERS {
                let seen = Tag { kind: tag.kind, ..bare(LocalName::from(PLAIN[at])) };
                self.builder.sink.expect(seen.name.clone(), std::mem::replace(tag, seen));
            }
        }
    }
}

fn options(scripting_enabled: bool) -> TreeBuilderOpts {
    TreeBuilderOpts { scripting_enabled, drop_doctype: true, ..TreeBuilderOpts::default() }
}

/// The attribute (emptied) with which a `font` ends a drawing, if the tag has one.
fn font_attribute(tag: &Tag) -> Option<Attribute> {
    let is_style = |name: &LocalName| matches!(*name, local_name!("color") | local_name!("face") | local_name!("size"));
    let is_font = tag.name == local_name!("font") && tag.attrs.iter().any(|attribute| is_style(&attribute.name.local));
    let name = QualName::new(None, ns!(), local_name!("color"));
    is_font.then(|| Attribute { name, value: StrTendril::new() })
}

fn bare(name: LocalName) -> Tag {
    Tag { kind: TagKind::StartTag, name, self_closing: false, attrs: Vec::new(), had_duplicate_attributes: false }
}

/// Formatting elements, which html5ever reopens in later blocks if they are not closed.
static FORMATTING: [LocalName; 13] = [
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
/// Elements that bound formatting elements, and replacement names without meaning to html5ever.
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
                        self.left_out.set(self.left_out.get() - usize::from(!is_void(&tag.name)));
                        return TokenSinkResult::Continue;
                    }
                } else if let Some(response) = self.leave_out(&tag) {
                    return response;
                }
                self.change(&mut tag);
                Token::TagToken(tag)
            }
            other => other,
        };
        let response = self.builder.process_token(token, line);
        self.builder.sink.expect_no_more();
        match response {
            // Scripts are not run, and the charset is known.
            TokenSinkResult::Script(_) | TokenSinkResult::EncodingIndicator(_) => TokenSinkResult::Continue,
            response => response,
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
