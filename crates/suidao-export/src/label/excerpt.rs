//! The excerpt of a page for labelling: its beginning, and later passages with terms of the topic.

use suidao_page::text::fold;

/// Characters of the beginning.
const BEGIN: usize = 420;

/// Characters around a later term.
const AROUND: usize = 40;

const PLACES: usize = 4;

/// The excerpt of a text in pieces; true for an occurrence of a term.
pub fn excerpt(text: &str, terms: &[&str]) -> Vec<(String, bool)> {
    let letters: Vec<char> = text.chars().collect();
    // Folding maps characters one to one, so positions agree.
    let folded: Vec<char> = fold(text).chars().collect();
    let terms: Vec<Vec<char>> = terms.iter().map(|term| fold(term).chars().collect()).collect();
    let at = |place: usize| {
        let fits = |term: &&Vec<char>| {
            let end = place + term.len();
            // An English term matches whole words only.
            let whole = |at: usize, edge: Option<&char>| {
                !(edge.is_some_and(char::is_ascii_alphanumeric)
                    && folded.get(at).is_some_and(char::is_ascii_alphanumeric))
            };
            folded.get(place..end) == Some(&term[..])
                && (place == 0 || whole(place - 1, term.first()))
                && whole(end, term.last())
        };
        terms.iter().filter(|term| !term.is_empty()).filter(fits).map(Vec::len).max()
    };
    let add = |out: &mut Vec<(String, bool)>, letters: &[char], is_term: bool| match out.last_mut() {
        Some((piece, false)) if !is_term => piece.extend(letters),
        _ => out.push((letters.iter().collect(), is_term)),
    };
    let marked = |out: &mut Vec<(String, bool)>, letters: &[char], from: usize, to: usize| {
        let mut place = from;
        while place < to {
            let term = at(place);
            let length = term.unwrap_or(1);
            add(out, &letters[place..place + length], term.is_some());
            place += length;
        }
    };
    let end = letters.len().min(BEGIN);
    let mut out = Vec::new();
    marked(&mut out, &letters, 0, end);
    // A later passage is one line.
    let flat: Vec<char> = letters.iter().map(|&letter| if letter == '\n' { ' ' } else { letter }).collect();
    let mut place = end;
    let mut shown = 0;
    while place < letters.len() && shown < PLACES {
        if at(place).is_some() {
            let (from, to) = (place.saturating_sub(AROUND).max(end), (place + AROUND).min(letters.len()));
            add(&mut out, &['\n', '…', ' '], false);
            marked(&mut out, &flat, from, to);
            add(&mut out, &[' ', '…'], false);
            shown += 1;
            place = to + AROUND;
        } else {
            place += 1;
        }
    }
    if shown == 0 && end < letters.len() {
        add(&mut out, &[' ', '…'], false);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let pieces = excerpt(text, &["足球", "NBA", "足球赛"]);
        pieces.into_iter().map(|(piece, is_term)| if is_term { format!("[{piece}]") } else { piece }).collect()
    }

    #[test]
    fn terms_are_marked_as_the_lexicon_sees_them() {
        assert_eq!(told("看ＮＢＡ和足球賽。"), "看[ＮＢＡ]和[足球賽]。");
        assert_eq!(told("unbaked nba2 nba."), "unbaked nba2 [nba].");
        assert_eq!(told(""), "");
    }

    #[test]
    fn terms_further_on_are_shown_with_what_stands_around_them() {
        let text = format!("{}足球{}", "字".repeat(1000), "后".repeat(1000));
        let shown = told(&text);
        assert!(shown.contains(&format!("\n… {}[足球]{} …", "字".repeat(40), "后".repeat(38))), "{shown}");
        assert!(shown.chars().count() < BEGIN + 100);
        assert!(told(&"字".repeat(1000)).ends_with(" …"));
    }
}
