//! The monitor of a running crawl, for the status page and metrics.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use prometheus_client::metrics::histogram::Histogram;
use rustc_hash::FxHashMap;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use suidao_crawl::crawl::{Overview, Progress, WaitReasons};
use suidao_page::model::{Batch, CrawlUrl, Event, Failure, Millis, QueueEntry, RelevanceLabel};
use suidao_store::store::harvest::HarvestLine;

/// Maximum number of pages and failures remembered.
const RECENT: usize = 50;
/// Pages that wait for a listener.
const LISTENED: usize = 4096;
/// Maximum number of hosts whose latency is remembered: the slowest.
const SLOWEST: usize = 200;
/// Weight of the last response in a host's mean latency.
const WEIGHT: f64 = 0.25;

/// Bucket bounds in seconds.
const FETCH_BUCKETS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
const PARSE_BUCKETS: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0];

/// Shared by the crawl and its observers.
#[derive(Debug)]
pub struct CrawlMonitor {
    requests: UnboundedSender<MonitorRequest>,
    /// Taken by the crawl when it starts.
    receiver: Mutex<Option<UnboundedReceiver<MonitorRequest>>>,
    tally: Mutex<RunCounts>,
    /// Who gets every page.
    listener: Mutex<Option<SyncSender<RecentPage>>>,
    /// Seconds from a request to the end of its response.
    pub fetching: Histogram,
    /// Seconds of parsing.
    pub parsing: Histogram,
    received: AtomicU64,
}

/// What is asked of a running crawl.
#[derive(Debug)]
pub(super) enum MonitorRequest {
    Snapshot(oneshot::Sender<StatusSnapshot>),
    /// Adds seeds; the answer is the number of those that were unknown.
    Seeds(Vec<CrawlUrl>, oneshot::Sender<u64>),
}

#[derive(Clone, Debug, Default)]
pub struct StatusSnapshot {
    pub at: Millis,
    pub overview: Overview,
    /// What the crawl waits for.
    pub waits: WaitReasons,
    /// The harvest curve, thinned out.
    pub harvest: Vec<HarvestLine>,
    /// Batches of tickets that are not on disk yet.
    pub unwritten: u64,
}

#[derive(Clone, Debug, Default)]
pub struct RunCounts {
    /// When the state was restored, and whether there was one; `None` before.
    pub ready: Option<(Millis, bool)>,
    /// The counts at that time.
    pub before: Progress,
    /// URLs given up, by kind of failure.
    pub failed: BTreeMap<String, u64>,
    /// Failed requests that are retried, by kind.
    pub retried: BTreeMap<String, u64>,
    /// robots.txt fetched or absent, and unreachable.
    pub robots: [u64; 2],
    pub redirects: u64,
    /// The newest first.
    pub pages: VecDeque<RecentPage>,
    /// The newest first.
    pub failures: VecDeque<RecentFailure>,
    slow: FxHashMap<Box<str>, HostLatency>,
}

#[derive(Clone, Debug)]
pub struct RecentPage {
    pub at: Millis,
    pub url: CrawlUrl,
    pub title: String,
    pub relevance: f32,
    pub relevance_label: RelevanceLabel,
    pub queued_as: QueueEntry,
}

#[derive(Clone, Debug)]
pub struct RecentFailure {
    pub at: Millis,
    pub url: CrawlUrl,
    pub failure: Failure,
    /// It will be retried.
    pub again: bool,
}

/// The latency of a host.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostLatency {
    /// Moving average.
    pub seconds: f64,
    pub responses: u64,
}

impl Default for CrawlMonitor {
    fn default() -> Self {
        let (requests, receiver) = unbounded_channel();
        Self {
            requests,
            receiver: Mutex::new(Some(receiver)),
            tally: Mutex::default(),
            listener: Mutex::default(),
            fetching: Histogram::new(FETCH_BUCKETS),
            parsing: Histogram::new(PARSE_BUCKETS),
            received: AtomicU64::new(0),
        }
    }
}

impl CrawlMonitor {
    /// Asks the crawl for its status; `None` if it has not started or is over.
    pub async fn snapshot(&self) -> Option<StatusSnapshot> {
        let (response, answered) = oneshot::channel();
        self.requests.send(MonitorRequest::Snapshot(response)).ok()?;
        answered.await.ok()
    }

    /// Adds seeds to the running crawl, and returns the number of those that it did not know; `None` if it is over.
    pub async fn add_seeds(&self, seeds: Vec<CrawlUrl>) -> Option<u64> {
        let (response, answered) = oneshot::channel();
        self.requests.send(MonitorRequest::Seeds(seeds, response)).ok()?;
        answered.await.ok()
    }

    /// Every page from now on, one listener at a time. If it is slower than the crawl by many pages, it misses some.
    pub fn pages(&self) -> Receiver<RecentPage> {
        let (listener, pages) = sync_channel(LISTENED);
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
        pages
    }

    /// A copy of the counts.
    pub fn tally(&self) -> RunCounts {
        self.lock().clone()
    }

    /// Bytes of bodies received, as transferred.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, RunCounts> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The crawl starts to answer; `None` if another crawl already does.
    pub(super) fn open(&self) -> Option<UnboundedReceiver<MonitorRequest>> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn ready(&self, at: Millis, resumed: bool, before: Progress) {
        let mut tally = self.lock();
        (tally.ready, tally.before) = (Some((at, resumed)), before);
    }

    /// Records the duration and size of a fetch from this host.
    pub(super) fn fetched(&self, host: &str, seconds: f64, bytes: u64) {
        self.fetching.observe(seconds);
        self.received.fetch_add(bytes, Ordering::Relaxed);
        self.lock().pace(host, seconds);
    }

    /// Records the batch of a settled ticket.
    pub(super) fn settled(&self, url: &CrawlUrl, batch: &Batch) {
        let mut tally = self.lock();
        let (mut page, mut failed) = (None, None);
        for event in &batch.events {
            match event {
                Event::PageFetched(settled) => {
                    page = Some(RecentPage {
                        at: batch.at,
                        url: url.clone(),
                        title: settled.title.chars().take(120).collect(),
                        relevance: settled.relevance.get(),
                        relevance_label: settled.relevance_label(),
                        queued_as: settled.queued_as,
                    });
                }
                Event::FetchFailed { failure, .. } => {
                    *tally.failed.entry(failure.kind.name()).or_default() += 1;
                    failed = Some((failure.clone(), false));
                }
                Event::FetchRetried { failure, .. } => {
                    *tally.retried.entry(failure.kind.name()).or_default() += 1;
                    failed = Some((failure.clone(), true));
                }
                Event::Redirected { .. } | Event::RobotsRedirected { .. } => tally.redirects += 1,
                Event::Robots { rules, .. } => {
                    tally.robots[usize::from(*rules == suidao_page::model::RobotsRules::Unreachable)] += 1;
                }
                _ => {}
            }
        }
        if let (Some(page), Some(listener)) = (&page, &*self.listener.lock().unwrap_or_else(PoisonError::into_inner)) {
            let _ = listener.try_send(page.clone());
        }
        remember(&mut tally.pages, page);
        let failed = failed.map(|(failure, again)| RecentFailure { at: batch.at, url: url.clone(), failure, again });
        remember(&mut tally.failures, failed);
    }
}

fn remember<T>(list: &mut VecDeque<T>, new: Option<T>) {
    if let Some(new) = new {
        list.truncate(RECENT - 1);
        list.push_front(new);
    }
}

impl RunCounts {
    /// The slowest hosts, the slowest first.
    pub fn slowest(&self, most: usize) -> Vec<(&str, HostLatency)> {
        let mut hosts: Vec<_> = self.slow.iter().map(|(name, pace)| (&**name, *pace)).collect();
        hosts.sort_by(|one, other| other.1.seconds.total_cmp(&one.1.seconds).then(one.0.cmp(other.0)));
        hosts.truncate(most);
        hosts
    }

    fn pace(&mut self, host: &str, seconds: f64) {
        if let Some(pace) = self.slow.get_mut(host) {
            pace.seconds += WEIGHT * (seconds - pace.seconds);
            pace.responses += 1;
            return;
        }
        if self.slow.len() >= SLOWEST {
            let fastest = self.slow.iter().min_by(|one, other| one.1.seconds.total_cmp(&other.1.seconds));
            match fastest.map(|(name, pace)| (name.clone(), pace.seconds)) {
                Some((name, least)) if least < seconds => self.slow.remove(&name),
                _ => return,
            };
        }
        self.slow.insert(host.into(), HostLatency { seconds, responses: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suidao_page::model::FailureKind;

    #[test]
    fn what_is_remembered_is_bounded_and_the_slowest_stay() {
        let view = CrawlMonitor::default();
        for n in 0..1_000u32 {
            view.fetched(&format!("host{n}.cn"), f64::from(n % 500), 10);
            let url = CrawlUrl::parse(&format!("http://a.cn/{n}")).unwrap();
            let failure = Failure { kind: FailureKind::Status(404), retry_after: None };
            let events = vec![Event::FetchFailed { id: suidao_page::model::UrlId(n), failure }];
            view.settled(&url, &Batch { at: Millis(u64::from(n)), latency: None, events });
        }
        let tally = view.tally();
        assert_eq!((tally.failures.len(), view.received()), (RECENT, 10_000));
        assert_eq!(tally.failures[0].url.as_str(), "http://a.cn/999");
        assert_eq!(tally.failed, BTreeMap::from([("status-404".to_owned(), 1_000)]));
        assert_eq!(tally.slow.len(), SLOWEST);
        let slowest = tally.slowest(3);
        assert!(slowest.iter().all(|(_, pace)| pace.seconds > 490.0), "{slowest:?}");
    }
}
