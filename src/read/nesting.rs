//! How tags nest when no tree is built: what a start tag closes, what an end tag closes, what is no markup.
//!
//! Apart because two readers share it: the one of text in `markup`, and the one of a forum's records, which needs the
//! tree. Both keep a bounded stack of open elements and match end tags as browsers do for blocks, cells and list items.

use html5ever::tokenizer::states::{RawKind, Rawtext, Rcdata, ScriptData};
use html5ever::{LocalName, local_name};

use super::names::is_block;

/// Open elements; deeper ones are read as if their parents' own.
pub(crate) const DEPTH: usize = 512;

/// An open element on a stack.
pub(crate) trait Opened {
    fn name(&self) -> &LocalName;
    /// Whether it is a block to this reader.
    fn block(&self) -> bool;
}

/// How the tokenizer is to read what follows a start tag.
pub(crate) fn raw_kind(name: &LocalName) -> Option<RawKind> {
    match *name {
        local_name!("script") => Some(ScriptData),
        local_name!("style") | local_name!("xmp") => Some(Rawtext),
        local_name!("title") | local_name!("textarea") => Some(Rcdata),
        // Its content is shown in old browsers only, and may hold the end of a link.
        local_name!("iframe") | local_name!("noembed") => Some(Rawtext),
        _ => None,
    }
}

/// Length to which a start tag cuts the stack without an end tag: `<p>`, `<li>`, cells and rows.
pub(crate) fn implied_end<O: Opened>(stack: &[O], name: &LocalName) -> Option<usize> {
    let (ends, borders): (&[LocalName], &[LocalName]) = match *name {
        local_name!("li") => (&[local_name!("li")], &[local_name!("ul"), local_name!("ol")]),
        local_name!("dt") | local_name!("dd") => (&[local_name!("dt"), local_name!("dd")], &[local_name!("dl")]),
        local_name!("td") | local_name!("th") => {
            (&[local_name!("td"), local_name!("th")], &[local_name!("tr"), local_name!("table")])
        }
        local_name!("tr") => (&[local_name!("tr")], &[local_name!("table")]),
        local_name!("tbody") | local_name!("thead") | local_name!("tfoot") => {
            (&[local_name!("tbody"), local_name!("thead"), local_name!("tfoot")], &[local_name!("table")])
        }
        _ => (&[local_name!("p")], &[]),
    };
    for (at, open) in stack.iter().enumerate().rev() {
        if ends.contains(open.name()) {
            return Some(at);
        }
        if borders.contains(open.name()) || borders.is_empty() && (is_cell(open.name()) || open.block()) {
            return None;
        }
    }
    None
}

/// Length to which an end tag cuts the stack. `skipped`: this much of the stack encloses what is not read, in which end
/// tags are matched by name alone.
pub(crate) fn explicit_end<O: Opened>(stack: &[O], name: &LocalName, skipped: Option<usize>) -> Option<usize> {
    let inline = !is_block(name);
    let in_table = matches!(
        *name,
        local_name!("table") | local_name!("tr") | local_name!("tbody") | local_name!("thead") | local_name!("tfoot")
    );
    for (at, open) in stack.iter().enumerate().skip(skipped.unwrap_or(0)).rev() {
        if open.name() == name {
            return Some(at);
        }
        // An inline end tag closes nothing beyond its block, and none but a table's own closes a cell.
        if inline && open.block() && skipped.is_none() || is_cell(open.name()) && !in_table {
            return None;
        }
    }
    None
}

fn is_cell(name: &LocalName) -> bool {
    matches!(*name, local_name!("td") | local_name!("th") | local_name!("table"))
}
