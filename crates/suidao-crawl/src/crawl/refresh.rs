//! Refresh in the machine: rounds and their budget, due pages, and the shares of revisits and of new pages.
//!
//! Due pages are an event, so a killed round resumes with the same pages and requests none twice.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::revisit::agenda::RevisitQueue;
use crate::revisit::history::{Histories, Tracked, days};
use crate::revisit::settings::RefreshSettings;
use crate::revisit::{Choice, VisitValue, plan};
use suidao_page::model::{
    Batch, Budget, CrawlUrl, Event, HostId, LinkState, Millis, PathState, Priority, QueueEntry, QueueId, QueuePolicy,
    RefreshStep, Relevance, Stop, TunnelBudget, UrlId, Validators,
};

use super::frontier::{EntryKey, Frontier, QueueHead};
use super::machine::Crawl;
use super::signals::Signals;

/// How long a round waits for its sitemaps and feeds before it chooses pages, in milliseconds.
const PATIENCE: u64 = 60_000;

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
    pub worth: VisitValue,
}

/// Refresh state of a crawl. A fold of the events, except for what is in flight and the time of the next request.
pub(super) struct Refreshing {
    pub(super) wish: Refresh,
    pub(super) histories: Histories,
    pub(super) signals: Signals,
    pub(super) round: Option<ActiveRound>,
    /// Due pages, with the value of a visit.
    pub(super) due: FxHashMap<UrlId, f32>,
    pub(super) queue: Frontier,
    /// Requests in flight, and those of them for due pages.
    pub(super) in_flight: [u64; 2],
    /// Hosts that answered 304 for a changed page.
    pub(super) unreliable_validators: FxHashSet<HostId>,
    /// Of an endless refresh: the queue of revisits, and the time of the next request.
    pub(super) agenda: Option<RevisitQueue>,
    pub(super) paced: Millis,
    /// Pages that may not be requested yet, by when they may.
    pub(super) early: BinaryHeap<Reverse<(Millis, UrlId)>>,
    /// Last request of sitemaps and feeds.
    pub(super) sources_asked: Option<Millis>,
    /// One side has nothing left that can be fetched, so the other may use its share.
    pub(super) open: bool,
    /// Why the round of this run has ended, if it has.
    pub(super) stopped: Option<Stop>,
}

/// A round that has not ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ActiveRound {
    pub(super) budget: Budget,
    pub(super) begun: Millis,
    /// Finished requests, and those of them for due pages.
    pub(super) spent: [u64; 2],
    /// Unanswered requests for other pages and robots.txt. They do not count as spent, up to as many as the round has
    /// requests.
    pub(super) unanswered: u64,
    /// Pages have been chosen, with the results of sitemaps and feeds.
    pub(super) planned: bool,
}

impl Refreshing {
    pub fn new(wish: Refresh, seed: u64) -> Self {
        Self {
            histories: Histories::new(&wish.settings),
            signals: Signals::default(),
            round: None,
            due: FxHashMap::default(),
            queue: Frontier::new(QueuePolicy::BestFirst, seed),
            in_flight: [0; 2],
            unreliable_validators: FxHashSet::default(),
            sources_asked: None,
            agenda: None,
            early: BinaryHeap::new(),
            paced: Millis(0),
            open: false,
            stopped: None,
            wish,
        }
    }

    pub fn settings(&self) -> &RefreshSettings {
        &self.wish.settings
    }

    /// Whether the next request is for a due page: if they have had less than their share.
    fn is_turn(&self) -> bool {
        let Some(round) = &self.round else { return false };
        let [all, again] = [0, 1].map(|at| round.spent[at] + self.in_flight[at]);
        let owed = (1.0 - self.wish.settings.discovery) * (all + 1) as f64 - again as f64;
        owed > 1e-9
    }

    /// Whether a due page (`again`) or a new page may have the next request. If requests are counted, each side keeps
    /// its share as long as it has pages left, even if their hosts must wait.
    fn may(&self, again: bool, queued: u64) -> bool {
        if !again && self.wish.settings.discovery <= 0.0 {
            return false;
        }
        let Some(ActiveRound { budget: Budget::Round { requests: Some(most), .. }, spent, .. }) = &self.round else {
            return true;
        };
        let [all, visits] = [0, 1].map(|at| spent[at] + self.in_flight[at]);
        let due = (self.due.len() as u64).saturating_sub(self.in_flight[1]);
        // a share of a count
        let discovery = (self.wish.settings.discovery * *most as f64).round() as u64;
        self.open
            || if again {
                visits < most.saturating_sub(discovery) || queued <= due
            } else {
                all - visits < discovery || due == 0
            }
    }

    pub fn rest(&mut self, host: HostId) {
        self.queue.rest(host);
    }

    /// The visit value with the signals since the last visit.
    pub(super) fn doubted(&self, worth: VisitValue, page: &Tracked, host: HostId) -> VisitValue {
        VisitValue { doubt: self.signals.doubt(host, page.signals), ..worth }
    }

    fn pages(&self, now: Millis) -> impl Iterator<Item = (UrlId, &Tracked)> {
        let shortest = self.wish.settings.shortest;
        // Nor pages that this round requested before it chose its pages.
        let begun = self.round.filter(|round| matches!(round.budget, Budget::Round { .. })).map(|round| round.begun);
        let rested = move |page: &Tracked| {
            days(now.since(page.asked)) >= shortest && begun.is_none_or(|begun| page.asked < begun)
        };
        self.histories.iter().filter(move |(id, page)| rested(page) && !self.due.contains_key(id))
    }
}

impl Crawl {
    /// Starts a round, or resumes one that did not finish.
    pub fn begin_refresh(&mut self, now: Millis) -> Option<Batch> {
        let refreshing = self.refreshing.as_mut()?;
        let budget = refreshing.wish.budget;
        refreshing.paced = now;
        let goes_on = |round: &ActiveRound| round.budget == budget && !is_over(round, 0, now);
        if matches!(budget, Budget::Round { .. }) && refreshing.round.as_ref().is_some_and(goes_on) {
            return None;
        }
        let mut events = std::mem::take(&mut self.pending);
        if self.refreshing.as_ref()?.round.is_some() {
            self.tell(&mut events, spent(), now);
        }
        let most = self.most_sources();
        let sources = self.sources(&mut events, most, now);
        let step = RefreshStep { budget: Some(budget), sources, ..RefreshStep::default() };
        self.tell(&mut events, Event::Refresh(Box::new(step)), now);
        if let Some(refreshing) = &mut self.refreshing {
            refreshing.sources_asked = Some(now);
        }
        if matches!(budget, Budget::PerDay(_)) {
            self.make_agenda(now);
        }
        Some(Batch { at: now, took: None, events })
    }

    /// Maximum number of sitemaps and feeds to read: a quarter of the requests for known pages, or one per ten pages if
    /// requests are not counted.
    pub(super) fn most_sources(&self) -> usize {
        let Some(refreshing) = &self.refreshing else { return 0 };
        match refreshing.wish.budget {
            Budget::Round { requests: Some(most), .. } => {
                (most as f64 * (1.0 - refreshing.wish.settings.discovery) / 4.0) as usize
            }
            _ => refreshing.histories.len() / 10 + 1,
        }
    }

    /// Chooses the pages of the round, once sitemaps and feeds are read.
    fn choose(&mut self, now: Millis) {
        let Some(refreshing) = &self.refreshing else { return };
        let Some(ActiveRound { budget: Budget::Round { requests, .. }, begun, planned: false, .. }) = refreshing.round
        else {
            return;
        };
        // Sources of failing hosts are not waited for.
        let answers = |id: &UrlId| !self.hosts.get(self.urls.get(*id).host()).failing;
        let waits = now.since(begun) < PATIENCE && refreshing.due.keys().any(answers);
        if waits || refreshing.stopped.is_some() {
            return;
        }
        let most = requests.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let due = self.plan(now, most).into_iter().map(|planned| (planned.id, planned.value as f32)).collect();
        let event = Event::Refresh(Box::new(RefreshStep { due, ..RefreshStep::default() }));
        self.apply(&event, now);
        self.pending.push(event);
    }

    /// Pages that a round would revisit, best first, at most `most`.
    pub fn plan(&self, now: Millis, most: usize) -> Vec<PlannedVisit> {
        let Some(refreshing) = &self.refreshing else { return Vec::new() };
        let settings = &refreshing.wish.settings;
        let mut choices: Vec<Choice> = refreshing
            .pages(now)
            // A host that failed recently is not asked in this round.
            .filter(|(page, _)| {
                let host = self.hosts.get(self.urls.get(*page).host());
                host.deferred_until.is_none_or(|until| until <= now)
            })
            .filter_map(|(page, tracked)| {
                let worth = refreshing.doubted(tracked.worth(settings, now)?, tracked, self.urls.get(page).host());
                Some(Choice { page, host: self.urls.get(page).host(), worth, last: days(tracked.asked.0) })
            })
            .filter(|choice| settings.is_time(choice.worth.value(days(now.0) - choice.last)))
            .collect();
        choices.sort_unstable_by_key(|choice| choice.page);
        let worths: FxHashMap<UrlId, VisitValue> = choices.iter().map(|choice| (choice.page, choice.worth)).collect();
        let per_host = settings.per_host.map(|most| most as usize);
        let chosen = plan(choices.into_iter(), days(now.0), most, per_host);
        chosen
            .into_iter()
            .filter_map(|(id, value)| {
                Some(PlannedVisit { id, url: self.urls.url(id), value, worth: *worths.get(&id)? })
            })
            .collect()
    }

    /// Histories of the fetched pages, if the crawl revisits pages.
    pub fn histories(&self) -> Option<&Histories> {
        self.refreshing.as_ref().map(|refreshing| &refreshing.histories)
    }

    /// Queued URLs never fetched, best first, at most `most`.
    pub fn waiting(&self, most: usize) -> Vec<(CrawlUrl, f32)> {
        let queued = (0..u32::try_from(self.urls.len()).unwrap_or(u32::MAX))
            .map(UrlId)
            .filter(|id| self.urls.get(*id).state == LinkState::Queued && !self.is_due(*id));
        let mut all: Vec<(Priority, UrlId)> = queued.map(|id| (self.urls.get(id).place().priority, id)).collect();
        all.sort_unstable_by_key(|(priority, id)| (std::cmp::Reverse(*priority), *id));
        all.into_iter().take(most).map(|(priority, id)| (self.urls.url(id), priority.get())).collect()
    }

    /// Whether a URL is queued or in flight because its page is due.
    pub(super) fn is_due(&self, id: UrlId) -> bool {
        self.refreshing.as_ref().map_or(self.left_due.contains(&id), |refreshing| refreshing.due.contains_key(&id))
    }

    pub(super) fn is_source(&self, id: UrlId) -> bool {
        let source =
            |refreshing: &Refreshing| refreshing.signals.is_source(id) && refreshing.histories.get(id).is_none();
        self.refreshing.as_ref().is_some_and(source)
    }

    /// Validators for revisiting a page or a source. A server that always answers 304 is detected by unconditional
    /// requests, which become rarer while it proves right.
    pub(super) fn validators(&self, id: UrlId) -> Option<Box<Validators>> {
        let refreshing = self.refreshing.as_ref()?;
        let Some(page) = refreshing.histories.get(id) else { return refreshing.signals.validators(id) };
        let checked = page.unchanged_streak >= 4 && page.unchanged_streak.is_power_of_two();
        let believed = !checked && !refreshing.unreliable_validators.contains(&self.urls.get(id).host());
        page.validators.clone().filter(|_| believed)
    }

    /// The history of a due page.
    pub(super) fn tracked(&self, id: UrlId) -> Option<&Tracked> {
        let refreshing = self.refreshing.as_ref()?;
        refreshing.due.get(&id).and_then(|_| refreshing.histories.get(id))
    }

    /// Whether a page has been missing for longer than the grace period.
    pub(super) fn is_lost(&self, id: UrlId, now: Millis) -> bool {
        let Some(refreshing) = &self.refreshing else { return false };
        let missing = refreshing.histories.get(id).filter(|page| !page.retired).and_then(|page| page.missing);
        missing.is_some_and(|since| days(now.since(since)) >= refreshing.wish.settings.grace)
    }

    /// Why the next request must wait: the budget is spent, or its time has not come.
    pub(super) fn refresh_rests(&mut self, now: Millis) -> Option<Result<Millis, Stop>> {
        let refreshing = self.refreshing.as_ref()?;
        if let Some(stop) = refreshing.stopped {
            return Some(Err(stop));
        }
        let round = refreshing.round.as_ref()?;
        if let Budget::PerDay(_) = round.budget {
            return (refreshing.paced > now).then_some(Ok(refreshing.paced));
        }
        is_over(round, refreshing.in_flight[0], now).then_some(Err(Stop::BudgetSpent))
    }

    /// Ends a round: pages that it did not reach are no longer due.
    pub(super) fn end_round(&mut self, stop: Stop, now: Millis) {
        let Some(refreshing) = &mut self.refreshing else { return };
        refreshing.stopped = Some(stop);
        if refreshing.round.is_some() {
            let event = spent();
            self.apply(&event, now);
            self.pending.push(event);
        }
    }

    /// Takes the next URL, and whether it is a due page.
    pub(super) fn take(&mut self, turn: u64, now: Millis) -> Option<(QueueHead, bool)> {
        let queued = self.progress.queued;
        let may = |again| self.refreshing.as_ref().is_none_or(|refreshing| refreshing.may(again, queued));
        let (may_visit, may_discover) = (may(true), may(false));
        if may_visit
            && self.refreshing.as_ref().is_some_and(Refreshing::is_turn)
            && let Some(head) = self.take_due(now)
        {
            return Some((head, true));
        }
        let (urls, refreshing) = (&self.urls, &self.refreshing);
        let is_due = |id| refreshing.as_ref().is_some_and(|refreshing| refreshing.due.contains_key(&id));
        let waits = |id, claim: EntryKey| {
            let known = urls.get(id);
            known.state == LinkState::Queued && claim.is_of(known.place()) && !is_due(id)
        };
        if may_discover && let Some(head) = self.frontier.pop(turn, waits) {
            if let Some(refreshing) = &mut self.refreshing {
                refreshing.queue.rest(head.host);
            }
            return Some((head, false));
        }
        if may_visit { self.take_due(now).map(|head| (head, true)) } else { None }
    }

    /// One side has nothing that can be fetched. Returns whether the other side may use its share from now on.
    pub(super) fn open_shares(&mut self) -> bool {
        self.refreshing.as_mut().is_some_and(|refreshing| {
            refreshing.round.is_some() && refreshing.stopped.is_none() && !std::mem::replace(&mut refreshing.open, true)
        })
    }

    /// Nothing else is left: asks the hosts that failed before the round. Returns whether there were any.
    pub(super) fn call_those_who_stood_back(&mut self, now: Millis) -> bool {
        if self.refreshing.as_ref().is_none_or(|refreshing| refreshing.stopped.is_some()) {
            return false;
        }
        let called = self.hosts.call(now);
        for host in &called {
            self.rest(*host, now, now);
        }
        !called.is_empty()
    }

    /// Whether a round that fetches no new pages has nothing left to do.
    pub(super) fn is_round_done(&self) -> bool {
        self.refreshing.as_ref().is_some_and(|refreshing| {
            let planned = refreshing.round.is_some_and(|round| round.planned);
            refreshing.wish.settings.discovery <= 0.0 && planned && refreshing.due.is_empty()
        })
    }

    /// When the first known page may be requested again, if any.
    pub fn next_due(&self) -> Option<Millis> {
        let refreshing = self.refreshing.as_ref()?;
        let pages = refreshing.histories.iter().filter(|(_, page)| !page.retired);
        pages.map(|(_, page)| page.earliest_revisit(refreshing.settings())).min()
    }

    fn take_due(&mut self, now: Millis) -> Option<QueueHead> {
        self.choose(now);
        self.find_due(now);
        let Refreshing { due, queue, .. } = self.refreshing.as_mut()?;
        let urls = &self.urls;
        let waits = |id: UrlId, claim: EntryKey| {
            let place = |value: &f32| claim.is_of(place(*value));
            urls.get(id).state == LinkState::Queued && due.get(&id).is_some_and(place)
        };
        let head = queue.pop(0, waits)?;
        self.frontier.rest(head.host);
        Some(head)
    }

    /// When a round limited by time is over.
    pub(super) fn round_ends(&self) -> Option<Millis> {
        let Budget::Round { seconds, .. } = self.refreshing.as_ref()?.round?.budget else { return None };
        Some(self.refreshing.as_ref()?.round?.begun.after(seconds?.saturating_mul(1000)))
    }

    /// Counts a request of the round that starts (`out`) or finishes.
    pub(super) fn count_request(&mut self, again: bool, out: bool, now: Millis) {
        let Some(refreshing) = &mut self.refreshing else { return };
        for (count, counts) in refreshing.in_flight.iter_mut().zip([true, again]) {
            *count = if out { *count + u64::from(counts) } else { count.saturating_sub(u64::from(counts)) };
        }
        if let (true, Some(ActiveRound { budget: Budget::PerDay(per_day), .. })) = (out, refreshing.round) {
            // After a pause, at most one hour's requests are made up for.
            let hour_ago = Millis(now.0.saturating_sub(3_600_000));
            refreshing.paced = refreshing.paced.max(hour_ago).after(86_400_000 / per_day.max(1));
        }
    }

    pub(super) fn requeue(&mut self, head: QueueHead, again: bool) {
        match &mut self.refreshing {
            Some(refreshing) if again => refreshing.queue.requeue(head),
            _ => self.frontier.requeue(head),
        }
    }

    /// Current score of a queued URL, as a due page (`again`) or as a new one.
    pub(super) fn worth(&self, id: UrlId, again: bool) -> Priority {
        let due = self.refreshing.as_ref().filter(|_| again).and_then(|refreshing| refreshing.due.get(&id));
        due.map_or_else(|| self.urls.get(id).place().priority, |value| Priority::new(*value))
    }

    /// Marks the host as not ready in all queues.
    pub(super) fn rest_queues(&mut self, host: HostId) {
        self.frontier.rest(host);
        if let Some(refreshing) = &mut self.refreshing {
            refreshing.rest(host);
        }
    }

    pub(super) fn make_ready(&mut self, host: HostId) {
        self.frontier.make_ready(host);
        if let Some(refreshing) = &mut self.refreshing {
            refreshing.queue.make_ready(host);
        }
    }
}

fn spent() -> Event {
    Event::Refresh(Box::new(RefreshStep { budget: Some(Budget::Spent), ..RefreshStep::default() }))
}

/// Queue entry of a due page.
pub(super) fn place(value: f32) -> QueueEntry {
    let trail = PathState { depth: 0, hops: 0, k: TunnelBudget::Unbounded, inherited: Relevance::ZERO };
    QueueEntry { lane: QueueId::MAIN, priority: Priority::new(value), trail }
}

fn is_over(round: &ActiveRound, in_flight: u64, now: Millis) -> bool {
    let Budget::Round { requests, seconds } = round.budget else { return false };
    requests.is_some_and(|most| round.spent[0] + in_flight >= most || round.unanswered >= most)
        || seconds.is_some_and(|most| now.since(round.begun) >= most.saturating_mul(1000))
}
