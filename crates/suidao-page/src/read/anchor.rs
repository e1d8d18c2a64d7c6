//! Anchor texts of links.

use super::document::ParsedDocument;

/// Maximum characters of an anchor text.
pub(crate) const ANCHOR: usize = 80;

/// Anchor text, at most 80 characters: visible text, else hidden. Blocks inside one link are separated by a space.
pub fn anchor(document: &ParsedDocument, pieces: std::ops::Range<usize>) -> String {
    let any_shown = document.pieces[pieces.clone()].iter().any(|piece| !piece.hidden);
    let mut text = String::new();
    for piece in pieces.filter(|&piece| document.pieces[piece].hidden != any_shown) {
        if !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
        text.push_str(document.piece(piece));
    }
    let mut anchor: String = text.trim_start().chars().take(ANCHOR).collect();
    anchor.truncate(anchor.trim_end().len());
    anchor
}
