//! Reads the records of an import in windows, and parses their pages on all cores before the machine needs them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::ImportError;
use crate::live::{Job, agent};
use suidao_crawl::crawl::{FetchKind, FetchOutcome, outcome};
use suidao_page::model::{Failure, FailureKind, Fetched, Millis, UrlId};
use suidao_page::topic::Topic;
use suidao_store::store::{ArchivedContent, ArchivedRecord, ArchivedRecords, RevisitRecord, WarcIndex};

/// Maximum number of responses, and bytes of their bodies, in memory at a time.
const WINDOW: (usize, usize) = (64, 32 << 20);

/// A response of an archive.
pub(super) struct ReadResponse {
    pub at: Option<Millis>,
    pub fetched: Fetched,
    /// Its payload is that of the visit before: `fetched` has none.
    pub unchanged: bool,
    /// What parsing it as a page gave.
    pub outcome: Option<FetchOutcome>,
}

/// Parses responses.
#[derive(Clone)]
pub(super) struct PageReader {
    topic: Arc<Topic>,
    robot: String,
}

impl PageReader {
    pub fn new(job: &Job) -> Self {
        Self { topic: Arc::clone(&job.topic), robot: agent(&job.config).to_owned() }
    }

    /// The outcome of a response; a page that makes a library panic fails, as in a crawl.
    pub fn read(&self, kind: &FetchKind, fetched: &Fetched) -> FetchOutcome {
        let read = || outcome(kind, Ok(fetched), None, &self.topic, &self.robot);
        catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
            tracing::error!(url = %fetched.url, "parsing this page panicked, so it is skipped; please report it");
            FetchOutcome::Failed(Failure { kind: FailureKind::Broken, retry_after: None })
        })
    }

    /// Parses the pages of a window. The kind of fetch may turn out to be another, and then they are parsed again.
    fn read_all(&self, window: &mut [ReadResponse]) {
        let next = AtomicUsize::new(0);
        let cores = std::thread::available_parallelism().map_or(2, usize::from).min(window.len());
        let responses: &[ReadResponse] = window;
        let work = || {
            let mut done = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(response) = responses.get(at) else { return done };
                let is_page = (200..300).contains(&response.fetched.status) && !response.unchanged;
                if is_page && suidao_page::read::is_page(&response.fetched) {
                    done.push((at, self.read(&FetchKind::Page(UrlId(0)), &response.fetched)));
                }
            }
        };
        let parsed: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
            // A thread that fails leaves its pages to the machine's turn.
            threads.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect()
        });
        for (at, outcome) in parsed {
            window[at].outcome = Some(outcome);
        }
    }
}

/// The records of files, in order.
pub(super) struct Windows<'a> {
    files: std::slice::Iter<'a, PathBuf>,
    open: Option<ArchivedRecords>,
    index: &'a WarcIndex,
    limit: usize,
    reader: PageReader,
    responses: u64,
    unused: BTreeMap<&'static str, u64>,
}

impl<'a> Windows<'a> {
    /// `index` has the payloads that revisit records refer to.
    pub fn new(files: &'a [PathBuf], index: &'a WarcIndex, job: &Job) -> Self {
        let (limit, reader) = (job.config.fetch.max_body, PageReader::new(job));
        Self { files: files.iter(), open: None, index, limit, reader, responses: 0, unused: BTreeMap::new() }
    }

    /// The next responses, parsed; none at the end.
    pub fn next_window(&mut self) -> Result<Option<Vec<ReadResponse>>, ImportError> {
        let (mut window, mut bytes) = (Vec::new(), 0);
        while window.len() < WINDOW.0 && bytes < WINDOW.1 {
            let Some(record) = self.next_record()? else { break };
            let Some(response) = self.response(record) else { continue };
            bytes += response.fetched.body.len() + response.fetched.wire.as_ref().map_or(0, |wire| wire.len());
            window.push(response);
        }
        self.reader.read_all(&mut window);
        Ok((!window.is_empty()).then_some(window))
    }

    /// Responses of HTTP servers so far, without revisit records.
    pub fn responses(&self) -> u64 {
        self.responses
    }

    /// Records that were not read, by kind.
    pub fn unused(&self) -> &BTreeMap<&'static str, u64> {
        &self.unused
    }

    fn next_record(&mut self) -> Result<Option<ArchivedRecord>, ImportError> {
        loop {
            if self.open.is_none() {
                let Some(path) = self.files.next() else { return Ok(None) };
                self.open = Some(ArchivedRecords::open(path, self.limit)?);
            }
            match self.open.as_mut().and_then(Iterator::next) {
                Some(record) => return Ok(Some(record?)),
                // The end; the index has warned of damage.
                None => {
                    let passed = self.open.take().map(|open| open.passed().clone()).unwrap_or_default();
                    passed.into_iter().for_each(|(kind, count)| *self.unused.entry(kind).or_default() += count);
                }
            }
        }
    }

    /// The response that a record represents.
    fn response(&mut self, record: ArchivedRecord) -> Option<ReadResponse> {
        let response = |fetched, unchanged| Some(ReadResponse { at: record.at, fetched, unchanged, outcome: None });
        let revisit: RevisitRecord = match record.content {
            ArchivedContent::Response(fetched) => {
                self.responses += 1;
                return response(fetched, false);
            }
            ArchivedContent::Revisit(revisit) => revisit,
        };
        if revisit.not_modified {
            return response(Fetched { status: 304, ..revisit.head }, true);
        }
        let payload = self.index.get(&revisit.of).unwrap_or_else(|error| {
            tracing::warn!(
                "cannot read the payload of the revisit record of {}, so the record is skipped: {error}",
                revisit.of
            );
            None
        });
        match payload {
            // Another version of the same page, of which the index has the first only.
            Some(payload) if revisit.of == revisit.head.url && !revisit.is_of(&payload) => response(revisit.head, true),
            Some(payload) => response(revisit.with_payload_of(payload), false),
            // An earlier import may have had the page.
            None if revisit.of == revisit.head.url => response(revisit.head, true),
            None => {
                *self.unused.entry("revisit without its payload").or_default() += 1;
                None
            }
        }
    }
}
