//! The excerpt of a page for labelling: its beginning, and later passages with terms of the topic, or from the middle.

use std::ops::Range;

use suidao_page::text::fold;

/// Characters of the beginning.
const OPENING_CHARS: usize = 420;

/// Characters around a later term.
const AROUND: usize = 40;

const MAX_PASSAGES: usize = 4;

/// Characters from the middle.
const MIDDLE_CHARS: usize = 300;

/// The excerpt of a text in pieces; true for an occurrence of a term.
pub fn excerpt(text: &str, terms: &[&str]) -> Vec<(String, bool)> {
    let letters: Vec<char> = text.chars().collect();
    let lengths = term_lengths(text, terms);
    let end = letters.len().min(OPENING_CHARS);
    let mut excerpt = pieces(&letters, &lengths, 0..end);
    let mut rest = end;
    for _ in 0..MAX_PASSAGES {
        let Some(term) = (rest..letters.len()).find(|&position| lengths[position] > 0) else { break };
        let passage = term.saturating_sub(AROUND).max(end)..(term + AROUND).min(letters.len());
        rest = passage.end + AROUND;
        excerpt.push(("\n… ".to_owned(), false));
        // A later passage is one line.
        excerpt.extend(
            pieces(&letters, &lengths, passage).into_iter().map(|(piece, is_term)| (piece.replace('\n', " "), is_term)),
        );
        excerpt.push((" …".to_owned(), false));
    }
    if rest == end && end < letters.len() {
        excerpt.push((" …".to_owned(), false));
    }
    excerpt
}

/// The beginning of a text and a passage from its middle, for a reader who is not to know what a lexicon finds in it.
pub fn opening_and_middle(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let end = letters.len().min(OPENING_CHARS);
    let mut excerpt: String = letters[..end].iter().collect();
    let middle = (letters.len() / 2).saturating_sub(MIDDLE_CHARS / 2).max(end);
    let last = (middle + MIDDLE_CHARS).min(letters.len());
    if middle > end {
        excerpt.push_str(" …\n…");
    }
    excerpt.extend(&letters[middle..last]);
    if last < letters.len() {
        excerpt.push_str(" …");
    }
    excerpt
}

/// For each character the length of the longest term that starts there; 0 for none.
fn term_lengths(text: &str, terms: &[&str]) -> Vec<usize> {
    // Folding maps characters one to one, so positions agree.
    let folded: Vec<char> = fold(text).chars().collect();
    let terms: Vec<Vec<char>> = terms.iter().map(|term| fold(term).chars().collect()).collect();
    let is_english = |letter: Option<&char>| letter.is_some_and(char::is_ascii_alphanumeric);
    let starts = |position: usize, term: &[char]| {
        let end = position + term.len();
        // An English term matches whole words only.
        folded[position..].starts_with(term)
            && !(is_english(term.first()) && position > 0 && is_english(folded.get(position - 1)))
            && !(is_english(term.last()) && is_english(folded.get(end)))
    };
    let longest = |position| terms.iter().filter(|term| starts(position, term)).map(Vec::len).max().unwrap_or(0);
    (0..folded.len()).map(longest).collect()
}

/// The characters of a range, terms apart from others.
fn pieces(letters: &[char], lengths: &[usize], range: Range<usize>) -> Vec<(String, bool)> {
    let mut pieces = Vec::new();
    let mut position = range.start;
    while position < range.end {
        let is_term = lengths[position] > 0;
        let others = (position..range.end).take_while(|&position| lengths[position] == 0).count();
        let length = if is_term { lengths[position] } else { others };
        pieces.push((letters[position..position + length].iter().collect(), is_term));
        position += length;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt_of(text: &str) -> String {
        let pieces = excerpt(text, &["足球", "NBA", "足球赛"]);
        pieces.into_iter().map(|(piece, is_term)| if is_term { format!("[{piece}]") } else { piece }).collect()
    }

    #[test]
    fn terms_are_marked_as_the_lexicon_sees_them() {
        assert_eq!(excerpt_of("看ＮＢＡ和足球賽。"), "看[ＮＢＡ]和[足球賽]。");
        assert_eq!(excerpt_of("unbaked nba2 nba."), "unbaked nba2 [nba].");
        assert_eq!(excerpt_of(""), "");
    }

    #[test]
    fn the_middle_follows_the_beginning() {
        assert_eq!(opening_and_middle("短"), "短");
        let text = format!("{}{}{}", "头".repeat(500), "中".repeat(300), "尾".repeat(500));
        let shown = opening_and_middle(&text);
        assert!(shown.starts_with('头') && shown.ends_with("中 …"), "{shown}");
        assert_eq!(shown.matches('中').count(), 300);
        assert_eq!(opening_and_middle(&"字".repeat(600)), "字".repeat(600));
    }

    #[test]
    fn terms_further_on_are_shown_with_what_stands_around_them() {
        let text = format!("{}足球{}", "字".repeat(1000), "后".repeat(1000));
        let shown = excerpt_of(&text);
        assert!(shown.contains(&format!("\n… {}[足球]{} …", "字".repeat(40), "后".repeat(38))), "{shown}");
        assert!(shown.chars().count() < OPENING_CHARS + 100);
        assert!(excerpt_of(&"字".repeat(1000)).ends_with(" …"));
    }
}
