//! Entry points of the state machine. Each turns facts into events and applies them at once; [`Crawl::restore`] folds
//! the same events. Every fetch needs a ticket, which is settled once.

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

/// `[limits]` of the configuration. Unset limits do not apply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlLimits {
    /// Pages to fetch, relevant or not; the crawl fetches exactly this many.
    pub pages: Option<u64>,
    /// Requests of the whole crawl that were answered or may have been; the default is computed by
    /// [`CrawlLimits::most_requests`].
    pub requests: Option<u64>,
    pub pages_per_host: Option<u32>,
    /// Maximum number of links between a seed and a page.
    pub depth: Option<u16>,
    /// Maximum number of consecutive off-topic pages, whatever their links score: four times the paper's kdepth.
    pub hops: u16,
    /// Maximum number of consecutive redirects, at most 15.
    pub redirects: u8,
    /// Retries of a failed fetch, at most 15.
    pub retries: u8,
    /// A host is given up after this many consecutive failures, over at least `politeness.give_up` seconds.
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
    /// Maximum number of requests for this many pages: as configured, or ten per page plus 1,000. Ordinary crawls need
    /// one or two per page; one that needs ten is in a trap. The default ignores requests held against their hosts:
    /// waits and retries bound those, and many links to dead hosts are not a trap.
    pub fn most_requests(&self, pages: Option<u64>) -> Option<u64> {
        self.requests.or(pages.map(|pages| pages.saturating_mul(10).saturating_add(1_000)))
    }
}

/// Settings of a crawl, except for its strategy.
#[derive(Clone, Debug)]
pub struct CrawlSettings {
    pub limits: CrawlLimits,
    /// When to stop; a refresh has a budget instead.
    pub goals: StopConditions,
    pub politeness: Politeness,
    pub scope: CrawlScope,
    pub traps: Traps,
    /// Use of sitemaps and feeds.
    pub sources: Sources,
    /// ISO 639-3 codes of accepted languages; empty means all. Pages in other languages are off-topic.
    pub languages: Vec<String>,
    /// Product token for robots.txt.
    pub agent: String,
    /// Seeds the random choices of the queue policy.
    pub seed: u64,
    /// τ_page: pages at or above it are relevant.
    pub page_threshold: Relevance,
    /// τ_link.
    pub link_threshold: Relevance,
    pub forums: ForumMode,
    /// Repeated visits of a forum's boards, if wanted.
    pub watch: Option<Watch>,
    /// Revisits of fetched pages, if wanted.
    pub refresh: Option<Refresh>,
}

impl CrawlSettings {
    pub(super) fn most_pages(&self) -> Option<u64> {
        self.limits.pages
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum FetchKind {
    /// A page; checked for being a forum's if it may be one.
    Page(UrlId),
    /// A page that is not checked for being a forum's.
    Plain(UrlId),
    /// A page of a forum, with the analysis to run.
    Forum(UrlId, ForumAnalysis),
    /// A sitemap or a feed: which pages exist, and which have changed.
    Hints(UrlId),
    /// A page that cannot exist, to see how the host answers.
    Absent(HostId),
    /// The robots.txt of the host, for http or https.
    Robots { host: HostId, https: bool },
}

/// Permission for one fetch. Settle it exactly once; after a crash the URL is still queued.
#[derive(Debug)]
pub struct Ticket {
    pub url: CrawlUrl,
    pub wanted: FetchKind,
    /// Validators of the known version, for a conditional request.
    pub validators: Option<Box<Validators>>,
    pub(super) host: HostId,
    pub(super) groups: [Option<GroupId>; 2],
    /// For a robots.txt: the scheme and authority that it applies to.
    pub(super) origin: String,
    /// Revisits a page fetched before.
    pub(super) again: bool,
}

#[derive(Debug)]
pub enum Next {
    Fetch(Ticket),
    /// Nothing before this time or before a ticket settles; without a time, only the latter.
    Wait(Option<Millis>),
    Done(Stop),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    pub pages: u64,
    pub relevant: u64,
    /// Bytes of the pages' bodies, uncompressed, revisits included.
    pub bytes: u64,
    /// Revisits of fetched pages.
    pub visits: u64,
    /// Requests that were answered or may have been: for pages, robots.txt and sitemaps, failed ones too. Those of a
    /// refresh are not counted.
    pub requests: u64,
    /// Those held against their hosts: incomplete answers, 429, 5xx.
    pub requests_held: u64,
    /// URLs given up after failed fetches.
    pub failed: u64,
    /// URLs excluded on discovery or when their turn came.
    pub refused: u64,
    pub queued: u64,
    pub known: u64,
    pub hosts: u64,
    /// Hosts with a fetched page.
    pub hosts_visited: u64,
    /// Hosts with a fetched relevant page.
    pub hosts_relevant: u64,
}

impl Progress {
    pub(super) fn answered(&self) -> u64 {
        self.requests - self.requests_held
    }
}

/// A page whose links were dropped at the end of its tunnel, stored in case a longer tunnel reaches it.
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
    /// Fingerprints of URLs excluded on discovery, so that each is logged once.
    pub(super) skipped: FxHashSet<u64>,
    pub(super) progress: Progress,
    /// Excluded URLs by reason; each counts under its current state.
    pub(super) refusals: BTreeMap<SkipReason, u64>,
    pub(super) nearness: StopTracker,
    pub(super) watched: TrapState,
    /// Maximum number of requests of this run, if pages were [allowed](Crawl::allow).
    pub(super) allowed: Option<u64>,
    /// Page tickets settled so far.
    pub(super) attempts: u64,
    pub(super) pages_in_flight: u64,
    pub(super) robots_in_flight: u64,
    /// Latency of the fetch whose events are being applied, until it is recorded.
    pub(super) latency: Option<u64>,
    /// It was restored, and has handed out nothing since.
    pub(super) restored: bool,
    /// Nothing else is left, so unknown hosts are no longer waited for.
    pub(super) closing: bool,
    /// Events since the last batch.
    pub(super) pending: Vec<Event>,
}

impl Crawl {
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

    /// Replays a batch. Call it with every batch ever returned, in order, before any other function.
    pub fn restore(&mut self, batch: &Batch) {
        self.latency = batch.took;
        for event in &batch.events {
            self.apply(event, batch.at);
        }
        self.latency = None;
        self.restored = true;
    }

    /// Allows this many more pages.
    pub fn allow(&mut self, pages: u64) {
        let limits = &mut self.conditions.limits;
        self.allowed = limits.most_requests(Some(pages)).map(|most| {
            let counted = if limits.requests.is_some() { self.progress.requests } else { self.progress.answered() };
            counted.saturating_add(most)
        });
        limits.pages = Some(self.progress.pages + pages);
    }

    pub fn url(&self, id: UrlId) -> CrawlUrl {
        self.urls.url(id)
    }

    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Numbers of excluded URLs by reason. A URL accepted later is not counted.
    pub fn refusals(&self) -> &BTreeMap<SkipReason, u64> {
        &self.refusals
    }

    /// Tickets not settled yet.
    pub fn in_flight(&self) -> u64 {
        self.pages_in_flight + self.robots_in_flight
    }

    /// The events since the last batch, for the end of a crawl.
    pub fn finish(&mut self, now: Millis) -> Option<Batch> {
        let events = std::mem::take(&mut self.pending);
        (!events.is_empty()).then_some(Batch { at: now, took: None, events })
    }

    /// Settles a ticket with its outcome and response metadata; returns the events that this causes.
    pub fn settle(&mut self, ticket: Ticket, outcome: FetchOutcome, delivery: ResponseMeta, now: Millis) -> Batch {
        let groups = ticket.groups;
        self.latency = delivery.latency;
        self.closing = false;
        let events = self.settle_ticket(ticket, outcome, delivery, now);
        self.latency = None;
        self.leave_groups(groups, now);
        Batch { at: now, took: delivery.latency, events }
    }

    /// A request that counted for these groups has finished.
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
        // No answer under https: http is tried before anything counts against the host.
        let asked_again = ticket.url.is_https() && matches!(outcome, FetchOutcome::Failed(_)) && scheme == Some(false);
        let is_hints = matches!(ticket.wanted, FetchKind::Hints(_));
        let is_plain = matches!(ticket.wanted, FetchKind::Plain(_));
        match ticket.wanted {
            FetchKind::Page(id) | FetchKind::Plain(id) | FetchKind::Forum(id, _) | FetchKind::Hints(id) => {
                self.pages_in_flight -= 1;
                if asked_again {
                    // No event: in the log it never left the queue.
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

    /// Records a new address of the host. The address of a robots.txt on another host does not count.
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
