//! Dates in a page's markup: `meta` elements, marked elements and their text, scripts.

use std::sync::LazyLock;

use html5ever::tokenizer::Tag;
use html5ever::{LocalName, local_name};
use rustc_hash::FxHashMap;

use super::FEW;
use super::names::NameSignal;
use super::script;
use super::words::{self, DateSense};
use super::written::{ParsedDate, epoch, first, located};
use crate::model::CrawlUrl;
use crate::read::json_ld::JsonLd;
use crate::read::markup::{attribute, is_json_ld};
use crate::read::tokens::head;

/// Bytes of a marked element's text to read.
const TEXT: usize = 200;
/// Bytes of an attribute's value to read.
const VALUE: usize = 120;
/// Maximum dates of marked elements; a page may contain 400,000.
const MARKS: usize = 400;
/// Bytes of a name that declares a date.
const SIGN: usize = 48;
/// Bytes of scripts to search for data.
const SCRIPTS: usize = 512 << 10;
/// Maximum headings.
const HEADINGS: usize = 8;

/// Lower-case names of `meta` elements for the publication date: Open Graph, schema.org, Dublin Core, and those of
/// Chinese portals and publishing systems.
const PUBLISHED: &str = "article:published_time|og:published_time|og:article:published_time|article:create_at|article:published|\
    bytedance:published_time|datepublished|date_published|publishdate|publish_date|published_date|publish-date|\
    published-date|publisheddate|publishtime|publish_time|published_time|pubdate|pub_date|pubtime|publication_date|\
    publication-date|publicationdate|article.published|article_date_original|article:post_date|article.created|\
    dc.date.issued|dc.date.published|dc.date.publication|dcterms.issued|dcterms.created|dc.date.created|\
    dcterms.date.issued|citation_publication_date|citation_online_date|sailthru.date|parsely-pub-date|\
    shareaholic:article_published_time|rnews:datepublished|vr:published-time|originalpublicationdate|ptime|\
    article_date";

/// Names that may also mean a modification date.
const DATED: &str = "date|dc.date|dcterms.date|dc:date|og:time|og:date|article:date|time|displaydate|sitename_date|\
    cxenseparse:recs:publishtime|created|citation_date";

/// Names for the creation date of what the page shows.
const CREATED: &str = "datecreated|uploaddate|article:created_time|creation_date|og:created_time|ctime";

/// Names for the modification date.
const CHANGED: &str = "article:modified_time|og:updated_time|datemodified|last-modified|lastmod|modified|dcterms.modified|\
    dc.date.modified|revised|og:modified_time|article:modified|modified_time";

/// Where a date was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateKind {
    /// Declared as publication date.
    Published,
    /// Attribute of a `time` element.
    Time,
    /// Text of a `time` element, or of one whose name means a date.
    Shown,
    Created,
    Changed,
    /// In an element named after something else: an event, today.
    Other,
}

/// A date in an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct DateElement {
    pub(super) kind: DateKind,
    pub(super) written: ParsedDate,
    /// Explicitly named as publication date.
    pub(super) labelled: bool,
    /// Among comments, related pages or similar.
    pub(super) aside: bool,
    /// Characters of the page's text before it.
    pub(super) at: usize,
}

/// An open element whose text is read for a date.
#[derive(Debug)]
struct OpenDateElement {
    name: LocalName,
    /// Open elements of its name, including itself.
    depth: u32,
    kind: DateKind,
    /// Its name means the publication date, regardless of the text next to it.
    certain: bool,
    text: String,
    at: usize,
}

impl OpenDateElement {
    /// Separates the text before and after a tag.
    fn part(&mut self) {
        if !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }
}

#[derive(Debug, Default)]
pub(in crate::read) struct Dates {
    pub(super) meta: Option<ParsedDate>,
    pub(super) dated: Option<ParsedDate>,
    pub(super) created: Option<ParsedDate>,
    pub(super) changed: Option<ParsedDate>,
    pub(super) json_ld: Vec<ParsedDate>,
    pub(super) json_ld_created: Vec<ParsedDate>,
    pub(super) marks: Vec<DateElement>,
    pub(super) data: Vec<ParsedDate>,
    /// Offsets of `h1` headings in characters of text; of `h2` if there is none.
    pub(super) headings: Vec<usize>,
    lower: Vec<usize>,
    /// Declared language, in lower case.
    language: String,
    /// Characters of text so far.
    at: usize,
    window: Option<OpenDateElement>,
    /// The open element about other pages, and the number of open elements of its name.
    aside: Option<(LocalName, u32)>,
    /// The open element whose text is not shown.
    raw: Option<Raw>,
    script: String,
    /// Bytes of scripts read so far.
    scanned: usize,
}

/// Whether `3/4/2019` means March 4 on a page of this declared language, in lower case: of English-speaking countries
/// only in the United States, and most English pages without a country are from there.
pub fn writes_month_first(language: &str, url: &CrawlUrl) -> bool {
    const OF_NO_COUNTRY: [&str; 6] = ["us", "io", "co", "ai", "tv", "me"];
    let domain = url.host().rsplit('.').next().unwrap_or_default();
    let elsewhere = domain.len() == 2 && !OF_NO_COUNTRY.contains(&domain);
    language == "en-us" || !elsewhere && matches!(language, "en" | "")
}

impl Dates {
    pub(in crate::read) fn tag(&mut self, tag: &Tag) {
        self.end_script();
        if let Some(window) = &mut self.window {
            window.depth += u32::from(window.name == tag.name);
            window.part();
        }
        if let Some((name, depth)) = &mut self.aside {
            *depth += u32::from(*name == tag.name);
        }
        match tag.name {
            local_name!("html") => self.html(tag),
            local_name!("h1") if self.headings.len() < HEADINGS => self.headings.push(self.at),
            local_name!("h2") if self.lower.len() < HEADINGS => self.lower.push(self.at),
            local_name!("script") => self.raw = Some(if is_json_ld(tag) { Raw::Other } else { Raw::Script }),
            local_name!("style") => self.raw = Some(Raw::Other),
            local_name!("body") => return,
            _ => {}
        }
        // More marked elements add nothing.
        if !tag.attrs.is_empty() && (self.marks.len() < MARKS || tag.name == local_name!("meta")) {
            self.element(tag);
        }
    }

    pub(in crate::read) fn end(&mut self, name: &LocalName) {
        if self.raw.is_some() {
            self.end_script();
        }
        if let Some(window) = self.window.as_mut() {
            window.depth = window.depth.saturating_sub(u32::from(window.name == *name));
            window.part();
            if window.depth == 0 {
                self.end_window();
            }
        }
        if let Some((_, depth)) = self.aside.as_mut().filter(|(aside, _)| aside == name) {
            *depth = depth.saturating_sub(1);
            if *depth == 0 {
                self.aside = None;
            }
        }
    }

    /// Reads text of the markup, including scripts.
    pub(in crate::read) fn text(&mut self, text: &str) {
        if let Some(raw) = self.raw {
            if raw == Raw::Script && self.scanned < SCRIPTS {
                let part = head(text, SCRIPTS - self.scanned);
                self.scanned += text.len();
                self.script.push_str(part);
            }
            return;
        }
        self.at += text.trim().len();
        if let Some(window) = &mut self.window {
            window.text.push_str(head(text, TEXT.saturating_sub(window.text.len())));
            if window.text.len() >= TEXT {
                self.end_window();
            }
        }
    }

    pub(in crate::read) fn json_ld(&mut self, script: &JsonLd) {
        let found = script::json_ld(script);
        // Several scripts may declare one each; a list of articles declares many in one.
        let room = 4 * FEW - self.json_ld.len().min(4 * FEW);
        self.json_ld.extend(found.published.into_iter().take(room));
        let room = 4 * FEW - self.json_ld_created.len().min(4 * FEW);
        self.json_ld_created.extend(found.created.into_iter().take(room));
        self.changed = self.changed.or(found.changed.first().copied());
    }

    pub(super) fn writes_month_first(&self, url: &CrawlUrl) -> bool {
        writes_month_first(&self.language, url)
    }

    pub(super) fn finish(&mut self) {
        self.end_script();
        self.end_window();
        if self.headings.is_empty() {
            self.headings = std::mem::take(&mut self.lower);
        }
    }

    fn end_script(&mut self) {
        self.raw = None;
        if !self.script.is_empty() {
            let few = 2 * FEW;
            self.data.extend(script::data(&self.script, few - self.data.len().min(few)));
            self.script.clear();
        }
    }

    fn html(&mut self, tag: &Tag) {
        if let Some(lang) = attribute(tag, &local_name!("lang")).filter(|_| self.language.is_empty()) {
            self.language = head(lang.trim(), 16).to_ascii_lowercase().replace('_', "-");
        }
    }

    fn element(&mut self, tag: &Tag) {
        let (mut sign, mut value, mut title, mut named) = (None, None, None, NameSignal::default());
        let time = tag.name == local_name!("time");
        for attribute in tag.attrs.iter().take(24) {
            let text = &*attribute.value;
            match &*attribute.name.local {
                "name" | "property" | "itemprop" | "http-equiv" => sign = sign.or_else(|| declared(text)),
                "datetime" | "content" => value = value.or(Some(text)),
                "data-datetime" | "data-date" | "data-published" if !text.is_empty() => value = value.or(Some(text)),
                "title" => title = Some(text),
                "pubdate" => sign = sign.or(Some(Sign::Published)),
                "class" | "id" => named.read(text),
                _ => {}
            }
        }
        if tag.name == local_name!("meta") {
            if let Some(sign) = sign {
                self.meta(tag, sign, value.unwrap_or_default());
            }
            return;
        }
        let holds_all = matches!(tag.name, local_name!("html") | local_name!("article") | local_name!("main"));
        if (named.aside || tag.name == local_name!("aside")) && self.aside.is_none() && !holds_all {
            self.aside = Some((tag.name.clone(), 1));
        }
        if holds_all || !(time || sign.is_some() || named.dated) {
            return;
        }
        let kind = match sign {
            Some(Sign::Published) => DateKind::Published,
            Some(Sign::Created) => DateKind::Created,
            Some(Sign::Changed) => DateKind::Changed,
            _ if named.other && !time => DateKind::Other,
            _ if named.changed => DateKind::Changed,
            _ if named.published && !named.aside => DateKind::Published,
            _ if time => DateKind::Time,
            _ => DateKind::Shown,
        };
        // The title of a link or picture is a sentence.
        let value = value.or(title.filter(|_| tag.name != local_name!("a") || kind == DateKind::Published));
        let written = value.and_then(instant);
        let at = self.at;
        if let Some(written) = written {
            self.mark(DateElement { kind, written, labelled: false, aside: self.aside.is_some(), at });
        }
        let void = matches!(tag.name, local_name!("input") | local_name!("img") | local_name!("link"));
        // Of nested elements the outer one, unless it is still empty: its text may be one date in parts.
        if void || tag.self_closing || self.window.as_ref().is_some_and(|window| !window.text.trim().is_empty()) {
            return;
        }
        let kind = match kind {
            // The text shows the page's own day; the attribute may be in another zone.
            DateKind::Time => DateKind::Shown,
            kind => kind,
        };
        let certain = sign == Some(Sign::Published);
        self.window =
            Some(OpenDateElement { name: tag.name.clone(), depth: 1, kind, certain, text: String::new(), at });
    }

    fn meta(&mut self, tag: &Tag, sign: Sign, value: &str) {
        let Some(written) = instant(value) else { return };
        // In the body, `itemprop` may be about any item.
        let of_item = tag.attrs.iter().any(|attribute| attribute.name.local == local_name!("itemprop"));
        if of_item {
            let kind = match sign {
                Sign::Published => DateKind::Published,
                Sign::Dated => DateKind::Time,
                Sign::Created => DateKind::Created,
                Sign::Changed => DateKind::Changed,
            };
            self.mark(DateElement { kind, written, labelled: false, aside: self.aside.is_some(), at: self.at });
            return;
        }
        let position = match sign {
            Sign::Published => &mut self.meta,
            Sign::Dated => &mut self.dated,
            Sign::Created => &mut self.created,
            Sign::Changed => &mut self.changed,
        };
        *position = position.or(Some(written));
    }

    fn end_window(&mut self) {
        let Some(window) = self.window.take() else { return };
        let text = window.text.trim();
        let Some((start, written)) = located(text, text.len() < 48) else { return };
        let sense = words::sense(&text[..start], "");
        let kind = match (window.kind, sense) {
            (kind, _) if window.certain => kind,
            (_, Some(DateSense::Other)) => return,
            (_, Some(DateSense::Changed)) => DateKind::Changed,
            (DateKind::Changed, Some(DateSense::Published)) => DateKind::Shown,
            (kind, _) => kind,
        };
        let labelled = sense == Some(DateSense::Published);
        self.mark(DateElement { kind, written, labelled, aside: self.aside.is_some(), at: window.at });
    }

    fn mark(&mut self, mark: DateElement) {
        if self.marks.len() < MARKS {
            self.marks.push(mark);
        }
    }
}

/// Owner of text that is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Raw {
    /// A script that may contain data.
    Script,
    /// A style, or a script read elsewhere.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Published,
    Dated,
    Created,
    Changed,
}

fn instant(value: &str) -> Option<ParsedDate> {
    let value = head(value, VALUE);
    first(value, true).or_else(|| epoch(value))
}

static SIGNS: LazyLock<FxHashMap<&'static str, Sign>> = LazyLock::new(|| {
    let of = |names: &'static str, sign| names.split('|').map(move |name| (name, sign));
    let known = of(PUBLISHED, Sign::Published).chain(of(DATED, Sign::Dated));
    known.chain(of(CREATED, Sign::Created)).chain(of(CHANGED, Sign::Changed)).collect()
});

/// The meaning of a `name`, `property` or `itemprop`.
fn declared(value: &str) -> Option<Sign> {
    value.split_ascii_whitespace().take(4).filter(|name| name.len() <= SIGN).find_map(|name| {
        let name = name.to_ascii_lowercase();
        let bare = name.strip_prefix("schema:").or_else(|| name.rsplit("schema.org/").next());
        SIGNS.get(bare.unwrap_or(&name)).copied()
    })
}
