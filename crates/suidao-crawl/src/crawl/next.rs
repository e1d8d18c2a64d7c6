//! Chooses the next fetch.

use super::fold::differs;
use super::frontier::QueueHead;
use super::groups::GroupId;
use super::hosts::{DeferredHost, HostState};
use super::machine::{Crawl, FetchKind, Next, Ticket};
use super::politeness::millis;
use super::robots::{OriginRobots, Permission};
use suidao_page::model::{Event, HostId, LinkState, Millis, Stop};

/// The wait for a host that never answered is `politeness.patience` divided by this.
const STRANGERS: u64 = 20;

impl Crawl {
    pub fn next(&mut self, now: Millis) -> Next {
        let ends = [self.round_ends(), self.nearness.ends(&self.conditions.goals)];
        match (self.hand_out(now), ends.into_iter().flatten().filter(|end| *end > now).min()) {
            // A wait must not outlast the end of a round or run.
            (Next::Wait(until), Some(end)) => Next::Wait(Some(until.map_or(end, |until| until.min(end)))),
            (next, _) => next,
        }
    }

    fn hand_out(&mut self, now: Millis) -> Next {
        if std::mem::take(&mut self.restored) {
            for host in self.hosts.rest_all(&self.conditions.politeness, now) {
                self.rest_queues(host);
            }
        }
        while let Some(host) = self.hosts.due(now) {
            self.make_ready(host);
        }
        while let Some(group) = self.hosts.groups.due(now) {
            self.resume_group(group, now);
        }
        match self.refresh_rests(now) {
            Some(Ok(until)) => return Next::Wait(Some(until)),
            Some(Err(_)) if self.in_flight() > 0 => return Next::Wait(None),
            Some(Err(stop)) => {
                self.end_round(stop, now);
                return Next::Done(stop);
            }
            None => {}
        }
        // A refresh has a budget of its own.
        let limit = self.conditions.most_pages().filter(|_| self.refreshing.is_none()).unwrap_or(u64::MAX);
        if self.progress.pages >= limit {
            return if self.in_flight() == 0 { Next::Done(Stop::PageLimit) } else { Next::Wait(None) };
        }
        if self.progress.pages + self.pages_in_flight >= limit {
            return Next::Wait(None);
        }
        if self.are_requests_used_up() {
            return if self.in_flight() == 0 { Next::Done(Stop::RequestLimit) } else { Next::Wait(None) };
        }
        if self.refreshing.is_none()
            && let Some(stop) = self.nearness.reached(&self.conditions.goals, &self.progress, now)
        {
            return if self.in_flight() == 0 { Next::Done(stop) } else { Next::Wait(None) };
        }
        self.visit_due(now);
        let turn = self.attempts + self.pages_in_flight;
        loop {
            let Some((head, again)) = self.take(turn, now) else {
                if self.let_more_go(now) {
                    continue;
                }
                match self.idle(now) {
                    Next::Done(Stop::OnlyUnreachable) if self.retry_unknown(now) => continue,
                    // Once until the next settling: what cannot be fetched now cannot be given up now.
                    Next::Done(Stop::OnlyUnreachable) if !self.closing && self.abandon_unreachable() => continue,
                    Next::Done(Stop::FrontierEmpty) if self.step_forum(now) => continue,
                    Next::Done(_) if self.open_shares() || self.call_those_who_stood_back(now) => continue,
                    Next::Done(stop) => match self.rest_until_visit(now).or_else(|| self.watches_until(now)) {
                        // A board that was due is already queued.
                        _ if stop == Stop::FrontierEmpty && self.progress.queued > 0 && !self.is_round_done() => {
                            continue;
                        }
                        Some(at) => return Next::Wait(Some(at)),
                        None => {
                            self.end_round(stop, now);
                            return Next::Done(stop);
                        }
                    },
                    idle => return idle,
                }
            };
            let groups = self.hosts.get(head.host).groups();
            if let Some(by) = self.hosts.groups.busy(groups, now) {
                self.defer(head, again, by, now);
                continue;
            }
            if !again && self.has_fallen(head, now) {
                continue;
            }
            let url = self.urls.url(head.id);
            // A revisit uses the spelling of the first fetch.
            let spelt = || self.in_preferred_scheme(&url).or_else(|| self.plain(&url));
            if let Some(home) = if again { None } else { spelt() } {
                self.rewrite_scheme(head.id, &home, now);
                self.release_pending(now);
                self.make_ready(head.host);
                self.let_others_go(groups, now);
                continue;
            }
            let trap = if again { None } else { self.refuses_now(head.id, &url) };
            let permission = trap.map_or_else(|| self.permission(head.host, &url, again, now), Permission::Refused);
            match permission {
                Permission::Granted => {
                    if let Some(probe) = self.probe(head.host, &url)
                        && matches!(self.permission(head.host, &probe, again, now), Permission::Granted)
                    {
                        self.requeue(head, again);
                        self.count_request(false, true, now);
                        self.hosts.get_mut(head.host).in_flight = true;
                        self.hosts.groups.start(groups, now);
                        self.robots_in_flight += 1;
                        let wanted = FetchKind::Absent(head.host);
                        let origin = String::new();
                        return Next::Fetch(Ticket {
                            url: probe,
                            wanted,
                            validators: None,
                            host: head.host,
                            groups,
                            origin,
                            again: false,
                        });
                    }
                    self.set_state(head.id, LinkState::InFlight);
                    self.hosts.get_mut(head.host).in_flight = true;
                    self.hosts.groups.start(groups, now);
                    self.pages_in_flight += 1;
                    self.count_request(again, true, now);
                    let wanted = if self.is_hints(head.id, again) {
                        FetchKind::Hints(head.id)
                    } else {
                        self.as_wanted(head.id, &url, now)
                    };
                    let validators = if again { self.validators(head.id) } else { None };
                    let origin = String::new();
                    return Next::Fetch(Ticket { url, wanted, validators, host: head.host, groups, origin, again });
                }
                Permission::AskRobots => {
                    self.requeue(head, again);
                    self.count_request(false, true, now);
                    self.hosts.get_mut(head.host).in_flight = true;
                    self.hosts.groups.start(groups, now);
                    self.robots_in_flight += 1;
                    let https = url.is_https();
                    let redirected = self.hosts.get(head.host).robots(https).and_then(OriginRobots::redirected_to);
                    let (wanted, origin) = (FetchKind::Robots { host: head.host, https }, url.origin());
                    let url = redirected.cloned().unwrap_or_else(|| url.robots());
                    let host = head.host;
                    return Next::Fetch(Ticket { url, wanted, validators: None, host, groups, origin, again: false });
                }
                Permission::Refused(reason) => {
                    let event = Event::UrlExcluded { id: head.id, reason };
                    self.apply(&event, now);
                    self.pending.push(event);
                    self.release_pending(now);
                    self.make_ready(head.host);
                    self.let_others_go(groups, now);
                }
            }
        }
    }

    /// Whether the request limit is reached. A refresh has a budget of its own, and board visits over days have only
    /// the configured limit.
    fn are_requests_used_up(&self) -> bool {
        let limits = &self.conditions.limits;
        let most = match (&self.refreshing, self.conditions.watch) {
            (Some(_), _) => None,
            (None, Some(_)) => self.allowed.or(limits.requests),
            (None, None) => self.allowed.or_else(|| limits.most_requests(self.conditions.most_pages())),
        };
        let counted = if limits.requests.is_some() { self.progress.requests } else { self.progress.answered() };
        most.is_some_and(|most| counted + self.in_flight() >= most)
    }

    /// The group of the host is busy: requeues the URL and defers the host.
    fn defer(&mut self, head: QueueHead, again: bool, by: GroupId, now: Millis) {
        let priority = self.worth(head.id, again);
        self.requeue(head, again);
        self.rest_queues(head.host);
        let groups = self.hosts.get(head.host).groups();
        self.hosts.defer(head.host, DeferredHost { by, priority, head: head.id }, now);
        // The other group may have resumed it in vain.
        self.let_others_go(groups.map(|group| group.filter(|group| *group != by)), now);
    }

    /// A group has room: its best deferred host competes with the others again.
    pub(super) fn resume_group(&mut self, group: GroupId, now: Millis) -> bool {
        let host = self.hosts.resume(group, now);
        if let Some(host) = host {
            self.make_ready(host);
        }
        host.is_some()
    }

    /// A resumed host was not asked: resumes the next one.
    fn let_others_go(&mut self, groups: [Option<GroupId>; 2], now: Millis) {
        for group in groups.into_iter().flatten() {
            self.resume_group(group, now);
        }
    }

    /// Nothing can be fetched from the resumed hosts. Returns whether other hosts were resumed.
    fn let_more_go(&mut self, now: Millis) -> bool {
        let mut others = false;
        for group in self.hosts.groups.take_loose() {
            others |= self.resume_group(group, now);
        }
        others
    }

    /// Only failing hosts are left: gives up those that may not exist, so that a dead link does not delay the end.
    /// Returns whether there were any.
    fn abandon_unreachable(&mut self) -> bool {
        if self.goes_on_for_days() {
            return false;
        }
        let limits = &self.conditions.limits;
        let nowhere = |host: &HostState| host.queued > 0 && host.health.is_unreachable(limits);
        let hosts: Vec<HostId> = self.hosts.all().filter(|(_, host)| nowhere(host)).map(|(id, _)| id).collect();
        self.closing = !hosts.is_empty();
        for host in &hosts {
            self.make_ready(*host);
        }
        self.closing
    }

    /// How long to wait for a failing host when nothing else is left, in milliseconds.
    fn patience_with(&self, host: &HostState) -> u64 {
        let patience = millis(self.conditions.politeness.patience);
        let is_stranger = host.health.is_unknown() && !self.goes_on_for_days();
        if is_stranger { patience / STRANGERS } else { patience }
    }

    /// Only failing hosts are left, and their waits exceed the patience: retries those that never answered a few times
    /// in quick succession, so that the crawl ends seconds after its last page. Returns whether a retry comes sooner by
    /// that.
    fn retry_unknown(&mut self, now: Millis) -> bool {
        let limits = &self.conditions.limits;
        let politeness = &self.conditions.politeness;
        if self.goes_on_for_days() {
            return false;
        }
        let sooner = |(id, host): (HostId, &HostState)| {
            let at = host.health.last_call(politeness);
            let waits = host.queued > 0 && host.failing && host.health.is_unknown() && host.ready_at > now;
            (waits && at < host.ready_at && !host.health.is_unreachable(limits)).then_some((id, at))
        };
        let calls: Vec<(HostId, Millis)> = self.hosts.all().filter_map(sooner).collect();
        for (host, at) in &calls {
            self.rest(*host, *at, now);
        }
        !calls.is_empty()
    }

    /// A crawl that runs for days has idle times that are not its end.
    fn goes_on_for_days(&self) -> bool {
        self.conditions.watch.is_some() || self.conditions.refresh.is_some()
    }

    /// Whether the current score of a URL is lower than its queued rank; it is then queued again with the lower one.
    fn has_fallen(&mut self, head: QueueHead, now: Millis) -> bool {
        let queued = self.urls.get(head.id).place().priority;
        let worth = self.strategy.current_score(head.id).filter(|worth| *worth < queued && differs(*worth, queued));
        let Some(priority) = worth else { return false };
        let event = Event::Reprioritized { id: head.id, priority };
        self.apply(&event, now);
        self.pending.push(event);
        self.make_ready(head.host);
        true
    }

    fn idle(&self, now: Millis) -> Next {
        if self.in_flight() > 0 {
            return Next::Wait(self.hosts.next_due());
        }
        if self.progress.queued == 0 || self.is_round_done() {
            return Next::Done(Stop::FrontierEmpty);
        }
        let worth_waiting = self.hosts.waiting().filter(|&(at, host)| {
            let host = self.hosts.get(host);
            host.queued > 0 && (!host.failing || at.since(now) <= self.patience_with(host))
        });
        match worth_waiting.map(|(at, _)| at).chain(self.hosts.groups.next_due()).min() {
            Some(at) => Next::Wait(Some(at)),
            None => Next::Done(Stop::OnlyUnreachable),
        }
    }
}
