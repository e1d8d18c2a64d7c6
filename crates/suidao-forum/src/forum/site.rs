//! A forum with a known structure: which links of a page are needed and why, which threads changed, where a list
//! continues.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use suidao_page::model::{
    ApproxTime, BoardEntry, CrawlUrl, ForumMap, ForumPage, ForumPageView, ForumRole, ListedActivity, PageKind,
    PagingRule, ThreadRecord, UrlId,
};

use super::analysis::ForumProfile;
use super::explore::paged_slot;
use super::increment::{BoardScan, KnownThread, ScanResult, ThreadChange};
use super::links::columns;
use super::map::{IdPattern, MapError, offset, page_by_rule};
use super::paging::{PageAddress, Paging};
use super::schedule::{BoardDemand, BoardStatistics};
use super::url_classes::UrlClassifier;

/// Minimum width of a thread title without a record, in columns.
const TITLE: usize = 6;
/// Maximum number of pages of a thread: more is a trap.
const THREAD_PAGES: u16 = 2_000;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Thread {
    /// Board that lists it.
    board: UrlId,
    known: KnownThread,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct ForumSite {
    map: ForumMap,
    classifier: UrlClassifier,
    boards: Vec<IdPattern>,
    threads: Vec<IdPattern>,
    offset: i32,
    roles: FxHashMap<UrlId, ForumRole>,
    /// Boards and threads by key.
    ids: FxHashMap<String, UrlId>,
    known: FxHashMap<UrlId, Thread>,
    scans: FxHashMap<UrlId, BoardScan<UrlId>>,
    /// The last fetched page of each thread, where replies appear.
    last: FxHashMap<UrlId, (UrlId, u16)>,
    /// Excluded boards, by key.
    excluded_boards: FxHashSet<String>,
    /// The forum's directory on its host; links outside it are ignored.
    directory: String,
    /// Boards and threads successfully read.
    read: FxHashSet<UrlId>,
    /// URLs that the forum links and that redirect to a board or a thread: its pages may be linked by them.
    linked: FxHashMap<UrlId, CrawlUrl>,
    /// Other hosts to which it redirects its pages.
    hosts: BTreeSet<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedThread {
    /// Its first page, as linked.
    pub url: CrawlUrl,
    /// Its number, if it is known.
    pub id: Option<UrlId>,
    pub title: String,
    /// Fields of its line; none if it is linked outside the list.
    pub listed: Option<ListedActivity>,
}

/// Content of a forum page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedForumPage {
    pub kind: PageKind,
    pub threads: Vec<ListedThread>,
    /// New boards, with their names.
    pub boards: Vec<(CrawlUrl, String)>,
    /// The next page of the list or thread.
    pub next: Option<CrawlUrl>,
    /// Times of its posts.
    pub posts: Vec<ApproxTime>,
}

impl ForumSite {
    /// A site with this map.
    pub fn new(map: ForumMap) -> Result<Self, MapError> {
        let mut site = Self {
            classifier: UrlClassifier::from_slugs(map.slugs.clone()),
            boards: map.board_classes.iter().map(|text| IdPattern::parse(text)).collect(),
            threads: map.thread_classes.iter().map(|text| IdPattern::parse(text)).collect(),
            offset: offset(&map.offset)?,
            map,
            roles: FxHashMap::default(),
            ids: FxHashMap::default(),
            known: FxHashMap::default(),
            scans: FxHashMap::default(),
            last: FxHashMap::default(),
            excluded_boards: FxHashSet::default(),
            directory: String::new(),
            read: FxHashSet::default(),
            linked: FxHashMap::default(),
            hosts: BTreeSet::new(),
        };
        site.directory = directory(&site.map);
        let skipped =
            site.map.boards.iter().filter(|board| board.skip).filter_map(|board| CrawlUrl::parse(&board.url).ok());
        site.excluded_boards = skipped.filter_map(|url| site.key(&site.boards, &url)).collect();
        Ok(site)
    }

    pub fn map(&self) -> &ForumMap {
        &self.map
    }

    /// Profile for the analysis of its pages.
    pub fn profile(&self) -> ForumProfile {
        ForumProfile { classifier: self.classifier.clone(), threads: self.threads.clone(), offset: Some(self.offset) }
    }

    /// UTC offset in seconds.
    pub fn offset(&self) -> i32 {
        self.offset
    }

    /// Whether a URL is of a class of its boards, threads or their pages, or is named in its map.
    pub fn has_class_of(&self, url: &CrawlUrl) -> bool {
        let class = self.classifier.classify(url).class;
        let is = |pattern: &IdPattern| *pattern.class() == class;
        let is_page = |rule: &PagingRule| rule.pages.replace("{page}", "{n}") == class.as_str();
        self.boards.iter().chain(&self.threads).any(is)
            || self.map.board_pages.iter().chain(&self.map.thread_pages).any(is_page)
            || url.as_str() == self.map.start
            || self.map.boards.iter().any(|board| board.url == url.as_str())
    }

    /// Demand for visits of a board, given its posts. `url`: the URL of `id`.
    pub fn demand(&self, id: UrlId, url: &CrawlUrl, statistics: BoardStatistics) -> BoardDemand {
        // The forum file has the URL that the forum links.
        let url = self.linked.get(&id).unwrap_or(url);
        let key = self.key(&self.boards, url);
        let is = |of: &BoardEntry| {
            of.url == url.as_str()
                || key.is_some() && CrawlUrl::parse(&of.url).is_ok_and(|url| self.key(&self.boards, &url) == key)
        };
        let weight = self.map.boards.iter().find(|board| is(board)).map_or(1.0, |board| board.weight);
        BoardDemand { statistics, importance: self.map.weight * weight, theta: self.map.theta, first: self.map.c1 }
    }

    /// Role of a URL, if it has one: as noted, else by its class.
    pub fn role(&self, id: UrlId, url: &CrawlUrl) -> Option<ForumRole> {
        if let Some(role) = self.roles.get(&id) {
            return Some(*role);
        }
        let matched = self.classifier.classify(url);
        let is = |classes: &[IdPattern]| classes.iter().any(|class| *class.class() == matched.class);
        if is(&self.threads) {
            Some(ForumRole::Thread)
        } else if is(&self.boards) || self.map.boards.iter().any(|board| board.url == url.as_str()) {
            Some(ForumRole::Board)
        } else {
            (url.as_str() == self.map.start).then_some(ForumRole::Start)
        }
    }

    /// Known boards, in order of discovery.
    pub fn boards(&self) -> Vec<UrlId> {
        let mut boards: Vec<UrlId> =
            self.roles.iter().filter(|(_, role)| matches!(role, ForumRole::Board)).map(|(id, _)| *id).collect();
        boards.sort_unstable();
        boards
    }

    fn key(&self, classes: &[IdPattern], url: &CrawlUrl) -> Option<String> {
        let matched = self.classifier.classify(url);
        classes.iter().find_map(|class| class.key(&matched))
    }

    /// Reads a page that was requested for `role`. `first`: the URL of the first page of its list or thread.
    pub fn read(
        &self,
        id: UrlId,
        role: ForumRole,
        page_view: &ForumPageView,
        first: Option<&CrawlUrl>,
    ) -> ParsedForumPage {
        let threads = if matches!(role, ForumRole::Thread | ForumRole::Continuation { .. }) {
            Vec::new()
        } else {
            self.listed(page_view)
        };
        let has_threads = !threads.is_empty();
        let kind = match role {
            ForumRole::Thread | ForumRole::Continuation { .. } if page_view.login => PageKind::Login,
            ForumRole::Thread if self.is_unexpectedly_empty(id, page_view.posts.is_empty()) => PageKind::Unread,
            ForumRole::Thread if page_view.posts.is_empty() => PageKind::Postless { thread: id, page: 1 },
            ForumRole::Thread => PageKind::Thread { thread: id, page: 1 },
            ForumRole::Continuation { .. } if self.is_unexpectedly_empty(id, page_view.posts.is_empty()) => {
                PageKind::Unread
            }
            ForumRole::Continuation { thread, page } if page_view.posts.is_empty() => {
                PageKind::Postless { thread, page }
            }
            ForumRole::Continuation { thread, page } => PageKind::Thread { thread, page },
            ForumRole::Board | ForumRole::Index { .. } if page_view.login && !has_threads => PageKind::Login,
            ForumRole::Board if !has_threads && self.read.contains(&id) => PageKind::Unread,
            // A category, which lists its boards.
            ForumRole::Board if !has_threads => PageKind::Other,
            ForumRole::Board => PageKind::Index { board: id, page: 1 },
            ForumRole::Index { board, page } => PageKind::Index { board, page },
            ForumRole::Start | ForumRole::Sample => PageKind::Other,
        };
        let firsts: Vec<CrawlUrl> =
            first_page(id, role).and_then(|list| self.linked.get(&list)).into_iter().chain(first).cloned().collect();
        let after = |page: u16, rules: &[PagingRule], keys: &[IdPattern]| {
            let address = PageAddress { own: &page_view.own, page: i64::from(page), firsts: &firsts };
            self.after(&address, page_view, rules, keys)
        };
        let next = match (kind, kind.thread()) {
            (PageKind::Index { page, .. }, _) if u32::from(page) < self.map.index_pages => {
                after(page, &self.map.board_pages, &self.boards)
            }
            // Built page URLs would never end: nothing shows that a page repeats the previous one.
            (_, Some((_, page))) if page < THREAD_PAGES => after(page, &[], &self.threads),
            _ => None,
        };
        let is_thread = kind.thread().is_some();
        let boards = if is_thread { Vec::new() } else { self.new_boards(page_view) };
        let posts = if is_thread { page_view.posts.iter().flatten().copied().collect() } else { Vec::new() };
        ParsedForumPage { kind, threads, boards, next, posts }
    }

    /// It had posts or threads before.
    fn is_unexpectedly_empty(&self, id: UrlId, empty: bool) -> bool {
        empty && self.read.contains(&id)
    }

    fn after(
        &self,
        address: &PageAddress,
        page_view: &ForumPageView,
        rules: &[PagingRule],
        keys: &[IdPattern],
    ) -> Option<CrawlUrl> {
        if let Some(paging) = Paging::of(address, &page_view.links, &self.classifier, keys) {
            return paging.after(address.page);
        }
        let made = |rule: &PagingRule| page_by_rule(rule, &page_view.own, address.page + 1, &self.classifier);
        rules.iter().filter(|rule| rule.unlinked).find_map(made)
    }

    /// Threads on a page: its records, then other links.
    fn listed(&self, page_view: &ForumPageView) -> Vec<ListedThread> {
        let mut seen: FxHashSet<String> = FxHashSet::default();
        let mut threads = Vec::new();
        let mut take = |url: &CrawlUrl, title: &str, listed: Option<ListedActivity>| {
            let Some(key) = self.key(&self.threads, url) else { return };
            let id = self.ids.get(&key).copied();
            if seen.insert(key) {
                threads.push(ListedThread { url: url.clone(), id, title: title.to_owned(), listed });
            }
        };
        // A record without fields, among records with fields, is a link in a sidebar.
        let is_bare = |record: &&ThreadRecord| {
            record.listed() == ListedActivity { sticky: record.sticky, ..ListedActivity::default() }
        };
        let bare = page_view.records.iter().filter(is_bare).count();
        let (full, sidebar): (Vec<_>, Vec<_>) =
            page_view.records.iter().partition(|record| bare * 2 > page_view.records.len() || !is_bare(record));
        for record in full {
            take(&record.url, &record.title, Some(record.listed()));
        }
        for record in sidebar {
            take(&record.url, &record.title, None);
        }
        for link in page_view.links.iter().filter(|link| columns(&link.text) >= TITLE) {
            // Without records, the list consists of its links.
            take(&link.url, &link.text, page_view.records.is_empty().then(ListedActivity::default));
        }
        threads
    }

    fn new_boards(&self, page_view: &ForumPageView) -> Vec<(CrawlUrl, String)> {
        let mut seen: FxHashSet<String> = FxHashSet::default();
        let mut boards = Vec::new();
        for link in &page_view.links {
            let matched = self.classifier.classify(&link.url);
            let Some(class) = self.boards.iter().find(|class| *class.class() == matched.class) else { continue };
            let Some(key) = class.key(&matched) else { continue };
            if self.ids.contains_key(&key) || self.excluded_boards.contains(&key) || !seen.insert(key) {
                continue;
            }
            // A link to the middle of a board: derive its first page.
            let rule = self.map.board_pages.iter().find_map(|rule| Some((rule, paged_slot(rule, class.class())?)));
            let first = rule.and_then(|(rule, slot)| matched.with(slot, rule.first));
            boards.push((first.unwrap_or_else(|| link.url.clone()), link.text.clone()));
        }
        boards
    }

    /// Evaluates an index page: threads to fetch, and whether to continue.
    pub fn judge(&self, board: UrlId, threads: &[(UrlId, ListedActivity)]) -> ScanResult<UrlId> {
        self.pass(board).page(threads, |id| self.known.get(&id).map(|thread| thread.known))
    }

    fn pass(&self, board: UrlId) -> BoardScan<UrlId> {
        self.scans.get(&board).cloned().unwrap_or_else(|| BoardScan::new(self.map.index_pages))
    }

    /// The page of a thread where replies appear.
    pub fn last_page(&self, thread: UrlId) -> UrlId {
        self.last.get(&thread).map_or(thread, |(page, _)| *page)
    }

    /// Starts new passes over these boards.
    pub fn begin_pass(&mut self, boards: &[UrlId]) {
        for board in boards {
            self.scans.remove(board);
        }
    }

    /// The directory of the forum on its host.
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// Whether a URL is in the forum's directory.
    pub fn owns(&self, url: &CrawlUrl) -> bool {
        url.path().starts_with(&self.directory)
    }

    /// Handles a redirect: the target becomes the board or the thread. `url`: the URL of `from`.
    pub fn moved(&mut self, from: UrlId, to: UrlId, url: &CrawlUrl) {
        let Some(&role) = self.roles.get(&from) else { return };
        // A deleted thread may lead to its board or the home page, which stay what they are.
        if self.roles.get(&to).is_some_and(|known| std::mem::discriminant(known) != std::mem::discriminant(&role)) {
            return;
        }
        self.roles.remove(&from);
        self.roles.insert(to, role);
        if let Some(classes) = self.classes(role) {
            let key = self.key(classes, url);
            for id in key.and_then(|key| self.ids.get_mut(&key)).into_iter().filter(|id| **id == from) {
                *id = to;
            }
            let linked = self.linked.remove(&from).unwrap_or_else(|| url.clone());
            self.linked.insert(to, linked);
        }
        if let Some(pass) = self.scans.remove(&from) {
            self.scans.insert(to, pass);
        }
        if let Some(known) = self.known.remove(&from) {
            self.known.insert(to, known);
        }
        if matches!(role, ForumRole::Board) {
            for known in self.known.values_mut().filter(|known| known.board == from) {
                known.board = to;
            }
        }
        if let Some((page, number)) = self.last.remove(&from) {
            self.last.insert(to, (if page == from { to } else { page }, number));
        }
        if self.read.remove(&from) {
            self.read.insert(to);
        }
    }

    /// Other hosts to which it redirects its pages.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|host| &**host)
    }

    pub fn add_host(&mut self, host: &str) {
        self.hosts.insert(host.into());
    }

    /// The classes whose keys identify pages of this role.
    fn classes(&self, role: ForumRole) -> Option<&[IdPattern]> {
        match role {
            ForumRole::Thread => Some(&self.threads),
            ForumRole::Board => Some(&self.boards),
            _ => None,
        }
    }

    /// `url`: the URL of `id`.
    pub fn set_role(&mut self, id: UrlId, role: ForumRole, url: &CrawlUrl) {
        if matches!(role, ForumRole::Board)
            && self.key(&self.boards, url).is_some_and(|key| self.excluded_boards.contains(&key))
        {
            return;
        }
        // Samples get their role from their class.
        if matches!(role, ForumRole::Sample) {
            return;
        }
        let noted = self.roles.entry(id).or_insert(role);
        // Continuations of threads take precedence over a list's numbered link to the same URL.
        if let (ForumRole::Index { .. }, ForumRole::Continuation { .. }) = (&noted, role) {
            *noted = role;
        }
        if let Some(key) = self.classes(role).and_then(|classes| self.key(classes, url)) {
            self.ids.entry(key).or_insert(id);
        }
    }

    /// Folds a page as read.
    pub fn observe(&mut self, id: UrlId, page: &ForumPage) {
        match page.kind {
            PageKind::Index { board, .. } => {
                self.read.insert(board);
            }
            PageKind::Thread { thread, page: number } | PageKind::Postless { thread, page: number } => {
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
            let scan = pass.page(&list.threads, |id| self.known.get(&id).map(|thread| thread.known));
            self.scans.insert(list.board, pass);
            let listed: FxHashMap<UrlId, ListedActivity> = list.threads.iter().copied().collect();
            for (thread, listed) in &list.threads {
                // A thread first linked outside the list has no time on record.
                if let Some(Thread { known, .. }) = self.known.get_mut(thread) {
                    known.last_reply = known.last_reply.or(listed.last_reply);
                    known.replies = known.replies.or(listed.replies);
                }
            }
            for (thread, change) in scan.changed {
                let ListedActivity { last_reply, replies, .. } = listed[&thread];
                let known = KnownThread { last_reply, replies };
                let entry = self.known.entry(thread).or_insert(Thread { board: list.board, known });
                if change == ThreadChange::Replied || entry.board == list.board {
                    entry.known = known;
                }
            }
        }
    }
}

/// The first page of the list or thread that a page belongs to.
pub fn first_page(id: UrlId, role: ForumRole) -> Option<UrlId> {
    match role {
        ForumRole::Board | ForumRole::Thread => Some(id),
        ForumRole::Index { board, .. } => Some(board),
        ForumRole::Continuation { thread, .. } => Some(thread),
        ForumRole::Start | ForumRole::Sample => None,
    }
}

/// The directory with all boards and threads of a map: the common prefix of their classes before the first value.
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
