//! The main text of a page by the selectors of a rule, in place of what reading found.

use std::collections::HashSet;

use ego_tree::NodeId;
use ego_tree::iter::Edge;
use scraper::Node;
use suidao_page::read::names::{is_block, is_skipped};

use crate::rules::PageRule;
use crate::selector::CheckedSelector;
use crate::tree::PageTree;

/// Paragraphs separated by a line feed; `None` if the content selector matches nothing. `body` selects the content of a
/// rule that only drops.
pub fn main_text(tree: &PageTree, rule: &PageRule, body: &CheckedSelector) -> Option<String> {
    let dropped: HashSet<NodeId> =
        rule.drop.iter().flat_map(|drop| tree.select(drop)).map(|element| element.id()).collect();
    let mut text = String::new();
    let mut read = None;
    for element in tree.select(rule.content.as_ref().unwrap_or(body)) {
        // An element within one that was read already.
        if read.is_some_and(|read| element.ancestors().any(|above| above.id() == read)) {
            continue;
        }
        read = Some(element.id());
        let mut skipped = None;
        for edge in element.traverse() {
            let (Edge::Open(node) | Edge::Close(node)) = edge;
            match node.value() {
                Node::Element(inner) => {
                    let opens = matches!(edge, Edge::Open(_));
                    if skipped == Some(node.id()) {
                        skipped = None;
                    } else if opens
                        && skipped.is_none()
                        && (is_skipped(&inner.name.local) || dropped.contains(&node.id()))
                    {
                        skipped = Some(node.id());
                    }
                    if is_block(&inner.name.local) || inner.name() == "br" {
                        text.push('\n');
                    }
                }
                Node::Text(part) if skipped.is_none() && matches!(edge, Edge::Open(_)) => {
                    // A line feed of the source is white space.
                    text.extend(part.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }));
                }
                _ => {}
            }
        }
        text.push('\n');
    }
    read?;
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    Some(lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n"))
}
