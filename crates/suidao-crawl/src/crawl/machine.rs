//! The machine's doors. Each turns facts into events and applies them at once; the [`super::fold`] of the same events
//! restores it. A ticket is the only way to fetch, and settles once.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::strategy::Strategy;
use crate::strategy::scope::CrawlScope;
use crate::trap::Traps;
use suidao_forum::forum::analysis::ForumAnalysis;
use suidao_page::model::{
    Batch, CrawlUrl, Discovered, Event, Failure, FailureKind, HostId, Link, LinkState, Millis, QueueEntry, Relevance,
    SkipReason, Stop, UrlId, UrlOrigin, Validators,
};

use super::canonical::Canonicals;
use super::forum_state::{ForumMode, Forums};
use super::frontier::Frontier;
use super::goals::{StopConditions, StopTracker};
use super::groups::GroupId;
use super::hosts::HostTable;
use super::politeness::Politeness;
use super::refresh::{Refresh, Refreshing};
use super::settle::Arrived;
use super::sources::{Sources, Sourcing};
use super::traps::TrapState;
use super::urls::Urls;
use super::watch::Watch;
use super::{FetchOutcome, ResponseMeta};

/// `[limits]` of the configuration. A limit that is not set does not bind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlLimits {
    /// Pages to fetch, relevant or not: the crawl ends with exactly so many.
    pub pages: Option<u64>,
    /// Requests of the whole crawl that brought an answer or might have, whatever it was; where it is not set
    /// [`Limits::most_requests`] tells.
    pub requests: Option<u64>,
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
    /// A host is given up that failed so often in a row, and for as long as `politeness.give_up` says.
    pub host_failures: u32,
}

impl Default for CrawlLimits {
    fn default() -> Self {
        Self {
            pages: None,
            requests: None,
            pages_per_host: None,
            depth: None,
            hops: 48,
            redirects: 5,
            retries: 2,
            host_failures: 10,
        }
    }
}

impl CrawlLimits {
    /// Most requests for this many pages: as it is set, or ten a page and a thousand. Ordinary crawls need one to two a page;
    /// one that needs ten is led about. Without a setting those do not count that are held against their hosts: waits and
    /// tries bound them, and a crawl with many links to hosts that are gone is not led about.
    pub fn most_requests(&self, pages: Option<u64>) -> Option<u64> {
        self.requests.or(pages.map(|pages| pages.saturating_mul(10).saturating_add(1_000)))
    }
}

/// What a machine is made of, beside its strategy.
#[derive(Clone, Debug)]
pub struct CrawlSettings {
    /// Budgets and caps.
    pub limits: CrawlLimits,
    /// What the crawl is done with; a refresh has a budget instead.
    pub goals: StopConditions,
    /// When a host may be asked.
    pub politeness: Politeness,
    /// Which URLs may be touched.
    pub scope: CrawlScope,
    /// What is done about traps.
    pub traps: Traps,
    /// What is taken from sitemaps and feeds.
    pub sources: Sources,
    /// ISO 639-3 codes of the languages that are kept; all if empty. Pages in others are off topic.
    pub languages: Vec<String>,
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

impl CrawlSettings {
    /// Most pages to fetch.
    pub(super) fn most_pages(&self) -> Option<u64> {
        self.limits.pages
    }
}

/// What a ticket is for.
#[derive(Clone, Debug, PartialEq)]
pub enum FetchKind {
    /// A page, to be looked at as one of a forum if it may be one.
    Page(UrlId),
    /// A page, and no more than that.
    Plain(UrlId),
    /// A page of a forum, to be looked at as one.
    Forum(UrlId, ForumAnalysis),
    /// A sitemap or a feed, to be asked which pages there are, and which have changed.
    Hints(UrlId),
    /// A page of the host that cannot exist, to see what it answers then.
    Absent(HostId),
    /// The robots.txt of the host, for http or https.
    Robots { host: HostId, https: bool },
}

/// Permission for one fetch. Must be settled, once; a crash instead of that leaves the URL queued.
#[derive(Debug)]
pub struct Ticket {
    /// The URL to fetch.
    pub url: CrawlUrl,
    /// What for.
    pub wanted: FetchKind,
    /// What marks the version that is known: the fetch is to be conditional on it.
    pub validators: Option<Box<Validators>>,
    /// The host that is kept waiting by it.
    pub(super) host: HostId,
    /// The groups of hosts that it counts for.
    pub(super) groups: [Option<GroupId>; 2],
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
    pub pages: u64,
    /// Relevant ones among them.
    pub relevant: u64,
    /// Bytes of the pages' bodies, unpacked, those of later visits included.
    pub bytes: u64,
    /// Visits of pages that had been fetched before, to see whether they have changed.
    pub visits: u64,
    /// Requests that brought an answer or might have: for pages, robots.txt, sitemaps, failed ones too; visits and what
    /// else a refresh asks for are not among them.
    pub requests: u64,
    /// Those of them that were held against their hosts: no whole answer, 429, 5xx.
    pub requests_held: u64,
    /// URLs given up after failed fetches.
    pub failed: u64,
    /// URLs refused, at the door or when their turn came.
    pub refused: u64,
    pub queued: u64,
    pub known: u64,
    pub hosts: u64,
    /// Hosts with at least one page fetched.
    pub hosts_visited: u64,
    /// Hosts with at least one relevant page fetched.
    pub hosts_relevant: u64,
}

impl Progress {
    /// Requests that were not held against their hosts.
    pub(super) fn answered(&self) -> u64 {
        self.requests - self.requests_held
    }
}

/// A page whose links were dropped because its tunnel had ended: kept in case a longer tunnel leads to it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct EndedTunnel {
    pub relevance: Relevance,
    pub place: QueueEntry,
    pub links: Vec<Link>,
}

pub struct Crawl {
    pub(super) conditions: CrawlSettings,
    pub(super) strategy: Box<dyn Strategy>,
    pub(super) urls: Urls,
    pub(super) hosts: HostTable,
    pub(super) frontier: Frontier,
    pub(super) ended: FxHashMap<UrlId, EndedTunnel>,
    pub(super) forums: Forums,
    pub(super) refreshing: Option<Refreshing>,
    pub(super) sourcing: Sourcing,
    pub(super) canonicals: Canonicals,
    pub(super) left_due: FxHashSet<UrlId>,
    /// Fingerprints of URLs refused at the door, so that each is told once.
    pub(super) skipped: FxHashSet<u64>,
    pub(super) progress: Progress,
    /// URLs refused, by reason: where each of them stands now.
    pub(super) refusals: BTreeMap<SkipReason, u64>,
    pub(super) nearness: StopTracker,
    pub(super) watched: TrapState,
    /// Requests up to which this run may go, where pages were [allowed](Crawl::allow) it.
    pub(super) allowed: Option<u64>,
    /// Page tickets settled so far.
    pub(super) attempts: u64,
    pub(super) pages_in_flight: u64,
    pub(super) robots_in_flight: u64,
    /// What the fetch took whose events are applied, until somebody has taken note of it.
    pub(super) latency: Option<u64>,
    /// It was restored, and nothing was handed out since.
    pub(super) restored: bool,
    /// Nothing else is left, so that hosts which nobody knows are waited for no longer.
    pub(super) closing: bool,
    /// Refusals since the last batch.
    pub(super) pending: Vec<Event>,
}

impl Crawl {
    /// A crawl that knows nothing yet.
    pub fn new(conditions: CrawlSettings, strategy: Box<dyn Strategy>) -> Self {
        let frontier = Frontier::new(strategy.discipline(), conditions.seed);
        let forums = Forums::new(&conditions.forums, conditions.watch);
        let hosts = HostTable::new(&conditions.politeness);
        Self {
            forums,
            refreshing: conditions.refresh.clone().map(|wish| Refreshing::new(wish, conditions.seed)),
            conditions,
            strategy,
            urls: Urls::default(),
            hosts,
            frontier,
            ended: FxHashMap::default(),
            sourcing: Sourcing::default(),
            canonicals: Canonicals::default(),
            left_due: FxHashSet::default(),
            skipped: FxHashSet::default(),
            progress: Progress::default(),
            refusals: BTreeMap::new(),
            nearness: StopTracker::default(),
            watched: TrapState::default(),
            allowed: None,
            attempts: 0,
            pages_in_flight: 0,
            robots_in_flight: 0,
            latency: None,
            restored: false,
            closing: false,
            pending: Vec::new(),
        }
    }

    /// Restores what happened before: call it with every batch ever handed out, in order, before any other door.
    pub fn restore(&mut self, batch: &Batch) {
        self.latency = batch.took;
        for event in &batch.events {
            self.apply(event, batch.at);
        }
        self.latency = None;
        self.restored = true;
    }

    /// Lets so many more pages be fetched than were by now.
    pub fn allow(&mut self, pages: u64) {
        let limits = &mut self.conditions.limits;
        self.allowed = limits.most_requests(Some(pages)).map(|most| {
            let counted = if limits.requests.is_some() { self.progress.requests } else { self.progress.answered() };
            counted.saturating_add(most)
        });
        limits.pages = Some(self.progress.pages + pages);
    }

    /// A URL by its number.
    pub fn url(&self, id: UrlId) -> CrawlUrl {
        self.urls.url(id)
    }

    /// Where the crawl stands.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// How many URLs are refused, by reason. One that is refused, and known by another way since, is not among them.
    pub fn refusals(&self) -> &BTreeMap<SkipReason, u64> {
        &self.refusals
    }

    /// Tickets handed out and not settled.
    pub fn in_flight(&self) -> u64 {
        self.pages_in_flight + self.robots_in_flight
    }

    /// What happened outside a settling: refusals since the last batch. For the end of a crawl.
    pub fn finish(&mut self, now: Millis) -> Option<Batch> {
        let events = std::mem::take(&mut self.pending);
        (!events.is_empty()).then_some(Batch { at: now, took: None, events })
    }

    /// Takes back what became of a ticket, and how that came; the batch tells what it changed.
    pub fn settle(&mut self, ticket: Ticket, outcome: FetchOutcome, delivery: ResponseMeta, now: Millis) -> Batch {
        let groups = ticket.groups;
        self.latency = delivery.latency;
        self.closing = false;
        let events = self.settle_ticket(ticket, outcome, delivery, now);
        self.latency = None;
        self.leave_groups(groups, now);
        Batch { at: now, took: delivery.latency, events }
    }

    /// A request came back that counted for these groups.
    pub(super) fn leave_groups(&mut self, groups: [Option<GroupId>; 2], now: Millis) {
        for group in groups.into_iter().flatten() {
            self.hosts.groups.finish(group);
            self.resume_group(group, now);
        }
    }

    fn settle_ticket(
        &mut self,
        ticket: Ticket,
        outcome: FetchOutcome,
        delivery: ResponseMeta,
        now: Millis,
    ) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.pending);
        self.hosts.get_mut(ticket.host).in_flight = false;
        self.learn_address(&mut events, &ticket, delivery, now);
        self.count_request(ticket.again, false, now);
        let scheme = self.learn_scheme(&mut events, &ticket, &outcome, now);
        // No answer under https: the same will be asked under http before anything is held against the host.
        let asked_again = ticket.url.is_https() && matches!(outcome, FetchOutcome::Failed(_)) && scheme == Some(false);
        let is_hints = matches!(ticket.wanted, FetchKind::Hints(_));
        let is_plain = matches!(ticket.wanted, FetchKind::Plain(_));
        match ticket.wanted {
            FetchKind::Page(id) | FetchKind::Plain(id) | FetchKind::Forum(id, _) | FetchKind::Hints(id) => {
                self.pages_in_flight -= 1;
                if asked_again {
                    // No event: to the log it was never taken from the queue.
                    self.set_state(id, LinkState::Queued);
                    if ticket.again {
                        self.queue_due(id);
                    } else {
                        self.frontier.requeue_in_flight(ticket.host, id, self.urls.get(id).place());
                    }
                    return events;
                }
                match outcome {
                    FetchOutcome::Page { status, page, sight, validators } => {
                        let sight = sight.filter(|_| !is_plain);
                        let arrived = Arrived { status, page: *page, sight, validators };
                        self.settle_page(&mut events, id, &ticket.url, arrived, now);
                    }
                    FetchOutcome::Hints(hints, validators) => {
                        self.settle_hints(&mut events, id, *hints, validators, now)
                    }
                    FetchOutcome::Unchanged if is_hints => self.settle_same_hints(&mut events, id, now),
                    FetchOutcome::Unchanged => self.settle_unchanged(&mut events, id, now),
                    FetchOutcome::Redirect { to, .. } if is_hints => {
                        self.settle_moved_source(&mut events, id, &to, now);
                    }
                    FetchOutcome::Redirect { to, permanent } => {
                        self.settle_redirect(&mut events, id, &to, permanent, now)
                    }
                    FetchOutcome::Failed(failure) => self.settle_failure(&mut events, id, failure, now),
                    FetchOutcome::Robots(_) => {
                        let failure = Failure { kind: FailureKind::Broken, retry_after: None };
                        self.settle_failure(&mut events, id, failure, now);
                    }
                }
            }
            FetchKind::Absent(host) => {
                self.robots_in_flight -= 1;
                if !asked_again {
                    self.settle_absent(&mut events, host, outcome, now);
                }
            }
            FetchKind::Robots { host, https } => {
                self.robots_in_flight -= 1;
                if !asked_again {
                    self.settle_robots(&mut events, (host, https, ticket.origin), outcome, now);
                }
            }
        }
        self.release(&mut events, now);
        events
    }

    /// The address that answered is another than before. Of a robots.txt that stands elsewhere it says nothing.
    fn learn_address(&mut self, events: &mut Vec<Event>, ticket: &Ticket, delivery: ResponseMeta, now: Millis) {
        let host = ticket.host;
        let known = self.hosts.get(host).address.map(|(address, _)| address);
        if let Some(address) = delivery.from.filter(|address| Some(*address) != known)
            && self.hosts.id_of(&ticket.url) == Some(host)
        {
            self.tell(events, Event::HostResolved { host, address }, now);
        }
    }

    pub(super) fn number(
        &mut self,
        events: &mut Vec<Event>,
        url: &CrawlUrl,
        origin: UrlOrigin,
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
        reason: SkipReason,
        now: Millis,
    ) {
        if !self.skipped.contains(&url.fingerprint()) {
            self.tell(events, Event::LinkRejected { url: url.clone(), from, reason }, now);
        }
    }

    pub(super) fn tell(&mut self, events: &mut Vec<Event>, event: Event, now: Millis) {
        self.apply(&event, now);
        events.push(event);
    }
}
