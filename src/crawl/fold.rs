//! The machine's state as a fold of its events. Apart from the doors because a restart goes through here alone: what
//! is not changed by an event is not remembered.

use rustc_hash::FxHashSet;

use crate::model::{
    Event, Failure, HostId, Link, LinkState, Millis, Place, Priority, Refusal, RobotsRules, Settled, UrlId, Verdict,
};

use super::hosts::is_hosts;
use super::machine::{Crawl, Ended};

impl Crawl {
    /// Changes the state as the event says. `at`: when it happened.
    pub(super) fn apply(&mut self, event: &Event, at: Millis) {
        // Before the links are queued, so that each is queued at its worth.
        let mut risen = Vec::new();
        self.strategy.observe(event, &mut risen);
        self.apply_to_state(event, at);
        self.forums.watch(event);
        self.observe_refresh(event, at);
        let mut seen = FxHashSet::default();
        for id in risen.into_iter().filter(|&id| seen.insert(id)) {
            self.raise(id);
        }
    }

    /// The strategy has come to think more of a URL. What is in flight waits at the better place if it comes back, as it
    /// does after a restart.
    fn raise(&mut self, id: UrlId) {
        let known = self.urls.get(id);
        let (state, host, place) = (known.state, known.host(), known.place());
        if let Some(priority) = self.strategy.appraise(id).filter(|worth| differs(*worth, place.priority))
            && priority > place.priority
            && matches!(state, LinkState::Queued | LinkState::InFlight)
        {
            let place = Place { priority, ..place };
            self.urls.get_mut(id).set_place(place);
            if state == LinkState::Queued {
                self.frontier.push(host, id, place);
            }
        }
    }

    fn apply_to_state(&mut self, event: &Event, at: Millis) {
        if matches!(
            event,
            Event::Settled(_)
                | Event::Redirected { .. }
                | Event::Moved { .. }
                | Event::Retried { .. }
                | Event::Failed { .. }
                | Event::Refused { .. }
                | Event::Unchanged { .. }
                | Event::Hinted { .. }
        ) {
            self.frontier.begin(self.progress.queued);
            self.frontier.gone();
        }
        match event {
            Event::Discovered(discovered) => {
                let (host, new) = self.hosts.number(&discovered.url);
                if new {
                    self.make_ready(host);
                    self.progress.hosts += 1;
                }
                let id = self.urls.insert(&discovered.url, host);
                debug_assert_eq!(id, discovered.id, "numbers are given without gaps");
                self.progress.known += 1;
            }
            Event::Skipped { url, .. } => {
                self.skipped.insert(url.fingerprint());
                self.progress.refused += 1;
            }
            Event::Seeded(link) => self.admit(&[*link]),
            Event::Settled(settled) => self.apply_settled(settled, at),
            Event::Forum(step) => self.observe_step(step, at),
            Event::Expanded { id, place, links } => {
                if let Some(ended) = self.ended.get_mut(id) {
                    ended.place = *place;
                    if !links.iter().any(is_tunnel_end) {
                        self.ended.remove(id);
                    }
                }
                self.admit(links);
            }
            Event::Redirected { id, link, .. } => {
                let redirects = self.urls.get(*id).redirects() + 1;
                self.leave(*id, LinkState::Redirected, None, at);
                if let Some(link) = link {
                    let target = self.urls.get_mut(link.to);
                    target.set_redirects(redirects.max(target.redirects()));
                    self.forum_moved(*id, link.to);
                    self.admit(&[*link]);
                }
            }
            Event::Lowered { id, priority } => {
                let known = self.urls.get_mut(*id);
                let place = Place { priority: *priority, ..known.place() };
                known.set_place(place);
                self.frontier.push(known.host(), *id, place);
            }
            Event::Moved { id, link } => {
                // Not for good: a redirect may lead back to this spelling.
                self.set_state(*id, LinkState::Dropped);
                if let Some(link) = link {
                    self.forum_moved(*id, link.to);
                }
                self.admit(link.as_slice());
            }
            Event::Scheme { host, https } => {
                let record = self.hosts.get_mut(*host);
                record.https = Some(*https);
                let wait = record.delay(&self.conditions.politeness);
                self.rest(*host, at.after(wait), at);
            }
            Event::Unchanged { id, .. } => {
                self.progress.visits += 1;
                self.leave(*id, LinkState::Fetched, None, at);
                self.urls.get_mut(*id).forget_tries();
            }
            Event::Hinted { id, .. } => {
                self.leave(*id, LinkState::Fetched, None, at);
                self.urls.get_mut(*id).forget_tries();
            }
            Event::Retired { id, .. } => {
                // If somebody links to it again it may be back.
                self.set_state(*id, LinkState::Dropped);
                self.urls.get_mut(*id).was_page = true;
            }
            // Its histories are asked first.
            Event::Refresh(_) => {}
            Event::Retried { id, failure } if self.is_due(*id) => {
                self.urls.get_mut(*id).count_try();
                self.leave(*id, LinkState::Queued, Some(failure), at);
            }
            Event::Retried { id, failure } => {
                self.urls.get_mut(*id).count_try();
                self.leave(*id, LinkState::Queued, Some(failure), at);
                let known = self.urls.get(*id);
                self.frontier.push(known.host(), *id, known.place());
            }
            Event::Failed { id, failure } => {
                self.leave(*id, LinkState::Failed, Some(failure), at);
                self.progress.failed += u64::from(!self.is_due(*id));
            }
            Event::Refused { id, .. } => {
                self.set_state(*id, LinkState::Refused);
                self.progress.refused += u64::from(!self.is_due(*id));
            }
            Event::Robots { host, origin, rules } => {
                let agent = &self.conditions.agent;
                let scheme = origin.split(':').next().unwrap_or_default();
                let politeness = &self.conditions.politeness;
                let record = self.hosts.get_mut(*host);
                record.set_robots(agent, origin, rules, at);
                record.failing = *rules == RobotsRules::Unreachable;
                let wait =
                    if record.failing { record.robots_backoff(politeness, scheme) } else { record.delay(politeness) };
                self.rest(*host, at.after(wait), at);
            }
            Event::RobotsRedirected { host, to, .. } => {
                let record = self.hosts.get_mut(*host);
                let followed = record.robots_redirect.as_ref().map_or(0, |(_, followed)| *followed);
                record.robots_redirect = Some((to.clone(), followed + 1));
                record.failing = false;
                let wait = record.delay(&self.conditions.politeness);
                self.rest(*host, at.after(wait), at);
            }
        }
    }

    fn apply_settled(&mut self, settled: &Settled, at: Millis) {
        self.leave(settled.id, LinkState::Fetched, None, at);
        self.urls.get_mut(settled.id).forget_tries();
        if settled.again.is_some() || std::mem::take(&mut self.urls.get_mut(settled.id).was_page) {
            self.progress.visits += 1;
            self.admit(&settled.links);
            return;
        }
        let host = self.hosts.get_mut(self.urls.get(settled.id).host());
        host.pages += 1;
        self.progress.pages += 1;
        self.progress.hosts_visited += u64::from(host.pages == 1);
        if settled.relevant {
            self.progress.relevant += 1;
            self.progress.hosts_relevant += u64::from(!host.relevant);
            host.relevant = true;
        }
        if settled.links.iter().any(is_tunnel_end) {
            let links = settled.links.clone();
            self.ended.insert(settled.id, Ended { relevance: settled.relevance, place: settled.place, links });
        }
        if let Some(page) = &settled.forum {
            self.observe_forum(settled.id, page, at);
        }
        self.admit(&settled.links);
    }

    /// Queues links, or improves the place of those that wait already.
    pub(super) fn admit(&mut self, links: &[Link]) {
        let mut pushes: Vec<(HostId, UrlId, Place)> = Vec::with_capacity(links.len());
        for link in links {
            let state = self.urls.get(link.to).state;
            match (link.verdict, state) {
                (Verdict::Drop(_), LinkState::Dropped) => {
                    let known = self.urls.get_mut(link.to);
                    self.progress.refused += u64::from(!known.was_dropped);
                    known.was_dropped = true;
                }
                (Verdict::Follow(place), LinkState::Dropped) => {
                    let priority = self.strategy.appraise(link.to).unwrap_or(place.priority);
                    let place = Place { priority, ..place };
                    let known = self.urls.get_mut(link.to);
                    self.progress.refused -= u64::from(known.was_dropped);
                    known.was_dropped = false;
                    known.set_place(place);
                    pushes.push((known.host(), link.to, place));
                    self.set_state(link.to, LinkState::Queued);
                }
                // What is in flight goes on from the better place when it settles, or waits there if it fails.
                (Verdict::Follow(place), LinkState::Queued | LinkState::InFlight) => {
                    let old = self.urls.get(link.to).place();
                    let mut merged = self.strategy.merge(old, place);
                    if let Some(priority) = self.strategy.appraise(link.to) {
                        merged.priority = priority.max(old.priority);
                    }
                    let known = self.urls.get_mut(link.to);
                    known.set_place(merged);
                    if state == LinkState::Queued && (merged.lane, merged.priority) != (old.lane, old.priority) {
                        pushes.push((known.host(), link.to, merged));
                    }
                }
                _ => {}
            }
        }
        self.frontier.push_all(pushes);
    }

    /// A ticket of a page is settled: the URL's state, and the host's rest.
    fn leave(&mut self, id: UrlId, state: LinkState, failure: Option<&Failure>, at: Millis) {
        self.set_state(id, state);
        self.attempts += 1;
        let host = self.urls.get(id).host();
        let record = self.hosts.get_mut(host);
        let politeness = &self.conditions.politeness;
        let wait = match failure {
            Some(failure) if is_hosts(failure) => {
                record.failures += 1;
                record.failing = true;
                record.backoff(politeness, failure)
            }
            _ => {
                record.failures = 0;
                record.failing = false;
                record.delay(politeness)
            }
        };
        self.rest(host, at.after(wait), at);
    }

    fn rest(&mut self, host: HostId, until: Millis, at: Millis) {
        self.frontier.rest(host);
        if let Some(refreshing) = &mut self.refreshing {
            refreshing.rest(host);
        }
        if until <= at {
            self.hosts.get_mut(host).ready_at = until;
            self.make_ready(host);
        } else {
            self.hosts.wait_until(host, until);
        }
    }

    pub(super) fn set_state(&mut self, id: UrlId, state: LinkState) {
        let known = self.urls.get_mut(id);
        let old = std::mem::replace(&mut known.state, state);
        let host = self.hosts.get_mut(known.host());
        if old == LinkState::Queued {
            host.queued -= 1;
            self.progress.queued -= 1;
        }
        if state == LinkState::Queued {
            host.queued += 1;
            self.progress.queued += 1;
        }
    }
}

/// Whether a worth is so far from the rank that a URL waits at that its entry is written anew.
pub(super) fn differs(worth: Priority, rank: Priority) -> bool {
    (worth.get() - rank.get()).abs() > 0.01
}

fn is_tunnel_end(link: &Link) -> bool {
    link.verdict == Verdict::Drop(Refusal::TunnelEnd)
}
