//! Table 7 and figure 6 of paper 002 (Liu, Zhang, Li 2018; sections 2.1, 2.2, 2.4, Algorithm 1): the parallel crawl,
//! level by level, each level in three parallel stages as in Map/Reduce.
//!
//! 1. **Download**: URLs are partitioned by `hash(host) mod k`, so that one worker sends a host one request at a time.
//! 2. **Parse**: map only; a rule keeps links to the same site.
//! 3. **Deduplicate**: links are partitioned by their own hash and deduplicated within each partition.
//!
//! The result does not depend on the number of partitions and workers.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use suidao_crawl::replay::Web;
use suidao_page::model::{CrawlUrl, Failure, Fetched, Region};
use suidao_page::read::parse;

/// Known pages by URL.
pub type Collection = BTreeMap<CrawlUrl, Copy>;

/// The last version of a page: the paper's local database, as far as a later visit needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    digest: u64,
    /// Links to the same site, in order, each once (the rule filter of 2.2).
    links: Vec<CrawlUrl>,
    /// Header fields of the next conditional request.
    conditions: Vec<(String, String)>,
}

impl Copy {
    fn of(fetched: &Fetched) -> Self {
        let parsed = parse(fetched);
        let on_site = parsed.document.links.iter().filter(|link| link.url.authority() == fetched.url.authority());
        let mut said = parsed.text;
        for link in on_site.clone().filter(|link| link.region == Region::Content) {
            said.push('\n');
            said.push_str(link.url.as_str());
        }
        let links: BTreeSet<CrawlUrl> = on_site.map(|link| link.url.clone()).collect();
        let marks = [("etag", "if-none-match"), ("last-modified", "if-modified-since")];
        let condition =
            |(mark, condition): (&str, &str)| Some((condition.to_owned(), fetched.header(mark)?.to_owned()));
        let conditions = marks.into_iter().filter_map(condition).collect();
        Self { digest: xxh3_64(said.as_bytes()), links: links.into_iter().collect(), conditions }
    }
}

/// How known pages are treated; seeds are always fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RevisitRule {
    /// Known pages except seeds are not fetched again.
    pub left: bool,
    /// Known pages are fetched conditionally.
    pub conditional: bool,
}

/// Cost and result of a visit of all levels. Counts are of requests unless noted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelCounts {
    pub requests: u64,
    pub downloaded: u64,
    /// Answers with unchanged main text and links.
    pub redundant: u64,
    pub not_modified: u64,
    pub new: u64,
    /// Bytes of all bodies.
    pub bytes: u64,
}

/// Workers, and the partitions that they share.
pub struct Stages {
    workers: rayon::ThreadPool,
    partitions: usize,
}

struct Mapped {
    url: CrawlUrl,
    /// HTTP status; 0 without an answer.
    status: u16,
    bytes: u64,
    page: Option<Copy>,
    /// Links to the same site.
    links: Vec<CrawlUrl>,
}

impl Mapped {
    fn of(url: CrawlUrl, answer: Result<Fetched, Failure>, collection: &Collection) -> Self {
        let Ok(fetched) = answer else { return Self { url, status: 0, bytes: 0, page: None, links: Vec::new() } };
        let page = (fetched.status == 200).then(|| Copy::of(&fetched));
        let known = page.as_ref().or_else(|| collection.get(&url).filter(|_| fetched.status == 304));
        let links = known.map_or_else(
            || {
                let target = fetched.header("location").and_then(|to| url.join(to).ok());
                target.into_iter().filter(|to| to.authority() == url.authority()).collect()
            },
            |known| known.links.clone(),
        );
        Self { status: fetched.status, bytes: fetched.body.len() as u64, page, links, url }
    }
}

impl Stages {
    /// `workers` threads, and `partitions` of hosts and of links, each at least one.
    ///
    /// # Errors
    /// Threads cannot be started.
    pub fn new(workers: usize, partitions: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let workers = rayon::ThreadPoolBuilder::new().num_threads(workers).build()?;
        Ok(Self { workers, partitions: partitions.max(1) })
    }

    /// Visits the seeds and the pages within `depth` links on their sites, and updates `collection`: fetched pages
    /// replace their copies, pages with an error are removed.
    pub fn visit(
        &self,
        web: &dyn Web,
        seeds: &[CrawlUrl],
        depth: u32,
        known: RevisitRule,
        collection: &mut Collection,
        tally: &mut LevelCounts,
    ) {
        let mut frontier: BTreeSet<CrawlUrl> = seeds.iter().cloned().collect();
        let mut asked = frontier.clone();
        for _ in 0..=depth {
            let fetch = |url: CrawlUrl| {
                let had = collection.get(&url).filter(|_| known.conditional);
                let answer = web.get_with(&url, had.map_or(&[], |had| &had.conditions));
                (url, answer)
            };
            let downloaded = self
                .by_partition(frontier, CrawlUrl::authority, |part| part.into_iter().map(fetch).collect::<Vec<_>>());
            let map = |(url, answer)| Mapped::of(url, answer, collection);
            let mapped: Vec<Mapped> = self.workers.install(|| downloaded.into_par_iter().map(map).collect());

            let done = |url: &CrawlUrl| asked.contains(url) || (known.left && collection.contains_key(url));
            let links = mapped.iter().flat_map(|mapped| &mapped.links);
            let unique = self.by_partition(
                links,
                |link| link.as_str(),
                |part| part.into_iter().filter(|link| !done(link)).collect::<BTreeSet<_>>(),
            );
            frontier = unique.into_iter().cloned().collect();
            asked.extend(frontier.iter().cloned());
            for Mapped { url, status, bytes, page, .. } in mapped {
                tally.requests += 1;
                match page {
                    Some(page) => {
                        let had = collection.get(&url);
                        tally.downloaded += 1;
                        tally.bytes += bytes;
                        tally.redundant += u64::from(had.is_some_and(|had| had.digest == page.digest));
                        tally.new += u64::from(had.is_none());
                        collection.insert(url, page);
                    }
                    None if status == 304 => tally.not_modified += 1,
                    None => drop(collection.remove(&url)),
                }
            }
        }
    }

    /// Processes the partitions of items by `hash(name) mod k` (2.1) in parallel.
    fn by_partition<T: Send, P: IntoIterator<Item: Send> + Send>(
        &self,
        things: impl IntoIterator<Item = T>,
        name: impl Fn(&T) -> &str,
        work: impl Fn(Vec<T>) -> P + Sync + Send,
    ) -> Vec<P::Item> {
        let mut parts: Vec<Vec<T>> = (0..self.partitions).map(|_| Vec::new()).collect();
        for thing in things {
            let part = (xxh3_64(name(&thing).as_bytes()) % self.partitions as u64) as usize;
            parts[part].push(thing);
        }
        // One task per partition; otherwise rayon would merge small ones.
        let done: Vec<P> = self.workers.install(|| parts.into_par_iter().with_max_len(1).map(work).collect());
        done.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{ChangingSpec, ChangingWeb};
    use proptest::prelude::*;

    /// Hosts whose validators depend only on their content.
    fn web() -> ChangingWeb {
        let spec = ChangingSpec { hosts: 4, sections: 2, initial: 6, listed: 4, ..ChangingSpec::default() };
        ChangingWeb::new(spec, 3)
    }

    fn visits(
        workers: usize,
        partitions: usize,
        depth: u32,
        known: RevisitRule,
        days: &[f64],
    ) -> (Vec<LevelCounts>, Collection) {
        let (web, stages) = (web(), Stages::new(workers, partitions).unwrap());
        let mut collection = Collection::default();
        let tallies = days.iter().map(|day| {
            web.set(*day);
            let mut tally = LevelCounts::default();
            stages.visit(&web, &web.listings(), depth, known, &mut collection, &mut tally);
            tally
        });
        (tallies.collect(), collection)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn what_comes_of_it_is_the_same_for_any_number_of_workers_and_partitions(
            workers in 1_usize..5, partitions in 1_usize..9, left: bool, conditional: bool
        ) {
            let known = RevisitRule { left, conditional };
            let days = [1.0, 2.0, 5.0];
            prop_assert_eq!(visits(workers, partitions, 2, known, &days), visits(1, 1, 2, known, &days));
        }
    }

    #[test]
    fn a_visit_has_what_is_listed_and_what_that_leads_to() {
        let web = web();
        web.set(4.0);
        let stages = Stages::new(2, 3).unwrap();
        let mut collection = Collection::default();
        let [mut only_seeds, mut tally] = [LevelCounts::default(); 2];
        stages.visit(&web, &web.listings(), 0, RevisitRule::default(), &mut collection, &mut only_seeds);
        assert_eq!((only_seeds.requests, only_seeds.new), (8, 8));
        stages.visit(&web, &web.listings(), 1, RevisitRule::default(), &mut collection, &mut tally);
        assert_eq!((tally.downloaded - tally.new, tally.redundant), (8, 8), "the listings say what they said");
        for listing in web.listings() {
            let of_listing = web.articles(4.0).into_iter().filter(|article| article.listing == listing);
            let newest: Vec<_> = of_listing.rev().take(4).collect();
            for article in newest {
                assert_eq!(collection.contains_key(&article.url), article.gone.is_none(), "{}", article.url);
            }
        }
        assert!(
            collection.keys().all(|url| url.authority().ends_with("changing.test") && !url.as_str().contains("ads"))
        );
    }

    #[test]
    fn what_is_known_is_left_alone_or_asked_for_under_a_condition() {
        let days = [1.0, 2.0];
        let sum = |known| visits(1, 1, 1, known, &days).0[1];
        let all = sum(RevisitRule::default());
        let left = sum(RevisitRule { left: true, conditional: false });
        let conditional = sum(RevisitRule { left: false, conditional: true });
        assert!(left.requests < all.requests && left.redundant < all.redundant && left.new == all.new, "{left:?}");
        assert_eq!((conditional.requests, conditional.new), (all.requests, all.new));
        assert!(conditional.not_modified > 0 && conditional.redundant < all.redundant, "{conditional:?}");
        assert!(conditional.bytes < all.bytes);
    }

    #[test]
    fn a_page_that_is_gone_is_dropped() {
        let (web, stages) = (web(), Stages::new(1, 1).unwrap());
        let mut articles = web.articles(40.0).into_iter();
        let gone = articles.find(|article| article.gone.is_some() && web.version(&article.url, 5.0).is_some()).unwrap();
        let mut collection = Collection::default();
        for (day, here) in [(5.0, true), (40.0, false)] {
            web.set(day);
            stages.visit(
                &web,
                std::slice::from_ref(&gone.url),
                0,
                RevisitRule::default(),
                &mut collection,
                &mut LevelCounts::default(),
            );
            assert_eq!(collection.contains_key(&gone.url), here);
        }
    }
}
