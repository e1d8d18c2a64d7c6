//! What a page's markup says of its date: meta elements, marked elements and what stands in them, scripts.

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

/// Bytes of a marked element's text that are read.
const TEXT: usize = 200;
/// Bytes of an attribute's value.
const VALUE: usize = 120;
/// Dates of marked elements that are kept: a page may hold 400,000.
const MARKS: usize = 400;
/// Bytes of a name that declares a date.
const SIGN: usize = 48;
/// Bytes of scripts that are looked at for data.
const SCRIPTS: usize = 512 << 10;
/// Headings that are remembered.
const HEADINGS: usize = 8;

/// Names of meta elements that say when the page was published (Open Graph, schema.org, Dublin Core, and what Chinese
/// portals and publishers' systems have in their place), in lower case.
const PUBLISHED: &str = "article:published_time|og:published_time|og:article:published_time|article:create_at|article:published|\
    bytedance:published_time|datepublished|date_published|publishdate|publish_date|published_date|publish-date|\
    published-date|publisheddate|publishtime|publish_time|published_time|pubdate|pub_date|pubtime|publication_date|\
    publication-date|publicationdate|article.published|article_date_original|article:post_date|article.created|\
    dc.date.issued|dc.date.published|dc.date.publication|dcterms.issued|dcterms.created|dc.date.created|\
    dcterms.date.issued|citation_publication_date|citation_online_date|sailthru.date|parsely-pub-date|\
    shareaholic:article_published_time|rnews:datepublished|vr:published-time|originalpublicationdate|ptime|\
    article_date";

/// Names that may mean a date of change too.
const DATED: &str = "date|dc.date|dcterms.date|dc:date|og:time|og:date|article:date|time|displaydate|sitename_date|\
    cxenseparse:recs:publishtime|created|citation_date";

/// Of the making of what the page shows.
const CREATED: &str = "datecreated|uploaddate|article:created_time|creation_date|og:created_time|ctime";

/// Of the last change.
const CHANGED: &str = "article:modified_time|og:updated_time|datemodified|last-modified|lastmod|modified|dcterms.modified|\
    dc.date.modified|revised|og:modified_time|article:modified|modified_time";

/// What kind of sign a date was found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateKind {
    /// Marked as that of publication.
    Published,
    /// A `time` element's attribute.
    Time,
    /// What is shown in an element named after dates, or a `time`.
    Shown,
    Created,
    Changed,
    /// In an element named after another thing: an event, today.
    Other,
}

/// A date of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct DateElement {
    pub(super) kind: DateKind,
    pub(super) written: ParsedDate,
    /// Said to be that of publication in so many words.
    pub(super) said: bool,
    /// It stands among comments, related pages and the like.
    pub(super) aside: bool,
    /// Characters of the page's text before it.
    pub(super) at: usize,
}

/// An open element whose text is read for a date.
#[derive(Debug)]
struct Window {
    name: LocalName,
    /// Elements of its name that are open, itself among them.
    depth: u32,
    kind: DateKind,
    /// The named thing is the page's date of publication, whatever the text says beside it.
    certain: bool,
    text: String,
    at: usize,
}

impl Window {
    /// A tag stands in its text.
    fn part(&mut self) {
        if !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }
}

/// What a page's markup says of its date.
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
    /// Where headings of the first order stand, in characters of text; of the second, where there is none.
    pub(super) headings: Vec<usize>,
    lower: Vec<usize>,
    /// The language it declares, in lower case.
    language: String,
    /// Characters of text so far.
    at: usize,
    window: Option<Window>,
    /// The open element that is about other pages, and how many of its name are open.
    aside: Option<(LocalName, u32)>,
    /// What text belongs to, where it is not shown.
    raw: Option<Raw>,
    script: String,
    /// Bytes of scripts looked at.
    looked: usize,
}

impl Dates {
    /// Takes in a start tag.
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
        // Where so many are marked nothing more is learnt.
        if !tag.attrs.is_empty() && (self.marks.len() < MARKS || tag.name == local_name!("meta")) {
            self.element(tag);
        }
    }

    /// Takes in an end tag.
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

    /// Takes in text as it stands in the markup, that of scripts too.
    pub(in crate::read) fn text(&mut self, text: &str) {
        if let Some(raw) = self.raw {
            if raw == Raw::Script && self.looked < SCRIPTS {
                let part = head(text, SCRIPTS - self.looked);
                self.looked += text.len();
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

    /// Takes in a script of JSON-LD.
    pub(in crate::read) fn json_ld(&mut self, script: &JsonLd<'_>) {
        let found = script::json_ld(script);
        // Several scripts may each declare one, a list of articles many in one.
        let room = 4 * FEW - self.json_ld.len().min(4 * FEW);
        self.json_ld.extend(found.published.into_iter().take(room));
        let room = 4 * FEW - self.json_ld_created.len().min(4 * FEW);
        self.json_ld_created.extend(found.created.into_iter().take(room));
        self.changed = self.changed.or(found.changed.first().copied());
    }

    /// Whether the page's country writes `3/4/2019` in March. Of those that speak English the United States alone do, and
    /// pages that name no country are mostly theirs.
    pub(super) fn writes_month_first(&self, url: &CrawlUrl) -> bool {
        const OF_NO_COUNTRY: [&str; 6] = ["us", "io", "co", "ai", "tv", "me"];
        let domain = url.host().rsplit('.').next().unwrap_or_default();
        let elsewhere = domain.len() == 2 && !OF_NO_COUNTRY.contains(&domain);
        self.language == "en-us" || !elsewhere && matches!(self.language.as_str(), "en" | "")
    }

    /// The markup is at its end.
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
        // A title of a link or a picture is a sentence.
        let value = value.or(title.filter(|_| tag.name != local_name!("a") || kind == DateKind::Published));
        let written = value.and_then(instant);
        let at = self.at;
        if let Some(written) = written {
            self.mark(DateElement { kind, written, said: false, aside: self.aside.is_some(), at });
        }
        let void = matches!(tag.name, local_name!("input") | local_name!("img") | local_name!("link"));
        // The outer of two such elements, unless nothing has come in it: what it holds is one date in parts.
        if void || tag.self_closing || self.window.as_ref().is_some_and(|window| !window.text.trim().is_empty()) {
            return;
        }
        let kind = match kind {
            // What it shows is the page's own day, and its attribute may be another zone's.
            DateKind::Time => DateKind::Shown,
            kind => kind,
        };
        let certain = sign == Some(Sign::Published);
        self.window = Some(Window { name: tag.name.clone(), depth: 1, kind, certain, text: String::new(), at });
    }

    fn meta(&mut self, tag: &Tag, sign: Sign, value: &str) {
        let Some(written) = instant(value) else { return };
        // In the body `itemprop` may be of any thing there.
        let of_item = tag.attrs.iter().any(|attribute| attribute.name.local == local_name!("itemprop"));
        if of_item {
            let kind = match sign {
                Sign::Published => DateKind::Published,
                Sign::Dated => DateKind::Time,
                Sign::Created => DateKind::Created,
                Sign::Changed => DateKind::Changed,
            };
            self.mark(DateElement { kind, written, said: false, aside: self.aside.is_some(), at: self.at });
            return;
        }
        let place = match sign {
            Sign::Published => &mut self.meta,
            Sign::Dated => &mut self.dated,
            Sign::Created => &mut self.created,
            Sign::Changed => &mut self.changed,
        };
        *place = place.or(Some(written));
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
        let said = sense == Some(DateSense::Published);
        self.mark(DateElement { kind, written, said, aside: self.aside.is_some(), at: window.at });
    }

    fn mark(&mut self, mark: DateElement) {
        if self.marks.len() < MARKS {
            self.marks.push(mark);
        }
    }
}

/// What text that is not shown belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Raw {
    /// A script that may hold data.
    Script,
    /// A style, or a script that is read on its own.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Published,
    Dated,
    Created,
    Changed,
}

/// The date in an attribute's value.
fn instant(value: &str) -> Option<ParsedDate> {
    let value = head(value, VALUE);
    first(value, true).or_else(|| epoch(value))
}

static SIGNS: LazyLock<FxHashMap<&'static str, Sign>> = LazyLock::new(|| {
    let of = |names: &'static str, sign| names.split('|').map(move |name| (name, sign));
    let known = of(PUBLISHED, Sign::Published).chain(of(DATED, Sign::Dated));
    known.chain(of(CREATED, Sign::Created)).chain(of(CHANGED, Sign::Changed)).collect()
});

/// What the value of a `name`, `property` or `itemprop` declares.
fn declared(value: &str) -> Option<Sign> {
    value.split_ascii_whitespace().take(4).filter(|name| name.len() <= SIGN).find_map(|name| {
        let name = name.to_ascii_lowercase();
        let bare = name.strip_prefix("schema:").or_else(|| name.rsplit("schema.org/").next());
        SIGNS.get(bare.unwrap_or(&name)).copied()
    })
}
