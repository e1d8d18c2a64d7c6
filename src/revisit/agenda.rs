//! The running policy: which page next, for as long as there are requests. Apart from the single round because it must not
//! look at every page for each visit.
//!
//! The best policy visits a page when its value reaches the price of a visit (see `worth`). The price is what visits
//! lately were worth, a moving mean, so it follows the bandwidth by itself, without a solver (Busa-Fekete et al. 2025,
//! section 5). Pages wait in a heap by the time at which they reach it: a decision is O(log n). Times hang on the price; when
//! that has moved by more than a fifth since they were computed, they are computed anew.
//!
//! Where a host takes no more than so many visits a day, its pages have a heap of their own and, if that is what holds them
//! back, a price of their own above the common one (Kolobov et al., SIGIR 2019); the hosts wait in one heap by their first pages.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dary_heap::OctonaryHeap;
use ordered_float::OrderedFloat;
use rustc_hash::FxHashMap;

use super::Worth;
use crate::model::{HostId, UrlId};

/// A page's time and number in one integer: ties in order of discovery. Eight children of a node fit a cache line.
type Entry = u64;

/// Times are told apart by so many to a day: 10 seconds.
const TICKS: f64 = 8640.0;

/// The time of a page that is never worth the price.
const NEVER: u32 = u32::MAX;

/// Prices may be off by so much before times are computed anew: ln 1.2.
const DRIFT: f64 = 0.182;

/// One visit moves the logarithm of a price by this at most, over the number of visits it is a mean of.
const OUTLIER: f64 = 7.0;

/// A price is a mean over at least so many visits, and over a visit to one page in so many.
const MEMORY: f64 = 32.0;
const PART: f64 = 16.0;

/// Whoever waits for a visit.
#[derive(Clone, Copy, Debug)]
struct Slot {
    worth: Worth,
    last: f64,
    host: u32,
    /// When it is due, in ticks.
    due: u32,
}

/// The pages of one host, or all of them.
#[derive(Debug, Default)]
struct Queue {
    /// May hold outdated entries: those that do not agree with the page's slot.
    heap: OctonaryHeap<Reverse<Entry>>,
    /// Pages that wait here.
    live: usize,
    /// The first entry as it stands in the heap of hosts; none while the host must not be asked.
    announced: Option<Entry>,
    price: Price,
    /// The price of which the times are.
    timed_at: f64,
    /// The span of time that visits are counted in, and the visits in it.
    span: i64,
    visits: u32,
    /// Whether visits are limited by what the host takes, so that its price is its own.
    bound: bool,
    resting: bool,
}

/// A moving geometric mean of what visits were worth.
#[derive(Clone, Copy, Debug, Default)]
struct Price {
    value: f64,
    visits: f64,
}

impl Price {
    fn observe(&mut self, value: f64, pages: usize) {
        let memory = (pages as f64 / PART).max(MEMORY).min(self.visits + MEMORY / 4.0);
        self.visits += 1.0;
        self.value *= ((value / self.value).ln().clamp(-OUTLIER, OUTLIER) / memory).exp();
    }

    /// Whether it is far from another price.
    fn has_left(&self, other: f64) -> bool {
        !((self.value / other).ln().abs() <= DRIFT)
    }
}

/// The pages to visit again, by when.
///
/// The same calls give the same answers.
#[derive(Debug)]
pub struct Agenda {
    per_host: Option<f64>,
    pages: FxHashMap<UrlId, Slot>,
    /// By host; without a limit all pages are in the first.
    queues: Vec<Queue>,
    heads: BinaryHeap<Reverse<(Entry, u32)>>,
    /// Hosts that were visited as often as they may be, by the day on which they may be again.
    resting: BinaryHeap<Reverse<(OrderedFloat<f64>, u32)>>,
    price: Price,
}

impl Agenda {
    /// An empty one. `per_host`: the most visits to one host on one day, by the day's number; below one, in 1/`per_host` days.
    #[must_use]
    pub fn new(per_host: Option<f64>) -> Self {
        Self {
            per_host,
            pages: FxHashMap::default(),
            queues: Vec::new(),
            heads: BinaryHeap::new(),
            resting: BinaryHeap::new(),
            price: Price::default(),
        }
    }

    /// Pages that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether none does.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// What a visit must be worth: the mean of what visits lately were, where no limit of a host held them back. 0 before the first.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.price.value
    }

    /// Takes a page in, visited last on the day `last`; if it is in, what is known of it is replaced.
    pub fn put(&mut self, page: UrlId, host: HostId, worth: Worth, last: f64) {
        self.remove(page);
        let host = if self.per_host.is_some() { host.0 } else { 0 };
        if self.queues.len() <= host as usize {
            self.queues.resize_with(host as usize + 1, Queue::default);
        }
        let due = due(&worth, last, self.price_of(host));
        self.pages.insert(page, Slot { worth, last, host, due });
        let queue = &mut self.queues[host as usize];
        if queue.live == 0 {
            queue.timed_at = self.price.value.max(if queue.bound { queue.price.value } else { 0.0 });
        }
        queue.live += 1;
        queue.heap.push(Reverse(entry(due, page)));
        self.announce(host);
        self.tidy(host);
    }

    /// Forgets a page.
    pub fn remove(&mut self, page: UrlId) {
        if let Some(slot) = self.pages.remove(&page) {
            self.queues[slot.host as usize].live -= 1;
            self.tidy(slot.host);
        }
    }

    /// Takes off the page that is due first, of a host that may be asked on the day `now`, with what a visit is worth; none if
    /// there is no such page or no visit is worth anything. To be put back with what the visit has shown. Days must not go back.
    pub fn take(&mut self, now: f64) -> Option<(UrlId, f64)> {
        self.wake(now);
        if self.price.value == 0.0 && !self.begin(now) {
            return None;
        }
        let mut worthless = Vec::new();
        let taken = loop {
            let Some((first, host)) = self.head() else { break None };
            let (due, page) = parts(first);
            if due == NEVER {
                if self.lower(now) {
                    continue;
                }
                break None;
            }
            let slot = self.pages[&page];
            let value = slot.worth.value(now - slot.last);
            self.queues[host as usize].heap.pop();
            if value > 0.0 {
                self.pages.remove(&page);
                self.queues[host as usize].live -= 1;
                break Some((page, host, value));
            }
            // Visited just now, and all others are due later: one of them may be worth more all the same.
            worthless.push((host, first));
            self.announce(host);
        };
        for (host, entry) in worthless {
            self.queues[host as usize].heap.push(Reverse(entry));
            self.announce(host);
        }
        let (page, host, value) = taken?;
        self.count(host, now);
        self.learn(host, value);
        self.announce(host);
        Some((page, value))
    }

    /// The first entry among all hosts that may be asked.
    fn head(&mut self) -> Option<(Entry, u32)> {
        while let Some(&Reverse((first, host))) = self.heads.peek() {
            if self.queues[host as usize].announced == Some(first) {
                if self.is_current(host, first) {
                    return Some((first, host));
                }
                self.announce(host);
            } else {
                self.heads.pop();
            }
        }
        None
    }

    fn is_current(&self, host: u32, entry: Entry) -> bool {
        let (due, page) = parts(entry);
        self.pages.get(&page).is_some_and(|slot| slot.due == due && slot.host == host)
    }

    /// Makes a host's first page known, unless it must not be asked.
    fn announce(&mut self, host: u32) {
        while let Some(&Reverse(first)) = self.queues[host as usize].heap.peek() {
            if self.is_current(host, first) {
                break;
            }
            self.queues[host as usize].heap.pop();
        }
        let queue = &mut self.queues[host as usize];
        let first = queue.heap.peek().map(|first| first.0).filter(|_| !queue.resting);
        if queue.announced != first {
            queue.announced = first;
            self.heads.extend(first.map(|first| Reverse((first, host))));
        }
    }

    /// Drops outdated entries where they are more than the others.
    fn tidy(&mut self, host: u32) {
        let queue = &self.queues[host as usize];
        if queue.heap.len() > 2 * queue.live + 64 {
            let entries = self.current(host);
            self.queues[host as usize].heap = entries.into_iter().map(Reverse).collect();
            self.announce(host);
        }
        if self.heads.len() > 2 * self.queues.len() + 64 {
            let queues = &self.queues;
            self.heads.retain(|Reverse((entry, host))| queues[*host as usize].announced == Some(*entry));
        }
    }

    /// Takes the entries of a host that stand for pages.
    fn current(&mut self, host: u32) -> Vec<Entry> {
        let heap = std::mem::take(&mut self.queues[host as usize].heap);
        let mut entries: Vec<Entry> = heap.into_iter().map(|entry| entry.0).collect();
        entries.retain(|&entry| self.is_current(host, entry));
        // A page put back with the same time as before stands there twice.
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    fn price_of(&self, host: u32) -> f64 {
        let queue = &self.queues[host as usize];
        if queue.bound { queue.price.value.max(self.price.value) } else { self.price.value }
    }

    /// Computes the times of a host's pages anew.
    fn retime(&mut self, host: u32) {
        let price = self.price_of(host);
        let mut entries = self.current(host);
        for entry in &mut entries {
            let (_, page) = parts(*entry);
            let slot = self.pages.get_mut(&page).expect("it is current");
            slot.due = due(&slot.worth, slot.last, price);
            *entry = self::entry(slot.due, page);
        }
        let queue = &mut self.queues[host as usize];
        queue.heap = entries.into_iter().map(Reverse).collect();
        queue.timed_at = price;
        self.announce(host);
    }

    fn retime_all(&mut self) {
        self.heads.clear();
        for host in 0..u32::try_from(self.queues.len()).expect("hosts are numbered by 32 bits") {
            self.queues[host as usize].announced = None;
            self.retime(host);
        }
    }

    /// The first price: what the best of so many pages as a mean is taken over are worth now.
    fn begin(&mut self, now: f64) -> bool {
        let mut values = self.values(now);
        if values.is_empty() {
            return false;
        }
        let place = values.len() / (2.0 * PART) as usize;
        let (_, value, _) = values.select_nth_unstable_by(place, |a, b| b.total_cmp(a));
        self.price.value = *value;
        self.retime_all();
        true
    }

    /// What visits are worth now, where they are worth anything and the host may be asked.
    fn values(&self, now: f64) -> Vec<f64> {
        let open = self.pages.values().filter(|slot| !self.queues[slot.host as usize].resting);
        open.map(|slot| slot.worth.value(now - slot.last)).filter(|value| *value > 0.0).collect()
    }

    /// No page of a host that may be asked is ever worth the price, so that is too high.
    fn lower(&mut self, now: f64) -> bool {
        let best = self.values(now).into_iter().fold(0.0, f64::max);
        if best <= 0.0 || self.price.value <= f64::MIN_POSITIVE {
            return false;
        }
        self.price.value = (best / 2.0).min(self.price.value / 2.0);
        for queue in self.queues.iter_mut().filter(|queue| !queue.resting) {
            queue.bound = false;
        }
        self.retime_all();
        true
    }

    /// Visits that a host takes in a span, and how many days that is.
    fn limit(&self) -> Option<(u32, f64)> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
        self.per_host.map(|cap| if cap >= 1.0 { (cap as u32, 1.0) } else { (1, 1.0 / cap.max(1e-9)) })
    }

    /// Counts a visit of a host, which then may have to rest.
    fn count(&mut self, host: u32, now: f64) {
        let Some((most, days)) = self.limit() else { return };
        let queue = &mut self.queues[host as usize];
        #[allow(clippy::cast_possible_truncation)] // saturates
        let span = (now / days).floor() as i64;
        if span > queue.span || queue.visits == 0 {
            // A host that was not asked as often as it takes is not held back.
            queue.bound &= queue.visits >= most && span == queue.span + 1;
            queue.span = span;
            queue.visits = 0;
        }
        queue.visits += 1;
        if queue.visits >= most {
            if !queue.bound {
                queue.bound = true;
                queue.price = Price { value: self.price.value, visits: 0.0 };
            }
            queue.resting = true;
            self.resting.push(Reverse((OrderedFloat((queue.span + 1) as f64 * days), host)));
        }
    }

    fn wake(&mut self, now: f64) {
        while let Some(&Reverse((day, host))) = self.resting.peek().filter(|rest| rest.0.0.0 <= now) {
            debug_assert!(day.0 <= now);
            self.resting.pop();
            self.queues[host as usize].resting = false;
            self.announce(host);
        }
    }

    /// A visit to this host was worth so much.
    fn learn(&mut self, host: u32, value: f64) {
        let queue = &mut self.queues[host as usize];
        if queue.bound {
            queue.price.observe(value, queue.live);
        } else {
            self.price.observe(value, self.pages.len());
        }
        let price = Price { value: self.price_of(host), visits: 0.0 };
        if !price.has_left(self.queues[host as usize].timed_at) {
            return;
        }
        if self.queues[host as usize].bound { self.retime(host) } else { self.retime_all() }
    }
}

/// When a page's value reaches the price.
fn due(worth: &Worth, last: f64, price: f64) -> u32 {
    let day = last + worth.days_until(price);
    if day.is_finite() {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // clamped; days before the first are told apart too
        let tick = (day * TICKS + f64::from(1_u32 << 31)).clamp(0.0, f64::from(NEVER - 1)) as u32;
        tick
    } else {
        NEVER
    }
}

fn entry(due: u32, page: UrlId) -> Entry {
    (u64::from(due) << 32) | u64::from(page.0)
}

fn parts(entry: Entry) -> (u32, UrlId) {
    ((entry >> 32) as u32, UrlId(u32::try_from(entry & u64::from(u32::MAX)).expect("masked to 32 bits")))
}
