//! What answers and failures of hosts change in the state: how long a host waits, what its robots.txt permits, which
//! requests count.

use suidao_page::model::{
    CrawlUrl, Event, Failure, FailureKind, HostId, LinkState, Millis, RobotsRules, TrapStep, UrlId,
};

use super::{EventTime, State};

impl State {
    /// Settles the ticket of a page: the URL's state, and the host's wait.
    pub fn leave(&mut self, id: UrlId, state: LinkState, failure: Option<&Failure>, time: EventTime) {
        self.set_state(id, state);
        self.counts.attempts += 1;
        self.record_response((self.urls.get(id).host(), Some(id)), state == LinkState::Fetched, failure, time);
    }

    /// Records a host's answer or failure, and sets its wait. `id`: whose ticket it was; none of a probe. `page`: it
    /// answered with a page.
    pub(super) fn record_response(
        &mut self,
        (host, id): (HostId, Option<UrlId>),
        page: bool,
        failure: Option<&Failure>,
        EventTime { at, latency }: EventTime,
    ) {
        let politeness = &self.settings.politeness;
        let record = self.hosts.get_mut(host);
        record.without_page = if page { 0 } else { record.without_page.saturating_add(1) };
        if let Some(latency) = latency {
            record.health.record_latency(latency, page);
        }
        if failure.is_some_and(|failure| failure.kind == FailureKind::Broken) {
            record.health.record_broken(id);
            let own = u32::from(id.is_some_and(|id| self.urls.get(id).state == LinkState::Queued));
            let others = record.queued.saturating_sub(own) as usize > record.parked.len();
            // Other pages can show whether it is the host's fault.
            if others && record.health.is_pages_fault() {
                let wait = record.delay(politeness);
                return self.delay_until(host, at.after(wait), at);
            }
        }
        let failed = failure.filter(|failure| failure.is_host_failure());
        record.failing = failed.is_some();
        let wait = match failed {
            Some(failure) => {
                record.health.record_failure(failure, politeness, at);
                record.backoff(politeness, failure)
            }
            None => {
                record.health.record_success();
                record.delay(politeness)
            }
        };
        self.delay_until(host, at.after(wait), at);
        if failed.is_none() {
            self.requeue_parked(host);
        }
    }

    pub(super) fn apply_robots(
        &mut self,
        (host, origin): (HostId, &str),
        rules: &RobotsRules,
        failure: Option<&Failure>,
        EventTime { at, latency }: EventTime,
    ) {
        let politeness = &self.settings.politeness;
        let record = self.hosts.get_mut(host);
        if let Some(latency) = latency {
            record.health.record_latency(latency, false);
        }
        let robots = self.hosts.learn_robots(host, origin, &self.settings.agent, rules, at);
        let (is_known, retry_after) = (robots.has_rules(), failure.and_then(|failure| failure.retry_after));
        let disallowed_for = if is_known { 0 } else { robots.backoff(politeness, retry_after) };
        let failed = failure.filter(|failure| failure.is_host_failure());
        let record = self.hosts.get_mut(host);
        let wait = match failed {
            Some(failure) => {
                record.health.record_failure(failure, politeness, at);
                let own = is_known || record.health.is_unknown();
                if own { record.health.backoff(politeness, failure) } else { disallowed_for }
            }
            None => disallowed_for,
        };
        if *rules != RobotsRules::Unreachable {
            record.health.record_success();
        }
        record.failing = !is_known || failed.is_some();
        let wait = wait.max(record.delay(politeness));
        self.delay_until(host, at.after(wait), at);
    }

    pub(super) fn apply_robots_redirect(
        &mut self,
        (host, origin): (HostId, &str),
        to: &CrawlUrl,
        EventTime { at, latency }: EventTime,
    ) {
        let record = self.hosts.get_mut(host);
        record.robots_mut(origin.starts_with("https:")).redirected(to);
        record.failing = false;
        if let Some(latency) = latency {
            record.health.record_latency(latency, false);
        }
        let wait = record.delay(&self.settings.politeness);
        self.delay_until(host, at.after(wait), at);
    }

    /// Makes a failed or excluded seed fetchable again, because the user asks for it. An unknown host is retried at
    /// once, others keep their waits.
    pub(super) fn retry_seed(&mut self, id: UrlId, at: Millis) {
        let known = self.urls.get_mut(id);
        let is_out = matches!(known.state, LinkState::Failed | LinkState::Excluded);
        let may_be_requested = std::mem::take(&mut known.in_another_run);
        if !is_out || !may_be_requested {
            return;
        }
        let (host, failed) = (known.host(), known.state == LinkState::Failed);
        known.forget_tries();
        self.counts.progress.failed -= u64::from(failed);
        self.set_state(id, LinkState::Dropped);
        let record = self.hosts.get_mut(host);
        record.failing = false;
        record.health.reset_failures();
        // The robots.txt may be recorded as unreachable.
        let is_known = record.health.has_answered();
        self.hosts.forget_robots(host);
        if !is_known {
            self.delay_until(host, at, at);
        }
    }

    /// Counts a request of the crawl that was answered or may have been. Requests of a refresh count against its own
    /// budget.
    pub(super) fn count_request(&mut self, event: &Event) {
        let is_round = || self.refreshing.is_some() || !self.left_due.is_empty();
        let (failure, of_refresh) = match event {
            Event::PageFetched(page) => (None, page.changes.is_some() || self.is_due(page.id)),
            Event::Redirected { id, .. } | Event::Unchanged { id, .. } | Event::SitemapRead { id, .. } => {
                (None, self.is_due(*id))
            }
            Event::FetchRetried { id, failure } | Event::FetchFailed { id, failure } => {
                (Some(failure), self.is_due(*id))
            }
            Event::Robots { failure, .. } => (failure.as_ref(), is_round()),
            Event::RobotsRedirected { .. } => (None, is_round()),
            Event::Trap(step) => match &**step {
                TrapStep::Soft404Probe { .. } => (None, is_round()),
                TrapStep::Unanswered { failure, .. } => (Some(failure), is_round()),
                _ => return,
            },
            _ => return,
        };
        let never_sent = |failure: &Failure| {
            failure.is_down() || matches!(failure.kind, FailureKind::PrivateAddress | FailureKind::Port)
        };
        if !of_refresh && !failure.is_some_and(never_sent) {
            self.counts.progress.requests += 1;
            self.counts.progress.requests_failed += u64::from(failure.is_some_and(Failure::is_host_failure));
        }
    }
}
