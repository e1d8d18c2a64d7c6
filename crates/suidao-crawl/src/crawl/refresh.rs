//! Refresh: rounds and their budget, due pages, and the shares of revisits and of new pages.
//!
//! Due pages are an event, so a killed round resumes with the same pages and requests none twice.
//!
//! Two kinds of new pages may be fetched: those that a visited page newly links to, if they are promising, up to half
//! of the requests; and, as the share `refresh.discovery`, those that the crawl left in its queue.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::revisit::VisitValue;
use crate::revisit::history::{DAY, Histories, Tracked};
use crate::revisit::settings::RefreshSettings;
use crate::revisit::text_loss::Replacement;
use suidao_page::model::{
    Budget, CrawlUrl, HostId, Millis, PathState, Priority, QueueEntry, Relevance, Stop, TunnelBudget, UrlId,
};

use super::frontier::DUE;
use super::grants::Grant;
use super::signals::Signals;

/// How long a round waits for its sitemaps and feeds before it chooses pages, in milliseconds.
pub(super) const SOURCES_WAIT: u64 = 60_000;

/// The value, in [`RefreshStep::due`](suidao_page::model::RefreshStep), of a new link that another partition found.
pub(super) const NEW_LINK: f32 = -1.0;

/// Replaced texts of a host that are compared with later ones of the round.
pub(super) const NEW_TEXTS: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub struct Refresh {
    pub settings: RefreshSettings,
    pub budget: Budget,
}

/// A page that a refresh would revisit.
#[derive(Clone, Debug)]
pub struct PlannedVisit {
    pub id: UrlId,
    pub url: CrawlUrl,
    pub value: f64,
    pub visit_value: VisitValue,
}

/// Refresh state of a crawl. A fold of the events.
pub(super) struct Refreshing {
    pub(super) request: Refresh,
    pub(super) histories: Histories,
    pub(super) signals: Signals,
    pub(super) round: Option<ActiveRound>,
    /// Due pages, with the value of a visit.
    pub(super) due: FxHashMap<UrlId, f32>,
    /// Queued pages that visited pages newly link to, if they are promising.
    pub(super) new_links: FxHashSet<UrlId>,
    /// Pages of each host whose texts were replaced in this round, the first [`NEW_TEXTS`] of them.
    pub(super) new_texts: FxHashMap<HostId, Vec<Replacement>>,
    /// Hosts that answered 304 for a changed page.
    pub(super) unreliable_validators: FxHashSet<HostId>,
    /// Of an endless refresh: the day, and the pages of each host made due on it.
    pub(super) visits: (u64, FxHashMap<HostId, usize>),
    /// When sitemaps and feeds last became due.
    pub(super) sources_read: Option<Millis>,
}

/// What a refresh has in flight, and how it is going in this run.
#[derive(Default)]
pub(super) struct RefreshRun {
    pub in_flight: RequestCounts,
    /// Of an endless refresh: the time of the next request.
    pub paced: Millis,
    /// An endless refresh had no page whose visit pays; it plans again at this time.
    pub plans_again: Option<Millis>,
    /// One side has nothing left that can be fetched, so the other may use its share.
    pub open: bool,
    /// Why the round has ended, if it has.
    pub stopped: Option<Stop>,
    /// Of a partition: what it may request in the round.
    pub grant: Option<Grant>,
}

/// Requests of a round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestCounts {
    pub all: u64,
    /// Those for due pages.
    pub due: u64,
    /// Those for promising new links; in flight they are not counted.
    pub new_links: u64,
}

impl RequestCounts {
    fn plus(self, other: Self) -> Self {
        Self { all: self.all + other.all, due: self.due + other.due, new_links: self.new_links + other.new_links }
    }
}

/// A round that has not ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ActiveRound {
    pub(super) budget: Budget,
    pub(super) begun: Millis,
    /// Finished requests.
    pub(super) spent: RequestCounts,
    /// Unanswered requests for other pages and robots.txt. They do not count as spent, up to as many as the round has
    /// requests.
    pub(super) unanswered: u64,
    /// Pages have been chosen, with the results of sitemaps and feeds.
    pub(super) planned: bool,
    /// URLs known when it began.
    pub(super) known: usize,
}

impl Refreshing {
    pub fn new(request: Refresh) -> Self {
        Self {
            histories: Histories::new(&request.settings),
            signals: Signals::default(),
            round: None,
            due: FxHashMap::default(),
            new_links: FxHashSet::default(),
            new_texts: FxHashMap::default(),
            unreliable_validators: FxHashSet::default(),
            sources_read: None,
            visits: (0, FxHashMap::default()),
            request,
        }
    }

    pub fn settings(&self) -> &RefreshSettings {
        &self.request.settings
    }

    /// Whether the next request is for a due page: if they have had less than their share.
    pub(super) fn is_turn(&self, run: &RefreshRun) -> bool {
        let Some(round) = &self.round else { return false };
        let begun = round.spent.plus(run.in_flight);
        let owed = (1.0 - self.request.settings.discovery) * (begun.all + 1) as f64 - begun.due as f64;
        owed > 1e-9
    }

    /// Whether a due page (`again`) or a new page may have the next request. If requests are counted, each side keeps
    /// its share as long as it has pages left, even if their hosts must wait.
    pub(super) fn may(&self, again: bool, queued: u64, run: &RefreshRun) -> bool {
        if !again && self.request.settings.discovery <= 0.0 {
            return false;
        }
        let Some(ActiveRound { budget: Budget::Round { requests: Some(most), .. }, spent, .. }) = &self.round else {
            return true;
        };
        let most = run.grant.map_or(*most, |grant| grant.requests);
        let begun = spent.plus(run.in_flight);
        let due = (self.due.len() as u64).saturating_sub(run.in_flight.due);
        // a share of a count
        let discovery = (self.request.settings.discovery * most as f64).round() as u64;
        run.open
            || if again {
                begun.due < most.saturating_sub(discovery) || queued <= due
            } else {
                begun.all - begun.due < discovery || due == 0
            }
    }

    /// Whether the next request may be for a promising new link: while they had at most half of the requests, or no
    /// page is due.
    pub(super) fn may_follow(&self, run: &RefreshRun) -> bool {
        let Some(round) = self.round.as_ref().filter(|_| !self.new_links.is_empty()) else { return false };
        let begun = round.spent.plus(run.in_flight);
        if let Some(grant) = run.grant {
            return grant.follows || self.due.is_empty();
        }
        self.due.is_empty() || 2 * begun.new_links <= begun.all
    }

    /// The visit value with the signals since the last visit.
    pub(super) fn value_of_visit(&self, page: &Tracked, host: HostId) -> Option<VisitValue> {
        let visit_value = page.visit_value(self.settings())?;
        Some(VisitValue {
            false_signal_probability: self.signals.false_signal_probability(host, page.signals),
            ..visit_value
        })
    }

    pub(super) fn pages(&self, now: Millis) -> impl Iterator<Item = (UrlId, &Tracked)> {
        // Nor pages that this round requested before it chose its pages.
        let begun = self.round.filter(|round| matches!(round.budget, Budget::Round { .. })).map(|round| round.begun);
        let rested = move |page: &Tracked| {
            page.earliest_revisit(self.settings()) <= now && begun.is_none_or(|begun| page.last_request < begun)
        };
        self.histories.iter().filter(move |(id, page)| rested(page) && !self.due.contains_key(id))
    }

    /// Whether it has no end.
    pub(super) fn is_endless(&self) -> bool {
        matches!(self.round, Some(ActiveRound { budget: Budget::PerDay(_), .. }))
    }

    /// Counts a page of an endless refresh that is made due.
    pub(super) fn count_visit(&mut self, host: HostId, at: Millis) {
        let day = at.0 / DAY as u64;
        if self.visits.0 != day {
            self.visits = (day, FxHashMap::default());
        }
        *self.visits.1.entry(host).or_default() += 1;
    }
}

/// Queue entry of a due page.
pub(super) fn due_entry(value: f32) -> QueueEntry {
    let trail = PathState { depth: 0, hops: 0, k: TunnelBudget::Unbounded, inherited: Relevance::ZERO };
    QueueEntry { queue: DUE, priority: Priority::new(value), path: trail }
}

pub(super) fn is_over(round: &ActiveRound, in_flight: u64, now: Millis) -> bool {
    let Budget::Round { requests, seconds } = round.budget else { return false };
    requests.is_some_and(|most| round.spent.all + in_flight >= most || round.unanswered >= most)
        || seconds.is_some_and(|most| now.since(round.begun) >= most.saturating_mul(1000))
}
