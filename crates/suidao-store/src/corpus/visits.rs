//! Which visits of a page count, and which pages are parts of one document.
//!
//! The last visit of a page is its current version, unless it is worse: a login page, or a page that is unreadable
//! after a redesign, replaces nothing. All visits of threads are kept, because each may have posts that the others
//! lack.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::entry::{CatalogueEntry, PageRole};
use suidao_page::model::{ApproxTime, ForumRole, ForumStep, Millis, PageKind, PageProcessed, UrlId};

/// A visit of a document that has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StoredVisit {
    pub document: u32,
    /// Page of the thread, from 1; 0 if it is not a thread.
    pub page: u16,
    pub batch: u64,
    /// It is the current version of its page.
    pub current: bool,
}

pub(super) enum VisitChange {
    New,
    /// It becomes the current version of the page at this index.
    Replaces(u32),
    /// It replaces nothing, but proves that the page at this index still exists.
    Rejected(u32),
}

/// The visits of a crawl so far. Memory: 24 bytes per visit and 32 per page.
#[derive(Default)]
pub(super) struct Visits {
    indexes: FxHashMap<UrlId, u32>,
    pages: Vec<PageVisits>,
    all: Vec<VisitRecord>,
}

struct PageVisits {
    kind: PageKind,
    posts: u32,
    current: u32,
    visits: u32,
    retired: bool,
}

struct VisitRecord {
    index: u32,
    page: u16,
    batch: u64,
}

impl Visits {
    pub fn add(&mut self, page: &PageProcessed, batch: u64) -> VisitChange {
        let forum = page.forum.as_ref();
        let kind = match forum.map_or(PageKind::Other, |forum| forum.kind) {
            PageKind::Other if forum.and_then(|forum| forum.view.as_ref()).is_some_and(|seen| seen.login) => {
                PageKind::Login
            }
            kind => kind,
        };
        let posts = page.forum.as_ref().map_or(0, |forum| forum.posts.len() as u32);
        if let Some(forum) = forum {
            self.learn_continuations(&forum.roles);
        }
        let current = self.all.len() as u32;
        let next = self.pages.len() as u32;
        let index = *self.indexes.entry(page.id).or_insert(next);
        self.all.push(VisitRecord { index, page: thread_page(kind), batch });
        if index == next {
            self.pages.push(PageVisits { kind, posts, current, visits: 1, retired: false });
            return VisitChange::New;
        }
        let known = &mut self.pages[index as usize];
        known.visits += 1;
        known.retired = false;
        if rank(kind) < rank(known.kind) || thread_page(kind) > 0 && posts < known.posts {
            return VisitChange::Rejected(index);
        }
        (known.kind, known.posts, known.current) = (kind, posts, current);
        VisitChange::Replaces(index)
    }

    /// A page was visited and found unchanged.
    pub fn unchanged(&self, id: UrlId, at: Millis, entries: &mut [CatalogueEntry]) {
        if let Some(&index) = self.indexes.get(&id) {
            let seen = &mut entries[index as usize].seen;
            *seen = seen.with_visit(at, false);
        }
    }

    pub fn retired(&mut self, id: UrlId) {
        if let Some(&index) = self.indexes.get(&id) {
            self.pages[index as usize].retired = true;
        }
    }

    /// Learns the roles of pages that were fetched before their forum was recognised.
    pub fn forum_recognised(&mut self, step: &ForumStep) {
        self.learn_continuations(&step.roles);
        for (id, kind, posts) in &step.read {
            self.reclassify(*id, *kind, posts);
        }
        for list in step.lists.iter().filter(|list| list.page == 1) {
            self.reclassify(list.board, PageKind::Index { board: list.board, page: 1 }, &[]);
        }
    }

    /// A page fetched earlier may prove to be the next page of a thread.
    fn learn_continuations(&mut self, roles: &[(UrlId, ForumRole)]) {
        for (id, role) in roles {
            if let ForumRole::Continuation { thread, page } = *role {
                self.reclassify(*id, PageKind::Thread { thread, page }, &[]);
            }
        }
    }

    fn reclassify(&mut self, id: UrlId, kind: PageKind, posts: &[ApproxTime]) {
        let Some(&index) = self.indexes.get(&id) else { return };
        let page = &mut self.pages[index as usize];
        if rank(page.kind) < rank(kind) {
            (page.kind, page.posts) = (kind, posts.len() as u32);
            self.all[page.current as usize].page = thread_page(kind);
        }
    }

    /// Sets the roles of the entries, and returns the visits of documents with more than one, sorted by document, page
    /// and time.
    pub fn finish(self, entries: &mut [CatalogueEntry]) -> Vec<StoredVisit> {
        for (index, entry) in entries.iter_mut().enumerate() {
            entry.role = self.role(index as u32);
            match self.pages[index].kind {
                PageKind::Index { .. } => entry.listing = true,
                // Posts are records too, but do not link to other documents.
                PageKind::Thread { .. } | PageKind::Postless { .. } => entry.listing = false,
                _ => {}
            }
        }
        let mut further: Vec<(u32, u16, u32)> = Vec::new();
        for (index, (entry, page)) in (0..).zip(entries.iter().zip(&self.pages)) {
            if let PageRole::Further(thread) = entry.role {
                further.push((thread, thread_page(page.kind), index));
            }
        }
        further.sort_unstable();
        for (thread, _, index) in &further {
            let page = &entries[*index as usize];
            let (at, seen, digest) = (page.at, page.seen, page.sketch.digest);
            let thread = &mut entries[*thread as usize];
            thread.at = thread.at.max(at);
            thread.seen.last = thread.seen.last.max(seen.last);
            thread.seen.changed = thread.seen.changed.max(seen.changed);
            thread.further = xxh3_64(&[thread.further.to_le_bytes(), digest.to_le_bytes()].concat());
        }
        let mut visits = Vec::new();
        for (at, &VisitRecord { index, page, batch }) in (0..).zip(&self.all) {
            let own = &self.pages[index as usize];
            let (document, several) = match entries[index as usize].role {
                PageRole::Further(thread) => (thread, true),
                PageRole::Thread => (index, own.visits > 1 || entries[index as usize].further != 0),
                _ => (index, own.visits > 1),
            };
            let current = own.current == at;
            let is_thread = entries[document as usize].role == PageRole::Thread;
            if several && (current || is_thread && page > 0) {
                visits.push(StoredVisit { document, page, batch, current });
            }
        }
        visits.sort_unstable();
        visits
    }

    fn role(&self, index: u32) -> PageRole {
        let thread = |id| self.indexes.get(&id).copied();
        if self.pages[index as usize].retired {
            return PageRole::Retired;
        }
        match self.pages[index as usize].kind {
            PageKind::Thread { thread: first, page } | PageKind::Postless { thread: first, page } if page > 1 => {
                match thread(first) {
                    Some(first) if thread_page(self.pages[first as usize].kind) == 1 => PageRole::Further(first),
                    // Its first page was never parsed.
                    _ => PageRole::Thread,
                }
            }
            PageKind::Thread { .. } | PageKind::Postless { .. } => PageRole::Thread,
            PageKind::Login => PageRole::Login,
            PageKind::Unread => PageRole::Unread,
            PageKind::Index { .. } | PageKind::Other => PageRole::Page,
        }
    }
}

/// Ranks a page of a forum: a version never replaces one of higher rank.
fn rank(kind: PageKind) -> u8 {
    match kind {
        PageKind::Login | PageKind::Unread => 0,
        PageKind::Other => 1,
        PageKind::Index { .. } | PageKind::Thread { .. } | PageKind::Postless { .. } => 2,
    }
}

fn thread_page(kind: PageKind) -> u16 {
    kind.thread().map_or(0, |(_, page)| page)
}
