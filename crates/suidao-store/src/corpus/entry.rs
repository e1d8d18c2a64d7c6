//! One page of the catalogue.

use suidao_page::model::{Day, Millis, Relevance, Sketch, UrlId, is_document};

/// A fetched page, by its last visit with content.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogueEntry {
    pub id: UrlId,
    /// Index into [`super::Catalogue::hosts`].
    pub host: u32,
    pub title: u32,
    /// Hash of its title, author, language and canonical URL.
    pub metadata_hash: u32,
    /// Index into [`Catalogue::languages`](super::Catalogue::languages).
    pub language: Option<u16>,
    /// When it was fetched; of a thread, its page fetched last.
    pub at: Millis,
    /// Eq. (1).
    pub relevance: Relevance,
    /// At or above the page threshold, listings included.
    pub on_topic: bool,
    pub sketch: Sketch,
    /// Publication date, if it states one; of a thread, that of its first post.
    pub published: Option<Day>,
    /// Most of it is records with links, or it is a list of threads.
    pub listing: bool,
    /// It has noindex, or its `unavailable_after` has passed.
    pub noindex: bool,
    /// Its language is not one that the crawl keeps.
    pub foreign: bool,
    /// The archive has its response. False in a crawl without an archive, whose pages cannot be exported.
    pub archived: bool,
    /// The best page of its group of duplicates: an index into [`Catalogue::entries`](super::Catalogue::entries).
    pub duplicate_of: Option<u32>,
    pub role: PageRole,
    /// A round of `suidao refresh` found it, after the crawl.
    pub by_refresh: bool,
    /// When it was seen, and how often it changed.
    pub seen: SeenTimes,
    /// Fingerprint of the further pages of a thread; 0 without any.
    pub further: u64,
}

impl CatalogueEntry {
    /// Whether it can be exported and is not a part of another document.
    pub fn is_whole(&self) -> bool {
        self.archived && matches!(self.role, PageRole::Page | PageRole::Thread)
    }

    /// Whether it has a text of its own and is not a listing.
    pub fn is_document(&self) -> bool {
        is_document(self.listing, self.sketch)
    }

    /// Whether it is a relevant document: listings do not count as relevant.
    pub fn is_relevant(&self) -> bool {
        self.on_topic && self.is_document()
    }

    /// The times of the page after one more visit.
    pub(super) fn seen_again(&self, at: Millis, text: Option<u64>) -> SeenTimes {
        self.seen.with_visit(at, text.is_some_and(|text| text != self.sketch.digest))
    }
}

/// The part that a page plays in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageRole {
    Page,
    /// The first page of a thread, which is the document of all its pages.
    Thread,
    /// A further page of the thread at this index of the catalogue.
    Further(u32),
    /// Not a document: it declares the page at this index as its canonical URL, and has the same text.
    Copy(u32),
    /// Not a document: a login page instead of a thread or a list.
    Login,
    /// Not a document: it no longer looks like the thread or list that it was.
    Unread,
    /// No longer a document: it was missing for longer than the grace, or has moved.
    Retired,
}

/// When a page was seen, and how often it changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenTimes {
    pub first: Millis,
    /// When it was last seen; of a thread, any of its pages.
    pub last: Millis,
    /// When its current text was first seen; of a thread, that of any of its pages.
    pub changed: Millis,
    /// Number of different texts in succession.
    pub versions: u32,
}

impl SeenTimes {
    pub fn once(at: Millis) -> Self {
        Self { first: at, last: at, changed: at, versions: 1 }
    }

    /// Adds a visit; `is_other`: its text differs from that of the previous visit.
    pub(super) fn with_visit(self, at: Millis, is_other: bool) -> Self {
        let changed = if is_other { at } else { self.changed };
        Self { last: at, changed, versions: self.versions + u32::from(is_other), ..self }
    }
}
