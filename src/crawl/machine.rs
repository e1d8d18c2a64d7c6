//! The machine's doors. Each turns facts into events and applies them at once; the [`super::fold`] of the same events
//! restores it. A ticket is the only way to fetch, and settles once.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::model::{
    Batch, CrawlUrl, Discovered, Event, Evidence, Failure, FailureKind, HostId, Link, LinkState, Millis, Origin, Page,
    Place, Refusal, Relevance, RobotsRules, Settled, Stop, UrlId, Verdict,
};
use crate::strategy::scope::Scope;
use crate::strategy::{Candidate, Strategy, Visit};

use super::Outcome;
use super::frontier::Frontier;
use super::hosts::{Hosts, Politeness, Rules, millis};
use super::urls::Urls;

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
}

/// What a ticket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A page.
    Page(UrlId),
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
    /// The host that is kept waiting by it.
    host: HostId,
    /// For a robots.txt: scheme and authority it speaks for.
    origin: String,
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
    pub links: Vec<(UrlId, Evidence, Relevance)>,
}

/// The crawl.
pub struct Crawl {
    pub(super) conditions: Conditions,
    pub(super) strategy: Box<dyn Strategy>,
    pub(super) urls: Urls,
    pub(super) hosts: Hosts,
    pub(super) frontier: Frontier,
    pub(super) ended: FxHashMap<UrlId, Ended>,
    /// Fingerprints of URLs refused at the door, so that each is told once.
    pub(super) skipped: FxHashSet<u64>,
    pub(super) progress: Progress,
    /// Page tickets settled so far.
    pub(super) attempts: u64,
    pages_in_flight: u64,
    robots_in_flight: u64,
    /// Refusals since the last batch.
    pending: Vec<Event>,
}

impl Crawl {
    /// A crawl that knows nothing yet.
    #[must_use]
    pub fn new(conditions: Conditions, strategy: Box<dyn Strategy>) -> Self {
        let frontier = Frontier::new(strategy.discipline(), conditions.seed);
        Self {
            conditions,
            strategy,
            urls: Urls::default(),
            hosts: Hosts::default(),
            frontier,
            ended: FxHashMap::default(),
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
                let link = Link { to: id, evidence: Evidence::default(), relevance: Relevance::ONE, verdict };
                self.tell(&mut events, Event::Seeded(link), now);
            }
        }
        Batch { at: now, events }
    }

    /// Hands out the next fetch.
    pub fn next(&mut self, now: Millis) -> Next {
        while let Some(host) = self.hosts.due(now) {
            self.frontier.make_ready(host);
        }
        let limit = self.conditions.limits.pages.unwrap_or(u64::MAX);
        if self.progress.pages >= limit {
            return if self.in_flight() == 0 { Next::Done(Stop::PageLimit) } else { Next::Wait(None) };
        }
        if self.progress.pages + self.pages_in_flight >= limit {
            return Next::Wait(None);
        }
        let turn = self.attempts + self.pages_in_flight;
        loop {
            let urls = &self.urls;
            let waits = |id, lane| {
                let known = urls.get(id);
                known.state == LinkState::Queued && known.place().lane == lane
            };
            let Some(head) = self.frontier.pop(turn, waits) else { return self.idle(now) };
            let url = self.urls.url(head.id);
            if let Some(home) = self.at_home(&url) {
                self.move_home(head.id, &home, now);
                self.frontier.make_ready(head.host);
                continue;
            }
            match self.permission(head.host, &url, now) {
                Permission::Granted => {
                    self.set_state(head.id, LinkState::InFlight);
                    self.hosts.get_mut(head.host).in_flight = true;
                    self.pages_in_flight += 1;
                    let wanted = Wanted::Page(head.id);
                    return Next::Fetch(Ticket { url, wanted, host: head.host, origin: String::new() });
                }
                Permission::AskRobots => {
                    self.frontier.put_back(head);
                    let host = self.hosts.get_mut(head.host);
                    host.in_flight = true;
                    self.robots_in_flight += 1;
                    let redirected = host.robots_redirect.as_ref().map(|(to, _)| to.clone());
                    let wanted = Wanted::Robots { host: head.host, https: url.scheme() == "https" };
                    let origin = url.origin();
                    let url = redirected.unwrap_or_else(|| url.robots());
                    return Next::Fetch(Ticket { url, wanted, host: head.host, origin });
                }
                Permission::Refused(reason) => {
                    let event = Event::Refused { id: head.id, reason };
                    self.apply(&event, now);
                    self.pending.push(event);
                    self.frontier.make_ready(head.host);
                }
            }
        }
    }

    /// Takes back what became of a ticket; the batch tells what that changed.
    pub fn settle(&mut self, ticket: Ticket, outcome: Outcome, now: Millis) -> Batch {
        let mut events = std::mem::take(&mut self.pending);
        self.hosts.get_mut(ticket.host).in_flight = false;
        let https = self.hosts.get(ticket.host).https;
        self.learn_scheme(&mut events, &ticket, &outcome, now);
        // No answer under https: the same will be asked under http before anything is held against the host.
        let asked_again =
            https.is_none() && matches!(outcome, Outcome::Failed(_)) && self.at_home(&ticket.url).is_some();
        match ticket.wanted {
            Wanted::Page(id) => {
                self.pages_in_flight -= 1;
                match outcome {
                    Outcome::Page { status, page } => {
                        self.settle_page(&mut events, id, status, &ticket.url, *page, now)
                    }
                    Outcome::Redirect(to) => self.settle_redirect(&mut events, id, &to, now),
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
                    Outcome::Redirect(to) if followed < ROBOTS_REDIRECTS => {
                        Event::RobotsRedirected { host, origin, to }
                    }
                    // RFC 9309, 2.3.1.2: too many redirects count as "unavailable", which allows all.
                    Outcome::Redirect(_) => Event::Robots { host, origin, rules: RobotsRules::AllowAll },
                    Outcome::Robots(rules) => Event::Robots { host, origin, rules },
                    Outcome::Page { .. } | Outcome::Failed(_) => {
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

    /// `url` under the scheme that its host answers, if that is the other one.
    fn at_home(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        let https = self.conditions.scope.one_scheme.then(|| self.hosts.of(url)).flatten()?.https?;
        if url.is_https() == https { None } else { url.under(https) }
    }

    /// A place like this, before all its equals: what a URL gives on whose turn it was.
    fn ahead(place: Place) -> Place {
        Place { priority: crate::model::Priority::new(place.priority.get().next_up()), ..place }
    }

    /// A URL that was queued before its host's scheme was known gives its place to the same under that scheme.
    fn move_home(&mut self, id: UrlId, home: &CrawlUrl, now: Millis) {
        let place = Self::ahead(self.urls.get(id).place());
        let mut events = std::mem::take(&mut self.pending);
        let to = self.number(&mut events, home, Origin::Redirect(id), "", now);
        let waits = matches!(self.urls.get(to).state, LinkState::Dropped | LinkState::Queued);
        let link = waits.then_some(Link {
            to,
            evidence: Evidence::default(),
            relevance: Relevance::ZERO,
            verdict: Verdict::Follow(place),
        });
        self.tell(&mut events, Event::Moved { id, link }, now);
        self.pending = events;
    }

    /// What a settling says of the scheme that the host answers: the first that it answers, http if it cannot be
    /// connected under https, and whichever it redirects the same URL to.
    fn learn_scheme(&mut self, events: &mut Vec<Event>, ticket: &Ticket, outcome: &Outcome, now: Millis) {
        let host = ticket.host;
        let known = self.hosts.get(host).https;
        let asked = ticket.url.is_https();
        let https = match outcome {
            Outcome::Redirect(to) if ticket.url.under(!asked).is_some_and(|other| other == *to) => Some(!asked),
            Outcome::Failed(Failure { kind, .. })
                if !matches!(kind, FailureKind::Status(_) | FailureKind::MediaType(_)) =>
            {
                (asked && known.is_none() && matches!(kind, FailureKind::Connect | FailureKind::Tls)).then_some(false)
            }
            // A robots.txt may be redirected to another host: that says nothing of this one.
            _ if !ticket.origin.is_empty() && ticket.origin != ticket.url.origin() => None,
            _ => known.is_none().then_some(asked),
        };
        if let Some(https) = https.filter(|https| self.conditions.scope.one_scheme && known != Some(*https)) {
            self.tell(events, Event::Scheme { host, https }, now);
        }
    }

    fn permission(&self, id: HostId, url: &CrawlUrl, now: Millis) -> Permission {
        let limits = &self.conditions.limits;
        let politeness = &self.conditions.politeness;
        let host = self.hosts.get(id);
        if limits.pages_per_host.is_some_and(|most| host.pages >= most) {
            return Permission::Refused(Refusal::HostBudget);
        }
        if host.failures >= limits.host_failures {
            return Permission::Refused(Refusal::HostFailing);
        }
        if !politeness.robots {
            return Permission::Granted;
        }
        let Some(robots) = host.robots(url.scheme()) else { return Permission::AskRobots };
        let fresh = now.since(robots.at) <= millis(politeness.robots_max_age);
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

    fn settle_page(
        &mut self,
        events: &mut Vec<Event>,
        id: UrlId,
        status: u16,
        url: &CrawlUrl,
        page: Page,
        now: Millis,
    ) {
        let place = self.urls.get(id).place();
        let mut candidates = Vec::with_capacity(page.outlinks.len());
        let mut targets = Vec::with_capacity(page.outlinks.len());
        let mut seen = FxHashSet::default();
        for outlink in page.outlinks {
            let target = self.at_home(&outlink.url).unwrap_or(outlink.url);
            let refusal = if outlink.nofollow && !self.conditions.scope.follow_nofollow {
                Some(Refusal::NoFollow)
            } else {
                self.conditions.scope.refuses(&target)
            };
            if target == *url {
                continue;
            }
            if let Some(reason) = refusal {
                self.skip(events, &target, Some(id), reason, now);
                continue;
            }
            let to = self.number(events, &target, Origin::Link(id), &outlink.anchor, now);
            // Two links that differ in the scheme only are one.
            if !seen.insert(to) {
                continue;
            }
            targets.push(to);
            candidates.push(Candidate { url: target, evidence: outlink.evidence, relevance: outlink.relevance });
        }
        let relevant = page.relevance >= self.conditions.page_threshold;
        let visit = Visit {
            relevance: page.relevance,
            relevant,
            place,
            link_threshold: self.conditions.link_threshold,
            links: &candidates,
        };
        let judged = self.judge(&visit, &targets);
        let settled = Settled {
            id,
            status,
            place,
            relevance: page.relevance,
            relevant,
            title: page.title,
            language: page.language,
            digest: page.digest,
            terms: page.terms,
            noindex: page.noindex,
            links: judged.links,
            known: judged.known,
        };
        self.tell(events, Event::Settled(Box::new(settled)), now);
        self.expand(events, judged.longer, now);
    }

    /// Asks the strategy, applies the caps, and sorts out the links that change nothing.
    fn judge(&self, visit: &Visit, targets: &[UrlId]) -> Judged {
        let mut judged = Judged::default();
        let verdicts = self.strategy.judge(visit);
        debug_assert_eq!(verdicts.len(), targets.len(), "one verdict per link");
        for ((&to, candidate), verdict) in targets.iter().zip(visit.links).zip(verdicts) {
            let verdict = self.cap(verdict);
            let link = Link { to, evidence: candidate.evidence, relevance: candidate.relevance, verdict };
            let known = self.urls.get(to);
            match (known.state, verdict) {
                (LinkState::Queued, Verdict::Follow(place))
                    if self.strategy.merge(known.place(), place) != known.place() =>
                {
                    judged.links.push(link);
                }
                (LinkState::Dropped, Verdict::Follow(_)) => judged.links.push(link),
                // Kept with its evidence even if it changes nothing now: a longer tunnel may revive it.
                (LinkState::Dropped | LinkState::Queued, Verdict::Drop(Refusal::TunnelEnd)) => judged.links.push(link),
                (LinkState::Dropped, Verdict::Drop(_)) if !known.was_dropped => judged.links.push(link),
                (LinkState::Fetched, Verdict::Follow(place)) => {
                    judged.known.push(to);
                    judged.longer.push((to, place));
                }
                _ => judged.known.push(to),
            }
        }
        judged
    }

    fn cap(&self, verdict: Verdict) -> Verdict {
        let limits = &self.conditions.limits;
        match verdict {
            Verdict::Follow(place) if limits.depth.is_some_and(|most| place.trail.depth > most) => {
                Verdict::Drop(Refusal::Depth)
            }
            Verdict::Follow(place) if place.trail.hops > limits.hops => Verdict::Drop(Refusal::Hops),
            verdict => verdict,
        }
    }

    /// A fetched page whose links were dropped at the end of a tunnel, found again with more tunnel left, is judged
    /// anew from the links on record: otherwise the result would depend on the order of arrival.
    fn expand(&mut self, events: &mut Vec<Event>, mut longer: Vec<(UrlId, Place)>, now: Millis) {
        while let Some((id, place)) = longer.pop() {
            let Some(ended) = self.ended.get(&id) else { continue };
            if place.trail.k <= ended.place.trail.k {
                continue;
            }
            let targets: Vec<UrlId> = ended.links.iter().map(|&(to, ..)| to).collect();
            let candidate = |&(to, evidence, relevance): &(UrlId, Evidence, Relevance)| Candidate {
                url: self.urls.url(to),
                evidence,
                relevance,
            };
            let candidates: Vec<Candidate> = ended.links.iter().map(candidate).collect();
            let visit = Visit {
                relevance: ended.relevance,
                relevant: false,
                place,
                link_threshold: self.conditions.link_threshold,
                links: &candidates,
            };
            let judged = self.judge(&visit, &targets);
            longer.extend(judged.longer);
            self.tell(events, Event::Expanded { id, place, links: judged.links }, now);
        }
    }

    fn settle_redirect(&mut self, events: &mut Vec<Event>, id: UrlId, to: &CrawlUrl, now: Millis) {
        let home = self.at_home(to);
        let to = home.as_ref().unwrap_or(to);
        let known = self.urls.get(id);
        let (place, redirects) = (Self::ahead(known.place()), known.redirects() + 1);
        let link = if redirects > self.conditions.limits.redirects.min(15) {
            self.skip(events, to, Some(id), Refusal::Redirects, now);
            None
        } else if let Some(reason) = self.conditions.scope.refuses(to) {
            self.skip(events, to, Some(id), reason, now);
            None
        } else {
            let target = self.number(events, to, Origin::Redirect(id), "", now);
            let state = self.urls.get(target).state;
            matches!(state, LinkState::Dropped | LinkState::Queued).then_some(Link {
                to: target,
                evidence: Evidence::default(),
                relevance: Relevance::ZERO,
                verdict: Verdict::Follow(place),
            })
        };
        self.tell(events, Event::Redirected { id, link }, now);
    }

    fn settle_failure(&mut self, events: &mut Vec<Event>, id: UrlId, failure: Failure, now: Millis) {
        let tries = self.urls.get(id).tries();
        let event = if failure.is_transient() && tries < self.conditions.limits.retries.min(15) {
            Event::Retried { id, failure }
        } else {
            Event::Failed { id, failure }
        };
        self.tell(events, event, now);
    }

    fn number(&mut self, events: &mut Vec<Event>, url: &CrawlUrl, origin: Origin, anchor: &str, now: Millis) -> UrlId {
        if let Some(id) = self.urls.find(url) {
            return id;
        }
        let id = UrlId(u32::try_from(self.urls.len()).expect("fewer than 2^32 URLs: memory ends long before"));
        let discovered = Discovered { id, url: url.clone(), origin, anchor: anchor.to_owned() };
        self.tell(events, Event::Discovered(discovered), now);
        id
    }

    fn skip(&mut self, events: &mut Vec<Event>, url: &CrawlUrl, from: Option<UrlId>, reason: Refusal, now: Millis) {
        if !self.skipped.contains(&url.fingerprint()) {
            self.tell(events, Event::Skipped { url: url.clone(), from, reason }, now);
        }
    }

    fn tell(&mut self, events: &mut Vec<Event>, event: Event, now: Millis) {
        self.apply(&event, now);
        events.push(event);
    }
}

/// What became of a page's links.
#[derive(Default)]
struct Judged {
    links: Vec<Link>,
    known: Vec<UrlId>,
    /// Fetched pages that this page leads to, with the place it would give them.
    longer: Vec<(UrlId, Place)>,
}

enum Permission {
    Granted,
    AskRobots,
    Refused(Refusal),
}
