//! The crawl's state as a fold of its events: [`State::apply`] is the one place where events change it, in a crawl and
//! after a restart. What is in flight, and what ends a run, is not part of it.

mod better_soon;
mod due;
mod forums;
mod new_links;
mod queue;
mod responses;
mod revisits;
mod traps;
mod waits;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use suidao_page::model::{
    CrawlUrl, Discovered, Event, Failure, FailureKind, HostId, Link, LinkDecision, LinkState, Millis, PageProcessed,
    Priority, QueueEntry, SkipReason, UrlId,
};

use super::canonical::Canonicals;
use super::counts::Counts;
use super::forum_state::Forums;
use super::frontier::Frontier;
use super::goals::StopTracker;
use super::hosts::HostTable;
use super::refresh::Refreshing;
use super::settings::CrawlSettings;
use super::sources::Sourcing;
use super::spend::WaitState;
use super::traps::TrapState;
use super::tunnels::EndedTunnel;
use super::urls::Urls;
use crate::strategy::Strategy;
pub(super) use better_soon::Competitor;

/// When an event happened.
#[derive(Clone, Copy)]
pub(super) struct EventTime {
    pub at: Millis,
    /// Of the request that caused it, in milliseconds.
    pub latency: Option<u64>,
}

impl EventTime {
    /// Of an event that no request caused.
    pub fn without_request(at: Millis) -> Self {
        Self { at, latency: None }
    }
}

pub(super) struct State {
    /// The fold depends on them: limits of retries, politeness, trap rules.
    pub settings: Arc<CrawlSettings>,
    pub strategy: Box<dyn Strategy>,
    pub urls: Urls,
    pub hosts: HostTable,
    pub frontier: Frontier,
    pub ended: FxHashMap<UrlId, EndedTunnel>,
    pub canonicals: Canonicals,
    pub traps: TrapState,
    pub forums: Forums,
    pub sourcing: Sourcing,
    pub refreshing: Option<Refreshing>,
    /// For a crawl without a refresh: pages still due from an unfinished round.
    pub left_due: FxHashSet<UrlId>,
    pub counts: Counts,
    pub stop: StopTracker,
    pub wait_state: WaitState,
    /// Links to URLs of other partitions that are new or better, not sent yet. They do not follow from the events.
    pub leaving: Vec<Link>,
}

impl State {
    pub fn new(settings: CrawlSettings, strategy: Box<dyn Strategy>) -> Self {
        Self {
            urls: Urls::default(),
            hosts: HostTable::new(&settings.politeness),
            frontier: Frontier::new(strategy.queue_policy(), settings.seed),
            ended: FxHashMap::default(),
            canonicals: Canonicals::default(),
            traps: TrapState::default(),
            forums: Forums::new(&settings.forums, settings.watch),
            sourcing: Sourcing::default(),
            refreshing: settings.refresh.clone().map(Refreshing::new),
            left_due: FxHashSet::default(),
            counts: Counts::default(),
            stop: StopTracker::default(),
            wait_state: WaitState::default(),
            leaving: Vec::new(),
            strategy,
            settings: Arc::new(settings),
        }
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &Event, time: EventTime) {
        // Before the links are queued, so that each is queued with its current score.
        let mut risen = Vec::new();
        if let Some(learning) = self.strategy.learning_mut() {
            learning.observe(event, &mut risen);
        }
        self.count_request(event);
        self.apply_to_queues(event, time);
        self.stop.observe(&self.settings.goals, event);
        self.wait_state.observe(event, time.at);
        let urls = &self.urls;
        let ended = self.canonicals.observe(event, |id| urls.get(id).state == LinkState::Fetched);
        self.ended.extend(ended);
        if self.settings.sources.is_on() {
            self.sourcing.observe(event, &self.urls);
        }
        self.forums.watch(event, |id| self.urls.url(id));
        self.observe_refresh(event, time.at);
        let mut seen = FxHashSet::default();
        for id in risen.into_iter().filter(|&id| seen.insert(id)) {
            self.raise(id);
        }
    }

    fn apply_to_queues(&mut self, event: &Event, time: EventTime) {
        match event {
            Event::Discovered(discovered) => self.discover(discovered),
            Event::LinkRejected { url, reason, .. } => {
                self.counts.rejected.insert(url.fingerprint());
                self.counts.count_skipped(*reason);
            }
            Event::SeedJudged(link) => {
                self.retry_seed(link.to, time.at);
                self.admit(&[*link]);
            }
            Event::LinkOffered(link) => self.admit(&[*link]),
            Event::PageFetched(page) => self.apply_page(page, time),
            Event::Forum(step) => self.apply_forum_step(step, time.at),
            Event::Rejudged { id, entry, links } => self.apply_rejudged(*id, *entry, links),
            Event::Redirected { id, link, .. } => self.apply_redirect(*id, link.as_ref(), time),
            Event::Reprioritized { id, priority } => {
                let known = self.urls.get_mut(*id);
                let entry = QueueEntry { priority: *priority, ..known.entry() };
                known.set_entry(entry);
                self.frontier.push(known.host(), *id, entry);
            }
            Event::SchemeRewritten { id, link } => self.apply_rewritten_scheme(*id, link.as_ref()),
            Event::Scheme { host, https } => self.apply_scheme(*host, *https, time.at),
            Event::Unchanged { id, .. } => {
                self.counts.progress.visits += 1;
                self.leave(*id, LinkState::Fetched, None, time);
                let known = self.urls.get_mut(*id);
                known.forget_tries();
                known.set_redirects(0);
                self.hosts.get_mut(self.urls.get(*id).host()).missing = 0;
            }
            Event::SitemapRead { id, links, .. } => {
                self.leave(*id, LinkState::Fetched, None, time);
                self.urls.get_mut(*id).forget_tries();
                self.admit(links);
            }
            Event::SitemapsQueued { links, .. } => self.admit(links),
            Event::PageGone { id, .. } => {
                // A later link may restore it.
                self.set_state(*id, LinkState::Dropped);
                self.urls.get_mut(*id).was_page = true;
            }
            // `observe_refresh` and `WaitState::observe` handle them.
            Event::Refresh(_) | Event::Released { .. } => {}
            // Only the strategy learns from it.
            Event::LearntElsewhere { .. } => {}
            // The store has applied it to the pages, which come before it.
            Event::Rescored { .. } => {}
            Event::Trap(step) => self.apply_trap(step, time),
            Event::FetchRetried { id, failure } => self.apply_retry(*id, failure, time),
            Event::FetchFailed { id, failure } => self.apply_failure(*id, failure, time),
            Event::UrlExcluded { id, reason } => self.apply_exclusion(*id, *reason),
            Event::Robots { host, origin, rules, failure } => {
                self.apply_robots((*host, origin), rules, failure.as_ref(), time);
            }
            Event::RobotsRedirected { host, origin, to } => self.apply_robots_redirect((*host, origin), to, time),
            Event::HostResolved { host, address } => self.hosts.set_address(*host, *address),
        }
    }

    fn discover(&mut self, discovered: &Discovered) {
        let (host, is_new) = self.hosts.number(&discovered.url);
        if is_new {
            self.frontier.make_ready(host);
            self.counts.progress.hosts += 1;
        }
        let id = self.urls.insert(&discovered.url, host);
        debug_assert_eq!(id, discovered.id, "numbers are given without gaps");
        if self.settings.partition.is_some_and(|partition| !partition.owns(&discovered.url)) {
            self.urls.get_mut(id).state = LinkState::Elsewhere;
        }
        self.counts.progress.known += 1;
    }

    fn apply_page(&mut self, page: &PageProcessed, time: EventTime) {
        self.leave(page.id, LinkState::Fetched, None, time);
        let known = self.urls.get_mut(page.id);
        known.forget_tries();
        known.set_redirects(0);
        let was_page = std::mem::take(&mut known.was_page);
        let host = self.hosts.get_mut(self.urls.get(page.id).host());
        host.missing = 0;
        let progress = &mut self.counts.progress;
        progress.bytes += u64::from(page.bytes);
        if page.changes.is_some() || was_page {
            progress.visits += 1;
            let new = self.new_in_round(&page.links);
            self.admit(&page.links);
            self.queue_new_links(&new);
            return;
        }
        host.pages += 1;
        progress.pages += 1;
        progress.hosts_visited += u64::from(host.pages == 1);
        if page.is_relevant_document() {
            progress.relevant += 1;
            progress.hosts_relevant += u64::from(!host.relevant);
            host.relevant = true;
        }
        if page.links.iter().any(is_tunnel_end) {
            let links = page.links.clone();
            self.ended.insert(
                page.id,
                EndedTunnel { relevance: page.relevance, entry: page.queued_as, links, layer: page.layer },
            );
        }
        self.observe_traps(page);
        if let Some(forum) = &page.forum {
            self.apply_forum_page(page.id, forum, time.at);
        }
        self.admit(&page.links);
    }

    /// The links of a page are judged again.
    fn apply_rejudged(&mut self, id: UrlId, entry: QueueEntry, links: &[Link]) {
        if let Some(ended) = self.ended.get_mut(&id) {
            ended.entry = entry;
            if !links.iter().any(is_tunnel_end) {
                self.ended.remove(&id);
            }
        }
        self.admit(links);
    }

    fn apply_redirect(&mut self, id: UrlId, link: Option<&Link>, time: EventTime) {
        let redirects = self.urls.get(id).redirects() + 1;
        self.leave(id, LinkState::Redirected, None, time);
        if let Some(link) = link {
            // A cookie bounce: the target is requested again. A due page is queued by `observe_refresh`.
            if self.urls.get(link.to).state == LinkState::Redirected && !self.is_due(link.to) {
                self.set_state(link.to, LinkState::Dropped);
            }
            let target = self.urls.get_mut(link.to);
            target.set_redirects(redirects.max(target.redirects()));
            self.move_in_forum(id, link.to);
            self.admit(&[*link]);
        }
    }

    fn apply_rewritten_scheme(&mut self, id: UrlId, link: Option<&Link>) {
        // Not final: a redirect may lead back to this spelling.
        self.set_state(id, LinkState::Dropped);
        if let Some(link) = link {
            self.move_in_forum(id, link.to);
            self.admit(&[*link]);
        }
        self.requeue_if_only_parked(id);
    }

    fn apply_scheme(&mut self, host: HostId, https: bool, at: Millis) {
        let record = self.hosts.get_mut(host);
        record.https = Some(https);
        // A failed connection under https causes no other event. A response has an event of its own, and the host of a
        // seed has not been requested yet.
        if !https {
            let wait = record.delay(&self.settings.politeness);
            self.delay_until(host, at.after(wait), at);
        }
    }

    fn apply_retry(&mut self, id: UrlId, failure: &Failure, time: EventTime) {
        self.urls.get_mut(id).count_try();
        self.leave(id, LinkState::Queued, Some(failure), time);
        // A due page is queued by `observe_refresh`.
        if !self.is_due(id) {
            self.wait_for_next_try(id, failure);
        }
    }

    fn apply_failure(&mut self, id: UrlId, failure: &Failure, time: EventTime) {
        self.leave(id, LinkState::Failed, Some(failure), time);
        // A URL that was never requested may be allowed in a later run.
        let never_sent =
            matches!(failure.kind, FailureKind::PrivateAddress | FailureKind::Port | FailureKind::NoSuchHost);
        self.urls.get_mut(id).in_another_run = never_sent || failure.is_transient();
        if failure.kind == FailureKind::NoSuchPage {
            self.traps.count_soft_404();
            let host = self.hosts.get_mut(self.urls.get(id).host());
            host.missing = host.missing.saturating_add(1);
        }
        self.counts.progress.failed += u64::from(!self.is_due(id));
        self.requeue_if_only_parked(id);
    }

    fn apply_exclusion(&mut self, id: UrlId, reason: SkipReason) {
        self.set_state(id, LinkState::Excluded);
        if !self.is_due(id) {
            self.counts.count_skipped(reason);
            if reason.is_host_failure() {
                let known = self.urls.get_mut(id);
                (known.in_another_run, known.dropped) = (true, Some(reason));
            }
        }
        self.requeue_parked(self.urls.get(id).host());
    }

    /// Whether a URL is queued or in flight because its page is due.
    pub fn is_due(&self, id: UrlId) -> bool {
        self.refreshing.as_ref().map_or(self.left_due.contains(&id), |refreshing| refreshing.due.contains_key(&id))
    }

    /// The strategy's score of a queued URL, if it learns: the only place that asks for it.
    pub fn current_score(&self, id: UrlId) -> Option<Priority> {
        self.strategy.learning().map(|learning| learning.current_score(id))
    }

    /// `url` under the scheme that its host answers, if that is the other one.
    pub fn in_preferred_scheme(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        let https = self.settings.scope.one_scheme.then(|| self.hosts.of(url)).flatten()?.https?;
        if url.is_https() == https { None } else { url.under(https) }
    }

    /// Whether a URL of this host has the scheme that the host does not answer. As [`State::in_preferred_scheme`],
    /// without looking up the host by name.
    pub fn is_other_scheme(&self, host: HostId, url: &CrawlUrl) -> bool {
        let https = self.hosts.get(host).https;
        self.settings.scope.one_scheme && https.is_some_and(|https| https != url.is_https())
    }

    /// Finds a URL under the scheme that its host answers.
    pub fn find_preferred(&self, url: &CrawlUrl) -> Option<UrlId> {
        let home = self.in_preferred_scheme(url);
        self.urls.find(home.as_ref().unwrap_or(url))
    }
}

fn is_tunnel_end(link: &Link) -> bool {
    link.decision == LinkDecision::Drop(SkipReason::TunnelEnd)
}
