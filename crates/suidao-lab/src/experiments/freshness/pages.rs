//! Pages that change, as facts: hosts, relevance, links to them, instants of change, and what listing pages list.

use crate::world::{LivesSpec, Pattern};
use suidao_page::draw::Draw;

/// Salts of [`Draw`].
const HOST: u64 = 0x6672_0001;
const PAGE: u64 = 0x6672_0002;
const LISTING: u64 = 0x6672_0003;
const ITEMS: u64 = 0x6672_0004;

/// Pages at least so relevant are what the crawl is for.
pub(super) const RELEVANT: f64 = 0.5;
/// Exponent of the tail of in-links: 2.1 in the density (Broder et al. 2000).
const TAIL: f64 = 1.1;
/// Most in-links of a page.
const MOST_LINKS: f64 = 1_000.0;
/// Listing pages have so many times the links of others.
const LISTING_LINKS: f64 = 10.0;
/// Items a day of a listing page: least and most, log-uniform between them.
const ITEM_RATES: [f64; 2] = [0.1, 30.0];
/// Items that a listing page shows.
const SHOWN: [u32; 4] = [10, 20, 30, 50];
/// How items are spread over the days of a week, with how many listings of ten are like that; each sums to 7.
const WEEKS: [(u64, [f64; 7]); 3] =
    [(5, [1.25, 1.25, 1.25, 1.25, 1.25, 0.375, 0.375]), (3, [1.0; 7]), (2, [4.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])];

/// What pages there are.
#[derive(Clone, Debug, PartialEq)]
pub struct PagesSpec {
    /// All else is a function of it and the rest.
    pub seed: u64,
    /// How many pages.
    pub pages: u32,
    /// On how many hosts; the n-th has a share of about 1/n of what the first has.
    pub hosts: u32,
    /// Days simulated.
    pub days: u32,
    /// Share of pages that list others.
    pub listings: f64,
    /// How the others change.
    pub lives: LivesSpec,
}

impl Default for PagesSpec {
    fn default() -> Self {
        let lives = LivesSpec::default();
        Self { seed: 1, pages: 100_000, hosts: 500, days: 60, listings: 0.03, lives }
    }
}

/// A page.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub host: u32,
    /// To the topic, 0 to 1.
    pub relevance: f64,
    pub links: u32,
    /// Relevance times in-links.
    pub importance: f64,
    /// Changes a day in the long run.
    pub rate: f64,
    /// Its changes in `Pages::instants`.
    changes: (u32, u32),
    /// When it vanishes, if it does.
    pub gone: Option<f64>,
    pub listing: Option<Listing>,
}

/// What a page lists: each of its changes is a new item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listing {
    /// Items shown, the newest.
    pub shown: u32,
    /// What a page behind it is worth: relevance times the one link to it.
    pub worth: f64,
}

/// All pages, and what is true of them.
#[derive(Clone, Debug)]
pub struct Pages {
    pub(super) days: u32,
    pub(super) pages: Vec<Page>,
    /// First page of each host, and one more at the end: a host's pages follow each other.
    pub(super) hosts: Vec<u32>,
    /// Of all pages' changes.
    instants: Vec<f64>,
}

impl Pages {
    /// Draws them.
    pub fn generate(spec: &PagesSpec) -> Self {
        let mut all = Self {
            days: spec.days,
            pages: Vec::with_capacity(spec.pages as usize),
            hosts: vec![0],
            instants: Vec::new(),
        };
        let harmonic: f64 = (1..=spec.hosts).map(|host| 1.0 / f64::from(host)).sum();
        let mut reached = 0.0;
        for host in 0..spec.hosts {
            let mut draw = Draw::new(spec.seed, HOST, u64::from(host));
            let relevance = if draw.chance(0.4) { 0.65 } else { 0.15 };
            reached += f64::from(spec.pages) / (harmonic * f64::from(host + 1));
            let end = if host + 1 == spec.hosts { spec.pages } else { (reached.round() as u32).min(spec.pages) };
            for page in all.hosts[host as usize]..end {
                all.add(spec, host, relevance, page);
            }
            all.hosts.push(end);
        }
        all
    }

    fn add(&mut self, spec: &PagesSpec, host: u32, of_host: f64, number: u32) {
        let mut draw = Draw::new(spec.seed, PAGE, u64::from(number));
        let relevance = (of_host + 0.5 * (draw.unit() + draw.unit() - 1.0)).clamp(0.01, 1.0);
        let mut links = (1.0 - draw.unit()).powf(-1.0 / TAIL);
        let first = self.instants.len() as u32;
        let is_listing = draw.chance(spec.listings);
        let (rate, gone, listing) = if is_listing {
            let mut draw = Draw::new(spec.seed, LISTING, u64::from(number));
            links *= LISTING_LINKS;
            let rate = ITEM_RATES[0] * (ITEM_RATES[1] / ITEM_RATES[0]).powf(draw.unit());
            let shown = draw.pick(&SHOWN);
            let mut left = draw.below(WEEKS.iter().map(|(share, _)| share).sum());
            let week = WEEKS.iter().find(|(share, _)| {
                let here = left < *share;
                left = left.saturating_sub(*share);
                here
            });
            let shift = draw.below(7);
            self.items(spec, number, rate, week.map_or(&[1.0; 7], |(_, week)| week), shift);
            (rate, None, Some(Listing { shown, worth: relevance }))
        } else {
            // Lives are drawn to the last day that is simulated.
            let lives = LivesSpec { days: f64::from(spec.days), ..spec.lives };
            let life = lives.life(spec.seed, u64::from(number));
            self.instants.extend(life.instants().iter().filter(|instant| **instant < f64::from(spec.days)));
            let gone = match *life.pattern() {
                Pattern::Vanishing { at, .. } if at < f64::from(spec.days) => Some(at),
                _ => None,
            };
            // Then what the store holds is wrong once more.
            self.instants.extend(gone);
            (life.rate(), gone, None)
        };
        let links = links.min(MOST_LINKS);
        let importance = relevance * links;
        let changes = (first, self.instants.len() as u32);
        self.pages.push(Page { host, relevance, links: links as u32, importance, rate, changes, gone, listing });
    }

    fn items(&mut self, spec: &PagesSpec, number: u32, rate: f64, week: &[f64; 7], shift: u64) {
        let mut draw = Draw::new(spec.seed, ITEMS, u64::from(number));
        for day in 0..spec.days {
            let first = self.instants.len();
            let count = draw.poisson(rate * week[((u64::from(day) + shift) % 7) as usize]);
            self.instants.extend((0..count).map(|_| f64::from(day) + draw.unit()));
            self.instants[first..].sort_unstable_by(f64::total_cmp);
        }
    }

    /// When a page changes, in order; the last of a page that vanishes is that it does.
    pub(super) fn changes(&self, page: usize) -> &[f64] {
        let (first, end) = self.pages[page].changes;
        &self.instants[first as usize..end as usize]
    }

    /// Pages on one host, of importance 1 each, with these changes.
    #[cfg(test)]
    pub(super) fn of(days: u32, changes: &[&[f64]], gone: Option<f64>, listing: Option<Listing>) -> Self {
        let mut all = Self { days, pages: vec![], hosts: vec![0], instants: vec![] };
        for of_page in changes {
            let first = all.instants.len() as u32;
            all.instants.extend(*of_page);
            let changes = (first, all.instants.len() as u32);
            all.pages.push(Page {
                host: 0,
                relevance: 1.0,
                links: 1,
                importance: 1.0,
                rate: 1.0,
                changes,
                gone,
                listing,
            });
        }
        all.hosts.push(changes.len() as u32);
        all
    }

    /// How many pages there are.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_as_asked_for() {
        let spec = PagesSpec { pages: 20_000, hosts: 100, ..PagesSpec::default() };
        let pages = Pages::generate(&spec);
        assert_eq!((pages.len(), pages.hosts.len()), (20_000, 101));
        assert!(pages.hosts[1] > 3_000, "{:?}", &pages.hosts[..3]);
        let listings = pages.pages.iter().filter(|page| page.listing.is_some()).count() as f64 / 20_000.0;
        assert!((listings - spec.listings).abs() < 0.005, "{listings}");
        for (number, page) in pages.pages.iter().enumerate() {
            let changes = pages.changes(number);
            assert!(changes.is_sorted() && changes.iter().all(|at| (0.0..60.0).contains(at)));
            assert_eq!(page.gone.is_some(), page.gone.is_some() && page.gone == changes.last().copied());
            assert!((pages.hosts[page.host as usize]..pages.hosts[page.host as usize + 1]).contains(&(number as u32)));
        }
        let relevant = pages.pages.iter().filter(|page| page.relevance >= RELEVANT).count();
        assert!((2_000..12_000).contains(&relevant), "{relevant}");
        // Heavy-tailed: the hundredth part of the pages holds a good part of the importance.
        let mut importance: Vec<f64> = pages.pages.iter().map(|page| page.importance).collect();
        importance.sort_unstable_by(f64::total_cmp);
        let (all, top): (f64, f64) = (importance.iter().sum(), importance[19_800..].iter().sum());
        assert!(top > 0.2 * all && top < 0.7 * all, "{}", top / all);
        let items: Vec<usize> = (0..pages.len())
            .filter(|page| pages.pages[*page].listing.is_some())
            .map(|page| pages.changes(page).len())
            .collect();
        let expected: f64 = pages.pages.iter().filter(|page| page.listing.is_some()).map(|page| 60.0 * page.rate).sum();
        assert!((items.iter().sum::<usize>() as f64 / expected - 1.0).abs() < 0.03);
    }
}
