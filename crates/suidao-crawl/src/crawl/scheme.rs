//! Treats http and https of a host as one site, under the scheme that the host answers. Pages link to both spellings,
//! and many servers and proxies answer only one: otherwise a page would be fetched twice, or not found at all.

use suidao_page::model::{
    CrawlUrl, Event, Failure, FailureKind, HostId, Link, LinkDecision, LinkState, Millis, Priority, QueueEntry,
    Relevance, UrlId, UrlOrigin,
};

use super::FetchOutcome;
use super::machine::{Crawl, Ticket};

impl Crawl {
    /// `url` under the scheme that its host answers, if that is the other one.
    pub(super) fn in_preferred_scheme(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        let https = self.conditions.scope.one_scheme.then(|| self.hosts.of(url)).flatten()?.https?;
        if url.is_https() == https { None } else { url.under(https) }
    }

    /// Whether a URL of this host has the scheme that the host does not answer. As [`Crawl::in_preferred_scheme`],
    /// without looking up the host by name.
    pub(super) fn is_other_scheme(&self, host: HostId, url: &CrawlUrl) -> bool {
        let https = self.hosts.get(host).https;
        self.conditions.scope.one_scheme && https.is_some_and(|https| https != url.is_https())
    }

    /// The same queue entry, but before all of equal rank.
    pub(super) fn ahead(place: QueueEntry) -> QueueEntry {
        QueueEntry { priority: Priority::new(place.priority.get().next_up()), ..place }
    }

    /// Passes the rank of a URL, queued before its host's scheme was known, to its spelling under that scheme.
    pub(super) fn rewrite_scheme(&mut self, id: UrlId, home: &CrawlUrl, now: Millis) {
        let place = Self::ahead(self.urls.get(id).place());
        let mut events = std::mem::take(&mut self.pending);
        let to = self.number(&mut events, home, UrlOrigin::Redirect(id), "", now);
        let waits = matches!(self.urls.get(to).state, LinkState::Dropped | LinkState::Queued);
        let link = waits.then_some(Link::bare(to, Relevance::ZERO, LinkDecision::Follow(place)));
        self.tell(&mut events, Event::SchemeRewritten { id, link }, now);
        self.pending = events;
    }

    /// The host's scheme according to a settled ticket, if that is new: the first that it answers, http if https cannot
    /// be connected, and the one that it redirects the same URL to.
    pub(super) fn learn_scheme(
        &mut self,
        events: &mut Vec<Event>,
        ticket: &Ticket,
        outcome: &FetchOutcome,
        now: Millis,
    ) -> Option<bool> {
        let host = ticket.host;
        let known = self.hosts.get(host).https;
        let asked = ticket.url.is_https();
        let https = match outcome {
            // A robots.txt may redirect to another host, whose answer does not count for this one.
            _ if !ticket.origin.is_empty() && ticket.origin != ticket.url.origin() => None,
            FetchOutcome::Redirect { to, .. } if ticket.url.under(!asked).is_some_and(|other| other == *to) => {
                Some(!asked)
            }
            FetchOutcome::Failed(Failure { kind, .. })
                if !matches!(kind, FailureKind::Status(_) | FailureKind::MediaType(_)) =>
            {
                let closed = matches!(kind, FailureKind::Connect | FailureKind::Refused);
                (asked && known.is_none() && closed).then_some(false)
            }
            _ => known.is_none().then_some(asked),
        };
        let https = https.filter(|https| self.conditions.scope.one_scheme && known != Some(*https))?;
        self.tell(events, Event::Scheme { host, https }, now);
        Some(https)
    }
}
