//! Counts of a run over a forum, from its events: for users, and for measuring how efficiently requests are used.

use std::collections::BTreeSet;

use serde::Serialize;

use suidao_page::model::{Batch, Event, PageKind, UrlId};

/// URLs listed per kind of problem.
const NAMED: usize = 5;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForumTally {
    pub pages: u64,
    pub index_pages: u64,
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
    /// Some of the pages that ask for a login.
    pub login_pages: Vec<UrlId>,
    /// Some of the `unread` pages.
    pub unread_pages: Vec<UrlId>,
    #[serde(skip)]
    boards: BTreeSet<UrlId>,
}

impl ForumTally {
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
                // Pages seen during exploration are recognised afterwards.
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

    pub fn boards(&self) -> usize {
        self.boards.len()
    }
}

fn name(named: &mut Vec<UrlId>, id: UrlId) {
    if named.len() < NAMED {
        named.push(id);
    }
}
