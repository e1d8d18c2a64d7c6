//! Phrases of inserts in and below an article, from word lists: advertisement labels, links to further reading,
//! headings of what follows.

use super::phrases::without_marks;
use super::words::{LINES, SectionWords};

/// Maximum bytes of a photo credit.
const CREDIT: usize = 300;
/// Maximum bytes of a request to the reader.
const REQUEST: usize = 400;

/// Whether a line is an insert of the site: an advertisement label or a link to further reading. `linked`: at least
/// half of it is links.
pub(super) fn is_promo(line: &str, linked: bool) -> bool {
    static WHOLE: SectionWords = SectionWords::of(LINES, "inserts");
    static BEGINNINGS: SectionWords = SectionWords::of(LINES, "insert beginnings");
    if line.len() > 400 {
        return false;
    }
    let lower = without_marks(line).to_lowercase();
    let whole = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    // A label of its own, or one before a list.
    let label = |word: &&str| whole == word.trim_end_matches([':', ' ']) || lower.ends_with(':') && whole.len() <= 60;
    WHOLE.contains(&whole) || BEGINNINGS.iter().any(|word| lower.starts_with(word) && (linked || label(word)))
}

/// Whether a line is a photo credit: begins with a label such as `Foto:` or ends with one in parentheses.
pub(super) fn is_photo_credit(line: &str) -> bool {
    static LABELS: SectionWords = SectionWords::of(LINES, "credits");
    static STOCKS: SectionWords = SectionWords::of(LINES, "stocks");
    let line = line.trim();
    if line.len() > CREDIT || line.contains('\n') {
        return false;
    }
    let lower = line.to_lowercase();
    let labelled = |text: &str| {
        let text = without_marks(text);
        LABELS.iter().any(|label| {
            let rest = text.strip_prefix(label).map(str::trim_start);
            rest.is_some_and(|rest| {
                rest.starts_with([':', '©', '|', '/']) || rest.starts_with("via ") || label.ends_with('.')
            })
        })
    };
    let noted = || {
        let inner = lower.trim_end_matches('.').strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
        inner.is_some_and(|(_, inner)| labelled(inner) || STOCKS.iter().any(|stock| inner.contains(stock)))
    };
    line.starts_with('©') && line.chars().count() <= 80 || labelled(&lower) || noted()
}

/// Whether a text asks the reader to subscribe, follow, share or rate.
pub(super) fn is_request(text: &str) -> bool {
    static WORDS: SectionWords = SectionWords::of(LINES, "requests");
    if text.len() > REQUEST {
        return false;
    }
    let lower = text.to_lowercase();
    let begins = |at: usize| !lower[..at].ends_with(char::is_alphanumeric);
    WORDS.iter().any(|word| lower.match_indices(word).any(|(at, _)| begins(at)))
}

/// Whether a heading ends the article: other articles, the author or requests follow.
pub(super) fn is_end(heading: &str) -> bool {
    static BEGINNINGS: SectionWords = SectionWords::of(LINES, "ends");
    let lower = without_marks(heading).to_lowercase();
    heading.chars().count() <= 60 && BEGINNINGS.iter().any(|word| lower.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserts_are_distinguished_from_sentences() {
        for (line, linked) in [("Advertisement", false), ("- Anzeige -", false), ("Read more: Another article", true)] {
            assert!(is_promo(line, linked), "{line}");
        }
        for (line, linked) in [("Read more books than last year.", false), ("Anzeigenpreise", false), ("", true)] {
            assert!(!is_promo(line, linked), "{line}");
        }
    }

    #[test]
    fn headings_that_end_an_article() {
        assert!(is_end("Mehr zum Thema") && is_end("» You may also like:"));
        assert!(
            !is_end("Mehr Wissen")
                && !is_end("related work is what this long sentence of an article's author is about, not a heading")
        );
    }

    #[test]
    fn credits_are_labelled() {
        for line in [
            "Foto: dpa",
            "Fotos: Ann Example, Bob",
            "Crédits photos : X",
            "In the park (Image: GETTY )",
            "Photo by: X",
            "A stoat. (Ann / iStock.com)",
        ] {
            assert!(is_photo_credit(line), "{line}");
        }
        for line in ["Fotografie ist schön.", "Images are made of dots", "The (old) town", "", "()"] {
            assert!(!is_photo_credit(line), "{line}");
        }
    }

    #[test]
    fn requests_begin_at_words() {
        for text in ["Sign up for our letter", "Abonnieren Sie uns", "Folge uns!", "Want our app?"] {
            assert!(is_request(text), "{text}");
        }
        for text in ["Shims isolate your application.", "Design upgrades", "", "Er meldete sich an."] {
            assert!(!is_request(text), "{text}");
        }
    }
}
