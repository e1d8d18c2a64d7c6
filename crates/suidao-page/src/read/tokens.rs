//! Feeds a page to html5ever's tokenizer in linear time.
//!
//! A page is fed in slices. If a slice yields no token but may begin many attributes, the page is read again tag by
//! tag, and a tag's attributes beyond [`MOST`] are dropped. Long attributes are kept: pages contain pictures and data
//! of a megabyte in one.

use std::cell::Cell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

/// Bytes fed at a time.
const SLICE: usize = 4 << 10;
/// Attributes of one tag; real ones have a dozen.
const MOST: usize = 1_000;

/// Feeds a whole page to a sink and returns the sink. `make` is called again if the page has to be read again.
pub fn tokenize<S: TokenSink>(html: &str, make: impl Fn() -> S) -> S {
    // A tendril is limited to 4 GiB.
    let html = head(html, 1 << 30);
    let feeder = Feeder::new(make());
    let mut begun = 0;
    let mut at = 0;
    while at < html.len() {
        let slice = head(&html[at..], SLICE);
        at += slice.len();
        if feeder.feed(slice) == LastToken::Nothing {
            begun += slice.bytes().filter(|byte| byte.is_ascii_whitespace() || b"/\"'".contains(byte)).count();
        } else {
            begun = 0;
        }
        if begun > MOST {
            return watched(html, Feeder::new(make()));
        }
    }
    feeder.end()
}

/// At most `bytes` bytes of a text, whole characters.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Tokenizes with the start of each tag known, so that it can be ended early.
fn watched<S: TokenSink>(html: &str, feeder: Feeder<S>) -> S {
    let mut at = 0;
    // Start of the bytes without a token, and of those found harmless.
    let (mut silent, mut harmless) = (None, None);
    while at < html.len() {
        let slice = slice_of(&html[at..]);
        let start = at;
        at += slice.len();
        silent = match feeder.feed(slice) {
            LastToken::Nothing => silent.or(Some(start)),
            // The text may precede a tag that begins this slice.
            LastToken::Text if slice.starts_with('<') => Some(start),
            LastToken::Text | LastToken::Other => None,
        };
        if let Some(start) = silent.filter(|&start| at - start > SLICE && harmless != Some(start)) {
            match end_early(&html[start..], at - start) {
                Some((closing, next)) => {
                    feeder.feed(closing);
                    at = start + next;
                    silent = None;
                }
                None => harmless = Some(start),
            }
        }
    }
    feeder.end()
}

/// Up to the next place where a tag can begin or end.
fn slice_of(html: &str) -> &str {
    let whole = head(html, SLICE);
    let after = |c: char| c.len_utf8();
    let first = whole.chars().next().map_or(0, after);
    match whole[first..].find(['<', '>']) {
        _ if whole.starts_with('>') => &whole[..1],
        Some(at) if whole[first + at..].starts_with('>') => &whole[..=first + at],
        Some(at) => &whole[..first + at],
        None => whole,
    }
}

/// The text that closes the tag at the start of `html`, of which `read` bytes were fed, and the tag's end; `None` if it
/// is not a tag or has few attributes. Follows the HTML standard, 13.2.5.6 to 13.2.5.40.
fn end_early(html: &str, read: usize) -> Option<(&'static str, usize)> {
    let bytes = html.as_bytes();
    let name = bytes.strip_prefix(b"</").or(bytes.strip_prefix(b"<"))?;
    if !name.first()?.is_ascii_alphabetic() {
        return None;
    }
    let (mut attributes, mut quote, mut value, mut apart) = (0_usize, None, false, false);
    let mut closing = ">";
    for (at, &byte) in bytes.iter().enumerate().skip(1) {
        if at == read {
            closing = match quote {
                Some(b'"') => "\">",
                Some(_) => "'>",
                None => ">",
            };
        }
        if let Some(open) = quote {
            if byte == open {
                (quote, apart) = (None, true);
            }
            continue;
        }
        match byte {
            b'>' => return (attributes > MOST && at >= read).then_some((closing, at + 1)),
            b'"' | b'\'' if value => (quote, value) = (Some(byte), false),
            b'=' if !apart || attributes > 0 => (value, apart) = (true, false),
            _ if byte.is_ascii_whitespace() => apart |= !value,
            b'/' if !value => apart = true,
            _ => {
                attributes += usize::from(apart);
                apart = false;
                // An unquoted value extends to the next blank.
                value = false;
            }
        }
    }
    // A tag that never ends yields nothing.
    (attributes > MOST).then_some(("", bytes.len()))
}

/// What a slice yielded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastToken {
    Nothing,
    /// Text was the last token.
    Text,
    /// A tag or similar was the last token.
    Other,
}

struct Feeder<S: TokenSink> {
    tokenizer: Tokenizer<Watched<S>>,
    input: BufferQueue,
}

impl<S: TokenSink> Feeder<S> {
    fn new(sink: S) -> Self {
        let sink = Watched { sink, last: Cell::new(LastToken::Nothing) };
        Self { tokenizer: Tokenizer::new(sink, TokenizerOpts::default()), input: BufferQueue::default() }
    }

    fn feed(&self, slice: &str) -> LastToken {
        self.tokenizer.sink.last.set(LastToken::Nothing);
        self.input.push_back(StrTendril::from_slice(slice));
        // Scripts are not run, so the tokenizer never stops for one.
        let _ = self.tokenizer.feed(&self.input);
        self.tokenizer.sink.last.get()
    }

    fn end(self) -> S {
        self.tokenizer.end();
        self.tokenizer.sink.sink
    }
}

/// A sink that records its last token.
struct Watched<S> {
    sink: S,
    last: Cell<LastToken>,
}

impl<S: TokenSink> TokenSink for Watched<S> {
    type Handle = S::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<S::Handle> {
        match &token {
            Token::ParseError(_) => {}
            Token::CharacterTokens(_) | Token::NullCharacterToken => self.last.set(LastToken::Text),
            _ => self.last.set(LastToken::Other),
        }
        self.sink.process_token(token, line)
    }

    fn end(&self) {
        self.sink.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.sink.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use proptest::prelude::*;

    use super::*;

    /// All text, and the name and number of attributes of each tag.
    #[derive(Default)]
    struct Notes(RefCell<String>);

    impl TokenSink for Notes {
        type Handle = ();

        fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
            match token {
                Token::CharacterTokens(text) => self.0.borrow_mut().push_str(&text),
                Token::TagToken(tag) => self.0.borrow_mut().push_str(&format!("[{} {}]", &*tag.name, tag.attrs.len())),
                _ => {}
            }
            TokenSinkResult::Continue
        }
    }

    fn notes(html: &str) -> String {
        tokenize(html, Notes::default).0.into_inner()
    }

    fn whole(html: &str) -> String {
        let tokenizer = Tokenizer::new(Notes::default(), TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from_slice(html));
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        tokenizer.sink.0.into_inner()
    }

    #[test]
    fn a_tag_of_very_many_attributes_ends_where_it_ends() {
        let bare: String = (0..120_000).map(|n| format!(" a{n}")).collect();
        let quoted: String = (0..60_000).map(|n| format!(" a{n}='<x>\"{n}'")).collect();
        let valued: String = (0..60_000).map(|n| format!("\na{n} = {n}/")).collect();
        for attributes in [&bare, &quoted, &valued] {
            let notes = notes(&format!("<p>before<div{attributes}>text</div{attributes}> after"));
            let (before, rest) = notes.split_once("before[div ").unwrap();
            assert_eq!(before, "[p 0]");
            let (count, rest) = rest.split_once("]text[div ").unwrap();
            assert!((200..3_000).contains(&count.parse::<usize>().unwrap()), "{count}");
            assert!(rest.ends_with("] after"), "{rest}");
        }
        // A tag that never ends yields nothing, as without the limit.
        assert_eq!(notes(&format!("<p>before<div{bare}")), "[p 0]before");
    }

    #[test]
    fn long_attributes_and_comments_are_left_alone() {
        let long = "word 'quoted' / <b> ".repeat(50_000);
        let page = format!("<p>a<img data-x=\"{long}\" alt=y>b<!-- {long} -->c<a title='{}'>d</a>", "x ".repeat(9_000));
        assert_eq!(notes(&page), "[p 0]a[img 2]bc[a 1]d[a 0]");
        let many: String = (0..900).map(|n| format!(" attribute-number-{n}=\"value\"")).collect();
        assert_eq!(notes(&format!("<div{many}>x")), "[div 900]x");
    }

    proptest! {
        #[test]
        fn slices_change_nothing(parts in prop::collection::vec(0..16_usize, 0..400)) {
            let known = [
                "<", ">", "<div ", "a=", "\"", "'", " ", "文字", "</p>", "<!--", "-->", "/", "=", "x", "<p>", "text ",
            ];
            let html: String = parts.iter().map(|&part| known[part]).collect();
            let long = format!("{}{html}", "y ".repeat(2_040));
            prop_assert_eq!(notes(&long), whole(&long));
            prop_assert_eq!(watched(&html, Feeder::new(Notes::default())).0.into_inner(), whole(&html));
        }
    }
}
