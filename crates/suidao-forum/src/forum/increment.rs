//! Which threads of a board have to be fetched again: BIC, the board-based incremental crawl (Du, Ma 2010, section 4.1).
//!
//! Beyond the paper: stickies, threads that move down while the list is being read, times that are shown roughly or not
//! at all, and lists that are not ordered by last reply.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use suidao_page::model::{ApproxTime, Listed};

/// Index pages that a pass reads at most, if nothing else is said (Li, Cheng, Guo, Zhang 2007 stop there too).
pub const PAGES: u32 = 32;
/// Threads that a page must tell something new of for one page without a change to end the pass.
const FULL: usize = 5;
/// Seconds by which a time read off "3分钟前" may be wrong: clocks differ, and a page takes its time to come.
const SLACK: i64 = 60;
/// An absolute time lies on a multiple of it: no time zone is finer.
const QUARTER: u32 = 900;

/// What was on record of a thread when it was last fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownThread {
    /// When it had last been replied to.
    pub last_reply: Option<ApproxTime>,
    /// Posts after the first.
    pub replies: Option<u32>,
}

/// What became of a thread since it was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadChange {
    /// It never was.
    New,
    /// There are posts that are not on record.
    Replied,
    /// Nothing, as far as the list shows.
    Same,
}

/// Compares what a list shows of a thread with what is on record.
///
/// Later times say that there was a reply. Times that can be the same instant say nothing where they are rough, so there
/// the numbers of replies decide, as they do where a time is missing. An earlier time is a deleted reply, or one shown
/// otherwise than before: only a number that has grown makes a change of it.
pub fn change(record: &Listed, known: Option<&KnownThread>) -> ThreadChange {
    let Some(known) = known else { return ThreadChange::New };
    let counts = record.replies.zip(known.replies);
    let replied = match record.last_reply.zip(known.last_reply) {
        Some((now, then)) if !same(now, then) => now.at > then.at || counts.is_some_and(|(now, then)| now > then),
        // Fewer are deleted ones, or a number that was not one of replies.
        _ => counts.is_some_and(|(now, then)| now > then),
    };
    if replied { ThreadChange::Replied } else { ThreadChange::Same }
}

/// Whether two times of a thread can be one.
fn same(one: ApproxTime, other: ApproxTime) -> bool {
    // Two absolute times are off by the same clock, if at all: the minute after is another minute.
    let absolute = |moment: ApproxTime| moment.at.rem_euclid(i64::from(moment.within.clamp(1, QUARTER))) == 0;
    one.agrees(other, if absolute(one) && absolute(other) { 0 } else { SLACK })
}

/// What a list of threads is ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// By last reply, the latest first.
    LastReply,
    /// By something else, most often by when threads were opened.
    Other,
    /// Too few threads, or none with a time.
    Unknown,
}

/// Tells the order of a list from one of its pages; stickies do not count. Linear, but for the search of a place.
pub fn sorted_by(records: &[Listed]) -> Order {
    let times = records.iter().filter(|record| !record.sticky).filter_map(|record| record.last_reply);
    let (mut number, mut first, mut differ) = (0, None, false);
    // The longest run of threads in the order asked for, other threads between them (Fredman 1975): places[k] is the
    // latest time that such a run of k + 1 threads can end with. One sticky that was not told as such costs one thread,
    // where neighbours compared in pairs would be out of order twice.
    let mut places: Vec<i64> = Vec::new();
    for time in times {
        number += 1;
        differ |= *first.get_or_insert(time.at) != time.at;
        let place = places.partition_point(|&end| end >= time.at);
        match places.get_mut(place) {
            Some(end) => *end = time.at,
            None => places.push(time.at),
        }
    }
    if number < FULL || !differ {
        Order::Unknown
    } else if (number - places.len()) * 5 > number {
        Order::Other
    } else {
        Order::LastReply
    }
}

/// One pass over the index pages of one board, from the first on. `K`: what a thread is called.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "K: Serialize", deserialize = "K: Deserialize<'de> + Ord"))]
pub struct BoardScan<K> {
    /// Pages that may still be read.
    left: u32,
    /// Threads listed so far: what comes again moved down while the list was being read.
    seen: BTreeSet<K>,
    /// Pages in a row without a change.
    quiet: u32,
    /// Pages ordered by last reply, and pages ordered otherwise.
    ordered: u32,
    disordered: u32,
}

/// What came of an index page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanResult<K> {
    /// Threads to fetch, in the page's order; each once in a pass, none [`Change::Same`].
    pub changed: Vec<(K, ThreadChange)>,
    /// The next page is worth a request.
    pub more: bool,
}

impl<K> Default for BoardScan<K> {
    fn default() -> Self {
        Self::new(PAGES)
    }
}

impl<K> BoardScan<K> {
    /// A pass over at most so many index pages.
    pub fn new(max: u32) -> Self {
        Self { left: max, seen: BTreeSet::new(), quiet: 0, ordered: 0, disordered: 0 }
    }
}

impl<K: Copy + Ord> BoardScan<K> {
    /// Takes the records of the next index page. `known`: what is on record of a thread.
    ///
    /// The pass ends with a page that tells of five threads or more and of no change, with two smaller ones in a row (a
    /// page that only repeats what was listed counts as such), with an empty page, or with the last page it may read.
    /// Stickies are fetched when they change, and prove nothing: they stand where they stand whatever happens. In a list
    /// that is not ordered by last reply, an unchanged page proves nothing of the next one either, since replies to old
    /// threads leave them where they are: such a list is read to its end, or as far as the pass may.
    pub fn page(&mut self, records: &[(K, Listed)], known: impl Fn(K) -> Option<KnownThread>) -> ScanResult<K> {
        self.left = self.left.saturating_sub(1);
        let shown: Vec<Listed> = records.iter().map(|(_, listed)| *listed).collect();
        match sorted_by(&shown) {
            Order::LastReply => self.ordered += 1,
            Order::Other => self.disordered += 1,
            Order::Unknown => {}
        }
        let (mut changed, mut moving, mut telling, mut fresh) = (Vec::new(), false, 0, false);
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
                telling += 1;
                moving |= change != ThreadChange::Same;
            }
        }
        self.quiet = if moving { 0 } else { self.quiet + 1 };
        // The last pages of a list by publication are as quiet as all others; past its end, forums repeat a page.
        let by_reply = self.disordered == 0 || self.disordered < self.ordered;
        let ended = if by_reply || !fresh { self.quiet >= 2 || telling >= FULL && !moving } else { false };
        ScanResult { changed, more: !records.is_empty() && self.left > 0 && !ended }
    }
}

#[cfg(test)]
mod tests;
