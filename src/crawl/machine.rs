//! The machine's doors. Each turns facts into events and applies them at once; the [`super::fold`] of the same events
//! restores it. A ticket is the only way to fetch, and settles once.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::forum::sight::Look;
use crate::model::{
    Batch, CrawlUrl, Discovered, Event, Failure, FailureKind, HostId, Link, LinkState, Millis, Origin, Place, Refusal,
    Relevance, RobotsRules, Stop, UrlId, Validators, Verdict,
};
use crate::strategy::Strategy;
use crate::strategy::scope::Scope;

use super::Outcome;
use super::fold::differs;
use super::forums::{ForumMode, Forums};
use super::frontier::{Frontier, Head};
use super::hosts::{Hosts, Politeness, Rules, millis};
use super::refresh::{Refresh, Refreshing};
use super::settle::Arrived;
use super::urls::Urls;
use super::watch::Watch;

/// RFC 9309, 2.3.1.2: at least five redirects of a robots.txt should be followed.
const ROBOTS_REDIRECTS: u8 = 5;

/// `[limits]` of the configuration. A limit that is not set does not bind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Pages to fetch, relevant or not: the crawl ends with exactly so many.
    pub pages: Option<u64>,
    /// Pages to fetch from one host.
    pub pages_per_host: Option<u32>,
    /// Most links between a seed and a page.
    pub depth: Option<u16>,
    /// Most off-topic pages in a row, promising links or not: four times the paper's kdepth.
    pub hops: u16,
    /// Most redirects in a row, at most 15.
    pub redirects: u8,
    /// How often a failed fetch is tried again, at most 15.
    pub retries: u8,
    /// A host that failed so often in a row is left alone.
    pub host_failures: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pages: None, pages_per_host: None, depth: None, hops: 48, redirects: 5, retries: 2, host_failures: 10 }
    }
}

/// What a machine is made of, beside its strategy.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Budgets and caps.
    pub limits: Limits,
    /// When a host may be asked.
    pub politeness: Politeness,
    /// Which URLs may be touched.
    pub scope: Scope,
    /// The product token that robots.txt files know us by.
    pub agent: String,
    /// Drives what a discipline does at random.
    pub seed: u64,
    /// τ_page: a page at or above it is relevant.
    pub page_threshold: Relevance,
    /// τ_link.
    pub link_threshold: Relevance,
    /// What is done about forums.
    pub forums: ForumMode,
    /// Visits of a forum's boards, when the crawl does not end with the first.
    pub watch: Option<Watch>,
    /// Pages fetched before are come back to.
    pub refresh: Option<Refresh>,
}

/// What a ticket is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// A page.
    Page(UrlId),
    /// A page of a forum, to be looked at as one.
    Forum(UrlId, Look),
    /// A sitemap or a feed, to be asked which pages have changed.
    Hints(UrlId),
    /// The robots.txt of the host, for http or https.
    Robots {
        /// The host.
        host: HostId,
        /// Whether the rules are for https.
        https: bool,
    },
}

/// Permission for one fetch. Must be settled, once; a crash instead of that leaves the URL queued.
#[derive(Debug)]
pub struct Ticket {
    /// The URL to fetch.
    pub url: CrawlUrl,
    /// What for.
    pub wanted: Wanted,
    /// What marks the version that is known: the fetch is to be conditional on it.
    pub validators: Option<Box<Validators>>,
    /// The host that is kept waiting by it.
    pub(super) host: HostId,
    /// For a robots.txt: scheme and authority it speaks for.
    pub(super) origin: String,
    /// It is asked for because a page that was fetched before is due.
    pub(super) again: bool,
}

/// What the machine says when asked for work.
#[derive(Debug)]
pub enum Next {
    /// Fetch this.
    Fetch(Ticket),
    /// Nothing before this time, or before a ticket settles; without a time only the latter helps.
    Wait(Option<Millis>),
    /// Nothing any more.
    Done(Stop),
}

/// Where the crawl stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Pages fetched.
    pub pages: u64,
    /// Relevant ones among them.
    pub relevant: u64,
    /// Visits of pages that had been fetched before, to see whether they have changed.
    pub visits: u64,
    /// URLs given up after failed fetches.
    pub failed: u64,
    /// URLs refused, at the door or when their turn came.
    pub refused: u64,
    /// URLs that wait.
    pub queued: u64,
    /// URLs known.
    pub known: u64,
    /// Hosts known.
    pub hosts: u64,
    /// Hosts with at least one page fetched.
    pub hosts_visited: u64,
    /// Hosts with at least one relevant page fetched.
    pub hosts_relevant: u64,
}

/// A page whose links were dropped because its tunnel had ended: kept in case a longer tunnel leads to it.
pub(super) struct Ended {
    pub relevance: Relevance,
    pub place: Place,
    pub links: Vec<Link>,
}

/// The crawl.
pub struct Crawl {
    pub(super) conditions: Conditions,
    pub(super) strategy: Box<dyn Strategy>,
    pub(super) urls: Urls,
    pub(super) hosts: Hosts,
    pub(super) frontier: Frontier,
    pub(super) ended: FxHashMap<UrlId, Ended>,
    pub(super) forums: Forums,
    pub(super) refreshing: Option<Refreshing>,
    pub(super) left_due: FxHashSet<UrlId>,
    /// Fingerprints of URLs refused at the door, so that each is told once.
    pub(super) skipped: FxHashSet<u64>,
    pub(super) progress: Progress,
    /// Page tickets settled so far.
    pub(super) attempts: u64,
    pages_in_flight: u64,
    robots_in_flight: u64,
    /// Refusals since the last batch.
    pub(super) pending: Vec<Event>,
}

impl Crawl {
    /// A crawl that knows nothing yet.
    #[must_use]
    pub fn new(conditions: Conditions, strategy: Box<dyn Strategy>) -> Self {
        let frontier = Frontier::new(strategy.discipline(), conditions.seed);
        let forums = Forums::new(&conditions.forums, conditions.watch);
        Self {
            forums,
            refreshing: conditions.refresh.clone().map(|wish| Refreshing::new(wish, conditions.seed)),
            conditions,
            strategy,
            urls: Urls::default(),
            hosts: Hosts::default(),
            frontier,
            ended: FxHashMap::default(),
            left_due: FxHashSet::default(),
            skipped: FxHashSet::default(),
            progress: Progress::default(),
            attempts: 0,
            pages_in_flight: 0,
            robots_in_flight: 0,
            pending: Vec::new(),
        }
    }

    /// Restores what happened before: call it with every batch ever handed out, in order, before any other door.
    pub fn restore(&mut self, batch: &Batch) {
        for event in &batch.events {
            self.apply(event, batch.at);
        }
    }

    /// Lets so many more pages be fetched than were by now.
    pub fn allow(&mut self, pages: u64) {
        self.conditions.limits.pages = Some(self.progress.pages + pages);
    }

    /// A URL by its number.
    #[must_use]
    pub fn url(&self, id: UrlId) -> CrawlUrl {
        self.urls.url(id)
    }

    /// The sitemaps that the robots.txt of this URL's host names, as far as that was asked for; of any host.
    #[must_use]
    pub fn sitemaps(&self, url: &CrawlUrl) -> Vec<CrawlUrl> {
        self.hosts.of(url).map(|host| host.sitemaps().collect()).unwrap_or_default()
    }

    /// Where the crawl stands.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Tickets handed out and not settled.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.pages_in_flight + self.robots_in_flight
    }

    /// What happened outside a settling: refusals since the last batch. For the end of a crawl.
    pub fn finish(&mut self, now: Millis) -> Option<Batch> {
        let events = std::mem::take(&mut self.pending);
        (!events.is_empty()).then_some(Batch { at: now, events })
    }

    /// Takes in seeds; those known already are left as they are.
    pub fn seed(&mut self, seeds: &[CrawlUrl], now: Millis) -> Batch {
        let mut events = std::mem::take(&mut self.pending);
        for url in seeds {
            if let Some(reason) = self.conditions.scope.refuses(url) {
                self.skip(&mut events, url, None, reason, now);
                continue;
            }
            let id = self.number(&mut events, url, Origin::Seed, "", now);
            if self.urls.get(id).state == LinkState::Dropped {
                let verdict = Verdict::Follow(self.strategy.seed(url));
                let link = Link::bare(id, Relevance::ONE, verdict);
                self.tell(&mut events, Event::Seeded(link), now);
            }
        }
        Batch { at: now, events }
    }

    /// Hands out the next fetch.
    pub fn next(&mut self, now: Millis) -> Next {
        match (self.hand_out(now), self.round_ends().filter(|end| *end > now)) {
            // Nobody sleeps over the end of a round.
            (Next::Wait(until), Some(end)) => Next::Wait(Some(until.map_or(end, |until| until.min(end)))),
            (next, _) => next,
        }
    }

    fn hand_out(&mut self, now: Millis) -> Next {
        while let Some(host) = self.hosts.due(now) {
            self.make_ready(host);
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
        let limit = self.conditions.limits.pages.filter(|_| self.refreshing.is_none()).unwrap_or(u64::MAX);
        if self.progress.pages >= limit {
            return if self.in_flight() == 0 { Next::Done(Stop::PageLimit) } else { Next::Wait(None) };
        }
        if self.progress.pages + self.pages_in_flight >= limit {
            return Next::Wait(None);
        }
        self.visit_due(now);
        let turn = self.attempts + self.pages_in_flight;
        loop {
            self.frontier.begin(self.progress.queued);
            let Some((head, again)) = self.take(turn, now) else {
                match self.idle(now) {
                    // The rest of the batch cannot be had: what waits for the next need not wait for it.
                    Next::Done(Stop::OnlyUnreachable) if self.frontier.release() => continue,
                    Next::Done(Stop::FrontierEmpty) if self.step_forum(now) => continue,
                    Next::Done(_) if self.open_shares() => continue,
                    Next::Done(stop) => match self.rest_until_visit(now).or_else(|| self.watches_until(now)) {
                        // A board that was due is queued already.
                        _ if stop == Stop::FrontierEmpty && self.progress.queued > 0 => continue,
                        Some(at) => return Next::Wait(Some(at)),
                        None => {
                            self.end_round(stop, now);
                            return Next::Done(stop);
                        }
                    },
                    idle => return idle,
                }
            };
            if !again && self.has_fallen(head, now) {
                continue;
            }
            let url = self.urls.url(head.id);
            // A page that was had is asked for as it was.
            if let Some(home) = self.at_home(&url).filter(|_| !again) {
                self.move_home(head.id, &home, now);
                self.make_ready(head.host);
                continue;
            }
            match self.permission(head.host, &url, again, now) {
                Permission::Granted => {
                    self.set_state(head.id, LinkState::InFlight);
                    self.hosts.get_mut(head.host).in_flight = true;
                    self.pages_in_flight += 1;
                    self.count_request(again, true, now);
                    let look = self.forums.look(&url, now);
                    let wanted = match look {
                        _ if again && self.is_source(head.id) => Wanted::Hints(head.id),
                        Some(look) => Wanted::Forum(head.id, look),
                        None => Wanted::Page(head.id),
                    };
                    let validators = if again { self.validators(head.id) } else { None };
                    let origin = String::new();
                    return Next::Fetch(Ticket { url, wanted, validators, host: head.host, origin, again });
                }
                Permission::AskRobots => {
                    self.put_back(head, again);
                    self.count_request(false, true, now);
                    let host = self.hosts.get_mut(head.host);
                    host.in_flight = true;
                    self.robots_in_flight += 1;
                    let redirected = host.robots_redirect.as_ref().map(|(to, _)| to.clone());
                    let wanted = Wanted::Robots { host: head.host, https: url.scheme() == "https" };
                    let origin = url.origin();
                    let url = redirected.unwrap_or_else(|| url.robots());
                    let host = head.host;
                    return Next::Fetch(Ticket { url, wanted, validators: None, host, origin, again: false });
                }
                Permission::Refused(reason) => {
                    let event = Event::Refused { id: head.id, reason };
                    self.apply(&event, now);
                    self.pending.push(event);
                    self.make_ready(head.host);
                }
            }
        }
    }

    /// Whether the strategy has come to think less of a URL than when it was queued: then it waits on, further back.
    fn has_fallen(&mut self, head: Head, now: Millis) -> bool {
        let queued = self.urls.get(head.id).place().priority;
        let worth = self.strategy.appraise(head.id).filter(|worth| *worth < queued && differs(*worth, queued));
        let Some(priority) = worth else { return false };
        let event = Event::Lowered { id: head.id, priority };
        self.apply(&event, now);
        self.pending.push(event);
        self.make_ready(head.host);
        true
    }

    /// Takes back what became of a ticket; the batch tells what that changed.
    pub fn settle(&mut self, ticket: Ticket, outcome: Outcome, now: Millis) -> Batch {
        let mut events = std::mem::take(&mut self.pending);
        self.hosts.get_mut(ticket.host).in_flight = false;
        self.count_request(ticket.again, false, now);
        self.learn_scheme(&mut events, &ticket, &outcome, now);
        // No answer under https: the same will be asked under http before anything is held against the host.
        let asked_again = ticket.url.is_https()
            && matches!(outcome, Outcome::Failed(_))
            && matches!(events.last(), Some(Event::Scheme { https: false, .. }));
        let is_hints = matches!(ticket.wanted, Wanted::Hints(_));
        match ticket.wanted {
            Wanted::Page(id) | Wanted::Forum(id, _) | Wanted::Hints(id) => {
                self.pages_in_flight -= 1;
                if asked_again {
                    // No event: to the log it was never taken from the queue.
                    self.set_state(id, LinkState::Queued);
                    if ticket.again {
                        self.queue_due(id);
                    } else {
                        self.frontier.give_back(ticket.host, id, self.urls.get(id).place());
                    }
                    return Batch { at: now, events };
                }
                match outcome {
                    Outcome::Page { status, page, sight, validators } => {
                        let arrived = Arrived { status, page: *page, sight, validators };
                        self.settle_page(&mut events, id, &ticket.url, arrived, now);
                    }
                    Outcome::Hints(hints, validators) => self.settle_hints(&mut events, id, *hints, validators, now),
                    Outcome::Unchanged if is_hints => self.settle_same_hints(&mut events, id, now),
                    Outcome::Unchanged => self.settle_unchanged(&mut events, id, now),
                    Outcome::Redirect { to, .. } if is_hints => {
                        self.settle_moved_source(&mut events, id, &to, now);
                    }
                    Outcome::Redirect { to, permanent } => self.settle_redirect(&mut events, id, &to, permanent, now),
                    Outcome::Failed(failure) => self.settle_failure(&mut events, id, failure, now),
                    Outcome::Robots(_) => {
                        let failure = Failure { kind: FailureKind::Broken, retry_after: None };
                        self.settle_failure(&mut events, id, failure, now);
                    }
                }
            }
            Wanted::Robots { host, .. } => {
                self.robots_in_flight -= 1;
                let origin = ticket.origin;
                if asked_again {
                    return Batch { at: now, events };
                }
                let followed = self.hosts.get(host).robots_redirect.as_ref().map_or(0, |(_, followed)| *followed);
                let event = match outcome {
                    Outcome::Redirect { to, .. } if followed < ROBOTS_REDIRECTS => {
                        Event::RobotsRedirected { host, origin, to }
                    }
                    // RFC 9309, 2.3.1.2: too many redirects count as "unavailable", which allows all.
                    Outcome::Redirect { .. } => Event::Robots { host, origin, rules: RobotsRules::AllowAll },
                    Outcome::Robots(rules) => Event::Robots { host, origin, rules },
                    // The guard's word, not the host's: each page is refused the same way, and told why.
                    Outcome::Failed(Failure { kind: FailureKind::PrivateAddress, .. }) => {
                        Event::Robots { host, origin, rules: RobotsRules::AllowAll }
                    }
                    Outcome::Page { .. } | Outcome::Unchanged | Outcome::Hints(..) | Outcome::Failed(_) => {
                        Event::Robots { host, origin, rules: RobotsRules::Unreachable }
                    }
                };
                self.tell(&mut events, event, now);
            }
        }
        Batch { at: now, events }
    }

    /// Nothing is ready: wait, or end.
    fn idle(&self, now: Millis) -> Next {
        if self.in_flight() > 0 {
            return Next::Wait(self.hosts.next_due());
        }
        if self.progress.queued == 0 {
            return Next::Done(Stop::FrontierEmpty);
        }
        let patience = millis(self.conditions.politeness.patience);
        let worth_waiting = self.hosts.waiting().filter(|&(at, host)| {
            let host = self.hosts.get(host);
            host.queued > 0 && (!host.failing || at.since(now) <= patience)
        });
        match worth_waiting.map(|(at, _)| at).min() {
            Some(at) => Next::Wait(Some(at)),
            None => Next::Done(Stop::OnlyUnreachable),
        }
    }

    fn permission(&self, id: HostId, url: &CrawlUrl, again: bool, now: Millis) -> Permission {
        let limits = &self.conditions.limits;
        let politeness = &self.conditions.politeness;
        let host = self.hosts.get(id);
        if !again && limits.pages_per_host.is_some_and(|most| host.pages >= most) {
            return Permission::Refused(Refusal::HostBudget);
        }
        if host.failures >= limits.host_failures {
            return Permission::Refused(Refusal::HostFailing);
        }
        if !politeness.robots {
            return Permission::Granted;
        }
        let Some(robots) = host.robots(url.scheme()) else { return Permission::AskRobots };
        // The host rests after its robots.txt was fetched: the rules are to outlast that.
        let fresh = now.since(robots.at) <= millis(politeness.robots_max_age).max(2 * host.delay(politeness));
        match &robots.rules {
            Rules::Unreachable(failed) if *failed > u32::from(limits.retries) => {
                Permission::Refused(Refusal::RobotsUnreachable)
            }
            Rules::Unreachable(_) => Permission::AskRobots,
            Rules::All | Rules::Parsed(_) if !fresh => Permission::AskRobots,
            Rules::Parsed(robot) if !robot.allowed(url.as_str()) => Permission::Refused(Refusal::Robots),
            Rules::All | Rules::Parsed(_) => Permission::Granted,
        }
    }

    pub(super) fn number(
        &mut self,
        events: &mut Vec<Event>,
        url: &CrawlUrl,
        origin: Origin,
        anchor: &str,
        now: Millis,
    ) -> UrlId {
        if let Some(id) = self.urls.find(url) {
            return id;
        }
        let id = UrlId(u32::try_from(self.urls.len()).expect("fewer than 2^32 URLs: memory ends long before"));
        let discovered = Discovered { id, url: url.clone(), origin, anchor: anchor.to_owned() };
        self.tell(events, Event::Discovered(discovered), now);
        id
    }

    pub(super) fn skip(
        &mut self,
        events: &mut Vec<Event>,
        url: &CrawlUrl,
        from: Option<UrlId>,
        reason: Refusal,
        now: Millis,
    ) {
        if !self.skipped.contains(&url.fingerprint()) {
            self.tell(events, Event::Skipped { url: url.clone(), from, reason }, now);
        }
    }

    pub(super) fn tell(&mut self, events: &mut Vec<Event>, event: Event, now: Millis) {
        self.apply(&event, now);
        events.push(event);
    }
}

enum Permission {
    Granted,
    AskRobots,
    Refused(Refusal),
}
