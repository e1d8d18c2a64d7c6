//! What a run over a forum brought, counted from its events: for people, and for whoever measures how well requests are
//! spent.

use std::collections::BTreeSet;

use serde::Serialize;

use suidao_page::model::{Batch, Event, PageKind, UrlId};

/// URLs that are named of each kind of trouble.
const NAMED: usize = 5;

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForumTally {
    /// Pages fetched, of any kind.
    pub pages: u64,
    /// Lists of threads.
    pub index_pages: u64,
    /// First pages of threads.
    pub threads: u64,
    /// Further pages of threads.
    pub continuations: u64,
    /// Posts on them that show when they were written.
    pub dated_posts: u64,
    /// The entrance, samples, categories.
    pub others: u64,
    /// Fetches that brought no page, for good.
    pub failed: u64,
    /// Pages that ask for a login instead.
    pub logins: u64,
    /// Lists without a thread and threads without a post, where there were some before.
    pub unread: u64,
    /// Some of the pages that ask for a login.
    pub login_pages: Vec<UrlId>,
    /// Some of those that look different now.
    pub unread_pages: Vec<UrlId>,
    #[serde(skip)]
    boards: BTreeSet<UrlId>,
}

impl ForumTally {
    /// Counts what happened.
    pub fn observe(&mut self, batch: &Batch) {
        for event in &batch.events {
            match event {
                Event::PageFetched(settled) => {
                    self.pages += 1;
                    match settled.forum.as_ref().map(|page| (page.kind, page.posts.len())) {
                        Some((PageKind::Index { board, .. }, _)) => {
                            self.index_pages += 1;
                            self.boards.insert(board);
                        }
                        Some((PageKind::Thread { page, .. }, posts)) => {
                            *if page == 1 { &mut self.threads } else { &mut self.continuations } += 1;
                            self.dated_posts += posts as u64;
                        }
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
                // Pages seen before the forum was understood turn out to be something after all.
                Event::Forum(step) => {
                    self.boards.extend(step.lists.iter().map(|list| list.board));
                    for of_kind in [step.lists.len(), step.read.len()] {
                        self.others = self.others.saturating_sub(of_kind as u64);
                    }
                    self.index_pages += step.lists.len() as u64;
                    self.threads += step.read.len() as u64;
                    self.dated_posts += step.read.iter().map(|(_, _, posts)| posts.len() as u64).sum::<u64>();
                }
                Event::FetchFailed { .. } => self.failed += 1,
                _ => {}
            }
        }
    }

    /// Boards whose lists were read.
    pub fn boards(&self) -> usize {
        self.boards.len()
    }
}

fn name(named: &mut Vec<UrlId>, id: UrlId) {
    if named.len() < NAMED {
        named.push(id);
    }
}
