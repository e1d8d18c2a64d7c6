//! Parses sitemaps, RSS and Atom in one pass over quick-xml's events: all are lists of entries with URLs and times.
//!
//! Namespaces are recognized by prefix only: an element belongs to the list's vocabulary if it has the root's prefix,
//! so that `image:loc` is not a page. Entities defined by the document are not expanded.

use std::borrow::Cow;

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::{ADDRESSES, LONGEST, MOST, time};
use crate::model::{CrawlUrl, Fetched, Millis, SitemapContent, SitemapEntry};
use crate::read::ANCHOR;
use crate::read::dom::Dom;
use crate::read::markup::{self, fold_into};

/// Format, by the root element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    /// `urlset` or `sitemapindex`: entries are `url` and `sitemap`.
    Sitemap,
    /// `rss`, or the earlier `RDF`: entries are `item`.
    Rss,
    /// `feed`: entries are `entry`.
    Atom,
}

/// The meaning of an element's text in an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Address,
    /// A URL to use if there is no other.
    AlternativeUrl,
    Time,
    Title,
    Description,
}

struct Entry {
    name: String,
    is_sitemap: bool,
    base: CrawlUrl,
    depth: usize,
    url: Option<CrawlUrl>,
    alternative_url: Option<CrawlUrl>,
    at: Option<Millis>,
    title: String,
    description: String,
}

struct EntryParser {
    list: List,
    /// The prefix of the list's own elements.
    prefix: Option<String>,
    base: CrawlUrl,
    /// Number of open elements.
    depth: usize,
    entry: Option<Entry>,
    /// The element that is being read, its depth and its text.
    field: Option<(Field, usize)>,
    text: String,
    content: SitemapContent,
    /// Bytes of all URLs so far.
    bytes: usize,
}

/// Reads the entries; after an error keeps the complete ones.
pub(super) fn read(text: &str, url: &CrawlUrl) -> SitemapContent {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    config.expand_empty_elements = true;
    let mut walk: Option<EntryParser> = None;
    loop {
        let event = reader.read_event();
        match (&mut walk, event) {
            (_, Err(_) | Ok(Event::Eof)) => break,
            (None, Ok(Event::Start(root))) => match EntryParser::begin(&root, url) {
                Some(begun) => walk = Some(begun),
                None => break,
            },
            (Some(walk), Ok(event)) => {
                walk.take(&event);
                if walk.content.pages.len() + walk.content.sitemaps.len() >= MOST || walk.bytes >= ADDRESSES {
                    break;
                }
            }
            _ => {}
        }
    }
    walk.map(|walk| SitemapContent { feed: walk.list != List::Sitemap, ..walk.content }).unwrap_or_default()
}

impl EntryParser {
    fn begin(root: &BytesStart, url: &CrawlUrl) -> Option<Self> {
        let (name, prefix) = root.name().decompose();
        let list = match name.as_ref() {
            "urlset" | "sitemapindex" => List::Sitemap,
            "rss" | "RDF" => List::Rss,
            "feed" => List::Atom,
            _ => return None,
        };
        // Elements in RDF have no prefix, although the root has one.
        let prefix = prefix.filter(|_| list != List::Rss).map(|prefix| prefix.as_ref().to_owned());
        let content = SitemapContent::default();
        let base = based(url, root);
        Some(Self { list, prefix, base, depth: 1, entry: None, field: None, text: String::new(), content, bytes: 0 })
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Start(start) => self.start(start),
            Event::End(end) => self.end(end.name().as_ref()),
            Event::Text(text) => self.push(text),
            Event::CData(text) => self.push(text),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(c)) => self.push(c.encode_utf8(&mut [0; 4])),
                _ => self.push(resolve_xml_entity(reference).unwrap_or_default()),
            },
            _ => {}
        }
    }

    fn start(&mut self, start: &BytesStart) {
        let name = start.name();
        let (local, prefix) = name.decompose();
        let (local, prefix) = (local.as_ref(), prefix.as_ref().map(AsRef::as_ref));
        let own = prefix == self.prefix.as_deref();
        let begins = own
            && match self.list {
                List::Sitemap => matches!(local, "url" | "sitemap"),
                List::Rss => local == "item",
                List::Atom => local == "entry",
            };
        // An entry inside another of its kind: the end tag of the outer one is missing.
        if begins && self.entry.as_ref().is_none_or(|entry| entry.name == name.as_ref()) {
            self.finish();
            self.depth += 1;
            let alternative_url = attribute(start, |key| key.ends_with(":about"))
                .and_then(|description| self.base.join(&description).ok());
            self.entry = Some(Entry {
                name: name.as_ref().to_owned(),
                is_sitemap: local == "sitemap",
                base: based(&self.base, start),
                depth: self.depth,
                url: None,
                alternative_url: alternative_url.filter(|_| self.list == List::Rss),
                at: None,
                title: String::new(),
                description: String::new(),
            });
            return;
        }
        self.depth += 1;
        // `news:title` is one level deeper.
        let news = self.list == List::Sitemap && prefix == Some("news") && matches!(local, "title" | "keywords");
        let Some(entry) = self.entry.as_mut().filter(|entry| entry.depth + 1 == self.depth || news) else { return };
        self.text.clear();
        let field = match (self.list, local) {
            (_, "title") if news || own && self.list != List::Sitemap => Some(Field::Title),
            (_, "keywords") if news => Some(Field::Description),
            (List::Rss, "description") | (List::Atom, "summary") if own => Some(Field::Description),
            (List::Sitemap, "loc") if own => Some(Field::Address),
            (List::Sitemap, "lastmod") if own => Some(Field::Time),
            (List::Rss, "link") if own => Some(Field::Address),
            (List::Rss, "guid") if own => {
                let permanent = attribute(start, |key| key == "isPermaLink").is_none_or(|is| is.trim() != "false");
                permanent.then_some(Field::AlternativeUrl)
            }
            // Dublin Core (`dc:date`, `dcterms:modified`) and Atom inside RSS.
            (List::Rss, "pubDate" | "date" | "modified" | "updated" | "published") => Some(Field::Time),
            (List::Atom, "link") if own => {
                let relation = attribute(start, |key| key == "rel");
                let href = attribute(start, |key| key == "href")
                    .filter(|_| relation.is_none_or(|relation| relation.trim().eq_ignore_ascii_case("alternate")));
                if let Some(href) = href.filter(|_| entry.url.is_none()) {
                    entry.url = based(&entry.base, start).join(&href).ok();
                }
                None
            }
            // The last two are of Atom 0.3.
            (List::Atom, "updated" | "published" | "modified" | "issued") if own => Some(Field::Time),
            _ => None,
        };
        self.field = field.map(|field| (field, self.depth));
    }

    fn end(&mut self, name: &str) {
        if self.entry.as_ref().is_some_and(|entry| entry.name == name) {
            self.finish();
            return;
        }
        let field = self.field.take_if(|(_, depth)| *depth == self.depth).map(|(field, _)| field);
        if let Some(entry) = self.entry.as_mut() {
            let url =
                || Some(self.text.trim()).filter(|text| !text.is_empty()).and_then(|text| entry.base.join(text).ok());
            match field {
                Some(Field::Address) => entry.url = entry.url.take().or_else(url),
                Some(Field::AlternativeUrl) => entry.alternative_url = url(),
                Some(Field::Time) => entry.at = entry.at.max(time::read(&self.text)),
                Some(Field::Title) => entry.title = plain(&self.text),
                Some(Field::Description) => entry.description = plain(&self.text),
                None => {}
            }
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Ends the entry and its open elements.
    fn finish(&mut self) {
        self.field = None;
        let Some(entry) = self.entry.take() else { return };
        self.depth = entry.depth - 1;
        let url = entry.url.or(entry.alternative_url);
        self.bytes += url.as_ref().map_or(0, |url| url.as_str().len());
        match url {
            Some(url) if entry.is_sitemap => self.content.sitemaps.push(url),
            Some(url) => {
                let anchor = clipped(&entry.title);
                self.content.pages.push(SitemapEntry {
                    at: entry.at,
                    anchor,
                    description: entry.description,
                    ..SitemapEntry::bare(url)
                });
            }
            None => {}
        }
    }

    fn push(&mut self, text: &str) {
        let Some((field, _)) = self.field.filter(|(_, depth)| *depth == self.depth) else { return };
        let room = LONGEST.saturating_sub(self.text.len());
        if matches!(field, Field::Title | Field::Description) {
            self.text.push_str(&text[..text.floor_char_boundary(room)]);
        } else if text.len() > room {
            self.field = None;
        } else {
            self.text.push_str(text);
        }
    }
}

/// The visible text of a title or description, which may be HTML, escaped or not.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    if text.contains('<') || text.contains('&') {
        let nowhere = CrawlUrl::parse("http://a/").expect("a URL");
        let page = Fetched::html(nowhere, text.to_owned());
        fold_into(&mut plain, &markup::read(&Dom::of(&page), true, None).document.text);
    } else {
        fold_into(&mut plain, text);
    }
    plain
}

/// A title cut to the length of an anchor text.
fn clipped(title: &str) -> String {
    let anchor: String = title.chars().take(ANCHOR).collect();
    anchor.trim_end().to_owned()
}

/// The first attribute with a matching name.
fn attribute(start: &BytesStart, is: impl Fn(&str) -> bool) -> Option<String> {
    // The check for duplicates would take quadratic time.
    let mut attributes = start.attributes();
    let found = attributes.with_checks(false).flatten().find(|attribute| is(attribute.key.as_ref()))?;
    let value = found.normalized_value(XmlVersion::Implicit1_0);
    // A lone ampersand is literal.
    let value = value.map_or_else(|_| found.value.to_string(), Cow::into_owned);
    (value.len() <= LONGEST).then_some(value)
}

/// The base of references in an element (`xml:base`).
fn based(base: &CrawlUrl, start: &BytesStart) -> CrawlUrl {
    attribute(start, |key| key == "xml:base").and_then(|own| base.join(&own).ok()).unwrap_or_else(|| base.clone())
}
