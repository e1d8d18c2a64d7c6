//! What selection needs from the log about each stored page: one short entry per page, in order of fetching.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::duplicates::{self, CanonicalClaim};
use super::entry::{CatalogueEntry, PageRole, SeenTimes};
use super::first_posts::FirstPosts;
use super::visits::{StoredVisit, VisitChange, Visits};
use crate::store::{Store, StoreError};
use suidao_forum::forum::map::offset;
use suidao_page::model::{CrawlUrl, Event, ForumMap, Millis, PageProcessed, UrlId};
use suidao_page::read::language_tag;

/// The pages of a crawl. Memory: 110 bytes per page, 24 for each visit of a page with several visits or of a thread,
/// and while it is built 150 more per page and 16 per known URL.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// In order of first fetching.
    pub entries: Vec<CatalogueEntry>,
    /// With the port unless it is the default.
    pub hosts: Vec<String>,
    /// ISO 639-3 codes.
    pub languages: Vec<String>,
    /// Numbers of pages and redirects, sorted.
    pub(super) named: Vec<UrlId>,
    /// Visits of documents with more than one, sorted by document, page and time.
    pub(super) visits: Vec<StoredVisit>,
    /// Offset from UTC of each forum, in seconds, by host.
    pub(super) offsets: FxHashMap<u32, i32>,
    pub batches: u64,
}

impl Catalogue {
    /// Reads a crawl's log and groups duplicates.
    pub fn read(store: &Store) -> Result<Self, StoreError> {
        let mut catalogue = Self { batches: store.len(), ..Self::default() };
        let mut hosts: FxHashMap<Box<str>, u32> = FxHashMap::default();
        let mut languages: FxHashMap<Box<str>, u16> = FxHashMap::default();
        // Host and fingerprint of every known URL, by number.
        let mut known: Vec<(u32, u64)> = Vec::new();
        let mut canonical = Vec::new();
        let mut visits = Visits::default();
        let mut first_posts = FirstPosts::default();
        let mut moved: FxHashMap<UrlId, UrlId> = FxHashMap::default();
        let mut expire: FxHashMap<u32, Millis> = FxHashMap::default();
        let mut now = Millis(0);
        let mut in_round = false;
        for (number, record) in (0..).zip(store.batches()) {
            let record = record?;
            now = now.max(record.batch.at);
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
                    // Unchanged content is not another version.
                    Event::PageFetched(_) if record.revisit => {}
                    Event::PageFetched(page) => {
                        catalogue.named.push(page.id);
                        let language = page.language.as_deref().map(|language| {
                            languages.get(language).copied().unwrap_or_else(|| {
                                let number = catalogue.languages.len() as u16;
                                languages.insert(language.into(), number);
                                catalogue.languages.push(language_tag(language).to_owned());
                                number
                            })
                        });
                        let (host, _) = known.get(page.id.0 as usize).copied().unwrap_or_default();
                        let address = page.canonical.as_ref().map(|url| url.fingerprint());
                        let mut entry = entry(&page, host, language, record.batch.at, record.archive.is_some());
                        entry.by_refresh = in_round;
                        let address = address.map(|address| (address, page.copy_of.is_some()));
                        let change = visits.add(&page, number);
                        if let Some(forum) = &page.forum {
                            first_posts.observe(forum, host);
                        }
                        let position = match change {
                            VisitChange::New => Some(catalogue.entries.len() as u32),
                            VisitChange::Replaces(position) => Some(position),
                            VisitChange::Rejected(_) => None,
                        };
                        match position.zip(page.expires) {
                            Some((position, at)) => expire.insert(position, at),
                            None => position.and_then(|position| expire.remove(&position)),
                        };
                        match change {
                            VisitChange::New => {
                                canonical.push(address);
                                catalogue.entries.push(entry);
                            }
                            VisitChange::Replaces(position) => {
                                canonical[position as usize] = address;
                                let known = &mut catalogue.entries[position as usize];
                                let seen = known.seen_again(record.batch.at, Some(entry.sketch.digest));
                                *known = CatalogueEntry { seen, by_refresh: known.by_refresh, ..entry };
                            }
                            VisitChange::Rejected(position) => {
                                let known = &mut catalogue.entries[position as usize];
                                known.seen = known.seen_again(record.batch.at, None);
                            }
                        }
                        if let Some(map) = page.forum.and_then(|forum| forum.map) {
                            catalogue.offsets.extend(offset(&map.offset).map(|offset| (host, offset)));
                        }
                    }
                    Event::Forum(step) => {
                        visits.forum_recognised(&step);
                        for (id, kind, posts) in &step.read {
                            let host = known.get(id.0 as usize).map_or(0, |&(host, _)| host);
                            first_posts.observe_posts(*kind, posts, host);
                        }
                        let host = |map: &ForumMap| hosts.get(CrawlUrl::parse(&map.start).ok()?.authority()).copied();
                        if let Some((map, host)) = step.map.as_ref().and_then(|map| Some((map, host(map)?))) {
                            catalogue.offsets.extend(offset(&map.offset).map(|offset| (host, offset)));
                        }
                    }
                    Event::Redirected { id, link, .. } | Event::SchemeRewritten { id, link } => {
                        moved.extend(link.map(|link| (id, link.to)));
                        catalogue.named.push(id);
                    }
                    // So that pages found there can name it.
                    Event::SitemapRead { id, .. } => catalogue.named.push(id),
                    Event::Refresh(step) => in_round = step.is_round_after(in_round),
                    Event::Unchanged { id, .. } => visits.unchanged(id, record.batch.at, &mut catalogue.entries),
                    Event::PageGone { id, .. } => visits.retired(id),
                    _ => {}
                }
            }
        }
        catalogue.named.sort_unstable();
        catalogue.named.dedup();
        catalogue.visits = visits.finish(&mut catalogue.entries);
        let offset_of = |host: u32| catalogue.offsets.get(&host).copied().unwrap_or(0);
        for entry in catalogue.entries.iter_mut().filter(|entry| entry.role == PageRole::Thread) {
            entry.published = first_posts.day(entry.id, offset_of).or(entry.published);
        }
        // Compared with the crawl's own time, so that two exports are equal.
        for (position, at) in expire {
            catalogue.entries[position as usize].noindex |= at <= now;
        }
        let fingerprint =
            |entry: &CatalogueEntry| known.get(entry.id.0 as usize).map_or(0, |&(_, fingerprint)| fingerprint);
        let mut positions: FxHashMap<u64, u32> =
            (0..).zip(&catalogue.entries).map(|(position, entry)| (fingerprint(entry), position)).collect();
        // A redirected URL counts as its target.
        for from in moved.keys() {
            let next = |id: &UrlId| moved.get(id).copied();
            let name = |id: UrlId| known.get(id.0 as usize).map(|&(_, fingerprint)| fingerprint);
            // The first page: a chain may lead back to its beginning.
            let page =
                std::iter::successors(next(from), next).take(16).find_map(|id| positions.get(&name(id)?).copied());
            if let Some((from, position)) = name(*from).zip(page) {
                positions.entry(from).or_insert(position);
            }
        }
        let claim = |(url, believed): (u64, bool)| {
            Some(CanonicalClaim { to: positions.get(&url).copied()?, accepted: believed })
        };
        let canonical: Vec<Option<CanonicalClaim>> =
            canonical.into_iter().map(|claim_of| claim_of.and_then(claim)).collect();
        duplicates::mark_duplicates(&mut catalogue.entries, &canonical);
        Ok(catalogue)
    }

    /// The visits of a document; empty if it has only one.
    pub(super) fn visits(&self, position: usize) -> &[StoredVisit] {
        let from = self.visits.partition_point(|visit| (visit.document as usize) < position);
        let until = self.visits.partition_point(|visit| visit.document as usize <= position);
        &self.visits[from..until]
    }

    pub fn host(&self, entry: &CatalogueEntry) -> &str {
        self.hosts.get(entry.host as usize).map_or("", String::as_str)
    }

    pub fn language(&self, entry: &CatalogueEntry) -> Option<&str> {
        entry.language.and_then(|language| self.languages.get(usize::from(language))).map(String::as_str)
    }
}

fn entry(page: &PageProcessed, host: u32, language: Option<u16>, at: Millis, archived: bool) -> CatalogueEntry {
    // A date in the future is dropped.
    let today = suidao_page::model::Day::at(at);
    let canonical = page.canonical.as_ref().map_or("", |url| url.as_str());
    let metadata =
        [page.title.as_str(), page.author.as_deref().unwrap_or(""), page.language.as_deref().unwrap_or(""), canonical];
    CatalogueEntry {
        id: page.id,
        host,
        title: xxh3_64(page.title.as_bytes()) as u32,
        metadata_hash: xxh3_64(metadata.join("\0").as_bytes()) as u32,
        language,
        at,
        relevance: page.relevance,
        on_topic: page.on_topic,
        sketch: page.sketch,
        published: page.published.filter(|day| day.0 <= today.0 + 1),
        listing: page.listing,
        noindex: page.noindex,
        foreign: page.foreign,
        archived,
        duplicate_of: None,
        role: PageRole::Page,
        by_refresh: false,
        seen: SeenTimes::once(at),
        further: 0,
    }
}
