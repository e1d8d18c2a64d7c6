//! Reads a response as a [`crate::model::Page`]. Pure; never fails.

pub mod address;
mod anchor;
mod article;
mod article_body;
mod block_kind;
mod byline;
mod canonical;
pub mod charset;
pub mod coding;
mod content;
mod cyrillic;
mod date;
mod document;
pub mod dom;
pub mod element_role;
mod flow;
mod formula;
mod hanzi;
mod header;
mod headline;
mod inserts;
pub mod json_ld;
mod language;
mod layout;
mod links;
pub mod markdown;
pub mod markup;
mod media;
pub mod names;
mod phrases;
mod records;
pub mod references;
mod refresh;
mod robots;
pub mod scripts;
mod sitemap;
mod source;
mod tags;
mod teasers;
pub mod tokens;
mod videos;
mod words;

use sha1::{Digest as _, Sha1};

pub(crate) use anchor::ANCHOR;
pub use anchor::anchor;
pub use charset::CharsetFrom;
pub use date::{date_at_start, first_date, month_named, writes_month_first};
pub use document::{BlockKind, DocumentLink, ParsedDocument, TextBlock, TextPiece};
pub use language::{UnknownLanguage, language_code, language_tag};
pub use media::is_page;
pub use sitemap::read_sitemap;

use self::dom::{Dom, NodeContent};
use crate::model::{CrawlUrl, Day, Defect, Digest, Fetched, Millis, Region, Sketch, Timestamp};
use crate::text::{simhash, without_address};

/// The default name for robots directives.
pub const ROBOT: &str = "suidao";

/// A page before scoring.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    pub document: ParsedDocument,
    /// White space folded; empty if there is none.
    pub title: String,
    /// The title without the name of the site; empty if there is no title.
    pub headline: String,
    /// Main content without the title: paragraphs separated by one line feed, list items with `- ` or their number,
    /// table cells separated by tabs, program code with lines and indentation.
    pub text: String,
    /// ISO 639-3 code, if detected.
    pub language: Option<String>,
    /// Author, if the page names one.
    pub author: Option<String>,
    /// The medium that it says it is taken from.
    pub source: Option<String>,
    /// Files and players of its videos, at most 16.
    pub videos: Vec<CrawlUrl>,
    /// WHATWG name of the charset that the body was decoded with.
    pub charset: String,
    /// Source of the charset.
    pub charset_from: CharsetFrom,
    /// SHA-1 of the body, or of the rendered page.
    pub digest: Digest,
    pub bytes: u32,
    /// The page or a header field forbids indexing.
    pub noindex: bool,
    /// The page or a header field forbids following its links.
    pub nofollow: bool,
    /// Indexing is forbidden from this time on (`unavailable_after`).
    pub expires: Option<Millis>,
    /// Target of `meta refresh` or `Refresh`, if at most some seconds later.
    pub refresh: Option<CrawlUrl>,
    /// `rel=canonical`, if it names another URL.
    pub canonical: Option<CrawlUrl>,
    /// Its feeds, at most 4.
    pub feeds: Vec<CrawlUrl>,
    pub sketch: Sketch,
    /// Publication date in the page's own zone.
    pub published: Option<Day>,
    /// The instant of publication, if time and zone are stated.
    pub published_at: Option<Timestamp>,
    /// It is not a document, but leads to documents.
    pub listing: bool,
    /// Read from what a browser made of the page after running its scripts.
    pub rendered: bool,
    /// Recorded for [`Self::markdown`].
    layout: Option<layout::Layout>,
    pub defects: Vec<Defect>,
}

/// Reads a response with the directives for [`ROBOT`].
pub fn parse(fetched: &Fetched) -> Parsed {
    parse_dom(&Dom::of(fetched), ROBOT)
}

/// Reads a page with the directives for a robot of this name. What is neither HTML nor text is empty, with
/// [`Defect::NotText`].
pub fn parse_dom(dom: &Dom, robot: &str) -> Parsed {
    parse_and_record(dom, robot, None)
}

/// [`parse_dom`] of a page that is exported as Markdown.
pub fn parse_with_layout(dom: &Dom) -> Parsed {
    parse_and_record(dom, ROBOT, Some(layout::Recorder::default()))
}

fn parse_and_record(dom: &Dom, robot: &str, mut recorder: Option<layout::Recorder>) -> Parsed {
    let fetched = dom.response();
    let mut parsed = Parsed {
        document: ParsedDocument::default(),
        title: String::new(),
        headline: String::new(),
        text: String::new(),
        language: None,
        author: None,
        source: None,
        videos: Vec::new(),
        charset: dom.charset.to_owned(),
        charset_from: dom.charset_from,
        digest: Digest(Sha1::digest(&fetched.body).into()),
        bytes: u32::try_from(fetched.body.len()).unwrap_or(u32::MAX),
        noindex: false,
        nofollow: false,
        expires: None,
        refresh: header(fetched, "refresh").find_map(|value| redirect_target(value, &fetched.url)),
        canonical: None,
        feeds: Vec::new(),
        sketch: Sketch::default(),
        published: None,
        published_at: None,
        listing: false,
        rendered: fetched.rendered.is_some(),
        layout: None,
        defects: dom.defects.clone(),
    };
    let mut robots = robots::RobotsDirectives::named(robot);
    for (_, value) in fetched.headers.iter().filter(|(name, _)| name == "x-robots-tag") {
        robots.read(value);
    }
    (parsed.noindex, parsed.nofollow, parsed.expires) = (robots.noindex, robots.nofollow, robots.expires);
    let canonical = header(fetched, "link").find_map(header::canonical);
    let canonical = canonical.and_then(|reference| {
        fetched.url.join(reference).ok().filter(|target| canonical::counts(reference, target, &fetched.url))
    });
    parsed.canonical = canonical.filter(|canonical| *canonical != fetched.url);
    if dom.kind.is_none() {
        parsed.defects.push(Defect::NotText);
        return parsed;
    }
    if fetched.unverified {
        parsed.defects.push(Defect::Unverified);
    }
    let (mut lang, mut dates) = (None, date::Dates::default());
    if !dom.is_html() {
        let (document, cut) = plain(dom);
        parsed.document = document;
        if cut {
            parsed.defects.push(Defect::CutShort);
        }
    } else {
        let mut markup = markup::read(dom, false, recorder.as_mut());
        if markup.document.pieces.is_empty() {
            markup = markup::read(dom, true, recorder.as_mut());
        }
        let lists = date::is_section(&fetched.url);
        let open = content::decide(&mut markup, fetched.url.host(), lists);
        block_kind::decide(&mut markup);
        parsed.listing = records::is_listing(&markup, &open, &fetched.url);
        if markup.title.is_empty() {
            markup.title.clone_from(&markup.declared_title);
        }
        parsed.headline = headline::of(&markup, fetched.url.host());
        if markup.cut {
            parsed.defects.push(Defect::CutShort);
        }
        markup.robots.iter().for_each(|(name, directives)| robots.read_meta(name, directives));
        (parsed.noindex, parsed.nofollow, parsed.expires) = (robots.noindex, robots.nofollow, robots.expires);
        parsed.refresh = parsed.refresh.or(markup.refresh).filter(|to| *to != fetched.url);
        // The page's own declaration precedes the server's; two different URLs cancel it.
        if let Some(canonical) = markup.canonical {
            parsed.canonical = canonical.filter(|canonical| *canonical != fetched.url);
        }
        parsed.feeds = markup.feeds;
        parsed.document = markup.document;
        let layout = |recorder| layout::Layout::of(recorder, markup.elements, &markup.block_stats, &markup.title);
        parsed.layout = recorder.map(layout);
        parsed.document.put_title(&markup.title);
        parsed.title = markup.title;
        lang = markup.lang;
        dates = markup.dates;
        parsed.author = markup.bylines.best(lists, &parsed.document, &parsed.title, &fetched.url);
        parsed.source = markup.sources.best(lists || parsed.listing, &parsed.document);
        parsed.videos = markup.videos;
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

/// The text of an HTML answer, or of the page that a browser made of it; `None` if it is not HTML.
pub fn html(fetched: &Fetched) -> Option<String> {
    let fetched = &*fetched.as_rendered();
    let is_html = media::kind(fetched) == Some(media::MediaKind::Html);
    is_html.then(|| charset::decode(&fetched.body, fetched.content_type().as_deref()).text.into_owned())
}

/// The values of a repeatable header field.
fn header<'a>(fetched: &'a Fetched, name: &'static str) -> impl Iterator<Item = &'a str> {
    fetched.headers.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
}

/// Target of a `Refresh` that counts as a redirect.
fn redirect_target(refresh: &str, url: &CrawlUrl) -> Option<CrawlUrl> {
    let (delay, target) = refresh::parse(refresh)?;
    url.join(target).ok().filter(|to| delay <= refresh::REDIRECT && to != url)
}

/// Reads plain text: each line is a block.
fn plain(dom: &Dom) -> (ParsedDocument, bool) {
    let mut document = ParsedDocument::default();
    let text = (1..dom.len()).find_map(|node| match dom.content(node) {
        NodeContent::Text(text) => Some(&**text),
        _ => None,
    });
    let text = text.unwrap_or_default();
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
            document.pieces.push(TextPiece { text: start..document.text.len(), hidden: false });
            document.blocks.push(TextBlock {
                pieces: piece..piece + 1,
                region: Region::Content,
                kind: BlockKind::Paragraph,
            });
        }
    }
    (document, false)
}

#[cfg(test)]
mod tests;
