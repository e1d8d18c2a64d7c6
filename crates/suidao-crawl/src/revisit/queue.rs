//! The continuous policy: which page to visit next, for as long as requests remain.
//!
//! The best policy visits a page when its value reaches the price of a visit (see `worth`), and the requests at hand
//! determine the price: so the most valuable page is next, whatever the price. Values grow at different speeds, so all
//! pages are compared again after one in [`ANEW`] of them has been visited: at most so many values per visit.
//!
//! Pages are compared by value and not by due time: in a queue by time a page worth a visit per hour would wait behind
//! those worth one per month (2 to 4 per cent of the freshness in the simulation of docs/measurements.md).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ordered_float::OrderedFloat;
use rustc_hash::FxHashMap;

use super::{Choice, VisitValue, plan};
use suidao_page::model::{HostId, UrlId};

/// All pages are compared after one in this many has been visited.
const ANEW: usize = 1024;

/// Pages waiting for a visit. Deterministic.
#[derive(Debug)]
pub struct RevisitQueue {
    per_host: Option<f64>,
    pages: FxHashMap<UrlId, Choice>,
    /// The most valuable pages of the last comparison and those put since, with their values then. May hold stale
    /// entries, of pages visited, removed or put again.
    best: BinaryHeap<(OrderedFloat<f64>, Reverse<UrlId>)>,
    put: Vec<UrlId>,
    /// Visits until the next comparison.
    left: usize,
    /// The current span for counting visits, and the visits of each host in it.
    span: i64,
    visits: FxHashMap<HostId, usize>,
}

impl RevisitQueue {
    /// An empty queue. `per_host`: maximum visits per host and day; below one, one visit in 1/`per_host` days.
    pub fn new(per_host: Option<f64>) -> Self {
        let (pages, visits) = (FxHashMap::default(), FxHashMap::default());
        Self { per_host, pages, best: BinaryHeap::new(), put: Vec::new(), left: 0, span: 0, visits }
    }

    /// Adds or replaces a page, last visited on day `last`.
    pub fn put(&mut self, page: UrlId, host: HostId, worth: VisitValue, last: f64) {
        self.pages.insert(page, Choice { page, host, worth, last });
        self.put.push(page);
    }

    pub fn remove(&mut self, page: UrlId) {
        self.pages.remove(&page);
    }

    /// Removes the most valuable page whose host may be asked on day `now`, and returns it with the value of the
    /// visit; none if no visit has any value. Put it back with the result of the visit. Days must not decrease.
    pub fn take(&mut self, now: f64) -> Option<(UrlId, f64)> {
        let span = self.per_host.map_or(0.0, |cap| (now / (1.0 / cap.clamp(1e-9, 1.0))).floor()) as i64;
        if span != self.span {
            (self.span, self.left) = (span, 0);
            self.visits.clear();
        }
        let round_ends = self.left == 0;
        if round_ends {
            self.compare(now);
        }
        let mut next = self.pop(now);
        if next.is_none() && !round_ends {
            // What is left of the chosen pages is stale, or of hosts at their limit.
            self.compare(now);
            next = self.pop(now);
        }
        let (page, value) = next?;
        self.left -= 1;
        let host = self.pages.remove(&page)?.host;
        if self.per_host.is_some() {
            *self.visits.entry(host).or_default() += 1;
        }
        Some((page, value))
    }

    /// Maximum visits of a host per span.
    fn limit(&self) -> Option<usize> {
        self.per_host.map(|cap| cap.max(1.0) as usize)
    }

    fn is_open(&self, host: HostId) -> bool {
        self.limit().is_none_or(|most| self.visits.get(&host).is_none_or(|visits| *visits < most))
    }

    /// Chooses the most valuable of all pages anew.
    fn compare(&mut self, now: f64) {
        self.put.clear();
        self.left = (self.pages.len() / ANEW).max(1);
        let open = self.pages.values().filter(|choice| self.is_open(choice.host)).copied();
        let best = plan(open, now, self.left, self.limit());
        self.best = best.into_iter().map(|(page, value)| (OrderedFloat(value), Reverse(page))).collect();
    }

    /// The most valuable of the chosen pages that may be visited.
    fn pop(&mut self, now: f64) -> Option<(UrlId, f64)> {
        for page in self.put.drain(..) {
            let value = self.pages.get(&page).map_or(0.0, |choice| choice.worth.value(now - choice.last));
            self.best.push((OrderedFloat(value), Reverse(page)));
        }
        while let Some((OrderedFloat(then), Reverse(page))) = self.best.pop() {
            let Some(choice) = self.pages.get(&page).filter(|choice| self.is_open(choice.host)) else { continue };
            let value = choice.worth.value(now - choice.last);
            // Values never fall, but for the last bits: this entry is of an earlier visit.
            if value > 0.0 && value >= then * (1.0 - 1e-9) {
                return Some((page, value));
            }
        }
        None
    }
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
        let mut queue = RevisitQueue::new(per_host);
        let put = |queue: &mut RevisitQueue, page: usize, last: f64| {
            queue.put(UrlId(page as u32), HostId(hosts[page]), worth(pages[page]), last);
        };
        (0..pages.len()).for_each(|page| put(&mut queue, page, -Draw::at(page as u64 + 77).unit()));
        let mut visits = vec![Vec::new(); pages.len()];
        let mut now = 0.0;
        while now < to {
            for _ in 0..batch {
                let Some((page, _)) = queue.take(now) else { break };
                visits[page.0 as usize].push(now);
                put(&mut queue, page.0 as usize, now);
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
        for (cap, budget, days) in [(20.0, 100.0, 200.0), (5.0, 30.0, 400.0), (0.5, 10.0, 3000.0)] {
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
    fn spared_pages_are_visited_however_fast_they_change() {
        let mut queue = RevisitQueue::new(None);
        let page_of = |page: u32| {
            // The first ten change every minute.
            let rate = if page < 10 { 1000.0 } else { 0.1 };
            VisitValue { importance: 1.0, rate, yields: 0.0, doubt: 1.0, spared: page < 5 }
        };
        (0..100).for_each(|page| queue.put(UrlId(page), HostId(0), page_of(page), 0.0));
        let mut last = [0.0; 100];
        let mut longest = [0.0_f64; 100];
        for visit in 1..20_000_u32 {
            let now = f64::from(visit) / 20.0;
            let (page, _) = queue.take(now).unwrap();
            let place = page.0 as usize;
            if now > 100.0 {
                longest[place] = longest[place].max(now - last[place]);
            }
            last[place] = now;
            queue.put(page, HostId(0), page_of(page.0), now);
        }
        assert!(longest[..5].iter().all(|&days| days > 0.0 && days < 20.0), "{longest:?}");
        assert!(last[5..10].iter().all(|&day| day < 100.0), "given up: {:?}", &last[5..10]);
    }

    fn plain(importance: f64) -> VisitValue {
        VisitValue { importance, rate: 0.1, yields: 0.0, doubt: 1.0, spared: false }
    }

    #[test]
    fn what_is_put_anew_replaces() {
        let mut queue = RevisitQueue::new(None);
        for round in 0..1000_u32 {
            for page in 0..10 {
                queue.put(UrlId(page), HostId(0), plain(f64::from(page + round) / 100.0), 0.0);
            }
        }
        assert_eq!(queue.pages.len(), 10);
        queue.put(UrlId(3), HostId(0), VisitValue { doubt: 0.01, ..plain(10.0) }, 0.0);
        assert_eq!(queue.take(1.0).unwrap().0, UrlId(3), "a signal");
        queue.remove(UrlId(9));
        queue.remove(UrlId(9));
        let rest: Vec<u32> = std::iter::from_fn(|| queue.take(1.0)).map(|(page, _)| page.0).collect();
        assert_eq!(rest, [8, 7, 6, 5, 4, 2, 1, 0]);
        assert!(queue.pages.is_empty() && queue.take(2.0).is_none());
    }

    #[test]
    fn ties_are_broken_by_discovery_and_worthless_pages_wait() {
        let mut queue = RevisitQueue::new(None);
        assert!(queue.take(0.0).is_none());
        for page in [4, 2, 3, 1] {
            queue.put(UrlId(page), HostId(0), plain(if page == 1 { 0.0 } else { 1.0 }), 0.0);
        }
        assert!(queue.take(0.0).is_none(), "all visited just now");
        let order: Vec<u32> = std::iter::from_fn(|| queue.take(3.0)).map(|(page, _)| page.0).collect();
        assert_eq!(order, [2, 3, 4]);
        assert_eq!(queue.pages.len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Against a plain map: the pages in it, the pages taken, and no valuable page is withheld.
        #[test]
        fn it_holds_what_was_put(
            steps in proptest::collection::vec((0_u8..6, 0_u32..12, 0.0..1.0), 1..150),
            per_host in proptest::option::of(0.3..6.0),
        ) {
            let mut queue = RevisitQueue::new(per_host);
            let mut twin = RevisitQueue::new(per_host);
            let mut map = BTreeMap::new();
            let mut counts = BTreeMap::new();
            let mut now = 0.0;
            for (step, page, importance) in steps {
                match step {
                    0..3 => {
                        for queue in [&mut queue, &mut twin] {
                            queue.put(UrlId(page), HostId(page % 3), plain(importance), now);
                        }
                        map.insert(UrlId(page), (plain(importance), now));
                    }
                    3 => {
                        queue.remove(UrlId(page));
                        twin.remove(UrlId(page));
                        map.remove(&UrlId(page));
                    }
                    _ => {
                        now += importance;
                        let taken = queue.take(now);
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
                prop_assert_eq!(queue.pages.len(), map.len());
            }
        }
    }
}
