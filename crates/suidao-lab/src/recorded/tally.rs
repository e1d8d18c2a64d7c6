//! Counts the relevant pages of a crawl by the best ground truth available: a list of relevant pages, the generated
//! world, or the lexicon's threshold. Folds the batches like the harvest curve, but counts by ground truth, and each
//! page once under any spelling of its URL.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::Serialize;

use super::LabelledUrls;
use crate::world::SyntheticWeb;
use suidao_page::model::{Batch, CrawlUrl, Digest, Event, PageProcessed};

#[derive(Clone)]
pub enum GroundTruth {
    /// A list of relevant pages. Counts pages with status 200, several spellings once, excluded hosts not at all.
    Truth(Arc<LabelledUrls>),
    /// The generated world; equal bodies are one page.
    World(Arc<SyntheticWeb>),
    /// The lexicon's threshold, as in the crawl itself.
    Threshold,
}

impl GroundTruth {
    /// Number of relevant pages, if known.
    pub fn relevant(&self) -> Option<u64> {
        match self {
            Self::Truth(truth) => Some(truth.len() as u64),
            Self::World(world) => Some(world.relevant()),
            Self::Threshold => None,
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Truth(_) => "truth",
            Self::World(_) => "world",
            Self::Threshold => "threshold",
        }
    }
}

/// Decides which pages count, and which of these are relevant; a page counts once. Memory: a key per page.
pub struct RelevanceJudge {
    judge: GroundTruth,
    keys: FxHashSet<String>,
    bodies: FxHashSet<Digest>,
}

impl RelevanceJudge {
    pub fn new(judge: GroundTruth) -> Self {
        Self { judge, keys: FxHashSet::default(), bodies: FxHashSet::default() }
    }

    /// Whether the page is relevant; `None` if it does not count.
    pub fn is_relevant(&mut self, url: &CrawlUrl, page: &PageProcessed) -> Option<bool> {
        match &self.judge {
            GroundTruth::Truth(truth) => {
                let counts = page.status == 200
                    && !truth.is_excluded(url)
                    && LabelledUrls::is_page(url)
                    && self.keys.insert(LabelledUrls::key(url));
                counts.then(|| truth.is_hit(url))
            }
            GroundTruth::World(world) => self.bodies.insert(page.digest).then(|| world.is_relevant(url)),
            GroundTruth::Threshold => Some(page.is_relevant_document()),
        }
    }
}

/// The counts after a number of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cutoff {
    pub pages: u64,
    pub relevant: u64,
    /// Hosts with a relevant page.
    #[serde(rename = "hosts_relevant")]
    pub hosts: u64,
}

/// The running count. Memory: the known URLs, and a key per page.
pub struct RecordedTally {
    judge: RelevanceJudge,
    cutoffs: Vec<u64>,
    reached: Vec<Cutoff>,
    urls: Vec<CrawlUrl>,
    hosts: FxHashSet<String>,
    now: Cutoff,
}

impl RecordedTally {
    /// Records the count at these ascending numbers of pages.
    pub fn new(judge: GroundTruth, cutoffs: Vec<u64>) -> Self {
        Self {
            judge: RelevanceJudge::new(judge),
            cutoffs,
            reached: Vec::new(),
            urls: Vec::new(),
            hosts: FxHashSet::default(),
            now: Cutoff { pages: 0, relevant: 0, hosts: 0 },
        }
    }

    /// Batches must come in order, each once.
    pub fn observe(&mut self, batch: &Batch) {
        for event in &batch.events {
            match event {
                Event::Discovered(found) => self.urls.push(found.url.clone()),
                Event::PageFetched(page) => {
                    if let Some(url) = self.urls.get(page.id.0 as usize) {
                        let url = url.clone();
                        self.page(&url, page);
                    }
                }
                _ => {}
            }
        }
    }

    fn page(&mut self, url: &CrawlUrl, page: &PageProcessed) {
        let Some(relevant) = self.judge.is_relevant(url, page) else { return };
        self.now.pages += 1;
        if relevant {
            self.now.relevant += 1;
            if !self.hosts.contains(url.host()) {
                self.hosts.insert(url.host().to_owned());
                self.now.hosts += 1;
            }
        }
        if self.cutoffs.contains(&self.now.pages) {
            self.reached.push(self.now);
        }
    }

    pub fn now(&self) -> Cutoff {
        self.now
    }

    /// The cutoffs reached, and the current count if it is after the last of them.
    pub fn rows(&self) -> Vec<Cutoff> {
        let mut rows = self.reached.clone();
        rows.extend(Some(self.now).filter(|now| rows.last() != Some(now)));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::{
        Discovered, Millis, Page, PathState, Priority, QueueEntry, QueueId, Relevance, Sketch, UrlId, UrlOrigin,
    };

    fn batch(id: u32, url: &str, status: u16) -> Batch {
        let url = CrawlUrl::parse(url).unwrap();
        let found = Discovered { id: UrlId(id), url, origin: UrlOrigin::Seed, anchor: String::new() };
        let place = QueueEntry { queue: QueueId::default(), priority: Priority::default(), path: PathState::SEED };
        let page = Page {
            relevance: Relevance::ONE,
            digest: Digest([u8::try_from(id).unwrap(); 20]),
            bytes: 1_000,
            sketch: Sketch { chars: 100, ..Sketch::default() },
            ..Page::default()
        };
        let settled = PageProcessed::of(UrlId(id), status, place, true, page);
        Batch {
            at: Millis(0),
            latency: None,
            events: vec![Event::Discovered(found), Event::PageFetched(Box::new(settled))],
        }
    }

    #[test]
    fn a_page_counts_once_and_by_the_truth() {
        let truth = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(truth.path(), "http://a.test/x\nhttp://b.test/y\nhttp://c.test/z\nhttp://d.test/\n").unwrap();
        let exclude = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(exclude.path(), "c.test").unwrap();
        let truth = LabelledUrls::read(truth.path(), Some(exclude.path())).unwrap();
        let judge = GroundTruth::Truth(Arc::new(truth));
        assert_eq!(judge.relevant(), Some(3));
        let mut tally = RecordedTally::new(judge, vec![1, 2, 9]);
        for (id, (url, status)) in (0..).zip([
            ("http://a.test/x.html", 200),
            ("http://a.test/x/", 200),
            ("http://a.test/feed.xml", 200),
            ("http://c.test/z", 200),
            ("http://d.test/", 206),
            ("http://a.test/w", 200),
            ("http://b.test/y", 200),
        ]) {
            tally.observe(&batch(id, url, status));
        }
        let cutoff = |pages, relevant, hosts| Cutoff { pages, relevant, hosts };
        assert_eq!(tally.rows(), [cutoff(1, 1, 1), cutoff(2, 1, 1), cutoff(3, 2, 2)]);
    }

    #[test]
    fn without_a_truth_the_threshold_counts() {
        let mut tally = RecordedTally::new(GroundTruth::Threshold, vec![2]);
        (0..2).for_each(|id| tally.observe(&batch(id, "http://a.test/", 203)));
        assert_eq!(tally.rows(), [Cutoff { pages: 2, relevant: 2, hosts: 1 }]);
    }
}
