//! Simulates the first requests of a crawl on a virtual clock, without fetching anything.

use std::collections::VecDeque;

use suidao_page::model::{
    CrawlUrl, Event, Failure, FailureKind, LinkState, Millis, QueueEntry, RobotsRules, SkipReason, Stop, UrlId,
};

use super::machine::{Crawl, FetchKind, Next, Ticket};
use super::outcome::{FetchOutcome, ResponseMeta};

/// Assumed latency in milliseconds, as in a replay.
const ANSWER: u64 = 100;

#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsed {
    /// Milliseconds from the start.
    pub after: u64,
    pub url: CrawlUrl,
    pub turn: SimulatedStep,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SimulatedStep {
    Robots,
    /// A page that cannot exist, to see how the host answers.
    Absent,
    /// A page, from this queue entry.
    Page(UrlId, QueueEntry),
    /// No request: the URL is excluded when its turn comes.
    Refused(UrlId, SkipReason),
}

impl Crawl {
    /// The first `most` requests from `now` on with this concurrency, in order, and the stop reason if there are fewer.
    /// Assumes that each answer takes 100 ms and brings nothing new, that an unknown robots.txt allows everything, and
    /// that known rules remain valid. Afterwards the machine can only be queried.
    pub fn simulate(&mut self, now: Millis, in_flight: usize, most: usize) -> (Vec<Rehearsed>, Option<Stop>) {
        let begin = now;
        let mut now = now;
        let mut told = Vec::new();
        let mut under_way: VecDeque<(Millis, Ticket)> = VecDeque::new();
        loop {
            let mut wake = None;
            while under_way.len() < in_flight.max(1) {
                let next = self.next(now);
                for event in std::mem::take(&mut self.pending) {
                    if let Event::UrlExcluded { id, reason } = event {
                        let turn = SimulatedStep::Refused(id, reason);
                        told.push(Rehearsed { after: now.since(begin), url: self.urls.url(id), turn });
                    }
                }
                match next {
                    Next::Fetch(ticket) => {
                        let turn = match ticket.wanted {
                            FetchKind::Robots { .. } => SimulatedStep::Robots,
                            FetchKind::Absent(_) => SimulatedStep::Absent,
                            FetchKind::Page(id)
                            | FetchKind::Plain(id)
                            | FetchKind::Forum(id, _)
                            | FetchKind::Hints(id) => SimulatedStep::Page(id, self.urls.get(id).place()),
                        };
                        told.push(Rehearsed { after: now.since(begin), url: ticket.url.clone(), turn });
                        under_way.push_back((now.after(ANSWER), ticket));
                    }
                    Next::Wait(until) => {
                        wake = until;
                        break;
                    }
                    Next::Done(stop) => {
                        told.truncate(most);
                        return (told, Some(stop));
                    }
                }
                if told.len() >= most {
                    told.truncate(most);
                    return (told, None);
                }
            }
            let due = under_way.front().map(|&(due, _)| due);
            if let Some(wake) = wake.filter(|wake| due.is_none_or(|due| *wake < due)) {
                now = wake.max(now);
                continue;
            }
            // Nothing is in flight and nothing is due: a live crawl would wait for input.
            let Some((due, ticket)) = under_way.pop_front() else { return (told, None) };
            now = due;
            self.answer_with_nothing(ticket, now);
        }
    }

    fn answer_with_nothing(&mut self, ticket: Ticket, now: Millis) {
        let groups = ticket.groups;
        match ticket.wanted {
            FetchKind::Absent(_) => {
                let missing = Failure { kind: FailureKind::Status(404), retry_after: None };
                let _ = self.settle(ticket, FetchOutcome::Failed(missing), ResponseMeta::default(), now);
                return;
            }
            FetchKind::Robots { host, .. } => {
                if !self.hosts.get_mut(host).renew_robots(ticket.url.is_https(), now) {
                    let _ =
                        self.settle(ticket, FetchOutcome::Robots(RobotsRules::AllowAll), ResponseMeta::default(), now);
                    return;
                }
                self.hosts.get_mut(host).in_flight = false;
                self.robots_in_flight -= 1;
                self.make_ready(host);
            }
            FetchKind::Page(id) | FetchKind::Plain(id) | FetchKind::Forum(id, _) | FetchKind::Hints(id) => {
                self.hosts.get_mut(ticket.host).in_flight = false;
                self.count_request(ticket.again, false, now);
                self.pages_in_flight -= 1;
                self.progress.pages += u64::from(!ticket.again);
                self.leave(id, LinkState::Fetched, None, now);
            }
        }
        self.leave_groups(groups, now);
    }
}
