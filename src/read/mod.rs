//! Reading: from bytes to a [`crate::model::Page`]. Pure, and it never fails.

pub mod charset;
pub(crate) mod coding;
mod content;
mod date;
mod document;
mod hanzi;
pub(crate) mod hint;
mod hints;
mod language;
pub(crate) mod links;
pub(crate) mod markup;
pub(crate) mod names;
pub(crate) mod nesting;
mod outlinks;
mod records;
mod robots;
mod tags;

use encoding_rs::{Encoding, UTF_8};
use sha1::{Digest as _, Sha1};

pub use document::{Block, Document, DocumentLink, Piece};
pub use hints::hints;
pub use outlinks::{anchor, page};

use crate::model::{CrawlUrl, Day, Defect, Digest, Fetched, Page, Region, Sketch};
use crate::text::simhash;
use crate::topic::Topic;

/// A page read, before it is scored.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// Its text, blocks and links.
    pub document: Document,
    /// Title, white space folded; empty if there is none.
    pub title: String,
    /// Main content: paragraphs separated by one line feed, the title not repeated.
    pub text: String,
    /// ISO 639-3 code of the language, if it could be told.
    pub language: Option<String>,
    /// The charset the body was decoded with (a WHATWG name).
    pub charset: String,
    /// SHA-1 of the body.
    pub digest: Digest,
    /// The page or its answer's header asks not to be kept.
    pub noindex: bool,
    /// The page or its answer's header asks that none of its links be followed.
    pub nofollow: bool,
    /// Another URL the page calls its own address.
    pub canonical: Option<CrawlUrl>,
    /// Feeds it names, at most 4.
    pub feeds: Vec<CrawlUrl>,
    /// Sketch of the main text.
    pub sketch: Sketch,
    /// When it was published, as far as it says so.
    pub published: Option<Day>,
    /// What was wrong with it.
    pub defects: Vec<Defect>,
}

/// Reads an answer and scores it: the one door from bytes to a page.
#[must_use]
pub fn read(fetched: &Fetched, topic: &Topic) -> Page {
    let parsed = parse(fetched);
    let scores = topic.score(&parsed.document);
    page(parsed, scores, &fetched.url)
}

/// Reads an answer's body: HTML, plain text, or what looks like HTML though it is declared as something odd.
/// Anything else comes back empty with [`Defect::NotText`].
#[must_use]
pub fn parse(fetched: &Fetched) -> Parsed {
    let mut parsed = Parsed {
        document: Document::default(),
        title: String::new(),
        text: String::new(),
        language: None,
        charset: UTF_8.name().to_owned(),
        digest: Digest(Sha1::digest(&fetched.body).into()),
        noindex: false,
        nofollow: false,
        canonical: None,
        feeds: Vec::new(),
        sketch: Sketch::default(),
        published: None,
        defects: Vec::new(),
    };
    let mut robots = robots::Robots::default();
    for (_, value) in fetched.headers.iter().filter(|(name, _)| name == "x-robots-tag") {
        robots.read(value);
    }
    (parsed.noindex, parsed.nofollow) = (robots.noindex, robots.nofollow);
    let media = fetched.media_type();
    let is_plain = media == "text/plain";
    let is_html = matches!(media.as_str(), "text/html" | "application/xhtml+xml");
    if !is_plain && !is_html && !looks_like_html(&fetched.body) {
        parsed.defects.push(Defect::NotText);
        return parsed;
    }
    let decoded = charset::decode(&fetched.body, fetched.header("content-type"));
    decoded.charset.clone_into(&mut parsed.charset);
    parsed.defects = decoded.defects;
    let (mut lang, mut published) = (None, None);
    if is_plain {
        let (document, cut) = plain(&decoded.text);
        parsed.document = document;
        if cut {
            parsed.defects.push(Defect::CutShort);
        }
    } else {
        let encoding = Encoding::for_label(decoded.charset.as_bytes()).unwrap_or(UTF_8);
        let mut markup = markup::read(&decoded.text, &fetched.url, encoding, false);
        if markup.document.pieces.is_empty() {
            markup = markup::read(&decoded.text, &fetched.url, encoding, true);
        }
        content::decide(&mut markup);
        if markup.cut {
            parsed.defects.push(Defect::CutShort);
        }
        markup.robots.noindex |= parsed.noindex;
        markup.robots.nofollow |= parsed.nofollow;
        (parsed.noindex, parsed.nofollow) = (markup.robots.noindex, markup.robots.nofollow);
        parsed.canonical = markup.canonical.filter(|canonical| *canonical != fetched.url);
        parsed.feeds = markup.feeds;
        parsed.document = markup.document;
        if markup.title.is_empty() {
            markup.title = markup.declared_title;
        }
        parsed.document.put_title(&markup.title);
        parsed.title = markup.title;
        lang = markup.lang;
        published = markup.dates.best(date::is_section(&fetched.url));
    }
    parsed.text = parsed.document.main_text(&parsed.title);
    parsed.sketch = simhash::sketch(&parsed.text);
    parsed.published = published.or_else(|| date::of(&parsed.document, &fetched.url));
    let document = &parsed.document;
    parsed.language = language::of(document.content().map(|piece| document.piece(piece)), lang.as_deref());
    if parsed.text.is_empty() {
        parsed.defects.push(Defect::NoContent);
    }
    parsed
}

/// Whether a body of undeclared or odd type begins like an HTML page.
fn looks_like_html(body: &[u8]) -> bool {
    const BEGINNINGS: [&str; 17] = [
        "<!doctype html",
        "<html",
        "<head",
        "<body",
        "<title",
        "<meta",
        "<script",
        "<style",
        "<link",
        "<div",
        "<table",
        "<p>",
        "<h1",
        "<a ",
        "<center",
        "<font",
        "<frameset",
    ];
    let mut start = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start();
    // Comments and declarations may come first.
    for _ in 0..8 {
        let end: &[u8] = match start {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', ..] => b"?>",
            _ => break,
        };
        let Some(at) = start.windows(end.len()).take(4 << 10).position(|window| window == end) else { return false };
        start = start[at + end.len()..].trim_ascii_start();
    }
    BEGINNINGS
        .iter()
        .any(|beginning| start.get(..beginning.len()).is_some_and(|own| own.eq_ignore_ascii_case(beginning.as_bytes())))
}

/// Plain text: each line a block.
fn plain(text: &str) -> (Document, bool) {
    let mut document = Document::default();
    for line in text.lines() {
        let start = document.text.len();
        if start + line.len() > markup::TEXT {
            return (document, true);
        }
        for word in line.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
            if document.text.len() > start {
                document.text.push(' ');
            }
            document.text.push_str(word);
        }
        if document.text.len() > start {
            let piece = document.pieces.len();
            document.pieces.push(Piece { text: start..document.text.len(), hidden: false });
            document.blocks.push(Block { pieces: piece..piece + 1, region: Region::Content });
        }
    }
    (document, false)
}

#[cfg(test)]
mod tests;
