//! The continuous policy: which page to visit next, for as long as requests remain.
//!
//! The best policy visits a page when its value reaches the price of a visit (see `worth`). The price is a moving mean
//! of the values of recent visits, so it follows the bandwidth without a solver (Busa-Fekete et al. 2025, section 5).
//! Pages wait in a heap by the time at which they reach the price, and the most valuable of the due pages is taken:
//! O(log n) per decision. The times depend on the price. If it has risen they are early, which is detected when they
//! come; if it has fallen by more than a fifth they are late and recomputed.
//!
//! Due pages are compared by value and not by time: a price that lags by some per cent builds a queue, in which a page
//! worth a visit per hour would wait among those worth one per month (2 to 4 per cent of the freshness in the
//! simulation of docs/measurements.md).
//!
//! If a host allows a limited number of visits per day, its pages have a heap of their own and, if the limit binds, a
//! price above the common one (Kolobov et al., SIGIR 2019); the hosts are in one heap by their first pages.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dary_heap::OctonaryHeap;
use ordered_float::OrderedFloat;
use rustc_hash::FxHashMap;

use super::VisitValue;
use suidao_page::model::{HostId, UrlId};

/// Time and number of a page in one integer; ties in order of discovery. Eight children of a node fit in a cache line.
type Entry = u64;

/// Ticks per day: 10 seconds each.
const TICKS: f64 = 8640.0;

/// Time of a page that is never worth the price.
const NEVER: u32 = u32::MAX;

/// Time of a page in `ready`, which is in no heap of waiting pages.
const READY: u32 = NEVER - 1;

/// Minimum number of pages compared by value, even if none is due.
const COMPARED: usize = 16;

/// With more pages, values are recomputed after one in this many has been taken: amortised, this many per visit.
const ANEW: usize = 4;

/// Times are recomputed when the price has fallen to this share.
const DRIFT: f64 = 1.0 / 1.2;

/// Maximum change of the logarithm of a price by one visit, divided by the number of visits in the mean.
const OUTLIER: f64 = 7.0;

/// A price is a mean over at least this many visits, and at least over one visit per `PART` pages.
const MEMORY: f64 = 32.0;
const PART: f64 = 16.0;

/// Value and number of a page that is ready: ties in order of discovery.
type Ready = (OrderedFloat<f64>, Reverse<UrlId>);

/// A page waiting for a visit.
#[derive(Clone, Copy, Debug)]
struct Slot {
    worth: VisitValue,
    last: f64,
    host: u32,
    /// When it is due, in ticks.
    due: u32,
}

impl Slot {
    fn value(&self, now: f64) -> f64 {
        self.worth.value(now - self.last)
    }
}

/// The pages of one host, or all pages.
#[derive(Debug, Default)]
struct Queue {
    /// May hold stale entries, which disagree with the page's slot.
    heap: OctonaryHeap<Reverse<Entry>>,
    live: usize,
    /// The first entry as pushed to the heap of hosts; none while the host must not be asked.
    announced: Option<Entry>,
    price: Price,
    /// The highest price for which times were computed.
    timed_at: f64,
    /// The current span for counting visits, and the visits in it.
    span: i64,
    visits: u32,
    /// Whether the host's limit binds, so that it has its own price.
    bound: bool,
    resting: bool,
}

/// A moving geometric mean of visit values.
#[derive(Clone, Copy, Debug, Default)]
struct Price {
    value: f64,
    /// Visits in the mean: the fewer, the more the next one counts.
    visits: f64,
}

impl Price {
    fn observe(&mut self, value: f64, pages: usize) {
        let memory = (pages as f64 / PART).max(MEMORY).min(self.visits + MEMORY / 4.0);
        self.visits += 1.0;
        self.value *= ((value / self.value).ln().clamp(-OUTLIER, OUTLIER) / memory).exp();
    }
}

/// Pages by the time of their next visit. Deterministic.
#[derive(Debug)]
pub struct RevisitQueue {
    per_host: Option<f64>,
    pages: FxHashMap<UrlId, Slot>,
    /// By host; without a limit per host, all pages are in the first.
    queues: Vec<Queue>,
    heads: BinaryHeap<Reverse<(Entry, u32)>>,
    /// Hosts at their limit, by the span in which they may be visited again.
    resting: BinaryHeap<Reverse<(i64, u32)>>,
    price: Price,
    /// The highest price for which times were computed.
    timed_at: f64,
    /// Due pages and some that soon will be, by value as last computed; the most valuable is taken. May hold stale
    /// entries: pages that are not ready, or whose host rests.
    ready: BinaryHeap<Ready>,
    /// Pages taken from `ready` since the values were computed.
    taken: usize,
}

impl RevisitQueue {
    /// An empty queue. `per_host`: maximum visits per host and day; below one, one visit in 1/`per_host` days.
    pub fn new(per_host: Option<f64>) -> Self {
        Self {
            per_host,
            pages: FxHashMap::default(),
            queues: Vec::new(),
            heads: BinaryHeap::new(),
            resting: BinaryHeap::new(),
            price: Price::default(),
            timed_at: 0.0,
            ready: BinaryHeap::new(),
            taken: 0,
        }
    }

    /// Adds or replaces a page, last visited on day `last`.
    pub fn put(&mut self, page: UrlId, host: HostId, worth: VisitValue, last: f64) {
        self.remove(page);
        let host = if self.per_host.is_some() { host.0 } else { 0 };
        if self.queues.len() <= host as usize {
            self.queues.resize_with(host as usize + 1, Queue::default);
        }
        let slot = Slot { worth, last, host, due: READY };
        self.pages.insert(page, slot);
        let queue = &mut self.queues[host as usize];
        if queue.live == 0 {
            queue.timed_at = 0.0;
        }
        queue.live += 1;
        self.wait(page);
        self.tidy(host);
    }

    /// Puts a page that is in no heap into its heap.
    fn wait(&mut self, page: UrlId) {
        let host = self.pages[&page].host;
        let price = self.price_of(host);
        let slot = self.pages.get_mut(&page).expect("it is in");
        slot.due = due(&slot.worth, slot.last, price);
        let entry = entry(slot.due, page);
        self.timed_at = self.timed_at.max(self.price.value);
        let queue = &mut self.queues[host as usize];
        queue.timed_at = queue.timed_at.max(price);
        queue.heap.push(Reverse(entry));
        self.announce(host);
    }

    pub fn remove(&mut self, page: UrlId) {
        if let Some(slot) = self.pages.remove(&page) {
            self.queues[slot.host as usize].live -= 1;
            self.tidy(slot.host);
        }
    }

    /// Removes the most valuable due page whose host may be asked on day `now`, and returns it with the value of the
    /// visit; none if no visit has any value. Put it back with the result of the visit. Days must not decrease.
    pub fn take(&mut self, now: f64) -> Option<(UrlId, f64)> {
        self.wake(now);
        if self.price.value == 0.0 && !self.begin(now) {
            return None;
        }
        let page = loop {
            self.make_ready(now);
            if let Some((_, Reverse(page))) = self.ready.pop() {
                break Some(page);
            }
            // No page waits, or none is ever worth the price: a lower price may help.
            if self.head().is_none() || !self.lower(now) {
                break None;
            }
        }?;
        self.taken += 1;
        let Slot { host, .. } = self.pages[&page];
        let value = self.pages[&page].value(now);
        self.remove(page);
        self.count(host, now);
        self.learn(host, value);
        self.announce(host);
        Some((page, value))
    }

    /// Moves the most valuable page to the top of `ready`.
    fn make_ready(&mut self, now: f64) {
        if self.ready.len() <= COMPARED || self.taken * ANEW >= self.ready.len() {
            self.compare(now);
        }
        loop {
            self.take_due(now);
            // If all of them were stale, the next due pages may not have been added yet.
            if !self.drop_outdated() || !self.ready.is_empty() {
                break;
            }
        }
    }

    /// Moves due pages from the heaps to `ready`, and the next ones if they are too few.
    fn take_due(&mut self, now: f64) {
        let now_tick = tick(now);
        let mut worthless = Vec::new();
        while let Some((first, host)) = self.head() {
            let (due, page) = parts(first);
            if due == NEVER || (due > now_tick && self.ready.len() >= COMPARED) {
                break;
            }
            self.queues[host as usize].heap.pop();
            let price = self.price_of(host);
            let slot = self.pages.get_mut(&page).expect("it is current");
            let value = slot.value(now);
            if value <= 0.0 {
                // A page just visited has no value yet.
                worthless.push((host, first));
                self.announce(host);
            } else if due <= now_tick && value < price && self::due(&slot.worth, slot.last, price) > now_tick {
                // Its time was computed at a lower price.
                self.wait(page);
            } else {
                slot.due = READY;
                self.ready.push((OrderedFloat(value), Reverse(page)));
                self.announce(host);
            }
        }
        for (host, entry) in worthless {
            self.queues[host as usize].heap.push(Reverse(entry));
            self.announce(host);
        }
    }

    /// Drops stale entries and pages of resting hosts from the top of `ready`. Returns whether there were any.
    fn drop_outdated(&mut self) -> bool {
        let before = self.ready.len();
        while let Some(&(_, Reverse(page))) = self.ready.peek() {
            match self.pages.get(&page).filter(|slot| slot.due == READY) {
                Some(slot) if !self.queues[slot.host as usize].resting => break,
                Some(_) => self.wait(page),
                None => {}
            }
            self.ready.pop();
        }
        self.ready.len() < before
    }

    /// Recomputes the values of the ready pages, which grow at different speeds. Pages below the price wait again.
    fn compare(&mut self, now: f64) {
        self.taken = 0;
        let mut pages: Vec<UrlId> = std::mem::take(&mut self.ready).into_iter().map(|(_, page)| page.0).collect();
        // A page put back and ready again is in it twice.
        pages.sort_unstable();
        pages.dedup();
        let valued = |page: UrlId| {
            let slot = self.pages.get(&page).filter(|slot| slot.due == READY)?;
            Some((OrderedFloat(slot.value(now)), Reverse(page), slot.host))
        };
        let mut valued: Vec<(OrderedFloat<f64>, Reverse<UrlId>, u32)> = pages.into_iter().filter_map(valued).collect();
        valued.sort_unstable_by_key(|&entry| Reverse(entry));
        for (place, (value, page, host)) in valued.into_iter().enumerate() {
            if !self.queues[host as usize].resting && (place < COMPARED || value.0 >= self.price_of(host)) {
                self.ready.push((value, page));
            } else {
                self.wait(page.0);
            }
        }
    }

    /// The first entry of all hosts that may be asked.
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

    /// Pushes a host's first page to the heap of hosts, unless the host must not be asked.
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

    /// Drops stale entries once they are the majority.
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

    /// Takes the entries of a host that are not stale.
    fn current(&mut self, host: u32) -> Vec<Entry> {
        let heap = std::mem::take(&mut self.queues[host as usize].heap);
        let mut entries: Vec<Entry> = heap.into_iter().map(|entry| entry.0).collect();
        entries.retain(|&entry| self.is_current(host, entry));
        // A page put back with the same time is in it twice.
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    fn price_of(&self, host: u32) -> f64 {
        let queue = &self.queues[host as usize];
        if queue.bound { queue.price.value.max(self.price.value) } else { self.price.value }
    }

    /// Recomputes the times of a host's pages.
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
        self.timed_at = self.price.value;
        self.heads.clear();
        for host in 0..u32::try_from(self.queues.len()).expect("hosts are numbered by 32 bits") {
            self.queues[host as usize].announced = None;
            self.retime(host);
        }
    }

    /// The initial price: the mean value of the most valuable pages, as many as the mean covers.
    fn begin(&mut self, now: f64) -> bool {
        let mut values = self.values(now);
        if values.is_empty() {
            return false;
        }
        let place = values.len() / (2.0 * PART) as usize;
        let (_, value, _) = values.select_nth_unstable_by(place, |a, b| b.total_cmp(a));
        // Slowly at first: the initial visits are worth more than later ones.
        self.price = Price { value: *value, visits: f64::INFINITY };
        self.retime_all();
        true
    }

    /// Current positive values of the pages whose hosts may be asked.
    fn values(&self, now: f64) -> Vec<f64> {
        let open = self.pages.values().filter(|slot| !self.queues[slot.host as usize].resting);
        open.map(|slot| slot.value(now)).filter(|value| *value > 0.0).collect()
    }

    /// The price is too high for every page that may be visited: lowers it.
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

    /// Maximum visits of a host per span, and the span of a day.
    fn limit(&self, now: f64) -> Option<(u32, i64)> {
        let (most, days) =
            self.per_host.map(|cap| if cap >= 1.0 { (cap as u32, 1.0) } else { (1, 1.0 / cap.max(1e-9)) })?;
        Some((most, (now / days).floor() as i64))
    }

    /// Counts a visit of a host, which may then have to rest.
    fn count(&mut self, host: u32, now: f64) {
        let Some((most, span)) = self.limit(now) else { return };
        let queue = &mut self.queues[host as usize];
        if span > queue.span || queue.visits == 0 {
            // A host visited less than it allows has too high a price.
            let missed = (span - queue.span - 1).clamp(0, 8) as i32;
            let used = (f64::from(queue.visits) + 0.5) / f64::from(most);
            queue.price.value *= used.clamp(0.5, 1.0) * 0.5_f64.powi(missed);
            queue.bound &= queue.price.value > self.price.value;
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
            self.resting.push(Reverse((queue.span + 1, host)));
        }
    }

    fn wake(&mut self, now: f64) {
        let Some((_, span)) = self.limit(now) else { return };
        while let Some(&Reverse((_, host))) = self.resting.peek().filter(|rest| rest.0.0 <= span) {
            self.resting.pop();
            self.queues[host as usize].resting = false;
            self.announce(host);
        }
    }

    /// Updates the price with the value of a visit to this host.
    fn learn(&mut self, host: u32, value: f64) {
        let queue = &mut self.queues[host as usize];
        if queue.bound {
            queue.price.observe(value, queue.live);
        } else {
            self.price.observe(value, self.pages.len());
        }
        if self.price.value < DRIFT * self.timed_at {
            self.retime_all();
        } else if self.price_of(host) < DRIFT * self.queues[host as usize].timed_at {
            self.retime(host);
        }
    }
}

fn due(worth: &VisitValue, last: f64, price: f64) -> u32 {
    let day = last + worth.days_until(price);
    if day.is_finite() { tick(day) } else { NEVER }
}

/// Days before day 0 are distinct too.
fn tick(day: f64) -> u32 {
    (day * TICKS + f64::from(1_u32 << 31)).clamp(0.0, f64::from(READY - 1)) as u32
}

fn entry(due: u32, page: UrlId) -> Entry {
    (u64::from(due) << 32) | u64::from(page.0)
}

fn parts(entry: Entry) -> (u32, UrlId) {
    ((entry >> 32) as u32, UrlId(u32::try_from(entry & u64::from(u32::MAX)).expect("masked to 32 bits")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::revisit::optimum::{OptimumObjective, Rated, capped, rates};
    use suidao_page::draw::Draw;

    /// Pages that change from once in 100 days to ten times a day, of importance 0.03 to 1.
    fn some_pages(count: u64) -> Vec<Rated> {
        let page = |page| Rated {
            importance: 10_f64.powf(-1.5 * Draw::at(2 * page).unit()),
            rate: 10_f64.powf(3.0 * Draw::at(2 * page + 1).unit() - 2.0),
        };
        (0..count).map(page).collect()
    }

    fn worth(page: Rated) -> VisitValue {
        VisitValue { importance: page.importance, rate: page.rate, yields: 0.0, doubt: 1.0, spared: false }
    }

    /// Sum of importance times share of time fresh per day, between two days; and the visits of each page.
    struct Run {
        total: f64,
        visits: Vec<Vec<f64>>,
    }

    /// Makes this many visits per day, in rounds of `batch`.
    fn run(
        pages: &[Rated],
        hosts: &[u32],
        per_host: Option<f64>,
        budget: f64,
        batch: u32,
        (from, to): (f64, f64),
    ) -> Run {
        let mut agenda = RevisitQueue::new(per_host);
        let put = |agenda: &mut RevisitQueue, page: usize, last: f64| {
            agenda.put(UrlId(page as u32), HostId(hosts[page]), worth(pages[page]), last);
        };
        (0..pages.len()).for_each(|page| put(&mut agenda, page, -Draw::at(page as u64 + 77).unit()));
        let mut visits = vec![Vec::new(); pages.len()];
        let mut now = 0.0;
        while now < to {
            for _ in 0..batch {
                let Some((page, _)) = agenda.take(now) else { break };
                visits[page.0 as usize].push(now);
                put(&mut agenda, page.0 as usize, now);
            }
            now += f64::from(batch) / budget;
        }
        let fresh = |page: &Rated, at: &Vec<f64>| {
            // Expected freshness from one visit to the next.
            let mut times: Vec<f64> = at.iter().copied().filter(|&at| at >= from).collect();
            times.push(to);
            let before = at.iter().copied().rfind(|&at| at < from).unwrap_or(-1.0);
            let mut total = 0.0;
            let mut last = before;
            for next in times {
                let (start, end) = (last.max(from) - last, next - last);
                total += ((-page.rate * start).exp() - (-page.rate * end).exp()) / page.rate;
                last = next;
            }
            page.importance * total
        };
        let total = pages.iter().zip(&visits).map(|(page, at)| fresh(page, at)).sum::<f64>() / (to - from);
        Run { total, visits }
    }

    #[test]
    fn in_the_long_run_it_is_as_good_as_the_optimum() {
        let pages = some_pages(400);
        let hosts = vec![0; 400];
        for (budget, batch) in [(40.0, 1), (40.0, 10), (400.0, 1), (400.0, 100)] {
            let run = run(&pages, &hosts, None, budget, batch, (60.0, 160.0));
            let [random, even] = [OptimumObjective::Freshness, OptimumObjective::Even]
                .map(|objective| objective.total(&pages, &rates(&pages, budget, objective)));
            assert!(run.total >= 0.99 * random, "{budget} in {batch}: {} of {random}", run.total);
            assert!(run.total >= 0.99 * even, "{budget} in {batch}: {} of {even}", run.total);
        }
    }

    #[test]
    fn hosts_are_not_asked_more_often_than_they_take() {
        let pages = some_pages(400);
        // One large host and some small ones.
        let hosts: Vec<u32> = (0..400).map(|page| if page % 2 == 0 { 0 } else { 1 + page as u32 % 7 }).collect();
        for (cap, budget, days) in [(20.0, 100.0, 200.0), (5.0, 30.0, 400.0), (0.5, 100.0, 3000.0)] {
            let run = run(&pages, &hosts, Some(cap), budget, 1, (days, 2.0 * days));
            let best = OptimumObjective::Even
                .total(&pages, &capped(&pages, &hosts, &[cap; 8], budget, OptimumObjective::Even));
            assert!(run.total >= 0.98 * best, "{cap} a host, {budget}: {} of {best}", run.total);
            let span = if cap < 1.0 { 1.0 / cap } else { 1.0 };
            let mut counts = BTreeMap::new();
            for (at, host) in run.visits.iter().zip(&hosts).flat_map(|(at, host)| at.iter().map(move |at| (at, host))) {
                *counts.entry((host, (at / span).floor() as i64)).or_insert(0) += 1;
            }
            assert!(counts.values().all(|&count| count <= (cap as u32).max(1)), "{cap}");
        }
    }

    #[test]
    fn it_follows_the_bandwidth() {
        let pages = some_pages(200);
        let mut agenda = RevisitQueue::new(None);
        let mut now = 0.0;
        let mut price = [0.0; 2];
        (0..200).for_each(|page| agenda.put(UrlId(page), HostId(0), worth(pages[page as usize]), 0.0));
        for (place, budget) in [(0, 20.0), (1, 200.0), (0, 20.0)] {
            let until = now + 60.0;
            while now < until {
                now += 1.0 / budget;
                let (page, _) = agenda.take(now).unwrap();
                agenda.put(page, HostId(0), worth(pages[page.0 as usize]), now);
            }
            assert!(price[place] == 0.0 || (agenda.price.value / price[place]).ln().abs() < 0.3, "back where it was");
            price[place] = agenda.price.value;
        }
        assert!(price[1] < price[0] / 2.0, "{price:?}: more visits are worth less each");
    }

    #[test]
    fn spared_pages_are_visited_however_fast_they_change() {
        let mut agenda = RevisitQueue::new(None);
        let page_of = |page: u32| {
            // The first ten change every minute.
            let rate = if page < 10 { 1000.0 } else { 0.1 };
            VisitValue { importance: 1.0, rate, yields: 0.0, doubt: 1.0, spared: page < 5 }
        };
        (0..100).for_each(|page| agenda.put(UrlId(page), HostId(0), page_of(page), 0.0));
        let mut last = [0.0; 100];
        let mut longest = [0.0_f64; 100];
        for visit in 1..20_000_u32 {
            let now = f64::from(visit) / 20.0;
            let (page, _) = agenda.take(now).unwrap();
            let place = page.0 as usize;
            if now > 100.0 {
                longest[place] = longest[place].max(now - last[place]);
            }
            last[place] = now;
            agenda.put(page, HostId(0), page_of(page.0), now);
        }
        assert!(longest[..5].iter().all(|&days| days > 0.0 && days < 20.0), "{longest:?}");
        assert!(last[5..10].iter().all(|&day| day < 100.0), "given up: {:?}", &last[5..10]);
    }

    fn plain(importance: f64) -> VisitValue {
        VisitValue { importance, rate: 0.1, yields: 0.0, doubt: 1.0, spared: false }
    }

    #[test]
    fn what_is_put_anew_replaces() {
        let mut agenda = RevisitQueue::new(None);
        for round in 0..1000_u32 {
            for page in 0..10 {
                agenda.put(UrlId(page), HostId(0), plain(f64::from(page + round) / 100.0), 0.0);
            }
        }
        assert_eq!(agenda.pages.len(), 10);
        assert!(agenda.queues[0].heap.len() < 100 && agenda.heads.len() < 100, "outdated entries are dropped");
        agenda.put(UrlId(3), HostId(0), VisitValue { doubt: 0.01, ..plain(10.0) }, 0.0);
        assert_eq!(agenda.take(1.0).unwrap().0, UrlId(3), "a signal");
        agenda.remove(UrlId(9));
        agenda.remove(UrlId(9));
        let rest: Vec<u32> = std::iter::from_fn(|| agenda.take(1.0)).map(|(page, _)| page.0).collect();
        assert_eq!(rest, [8, 7, 6, 5, 4, 2, 1, 0]);
        assert!(agenda.pages.is_empty() && agenda.take(2.0).is_none());
    }

    #[test]
    fn ties_are_broken_by_discovery_and_worthless_pages_wait() {
        let mut agenda = RevisitQueue::new(None);
        assert!(agenda.take(0.0).is_none());
        for page in [4, 2, 3, 1] {
            agenda.put(UrlId(page), HostId(0), plain(if page == 1 { 0.0 } else { 1.0 }), 0.0);
        }
        assert!(agenda.take(0.0).is_none(), "all visited just now");
        let order: Vec<u32> = std::iter::from_fn(|| agenda.take(3.0)).map(|(page, _)| page.0).collect();
        assert_eq!(order, [2, 3, 4]);
        assert_eq!(agenda.pages.len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Against a plain map: the pages in it, the pages taken, and no valuable page is withheld.
        #[test]
        fn it_holds_what_was_put(
            steps in proptest::collection::vec((0_u8..6, 0_u32..12, 0.0..1.0), 1..150),
            per_host in proptest::option::of(0.3..6.0),
        ) {
            let mut agenda = RevisitQueue::new(per_host);
            let mut twin = RevisitQueue::new(per_host);
            let mut map = BTreeMap::new();
            let mut counts = BTreeMap::new();
            let mut now = 0.0;
            for (step, page, importance) in steps {
                match step {
                    0..3 => {
                        for agenda in [&mut agenda, &mut twin] {
                            agenda.put(UrlId(page), HostId(page % 3), plain(importance), now);
                        }
                        map.insert(UrlId(page), (plain(importance), now));
                    }
                    3 => {
                        agenda.remove(UrlId(page));
                        twin.remove(UrlId(page));
                        map.remove(&UrlId(page));
                    }
                    _ => {
                        now += importance;
                        let taken = agenda.take(now);
                        prop_assert_eq!(taken, twin.take(now));
                        let span = per_host.map_or(1.0, |cap| if cap < 1.0 { 1.0 / cap } else { 1.0 });
                        let most = per_host.map_or(u32::MAX, |cap| (cap as u32).max(1));
                        let of = |page: UrlId| (page.0 % 3, (now / span).floor() as i64);
                        if let Some((page, value)) = taken {
                            let (worth, last) = map.remove(&page).unwrap();
                            prop_assert!(value == worth.value(now - last) && value > 0.0);
                            let count = counts.entry(of(page)).or_insert(0);
                            *count += 1;
                            prop_assert!(*count <= most);
                        } else {
                            for (&page, (worth, last)) in &map {
                                let full = counts.get(&of(page)).is_some_and(|&count| count >= most);
                                prop_assert!(full || worth.value(now - last) == 0.0, "{:?} is withheld", page);
                            }
                        }
                    }
                }
                prop_assert_eq!(agenda.pages.len(), map.len());
            }
        }
    }
}
