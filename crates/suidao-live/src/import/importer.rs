//! One answer after the other through the machine.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::log::ImportLog;
use super::windows::{PageReader, ReadResponse};
use super::{ImportCounts, ImportError};
use crate::live::driver::warc_entry;
use crate::live::fetch_task::is_archived;
use crate::live::{Job, News};
use suidao_crawl::crawl::{
    ArchivedResponse, Crawl, FetchKind, FetchOutcome, NotTaken, Progress, ResponseMeta, Seeding, TakenResponse, Ticket,
};
use suidao_page::model::{Batch, CrawlUrl, Fetched, Millis, UrlOrigin};
use suidao_store::store::WarcEntry;

/// Maximum number of bytes of robots.txt files of hosts without a known URL.
const WAITING_ROBOTS: usize = 64 << 20;

/// Whether to continue: not if writing has failed.
type Flow = Result<ControlFlow<()>, ImportError>;

pub(super) struct Importer<'a, F: FnMut(News)> {
    pub crawl: Crawl,
    pub counts: ImportCounts,
    pub log: ImportLog<'a>,
    /// Pages when the first new batch was written.
    pub before: Option<u64>,
    /// The counts after the last batch.
    kept: Progress,
    job: &'a Job,
    reader: PageReader,
    /// The time of the last record, at most `latest`, the start of the import.
    now: Millis,
    latest: Millis,
    is_seeded: bool,
    /// Origin of URLs that nothing has led to.
    origin: UrlOrigin,
    /// robots.txt files of hosts without a known URL, by origin.
    robots: BTreeMap<String, Fetched>,
    robots_bytes: usize,
    report: &'a mut F,
}

impl<'a, F: FnMut(News)> Importer<'a, F> {
    /// `now`: the time of the last batch in the log, 0 without one.
    pub fn new(
        crawl: Crawl,
        job: &'a Job,
        log: ImportLog<'a>,
        (now, latest): (Millis, Millis),
        report: &'a mut F,
    ) -> Self {
        Self {
            kept: crawl.progress(),
            crawl,
            counts: ImportCounts::default(),
            log,
            before: None,
            job,
            reader: PageReader::new(job),
            now,
            latest,
            is_seeded: false,
            origin: if job.seeds.is_empty() { UrlOrigin::Seed } else { UrlOrigin::Offered },
            robots: BTreeMap::new(),
            robots_bytes: 0,
            report,
        }
    }

    /// Adds the seeds, at the time of the first record.
    fn seed(&mut self) -> Result<(), ImportError> {
        let mut seeding = Seeding::of(&self.job.seeds);
        while let Some(batch) = self.crawl.seed_portion(&mut seeding, self.now) {
            // If writing has failed, the next batch ends the import.
            let _ = self.submit(batch, None)?;
        }
        Ok(())
    }

    /// Settles a response.
    pub fn take(&mut self, response: ReadResponse) -> Flow {
        let ReadResponse { at, mut fetched, unchanged, outcome } = response;
        // The clock does not go back, nor beyond the present.
        let unknown = if self.now == Millis(0) { self.latest } else { self.now };
        self.now = at.map_or(unknown, |at| at.min(self.latest)).max(self.now);
        if !std::mem::replace(&mut self.is_seeded, true) {
            self.seed()?;
        }
        if fetched.url.path() == "/robots.txt" && fetched.url.query().is_none() {
            return self.take_robots(fetched);
        }
        let kind = self.kind(&fetched, unchanged);
        let TakenResponse { id, url, batch } =
            match self.crawl.take_archived(&fetched.url, &kind, self.origin, self.now) {
                Ok(taken) => taken,
                Err((why, batch)) => {
                    self.count(reason(why), 1);
                    return batch.map_or(Ok(ControlFlow::Continue(())), |batch| self.submit(batch, None));
                }
            };
        if let Some(batch) = batch
            && self.submit(batch, None)?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        if let Some(robots) = self.robots.remove(&url.origin()) {
            self.robots_bytes -= robots.body.len();
            if self.take_robots(robots)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let ticket = self.crawl.archived_ticket(id, self.now);
        let is_parsed = matches!(ticket.kind, FetchKind::Page(_) | FetchKind::Plain(_)) && fetched.url == url;
        fetched.url = url;
        let outcome = match outcome {
            _ if unchanged => FetchOutcome::Unchanged,
            Some(outcome) if is_parsed => outcome,
            _ => self.reader.read(&ticket.kind, &fetched),
        };
        // Of unchanged content only a 304 is archived: another head without its payload would look like an empty page.
        let is_whole = !unchanged || fetched.status == 304;
        let kept = (is_whole && is_archived(&ticket.kind, &outcome)).then_some(fetched);
        self.counts.taken += 1;
        self.settle(ticket, outcome, kept)
    }

    /// Settles a robots.txt, or keeps it until a URL of its host is known.
    fn take_robots(&mut self, fetched: Fetched) -> Flow {
        // Other statuses are ignored: a crawl requests the file again.
        if !matches!(fetched.status, 200..=299 | 400..=428 | 430..=499) {
            self.count("robots.txt without rules", 1);
            return Ok(ControlFlow::Continue(()));
        }
        let Some(ticket) = self.crawl.archived_robots_ticket(&fetched.url, self.now) else {
            if self.robots_bytes + fetched.body.len() <= WAITING_ROBOTS {
                self.robots_bytes += fetched.body.len();
                let before = self.robots.insert(fetched.url.origin(), fetched);
                self.robots_bytes -= before.map_or(0, |before| before.body.len());
            }
            return Ok(ControlFlow::Continue(()));
        };
        self.counts.robots += 1;
        let outcome = self.reader.read(&ticket.kind, &fetched);
        self.settle(ticket, outcome, None)
    }

    /// The robots.txt files of hosts that became known later.
    pub fn finish(&mut self, is_complete: bool) -> Result<(), ImportError> {
        let robots = std::mem::take(&mut self.robots);
        if is_complete {
            self.robots_bytes = 0;
            for fetched in robots.into_values() {
                if self.take_robots(fetched)?.is_break() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Counts records that were not used.
    pub fn pass(&mut self, unused: &BTreeMap<&'static str, u64>) {
        unused.iter().filter(|(_, count)| **count > 0).for_each(|(kind, count)| self.count(kind, *count));
    }

    fn count(&mut self, reason: &str, more: u64) {
        *self.counts.unused.entry(reason.to_owned()).or_default() += more;
    }

    fn kind(&self, fetched: &Fetched, unchanged: bool) -> ArchivedResponse {
        let html = matches!(fetched.media_type().as_str(), "" | "text/html" | "application/xhtml+xml");
        let to = || fetched.header("location").and_then(|location| fetched.url.join(location).ok());
        match fetched.status {
            _ if unchanged => ArchivedResponse::Unchanged,
            200..=299 if html => ArchivedResponse::Page,
            301 | 302 | 303 | 307 | 308 => {
                to().map_or(ArchivedResponse::Other, |to: CrawlUrl| ArchivedResponse::Redirect(to))
            }
            _ => ArchivedResponse::Other,
        }
    }

    fn settle(&mut self, ticket: Ticket, outcome: FetchOutcome, fetched: Option<Fetched>) -> Flow {
        let batch = self.crawl.settle(ticket, outcome, ResponseMeta::default(), self.now);
        let entry = fetched.map(|fetched| warc_entry(fetched, &batch));
        self.submit(batch, entry)
    }

    fn submit(&mut self, batch: Batch, entry: Option<WarcEntry>) -> Flow {
        let progress = self.crawl.progress();
        let last = std::mem::replace(&mut self.kept, progress);
        if self.log.is_writing()? {
            if self.before.is_none() {
                self.before = Some(last.pages);
                (self.report)(News::Ready { resumed: last.known > 0, progress: last });
            }
            (self.report)(News::Batch(&batch, &self.crawl));
        }
        Ok(if self.log.add(batch, entry)? { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }
}

fn reason(why: NotTaken) -> &'static str {
    match why {
        NotTaken::Skipped(_) => "out of scope",
        NotTaken::Unlinked => "not a page, and no page links to it",
        NotTaken::Closed => "its URL had failed before",
        NotTaken::NoPayload => "revisit without its payload",
    }
}
