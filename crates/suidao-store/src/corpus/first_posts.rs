//! When threads were opened: the time of their first posts, from the log.

use rustc_hash::{FxHashMap, FxHashSet};

use suidao_page::model::{ApproxTime, Day, ForumPage, PageKind, UrlId};

/// Longest precision in seconds of a time that tells a day.
const DAY: u32 = 86_400;
/// A post above the posts of so many threads of a forum, and of one in five, is an announcement.
const THREADS: usize = 3;

/// The first posts of threads. Memory: 40 bytes per thread.
#[derive(Default)]
pub(super) struct FirstPosts {
    threads: FxHashMap<UrlId, ThreadStart>,
    /// Threads by the time of the post at their top.
    tops: FxHashMap<(u32, ApproxTime), FxHashSet<UrlId>>,
    /// Number of threads by host.
    hosts: FxHashMap<u32, usize>,
}

struct ThreadStart {
    host: u32,
    /// The first two posts of the first page, and the last.
    first: ApproxTime,
    second: Option<ApproxTime>,
    /// The earliest post, if the newest is at the top.
    earliest: Option<ApproxTime>,
    /// The post at the top is also at the top of a further page.
    pinned: bool,
}

impl FirstPosts {
    /// Folds a page of a forum.
    pub fn observe(&mut self, page: &ForumPage, host: u32) {
        self.observe_posts(page.kind, &page.posts, host);
    }

    pub fn observe_posts(&mut self, kind: PageKind, posts: &[ApproxTime], host: u32) {
        let (PageKind::Thread { thread, page }, Some(&first)) = (kind, posts.first()) else { return };
        if page > 1 {
            if let Some(known) = self.threads.get_mut(&thread) {
                known.pinned |= known.first.agrees(first, 60);
            }
            return;
        }
        let falls = posts.len() > 2 && posts.windows(2).all(|pair| pair[0].at >= pair[1].at);
        let earliest = posts.last().copied().filter(|last| falls && last.at < first.at);
        let start = ThreadStart { host, first, second: posts.get(1).copied(), earliest, pinned: false };
        match self.threads.get_mut(&thread) {
            // "3分钟前" was more precise than "昨天" is now.
            Some(known) if known.first.within <= first.within => {}
            Some(known) => *known = ThreadStart { pinned: known.pinned, ..start },
            None => {
                self.threads.insert(thread, start);
                *self.hosts.entry(host).or_default() += 1;
            }
        }
        if first.within < DAY {
            self.tops.entry((host, first)).or_default().insert(thread);
        }
    }

    /// The day on which a thread was opened, in a zone so many seconds east of UTC.
    pub fn day(&self, thread: UrlId, offset: impl Fn(u32) -> i32) -> Option<Day> {
        let start = self.threads.get(&thread)?;
        let shared = self.tops.get(&(start.host, start.first)).map_or(0, FxHashSet::len);
        let all = self.hosts.get(&start.host).copied().unwrap_or(0);
        // An announcement is no post of the thread; nor is one the first that is above an earlier one.
        let is_announcement = shared >= THREADS && shared * 5 >= all;
        let is_later = start.second.is_some_and(|second| start.first.at >= second.at + i64::from(second.within));
        let second = start.second.filter(|_| is_announcement || is_later);
        let opened = start.earliest.or(second).unwrap_or(start.first);
        day(opened, offset(start.host))
    }
}

/// The day of a time in a zone, if it is precise enough.
pub(super) fn day(time: ApproxTime, offset: i32) -> Option<Day> {
    let local = (time.at + i64::from(offset)).div_euclid(i64::from(DAY));
    (time.within <= DAY).then_some(local).and_then(|day| i32::try_from(day).ok()).map(Day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(pages: &[(u32, u16, &[i64])]) -> FirstPosts {
        let mut found = FirstPosts::default();
        for (thread, page, days) in pages {
            let posts: Vec<ApproxTime> = days.iter().map(|day| ApproxTime { at: day * 86_400, within: 60 }).collect();
            found.observe_posts(PageKind::Thread { thread: UrlId(*thread), page: *page }, &posts, 0);
        }
        found
    }

    #[test]
    fn a_thread_is_opened_by_its_first_post() {
        let found =
            opened(&[(1, 1, &[10, 11, 12]), (1, 2, &[13]), (2, 1, &[5]), (3, 1, &[9, 8, 7]), (4, 1, &[30, 20, 21])]);
        let day = |thread: u32| found.day(UrlId(thread), |_| 0).map(|day| day.0);
        assert_eq!([1, 2, 3, 4, 5].map(day), [Some(10), Some(5), Some(7), Some(20), None]);
        assert_eq!(found.day(UrlId(2), |_| -60).map(|day| day.0), Some(4), "in its zone");
    }

    #[test]
    fn an_announcement_opens_no_thread() {
        let found = opened(&[(1, 1, &[3, 10, 11]), (2, 1, &[3, 20]), (3, 1, &[3, 30]), (4, 1, &[40])]);
        let day = |thread: u32| found.day(UrlId(thread), |_| 0).map(|day| day.0);
        assert_eq!([1, 2, 3, 4].map(day), [Some(10), Some(20), Some(30), Some(40)]);
    }
}
