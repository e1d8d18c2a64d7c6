//! The driver without a network: a recorded or generated web, and a virtual clock. [`crate::crawl`] names the
//! other drivers.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::crawl::{Crawl, FetchKind, FetchOutcome, Next, ResponseMeta, Seeding, Ticket, outcome};
use suidao_page::model::{Batch, CrawlUrl, Failure, FailureKind, Fetched, Millis, Stop};
use suidao_page::read::ROBOT;
use suidao_page::topic::Topic;

/// Virtual latency of a request in milliseconds, typical of a host.
const REQUEST: u64 = 100;

/// A web that answers from memory or disk.
pub trait Web: Send + Sync {
    /// The answer to a GET of `url`, redirects and error statuses included.
    ///
    /// # Errors
    /// [`Failure`] if a live fetch would fail before a response.
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure>;

    /// The answer to a GET with these header fields, names in lower case. Webs without conditional requests ignore
    /// them.
    fn get_with(&self, url: &CrawlUrl, _fields: &[(String, String)]) -> Result<Fetched, Failure> {
        self.get(url)
    }
}

impl<W: Web + ?Sized> Web for std::sync::Arc<W> {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        (**self).get(url)
    }

    fn get_with(&self, url: &CrawlUrl, fields: &[(String, String)]) -> Result<Fetched, Failure> {
        (**self).get_with(url, fields)
    }
}

pub trait ReplaySource: Send + Sync {
    /// The outcome of fetching `url`; the same each time.
    fn outcome(&self, kind: &FetchKind, url: &CrawlUrl) -> FetchOutcome;
}

/// A web whose pages are parsed and scored on each request.
pub struct TopicalWeb<'a> {
    pub web: &'a dyn Web,
    pub topic: &'a Topic,
}

impl ReplaySource for TopicalWeb<'_> {
    fn outcome(&self, kind: &FetchKind, url: &CrawlUrl) -> FetchOutcome {
        let response = self.web.get(url);
        let read = catch_unwind(AssertUnwindSafe(|| {
            outcome(kind, response.as_ref().map_err(Clone::clone), None, self.topic, ROBOT)
        }));
        // A page that makes a library panic is lost, as in a live crawl.
        read.unwrap_or_else(|_| {
            tracing::error!(%url, "parsing this page panicked, so it is skipped; please report it");
            FetchOutcome::Failed(Failure { kind: FailureKind::Broken, retry_after: None })
        })
    }
}

/// Runs `crawl` over `source` to its end with at most `in_flight` concurrent requests (0 counts as 1), and passes every
/// batch to `sink` in order. The virtual clock starts at 0 and each request takes 100 ms. Tickets settle in the order
/// in which they are due, ties in the order in which they were issued.
pub fn replay(
    crawl: &mut Crawl,
    seeds: &[CrawlUrl],
    source: &dyn ReplaySource,
    in_flight: usize,
    mut sink: impl FnMut(Batch),
) -> Stop {
    replay_while(crawl, seeds, source, in_flight, |batch| {
        sink(batch);
        ControlFlow::Continue(())
    })
}

/// As [`replay`], until `sink` breaks: then it returns [`Stop::PageLimit`], for callers that count differently from the
/// machine.
pub fn replay_while(
    crawl: &mut Crawl,
    seeds: &[CrawlUrl],
    source: &dyn ReplaySource,
    in_flight: usize,
    mut sink: impl FnMut(Batch) -> ControlFlow<()>,
) -> Stop {
    let mut now = Millis(0);
    // All requests take equally long, so the first issued is the first due.
    let mut under_way: VecDeque<(Millis, Ticket)> = VecDeque::new();
    let mut seeding = Seeding::of(seeds);
    while let Some(batch) = crawl.seed_portion(&mut seeding, now) {
        if sink(batch).is_break() {
            return Stop::PageLimit;
        }
    }
    loop {
        let mut wake = None;
        while under_way.len() < in_flight.max(1) {
            match crawl.next(now) {
                Next::Fetch(ticket) => under_way.push_back((now.after(REQUEST), ticket)),
                Next::Record(batch) => {
                    if sink(batch).is_break() {
                        return Stop::PageLimit;
                    }
                }
                Next::Wait(until) => {
                    wake = until;
                    break;
                }
                // The machine ends only when all tickets are settled.
                Next::Done(stop) => return stop,
            }
        }
        let due = under_way.front().map(|&(due, _)| due);
        match wake.filter(|wake| due.is_none_or(|due| *wake < due)) {
            Some(wake) => now = wake,
            None => {
                let (due, ticket) = under_way.pop_front().expect("with nothing in flight the machine waits for a time");
                now = due;
                let outcome = source.outcome(&ticket.kind, &ticket.url);
                let meta = ResponseMeta { latency: Some(REQUEST), ..ResponseMeta::default() };
                if sink(crawl.settle(ticket, outcome, meta, now)).is_break() {
                    return Stop::PageLimit;
                }
            }
        }
    }
}
