//! Tickets that are given back without a word, and what a ticket is for.

use suidao_page::model::{CrawlUrl, LinkState, Millis, UrlId};

use super::machine::{Crawl, Ticket, Wanted};

impl Crawl {
    /// Takes back a ticket of which nothing was learnt, because the network or the whole process was away: its URL waits
    /// again, and its host rests as after any request.
    pub fn give_back(&mut self, ticket: Ticket, now: Millis) {
        self.hosts.get_mut(ticket.host).in_flight = false;
        self.count_request(ticket.again, false, now);
        match ticket.wanted {
            Wanted::Page(id) | Wanted::Plain(id) | Wanted::Forum(id, _) | Wanted::Hints(id) => {
                self.pages_in_flight -= 1;
                self.set_state(id, LinkState::Queued);
                if ticket.again {
                    self.queue_due(id);
                } else {
                    self.frontier.give_back(ticket.host, id, self.urls.get(id).place());
                }
            }
            // The page that it was asked for is queued already.
            Wanted::Robots { .. } | Wanted::Absent(_) => self.robots_in_flight -= 1,
        }
        let wait = self.hosts.get(ticket.host).delay(&self.conditions.politeness);
        self.rest(ticket.host, now.after(wait), now);
        self.leave_groups(ticket.groups, now);
    }

    pub(super) fn as_wanted(&self, id: UrlId, url: &CrawlUrl, now: Millis) -> Wanted {
        let pages = self.hosts.of(url).map_or(0, |host| host.pages);
        match self.forums.look(url, now) {
            Some(look) => Wanted::Forum(id, look),
            None if self.forums.may_recognise(pages) => Wanted::Page(id),
            None => Wanted::Plain(id),
        }
    }

    /// Whether a ticket is for a page that was fetched before.
    pub fn comes_again(&self, ticket: &Ticket) -> bool {
        ticket.again
    }
}
