//! Counts of a run over a forum, from its events: for users, and for measuring how efficiently requests are used.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use suidao_page::model::{ApproxTime, Batch, Event, ForumRole, IndexPage, PageKind, UrlId};

/// URLs listed per kind of problem.
const NAMED: usize = 5;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForumTally {
    pub pages: u64,
    pub index_pages: u64,
    /// Threads listed for the first time.
    pub listed: u64,
    pub threads: u64,
    pub continuations: u64,
    /// Posts with a time.
    pub dated_posts: u64,
    /// The entry page, samples, categories.
    pub others: u64,
    /// Failed fetches without further retries.
    pub failed: u64,
    /// Pages that ask for a login instead.
    pub logins: u64,
    /// Lists without a thread and threads without a post that had some before.
    pub unread: u64,
    /// Pages linked as threads on which no post is recognised.
    pub postless: u64,
    /// Some of the pages that ask for a login.
    pub login_pages: Vec<UrlId>,
    /// Some of the `unread` pages.
    pub unread_pages: Vec<UrlId>,
    /// Some of the `postless` pages.
    pub postless_pages: Vec<UrlId>,
    #[serde(skip)]
    boards: BTreeSet<UrlId>,
    #[serde(skip)]
    lengths: ThreadLengths,
}

/// How many posts the lists count in each thread, and how many its pages show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ThreadLengths {
    /// Targets of redirects.
    moved: BTreeMap<UrlId, UrlId>,
    replies: BTreeMap<UrlId, u32>,
    /// By thread and page.
    posts: BTreeMap<(UrlId, u16), u32>,
    /// Most posts on a page.
    full: u32,
}

impl ThreadLengths {
    fn list(&mut self, list: &IndexPage) {
        for (thread, listed) in &list.threads {
            self.replies.extend(listed.replies.map(|replies| (*thread, replies)));
        }
    }

    fn read(&mut self, thread: UrlId, page: u16, posts: &[ApproxTime]) {
        let posts = u32::try_from(posts.len()).unwrap_or(u32::MAX);
        self.full = self.full.max(posts);
        self.posts.insert((thread, page), posts);
    }

    /// Threads that have more posts by their list, at least a page of them or below a full page.
    fn unfinished(&self) -> Vec<UrlId> {
        let is_short = |thread: UrlId, replies: u32| {
            let pages: Vec<(u16, u32)> =
                self.posts.range((thread, 1)..=(thread, u16::MAX)).map(|((_, page), posts)| (*page, *posts)).collect();
            let (read, listed) = (pages.iter().map(|(_, posts)| posts).sum::<u32>(), replies.saturating_add(1));
            let last = pages.last().map_or(0, |(_, posts)| *posts);
            // Of a thread that is visited again, only the last pages are read. Deleted posts may still be counted.
            pages.first().is_some_and(|(page, _)| *page == 1)
                && last > 0
                && (u64::from(last) * 10 >= u64::from(self.full) * 8 || listed.saturating_sub(read) >= self.full)
                && u64::from(read) * 10 < u64::from(listed) * 9
        };
        let target = |thread: UrlId| self.moved.get(&thread).copied().unwrap_or(thread);
        let found = self.replies.iter().map(|(thread, replies)| (target(*thread), *replies));
        let found: BTreeSet<UrlId> =
            found.filter(|(thread, replies)| is_short(*thread, *replies)).map(|(thread, _)| thread).collect();
        found.into_iter().collect()
    }
}

impl ForumTally {
    pub fn observe(&mut self, batch: &Batch) {
        for event in &batch.events {
            match event {
                Event::PageFetched(settled) => {
                    self.pages += 1;
                    if let Some(page) = &settled.forum {
                        self.lists(&page.lists, &page.roles);
                        if let Some((thread, number)) = page.kind.thread() {
                            self.lengths.read(thread, number, &page.posts);
                        }
                    }
                    match settled.forum.as_ref().map(|page| (page.kind, page.posts.len())) {
                        Some((PageKind::Index { board, .. }, _)) => {
                            self.index_pages += 1;
                            self.boards.insert(board);
                        }
                        Some((PageKind::Thread { page, .. }, posts)) => {
                            *if page == 1 { &mut self.threads } else { &mut self.continuations } += 1;
                            self.dated_posts += posts as u64;
                        }
                        Some((PageKind::Postless { page: 1, .. }, _)) => {
                            self.postless += 1;
                            name(&mut self.postless_pages, settled.id);
                        }
                        Some((PageKind::Postless { .. }, _)) => self.continuations += 1,
                        Some((PageKind::Login, _)) => {
                            self.logins += 1;
                            name(&mut self.login_pages, settled.id);
                        }
                        Some((PageKind::Unread, _)) => {
                            self.unread += 1;
                            name(&mut self.unread_pages, settled.id);
                        }
                        Some((PageKind::Other, _)) | None => self.others += 1,
                    }
                }
                // Pages seen during exploration are recognised afterwards.
                Event::Forum(step) => {
                    self.boards.extend(step.lists.iter().map(|list| list.board));
                    for of_kind in [step.lists.len(), step.read.len()] {
                        self.others = self.others.saturating_sub(of_kind as u64);
                    }
                    self.index_pages += step.lists.len() as u64;
                    self.lists(&step.lists, &step.roles);
                    for (id, kind, posts) in &step.read {
                        match kind {
                            PageKind::Postless { .. } => {
                                self.postless += 1;
                                name(&mut self.postless_pages, *id);
                            }
                            PageKind::Login => {
                                self.logins += 1;
                                name(&mut self.login_pages, *id);
                            }
                            _ => self.threads += 1,
                        }
                        self.dated_posts += posts.len() as u64;
                        if let Some((thread, number)) = kind.thread() {
                            self.lengths.read(thread, number, posts);
                        }
                    }
                }
                Event::Redirected { id, link: Some(link), .. } => {
                    self.lengths.moved.insert(*id, link.to);
                }
                Event::FetchFailed { .. } => self.failed += 1,
                _ => {}
            }
        }
    }

    fn lists(&mut self, lists: &[IndexPage], roles: &[(UrlId, ForumRole)]) {
        self.listed += roles.iter().filter(|(_, role)| *role == ForumRole::Thread).count() as u64;
        lists.iter().for_each(|list| self.lengths.list(list));
    }

    pub fn boards(&self) -> usize {
        self.boards.len()
    }

    /// Threads of which pages seem to be missing: their lists count more posts.
    pub fn unfinished(&self) -> Vec<UrlId> {
        self.lengths.unfinished()
    }

    /// Whether most of the links to threads led to none.
    pub fn misses_threads(&self) -> bool {
        self.threads * 2 < self.listed || self.threads < self.postless
    }
}

fn name(named: &mut Vec<UrlId>, id: UrlId) {
    if named.len() < NAMED {
        named.push(id);
    }
}
