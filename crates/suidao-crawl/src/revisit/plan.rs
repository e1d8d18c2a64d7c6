//! One round: which pages are worth its requests.

use ordered_float::OrderedFloat;
use rustc_hash::FxHashMap;

use super::VisitValue;
use suidao_page::model::{HostId, UrlId};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    pub page: UrlId,
    pub host: HostId,
    pub worth: VisitValue,
    /// Day of the last visit.
    pub last: f64,
}

/// The `most` pages with the highest visit values on day `now`, with these values, best first, ties in order of
/// discovery; at most `per_host` per host. Pages of value 0 are excluded.
pub fn plan(pages: impl Iterator<Item = Choice>, now: f64, most: usize, per_host: Option<usize>) -> Vec<(UrlId, f64)> {
    let valued = pages.map(|choice| (choice.worth.value(now - choice.last), choice.page, choice.host));
    let mut ranked: Vec<(f64, UrlId, HostId)> = valued.filter(|(value, ..)| *value > 0.0).collect();
    let rank = |&(value, page, _): &(f64, UrlId, HostId)| (std::cmp::Reverse(OrderedFloat(value)), page);
    if per_host.is_none() && most < ranked.len() {
        ranked.select_nth_unstable_by_key(most, rank);
        ranked.truncate(most);
    }
    ranked.sort_unstable_by_key(rank);
    let mut taken: FxHashMap<HostId, usize> = FxHashMap::default();
    let allowed = |&(.., host): &(f64, UrlId, HostId)| {
        per_host.is_none_or(|cap| {
            let count = taken.entry(host).or_default();
            *count += 1;
            *count <= cap
        })
    };
    ranked.into_iter().filter(allowed).take(most).map(|(value, page, _)| (page, value)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn choice(page: u32, host: u32, importance: f64, last: f64) -> Choice {
        let worth = VisitValue { importance, rate: 0.5, yields: 0.0, doubt: 1.0, spared: false };
        Choice { page: UrlId(page), host: HostId(host), worth, last }
    }

    #[test]
    fn ties_are_broken_by_discovery_and_worthless_pages_stay() {
        let pages = [choice(3, 0, 1.0, 0.0), choice(1, 0, 1.0, 0.0), choice(2, 1, 0.0, 0.0), choice(0, 0, 1.0, 5.0)];
        let planned: Vec<u32> = plan(pages.into_iter(), 5.0, 9, None).iter().map(|(page, _)| page.0).collect();
        assert_eq!(planned, [1, 3]);
        assert!(plan(pages.into_iter(), 5.0, 0, None).is_empty());
        assert!(plan(pages.into_iter(), 5.0, 9, Some(0)).is_empty());
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
            let mut counts = [0; 5];
            let mut expected = Vec::new();
            // The best allowed, one at a time.
            while expected.len() < most {
                let value = |choice: &Choice| choice.worth.value(6.0 - choice.last);
                let allowed = |choice: &&Choice| {
                    value(choice) > 0.0 && per_host.is_none_or(|cap| counts[choice.host.0 as usize] < cap)
                };
                let best = left.iter().filter(allowed).max_by(|a, b| value(a).total_cmp(&value(b)).then(b.page.cmp(&a.page)));
                let Some(&best) = best else { break };
                counts[best.host.0 as usize] += 1;
                left.retain(|choice| choice.page != best.page);
                expected.push((best.page, value(&best)));
            }
            prop_assert_eq!(plan(choices.into_iter(), 6.0, most, per_host), expected);
        }
    }
}
