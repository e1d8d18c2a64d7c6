//! The driver without a network: a recorded or generated web, and a virtual clock. The second of the two places where
//! the crawl loop stands; `live` is the other.

use crate::crawl::{Crawl, Next, outcome};
use crate::model::{Batch, CrawlUrl, Failure, Fetched, Millis, Stop};
use crate::topic::Topic;

/// A web that answers from memory or disk.
pub trait Web {
    /// The answer to a GET of `url`, redirects and error statuses included.
    ///
    /// # Errors
    /// [`Failure`] where a live fetch would have failed before an answer.
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure>;
}

impl<W: Web + ?Sized> Web for std::sync::Arc<W> {
    fn get(&self, url: &CrawlUrl) -> Result<Fetched, Failure> {
        (**self).get(url)
    }
}

/// Drives `crawl` over `web` to its end, one request in flight, and hands every batch to `sink` in order. The virtual
/// clock starts at 0, a request takes no time, waits take what they say.
pub fn replay(
    crawl: &mut Crawl,
    seeds: &[CrawlUrl],
    web: &dyn Web,
    topic: &Topic,
    mut sink: impl FnMut(Batch),
) -> Stop {
    let mut now = Millis(0);
    sink(crawl.seed(seeds, now));
    loop {
        match crawl.next(now) {
            Next::Fetch(ticket) => {
                let answer = web.get(&ticket.url);
                let outcome = outcome(&ticket.wanted, answer.as_ref().map_err(Clone::clone), None, topic);
                sink(crawl.settle(ticket, outcome, now));
            }
            Next::Wait(Some(until)) => now = until,
            // With nothing in flight the machine never waits for a settling.
            Next::Wait(None) => unreachable!("every ticket is settled at once"),
            Next::Done(stop) => {
                if let Some(batch) = crawl.finish(now) {
                    sink(batch);
                }
                return stop;
            }
        }
    }
}
