//! Responses that another crawler fetched and archived: each gets a ticket in the order of the archive, not of the
//! frontier, and is settled like a response of our own. Nothing is requested.

use super::decide::archived::{self, ArchivedResponse, NotTaken};
use super::decide::choose;
use super::draft::Draft;
use super::machine::Crawl;
use super::state::EventTime;
use super::ticket::{FetchKind, Ticket};
use suidao_page::model::{Batch, CrawlUrl, Event, LinkState, Millis, UrlId, UrlOrigin};

/// An archived answer that the crawl takes: call [`Crawl::archived_ticket`] next.
#[derive(Debug)]
pub struct TakenResponse {
    pub id: UrlId,
    /// The spelling of the URL that the crawl uses.
    pub url: CrawlUrl,
    /// Events to log first, if the URL was not queued.
    pub batch: Option<Batch>,
}

impl Crawl {
    /// Queues the URL of an archived response unless it waits already: one that was fetched before becomes due for a
    /// visit.
    /// `origin`: of a URL that nothing in the archive has led to.
    ///
    /// # Errors
    /// [`NotTaken`] if the crawl has no use for the response; nothing has changed then, except that a URL out of scope
    /// is in the batch.
    pub fn take_archived(
        &mut self,
        url: &CrawlUrl,
        response: &ArchivedResponse,
        origin: UrlOrigin,
        now: Millis,
    ) -> Result<TakenResponse, (NotTaken, Option<Batch>)> {
        let time = EventTime::without_request(now);
        let mut draft = Draft::new(&self.state, now);
        let numbered = archived::number(&mut draft, url, response, origin);
        let decided = draft.finish();
        let mut events: Vec<Event> = self.commit(decided, time);
        let batch = |events: Vec<Event>| (!events.is_empty()).then_some(Batch { at: now, latency: None, events });
        let id = match numbered {
            Ok(id) => id,
            Err(why) => return Err((why, batch(events))),
        };
        self.decide(&mut events, time, |draft| archived::queue(draft, id, origin));
        Ok(TakenResponse { id, url: self.state.urls.url(id), batch: batch(events) })
    }

    /// The ticket of a taken answer.
    pub fn archived_ticket(&mut self, id: UrlId, now: Millis) -> Ticket {
        let (url, host) = (self.state.urls.url(id), self.state.urls.get(id).host());
        let again = self.state.is_due(id);
        let kind = choose::page_kind(&self.state, id, &url, again, now);
        self.state.set_state(id, LinkState::InFlight);
        self.start(host, url, kind, again, now)
    }

    /// The ticket for an archived robots.txt; none if no URL of its host is known.
    pub fn archived_robots_ticket(&mut self, url: &CrawlUrl, now: Millis) -> Option<Ticket> {
        let host = self.state.hosts.id_of(url)?;
        let kind = FetchKind::Robots { host, https: url.is_https() };
        Some(Ticket { origin: url.origin(), ..self.start(host, url.clone(), kind, false, now) })
    }
}
