//! Whether a row of pages has ended: so many of it in a row bring nothing of their own. No other way tells a calendar
//! from an archive. A page brings something if a link in its content leads out of the row to where the row's last two
//! pages did not, or if its text is unlike theirs.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use serde::{Deserialize, Serialize};

use super::row::{Kind, Row, rows};
use suidao_page::model::{CrawlUrl, Refusal, Sketch, UrlId};
use suidao_page::text::simhash::distance;

/// Texts of fewer characters tell nothing: a calendar's days are as many.
const TELLING: u32 = 120;
/// Bits in which a text differs at least from those of the pages before it.
const APART: u32 = 10;
/// Words of bits that tell where a page led: a byte for each link, within these bounds.
const WORDS: std::ops::RangeInclusive<usize> = 8..=128;
/// Most rows that are remembered.
const MOST: usize = 1 << 20;

/// Where a page led: a bit for each link. Kept that sparse, few other links seem to be among them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Led(Box<[u64]>);

impl Led {
    fn to(links: &[UrlId]) -> Self {
        let words = (links.len() / 8).next_power_of_two().clamp(*WORDS.start(), *WORDS.end());
        let mut led = Self(vec![0; words].into());
        for link in links {
            let (word, bit) = led.spot(*link);
            led.0[word] |= 1 << bit;
        }
        led
    }

    /// Whether the page led here. No longer told where so many bits are set that any link would seem to be among them.
    fn holds(&self, link: UrlId) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let (word, bit) = self.spot(link);
        let set = || self.0.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        self.0[word] >> bit & 1 == 1 && set() * 5 <= self.0.len() * 64 * 3
    }

    fn spot(&self, link: UrlId) -> (usize, u32) {
        let hash = xxh3_64(&link.0.to_le_bytes());
        ((hash >> 6) as usize % self.0.len(), (hash & 63) as u32)
    }
}

/// What is remembered of a row.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Run {
    /// Pages in a row that brought nothing.
    barren: u16,
    /// Where the last two pages led.
    led: [Led; 2],
    /// SimHash of their texts.
    said: [u64; 2],
    pages: u32,
}

impl Run {
    fn led_to(&self, link: UrlId) -> bool {
        self.led.iter().any(|led| led.holds(link))
    }
}

/// A page, as far as its rows need to know.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Where the links of its content lead, those to relatives left out.
    pub leads: &'a [UrlId],
    /// Sketch of its main text.
    pub sketch: Sketch,
    /// Most of it is a row of records with links: its text says what they say.
    pub listing: bool,
    /// It is about the topic.
    pub relevant: bool,
}

/// The rows of a crawl: a fold of its pages. Memory: 200 bytes a row, and up to 2,000 where its pages have a
/// thousand links.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Runs {
    runs: FxHashMap<u64, Box<Run>>,
    ended: FxHashMap<u64, Refusal>,
}

impl Runs {
    /// Whether a page brings nothing of its own to a row.
    pub fn is_barren(&self, row: &Row, page: &Seen) -> bool {
        // The first page of a row is what the others are compared with.
        let Some(run) = self.runs.get(&row.key).filter(|run| run.pages > 0) else { return false };
        if page.leads.iter().any(|&link| !run.led_to(link)) {
            return false;
        }
        let tells = page.sketch.chars >= TELLING && !(page.listing && row.kind == Kind::Facets && !page.relevant);
        let before = &run.said[..(run.pages as usize).min(2)];
        !(tells && before.iter().all(|said| distance(*said, page.sketch.simhash) > APART))
    }

    /// Takes in a page of a row: how many in a row have brought nothing by now. `links`: all of them.
    pub fn observe(&mut self, row: &Row, barren: bool, sketch: Sketch, links: impl Iterator<Item = UrlId>) -> u16 {
        if self.runs.len() >= MOST && !self.runs.contains_key(&row.key) {
            return 0;
        }
        let run = self.runs.entry(row.key).or_default();
        run.barren = if barren { run.barren.saturating_add(1) } else { 0 };
        run.pages = run.pages.saturating_add(1);
        run.led.swap(0, 1);
        run.led[0] = Led::to(&links.collect::<Vec<UrlId>>());
        run.said = [sketch.simhash, run.said[0]];
        run.barren
    }

    /// Ends a row.
    pub fn end(&mut self, row: &Row, reason: Refusal) {
        self.ended.insert(row.key, reason);
        self.runs.remove(&row.key);
    }

    /// Why a URL is refused, if a row that it lies in has ended.
    pub fn refuses(&self, url: &CrawlUrl) -> Option<Refusal> {
        if self.ended.is_empty() {
            return None;
        }
        rows(url).iter().find_map(|row| self.ended.get(&row.key).copied())
    }

    /// Bytes allocated, taken that each page has few links.
    pub fn memory(&self) -> usize {
        let led = 2 * WORDS.start() * size_of::<u64>();
        self.runs.capacity() * (size_of::<(u64, Box<Run>)>() + 1)
            + self.runs.len() * (size_of::<Run>() + led)
            + self.ended.capacity() * (size_of::<(u64, Refusal)>() + 1)
    }

    /// Rows that have ended.
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

    #[test]
    fn a_row_that_brings_nothing_is_told_from_one_that_does() {
        let traps = Traps::default();
        let empty = sketch("一 二 三 四 五 六 日 没有活动");
        let row = |n: usize| rows(&url(&format!("/cal/{}/{}/", 2030 + n / 12, n % 12 + 1)))[0];
        let mut runs = Runs::default();
        let mut ended = 0;
        for n in 0..40 {
            let page = Seen { leads: &[], sketch: empty, listing: false, relevant: false };
            let barren = runs.is_barren(&row(n), &page);
            assert_eq!(barren, n > 0);
            ended = runs.observe(&row(n), barren, empty, std::iter::once(UrlId(7)));
        }
        assert_eq!(ended, 39);
        runs.end(&row(0), row(0).kind.refusal());
        assert_eq!(runs.refuses(&url("/cal/2099/01/")), Some(Refusal::Calendar));
        assert_eq!(runs.refuses(&url("/cal/2099/01/05/")), None);
        assert_eq!(Kind::Calendar.limit(&traps), 12);
        // An archive: each month leads to posts that the months before it did not.
        let mut runs = Runs::default();
        for n in 0..40_u32 {
            let own: Vec<UrlId> = (0..5).map(|post| UrlId(1000 + n * 5 + post)).collect();
            let page = Seen { leads: &own, sketch: empty, listing: true, relevant: false };
            let row = row(n as usize);
            assert!(!runs.is_barren(&row, &page), "{n}");
            runs.observe(&row, false, empty, own.iter().copied());
        }
    }

    #[test]
    fn a_list_of_pages_with_many_links_each_goes_on_and_a_calendar_with_as_many_does_not() {
        let row = |n: usize| rows(&url(&format!("/all/page/{}/", n + 1)))[0];
        let text = sketch("没有更多了");
        let mut runs = Runs::default();
        for n in 0..400_u32 {
            // Nearly all of them are furniture, and the one that counts is new.
            let own = [UrlId(10_000 + n)];
            let page = Seen { leads: &own, sketch: text, listing: true, relevant: false };
            let barren = runs.is_barren(&row(n as usize), &page);
            let ended = runs.observe(&row(n as usize), barren, text, (0..1500).map(UrlId).chain(own));
            assert!(
                ended < Traps::default().pagination,
                "{n}: now and then it seems to be one of them, never for long"
            );
        }
        let mut runs = Runs::default();
        for n in 0..40 {
            let page = Seen { leads: &[UrlId(7), UrlId(8)], sketch: text, listing: true, relevant: false };
            let barren = runs.is_barren(&row(n), &page);
            assert_eq!(barren, n > 0, "{n}");
            runs.observe(&row(n), barren, text, (0..1500).map(UrlId));
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
        let row = rows(&url("/page/2/"))[0];
        let mut runs = Runs::default();
        let page = |sketch| Seen { leads: &[], sketch, listing: false, relevant: false };
        runs.observe(&row, false, text(1), std::iter::empty());
        assert!(!runs.is_barren(&row, &page(text(5))));
        runs.observe(&row, false, text(5), std::iter::empty());
        assert!(runs.is_barren(&row, &page(text(5))) && runs.is_barren(&row, &page(text(1))));
    }
}
