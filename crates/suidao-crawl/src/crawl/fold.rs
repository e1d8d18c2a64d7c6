//! The machine's state as a fold of its events.

use rustc_hash::FxHashSet;

use suidao_page::model::{
    Event, Failure, FailureKind, HostId, Link, LinkDecision, LinkState, Millis, PageProcessed, Priority, QueueEntry,
    SkipReason, TrapStep, UrlId,
};

use super::machine::{Crawl, EndedTunnel};

impl Crawl {
    /// Applies an event that happened at `at`.
    pub(super) fn apply(&mut self, event: &Event, at: Millis) {
        // Before the links are queued, so that each is queued with its current score.
        let mut risen = Vec::new();
        self.strategy.observe(event, &mut risen);
        self.apply_to_state(event, at);
        self.nearness.observe(&self.conditions.goals, event);
        self.observe_canonical(event);
        self.observe_sources(event);
        self.forums.watch(event);
        self.observe_refresh(event, at);
        let mut seen = FxHashSet::default();
        for id in risen.into_iter().filter(|&id| seen.insert(id)) {
            self.raise(id);
        }
    }

    /// The strategy's score of a URL has risen. An in-flight URL that fails waits with the new rank, as after a
    /// restart.
    fn raise(&mut self, id: UrlId) {
        let known = self.urls.get(id);
        let (state, host, place) = (known.state, known.host(), known.place());
        if let Some(priority) = self.strategy.current_score(id).filter(|worth| differs(*worth, place.priority))
            && priority > place.priority
            && matches!(state, LinkState::Queued | LinkState::InFlight)
        {
            let place = QueueEntry { priority, ..place };
            self.urls.get_mut(id).set_place(place);
            if state == LinkState::Queued {
                self.frontier.push(host, id, place);
            }
        }
    }

    fn apply_to_state(&mut self, event: &Event, at: Millis) {
        if let Some(failure) = self.request_of(event) {
            self.progress.requests += 1;
            self.progress.requests_held += u64::from(failure.is_some_and(Failure::is_hosts));
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
            Event::LinkRejected { url, reason, .. } => {
                self.skipped.insert(url.fingerprint());
                self.count_refusal(*reason);
            }
            Event::SeedJudged(link) => {
                let known = self.urls.get_mut(link.to);
                let is_out = matches!(known.state, LinkState::Failed | LinkState::Refused);
                if std::mem::take(&mut known.in_another_run) && is_out {
                    let (host, failed) = (known.host(), known.state == LinkState::Failed);
                    known.forget_tries();
                    self.progress.failed -= u64::from(failed);
                    self.set_state(link.to, LinkState::Dropped);
                    self.give_another_chance(host, at);
                }
                self.admit(&[*link]);
            }
            Event::PageFetched(settled) => self.apply_settled(settled, at),
            Event::Forum(step) => self.observe_step(step, at),
            Event::Rejudged { id, place, links } => {
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
            Event::Reprioritized { id, priority } => {
                let known = self.urls.get_mut(*id);
                let place = QueueEntry { priority: *priority, ..known.place() };
                known.set_place(place);
                self.frontier.push(known.host(), *id, place);
            }
            Event::SchemeRewritten { id, link } => {
                // Not final: a redirect may lead back to this spelling.
                self.set_state(*id, LinkState::Dropped);
                if let Some(link) = link {
                    self.forum_moved(*id, link.to);
                }
                self.admit(link.as_slice());
                self.bring_back_the_last(*id);
            }
            Event::Scheme { host, https } => {
                let record = self.hosts.get_mut(*host);
                record.https = Some(*https);
                // A failed connection under https causes no other event. An answer has an event of its own, and the
                // host of a seed was not asked yet.
                if !https {
                    let wait = record.delay(&self.conditions.politeness);
                    self.rest(*host, at.after(wait), at);
                }
            }
            Event::Unchanged { id, .. } => {
                self.progress.visits += 1;
                self.leave(*id, LinkState::Fetched, None, at);
                self.urls.get_mut(*id).forget_tries();
                self.hosts.get_mut(self.urls.get(*id).host()).missing = 0;
            }
            Event::SitemapRead { id, links, .. } => {
                self.leave(*id, LinkState::Fetched, None, at);
                self.urls.get_mut(*id).forget_tries();
                self.admit(links);
            }
            Event::SitemapsQueued { links, .. } => self.admit(links),
            Event::PageGone { id, .. } => {
                // A later link may restore it.
                self.set_state(*id, LinkState::Dropped);
                self.urls.get_mut(*id).was_page = true;
            }
            // `observe_refresh` handles it.
            Event::Refresh(_) => {}
            Event::Trap(step) => self.observe_trap(step, at),
            Event::FetchRetried { id, failure } if self.is_due(*id) => {
                self.urls.get_mut(*id).count_try();
                self.leave(*id, LinkState::Queued, Some(failure), at);
            }
            Event::FetchRetried { id, failure } => {
                self.urls.get_mut(*id).count_try();
                self.leave(*id, LinkState::Queued, Some(failure), at);
                self.wait_for_next_try(*id);
            }
            Event::FetchFailed { id, failure } => {
                self.leave(*id, LinkState::Failed, Some(failure), at);
                // A URL that was never requested may be allowed in a later run.
                let unasked =
                    matches!(failure.kind, FailureKind::PrivateAddress | FailureKind::Port | FailureKind::NoSuchHost);
                self.urls.get_mut(*id).in_another_run = unasked || failure.is_transient();
                if failure.kind == FailureKind::NoSuchPage {
                    self.count_no_page();
                    let host = self.hosts.get_mut(self.urls.get(*id).host());
                    host.missing = host.missing.saturating_add(1);
                }
                self.progress.failed += u64::from(!self.is_due(*id));
                self.bring_back_the_last(*id);
            }
            Event::UrlExcluded { id, reason } => {
                self.set_state(*id, LinkState::Refused);
                if !self.is_due(*id) {
                    self.count_refusal(*reason);
                    if reason.is_hosts() {
                        let known = self.urls.get_mut(*id);
                        (known.in_another_run, known.dropped) = (true, Some(*reason));
                    }
                }
                self.bring_back(self.urls.get(*id).host());
            }
            Event::Robots { host, origin, rules, failure } => {
                self.observe_robots((*host, origin), rules, failure.as_ref(), at);
            }
            Event::RobotsRedirected { host, origin, to } => {
                let took = self.latency.take();
                let record = self.hosts.get_mut(*host);
                record.robots_mut(origin.starts_with("https:")).redirected(to);
                record.failing = false;
                if let Some(took) = took {
                    record.health.record_latency(took, false);
                }
                let wait = record.delay(&self.conditions.politeness);
                self.rest(*host, at.after(wait), at);
            }
            Event::HostResolved { host, address } => self.hosts.answers_from(*host, *address),
        }
    }

    fn apply_settled(&mut self, settled: &PageProcessed, at: Millis) {
        self.leave(settled.id, LinkState::Fetched, None, at);
        self.urls.get_mut(settled.id).forget_tries();
        self.hosts.get_mut(self.urls.get(settled.id).host()).missing = 0;
        self.progress.bytes += u64::from(settled.bytes);
        if settled.again.is_some() || std::mem::take(&mut self.urls.get_mut(settled.id).was_page) {
            self.progress.visits += 1;
            self.admit(&settled.links);
            return;
        }
        let host = self.hosts.get_mut(self.urls.get(settled.id).host());
        host.pages += 1;
        self.progress.pages += 1;
        self.progress.hosts_visited += u64::from(host.pages == 1);
        if settled.is_relevant_document() {
            self.progress.relevant += 1;
            self.progress.hosts_relevant += u64::from(!host.relevant);
            host.relevant = true;
        }
        if settled.links.iter().any(is_tunnel_end) {
            let links = settled.links.clone();
            self.ended.insert(settled.id, EndedTunnel { relevance: settled.relevance, place: settled.place, links });
        }
        self.observe_page(settled);
        if let Some(page) = &settled.forum {
            self.observe_forum(settled.id, page, at);
        }
        self.admit(&settled.links);
    }

    /// Queues links, or improves the rank of queued ones.
    pub(super) fn admit(&mut self, links: &[Link]) {
        let mut pushes: Vec<(HostId, UrlId, QueueEntry)> = Vec::with_capacity(links.len());
        for link in links {
            let state = self.urls.get(link.to).state;
            match (link.verdict, state) {
                (LinkDecision::Drop(reason), LinkState::Dropped) => {
                    let known = self.urls.get_mut(link.to);
                    if known.dropped.is_none() {
                        known.dropped = Some(reason);
                        self.count_refusal(reason);
                    }
                }
                (LinkDecision::Follow(place), LinkState::Dropped) => {
                    let priority = self.strategy.current_score(link.to).unwrap_or(place.priority);
                    let place = QueueEntry { priority, ..place };
                    let known = self.urls.get_mut(link.to);
                    let dropped = known.dropped.take();
                    known.set_place(place);
                    pushes.push((known.host(), link.to, place));
                    if let Some(reason) = dropped {
                        self.progress.refused -= 1;
                        *self.refusals.entry(reason).or_default() -= 1;
                    }
                    self.set_state(link.to, LinkState::Queued);
                }
                // An in-flight URL takes the better rank when it settles, or waits with it if it fails.
                (LinkDecision::Follow(place), LinkState::Queued | LinkState::InFlight) => {
                    let old = self.urls.get(link.to).place();
                    let mut merged = self.strategy.merge(old, place);
                    if let Some(priority) = self.strategy.current_score(link.to) {
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
        for (host, id, place) in &pushes {
            self.hosts.offer(*host, place.priority, *id);
        }
        self.frontier.push_all(pushes);
    }

    /// Settles the ticket of a page: the URL's state, and the host's wait.
    pub(super) fn leave(&mut self, id: UrlId, state: LinkState, failure: Option<&Failure>, at: Millis) {
        self.set_state(id, state);
        self.attempts += 1;
        self.hear(self.urls.get(id).host(), state == LinkState::Fetched, failure, at);
    }

    /// Records a host's answer or failure, and sets its wait.
    pub(super) fn hear(&mut self, host: HostId, page: bool, failure: Option<&Failure>, at: Millis) {
        let took = self.latency.take();
        let politeness = &self.conditions.politeness;
        let record = self.hosts.get_mut(host);
        if let Some(took) = took {
            record.health.record_latency(took, page);
        }
        let failed = failure.filter(|failure| failure.is_hosts());
        record.failing = failed.is_some();
        let wait = match failed {
            Some(failure) => {
                record.health.fails(failure, politeness, at);
                record.backoff(politeness, failure)
            }
            None => {
                record.health.answers();
                record.delay(politeness)
            }
        };
        self.rest(host, at.after(wait), at);
        if failed.is_none() {
            self.bring_back(host);
        }
    }

    /// The result of a request of the crawl that was answered or may have been: the failure, if it was one. Requests of
    /// a refresh count against its own budget.
    fn request_of<'a>(&self, event: &'a Event) -> Option<Option<&'a Failure>> {
        let is_round = || self.refreshing.is_some() || !self.left_due.is_empty();
        let (failure, of_refresh) = match event {
            Event::PageFetched(page) => (None, page.again.is_some() || self.is_due(page.id)),
            Event::Redirected { id, .. } | Event::Unchanged { id, .. } | Event::SitemapRead { id, .. } => {
                (None, self.is_due(*id))
            }
            Event::FetchRetried { id, failure } | Event::FetchFailed { id, failure } => {
                (Some(failure), self.is_due(*id))
            }
            Event::Robots { failure, .. } => (failure.as_ref(), is_round()),
            Event::RobotsRedirected { .. } => (None, is_round()),
            Event::Trap(step) => match &**step {
                TrapStep::Absent { .. } => (None, is_round()),
                TrapStep::Unanswered { failure, .. } => (Some(failure), is_round()),
                _ => return None,
            },
            _ => return None,
        };
        let unasked = |failure: &Failure| {
            failure.is_down() || matches!(failure.kind, FailureKind::PrivateAddress | FailureKind::Port)
        };
        (!of_refresh && !failure.is_some_and(unasked)).then_some(failure)
    }

    fn count_refusal(&mut self, reason: SkipReason) {
        self.progress.refused += 1;
        *self.refusals.entry(reason).or_default() += 1;
    }

    /// Retries a failed seed because the user asks for it. An unknown host is retried at once, others keep the wait
    /// they asked for.
    fn give_another_chance(&mut self, host: HostId, at: Millis) {
        let record = self.hosts.get_mut(host);
        record.failing = false;
        record.health.reset_failures();
        // The robots.txt may be recorded as unreachable.
        let is_known = record.health.has_answered();
        self.hosts.forget_robots(host);
        if !is_known {
            self.rest(host, at, at);
        }
    }

    /// A URL left the queue of its host: if only parked URLs remain, they are queued again.
    fn bring_back_the_last(&mut self, id: UrlId) {
        let host = self.urls.get(id).host();
        let record = self.hosts.get(host);
        if !record.parked.is_empty() && record.parked.len() >= record.queued as usize {
            self.bring_back(host);
        }
    }

    /// Queues a host's parked URLs again: it answers, only they remain, or it is given up.
    fn bring_back(&mut self, host: HostId) {
        for id in std::mem::take(&mut self.hosts.get_mut(host).parked) {
            if self.urls.get(id).state == LinkState::Queued {
                self.frontier.push(host, id, self.urls.get(id).place());
            }
        }
    }

    /// A failed page waits for its next try. It is parked if it has used up its tries and other URLs can show whether
    /// its host is down.
    fn wait_for_next_try(&mut self, id: UrlId) {
        let known = self.urls.get(id);
        let (host, place) = (known.host(), known.place());
        let used_up = known.tries() > self.conditions.limits.retries.min(15);
        let record = self.hosts.get_mut(host);
        if !used_up {
            return self.frontier.push(host, id, place);
        }
        record.parked.push(id);
        if record.parked.len() >= record.queued as usize {
            self.bring_back(host);
        }
    }

    pub(super) fn rest(&mut self, host: HostId, until: Millis, at: Millis) {
        self.rest_queues(host);
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

/// Whether a score differs so much from the queued rank that the URL must be queued again.
pub(super) fn differs(worth: Priority, rank: Priority) -> bool {
    (worth.get() - rank.get()).abs() > 0.01
}

fn is_tunnel_end(link: &Link) -> bool {
    link.verdict == LinkDecision::Drop(SkipReason::TunnelEnd)
}
