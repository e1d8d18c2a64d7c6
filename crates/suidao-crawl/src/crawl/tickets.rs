//! Tickets returned without an outcome.

use suidao_page::model::{CrawlUrl, LinkState, Millis, UrlId};

use super::machine::{Crawl, FetchKind, Ticket};

impl Crawl {
    /// Requeues a ticket without an outcome, because the network or the process was suspended: its URL is queued again,
    /// and its host waits as after any request.
    pub fn requeue_ticket(&mut self, ticket: Ticket, now: Millis) {
        self.hosts.get_mut(ticket.host).in_flight = false;
        self.count_request(ticket.again, false, now);
        match ticket.wanted {
            FetchKind::Page(id) | FetchKind::Plain(id) | FetchKind::Forum(id, _) | FetchKind::Hints(id) => {
                self.pages_in_flight -= 1;
                self.set_state(id, LinkState::Queued);
                if ticket.again {
                    self.queue_due(id);
                } else {
                    self.frontier.requeue_in_flight(ticket.host, id, self.urls.get(id).place());
                }
            }
            // The page that needed it is already queued.
            FetchKind::Robots { .. } | FetchKind::Absent(_) => self.robots_in_flight -= 1,
        }
        let wait = self.hosts.get(ticket.host).delay(&self.conditions.politeness);
        self.rest(ticket.host, now.after(wait), now);
        self.leave_groups(ticket.groups, now);
    }

    pub(super) fn as_wanted(&self, id: UrlId, url: &CrawlUrl, now: Millis) -> FetchKind {
        let pages = self.hosts.of(url).map_or(0, |host| host.pages);
        match self.forums.look(url, now) {
            Some(look) => FetchKind::Forum(id, look),
            None if self.forums.may_recognise(pages) => FetchKind::Page(id),
            None => FetchKind::Plain(id),
        }
    }

    /// Whether a ticket is for a page fetched before.
    pub fn comes_again(&self, ticket: &Ticket) -> bool {
        ticket.again
    }
}
