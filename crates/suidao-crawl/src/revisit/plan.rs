//! Which pages are visited next: those whose visits have the highest value.
//!
//! The best policy visits a page when its value reaches the price of a visit (see [`VisitValue`]), and the requests at
//! hand determine the price: so the most valuable pages are next regardless of the price. A round chooses all its pages
//! at once. An endless refresh chooses [`at_once`] pages whenever those chosen before are used up.
//!
//! Pages are compared by value and not by due time: in a queue by time a page whose visit pays once an hour would wait
//! behind those whose visit pays once a month (2 to 4 per cent of the freshness in the simulation of
//! docs/measurements.md).

use ordered_float::OrderedFloat;
use rustc_hash::FxHashMap;

use super::VisitValue;
use suidao_page::model::{HostId, UrlId};

/// An endless refresh compares all pages after one in this many has been visited.
const PAGES_PER_VISIT: usize = 1024;

/// Maximum pages that an endless refresh chooses at once.
pub const MAX_AT_ONCE: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    pub page: UrlId,
    pub host: HostId,
    pub visit_value: VisitValue,
    /// Day of the last visit.
    pub last: f64,
}

/// Number of pages that an endless refresh of this many pages chooses at once.
pub fn at_once(pages: usize) -> usize {
    (pages / PAGES_PER_VISIT).clamp(1, MAX_AT_ONCE)
}

/// The `most` pages with the highest visit values on day `now`, with these values, best first, ties in order of
/// discovery; at most `per_host` per host, less the `visits` that it has had. Pages of value 0 are excluded.
pub fn plan(
    pages: impl Iterator<Item = Choice>,
    now: f64,
    most: usize,
    per_host: Option<usize>,
    visits: &FxHashMap<HostId, usize>,
) -> Vec<(UrlId, f64)> {
    let valued = pages.map(|choice| (choice.visit_value.value(now - choice.last), choice.page, choice.host));
    let mut ranked: Vec<(f64, UrlId, HostId)> = valued.filter(|(value, ..)| *value > 0.0).collect();
    let rank = |&(value, page, _): &(f64, UrlId, HostId)| (std::cmp::Reverse(OrderedFloat(value)), page);
    if per_host.is_none() && most < ranked.len() {
        ranked.select_nth_unstable_by_key(most, rank);
        ranked.truncate(most);
    }
    ranked.sort_unstable_by_key(rank);
    let mut counts: FxHashMap<HostId, usize> = FxHashMap::default();
    let allowed = |&(.., host): &(f64, UrlId, HostId)| {
        per_host.is_none_or(|cap| {
            let count = counts.entry(host).or_insert_with(|| visits.get(&host).copied().unwrap_or(0));
            *count += 1;
            *count <= cap
        })
    };
    ranked.into_iter().filter(allowed).take(most).map(|(value, page, _)| (page, value)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::revisit::optimum::{OptimumObjective, Rated, capped, rates};
    use suidao_features::depth;
    use suidao_page::seeded_rng::SeededRng;

    fn choice(page: u32, host: u32, importance: f64, last: f64) -> Choice {
        let visit_value = VisitValue {
            importance,
            rate: 0.5,
            new_link_value: 0.0,
            false_signal_probability: 1.0,
            has_minimum: false,
        };
        Choice { page: UrlId(page), host: HostId(host), visit_value, last }
    }

    #[test]
    fn ties_are_broken_by_discovery_and_worthless_pages_stay() {
        let pages = [choice(3, 0, 1.0, 0.0), choice(1, 0, 1.0, 0.0), choice(2, 1, 0.0, 0.0), choice(0, 0, 1.0, 5.0)];
        let none = FxHashMap::default();
        let planned: Vec<u32> = plan(pages.into_iter(), 5.0, 9, None, &none).iter().map(|(page, _)| page.0).collect();
        assert_eq!(planned, [1, 3]);
        assert!(plan(pages.into_iter(), 5.0, 0, None, &none).is_empty());
        assert!(plan(pages.into_iter(), 5.0, 9, Some(0), &none).is_empty());
    }

    /// Pages that change from once in 100 days to ten times a day, of importance 0.03 to 1.
    fn some_pages(count: u64) -> Vec<Rated> {
        let page = |page| Rated {
            importance: 10_f64.powf(-1.5 * SeededRng::at(2 * page).unit()),
            rate: 10_f64.powf(3.0 * SeededRng::at(2 * page + 1).unit() - 2.0),
        };
        (0..count).map(page).collect()
    }

    fn visit_value(page: Rated) -> VisitValue {
        VisitValue {
            importance: page.importance,
            rate: page.rate,
            new_link_value: 0.0,
            false_signal_probability: 1.0,
            has_minimum: false,
        }
    }

    /// Pages of an endless refresh, with the visits of each host today.
    struct Visited {
        pages: Vec<Choice>,
        per_host: Option<usize>,
        day: f64,
        visits: FxHashMap<HostId, usize>,
        due: Vec<UrlId>,
    }

    impl Visited {
        fn new(pages: Vec<Choice>, per_host: Option<usize>) -> Self {
            Self { pages, per_host, day: 0.0, visits: FxHashMap::default(), due: Vec::new() }
        }

        fn next(&mut self, now: f64) -> Option<UrlId> {
            if now.floor() > self.day {
                (self.day, self.visits) = (now.floor(), FxHashMap::default());
            }
            if self.due.is_empty() {
                let most = at_once(self.pages.len());
                let chosen = plan(self.pages.iter().copied(), now, most, self.per_host, &self.visits);
                self.due.extend(chosen.iter().rev().map(|(page, _)| *page));
            }
            let page = self.due.pop()?;
            let choice = &mut self.pages[page.0 as usize];
            choice.last = now;
            *self.visits.entry(choice.host).or_default() += 1;
            Some(page)
        }
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
        per_host: Option<usize>,
        budget: f64,
        batch: u32,
        (from, to): (f64, f64),
    ) -> Run {
        let choice = |page: usize| Choice {
            page: UrlId(page as u32),
            host: HostId(hosts[page]),
            visit_value: visit_value(pages[page]),
            last: -SeededRng::at(page as u64 + 77).unit(),
        };
        let mut visited = Visited::new((0..pages.len()).map(choice).collect(), per_host);
        let mut visits = vec![Vec::new(); pages.len()];
        let mut now = 0.0;
        while now < to {
            for _ in 0..batch {
                let Some(page) = visited.next(now) else { break };
                visits[page.0 as usize].push(now);
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
        for (budget, batch) in [(40.0, 1), (400.0, 100), (40.0, 10), (400.0, 1)].into_iter().take(depth(2, 4)) {
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
        for (cap, budget, days) in [(20, 100.0, 200.0), (5, 30.0, 400.0)].into_iter().take(depth(1, 2)) {
            let run = run(&pages, &hosts, Some(cap), budget, 1, (days, 2.0 * days));
            let best = OptimumObjective::Even
                .total(&pages, &capped(&pages, &hosts, &[cap as f64; 8], budget, OptimumObjective::Even));
            assert!(run.total >= 0.98 * best, "{cap} a host, {budget}: {} of {best}", run.total);
            let mut counts = BTreeMap::new();
            for (at, host) in run.visits.iter().zip(&hosts).flat_map(|(at, host)| at.iter().map(move |at| (at, host))) {
                *counts.entry((host, at.floor() as i64)).or_insert(0) += 1;
            }
            assert!(counts.values().all(|&count| count <= cap), "{cap}");
        }
    }

    #[test]
    fn spared_pages_are_visited_however_fast_they_change() {
        let page_of = |page: u32| {
            // The first ten change every minute.
            let rate = if page < 10 { 1000.0 } else { 0.1 };
            VisitValue {
                importance: 1.0,
                rate,
                new_link_value: 0.0,
                false_signal_probability: 1.0,
                has_minimum: page < 5,
            }
        };
        let choice = |page| Choice { page: UrlId(page), host: HostId(0), visit_value: page_of(page), last: 0.0 };
        let mut visited = Visited::new((0..100).map(choice).collect(), None);
        let mut last = [0.0; 100];
        let mut longest = [0.0_f64; 100];
        for visit in 1..20_000_u32 {
            let now = f64::from(visit) / 20.0;
            let page = visited.next(now).unwrap();
            let position = page.0 as usize;
            if now > 100.0 {
                longest[position] = longest[position].max(now - last[position]);
            }
            last[position] = now;
        }
        assert!(longest[..5].iter().all(|&days| days > 0.0 && days < 20.0), "{longest:?}");
        assert!(last[5..10].iter().all(|&day| day < 100.0), "given up: {:?}", &last[5..10]);
    }

    proptest! {
        #[test]
        fn it_is_the_list_by_value_cut_by_the_caps(
            pages in proptest::collection::vec((0_u32..5, 0_u8..6, 0_u8..6), 0..60),
            most in 0_usize..70,
            per_host in proptest::option::of(0_usize..8),
        ) {
            let choices: Vec<Choice> = (0..).zip(&pages)
                .map(|(page, &(host, importance, last))| choice(page, host, importance.into(), last.into()))
                .collect();
            let mut left = choices.clone();
            let visits = FxHashMap::from_iter([(HostId(1), 2), (HostId(3), 9)]);
            let mut counts = [0, 2, 0, 9, 0];
            let mut expected = Vec::new();
            // The best allowed, one at a time.
            while expected.len() < most {
                let value = |choice: &Choice| choice.visit_value.value(6.0 - choice.last);
                let allowed = |choice: &&Choice| {
                    value(choice) > 0.0 && per_host.is_none_or(|cap| counts[choice.host.0 as usize] < cap)
                };
                let best = left.iter().filter(allowed).max_by(|a, b| value(a).total_cmp(&value(b)).then(b.page.cmp(&a.page)));
                let Some(&best) = best else { break };
                counts[best.host.0 as usize] += 1;
                left.retain(|choice| choice.page != best.page);
                expected.push((best.page, value(&best)));
            }
            prop_assert_eq!(plan(choices.into_iter(), 6.0, most, per_host, &visits), expected);
        }
    }
}
