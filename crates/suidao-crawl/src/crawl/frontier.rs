//! The frontier: queued URLs per host, and the order in which they leave.
//!
//! Heaps with eight children keep the children of an entry in one cache line, which takes a third of a binary heap's
//! time at 10^7 URLs. An entry has 8 bytes, 32 bits of rank over 32 bits of (inverted) URL number, so a heap of plain
//! integers orders by rank and, on ties, by discovery. A URL found again with a better rank is pushed again; when the
//! old entry reaches the top, the URL's state shows that it is stale.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::num::NonZeroU64;

use dary_heap::OctonaryHeap;
use serde::{Deserialize, Serialize};

use suidao_page::model::{HostId, Priority, QueueEntry, QueueId, QueuePolicy, UrlId};
use suidao_page::seeded_rng::SeededRng;

/// The queue of pages that are due again, apart from those of the strategy: the value of a visit and the score of a
/// link have no common scale.
pub(super) const DUE: QueueId = QueueId(u8::MAX);

/// The queue of the promising links that a refresh found on revisited pages. They are in the queue of the strategy too.
pub(super) const NEW_LINKS: QueueId = QueueId(u8::MAX - 1);

/// Salt of the draws of random turns.
const RANDOM_TURNS: u64 = 1;

/// Entries inspected per URL returned, since some are stale.
const STEPS: usize = 64;

/// Rank and number of a queued URL, as one integer in heap order.
type Entry = u64;

fn entry(rank: u32, id: UrlId) -> Entry {
    (u64::from(rank) << 32) | u64::from(!id.0)
}

fn id_of(entry: Entry) -> UrlId {
    UrlId(!u32::try_from(entry & u64::from(u32::MAX)).expect("masked to 32 bits"))
}

/// The bits of a float as an integer of the same order.
fn rank(priority: Priority) -> u32 {
    let bits = priority.get().to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Queue {
    heap: OctonaryHeap<Entry>,
    /// The head last pushed to the queue's heap of hosts, if it is still there.
    announced: Option<NonZeroU64>,
}

impl Queue {
    /// No entry is 0, so the `Option` needs no space: each of a million hosts has a queue.
    fn announced(&self) -> Option<Entry> {
        self.announced.map(NonZeroU64::get)
    }

    fn announce(&mut self, entry: Option<Entry>) {
        self.announced = entry.and_then(NonZeroU64::new);
    }

    fn push(&mut self, entry: Entry) {
        if self.heap.capacity() == 0 {
            self.heap.reserve_exact(1);
        }
        self.heap.push(entry);
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct HostQueues {
    /// By queue number; most hosts use one.
    by_id: Vec<(u8, Queue)>,
    ready: bool,
    /// It is in the list of resting hosts.
    #[serde(skip)]
    resting: bool,
}

impl HostQueues {
    fn queue(&mut self, queue_id: QueueId) -> &mut Queue {
        let at = match self.by_id.binary_search_by_key(&queue_id.0, |(queue_id, _)| *queue_id) {
            Ok(at) => at,
            Err(at) => {
                if self.by_id.is_empty() {
                    // Most hosts of a broad crawl have one queue and few URLs.
                    self.by_id.reserve_exact(1);
                }
                self.by_id.insert(at, (queue_id.0, Queue::default()));
                at
            }
        };
        &mut self.by_id[at].1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueHead {
    pub host: HostId,
    pub id: UrlId,
    pub queue_id: QueueId,
    entry: Entry,
}

/// Queue and rank of an entry, to compare with the URL's current ones.
#[derive(Clone, Copy, Debug)]
pub struct EntryKey {
    queue_id: QueueId,
    /// None on a stack, where the order of arrival is the rank.
    rank: Option<u32>,
}

impl QueueHead {
    /// Whether it is a page that is due again.
    pub fn is_due(&self) -> bool {
        self.queue_id == DUE
    }
}

impl EntryKey {
    /// Whether it is current for a URL with this queue entry.
    pub fn is_of(self, queued: QueueEntry) -> bool {
        self.queue_id == queued.queue && self.rank.is_none_or(|own| own == rank(queued.priority))
    }
}

/// Best entries of hosts, and the hosts.
pub(super) type Heads = BinaryHeap<(Entry, Reverse<u32>)>;

pub struct Frontier {
    policy: QueuePolicy,
    seed: u64,
    pub(super) hosts: Vec<HostQueues>,
    /// Heads of the hosts per queue of the strategy; may hold stale ones.
    pub(super) heads: Vec<Heads>,
    /// Those of due pages: a crawl that has any has no checkpoints.
    due: Heads,
    /// Those of promising new links, of a refresh too.
    new_links: Heads,
    /// Hosts that were taken or made to wait; some are ready again.
    resting: Vec<HostId>,
    /// Pushes to stacks so far: the rank on a stack.
    pub(super) stacked: u32,
}

impl Frontier {
    /// An empty frontier; `seed` seeds the random choices of the policy.
    pub fn new(policy: QueuePolicy, seed: u64) -> Self {
        Self {
            policy,
            seed,
            hosts: Vec::new(),
            heads: Vec::new(),
            due: Heads::new(),
            new_links: Heads::new(),
            resting: Vec::new(),
            stacked: 0,
        }
    }

    /// Number of entries, stale ones included; none if one refers to a URL or host beyond these limits.
    pub(super) fn waiting(&self, urls: usize, hosts: usize) -> Option<u64> {
        let mut queues = self.hosts.iter().flat_map(|host| &host.by_id).flat_map(|(_, queue)| queue.heap.iter());
        let mut heads = self.heads.iter().flat_map(|heads| heads.iter());
        let known = self.hosts.len() <= hosts && heads.all(|(_, Reverse(host))| (*host as usize) < self.hosts.len());
        let count = |count: u64, entry: &Entry| ((id_of(*entry).0 as usize) < urls).then_some(count + 1);
        queues.try_fold(0, count).filter(|_| known)
    }

    fn is_stack(&self, queue_id: QueueId) -> bool {
        queue_id == QueueId::TUNNEL && matches!(self.policy, QueuePolicy::Preempt | QueuePolicy::Interleave(_))
    }

    /// Queues the links of one page. A stack returns the last push first, so the best links are pushed last.
    pub fn push_all(&mut self, mut links: Vec<(HostId, UrlId, QueueEntry)>) {
        links.retain(|&(host, id, queued)| {
            let stacked = self.is_stack(queued.queue);
            if !stacked {
                self.push(host, id, queued);
            }
            stacked
        });
        links.sort_by_key(|&(_, id, queued)| (queued.priority, Reverse(id)));
        for (host, id, queued) in links {
            self.push(host, id, queued);
        }
    }

    pub fn push(&mut self, host: HostId, id: UrlId, queued: QueueEntry) {
        let entry = self.entry(id, queued);
        self.insert(host, queued.queue, entry);
    }

    fn entry(&mut self, id: UrlId, queued: QueueEntry) -> Entry {
        if self.is_stack(queued.queue) {
            self.stacked += 1;
            entry(self.stacked, id)
        } else {
            entry(rank(queued.priority), id)
        }
    }

    /// Queues again, in its old position, a head that was taken and not fetched.
    pub fn requeue_in_place(&mut self, head: QueueHead) {
        self.insert(head.host, head.queue_id, head.entry);
    }

    fn insert(&mut self, host: HostId, queue_id: QueueId, entry: Entry) {
        let queues = self.host(host);
        let ready = queues.ready;
        let queue = queues.queue(queue_id);
        queue.push(entry);
        if ready && queue.announced().is_none_or(|announced| entry > announced) {
            queue.announce(Some(entry));
            self.announce(queue_id, entry, host);
        }
    }

    fn host(&mut self, host: HostId) -> &mut HostQueues {
        let at = host.0 as usize;
        if at >= self.hosts.len() {
            self.hosts.resize_with(at + 1, HostQueues::default);
        }
        &mut self.hosts[at]
    }

    fn announce(&mut self, queue_id: QueueId, entry: Entry, host: HostId) {
        let at = usize::from(queue_id.0);
        if queue_id != DUE && queue_id != NEW_LINKS && at >= self.heads.len() {
            self.heads.resize_with(at + 1, Heads::new);
        }
        if let Some(heads) = self.heads_of(queue_id) {
            heads.push((entry, Reverse(host.0)));
        }
    }

    /// Marks the host as not ready.
    pub fn mark_waiting(&mut self, host: HostId) {
        let queues = self.host(host);
        queues.ready = false;
        if !std::mem::replace(&mut queues.resting, true) {
            self.resting.push(host);
        }
    }

    /// After a restart from a checkpoint: lists the hosts that are not ready.
    pub(super) fn set_up(&mut self) {
        for (host, queues) in (0..).map(HostId).zip(&mut self.hosts) {
            queues.resting = !queues.ready;
            self.resting.extend(queues.resting.then_some(host));
        }
    }

    /// The hosts that are not ready and for which `keep` holds. Give them back with [`Frontier::put_resting`].
    pub fn take_resting(&mut self, keep: impl Fn(HostId) -> bool) -> Vec<HostId> {
        let mut resting = std::mem::take(&mut self.resting);
        resting.retain(|&host| {
            let queues = self.host(host);
            queues.resting = !queues.ready && keep(host);
            queues.resting
        });
        resting
    }

    pub fn put_resting(&mut self, resting: Vec<HostId>) {
        self.resting = resting;
    }

    /// About how many ready hosts have URLs in this queue: stale heads count.
    pub fn announced(&self, queue_id: QueueId) -> usize {
        self.heads.get(usize::from(queue_id.0)).map_or(0, Heads::len)
    }

    /// The best URL of a host in a queue, after dropping stale entries.
    pub fn best_of(
        &mut self,
        host: HostId,
        queue_id: QueueId,
        is_current: impl Fn(UrlId, EntryKey) -> bool,
    ) -> Option<UrlId> {
        let stack = self.is_stack(queue_id);
        let queue = self.host(host).queue(queue_id);
        drop_stale(queue, queue_id, stack, &is_current);
        queue.heap.peek().copied().map(id_of)
    }

    pub fn make_ready(&mut self, host: HostId) {
        let queues = self.host(host);
        queues.ready = true;
        let mut news = Vec::new();
        for (queue_id, queue) in &mut queues.by_id {
            if let Some(&head) = queue.heap.peek()
                && queue.announced().is_none_or(|announced| head > announced)
            {
                queue.announce(Some(head));
                news.push((QueueId(*queue_id), head));
            }
        }
        for (queue_id, head) in news {
            self.announce(queue_id, head, host);
        }
    }

    /// Takes the next URL of a ready host, which is not ready afterwards.
    ///
    /// `taken` counts the URLs taken so far and determines the queue; URLs to take at random are the caller's
    /// ([`Frontier::random_turn`]). `is_current` returns whether a URL is still
    /// queued as its entry states; other entries are stale and dropped.
    pub fn pop(&mut self, taken: u64, is_current: impl Fn(UrlId, EntryKey) -> bool) -> Option<QueueHead> {
        let queue_id = match self.policy {
            QueuePolicy::BestFirst => QueueId::MAIN,
            QueuePolicy::LowestFirst => {
                let highest = u8::try_from(self.heads.len().saturating_sub(1)).unwrap_or(u8::MAX);
                return (0..=highest).find_map(|queue_id| self.pop_from(QueueId(queue_id), &is_current));
            }
            QueuePolicy::Preempt => QueueId::TUNNEL,
            QueuePolicy::Interleave(main) => {
                if taken % (u64::from(main) + 1) < u64::from(main) {
                    QueueId::MAIN
                } else {
                    QueueId::TUNNEL
                }
            }
            QueuePolicy::WeightThenRandom { .. } => return self.pop_heaviest(&is_current),
        };
        self.pop_from(queue_id, &is_current).or_else(|| {
            let other = if queue_id == QueueId::MAIN { QueueId::TUNNEL } else { QueueId::MAIN };
            self.pop_from(other, &is_current)
        })
    }

    fn pop_heaviest(&mut self, is_current: &impl Fn(UrlId, EntryKey) -> bool) -> Option<QueueHead> {
        let heaviest = u8::try_from(self.heads.len().saturating_sub(1)).unwrap_or(u8::MAX);
        (0..=heaviest).rev().find_map(|queue_id| self.pop_from(QueueId(queue_id), is_current))
    }

    /// A generator of random URLs, if the next one is to be taken at random.
    pub fn random_turn(&self, taken: u64) -> Option<SeededRng> {
        let QueuePolicy::WeightThenRandom { by_weight, at_random } = self.policy else { return None };
        let at = taken % (u64::from(by_weight) + u64::from(at_random));
        (at >= u64::from(by_weight)).then(|| SeededRng::new(self.seed, RANDOM_TURNS, taken))
    }

    /// Takes this queued URL, if its host is ready. Its entry stays in the heap, stale.
    pub fn take(&mut self, host: HostId, id: UrlId, queued: QueueEntry) -> Option<QueueHead> {
        self.hosts.get(host.0 as usize).filter(|queues| queues.ready)?;
        self.mark_waiting(host);
        Some(QueueHead { host, id, queue_id: queued.queue, entry: entry(rank(queued.priority), id) })
    }

    fn heads_of(&mut self, queue_id: QueueId) -> Option<&mut Heads> {
        match queue_id {
            DUE => Some(&mut self.due),
            NEW_LINKS => Some(&mut self.new_links),
            QueueId(at) => self.heads.get_mut(usize::from(at)),
        }
    }

    /// As [`Frontier::pop`], of one queue.
    pub fn pop_from(&mut self, queue_id: QueueId, is_current: &impl Fn(UrlId, EntryKey) -> bool) -> Option<QueueHead> {
        let (entry, host) = self.head(queue_id, is_current)?;
        self.heads_of(queue_id)?.pop();
        self.mark_waiting(host);
        let queues = self.host(host);
        let queue = queues.queue(queue_id);
        queue.heap.pop();
        queue.announce(None);
        Some(QueueHead { host, id: id_of(entry), queue_id, entry })
    }

    /// The best `most` URLs of each queue of the strategy, best first, whether or not their hosts are ready. Changes
    /// nothing.
    pub fn heads(&self, most: usize, is_current: impl Fn(UrlId, EntryKey) -> bool) -> Vec<(QueueId, Vec<UrlId>)> {
        let mut heaps_by_id: BTreeMap<u8, Vec<&[Entry]>> = BTreeMap::new();
        for (queue_id, queue) in self.hosts.iter().flat_map(|host| &host.by_id) {
            if !queue.heap.is_empty() && *queue_id != DUE.0 {
                heaps_by_id.entry(*queue_id).or_default().push(queue.heap.as_slice());
            }
        }
        let best = |(queue_id, mut heaps): (u8, Vec<&[Entry]>)| {
            let queue_id = QueueId(queue_id);
            let stack = self.is_stack(queue_id);
            let head = |heap: &&[Entry]| Reverse(heap.first().copied());
            // Other heaps have only worse URLs than the heads of these, except for stale entries: twice as many leave a
            // margin.
            if heaps.len() > 2 * most {
                heaps.select_nth_unstable_by_key(2 * most, head);
                heaps.truncate(2 * most);
            }
            // Heap and position in it, best first: a heap is a tree with eight branches.
            let mut open: BinaryHeap<(Entry, usize, usize)> =
                heaps.iter().enumerate().filter_map(|(at, heap)| Some((*heap.first()?, at, 0))).collect();
            let mut found: Vec<UrlId> = Vec::new();
            let mut steps = STEPS * most;
            while let Some((entry, at, position)) = open.pop()
                && found.len() < most
                && steps > 0
            {
                steps -= 1;
                let rank = u32::try_from(entry >> 32).expect("32 bits are left");
                let id = id_of(entry);
                if !found.contains(&id) && is_current(id, EntryKey { queue_id, rank: (!stack).then_some(rank) }) {
                    found.push(id);
                }
                let below = 8 * position + 1..(8 * position + 9).min(heaps[at].len());
                open.extend(below.map(|position| (heaps[at][position], at, position)));
            }
            (queue_id, found)
        };
        heaps_by_id.into_iter().map(best).collect()
    }

    /// The best head of a queue among the ready hosts, after dropping stale ones. Does not remove it.
    fn head(&mut self, queue_id: QueueId, is_current: &impl Fn(UrlId, EntryKey) -> bool) -> Option<(Entry, HostId)> {
        let stack = self.is_stack(queue_id);
        loop {
            let &(announced, Reverse(host)) = self.heads_of(queue_id)?.peek()?;
            let host = HostId(host);
            let queues = self.host(host);
            let ready = queues.ready;
            let queue = queues.queue(queue_id);
            if queue.announced() != Some(announced) {
                self.heads_of(queue_id)?.pop();
                continue;
            }
            drop_stale(queue, queue_id, stack, is_current);
            let head = queue.heap.peek().copied();
            if ready && head == Some(announced) {
                return Some((announced, host));
            }
            // If the host is not ready, `make_ready` announces it again; if the head was stale, the next one replaces
            // it.
            queue.announce(head.filter(|_| ready));
            let again = queue.announced();
            self.heads_of(queue_id)?.pop();
            if let Some(head) = again {
                self.announce(queue_id, head, host);
            }
        }
    }
}

/// Drops stale entries from the top of a host's queue.
fn drop_stale(queue: &mut Queue, queue_id: QueueId, stack: bool, is_current: &impl Fn(UrlId, EntryKey) -> bool) {
    let stale = |entry: Entry| {
        let rank = u32::try_from(entry >> 32).expect("32 bits are left");
        !is_current(id_of(entry), EntryKey { queue_id, rank: (!stack).then_some(rank) })
    };
    while queue.heap.peek().is_some_and(|&head| stale(head)) {
        queue.heap.pop();
    }
}

#[cfg(test)]
mod tests;
