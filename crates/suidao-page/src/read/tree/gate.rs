//! What stands between the tokenizer and html5ever's tree builder, and keeps the second within bounds.
//!
//! The tree builder has no bounds, and some of its steps cost as much as there are open elements, or formatting
//! elements that were left open (HTML standard, 13.2.4.3). So a start tag that would open too much is left out; its
//! text is not. Elements that only say how text looks are given to the tree builder without their attributes, because
//! of those that are alike it keeps three.

use std::cell::Cell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{RawKind, Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, QualName, local_name, ns};

use super::sink::{Handle, Sink, TreeNode};
use crate::read::names::is_void;

/// Open elements; real pages have fewer than a hundred.
pub const DEPTH: usize = 512;
/// Elements and runs of text of one page.
const NODES: usize = 1_000_000;
/// Attributes of an `a` that are kept: html5ever copies them into every block that the link goes on in.
const LINK: usize = 16;
/// Elements of one page that are a border to formatting elements: their list grows by one where such an element is left open.
const BORDERS: usize = 200;

/// How the tokenizer is to read what follows a start tag.
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

/// Stands between the tokenizer and html5ever's tree builder, and keeps the second within bounds.
pub(super) struct Gate<'a> {
    builder: TreeBuilder<Handle<'a>, Sink<'a>>,
    live: &'a Cell<usize>,
    scripting: bool,
    /// Elements that were left out and have not ended.
    left_out: Cell<usize>,
    /// What is read is the raw text of one of them.
    raw: Cell<bool>,
    /// Start tags of elements that are a border.
    borders: Cell<usize>,
    /// Something was left out.
    cut: Cell<bool>,
}

impl<'a> Gate<'a> {
    pub(super) fn new(live: &'a Cell<usize>, scripting: bool) -> Self {
        let options =
            TreeBuilderOpts { scripting_enabled: scripting, drop_doctype: true, ..TreeBuilderOpts::default() };
        live.set(0);
        Self {
            builder: TreeBuilder::new(Sink::new(live), options),
            live,
            scripting,
            left_out: Cell::new(0),
            raw: Cell::new(false),
            borders: Cell::new(0),
            cut: Cell::new(false),
        }
    }

    /// The tree, and whether all of the page is in it.
    pub(super) fn into_tree(self) -> (Vec<TreeNode>, bool) {
        (self.builder.sink.into_nodes(), !self.cut.get())
    }

    /// What the tokenizer is answered to a start tag that is left out because too much is open; none if it may pass.
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

    /// Changes a start or end tag into what html5ever is to see of it; the sink is told what it stands for.
    fn change(&self, tag: &mut Tag) {
        let starts = tag.kind == TagKind::StartTag;
        let name = &tag.name;
        if *name == local_name!("a") {
            tag.attrs.truncate(LINK);
        } else if LOOKS.contains(name) && starts && !tag.attrs.is_empty() {
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

/// The attribute by which a `font` inside a drawing ends the drawing, empty, if the tag has one.
fn font_attribute(tag: &Tag) -> Option<Attribute> {
    let says = |name: &LocalName| matches!(*name, local_name!("color") | local_name!("face") | local_name!("size"));
    let is_font = tag.name == local_name!("font") && tag.attrs.iter().any(|attribute| says(&attribute.name.local));
    let name = QualName::new(None, ns!(), local_name!("color"));
    is_font.then(|| Attribute { name, value: StrTendril::new() })
}

fn bare(name: LocalName) -> Tag {
    Tag { kind: TagKind::StartTag, name, self_closing: false, attrs: Vec::new(), had_duplicate_attributes: false }
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
                        self.left_out.set(self.left_out.get() - usize::from(!is_void(&tag.name)));
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
        self.builder.sink.expect_no_more();
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
