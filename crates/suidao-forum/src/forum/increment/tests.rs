//! The rules one by one, then a board that changes while it is read.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use suidao_page::model::ListedActivity;

const MINUTE: u32 = 60;
const DAY: u32 = 86_400;
/// A full minute and a full quarter of an hour.
const NOON: i64 = 1_243_224_000;

fn at(at: i64, within: u32) -> Option<ApproxTime> {
    Some(ApproxTime { at, within })
}

fn listed(last_reply: Option<ApproxTime>, replies: Option<u32>) -> ListedActivity {
    ListedActivity { last_reply, replies, sticky: false }
}

fn known(last_reply: Option<ApproxTime>, replies: Option<u32>) -> Option<KnownThread> {
    Some(KnownThread { last_reply, replies })
}

#[test]
fn times_that_can_be_compared_decide() {
    let then = known(at(NOON, MINUTE), None);
    let against = |now: ListedActivity| change(&now, then.as_ref());
    assert_eq!(change(&listed(None, None), None), ThreadChange::New);
    assert_eq!(against(listed(at(NOON, MINUTE), None)), ThreadChange::Same);
    assert_eq!(against(listed(at(NOON + 60, MINUTE), None)), ThreadChange::Replied, "the minute after is another one");
    assert_eq!(against(listed(at(NOON + 60, MINUTE), Some(3))), ThreadChange::Replied);
    assert_eq!(against(listed(at(NOON - 3_600, MINUTE), None)), ThreadChange::Same, "a reply was deleted");
    assert_eq!(against(listed(None, None)), ThreadChange::Same, "no sign of anything new");
    assert_eq!(change(&listed(at(NOON, MINUTE), None), known(None, Some(3)).as_ref()), ThreadChange::Same);
}

#[test]
fn numbers_decide_where_times_do_not() {
    let then = known(at(NOON, MINUTE), Some(5));
    let against = |last_reply, replies| change(&listed(last_reply, Some(replies)), then.as_ref());
    assert_eq!(against(at(NOON, MINUTE), 5), ThreadChange::Same);
    assert_eq!(against(at(NOON, MINUTE), 6), ThreadChange::Replied, "two replies in a minute");
    assert_eq!(against(None, 5), ThreadChange::Same);
    assert_eq!(against(None, 6), ThreadChange::Replied);
    assert_eq!(against(at(NOON - 600, MINUTE), 4), ThreadChange::Same, "the last reply was deleted");
    assert_eq!(
        against(at(NOON - 600, MINUTE), 6),
        ThreadChange::Replied,
        "times are shown otherwise, but there is more"
    );
}

#[test]
fn rough_times_agree_where_they_touch() {
    // Recorded as 12:00:20, now shown as "yesterday", as "3 hours ago", and as "12:00" by a clock half a minute ahead.
    let exact = known(at(NOON + 20, 1), None);
    let against = |last_reply| change(&listed(last_reply, None), exact.as_ref());
    assert_eq!(against(at(NOON - 43_200, DAY)), ThreadChange::Same);
    assert_eq!(against(at(NOON - 3_111, 3_600)), ThreadChange::Same);
    assert_eq!(against(at(NOON + 50, MINUTE)), ThreadChange::Same);
    assert_eq!(against(at(NOON + 3_611, 3_600)), ThreadChange::Replied);
    // Yesterday is not today, although they are adjacent.
    let yesterday = known(at(NOON - 57_600, DAY), None);
    assert_eq!(
        change(&listed(at(NOON - 57_600 + i64::from(DAY), DAY), None), yesterday.as_ref()),
        ThreadChange::Replied
    );
}

fn page(times: &[i64]) -> Vec<ListedActivity> {
    times.iter().map(|&time| listed(at(time, MINUTE), None)).collect()
}

#[test]
fn the_order_of_a_list_is_reported_by_its_times() {
    assert_eq!(sorted_by(&page(&[900, 800, 800, 600, 500])), Order::LastReply);
    assert_eq!(sorted_by(&page(&[900, 800, 700, 600])), Order::Unknown, "too few");
    assert_eq!(sorted_by(&page(&[7, 7, 7, 7, 7, 7])), Order::Unknown, "all of one day");
    assert_eq!(sorted_by(&[listed(None, Some(1)); 20]), Order::Unknown);
    assert_eq!(sorted_by(&page(&[900, 100, 850, 700, 990, 300, 640])), Order::Other);
    // An unrecognised sticky thread does not change the order of a list; recognised ones are ignored.
    assert_eq!(sorted_by(&page(&[5, 900, 800, 700, 600, 500])), Order::LastReply);
    let mut stickies = page(&[1, 3, 2, 900, 800, 700, 600, 500]);
    stickies[..3].iter_mut().for_each(|sticky| sticky.sticky = true);
    assert_eq!(sorted_by(&stickies), Order::LastReply);
}

/// Threads of a page: (name, time); each recorded time is the thread's name.
fn records(threads: impl IntoIterator<Item = (u32, i64)>) -> Vec<(u32, ListedActivity)> {
    threads.into_iter().map(|(key, time)| (key, listed(at(time, 1), None))).collect()
}

fn on_record(key: u32) -> Option<KnownThread> {
    known(at(-i64::from(key), 1), None)
}

fn unchanged(keys: std::ops::Range<u32>) -> Vec<(u32, ListedActivity)> {
    records(keys.map(|key| (key, -i64::from(key))))
}

#[test]
fn a_full_page_without_a_change_ends_a_pass_and_small_ones_need_two() {
    let mut pass = BoardScan::default();
    let mut first = unchanged(1..20);
    first.insert(0, (0, listed(at(9, 1), None)));
    assert_eq!(pass.page(&first, on_record), ScanResult { changed: vec![(0, ThreadChange::Replied)], more: true });
    assert!(!pass.page(&unchanged(20..40), on_record).more);

    let mut pass = BoardScan::default();
    assert!(pass.page(&unchanged(0..4), on_record).more, "four threads prove little");
    assert!(!pass.page(&unchanged(4..8), on_record).more);
    assert!(!BoardScan::<u32>::default().page(&[], on_record).more, "an empty page");
    let mut pass = BoardScan::new(2);
    assert!(pass.page(&unchanged(0..20), |_| None).more);
    assert!(!pass.page(&unchanged(20..40), |_| None).more, "no more pages than allowed");
}

#[test]
fn stickies_neither_stop_a_pass_nor_keep_it_up() {
    let sticky = |key, time| (key, ListedActivity { sticky: true, ..listed(at(time, 1), None) });
    let stickies: Vec<_> = (90..99).map(|key| sticky(key, -i64::from(key))).collect();
    let mut pass = BoardScan::default();
    let first = [stickies.clone(), unchanged(0..2)].concat();
    assert!(pass.page(&first, on_record).more, "nine stickies and two threads are a small page");
    let mut pass = BoardScan::default();
    let second = [vec![sticky(99, 5)], unchanged(0..20)].concat();
    let scan = pass.page(&second, on_record);
    assert_eq!(scan, ScanResult { changed: vec![(99, ThreadChange::Replied)], more: false });
}

#[test]
fn what_moved_down_is_fetched_once_and_a_repeated_page_ends_the_pass() {
    let mut pass = BoardScan::default();
    let busy = records((0..10).map(|key| (key, 100 - i64::from(key))));
    assert_eq!(pass.page(&busy, on_record).changed.len(), 10);
    // Eight of ten repeated: only the two others are new.
    let second = [busy[2..].to_vec(), unchanged(10..12)].concat();
    assert_eq!(pass.page(&second, on_record), ScanResult { changed: vec![], more: true });
    assert!(!pass.page(&unchanged(12..22), on_record).more);

    let mut pass = BoardScan::default();
    let all = |_| None;
    assert!(pass.page(&busy, all).more);
    assert!(pass.page(&busy, all).more, "this may be drift");
    assert!(!pass.page(&busy, all).more, "a forum that shows its last page without end");
}

#[test]
fn a_list_by_publication_is_read_as_far_as_allowed() {
    // Threads 0 to 59, the latest created first; the 45th has a reply.
    let time = |key: u32| if key == 45 { 999 } else { i64::from(key * 7_919 % 101) - 200 };
    let board = records((0..60).map(|key| (key, time(key))));
    let known_of = |key: u32| known(at(if key == 45 { -50 } else { time(key) }, 1), None);
    let mut pass = BoardScan::default();
    let mut changed = Vec::new();
    let mut pages = 0;
    for page in board.chunks(20).chain(std::iter::repeat(&board[40..])) {
        pages += 1;
        let scan = pass.page(page, known_of);
        changed.extend(scan.changed);
        if !scan.more {
            break;
        }
    }
    assert_eq!((changed, pages), (vec![(45, ThreadChange::Replied)], 5), "the last page twice again ends it");
}

/// A board ordered by last reply: (thread, number of its last post), the latest first. Post numbers are global.
#[derive(Clone, Default)]
struct Board {
    list: Vec<(u32, i64)>,
    posts: i64,
    stickies: Vec<u32>,
}

impl Board {
    /// Replies to `thread` modulo the number of threads plus one, or creates it.
    fn post(&mut self, thread: u32) {
        self.posts += 1;
        let thread = thread % (self.list.len() as u32 + 1);
        self.list.retain(|(other, _)| *other != thread);
        self.list.insert(0, (thread, self.posts));
    }

    fn listed(&self, thread: u32, last: i64) -> (u32, ListedActivity) {
        (thread, ListedActivity { sticky: self.stickies.contains(&thread), ..listed(at(last, 1), None) })
    }

    /// Sticky threads are on every page.
    fn page(&self, page: usize, size: usize) -> Vec<(u32, ListedActivity)> {
        let is_sticky = |thread: &u32| self.stickies.contains(thread);
        let of = |sticky: bool| self.list.iter().filter(move |(thread, _)| is_sticky(thread) == sticky);
        of(true)
            .chain(of(false).skip(page * size).take(size))
            .map(|&(thread, last)| self.listed(thread, last))
            .collect()
    }

    fn last(&self) -> BTreeMap<u32, i64> {
        self.list.iter().copied().collect()
    }
}

proptest! {
    #[test]
    fn a_pass_finds_what_changed_and_nothing_else(
        before in prop::collection::vec(0_u32..400, 1..200),
        since in prop::collection::vec(0_u32..400, 0..120),
        // Fewer posts between two requests than threads per page: with more, whole pages repeat, which is
        // indistinguishable from a forum that repeats its last page.
        drift in prop::collection::vec(prop::collection::vec(0_u32..400, 0..5), 40),
        stickies in prop::collection::vec(0_u32..20, 0..3),
        size in 5_usize..25,
    ) {
        let mut board = Board { stickies, ..Board::default() };
        before.iter().for_each(|&thread| board.post(thread));
        let then = board.last();
        since.iter().for_each(|&thread| board.post(thread));
        let start = board.last();

        let (mut pass, mut found, mut pages) = (BoardScan::new(1_000), BTreeMap::new(), 0);
        loop {
            let shown = board.page(pages, size);
            let scan = pass.page(&shown, |thread| known(at(*then.get(&thread)?, 1), None));
            let now = board.last();
            for (thread, change) in scan.changed {
                prop_assert!(found.insert(thread, change).is_none(), "{} twice", thread);
                let is = if then.contains_key(&thread) { ThreadChange::Replied } else { ThreadChange::New };
                prop_assert_eq!(change, is);
                prop_assert_ne!(then.get(&thread), now.get(&thread), "{} has not changed", thread);
            }
            pages += 1;
            if !scan.more {
                break;
            }
            drift.get(pages).into_iter().flatten().for_each(|&thread| board.post(thread));
        }
        prop_assert!(pages <= 40 + board.list.len() / size, "{} pages", pages);
        // A thread with another reply during the pass moves above the current page: the next pass finds it.
        let end = board.last();
        for (thread, last) in &start {
            if then.get(thread) != Some(last) && end[thread] == *last {
                prop_assert!(found.contains_key(thread), "{} is missed", thread);
            }
        }
    }

    #[test]
    fn any_page_is_read_without_panic_and_a_pass_ends(
        pages in prop::collection::vec(prop::collection::vec(
            (0_u32..30, prop::option::of((any::<i32>(), any::<u32>())), prop::option::of(any::<u32>()), any::<bool>()), 0..30), 40),
    ) {
        let mut pass = BoardScan::default();
        let mut read = 0;
        for page in pages {
            let records: Vec<(u32, ListedActivity)> = page.into_iter().map(|(key, time, replies, sticky)| {
                let last_reply = time.map(|(at, within)| ApproxTime { at: i64::from(at), within });
                (key, ListedActivity { last_reply, replies, sticky })
            }).collect();
            read += 1;
            if !pass.page(&records, |key| (key % 2 == 0).then_some(KnownThread { last_reply: None, replies: Some(key) })).more {
                break;
            }
        }
        prop_assert!(read <= PAGES);
    }
}
