//! Whether a series of pages has ended: too many consecutive pages add nothing new. Nothing else distinguishes a
//! calendar from an archive. A page adds something if a content link leaves the series to a URL not linked from its
//! last two pages, or if its text differs from theirs.

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use serde::{Deserialize, Serialize};

use super::MEANINGFUL;
use super::series::UrlSeries;
use suidao_page::model::{CrawlUrl, Sketch, UrlId};
use suidao_page::text::simhash::distance;

/// Minimum Hamming distance between a new text and those of the previous pages.
const APART: u32 = 10;
/// Bounds of a filter's size in words of 64 bits: a byte per link.
const WORDS: std::ops::RangeInclusive<usize> = 8..=128;
/// Maximum number of series stored.
const MOST: usize = 1 << 20;

/// Bloom filter of a page's links with one hash function; sparse, so false positives are rare.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct LinkBloom(Box<[u64]>);

impl LinkBloom {
    fn to(links: &[UrlId]) -> Self {
        let words = (links.len() / 8).next_power_of_two().clamp(*WORDS.start(), *WORDS.end());
        let mut bloom = Self(vec![0; words].into());
        for link in links {
            let (word, bit) = bloom.position(*link);
            bloom.0[word] |= 1 << bit;
        }
        bloom
    }

    /// Whether the page had this link. False if so many bits are set that any link would match.
    fn holds(&self, link: UrlId) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let (word, bit) = self.position(link);
        let set = || self.0.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        self.0[word] >> bit & 1 == 1 && set() * 5 <= self.0.len() * 64 * 3
    }

    fn position(&self, link: UrlId) -> (usize, u32) {
        let hash = xxh3_64(&link.0.to_le_bytes());
        ((hash >> 6) as usize % self.0.len(), (hash & 63) as u32)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct UnproductiveRun {
    /// Consecutive pages that added nothing.
    no_new_content: u16,
    /// Links of the last two pages.
    last_links: [LinkBloom; 2],
    /// SimHashes of their texts.
    last_texts: [u64; 2],
    pages: u32,
}

impl UnproductiveRun {
    fn has_linked(&self, link: UrlId) -> bool {
        self.last_links.iter().any(|links| links.holds(link))
    }
}

/// A page as its series needs it.
#[derive(Clone, Copy, Debug)]
pub struct SeriesPage<'a> {
    /// Targets of its content links, except those in related series.
    pub content_links: &'a [UrlId],
    pub sketch: Sketch,
    /// Mostly a list of records with links, so its text repeats theirs.
    pub listing: bool,
    pub on_topic: bool,
}

/// The series of a crawl: a fold of its pages. Memory: 200 bytes per series, up to 2,000 if its pages have a thousand
/// links.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SeriesTracker {
    runs: FxHashMap<u64, Box<UnproductiveRun>>,
    ended: FxHashSet<u64>,
}

impl SeriesTracker {
    /// Whether a page adds nothing new to a series.
    pub fn adds_nothing_new(&self, series: &UrlSeries, page: &SeriesPage) -> bool {
        // The first page of a series is the reference for the others.
        let Some(run) = self.runs.get(&series.key()).filter(|run| run.pages > 0) else { return false };
        if page.content_links.iter().any(|&link| !run.has_linked(link)) {
            return false;
        }
        let is_meaningful =
            page.on_topic || page.sketch.chars >= MEANINGFUL && !(page.listing && series.combines_parameters());
        let before = &run.last_texts[..(run.pages as usize).min(2)];
        !(is_meaningful && before.iter().all(|text| distance(*text, page.sketch.simhash) > APART))
    }

    /// Records a page of a series; returns how many consecutive pages have added nothing. `links`: all its links.
    pub fn observe(
        &mut self,
        series: &UrlSeries,
        barren: bool,
        sketch: Sketch,
        links: impl Iterator<Item = UrlId>,
    ) -> u16 {
        let key = series.key();
        if self.runs.len() >= MOST && !self.runs.contains_key(&key) {
            return 0;
        }
        let run = self.runs.entry(key).or_default();
        run.no_new_content = if barren { run.no_new_content.saturating_add(1) } else { 0 };
        run.pages = run.pages.saturating_add(1);
        run.last_links.swap(0, 1);
        run.last_links[0] = LinkBloom::to(&links.collect::<Vec<UrlId>>());
        run.last_texts = [sketch.simhash, run.last_texts[0]];
        run.no_new_content
    }

    pub fn end(&mut self, series: &UrlSeries) {
        self.ended.insert(series.key());
        self.runs.remove(&series.key());
    }

    pub fn has_ended(&self, url: &CrawlUrl) -> bool {
        !self.ended.is_empty() && UrlSeries::of(url).is_some_and(|series| self.ended.contains(&series.key()))
    }

    pub fn ended(&self) -> usize {
        self.ended.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trap::Traps;
    use suidao_page::text::simhash::sketch;

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://a.cn{path}")).unwrap()
    }

    fn of(path: &str) -> UrlSeries {
        UrlSeries::of(&url(path)).unwrap()
    }

    #[test]
    fn a_series_that_brings_nothing_is_distinguished_from_one_that_does() {
        let empty = sketch("一 二 三 四 五 六 日 没有活动");
        let series = |n: usize| of(&format!("/cal/{}/{}/", 2030 + n / 12, n % 12 + 1));
        let mut tracker = SeriesTracker::default();
        let mut ended = 0;
        for n in 0..40 {
            let page = SeriesPage { content_links: &[], sketch: empty, listing: false, on_topic: false };
            let barren = tracker.adds_nothing_new(&series(n), &page);
            assert_eq!(barren, n > 0);
            ended = tracker.observe(&series(n), barren, empty, std::iter::once(UrlId(7)));
        }
        assert_eq!(ended, 39);
        tracker.end(&series(0));
        assert!(tracker.has_ended(&url("/cal/2099/01/")) && !tracker.has_ended(&url("/cal/2099/01/05/")));
        // An archive: each month links to posts that earlier months did not.
        let mut tracker = SeriesTracker::default();
        for n in 0..40_u32 {
            let own: Vec<UrlId> = (0..5).map(|post| UrlId(1000 + n * 5 + post)).collect();
            let page = SeriesPage { content_links: &own, sketch: empty, listing: true, on_topic: false };
            let series = series(n as usize);
            assert!(!tracker.adds_nothing_new(&series, &page), "{n}");
            tracker.observe(&series, false, empty, own.iter().copied());
        }
    }

    #[test]
    fn a_list_with_new_links_continues_and_a_calendar_ends() {
        let series = |n: usize| of(&format!("/all/page/{}/", n + 1));
        let text = sketch("没有更多了");
        let mut tracker = SeriesTracker::default();
        for n in 0..400_u32 {
            // Nearly all links are boilerplate, and the one that counts is new.
            let own = [UrlId(10_000 + n)];
            let page = SeriesPage { content_links: &own, sketch: text, listing: true, on_topic: false };
            let barren = tracker.adds_nothing_new(&series(n as usize), &page);
            let ended = tracker.observe(&series(n as usize), barren, text, (0..1500).map(UrlId).chain(own));
            assert!(ended < Traps::default().series, "{n}: now and then it seems to be one of them, never for long");
        }
        let mut tracker = SeriesTracker::default();
        for n in 0..40 {
            let page =
                SeriesPage { content_links: &[UrlId(7), UrlId(8)], sketch: text, listing: true, on_topic: false };
            let barren = tracker.adds_nothing_new(&series(n), &page);
            assert_eq!(barren, n > 0, "{n}");
            tracker.observe(&series(n), barren, text, (0..1500).map(UrlId));
        }
    }

    #[test]
    fn a_page_with_a_text_of_its_own_brings_something() {
        let text = |n: usize| {
            sketch(
                &(0..300)
                    .map(|at| char::from_u32(0x4e00 + ((at * at * 31 + at * n * 7 + n) % 3000) as u32).unwrap())
                    .collect::<String>(),
            )
        };
        let series = of("/page/2/");
        let mut tracker = SeriesTracker::default();
        let page = |sketch| SeriesPage { content_links: &[], sketch, listing: false, on_topic: false };
        tracker.observe(&series, false, text(1), std::iter::empty());
        assert!(!tracker.adds_nothing_new(&series, &page(text(5))));
        tracker.observe(&series, false, text(5), std::iter::empty());
        assert!(tracker.adds_nothing_new(&series, &page(text(5))) && tracker.adds_nothing_new(&series, &page(text(1))));
    }
}
