//! What the log says of each page that was kept, as far as choosing needs it: one short entry a page, in order of
//! fetching. Apart from the documents, which hold text and are never all in memory.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::duplicates;
use crate::model::{Day, Event, Millis, Relevance, Settled, Sketch, UrlId};
use crate::store::{Store, StoreError};

/// A page that was fetched.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its URL's number.
    pub id: UrlId,
    /// Its host: an index into [`Catalogue::hosts`].
    pub host: u32,
    /// Hash of its title.
    pub title: u32,
    /// Its language: an index into [`Catalogue::languages`].
    pub language: Option<u16>,
    /// When it was fetched.
    pub at: Millis,
    /// Eq. (1).
    pub relevance: Relevance,
    /// At or above the page threshold.
    pub relevant: bool,
    /// Sketch of its main text.
    pub sketch: Sketch,
    /// When it was published, as far as it says so.
    pub published: Option<Day>,
    /// Most of it is a row of records with links.
    pub listing: bool,
    /// It asks not to be kept by search engines.
    pub noindex: bool,
    /// The archive holds its answer. False for pages of a crawl without one; they cannot be exported.
    pub archived: bool,
    /// The page of its group that is kept in its place: an index into [`Catalogue::entries`].
    pub duplicate_of: Option<u32>,
}

/// The pages of a crawl. Memory: 90 bytes a page, and while it is made
/// 90 more and 16 for each known URL.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// One for each page, in order of fetching.
    pub entries: Vec<Entry>,
    /// Names of hosts, with the port where it is not the scheme's own.
    pub hosts: Vec<String>,
    /// ISO 639-3 codes.
    pub languages: Vec<String>,
    /// Numbers of pages and of redirects, in order.
    pub(super) named: Vec<UrlId>,
    /// Batches of the log it was made from.
    pub batches: u64,
}

impl Catalogue {
    /// Reads a crawl's log and finds the groups of pages that say the same.
    ///
    /// # Errors
    /// [`StoreError`] if the log does not read.
    pub fn read(store: &Store) -> Result<Self, StoreError> {
        let mut catalogue = Self { batches: store.len(), ..Self::default() };
        let mut hosts: FxHashMap<Box<str>, u32> = FxHashMap::default();
        let mut languages: FxHashMap<Box<str>, u16> = FxHashMap::default();
        // Host and fingerprint of every known URL, by number.
        let mut known: Vec<(u32, u64)> = Vec::new();
        let mut canonical = Vec::new();
        for record in store.batches() {
            let record = record?;
            for event in record.batch.events {
                match event {
                    Event::Discovered(found) => {
                        let host = found.url.authority();
                        let host = hosts.get(host).copied().unwrap_or_else(|| {
                            let number = catalogue.hosts.len() as u32;
                            hosts.insert(host.into(), number);
                            catalogue.hosts.push(host.to_owned());
                            number
                        });
                        known.push((host, found.url.fingerprint()));
                    }
                    Event::Settled(page) => {
                        catalogue.named.push(page.id);
                        let language = page.language.as_deref().map(|language| {
                            languages.get(language).copied().unwrap_or_else(|| {
                                let number = catalogue.languages.len() as u16;
                                languages.insert(language.into(), number);
                                catalogue.languages.push(language.to_owned());
                                number
                            })
                        });
                        let (host, _) = known.get(page.id.0 as usize).copied().unwrap_or_default();
                        canonical.push(page.canonical.as_ref().map(|url| url.fingerprint()));
                        catalogue.entries.push(entry(&page, host, language, record.batch.at, record.archive.is_some()));
                    }
                    Event::Redirected { id, .. } | Event::Moved { id, .. } => catalogue.named.push(id),
                    _ => {}
                }
            }
        }
        catalogue.named.sort_unstable();
        catalogue.named.dedup();
        let fingerprint = |entry: &Entry| known.get(entry.id.0 as usize).map_or(0, |&(_, fingerprint)| fingerprint);
        let places: FxHashMap<u64, u32> =
            (0..).zip(&catalogue.entries).map(|(place, entry)| (fingerprint(entry), place)).collect();
        let canonical: Vec<Option<u32>> =
            canonical.into_iter().map(|url| url.and_then(|url| places.get(&url).copied())).collect();
        duplicates::mark(&mut catalogue.entries, &canonical);
        Ok(catalogue)
    }

    /// Name of an entry's host.
    #[must_use]
    pub fn host(&self, entry: &Entry) -> &str {
        self.hosts.get(entry.host as usize).map_or("", String::as_str)
    }

    /// ISO 639-3 code of an entry's language.
    #[must_use]
    pub fn language(&self, entry: &Entry) -> Option<&str> {
        entry.language.and_then(|language| self.languages.get(usize::from(language))).map(String::as_str)
    }
}

fn entry(page: &Settled, host: u32, language: Option<u16>, at: Millis, archived: bool) -> Entry {
    // A page from the future has no date.
    let today = crate::model::Day::at(at);
    Entry {
        id: page.id,
        host,
        title: xxh3_64(page.title.as_bytes()) as u32,
        language,
        at,
        relevance: page.relevance,
        relevant: page.relevant,
        sketch: page.sketch,
        published: page.published.filter(|day| day.0 <= today.0 + 1),
        listing: page.listing,
        noindex: page.noindex,
        archived,
        duplicate_of: None,
    }
}
