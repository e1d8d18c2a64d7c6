//! Tickets outside the ordinary course: given back without a word, or taken for a URL out of turn.

use suidao_page::model::{Batch, CrawlUrl, Event, LinkState, Millis, RefreshStep, UrlId};

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

    /// A ticket for a URL that waits, out of turn and without asking its host's leave: for an answer that is there
    /// already. Under the scheme that answered, if that is not the one it waits under. None if it does not wait.
    pub fn claim(&mut self, url: &CrawlUrl, now: Millis) -> Option<Ticket> {
        let waiting = |crawl: &Self, url: &CrawlUrl| {
            crawl.urls.find(url).filter(|id| crawl.urls.get(*id).state == LinkState::Queued)
        };
        let id = match waiting(self, url) {
            Some(id) => id,
            None => {
                let other = url.under(!url.is_https()).filter(|_| self.conditions.scope.one_scheme)?;
                let id = waiting(self, &other)?;
                let event = Event::Scheme { host: self.urls.get(id).host(), https: url.is_https() };
                self.apply(&event, now);
                self.pending.push(event);
                self.move_home(id, url, now);
                waiting(self, url)?
            }
        };
        let host = self.urls.get(id).host();
        self.set_state(id, LinkState::InFlight);
        self.hosts.get_mut(host).in_flight = true;
        self.pages_in_flight += 1;
        let again = self.refreshing.is_some() && self.is_due(id);
        self.count_request(again, true, now);
        let wanted = self.as_wanted(id, url, now);
        Some(Ticket {
            url: url.clone(),
            wanted,
            validators: None,
            host,
            groups: [None; 2],
            origin: String::new(),
            again,
        })
    }

    /// A ticket for the robots.txt of an origin (scheme and authority), out of turn. None if its host is not known.
    pub fn claim_robots(&mut self, origin: &str) -> Option<Ticket> {
        let url = CrawlUrl::parse(&format!("{origin}/robots.txt")).ok()?;
        let host = self.hosts.id_of(&url)?;
        self.hosts.get_mut(host).in_flight = true;
        self.robots_in_flight += 1;
        let wanted = Wanted::Robots { host, https: url.is_https() };
        Some(Ticket { url, wanted, validators: None, host, groups: [None; 2], origin: origin.to_owned(), again: false })
    }

    /// What a ticket for this URL would be for, as far as reading its answer goes; of one that is not known a page.
    pub fn wanted(&self, url: &CrawlUrl, now: Millis) -> Wanted {
        self.as_wanted(self.urls.find(url).unwrap_or(UrlId(0)), url, now)
    }

    pub(super) fn as_wanted(&self, id: UrlId, url: &CrawlUrl, now: Millis) -> Wanted {
        let pages = self.hosts.of(url).map_or(0, |host| host.pages);
        match self.forums.look(url, now) {
            Some(look) => Wanted::Forum(id, look),
            None if self.forums.may_recognise(pages) => Wanted::Page(id),
            None => Wanted::Plain(id),
        }
    }

    /// Makes a page that was fetched before one that is due, for an answer that came when it was come back to. None if it
    /// is no such page, or the machine keeps no account of what is come back to.
    pub fn come_again(&mut self, url: &CrawlUrl, now: Millis) -> Option<Batch> {
        let id = self.urls.find(url).filter(|id| self.urls.get(*id).state == LinkState::Fetched)?;
        let account = self.refreshing.as_ref()?;
        account.histories.get(id)?;
        let mut events = std::mem::take(&mut self.pending);
        let step = RefreshStep { due: vec![(id, 1.0)], ..RefreshStep::default() };
        self.tell(&mut events, Event::Refresh(Box::new(step)), now);
        Some(Batch { at: now, took: None, events })
    }

    /// Whether a ticket is for a page that was fetched before.
    pub fn comes_again(&self, ticket: &Ticket) -> bool {
        ticket.again
    }
}
