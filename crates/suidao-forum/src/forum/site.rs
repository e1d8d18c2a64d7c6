//! A forum that is understood: which of a page's links are wanted and what for, which threads changed, where a list
//! goes on.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use suidao_page::model::{
    ApproxTime, CrawlUrl, ForumMap, ForumPage, ForumPageView, ForumRole, Listed, PageKind, PagingRule, ThreadRecord,
    UrlId,
};

use super::analysis::ForumProfile;
use super::explore::paged_slot;
use super::increment::{BoardScan, KnownThread, ScanResult, ThreadChange};
use super::links::columns;
use super::map::{IdPattern, MapError, offset, page_by_rule};
use super::paging::Paging;
use super::shape::UrlClassifier;

/// Width of a text that can be a thread's title where no record says so, in columns.
const TITLE: usize = 6;
/// Pages of a thread: more is no thread but a trap.
const THREAD_PAGES: u16 = 2_000;

/// A thread as it is on record.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Thread {
    /// Where it was listed.
    board: UrlId,
    known: KnownThread,
}

/// A forum that is understood.
#[derive(Clone, Serialize, Deserialize)]
pub struct ForumSite {
    map: ForumMap,
    shapes: UrlClassifier,
    boards: Vec<IdPattern>,
    threads: Vec<IdPattern>,
    offset: i32,
    roles: FxHashMap<UrlId, ForumRole>,
    /// Boards and threads by what tells them from others.
    ids: FxHashMap<String, UrlId>,
    known: FxHashMap<UrlId, Thread>,
    passes: FxHashMap<UrlId, BoardScan<UrlId>>,
    /// The last page of each thread that was fetched: what a reply changes.
    last: FxHashMap<UrlId, (UrlId, u16)>,
    /// Boards that are left out, by what tells them from others.
    left_out: FxHashSet<String>,
    /// Where the forum lies on its host: all else is none of its business.
    directory: String,
    /// Boards whose list was read, threads whose posts were.
    read: FxHashSet<UrlId>,
}

/// A thread that a page lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedThread {
    /// Its first page, as linked.
    pub url: CrawlUrl,
    /// Its number, if it is known.
    pub id: Option<UrlId>,
    /// Its title.
    pub title: String,
    /// What the list shows of it; none where it is linked beside the list.
    pub listed: Option<Listed>,
}

/// What a page of the forum says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForumPageReading {
    /// What it is.
    pub kind: PageKind,
    /// Threads, in order.
    pub threads: Vec<ListedThread>,
    /// Boards that are not known, with their names.
    pub boards: Vec<(CrawlUrl, String)>,
    /// Where the list or the thread goes on.
    pub next: Option<CrawlUrl>,
    /// When its posts were written.
    pub posts: Vec<ApproxTime>,
}

impl ForumSite {
    /// The forum of a map.
    ///
    /// # Errors
    /// [`MapError::Offset`].
    pub fn new(map: ForumMap) -> Result<Self, MapError> {
        let mut site = Self {
            shapes: UrlClassifier::from_slugs(map.slugs.clone()),
            boards: map.board_classes.iter().map(|text| IdPattern::parse(text)).collect(),
            threads: map.thread_classes.iter().map(|text| IdPattern::parse(text)).collect(),
            offset: offset(&map.offset)?,
            map,
            roles: FxHashMap::default(),
            ids: FxHashMap::default(),
            known: FxHashMap::default(),
            passes: FxHashMap::default(),
            last: FxHashMap::default(),
            left_out: FxHashSet::default(),
            directory: String::new(),
            read: FxHashSet::default(),
        };
        site.directory = directory(&site.map);
        let skipped =
            site.map.boards.iter().filter(|board| board.skip).filter_map(|board| CrawlUrl::parse(&board.url).ok());
        site.left_out = skipped.filter_map(|url| site.key(&site.boards, &url)).collect();
        Ok(site)
    }

    /// What it is understood to be.
    pub fn map(&self) -> &ForumMap {
        &self.map
    }

    /// What its pages are looked at with.
    pub fn lens(&self) -> ForumProfile {
        ForumProfile { shapes: self.shapes.clone(), threads: self.threads.clone(), offset: Some(self.offset) }
    }

    /// Its own time, in seconds east of UTC.
    pub fn offset(&self) -> i32 {
        self.offset
    }

    /// What a URL is wanted for, if anything: as was noted, else by its class.
    pub fn role(&self, id: UrlId, url: &CrawlUrl) -> Option<ForumRole> {
        if let Some(role) = self.roles.get(&id) {
            return Some(*role);
        }
        let shaped = self.shapes.shape(url);
        let is = |classes: &[IdPattern]| classes.iter().any(|class| *class.class() == shaped.class);
        if is(&self.threads) {
            Some(ForumRole::Thread)
        } else if is(&self.boards) || self.map.boards.iter().any(|board| board.url == url.as_str()) {
            Some(ForumRole::Board)
        } else {
            (url.as_str() == self.map.start).then_some(ForumRole::Start)
        }
    }

    /// Boards known, in order of discovery.
    pub fn boards(&self) -> Vec<UrlId> {
        let mut boards: Vec<UrlId> =
            self.roles.iter().filter(|(_, role)| matches!(role, ForumRole::Board)).map(|(id, _)| *id).collect();
        boards.sort_unstable();
        boards
    }

    fn key(&self, classes: &[IdPattern], url: &CrawlUrl) -> Option<String> {
        let shaped = self.shapes.shape(url);
        classes.iter().find_map(|class| class.key(&shaped))
    }

    /// Reads a page that was wanted for `role`.
    pub fn read(&self, id: UrlId, role: ForumRole, sight: &ForumPageView) -> ForumPageReading {
        let threads = if matches!(role, ForumRole::Thread | ForumRole::Continuation { .. }) {
            Vec::new()
        } else {
            self.listed(sight)
        };
        let shown = !threads.is_empty();
        let kind = match role {
            ForumRole::Thread | ForumRole::Continuation { .. } if sight.login => PageKind::Login,
            ForumRole::Thread if self.is_strange(id, sight.posts.is_empty()) => PageKind::Unread,
            ForumRole::Thread => PageKind::Thread { thread: id, page: 1 },
            ForumRole::Continuation { .. } if self.is_strange(id, sight.posts.is_empty()) => PageKind::Unread,
            ForumRole::Continuation { thread, page } => PageKind::Thread { thread, page },
            ForumRole::Board | ForumRole::Index { .. } if sight.login && !shown => PageKind::Login,
            ForumRole::Board if !shown && self.read.contains(&id) => PageKind::Unread,
            // A category, whose boards are on it.
            ForumRole::Board if !shown => PageKind::Other,
            ForumRole::Board => PageKind::Index { board: id, page: 1 },
            ForumRole::Index { board, page } => PageKind::Index { board, page },
            ForumRole::Start | ForumRole::Sample => PageKind::Other,
        };
        let next = match kind {
            PageKind::Index { page, .. } if u32::from(page) < self.map.index_pages => {
                self.after(sight, page, &self.map.board_pages, &self.boards)
            }
            // Made pages would have no end: nothing tells that a thread's page is the one before again.
            PageKind::Thread { page, .. } if page < THREAD_PAGES => self.after(sight, page, &[], &self.threads),
            _ => None,
        };
        let boards = if matches!(kind, PageKind::Thread { .. }) { Vec::new() } else { self.new_boards(sight) };
        let posts = if matches!(kind, PageKind::Thread { .. }) {
            sight.posts.iter().flatten().copied().collect()
        } else {
            Vec::new()
        };
        ForumPageReading { kind, threads, boards, next, posts }
    }

    /// A page of a thread without a post, where it had some.
    fn is_strange(&self, id: UrlId, empty: bool) -> bool {
        empty && self.read.contains(&id)
    }

    fn after(&self, sight: &ForumPageView, page: u16, rules: &[PagingRule], keys: &[IdPattern]) -> Option<CrawlUrl> {
        let page = i64::from(page);
        if let Some(paging) = Paging::of(&sight.own, page, &sight.links, &self.shapes, keys) {
            return paging.after(page);
        }
        let made = |rule: &PagingRule| page_by_rule(rule, &sight.own, page + 1, &self.shapes);
        rules.iter().filter(|rule| rule.unlinked).find_map(made)
    }

    /// Threads that a page shows: its records, then what is linked beside them.
    fn listed(&self, sight: &ForumPageView) -> Vec<ListedThread> {
        let mut seen: FxHashSet<String> = FxHashSet::default();
        let mut threads = Vec::new();
        let mut take = |url: &CrawlUrl, title: &str, listed: Option<Listed>| {
            let Some(key) = self.key(&self.threads, url) else { return };
            let id = self.ids.get(&key).copied();
            if seen.insert(key) {
                threads.push(ListedThread { url: url.clone(), id, title: title.to_owned(), listed });
            }
        };
        // A record without anything to it, where the others have something, is a link in a sidebar.
        let is_bare = |record: &&ThreadRecord| record.listed() == Listed { sticky: record.sticky, ..Listed::default() };
        let bare = sight.records.iter().filter(is_bare).count();
        let (full, beside): (Vec<_>, Vec<_>) =
            sight.records.iter().partition(|record| bare * 2 > sight.records.len() || !is_bare(record));
        for record in full {
            take(&record.url, &record.title, Some(record.listed()));
        }
        for record in beside {
            take(&record.url, &record.title, None);
        }
        for link in sight.links.iter().filter(|link| columns(&link.text) >= TITLE) {
            // Where no record was made out, links are all there is of the list.
            take(&link.url, &link.text, sight.records.is_empty().then(Listed::default));
        }
        threads
    }

    fn new_boards(&self, sight: &ForumPageView) -> Vec<(CrawlUrl, String)> {
        let mut seen: FxHashSet<String> = FxHashSet::default();
        let mut boards = Vec::new();
        for link in &sight.links {
            let shaped = self.shapes.shape(&link.url);
            let Some(class) = self.boards.iter().find(|class| *class.class() == shaped.class) else { continue };
            let Some(key) = class.key(&shaped) else { continue };
            if self.ids.contains_key(&key) || self.left_out.contains(&key) || !seen.insert(key) {
                continue;
            }
            // A link to the middle of a board: its first page is another.
            let rule = self.map.board_pages.iter().find_map(|rule| Some((rule, paged_slot(rule, class.class())?)));
            let first = rule.and_then(|(rule, slot)| shaped.with(slot, rule.first));
            boards.push((first.unwrap_or_else(|| link.url.clone()), link.text.clone()));
        }
        boards
    }

    /// What of an index page is new: threads to fetch, and whether to turn the page.
    pub fn judge(&self, board: UrlId, threads: &[(UrlId, Listed)]) -> ScanResult<UrlId> {
        self.pass(board).page(threads, |id| self.known.get(&id).map(|thread| thread.known))
    }

    fn pass(&self, board: UrlId) -> BoardScan<UrlId> {
        self.passes.get(&board).cloned().unwrap_or_else(|| BoardScan::new(self.map.index_pages))
    }

    /// The page of a thread that a reply changes.
    pub fn last_page(&self, thread: UrlId) -> UrlId {
        self.last.get(&thread).map_or(thread, |(page, _)| *page)
    }

    /// Boards are read anew from now on.
    pub fn begin_pass(&mut self, boards: &[UrlId]) {
        for board in boards {
            self.passes.remove(board);
        }
    }

    /// Whether a URL lies where the forum does.
    pub fn owns(&self, url: &CrawlUrl) -> bool {
        url.path().starts_with(&self.directory)
    }

    /// A URL leads to another: that is the board or the thread from here on.
    pub fn moved(&mut self, from: UrlId, to: UrlId) {
        let Some(role) = self.roles.remove(&from) else { return };
        self.roles.insert(to, role);
        for id in self.ids.values_mut().filter(|id| **id == from) {
            *id = to;
        }
        if let Some(pass) = self.passes.remove(&from) {
            self.passes.insert(to, pass);
        }
        if let Some(known) = self.known.remove(&from) {
            self.known.insert(to, known);
        }
        for known in self.known.values_mut().filter(|known| known.board == from) {
            known.board = to;
        }
        if let Some((page, number)) = self.last.remove(&from) {
            self.last.insert(to, (if page == from { to } else { page }, number));
        }
        if self.read.remove(&from) {
            self.read.insert(to);
        }
    }

    /// Notes what a URL is wanted for. `url`: the URL itself.
    pub fn note(&mut self, id: UrlId, role: ForumRole, url: &CrawlUrl) {
        if matches!(role, ForumRole::Board)
            && self.key(&self.boards, url).is_some_and(|key| self.left_out.contains(&key))
        {
            return;
        }
        // What was looked at before the forum was understood is what its class says.
        if matches!(role, ForumRole::Sample) {
            return;
        }
        let noted = self.roles.entry(id).or_insert(role);
        // A thread knows its own pages; that a list links to one by a number does not make it the list's.
        if let (ForumRole::Index { .. }, ForumRole::Continuation { .. }) = (&noted, role) {
            *noted = role;
        }
        let classes = match role {
            ForumRole::Thread => &self.threads,
            ForumRole::Board => &self.boards,
            _ => return,
        };
        if let Some(key) = self.key(classes, url) {
            self.ids.entry(key).or_insert(id);
        }
    }

    /// Learns from a page as it was read.
    pub fn observe(&mut self, id: UrlId, page: &ForumPage) {
        match page.kind {
            PageKind::Index { board, .. } => {
                self.read.insert(board);
            }
            PageKind::Thread { thread, page: number } => {
                if !page.posts.is_empty() {
                    self.read.insert(id);
                }
                let last = self.last.entry(thread).or_insert((id, number));
                if number >= last.1 {
                    *last = (id, number);
                }
            }
            _ => {}
        }
        for list in &page.lists {
            let mut pass = self.pass(list.board);
            let verdict = pass.page(&list.threads, |id| self.known.get(&id).map(|thread| thread.known));
            self.passes.insert(list.board, pass);
            let shown: FxHashMap<UrlId, Listed> = list.threads.iter().copied().collect();
            for (thread, listed) in &list.threads {
                // What was met beside a list first is on record without a time.
                if let Some(Thread { known, .. }) = self.known.get_mut(thread) {
                    known.last_reply = known.last_reply.or(listed.last_reply);
                    known.replies = known.replies.or(listed.replies);
                }
            }
            for (thread, change) in verdict.changed {
                let Listed { last_reply, replies, .. } = shown[&thread];
                let known = KnownThread { last_reply, replies };
                let entry = self.known.entry(thread).or_insert(Thread { board: list.board, known });
                if change == ThreadChange::Replied || entry.board == list.board {
                    entry.known = known;
                }
            }
        }
    }
}

/// The directory that holds the boards and the threads of a map: what their classes have in common, up to the first value.
fn directory(map: &ForumMap) -> String {
    let fixed = |text: &str| text[..text.find(['{', '?']).unwrap_or(text.len())].to_owned();
    let mut texts = map.board_classes.iter().chain(&map.thread_classes).map(|text| fixed(text));
    let first = texts.next().unwrap_or_default();
    let common = texts.fold(first, |common, text| {
        let same = common.bytes().zip(text.bytes()).take_while(|(one, other)| one == other).count();
        text[..same].to_owned()
    });
    common[..common.rfind('/').map_or(0, |slash| slash + 1)].to_owned()
}
