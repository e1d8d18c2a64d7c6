//! Reading: from bytes to a [`crate::model::Page`]. Pure, and it never fails.

pub mod address;
mod article;
mod article_body;
mod byline;
pub mod charset;
pub mod coding;
mod content;
mod date;
mod document;
mod flow;
mod form;
mod hanzi;
mod header;
pub mod hint;
mod hints;
mod inserts;
mod json_ld;
mod language;
mod links;
pub mod markup;
mod media;
pub mod names;
mod outlinks;
mod phrases;
mod records;
pub mod references;
mod refresh;
mod robots;
pub mod scripts;
mod tags;
mod teasers;
pub mod tokens;
pub mod tree;
mod words;

use encoding_rs::{Encoding, UTF_8};
use sha1::{Digest as _, Sha1};

pub use charset::CharsetFrom;
pub use document::{BlockKind, DocumentLink, ParsedDocument, TextBlock, TextRun};
pub use hints::{hints, score_hints};
pub use language::{UnknownLanguage, language_code, language_tag};
pub use outlinks::{anchor, page};

use crate::model::{CrawlUrl, Day, Defect, Digest, Fetched, Millis, Page, Region, Sketch, Timestamp};
use crate::text::{simhash, without_address};
use crate::topic::Topic;

/// The name that pages address us by, unless we ask under another.
pub const ROBOT: &str = "suidao";

/// A page read, before it is scored.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// Its text, blocks and links.
    pub document: ParsedDocument,
    /// Title, white space folded; empty if there is none.
    pub title: String,
    /// Main content, the title not repeated: paragraphs separated by one line feed, items of lists behind `- ` or their
    /// number, cells of a table's row separated by tabs, program code with its lines and their indentation.
    pub text: String,
    /// ISO 639-3 code of the language, if it could be told.
    pub language: Option<String>,
    /// Who wrote it, as far as it says so.
    pub author: Option<String>,
    /// The charset the body was decoded with (a WHATWG name).
    pub charset: String,
    /// What told the charset.
    pub charset_from: CharsetFrom,
    /// SHA-1 of what was read: the body, or what a browser made of it.
    pub digest: Digest,
    /// Length of the body.
    pub bytes: u32,
    /// The page or its answer's header asks not to be kept.
    pub noindex: bool,
    /// The page or its answer's header asks that none of its links be followed.
    pub nofollow: bool,
    /// From then on it is to be treated as one that asks not to be kept (`unavailable_after`).
    pub expires: Option<Millis>,
    /// Where it leads on by itself, at once or in some seconds (`meta refresh`, `Refresh`).
    pub refresh: Option<CrawlUrl>,
    /// Another URL the page calls its own address.
    pub canonical: Option<CrawlUrl>,
    /// Feeds it names, at most 4.
    pub feeds: Vec<CrawlUrl>,
    /// Sketch of the main text.
    pub sketch: Sketch,
    /// When it was published, as far as it says so: a day of its own zone.
    pub published: Option<Day>,
    /// The instant, where it tells time and zone too.
    pub published_at: Option<Timestamp>,
    /// It is no document, but leads to documents.
    pub listing: bool,
    /// A browser ran its scripts, and what it made of the page was read.
    pub rendered: bool,
    /// What was wrong with it.
    pub defects: Vec<Defect>,
}

/// Reads an answer and scores it: the one door from bytes to a page.
pub fn read(fetched: &Fetched, topic: &Topic) -> Page {
    let parsed = parse(fetched);
    let scores = topic.score(&parsed.document);
    page(parsed, scores, &fetched.url)
}

/// Reads an answer's body: HTML, plain text, or what looks like HTML though it is declared as something odd.
/// Anything else comes back empty with [`Defect::NotText`].
pub fn parse(fetched: &Fetched) -> Parsed {
    parse_as(fetched, ROBOT)
}

/// The same, with the directives for a robot of this name.
pub fn parse_as(fetched: &Fetched, robot: &str) -> Parsed {
    let fetched = &*fetched.shown();
    let mut parsed = Parsed {
        document: ParsedDocument::default(),
        title: String::new(),
        text: String::new(),
        language: None,
        author: None,
        charset: UTF_8.name().to_owned(),
        charset_from: CharsetFrom::Default,
        digest: Digest(Sha1::digest(&fetched.body).into()),
        bytes: u32::try_from(fetched.body.len()).unwrap_or(u32::MAX),
        noindex: false,
        nofollow: false,
        expires: None,
        refresh: header(fetched, "refresh").find_map(|value| leads_on(value, &fetched.url)),
        canonical: None,
        feeds: Vec::new(),
        sketch: Sketch::default(),
        published: None,
        published_at: None,
        listing: false,
        rendered: fetched.rendered.is_some(),
        defects: Vec::new(),
    };
    let mut robots = robots::RobotsDirectives::named(robot);
    for (_, value) in fetched.headers.iter().filter(|(name, _)| name == "x-robots-tag") {
        robots.read(value);
    }
    (parsed.noindex, parsed.nofollow, parsed.expires) = (robots.noindex, robots.nofollow, robots.expires);
    let canonical = header(fetched, "link").find_map(header::canonical);
    let canonical = canonical.and_then(|reference| fetched.url.join(reference).ok());
    parsed.canonical = canonical.filter(|canonical| *canonical != fetched.url);
    let Some(kind) = media::kind(fetched) else {
        parsed.defects.push(Defect::NotText);
        return parsed;
    };
    let decoded = charset::decode(&fetched.body, fetched.header("content-type"));
    decoded.charset.clone_into(&mut parsed.charset);
    parsed.charset_from = decoded.from;
    parsed.defects = decoded.defects;
    let (mut lang, mut dates) = (None, date::Dates::default());
    if kind == media::MediaKind::Plain {
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
        let lists = date::is_section(&fetched.url);
        let open = content::decide(&mut markup, fetched.url.host(), lists);
        form::decide(&mut markup);
        parsed.listing = records::is_listing(&markup, &open, &fetched.url);
        if markup.cut {
            parsed.defects.push(Defect::CutShort);
        }
        markup.robots.iter().for_each(|(name, directives)| robots.read_meta(name, directives));
        (parsed.noindex, parsed.nofollow, parsed.expires) = (robots.noindex, robots.nofollow, robots.expires);
        parsed.refresh = parsed.refresh.or(markup.refresh).filter(|to| *to != fetched.url);
        // What the page says of itself goes before what its server says; two different addresses are a mistake.
        if let Some(canonical) = markup.canonical {
            parsed.canonical = canonical.filter(|canonical| *canonical != fetched.url);
        }
        parsed.feeds = markup.feeds;
        parsed.document = markup.document;
        if markup.title.is_empty() {
            markup.title = markup.declared_title;
        }
        parsed.document.put_title(&markup.title);
        parsed.title = markup.title;
        lang = markup.lang;
        dates = markup.dates;
        parsed.author = markup.bylines.best(lists, &parsed.document);
    }
    parsed.text = parsed.document.main_text(&parsed.title);
    parsed.sketch = simhash::sketch(&without_address(&parsed.text, &fetched.url));
    let published = date::published(dates, &parsed.document, &parsed.title, &fetched.url);
    parsed.published = published.map(|published| published.day);
    parsed.published_at = published.and_then(|published| published.at);
    let document = &parsed.document;
    parsed.language = language::of(document.content().map(|piece| document.piece(piece)), lang.as_deref());
    if parsed.text.is_empty() {
        parsed.defects.push(Defect::NoContent);
    }
    parsed
}

/// The values of a header field, which may stand there several times.
fn header<'a>(fetched: &'a Fetched, name: &'static str) -> impl Iterator<Item = &'a str> {
    fetched.headers.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
}

/// Where a `Refresh` leads so soon that it is a redirect.
fn leads_on(refresh: &str, url: &CrawlUrl) -> Option<CrawlUrl> {
    let (delay, target) = refresh::parse(refresh)?;
    url.join(target).ok().filter(|to| delay <= refresh::REDIRECT && to != url)
}

/// Plain text: each line a block.
fn plain(text: &str) -> (ParsedDocument, bool) {
    let mut document = ParsedDocument::default();
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
            document.pieces.push(TextRun { text: start..document.text.len(), hidden: false });
            document.blocks.push(TextBlock {
                pieces: piece..piece + 1,
                region: Region::Content,
                form: BlockKind::Paragraph,
            });
        }
    }
    (document, false)
}

#[cfg(test)]
mod tests;
