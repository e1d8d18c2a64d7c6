//! Escapes untrusted text for terminals, log files and lists. Control characters change a terminal (colours, title,
//! clipboard, earlier lines); bidirectional controls and zero-width characters disguise a text. Each is replaced by its
//! JSON escape, such as `\u001b` for ESC or `\u202e` for RIGHT-TO-LEFT OVERRIDE, so JSON keeps its meaning.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Whether a character can change a terminal or deceive a reader. Excludes line feed and tab (see [`line()`]), the
/// joiners U+200C and U+200D, which Persian, Indian scripts and emoji need, and soft hyphen and variation selectors,
/// which hide and reorder nothing.
pub fn is_hidden(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        // C0, DEL, C1.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Bidirectional marks; embeddings, overrides and isolates affect text after them too.
        '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        _ if is_embedding(letter) => true,
        // Line separators, which some programs do not treat as line ends.
        '\u{2028}' | '\u{2029}' => true,
        // Zero width: zero width space, word joiner, invisible operators, deprecated controls, byte order mark.
        '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' => true,
        // Interlinear annotations and tags, which are invisible.
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// Whether a character changes the direction of what follows, until it is closed or the paragraph ends.
pub fn is_embedding(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes a text of several lines. Idempotent.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// Escapes a text that must remain in its line and column: line feed and tab too.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| matches!(letter, '\n' | '\t') || is_hidden(letter))
}

/// Decodes escaped letters in URLs, such as `%E6%9C%BA`, for reading. ASCII, right-to-left and invisible characters
/// remain escaped, so that the URL leads to the same page.
pub fn urls(text: &str) -> Cow<'_, str> {
    if !text.contains("://") || !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("http://").into_iter().chain(rest.find("https://")).min() {
        let end = rest[at..].find(|letter: char| letter.is_whitespace() || matches!(letter, '"' | '<' | '>'));
        let end = end.map_or(rest.len(), |end| at + end);
        out.push_str(&rest[..at]);
        push_decoded(&mut out, &rest[at..end]);
        rest = &rest[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Appends a URL with its letters decoded.
fn push_decoded(out: &mut String, url: &str) {
    let mut rest = url;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (mut bytes, mut end) = (Vec::new(), 0);
        while let Some(byte) = escape(rest.get(end..).unwrap_or_default()).filter(|byte| *byte >= 0x80) {
            bytes.push(byte);
            end += 3;
        }
        match String::from_utf8(bytes) {
            Ok(letters) if !letters.is_empty() => {
                for (at, letter) in letters.char_indices() {
                    if is_plain(letter) {
                        out.push(letter);
                    } else {
                        // An escape has three characters a byte.
                        out.push_str(&rest[3 * at..3 * (at + letter.len_utf8())]);
                    }
                }
            }
            // Other escapes, or one of ASCII.
            _ => {
                end = end.max(1);
                out.push_str(&rest[..end]);
            }
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
}

/// The byte of an escape at the start of a text.
fn escape(text: &str) -> Option<u8> {
    let digits = text.strip_prefix('%')?.get(..2)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

/// Whether a non-ASCII letter is safe to show in a URL.
fn is_plain(letter: char) -> bool {
    let is_blank = matches!(letter, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
    let is_right_to_left = matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}');
    let is_mark =
        matches!(letter, '\u{3001}'..='\u{303f}' | '\u{ff01}'..='\u{ff60}' | '—' | '…' | '‘' | '’' | '“' | '”');
    (letter.is_alphanumeric() || is_mark) && !is_blank && !is_right_to_left && !is_hidden(letter)
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&hidden) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for letter in text[first..].chars() {
        if hidden(letter) {
            // As in JSON, two escapes for a character beyond the first plane.
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

/// A writer that escapes hidden characters and replaces invalid UTF-8. A character may be split over two writes.
pub struct Visible<W: Write> {
    out: W,
    /// An incomplete character: at most three bytes.
    rest: Vec<u8>,
}

impl<W: Write> Visible<W> {
    pub fn new(out: W) -> Self {
        Self { out, rest: Vec::new() }
    }
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let mut seen = 0;
        for chunk in all.utf8_chunks() {
            self.out.write_all(text(chunk.valid()).as_bytes())?;
            let wrong = chunk.invalid();
            seen += chunk.valid().len() + wrong.len();
            let cut_off =
                seen == all.len() && std::str::from_utf8(wrong).is_err_and(|error| error.error_len().is_none());
            if cut_off {
                self.rest = wrong.to_vec();
            } else if !wrong.is_empty() {
                self.out.write_all("\u{fffd}".as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_steers_or_deceives_is_seen() {
        assert_eq!(text("足球\u{1b}[2J\u{9b}31m\r\u{8}\u{7f}"), "足球\\u001b[2J\\u009b31m\\u000d\\u0008\\u007f");
        assert_eq!(text("cod\u{202e}txt.exe\u{2066}\u{200f}\u{61c}"), "cod\\u202etxt.exe\\u2066\\u200f\\u061c");
        assert_eq!(text("a\u{200b}b\u{feff}\u{e0041}\u{2028}"), "a\\u200bb\\ufeff\\udb40\\udc41\\u2028");
        assert_eq!((&*text("a\tb\nc"), &*line("a\tb\nc")), ("a\tb\nc", "a\\u0009b\\u000ac"));
    }

    #[test]
    fn what_scripts_need_stays() {
        for plain in ["", "机器学习，é ½", "می\u{200c}خواهم", "क्\u{200d}ष", "👩\u{200d}💻", "葛\u{e0100}", "co\u{ad}op"]
        {
            assert!(matches!(text(plain), Cow::Borrowed(same) if same == plain), "{plain:?}");
        }
    }

    #[test]
    fn urls_are_read_and_lead_to_the_same_page() {
        let (escaped, read) = ("%E6%9C%BA%E5%99%A8%E5%AD%A6%E4%B9%A0", "机器学习");
        let shown = |text: &str| urls(text).into_owned();
        assert_eq!(
            shown(&format!("on https://a.cn/{escaped}?q={escaped}&x=%20%2F (link)")),
            format!("on https://a.cn/{read}?q={read}&x=%20%2F (link)")
        );
        assert_eq!(shown("http://a.cn/%EF%BC%89%E2%80%94%E9%9D%9E%E2%80%AE%E9%9D%9E"), "http://a.cn/）—非%E2%80%AE非");
        // Unchanged: not a URL, not a letter, cut off, hidden, blank, right-to-left.
        for same in [
            escaped,
            "http://a.cn/%20%3F",
            "http://a.cn/%E6%9C",
            "http://a.cn/%E6%9",
            "http://a.cn/%",
            "http://a.cn/%E2%80%AE",
            "http://a.cn/%E3%85%A4",
            "http://a.cn/%D7%90",
            "http://a.cn/%é",
        ] {
            assert_eq!(shown(same), same);
        }
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left_and_json_stays_the_same(
            words in prop::collection::vec(prop_oneof![any::<String>(), "[\u{0}-\u{9f}\u{200b}-\u{206f}\u{feff}\u{e0000}-\u{e007f}]*"], 0..4),
        ) {
            let shown = text(&words.concat()).into_owned();
            prop_assert!(!shown.contains(is_hidden));
            prop_assert_eq!(&*text(&shown), &shown);
            prop_assert!(!line(&words.concat()).contains(char::is_control));
            for json in [serde_json::to_string(&words).unwrap(), serde_json::to_string_pretty(&words).unwrap()] {
                prop_assert_eq!(&serde_json::from_str::<Vec<String>>(&text(&json)).unwrap(), &words);
            }
        }

        #[test]
        fn it_does_not_matter_how_a_text_comes_in(word: String, cuts in prop::collection::vec(0_usize..40, 0..4)) {
            let word = word + "足\u{202e}é\u{e0041}\u{9b}";
            let mut out = Visible::new(Vec::new());
            let mut rest = word.as_bytes();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                out.write_all(piece).unwrap();
                rest = after;
            }
            out.write_all(rest).unwrap();
            prop_assert_eq!(String::from_utf8(out.out).unwrap(), text(&word));
        }
    }

    #[test]
    fn what_is_no_text_is_no_escape_sequence_either() {
        let mut out = Visible::new(Vec::new());
        out.write_all(b"a\x9b31m\xff\xe8\xb6").unwrap();
        out.write_all(b"b\x1b").unwrap();
        assert_eq!(String::from_utf8(out.out).unwrap(), "a\u{fffd}31m\u{fffd}\u{fffd}b\\u001b");
    }
}
