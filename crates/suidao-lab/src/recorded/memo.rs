//! A cache of read pages for all strategies of one task: each page is read once, so that a further strategy costs only
//! its own work.

use std::sync::{PoisonError, RwLock};

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::queries::Queries;
use suidao_crawl::crawl::{FetchKind, FetchOutcome};
use suidao_crawl::replay::{ReplaySource, TopicalWeb};
use suidao_page::model::CrawlUrl;

/// Outcomes by URL, compressed: a page of fifty links takes about two kilobytes. Thread-safe.
#[derive(Default)]
pub struct Memo {
    outcomes: RwLock<FxHashMap<u64, Box<[u8]>>>,
    queries: Queries,
    /// Pages that a query finds.
    hits: RwLock<FxHashSet<u64>>,
}

impl Memo {
    /// A cache that knows which pages the queries find.
    pub fn of(queries: Queries) -> Self {
        Self { queries, ..Self::default() }
    }

    pub fn queries(&self) -> usize {
        self.queries.len()
    }

    /// Whether a query finds this page, which was read before.
    pub fn is_hit(&self, url: &CrawlUrl) -> bool {
        self.hits.read().unwrap_or_else(PoisonError::into_inner).contains(&without_scheme(url))
    }

    /// A web read through this cache, without the text of its pages. Use one web and topic per cache.
    pub fn over<'a>(&'a self, reading: TopicalWeb<'a>) -> impl ReplaySource + 'a {
        Remembered { reading, memo: self }
    }
}

/// A page may be fetched under the other scheme than it was found with.
fn without_scheme(url: &CrawlUrl) -> u64 {
    url.under(false).as_ref().unwrap_or(url).fingerprint()
}

struct Remembered<'a> {
    reading: TopicalWeb<'a>,
    memo: &'a Memo,
}

impl ReplaySource for Remembered<'_> {
    fn outcome(&self, kind: &FetchKind, url: &CrawlUrl) -> FetchOutcome {
        // The same URL has different outcomes as a page and as robots.txt.
        let key = xxh3_64_with_seed(url.as_str().as_bytes(), u64::from(matches!(kind, FetchKind::Robots { .. })));
        let known =
            self.memo.outcomes.read().unwrap_or_else(PoisonError::into_inner).get(&key).and_then(|it| unpack(it));
        if let Some(outcome) = known {
            return outcome;
        }
        // Cached for all crawls: another may read the page as part of a forum.
        let kind = if let FetchKind::Plain(id) = kind { &FetchKind::Page(*id) } else { kind };
        let mut outcome = self.reading.outcome(kind, url);
        if let FetchOutcome::Page { page, .. } = &mut outcome {
            if self.memo.queries.find(&page.title, &page.text) {
                self.memo.hits.write().unwrap_or_else(PoisonError::into_inner).insert(without_scheme(url));
            }
            page.text = String::new();
        }
        if let Some(packed) = pack(&outcome) {
            self.memo.outcomes.write().unwrap_or_else(PoisonError::into_inner).insert(key, packed);
        }
        outcome
    }
}

fn pack(outcome: &FetchOutcome) -> Option<Box<[u8]>> {
    let plain = postcard::to_stdvec(outcome).ok()?;
    let mut packed = u32::try_from(plain.len()).ok()?.to_le_bytes().to_vec();
    packed.extend(zstd::bulk::compress(&plain, 1).ok()?);
    Some(packed.into())
}

fn unpack(packed: &[u8]) -> Option<FetchOutcome> {
    let (length, packed) = packed.split_first_chunk::<4>()?;
    let plain = zstd::bulk::decompress(packed, u32::from_le_bytes(*length) as usize).ok()?;
    postcard::from_bytes(&plain).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::world::{SyntheticWeb, WebSpec};
    use suidao_crawl::replay::Web;
    use suidao_page::model::{Failure, Fetched, HostId, UrlId};

    /// A web that counts its requests.
    struct Counting(SyntheticWeb, AtomicUsize);

    impl Web for Counting {
        fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.get(url)
        }
    }

    #[test]
    fn each_url_is_read_once_and_gives_the_same_each_time() {
        let world = SyntheticWeb::new(WebSpec {
            pages: 600,
            hosts: 14,
            islands: 5,
            island_pages: [20, 40],
            ..WebSpec::default()
        });
        let web = Counting(world.unwrap(), AtomicUsize::new(0));
        let topic = suidao_page::topic::Topic::new(crate::recorded::learn(&web.0).unwrap());
        let reading = || TopicalWeb { web: &web, topic: &topic };
        let mut urls: Vec<CrawlUrl> = web.0.pages().step_by(20).map(|(url, _)| url).collect();
        urls.push(CrawlUrl::parse("http://nowhere.test/").unwrap());
        urls.push(urls[0].join("/none.html").unwrap());
        let robots = FetchKind::Robots { host: HostId(0), https: false };
        let outcomes = |source: &dyn ReplaySource| -> Vec<FetchOutcome> {
            let pages = urls.iter().map(|url| source.outcome(&FetchKind::Page(UrlId(0)), url));
            pages.chain([source.outcome(&robots, &urls[0].robots())]).collect()
        };
        let mut plain = outcomes(&reading());
        for outcome in &mut plain {
            if let FetchOutcome::Page { page, .. } = outcome {
                page.text = String::new();
            }
        }
        let topical = plain.iter().filter(|outcome| matches!(outcome, FetchOutcome::Page { .. })).count();
        let memo = Memo::of(Queries::new(["。"]));
        web.1.store(0, Ordering::Relaxed);
        assert_eq!(outcomes(&memo.over(reading())), plain);
        assert_eq!(outcomes(&memo.over(reading())), plain);
        assert_eq!(web.1.load(Ordering::Relaxed), plain.len());
        assert_eq!(urls.iter().filter(|url| memo.is_hit(url)).count(), topical, "every page has a full stop");
    }
}
