//! Simulated pages: hosts, relevance, in-links, change times, and the items of listing pages.

use crate::world::{ChangeHistory, Pattern};
use suidao_page::seeded_rng::SeededRng;

const HOST: u64 = 0x6672_0001;
const PAGE: u64 = 0x6672_0002;
const LISTING: u64 = 0x6672_0003;
const ITEMS: u64 = 0x6672_0004;

/// Minimum relevance of the pages that a crawl is for.
pub(super) const RELEVANT: f64 = 0.5;
/// Exponent of the tail of in-links: 2.1 in the density (Broder et al. 2000).
const TAIL: f64 = 1.1;
const MAX_LINKS: f64 = 1_000.0;
/// Factor of in-links of listing pages.
const LISTING_LINKS: f64 = 10.0;
/// Range of items a day on a listing page; log-uniform.
const ITEM_RATES: [f64; 2] = [0.1, 30.0];
const LISTINGS: f64 = 0.03;
/// Mean pages per host; the n-th host has about 1/n of the first one's.
const HOST_PAGES: u32 = 200;
const LISTED_ITEMS: [u32; 4] = [10, 20, 30, 50];
/// Distribution of a listing's items over the days of a week; sums to 7.
fn week(rng: &mut SeededRng) -> [f64; 7] {
    match rng.below(10) {
        0..5 => [1.25, 1.25, 1.25, 1.25, 1.25, 0.375, 0.375],
        5..8 => [1.0; 7],
        _ => [4.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    }
}

#[derive(Clone, Debug)]
pub(super) struct SimulatedPage {
    pub host: u32,
    /// To the topic, 0 to 1.
    pub relevance: f64,
    pub links: u32,
    pub importance: f64,
    pub rate: f64,
    /// Range of its changes in [`SimulatedPages::instants`].
    changes: (u32, u32),
    pub gone: Option<f64>,
    pub listing: Option<ListedItems>,
}

/// The items of a listing page: each change is a new item.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedItems {
    /// Number of newest items shown.
    pub items: u32,
    /// Value of a linked page: relevance times its one in-link.
    pub value: f64,
}

#[derive(Clone, Debug)]
pub struct SimulatedPages {
    pub(super) days: u32,
    pub(super) pages: Vec<SimulatedPage>,
    instants: Vec<f64>,
}

impl SimulatedPages {
    /// Deterministic in `seed`, `count` and `days`.
    pub fn generate(seed: u64, count: u32, days: u32) -> Self {
        let mut all = Self { days, pages: Vec::with_capacity(count as usize), instants: Vec::new() };
        let hosts = count.div_ceil(HOST_PAGES);
        let harmonic: f64 = (1..=hosts).map(|host| 1.0 / f64::from(host)).sum();
        let mut reached = 0.0;
        for host in 0..hosts {
            let relevance = if SeededRng::new(seed, HOST, u64::from(host)).chance(0.4) { 0.65 } else { 0.15 };
            reached += f64::from(count) / (harmonic * f64::from(host + 1));
            let end = if host + 1 == hosts { count } else { (reached.round() as u32).min(count) };
            for page in all.pages.len() as u32..end {
                all.add(seed, host, relevance, page);
            }
        }
        all
    }

    fn add(&mut self, seed: u64, host: u32, of_host: f64, number: u32) {
        let mut rng = SeededRng::new(seed, PAGE, u64::from(number));
        let relevance = (of_host + 0.5 * (rng.unit() + rng.unit() - 1.0)).clamp(0.01, 1.0);
        let mut links = (1.0 - rng.unit()).powf(-1.0 / TAIL);
        let (first, days) = (self.instants.len() as u32, f64::from(self.days));
        let (rate, gone, listing) = if rng.chance(LISTINGS) {
            let mut rng = SeededRng::new(seed, LISTING, u64::from(number));
            links *= LISTING_LINKS;
            let rate = rng.log_uniform(ITEM_RATES);
            let items = rng.pick(&LISTED_ITEMS);
            let week = week(&mut rng);
            self.items(seed, number, rate, week, rng.below(7));
            (rate, None, Some(ListedItems { items, value: relevance }))
        } else {
            // Histories end on the last simulated day.
            let life = ChangeHistory::drawn(seed, u64::from(number), days);
            self.instants.extend(life.instants().iter().filter(|instant| **instant < days));
            let gone = match *life.pattern() {
                Pattern::Vanishing { at, .. } if at < days => Some(at),
                _ => None,
            };
            // Then the stored version is outdated once more.
            self.instants.extend(gone);
            (life.rate(), gone, None)
        };
        let links = links.min(MAX_LINKS);
        let importance = relevance * links;
        let changes = (first, self.instants.len() as u32);
        self.pages.push(SimulatedPage {
            host,
            relevance,
            links: links as u32,
            importance,
            rate,
            changes,
            gone,
            listing,
        });
    }

    fn items(&mut self, seed: u64, number: u32, rate: f64, week: [f64; 7], shift: u64) {
        let mut rng = SeededRng::new(seed, ITEMS, u64::from(number));
        for day in 0..self.days {
            let first = self.instants.len();
            let count = rng.poisson(rate * week[((u64::from(day) + shift) % 7) as usize]);
            self.instants.extend((0..count).map(|_| f64::from(day) + rng.unit()));
            self.instants[first..].sort_unstable_by(f64::total_cmp);
        }
    }

    /// Change times in order; the disappearance is the last.
    pub(super) fn changes(&self, page: usize) -> &[f64] {
        let (first, end) = self.pages[page].changes;
        &self.instants[first as usize..end as usize]
    }

    /// Number of changes up to `now`.
    pub(super) fn changed(&self, page: usize, now: f64) -> u32 {
        self.changes(page).partition_point(|change| *change <= now) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl SimulatedPages {
        /// One page of importance 1.
        pub(in super::super) fn of(
            days: u32,
            changes: &[f64],
            gone: Option<f64>,
            listing: Option<ListedItems>,
        ) -> Self {
            let (instants, changes) = (changes.to_vec(), (0, changes.len() as u32));
            let page =
                SimulatedPage { host: 0, relevance: 1.0, links: 1, importance: 1.0, rate: 1.0, changes, gone, listing };
            Self { days, pages: vec![page], instants }
        }
    }

    #[test]
    fn pages_are_as_asked_for() {
        let pages = SimulatedPages::generate(1, 20_000, 60);
        assert_eq!((pages.pages.len(), pages.pages[19_999].host), (20_000, 99));
        assert!(pages.pages.is_sorted_by_key(|page| page.host));
        assert!(pages.pages[3_000].host == 0);
        let listings = pages.pages.iter().filter(|page| page.listing.is_some()).count() as f64 / 20_000.0;
        assert!((listings - LISTINGS).abs() < 0.005, "{listings}");
        for (number, page) in pages.pages.iter().enumerate() {
            let changes = pages.changes(number);
            assert!(changes.is_sorted() && changes.iter().all(|at| (0.0..60.0).contains(at)));
            assert_eq!(page.gone.is_some(), page.gone.is_some() && page.gone == changes.last().copied());
        }
        let relevant = pages.pages.iter().filter(|page| page.relevance >= RELEVANT).count();
        assert!((2_000..12_000).contains(&relevant), "{relevant}");
        // Heavy-tailed: one hundredth of the pages has a large part of the importance.
        let mut importance: Vec<f64> = pages.pages.iter().map(|page| page.importance).collect();
        importance.sort_unstable_by(f64::total_cmp);
        let (all, top): (f64, f64) = (importance.iter().sum(), importance[19_800..].iter().sum());
        assert!(top > 0.2 * all && top < 0.7 * all, "{}", top / all);
        let items: Vec<usize> = (0..pages.pages.len())
            .filter(|page| pages.pages[*page].listing.is_some())
            .map(|page| pages.changes(page).len())
            .collect();
        let expected: f64 = pages.pages.iter().filter(|page| page.listing.is_some()).map(|page| 60.0 * page.rate).sum();
        assert!((items.iter().sum::<usize>() as f64 / expected - 1.0).abs() < 0.03);
    }
}
