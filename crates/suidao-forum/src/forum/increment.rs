//! Which threads of a board must be fetched again: BIC, the board-based incremental crawl (Du, Ma 2010, section 4.1).
//!
//! Beyond the paper: sticky threads, threads that move down while the list is being read, rough or missing times, and
//! lists in another order.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use suidao_page::model::{ApproxTime, ListedActivity};

/// Default maximum of index pages per pass (as in Li, Cheng, Guo, Zhang 2007).
pub const PAGES: u32 = 32;
/// Threads on a page without a change that suffice to end the pass.
const UNCHANGED_THREADS: usize = 5;
/// Tolerance in seconds of a time derived from "3分钟前": clocks differ, and pages take time to arrive.
const SLACK: i64 = 60;
/// Absolute times are multiples of this: no time zone is finer.
const QUARTER: u32 = 900;

/// Record of a thread at its last fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownThread {
    pub last_reply: Option<ApproxTime>,
    /// Posts after the first.
    pub replies: Option<u32>,
}

/// Change of a thread since its last fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadChange {
    /// Never fetched.
    New,
    /// It has posts not fetched yet.
    Replied,
    /// None that the list shows.
    Same,
}

/// Compares a listed thread with its record.
///
/// A later time means a reply. If two rough times may be equal, or a time is missing, the numbers of replies decide. An
/// earlier time means a deleted reply or another format: only a higher number counts as a change.
pub fn change(record: &ListedActivity, known: Option<&KnownThread>) -> ThreadChange {
    let Some(known) = known else { return ThreadChange::New };
    let counts = record.replies.zip(known.replies);
    let replied = match record.last_reply.zip(known.last_reply) {
        Some((now, then)) if !same(now, then) => now.at > then.at || counts.is_some_and(|(now, then)| now > then),
        // A lower number means deleted replies, or was not a number of replies.
        _ => counts.is_some_and(|(now, then)| now > then),
    };
    if replied { ThreadChange::Replied } else { ThreadChange::Same }
}

/// Whether two times of a thread may be equal.
fn same(one: ApproxTime, other: ApproxTime) -> bool {
    // Two absolute times come from the same clock, so the next minute is another minute.
    let absolute = |moment: ApproxTime| moment.at.rem_euclid(i64::from(moment.within.clamp(1, QUARTER))) == 0;
    one.agrees(other, if absolute(one) && absolute(other) { 0 } else { SLACK })
}

/// Sort order of a list of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// By last reply, latest first.
    LastReply,
    /// Another order, usually by creation.
    Other,
    /// Too few threads with times.
    Unknown,
}

/// The sort order of one page of a list, without sticky threads. O(n log n).
pub fn sorted_by(records: &[ListedActivity]) -> Order {
    let times = records.iter().filter(|record| !record.sticky).filter_map(|record| record.last_reply);
    let (mut number, mut first, mut differ) = (0, None, false);
    // Longest decreasing subsequence (Fredman 1975): places[k] is the latest time with which a run of k + 1 threads can
    // end. An unrecognised sticky costs one thread, whereas it would break two pairs of neighbours.
    let mut positions: Vec<i64> = Vec::new();
    for time in times {
        number += 1;
        differ |= *first.get_or_insert(time.at) != time.at;
        let position = positions.partition_point(|&end| end >= time.at);
        match positions.get_mut(position) {
            Some(end) => *end = time.at,
            None => positions.push(time.at),
        }
    }
    if number < UNCHANGED_THREADS || !differ {
        Order::Unknown
    } else if (number - positions.len()) * 5 > number {
        Order::Other
    } else {
        Order::LastReply
    }
}

/// One pass over the index pages of a board, from the first on. `K`: key of a thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "K: Serialize", deserialize = "K: Deserialize<'de> + Ord"))]
pub struct BoardScan<K> {
    /// Pages that may still be read.
    left: u32,
    /// Threads listed so far: a repeated one moved down while the list was being read.
    seen: BTreeSet<K>,
    /// Consecutive pages without a change.
    quiet: u32,
    /// Pages ordered by last reply, and otherwise.
    ordered: u32,
    disordered: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanResult<K> {
    /// Threads to fetch, in page order; each once per pass, none [`ThreadChange::Same`].
    pub changed: Vec<(K, ThreadChange)>,
    /// Whether the next page is worth a request.
    pub more: bool,
}

impl<K> Default for BoardScan<K> {
    fn default() -> Self {
        Self::new(PAGES)
    }
}

impl<K> BoardScan<K> {
    pub fn new(max: u32) -> Self {
        Self { left: max, seen: BTreeSet::new(), quiet: 0, ordered: 0, disordered: 0 }
    }
}

impl<K: Copy + Ord> BoardScan<K> {
    /// Processes the records of the next index page. `known`: the record of a thread.
    ///
    /// The pass ends after a page with five or more threads and no change, after two smaller ones in a row (a page that
    /// only repeats threads counts as such), after an empty page, or at its page limit. Changed sticky threads are
    /// fetched but prove nothing, because their position is fixed. In a list not ordered by last reply an unchanged
    /// page proves nothing about the next one, because replies do not move old threads: such a list is read to its end
    /// or the page limit.
    pub fn page(&mut self, records: &[(K, ListedActivity)], known: impl Fn(K) -> Option<KnownThread>) -> ScanResult<K> {
        self.left = self.left.saturating_sub(1);
        let listed: Vec<ListedActivity> = records.iter().map(|(_, listed)| *listed).collect();
        match sorted_by(&listed) {
            Order::LastReply => self.ordered += 1,
            Order::Other => self.disordered += 1,
            Order::Unknown => {}
        }
        let (mut changed, mut moving, mut ordinary, mut fresh) = (Vec::new(), false, 0, false);
        for (key, listed) in records {
            if !self.seen.insert(*key) {
                continue;
            }
            fresh = true;
            let change = change(listed, known(*key).as_ref());
            if change != ThreadChange::Same {
                changed.push((*key, change));
            }
            if !listed.sticky {
                ordinary += 1;
                moving |= change != ThreadChange::Same;
            }
        }
        self.quiet = if moving { 0 } else { self.quiet + 1 };
        // In a list ordered by creation, unchanged pages are normal; past the end, forums repeat the last page.
        let by_reply = self.disordered == 0 || self.disordered < self.ordered;
        let ended =
            if by_reply || !fresh { self.quiet >= 2 || ordinary >= UNCHANGED_THREADS && !moving } else { false };
        ScanResult { changed, more: !records.is_empty() && self.left > 0 && !ended }
    }
}

#[cfg(test)]
mod tests;
