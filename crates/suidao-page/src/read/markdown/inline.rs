//! The text of a block as Markdown: links, code, formulas, images.

use super::super::document::{DocumentLink, ParsedDocument};
use super::super::layout::{Layout, Mark, MarkKind};
use super::escape::{escape_into, tex};
use crate::model::CrawlUrl;

/// An image by its text, and where it is if that is known; or the formula that it shows.
pub(in crate::read) fn image(alt: &str, url: Option<&CrawlUrl>, is_formula: bool) -> String {
    if let Some(tex) = tex(alt).filter(|_| is_formula) {
        return format!("${tex}$");
    }
    let mut text = "![".to_owned();
    escape_into(&mut text, &alt.split_whitespace().collect::<Vec<_>>().join(" "));
    text.push(']');
    match url {
        Some(url) => format!("{text}({})", destination(url)),
        // What has no address is text.
        None => format!("({}", &text[2..text.len() - 1]) + ")",
    }
}

/// A URL without the characters that would end it.
fn destination(url: &CrawlUrl) -> String {
    let encode = |c: char| match c {
        '(' | ')' | '<' | '>' | '|' | '\\' | '`' | '*' | '[' | ']' => format!("%{:02X}", u32::from(c)),
        c => c.to_string(),
    };
    url.as_str().chars().map(encode).collect()
}

/// Pieces of a block inside one link, or outside links.
struct PieceGroup<'a> {
    link: Option<&'a DocumentLink>,
    pieces: Vec<usize>,
}

impl Layout {
    pub(super) fn marks_of(&self, block: usize) -> &[Mark] {
        let from = self.marks.partition_point(|mark| mark.block < block);
        let until = self.marks.partition_point(|mark| mark.block <= block);
        &self.marks[from..until]
    }

    /// The text of a block; on one line if it may have no breaks.
    pub(super) fn inline(&self, document: &ParsedDocument, block: usize, breaks: bool) -> String {
        let pieces = &document.pieces[document.blocks[block].pieces.clone()];
        let start = pieces.first().map_or(0, |piece| piece.text.start);
        let is_own = |mark: &&Mark| match mark.kind {
            MarkKind::Image(_) => !self.is_before(document, mark, block),
            _ => mark.inside && mark.text.start >= start,
        };
        let mut marks = self.marks_of(block).iter().filter(is_own).peekable();
        let mut out = String::new();
        let groups = groups(document, block);
        let last = groups.len().saturating_sub(1);
        for (at, group) in groups.iter().enumerate() {
            let mut text = if group.link.is_some() { "[".to_owned() } else { std::mem::take(&mut out) };
            for piece in &group.pieces {
                let run = &document.pieces[*piece];
                if run.hidden {
                    // A hidden piece is the text of an image.
                    while let Some(mark) = marks.next_if(|mark| mark.text.start <= run.text.start) {
                        show(&mut text, "", &mark.kind);
                    }
                    continue;
                }
                let mut from = run.text.start;
                while let Some(mark) = marks.next_if(|mark| visible_start(document, mark) < run.text.end) {
                    let start = mark.text.start.max(from);
                    escape_into(&mut text, &document.text[from..start]);
                    from = mark.text.end.clamp(start, run.text.end);
                    show(&mut text, &document.text[start..from], &mark.kind);
                }
                escape_into(&mut text, &document.text[from..run.text.end]);
            }
            match group.link {
                Some(link) if text.trim() != "[" => {
                    // Blanks stay outside.
                    let inner = text[1..].replace("\\\n", " ");
                    let blank = if inner.starts_with(char::is_whitespace) { " " } else { "" };
                    let end = if inner.ends_with(char::is_whitespace) { " " } else { "" };
                    out += &format!("{blank}[{}]({}){end}", inner.trim(), destination(&link.url));
                }
                Some(_) => {}
                None => out = text,
            }
            if at == last {
                marks.by_ref().for_each(|mark| show(&mut out, "", &mark.kind));
            }
        }
        let out = out.trim();
        if breaks { out.to_owned() } else { out.replace("\\\n", " ").replace('\n', " ") }
    }
}

fn groups(document: &ParsedDocument, block: usize) -> Vec<PieceGroup<'_>> {
    let mut groups: Vec<PieceGroup> = Vec::new();
    for piece in document.blocks[block].pieces.clone() {
        // Links are in order, and none contains another.
        let after = document.links.partition_point(|link| link.anchor.start <= piece);
        let link = document.links[..after].iter().rev().take(3).find(|link| link.anchor.contains(&piece));
        match groups
            .last_mut()
            .filter(|last| last.link.map(|link| link.anchor.start) == link.map(|link| link.anchor.start))
        {
            Some(group) => group.pieces.push(piece),
            None => groups.push(PieceGroup { link, pieces: vec![piece] }),
        }
    }
    groups
}

/// Where the text of a mark begins after its white space.
fn visible_start(document: &ParsedDocument, mark: &Mark) -> usize {
    let text = &document.text[mark.text.clone()];
    mark.text.end - text.trim_start().len()
}

fn show(out: &mut String, text: &str, kind: &MarkKind) {
    let inner = text.trim();
    if text.starts_with(char::is_whitespace) {
        out.push(' ');
    }
    match kind {
        MarkKind::Image(image) => out.push_str(image),
        MarkKind::Formula => match tex(inner.trim_matches('$')) {
            Some(tex) => *out += &format!("${tex}$"),
            None => escape_into(out, inner),
        },
        MarkKind::Permalink => {}
        MarkKind::Code if inner.is_empty() => {}
        MarkKind::Code => {
            let longest = inner.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest + 1);
            let pad = if inner.starts_with('`') || inner.ends_with('`') { " " } else { "" };
            *out += &format!("{fence}{pad}{}{pad}{fence}", inner.replace('\n', " "));
        }
    }
}
