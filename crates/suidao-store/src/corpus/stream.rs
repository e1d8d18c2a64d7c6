//! The selected pages in order of first fetching, in bounded memory: metadata comes from the log, the response from the
//! archive, the text from parsing. The pages of a thread form one document, at the place of the first.
//!
//! Memory: a portion of documents with their compressed answers, and the URLs of all ([`UrlNames`]).

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::MAX_BODY;
use super::boilerplate::Boilerplate;
use super::catalogue::Catalogue;
use super::document::{CorpusDocument, ForumPost, OutLink, Parts, QueueScores, WarcLocation, id};
use super::entry::{CatalogueEntry, PageRole};
use super::filter::Selection;
use super::first_posts::day;
use super::names::UrlNames;
use super::thread::{MergedPosts, ThreadPage, forum_post, merge};
use super::thread_boilerplate::ThreadBoilerplate;
use super::visits::StoredVisit;
use crate::store::archive::{ArchiveReader, Location, unpack_records};
use crate::store::directory::WriteError;
use crate::store::{Store, StoreError, rfc3339};
use suidao_forum::forum::analysis::posts_of;
use suidao_forum::forum::clock::KnownTimes;
use suidao_page::model::{Batch, CrawlUrl, Day, Event, Fetched, Millis, PageProcessed, TunnelBudget};
use suidao_page::read;
use suidao_page::read::dom::Dom;
use suidao_page::read::language_tag;
use suidao_page::topic::Sample;

/// Pages read and parsed at a time.
const PORTION: usize = 128;

/// A response of a document, as it is in the archive.
pub struct StoredResponse {
    /// Its request and response, compressed.
    pub records: Vec<u8>,
    location: Location,
    path: PathBuf,
    at: Millis,
    /// Page of the thread; 0 if it is not a thread.
    page: u16,
    visit: u64,
    /// It is the current version of its page, not an earlier visit.
    current: bool,
}

impl StoredResponse {
    /// The decoded response.
    pub fn fetched(&self) -> Result<Fetched, StoreError> {
        unpack_records(&self.records, &self.path, self.location, MAX_BODY)
    }
}

/// A selected document, with its metadata and its compressed answers.
pub struct SelectedDocument<'a> {
    pub entry: &'a CatalogueEntry,
    /// Its index in the catalogue: the number of pages fetched before it.
    pub number: usize,
    /// The log's record of it; of a thread, of its first page.
    pub page: &'a PageProcessed,
    /// One answer, or for a thread those of all visits of its pages, by page and time.
    pub responses: &'a [StoredResponse],
    /// The response of the page itself.
    own: usize,
    catalogue: &'a Catalogue,
    names: &'a UrlNames,
    repeats: &'a Boilerplate,
    announced: &'a AtomicU64,
}

impl SelectedDocument<'_> {
    pub fn document(&self, parts: Parts) -> Result<CorpusDocument, StoreError> {
        let posts = parts.posts && self.entry.role == PageRole::Thread;
        if self.counts(parts) || posts || parts.links || parts.media {
            return self.assembled(Some(&Dom::of(&self.fetched()?)), parts);
        }
        self.assembled(None, parts)
    }

    /// Whether its characters are counted in its text, not taken from the log: lines of boilerplate may be missing.
    fn counts(&self, parts: Parts) -> bool {
        parts.text || parts.posts && self.repeats.cuts(self.entry.host)
    }

    /// As [`Self::document`], of its own response, parsed already.
    pub fn document_of(&self, dom: &Dom, parts: Parts) -> Result<CorpusDocument, StoreError> {
        self.assembled(Some(dom), parts)
    }

    /// `dom`: the own response, if these parts need it.
    fn assembled(&self, dom: Option<&Dom>, parts: Parts) -> Result<CorpusDocument, StoreError> {
        let own = &self.responses[self.own];
        let ThreadPosts { posts, opened } = match dom {
            Some(dom) if parts.text || parts.posts => self.posts(dom)?,
            _ => ThreadPosts::default(),
        };
        // A thread without recognisable posts is exported like any other page.
        let stated = (!posts.is_empty()).then(|| {
            let shown = posts.iter().filter(|post| !post.text.is_empty());
            let text = |post: &ForumPost| if parts.markdown { post.markdown() } else { post.text.clone() };
            shown.map(text).collect::<Vec<_>>().join("\n\n")
        });
        let is_parsed = parts.links || parts.media || self.counts(parts) && stated.is_none();
        let parse = |dom| if parts.markdown { read::parse_with_layout(dom) } else { read::parse_dom(dom, read::ROBOT) };
        let parsed = dom.filter(|_| is_parsed).map(parse);
        let url = self.url()?;
        let media = parsed.as_ref().filter(|_| parts.media);
        let (source, videos) = media.map(|page| (page.source.clone(), page.videos.clone())).unwrap_or_default();
        let mut links = Vec::new();
        if let Some(parsed) = parsed.as_ref().filter(|_| parts.links) {
            links.extend(linked(parsed));
            for (position, response) in self.responses.iter().enumerate() {
                if response.current && position != self.own {
                    links.extend(linked(&read::parse(&response.fetched()?)));
                }
            }
        }
        // What the page of a thread names an author may be a whole line, or the author of another post.
        let byline = || self.page.author.clone().filter(|author| !self.repeats.is_site(self.entry.host, author));
        let author = posts.first().map_or_else(byline, |first| first.author.clone());
        let published = opened.or(self.entry.published);
        let title = match self.repeats.forum(self.entry.host).filter(|_| self.entry.role == PageRole::Thread) {
            Some(forum) => forum.title(&self.page.title, self.names.linked_text(self.page.id)),
            None => self.repeats.title(self.entry.host, &self.page.title),
        };
        let page_text = parsed.as_ref().map_or("", |parsed| &parsed.text);
        let kept = self.repeats.content_range(self.entry.host, page_text);
        let is_cut = kept.len() < page_text.len();
        let count = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
        let counted = match &stated {
            Some(_) => Some(posts.iter().map(|post| count(&post.text)).sum()),
            None => is_cut.then(|| count(&page_text[kept.clone()])),
        };
        let text = match (stated, &parsed) {
            _ if !parts.text => String::new(),
            (Some(stated), _) => stated,
            (None, Some(parsed)) if parts.markdown => parsed.markdown(kept),
            (None, _) => page_text[kept].to_owned(),
        };
        let PageProcessed { queued_as: entry, .. } = *self.page;
        let named =
            |position: u32| self.catalogue.entries.get(position as usize).and_then(|entry| self.names.url(entry.id));
        let mut origins = self.names.origins(self.page.id).into_iter().filter_map(|from| self.names.url(from).cloned());
        Ok(CorpusDocument {
            id: id(&url),
            host: url.authority().to_owned(),
            url,
            title: title.to_owned(),
            chars: counted.map_or(self.page.sketch.chars, |chars: usize| u32::try_from(chars).unwrap_or(u32::MAX)),
            text,
            language: self.page.language.as_deref().map(|code| language_tag(code).to_owned()),
            author,
            source,
            published,
            fetched: rfc3339(self.entry.at),
            fetched_at: self.entry.at,
            seen: self.entry.seen,
            first_seen: rfc3339(self.entry.seen.first),
            last_seen: rfc3339(self.entry.seen.last),
            last_changed: rfc3339(self.entry.seen.changed),
            versions: self.entry.seen.versions,
            status: self.page.status,
            relevance: self.page.relevance,
            relevant: self.entry.is_relevant(),
            terms: self.page.terms.clone(),
            anchor: self.names.anchor(self.page.id).to_owned(),
            scores: QueueScores { priority: entry.priority.get(), queue: entry.queue.0 },
            k: match entry.path.k {
                TunnelBudget::Left(k) => Some(k),
                TunnelBudget::Unbounded => None,
            },
            hops: entry.path.hops,
            depth: entry.path.depth,
            found_on: origins.next(),
            redirect_origins: origins.collect(),
            digest: self.page.digest,
            simhash: format!("{:016x}", self.page.sketch.simhash),
            duplicate_of: self.entry.duplicate_of.and_then(named).cloned(),
            canonical: self.page.canonical.clone(),
            listing: self.entry.listing,
            noindex: self.entry.noindex,
            links,
            videos,
            posts: posts.into_iter().filter(|_| parts.posts).collect(),
            extracted: serde_json::Map::new(),
            warc: WarcLocation {
                file: own.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                offset: own.location.offset,
                length: own.location.length,
            },
        })
    }

    pub fn url(&self) -> Result<CrawlUrl, StoreError> {
        match self.names.url(self.page.id) {
            Some(url) => Ok(url.clone()),
            None => Ok(self.responses[self.own].fetched()?.url),
        }
    }

    /// The page to learn a topic from.
    pub fn sample(&self) -> Result<Sample, StoreError> {
        Ok(Sample::from_fetched(&self.responses[self.own].fetched()?))
    }

    /// The decoded response of the page itself.
    pub fn fetched(&self) -> Result<Fetched, StoreError> {
        self.responses[self.own].fetched()
    }

    /// The HTML of the page; `None` if it is not HTML.
    pub fn html(&self) -> Result<Option<String>, StoreError> {
        Ok(read::html(&self.responses[self.own].fetched()?))
    }

    /// `dom`: the own response.
    fn posts(&self, dom: &Dom) -> Result<ThreadPosts, StoreError> {
        if self.entry.role != PageRole::Thread {
            return Ok(ThreadPosts::default());
        }
        let known = KnownTimes { offset: self.catalogue.offsets.get(&self.entry.host).copied(), month_first: None };
        let read = |position: usize, known| {
            let response = &self.responses[position];
            if position == self.own {
                return Ok(posts_of(dom, known, response.at));
            }
            Ok(posts_of(&Dom::of(&response.fetched()?), known, response.at))
        };
        let mut pages = (0..self.responses.len()).map(|at| read(at, known)).collect::<Result<Vec<_>, StoreError>>()?;
        let forum = self.repeats.forum(self.entry.host);
        // All pages of the thread, and some of others, show the order of day and month.
        let dates =
            pages.iter().fold(forum.map(ThreadBoilerplate::dates).unwrap_or_default(), |all, page| all.and(page.dates));
        if let Some(month_first) = dates.month_first() {
            for (at, page) in pages.iter_mut().enumerate().filter(|(_, page)| page.month_first != month_first) {
                *page = read(at, KnownTimes { month_first: Some(month_first), ..known })?;
            }
        }
        let offset = pages.first().map_or(0, |page| page.offset);
        let pages = pages.into_iter().zip(self.responses).map(|(page, response)| ThreadPage {
            page: response.page,
            visit: response.visit,
            posts: page.posts,
        });
        let MergedPosts { posts, announced } = merge(pages.collect(), forum);
        self.announced.fetch_add(u64::from(announced), Ordering::Relaxed);
        let opened = posts.first().and_then(|first| day(first.posted?, offset));
        Ok(ThreadPosts { posts: posts.into_iter().map(forum_post).collect(), opened })
    }
}

/// The posts of a thread, and when the first was written.
#[derive(Default)]
struct ThreadPosts {
    posts: Vec<ForumPost>,
    opened: Option<Day>,
}

fn linked(parsed: &read::Parsed) -> impl Iterator<Item = OutLink> {
    parsed.document.links.iter().map(|link| OutLink {
        url: link.url.clone(),
        anchor: read::anchor(&parsed.document, link.anchor.clone()),
        region: link.region,
        nofollow: link.nofollow,
    })
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streamed {
    pub pages: u64,
    /// Bytes of its records in the archive.
    pub archived: u64,
    /// Threads whose posts are without an announcement that staff shows above them.
    pub announced: u64,
}

/// Passes the selected pages on in order of fetching: `render` turns each into output, on all cores; `write` receives
/// that in order, while the next are rendered. The first error ends it.
pub fn stream<T: Send>(
    store: &Store,
    catalogue: &Catalogue,
    selection: &Selection,
    render: impl Fn(&SelectedDocument) -> Result<T, WriteError> + Sync,
    mut write: impl FnMut(T) -> Result<(), WriteError> + Send,
) -> Result<Streamed, WriteError> {
    let names = UrlNames::read(store, catalogue)?;
    let repeats = Boilerplate::learn(store, catalogue, selection)?;
    let mut archive = ArchiveReader::new(store.directory(), MAX_BODY);
    let mut streamed = Streamed::default();
    let announced = AtomicU64::new(0);
    let mut portion: Vec<Waiting> = Vec::with_capacity(PORTION);
    let mut ready: Vec<T> = Vec::new();
    let mut next = 0;
    let mut turn = |portion: &mut Vec<Waiting>, ready: &mut Vec<T>| -> Result<(), WriteError> {
        let rendered = |waiting: &Waiting| {
            render(&SelectedDocument {
                entry: &catalogue.entries[waiting.number],
                number: waiting.number,
                page: &waiting.page,
                responses: &waiting.responses,
                own: waiting.own,
                catalogue,
                names: &names,
                repeats: &repeats,
                announced: &announced,
            })
        };
        let before = std::mem::take(ready);
        let (written, next) = rayon::join(
            || before.into_iter().try_for_each(&mut write),
            || portion.par_iter().map(rendered).collect::<Result<Vec<T>, WriteError>>(),
        );
        written?;
        *ready = next?;
        portion.clear();
        Ok(())
    };
    for (visit, record) in (0..).zip(store.batches()) {
        let record = record?;
        let answered = record.response();
        let Batch { at, events, .. } = record.batch;
        for event in events {
            let Event::PageFetched(page) = event else { continue };
            // The first visit of the next page; its other visits belong to it.
            let Some(entry) = catalogue.entries.get(next).filter(|entry| entry.id == page.id) else { continue };
            let number = next;
            next += 1;
            if !selection.chosen.get(number).copied().unwrap_or(false) {
                continue;
            }
            let visits = catalogue.visits(number);
            let waiting = if visits.is_empty() {
                let Some(location) = answered else { continue };
                let (records, path) = archive.records(location)?;
                let page_number = u16::from(entry.role == PageRole::Thread);
                let response = StoredResponse { records, location, path, at, page: page_number, visit, current: true };
                Some(Waiting { number, page, responses: vec![response], own: 0 })
            } else {
                gather(store, &mut archive, number, entry, visits)?
            };
            if let Some(waiting) = waiting {
                streamed.pages += 1;
                streamed.archived +=
                    waiting.responses.iter().map(|response| response.records.len() as u64).sum::<u64>();
                portion.push(waiting);
            }
        }
        if portion.len() >= PORTION {
            turn(&mut portion, &mut ready)?;
        }
    }
    turn(&mut portion, &mut ready)?;
    turn(&mut portion, &mut ready)?;
    streamed.announced = announced.into_inner();
    Ok(streamed)
}

struct Waiting {
    number: usize,
    page: Box<PageProcessed>,
    responses: Vec<StoredResponse>,
    own: usize,
}

/// The visits of a document; `None` if the archive lacks its own.
fn gather(
    store: &Store,
    archive: &mut ArchiveReader,
    number: usize,
    entry: &CatalogueEntry,
    visits: &[StoredVisit],
) -> Result<Option<Waiting>, StoreError> {
    let mut responses = Vec::with_capacity(visits.len());
    let mut own = None;
    for &StoredVisit { page, batch, current, .. } in visits {
        let record = store.batch(batch)?;
        let Some(location) = record.response() else { continue };
        let Batch { at, events, .. } = record.batch;
        let settled = events.into_iter().find_map(|event| match event {
            Event::PageFetched(settled) => Some(settled),
            _ => None,
        });
        if let Some(settled) = settled.filter(|settled| current && settled.id == entry.id) {
            own = Some((settled, responses.len()));
        }
        let (records, path) = archive.records(location)?;
        responses.push(StoredResponse { records, location, path, at, page, visit: batch, current });
    }
    Ok(own.map(|(page, own)| Waiting { number, page, responses, own }))
}

#[cfg(test)]
mod tests {
    use super::super::Filter;
    use super::super::fixture::{crawl, revisited};
    use super::*;

    fn documents(store: &Store, parts: Parts) -> Result<Vec<CorpusDocument>, WriteError> {
        let catalogue = Catalogue::read(store).unwrap();
        let mut documents = Vec::new();
        let render = |chosen: &SelectedDocument| Ok(chosen.document(parts)?);
        let streamed = stream(store, &catalogue, &Filter::default().select(&catalogue), render, |document| {
            documents.push(document);
            Ok(())
        })?;
        assert_eq!(streamed.pages, documents.len() as u64);
        Ok(documents)
    }

    #[test]
    fn pages_come_in_order_with_all_that_is_on_record() {
        let root = tempfile::tempdir().unwrap();
        let urls: Vec<String> = (0..300).map(|n| format!("http://h{}.cn/{n}", n % 3)).collect();
        let html: Vec<String> = (0..300)
            .map(|n| format!("<title>第{n}页</title><p>足球 {n}</p><p><a href=/{n}/x rel=nofollow>更多</a></p>"))
            .collect();
        let pages: Vec<(&str, &str)> = urls.iter().zip(&html).map(|(u, h)| (u.as_str(), h.as_str())).collect();
        let store = crawl(root.path(), &pages);
        let all = documents(&store, Parts { text: true, links: true, posts: true, ..Parts::default() }).unwrap();
        assert_eq!(all.iter().map(|document| document.url.as_str()).collect::<Vec<_>>(), urls);
        let (first, last) = (&all[0], &all[299]);
        assert_eq!((&first.found_on, first.anchor.as_str(), first.depth), (&None, "", 0));
        assert_eq!((last.found_on.as_ref().unwrap(), last.anchor.as_str()), (&first.url, "链接299"));
        assert_eq!((last.title.as_str(), last.host.as_str()), ("第299页", "h2.cn"));
        assert_eq!(last.text, "足球 299\n更多");
        assert_eq!(last.fetched, "2023-11-14T22:18:19Z");
        assert_eq!((last.links[0].url.as_str(), last.links[0].nofollow), ("http://h2.cn/299/x", true));
        assert!(all.iter().all(|document| document.id.len() == 32));
        let lean = documents(&store, Parts::default()).unwrap();
        assert!(lean.iter().zip(&all).all(|(lean, full)| {
            (&lean.id, lean.chars, &lean.warc, &*lean.text) == (&full.id, full.chars, &full.warc, "")
                && lean.links.is_empty()
        }));
    }

    #[test]
    fn a_page_that_came_again_is_the_document_that_it_was() {
        let root = tempfile::tempdir().unwrap();
        let before = crawl(root.path(), &[("http://a.cn/1", "<p>足球"), ("http://a.cn/2", "<p>篮球")]);
        let all = Parts { text: true, links: true, posts: true, ..Parts::default() };
        let documents_before = documents(&before, all).unwrap();
        let settled = before.batch(0).unwrap().batch;
        drop(before);
        let store = revisited(root.path(), settled, documents_before[0].fetched_at);
        assert!(store.batch(2).unwrap().revisit);
        assert_eq!(documents(&store, all).unwrap(), documents_before);
        // Later pages are found as before.
        drop(store);
        let store = crawl(root.path(), &[("http://a.cn/3", "<p>排球")]);
        let later = documents(&store, all).unwrap();
        assert_eq!((later.len(), &later[..2]), (3, &documents_before[..]));
        assert!(later[2].text.contains("排球"));
    }

    #[test]
    fn a_damaged_record_is_reported_and_ends_it() {
        let root = tempfile::tempdir().unwrap();
        let pages: Vec<(String, String)> =
            (0..10).map(|n| (format!("http://a.cn/{n}"), format!("<p>{}", "足球".repeat(500)))).collect();
        let pages: Vec<(&str, &str)> = pages.iter().map(|(u, h)| (u.as_str(), h.as_str())).collect();
        let store = crawl(root.path(), &pages);
        let archive = root.path().join("pages/suidao-00000.warc.gz");
        let mut bytes = std::fs::read(&archive).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0);
        std::fs::write(&archive, bytes).unwrap();
        let Err(WriteError::Source(error)) = documents(&store, Parts { text: true, ..Parts::default() }) else {
            panic!()
        };
        assert!(error.to_string().contains("suidao-00000.warc.gz"), "{error}");
    }
}
