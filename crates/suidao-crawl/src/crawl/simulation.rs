//! Simulates the first requests of a crawl on a virtual clock, without fetching anything.

use std::collections::VecDeque;

use suidao_page::model::{
    CrawlUrl, Event, Failure, FailureKind, LinkState, Millis, QueueEntry, RobotsRules, SkipReason, Stop, UrlId,
};

use super::machine::Crawl;
use super::outcome::{FetchOutcome, ResponseMeta};
use super::state::EventTime;
use super::ticket::{FetchKind, Next, Ticket};

/// Assumed latency in milliseconds, as in a replay.
const ANSWER: u64 = 100;

#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedRequest {
    /// Milliseconds from the start.
    pub after: u64,
    pub url: CrawlUrl,
    pub step: SimulatedStep,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SimulatedStep {
    Robots,
    /// A page that cannot exist, to see how the host answers.
    Soft404Probe,
    /// A page, from this queue entry.
    Page(UrlId, QueueEntry),
    /// No request: the URL is skipped when it would be fetched.
    Skipped(UrlId, SkipReason),
}

/// The first `most` requests from `now` on with this concurrency, in order, and the stop reason if there are fewer.
/// Assumes that each response takes 100 ms and brings nothing new, that an unknown robots.txt allows everything, and
/// that known rules remain valid. Afterwards the machine can only be queried.
pub fn simulate(
    crawl: &mut Crawl,
    now: Millis,
    in_flight: usize,
    most: usize,
) -> (Vec<SimulatedRequest>, Option<Stop>) {
    let begin = now;
    let mut now = now;
    let mut steps = Vec::new();
    let mut under_way: VecDeque<(Millis, Ticket)> = VecDeque::new();
    loop {
        let mut wake = None;
        while under_way.len() < in_flight.max(1) {
            match crawl.next(now) {
                Next::Record(batch) => {
                    for event in batch.events {
                        if let Event::UrlExcluded { id, reason } = event {
                            let step = SimulatedStep::Skipped(id, reason);
                            steps.push(SimulatedRequest { after: now.since(begin), url: crawl.url(id), step });
                        }
                    }
                }
                Next::Fetch(ticket) => {
                    let step = match (ticket.kind.url_id(), &ticket.kind) {
                        (Some(id), _) => SimulatedStep::Page(id, crawl.state.urls.get(id).entry()),
                        (None, FetchKind::Robots { .. }) => SimulatedStep::Robots,
                        (None, _) => SimulatedStep::Soft404Probe,
                    };
                    steps.push(SimulatedRequest { after: now.since(begin), url: ticket.url.clone(), step });
                    under_way.push_back((now.after(ANSWER), ticket));
                }
                Next::Wait(until) => {
                    wake = until;
                    break;
                }
                Next::Done(stop) => {
                    steps.truncate(most);
                    return (steps, Some(stop));
                }
            }
            if steps.len() >= most {
                steps.truncate(most);
                return (steps, None);
            }
        }
        let due = under_way.front().map(|&(due, _)| due);
        if let Some(wake) = wake.filter(|wake| due.is_none_or(|due| *wake < due)) {
            now = wake.max(now);
            continue;
        }
        // Nothing is in flight and nothing is due: a live crawl would wait for input.
        let Some((due, ticket)) = under_way.pop_front() else { return (steps, None) };
        now = due;
        answer_with_nothing(crawl, ticket, now);
    }
}

fn answer_with_nothing(crawl: &mut Crawl, ticket: Ticket, now: Millis) {
    if let Some(id) = ticket.kind.url_id() {
        crawl.finish(&ticket);
        crawl.state.counts.progress.pages += u64::from(!ticket.again);
        crawl.state.leave(id, LinkState::Fetched, None, EventTime::without_request(now));
        return crawl.state.leave_groups(ticket.groups, now);
    }
    let outcome = match ticket.kind {
        FetchKind::Robots { host, .. } => {
            if crawl.state.hosts.get_mut(host).renew_robots(ticket.url.is_https(), now) {
                crawl.finish(&ticket);
                crawl.state.frontier.make_ready(host);
                return crawl.state.leave_groups(ticket.groups, now);
            }
            FetchOutcome::Robots(RobotsRules::AllowAll)
        }
        _ => FetchOutcome::Failed(Failure { kind: FailureKind::Status(404), retry_after: None }),
    };
    let _ = crawl.settle(ticket, outcome, ResponseMeta::default(), now);
}
