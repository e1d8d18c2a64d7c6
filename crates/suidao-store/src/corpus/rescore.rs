//! Judges the stored pages of a crawl again, without fetching them.

use std::path::PathBuf;

use rayon::prelude::*;

use super::MAX_BODY;
use crate::store::archive::{ArchiveReader, Location, unpack_records};
use crate::store::{Meta, Record, Rescoring, Store, StoreError};
use suidao_page::model::{Batch, Event, Millis, PageScore, Relevance};
use suidao_page::read;
use suidao_page::topic::{NearBoundary, OpinionUse, Topic, TopicScores};

/// Batches read at a time.
const READ: usize = 1024;
/// Pages in memory at a time, compressed.
const PORTION: usize = 128;

/// Second opinions about pages near the boundary, from outside.
pub trait SecondOpinions {
    /// When one is asked for, and how much it counts.
    fn usage(&self) -> OpinionUse;

    /// The opinion of each text, above 0 for the topic; `None` leaves the page the verdict of its lexicon.
    ///
    /// # Errors
    /// [`StoreError`] if the opinions cannot be kept.
    fn of(&mut self, texts: &[&str]) -> Result<Vec<Option<f64>>, StoreError>;
}

/// A stored page that waits to be judged.
struct Waiting {
    batch: u64,
    foreign: bool,
    records: Vec<u8>,
    path: PathBuf,
    location: Location,
}

/// Writes a new score for every page to the log, `at` this time. `store` is open for writing; `watch` gets the number
/// of batches read so far; `opinions`, if any, are asked about pages near the threshold. Returns how many pages keep their scores, because their content is not in the archive.
/// Nothing changes for readers until the last step, which replaces the metadata (`meta.json`) of the crawl.
///
/// # Errors
/// [`StoreError`], if a page cannot be read or the disk fails: the crawl keeps its scores.
pub fn rescore(
    store: &mut Store,
    topic: &Topic,
    threshold: Relevance,
    at: Millis,
    mut opinions: Option<&mut dyn SecondOpinions>,
    mut watch: impl FnMut(u64),
) -> Result<u64, StoreError> {
    let mut archive = ArchiveReader::new(store.directory(), MAX_BODY);
    let mut rescoring = Rescoring { at, first: store.len(), pages: Vec::new() };
    // The last whole version of each page, for visits that found the same content.
    let mut contents: Vec<Option<Location>> = Vec::new();
    let (mut next, mut not_stored) = (0, 0);
    while next < rescoring.first {
        let mut waiting: Vec<Waiting> = Vec::new();
        let mut scores: Vec<PageScore> = Vec::new();
        let read = (rescoring.first - next).min(READ as u64);
        for (number, record) in (next..next + read).zip(store.batches_from(next)) {
            let record = record?;
            let stored = record.response();
            for event in record.batch.events {
                let Event::PageFetched(page) = event else { continue };
                let index = page.id.0 as usize;
                contents.resize(contents.len().max(index + 1), None);
                contents[index] = stored.or(contents[index]);
                let Some(location) = contents[index] else {
                    not_stored += 1;
                    continue;
                };
                let (records, path) = archive.records(location)?;
                waiting.push(Waiting { batch: number, foreign: page.foreign, records, path, location });
            }
            if waiting.len() >= PORTION {
                scores.extend(judge(&mut waiting, topic, threshold, &mut opinions)?);
                watch(number);
            }
        }
        scores.extend(judge(&mut waiting, topic, threshold, &mut opinions)?);
        next += read;
        watch(next);
        if let Some(first) = scores.first() {
            rescoring.pages.push(first.batch);
            let batch = Batch { at, latency: None, events: vec![Event::Rescored { pages: scores }] };
            store.append(&[Record { batch, archive: None, revisit: false }])?;
        }
    }
    store.sync()?;
    store.replace_meta(Meta {
        topic: topic.lexicon().name.clone(),
        lexicon: topic.digest(),
        page_threshold: threshold,
        rescoring: Some(rescoring),
        ..store.meta().clone()
    })?;
    Ok(not_stored)
}

/// Judges the waiting pages on all cores, then those near the threshold with their second opinions.
fn judge(
    waiting: &mut Vec<Waiting>,
    topic: &Topic,
    threshold: Relevance,
    opinions: &mut Option<&mut dyn SecondOpinions>,
) -> Result<Vec<PageScore>, StoreError> {
    let usage = opinions.as_ref().map(|opinions| opinions.usage());
    let judge = |page: Waiting| -> Result<Judged, StoreError> {
        let fetched = unpack_records(&page.records, &page.path, page.location, MAX_BODY)?;
        let read = read::parse(&fetched);
        // Neither foreign pages nor listings are relevant documents, whatever they are about.
        let (scores, near) = match usage.filter(|_| !page.foreign && !read.listing) {
            Some(usage) => topic.score_page_near(&read.document, threshold, usage),
            None => (topic.score_page(&read.document), None),
        };
        let TopicScores { relevance, terms, layer, .. } = scores;
        let on_topic = relevance >= threshold && !page.foreign;
        Ok((PageScore { batch: page.batch, relevance, on_topic, terms, layer }, near))
    };
    let judged: Vec<Judged> = std::mem::take(waiting).into_par_iter().map(judge).collect::<Result<_, _>>()?;
    let (mut scores, near): (Vec<PageScore>, Vec<Option<NearBoundary>>) = judged.into_iter().unzip();
    let Some((opinions, usage)) = opinions.as_mut().zip(usage) else { return Ok(scores) };
    let asked: Vec<(usize, &NearBoundary)> =
        near.iter().enumerate().filter_map(|(at, near)| Some((at, near.as_ref()?))).collect();
    let texts: Vec<&str> = asked.iter().map(|(_, near)| near.text.as_str()).collect();
    for ((at, near), opinion) in asked.into_iter().zip(opinions.of(&texts)?) {
        if let Some(opinion) = opinion {
            scores[at].relevance = topic.with_opinion(near, usage.weight * opinion);
            scores[at].on_topic = scores[at].relevance >= threshold;
        }
    }
    Ok(scores)
}

/// The score by the lexicon, and whether it is near the boundary.
type Judged = (PageScore, Option<NearBoundary>);

#[cfg(test)]
mod tests {
    use super::super::fixture::crawl;
    use super::super::{Catalogue, UrlHistory};
    use super::*;
    use crate::store::CrawlDirectory;
    use suidao_page::model::CrawlUrl;
    use suidao_page::topic::Lexicon;

    /// Pages 0, 3, 6, ... are about football, the others about chess.
    fn football(root: &std::path::Path, pages: usize) -> CrawlDirectory {
        let text =
            |n: usize| if n.is_multiple_of(3) { "足球 比赛 结果 公布" } else { "围棋 比赛 结果 公布" };
        let pages: Vec<(String, String)> = (0..pages)
            .map(|n| (format!("http://h{}.cn/{n}", n % 3), format!("<title>{n}</title><p>{}", text(n))))
            .collect();
        let pages: Vec<(&str, &str)> = pages.iter().map(|(u, h)| (u.as_str(), h.as_str())).collect();
        crawl(root, &pages).directory().clone()
    }

    fn chess() -> Topic {
        Topic::new(Lexicon::from_terms("围棋", &[("围棋", 1.0)]))
    }

    fn relevant(directory: &CrawlDirectory) -> Vec<u32> {
        let catalogue = Catalogue::read(&Store::open(directory).unwrap()).unwrap();
        catalogue.entries.iter().filter(|entry| entry.on_topic).map(|entry| entry.id.0).collect()
    }

    #[test]
    fn every_reader_gets_the_newest_scores() {
        let root = tempfile::tempdir().unwrap();
        let directory = football(root.path(), 2_000);
        assert!(relevant(&directory).iter().all(|id| id % 3 == 0));
        let mut store = Store::open_existing(&directory, "suidao rescore").unwrap();
        let before = store.len();
        let mut watched = 0;
        let at = Millis(1_800_000_000_000);
        let not_stored =
            rescore(&mut store, &chess(), Relevance::new(0.1), at, None, |batches| watched = batches).unwrap();
        assert_eq!((not_stored, watched), (0, before));
        assert_eq!(store.meta().topic, "围棋");
        drop(store);
        assert!(relevant(&directory).iter().all(|id| id % 3 != 0));
        assert_eq!(relevant(&directory).len(), 1_333);
        let store = Store::open(&directory).unwrap();
        assert_eq!(store.len(), before + 2, "a batch of scores for each 1,024 batches");
        let page = |number| {
            store.batch(number).unwrap().batch.events.into_iter().find_map(|event| match event {
                Event::PageFetched(page) => Some(page),
                _ => None,
            })
        };
        assert!(page(1_999).unwrap().on_topic && !page(0).unwrap().on_topic);
        assert_eq!(page(1_999).unwrap().terms[0].term, "围棋");
        let url = CrawlUrl::parse("http://h1.cn/1").unwrap();
        let history =
            UrlHistory::read(|| store.batches(), &url, suidao_page::messages::Lang::English).unwrap().unwrap();
        assert!(history.to_string().contains("围棋 ×1"), "{history}");
        drop(store);
        // The first lexicon again: all scores as they were.
        let mut store = Store::open_existing(&directory, "suidao rescore").unwrap();
        rescore(&mut store, &super::super::fixture::topic(), Relevance::new(0.1), at, None, |_| ()).unwrap();
        drop(store);
        assert!(relevant(&directory).iter().all(|id| id % 3 == 0));
    }

    #[test]
    fn an_unfinished_run_has_no_effect() {
        let root = tempfile::tempdir().unwrap();
        let directory = football(root.path(), 30);
        let meta = std::fs::read(directory.meta_json()).unwrap();
        let mut store = Store::open_existing(&directory, "suidao rescore").unwrap();
        rescore(&mut store, &chess(), Relevance::new(0.1), Millis(0), None, |_| ()).unwrap();
        drop(store);
        std::fs::write(directory.meta_json(), meta).unwrap();
        assert!(relevant(&directory).iter().all(|id| id % 3 == 0));
    }
}
