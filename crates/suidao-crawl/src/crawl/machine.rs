//! Entry points of the machine: [`Crawl::next`], [`Crawl::settle`], seeds and restarts. Each asks `decide` for events,
//! applies them to the state, and returns them for the log; [`Crawl::restore`] applies the same events after a restart.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::strategy::Strategy;
use suidao_forum::forum::explore::ExploreStep;
use suidao_page::model::{
    Batch, Budget, CrawlUrl, Event, ForumMap, HostId, LearntSum, LinkState, Millis, RefreshStep, SkipReason, Stop,
    UrlId,
};

use super::counts::Progress;
use super::decide::choose::{self, HeadRuling, Pause};
use super::decide::offers::{self, OfferedLink};
use super::decide::{forum, page, response, revisits, seeds};
use super::draft::{Decided, Draft};
use super::forum_state::Exploration;
use super::frontier::QueueHead;
use super::outcome::{FetchOutcome, ResponseMeta};
use super::overview::{Overview, Unreached, WaitReasons};
use super::partition::SentLink;
use super::refresh::{ActiveRound, NEW_LINK, PlannedVisit, is_over};
use super::run::Run;
use super::settings::CrawlSettings;
use super::spend::{BestValues, WaitCosts};
use super::state::{EventTime, State};
use super::ticket::{FetchKind, Next, Ticket};
use super::traps::TrapCounts;
use crate::revisit::history::Histories;

pub struct Crawl {
    pub(super) state: State,
    pub(super) run: Run,
}

/// Seeds, restarts and queries.
impl Crawl {
    pub fn new(settings: CrawlSettings, strategy: Box<dyn Strategy>) -> Self {
        Self { state: State::new(settings, strategy), run: Run::default() }
    }

    /// Replays a batch. Call it with every batch ever returned, in order, before any other function.
    pub fn restore(&mut self, batch: &Batch) {
        for event in &batch.events {
            self.state.apply(event, EventTime { at: batch.at, latency: batch.latency });
        }
        // They were sent before the batch was written.
        self.state.leaving.clear();
        self.run.restored = true;
    }

    /// Allows this many more pages.
    pub fn allow(&mut self, pages: u64) {
        let progress = self.state.counts.progress;
        let limits = &mut Arc::make_mut(&mut self.state.settings).limits;
        self.run.allowed = limits.most_requests(Some(pages)).map(|most| {
            let counted = if limits.requests.is_some() { progress.requests } else { progress.answered() };
            counted.saturating_add(most)
        });
        limits.pages = Some(progress.pages + pages);
    }

    /// Adds seeds in one batch. Known ones are unchanged, except those refused for a private address: that may be
    /// allowed now.
    pub fn seed(&mut self, seeds: &[CrawlUrl], now: Millis) -> Batch {
        self.take_seeds(seeds, &seeds::PlainHosts::of(seeds), now)
    }

    /// As [`Crawl::seed`], with the next portion of a list, so that a list of a million is not in memory as events at
    /// once; none when all are added.
    pub fn seed_portion(&mut self, seeds: &mut seeds::Seeding, now: Millis) -> Option<Batch> {
        let portion = seeds.next()?;
        Some(self.take_seeds(portion, seeds.plain(), now))
    }

    fn take_seeds(&mut self, seeds: &[CrawlUrl], plain: &seeds::PlainHosts, now: Millis) -> Batch {
        self.state.stop.begin(now);
        let mut events = Vec::new();
        for url in seeds {
            // One after the other: each seed sees the hosts of those before it.
            let numbered = self.decide(&mut events, EventTime::without_request(now), |draft| seeds::number(draft, url));
            let Some((id, is_new)) = numbered else { continue };
            self.decide(&mut events, EventTime::without_request(now), |draft| seeds::queue(draft, id, is_new, plain));
        }
        Batch { at: now, latency: None, events }
    }

    /// Takes links from outside: they are judged and queued as links of a page at the end of the path that each names.
    /// URLs that were fetched or are excluded stay so.
    pub fn offer(&mut self, links: &[OfferedLink], now: Millis) -> Batch {
        let mut events = Vec::new();
        for link in links {
            let numbered =
                self.decide(&mut events, EventTime::without_request(now), |draft| offers::number(draft, link));
            let Some(id) = numbered else { continue };
            self.decide(&mut events, EventTime::without_request(now), |draft| offers::queue(draft, id, link));
        }
        Batch { at: now, latency: None, events }
    }

    /// Takes links from other partitions.
    pub fn receive(&mut self, links: &[SentLink], now: Millis) -> Batch {
        let time = EventTime::without_request(now);
        let (mut events, mut new) = (Vec::new(), Vec::new());
        for sent in links {
            let numbered = self.decide(&mut events, time, |draft| offers::number_sent(draft, sent));
            let Some(id) = numbered else { continue };
            self.decide(&mut events, time, |draft| offers::queue_sent(draft, id, sent));
            new.extend((sent.new && self.state.is_queued_in_round(id)).then_some((id, NEW_LINK)));
        }
        if !new.is_empty() {
            let step = RefreshStep { due: new, ..RefreshStep::default() };
            self.decide(&mut events, time, |draft| draft.push(Event::Refresh(Box::new(step))));
        }
        Batch { at: now, latency: None, events }
    }

    /// What the strategy has learnt here and other partitions can use; none if it shares nothing.
    pub fn learnt(&self) -> Option<Vec<LearntSum>> {
        self.state.strategy.learning()?.shared_sums()
    }

    /// Takes sums over all other partitions, as [`Crawl::learnt`] gives them. Those that the strategy can use and that
    /// have changed enough become an event.
    pub fn learn(&mut self, elsewhere: &[LearntSum], now: Millis) -> Batch {
        let mut events = Vec::new();
        let changed = self.state.strategy.learning().map(|learning| learning.changed_elsewhere(elsewhere));
        if let Some(sums) = changed.filter(|sums| !sums.is_empty()) {
            let event = Event::LearntElsewhere { sums };
            self.decide(&mut events, EventTime::without_request(now), |draft| draft.push(event));
        }
        Batch { at: now, latency: None, events }
    }

    /// The links of the last batch that lead to other partitions, each if it is the first to its URL or better than
    /// those sent before.
    pub fn take_leaving(&mut self, batch: &Batch) -> Vec<SentLink> {
        let leaving = std::mem::take(&mut self.state.leaving);
        let sent = leaving.into_iter().map(|link| {
            let new = self.state.is_new_on_visited(link.to, &batch.events);
            SentLink::of(self.url(link.to), link, new, &batch.events)
        });
        sent.collect()
    }

    /// The expected values of the best URLs, by which [`CrawlSettings::spend`] is applied to several partitions. Linear in
    /// the hosts in flight or resting.
    pub fn best_values(&mut self, now: Millis) -> BestValues {
        let taken = self.state.counts.attempts + self.run.pages_in_flight;
        self.state.best_values(taken, now)
    }

    pub fn url(&self, id: UrlId) -> CrawlUrl {
        self.state.urls.url(id)
    }

    pub fn progress(&self) -> Progress {
        self.state.counts.progress
    }

    /// Numbers of excluded URLs by reason. A URL accepted later is not counted.
    pub fn skipped_by_reason(&self) -> &BTreeMap<SkipReason, u64> {
        &self.state.counts.skipped_by_reason
    }

    pub fn traps(&self) -> TrapCounts {
        self.state.traps.counts
    }

    /// What holding URLs back has cost in this run.
    pub fn wait_costs(&self) -> WaitCosts {
        self.run.wait_costs
    }

    /// Tickets not settled yet.
    pub fn in_flight(&self) -> u64 {
        self.run.in_flight()
    }

    /// What is known of the crawl's forum; of the first, if it has several.
    pub fn forum(&self) -> Exploration<ForumMap> {
        if let Some(why) = self.run.forum_failure {
            return Exploration::Failed(why.to_owned());
        }
        let forums = &self.state.forums;
        match (&forums.exploration, forums.sites.iter().next()) {
            (Exploration::Failed(why), _) => Exploration::Failed(why.clone()),
            (Exploration::Understood(()), Some(site)) => Exploration::Understood(site.map().clone()),
            _ => Exploration::Unfinished,
        }
    }

    /// Histories of the fetched pages, if the crawl revisits pages.
    pub fn histories(&self) -> Option<&Histories> {
        self.state.refreshing.as_ref().map(|refreshing| &refreshing.histories)
    }

    /// Pages that a round would revisit, best first, at most `most`.
    pub fn plan(&self, now: Millis, most: usize) -> Vec<PlannedVisit> {
        self.state.plan(now, most)
    }

    /// Queued URLs never fetched, best first, at most `most`.
    pub fn waiting(&self, most: usize) -> Vec<(CrawlUrl, f32)> {
        self.state.waiting(most)
    }

    /// When the first known page may be requested again, if any.
    pub fn next_due(&self) -> Option<Millis> {
        self.state.next_due()
    }

    /// Makes a decision on the state as it is, applies it, and adds its events.
    pub(super) fn decide<T>(
        &mut self,
        events: &mut Vec<Event>,
        time: EventTime,
        decision: impl FnOnce(&mut Draft) -> T,
    ) -> T {
        let mut draft = Draft::new(&self.state, time.at);
        let result = decision(&mut draft);
        let decided = draft.finish();
        events.extend(self.commit(decided, time));
        result
    }

    /// Applies decided events, and those that follow from them. Returns all, in order.
    pub(super) fn commit(&mut self, decided: Decided, time: EventTime) -> Vec<Event> {
        let Decided { mut events, perhaps_gone, mut reached } = decided;
        for event in &events {
            self.state.apply(event, time);
        }
        if let Some((id, to)) = perhaps_gone.filter(|(id, _)| self.state.is_lost(*id, time.at)) {
            let event = Event::PageGone { id, to };
            self.state.apply(&event, time);
            events.push(event);
        }
        while let Some(further) = page::follow_up(&self.state, &mut reached, time.at) {
            for event in &further.events {
                self.state.apply(event, time);
            }
            events.extend(further.events);
            reached.extend(further.reached);
        }
        events
    }

    /// As [`Crawl::decide`], in a batch of its own; none without events.
    pub(super) fn record(&mut self, now: Millis, decision: impl FnOnce(&mut Draft)) -> Option<Batch> {
        let mut events = Vec::new();
        self.decide(&mut events, EventTime::without_request(now), decision);
        (!events.is_empty()).then_some(Batch { at: now, latency: None, events })
    }
}

/// Status, and checkpoints.
impl Crawl {
    /// The status with at most `most` entries per list. Linear in the number of hosts.
    pub fn overview(&self, now: Millis, most: usize) -> Overview {
        Overview { wait_threshold: self.wait_threshold(), ..self.state.overview(self.in_flight(), now, most) }
    }

    /// What the crawl waits for, with at most `most` entries per list. Linear in the number of hosts.
    pub fn waits(&self, now: Millis, most: usize) -> WaitReasons {
        self.state.waits(now, most)
    }

    /// Hosts whose last request failed, at most `most` by name. Linear in the number of hosts.
    pub fn unreached(&self, most: usize) -> Unreached {
        self.state.unreached(most)
    }

    /// The state in pieces. None for the crawl of one forum and for a refresh, which resume from their events alone.
    pub fn pieces(&self) -> Option<impl Iterator<Item = Vec<u8>> + '_> {
        self.state.pieces()
    }

    /// Loads a piece into a new machine, in the order of [`Crawl::pieces`]. Returns false for an invalid piece; the
    /// machine is unusable afterwards.
    pub fn take_piece(&mut self, piece: &[u8]) -> bool {
        self.state.take_piece(piece)
    }

    /// Call after the last piece: requeues what was in flight. Returns false if the pieces do not fit together; the
    /// machine is unusable afterwards.
    pub fn set_up(&mut self) -> bool {
        self.run.restored = true;
        self.state.set_up()
    }
}

/// Results of requests.
impl Crawl {
    /// Settles a ticket with its outcome and response metadata; returns the events that this causes.
    pub fn settle(&mut self, ticket: Ticket, outcome: FetchOutcome, meta: ResponseMeta, now: Millis) -> Batch {
        let (groups, again, id) = (ticket.groups, ticket.again, ticket.kind.url_id());
        self.finish(&ticket);
        if let FetchOutcome::Page { .. } = outcome {
            self.run.wait_costs.page(now);
        }
        let mut events = Vec::new();
        let time = EventTime { at: now, latency: meta.latency };
        let host_facts = |draft: &mut Draft| response::host_facts(draft, &ticket, &outcome, meta);
        let repeat = self.decide(&mut events, time, host_facts);
        if !repeat {
            self.decide(&mut events, time, |draft| response::settled(draft, ticket, outcome, meta));
        } else if let Some(id) = id {
            // No event: in the log it never left the queue.
            self.state.requeue(id, again);
        }
        self.state.leave_groups(groups, now);
        Batch { at: now, latency: meta.latency, events }
    }

    /// Requeues a ticket without an outcome, because the network or the process was suspended: its URL is queued again,
    /// and its host waits as after any request.
    pub fn requeue_ticket(&mut self, ticket: Ticket, now: Millis) {
        self.finish(&ticket);
        // The page that needed a robots.txt is already queued.
        if let Some(id) = ticket.kind.url_id() {
            self.state.requeue(id, ticket.again);
        }
        let wait = self.state.hosts.get(ticket.host).delay(&self.state.settings.politeness);
        self.state.delay_until(ticket.host, now.after(wait), now);
        self.state.leave_groups(ticket.groups, now);
    }

    /// A request is no longer in flight.
    pub(super) fn finish(&mut self, ticket: &Ticket) {
        self.state.hosts.get_mut(ticket.host).in_flight = false;
        self.run.finish(ticket.kind.url_id().is_some(), ticket.again);
    }
}

/// The next request.
impl Crawl {
    pub fn next(&mut self, now: Millis) -> Next {
        let ends = [self.state.round_ends(), self.state.stop.ends(&self.state.settings.goals)];
        match (self.choose(now), ends.into_iter().flatten().filter(|end| *end > now).min()) {
            // A wait must not outlast the end of a round or run.
            (Next::Wait(until), Some(end)) => Next::Wait(Some(until.map_or(end, |until| until.min(end)))),
            (next, _) => next,
        }
    }

    fn choose(&mut self, now: Millis) -> Next {
        if std::mem::take(&mut self.run.restored) {
            self.state.delay_all(now);
        }
        self.state.wake(now);
        match choose::pause(&self.state, &self.run, now) {
            None => {}
            Some(Pause::Wait(until)) => return Next::Wait(until),
            Some(Pause::End(_)) if self.in_flight() > 0 => return Next::Wait(None),
            Some(Pause::End(stop)) => return self.end(stop, now),
        }
        if let Some(batch) = self.visit_due(now) {
            return Next::Record(batch);
        }
        if let Some(next) = self.await_grant(now) {
            return next;
        }
        // Events of URLs that are not fetched: one batch, however many there are.
        let mut events = Vec::new();
        loop {
            let head = match self.take(now) {
                Taken::Head(head) => head,
                Taken::Record(batch) => {
                    events.extend(batch.events);
                    return Next::Record(Batch { events, ..batch });
                }
                Taken::Nothing if !events.is_empty() => return Next::Record(Batch { at: now, latency: None, events }),
                Taken::Nothing => match self.idle(now) {
                    Some(next) => return next,
                    None => continue,
                },
            };
            if let Some(next) = self.serve(head, &mut events, now) {
                return next;
            }
        }
    }

    /// Decides on a head. Returns none if another head is taken next; `events` has those of the heads before it.
    fn serve(&mut self, head: QueueHead, events: &mut Vec<Event>, now: Millis) -> Option<Next> {
        let groups = self.state.hosts.get(head.host).groups();
        let mut draft = Draft::new(&self.state, now);
        let ruling = choose::rule(&mut draft, head);
        let decided = draft.finish();
        let ticket = match ruling {
            HeadRuling::Defer(by) => {
                self.state.defer(head, by, now);
                return None;
            }
            HeadRuling::Robots(_) | HeadRuling::Probe(_) | HeadRuling::Fetch(_)
                if self.must_wait(head, events, now) =>
            {
                return Some(self.wait_for_better(head, events, now));
            }
            HeadRuling::Lowered | HeadRuling::Removed => {
                events.extend(self.commit(decided, EventTime::without_request(now)));
                self.state.frontier.make_ready(head.host);
                if let HeadRuling::Removed = ruling {
                    self.state.resume_groups(groups, now);
                }
                return None;
            }
            // It is chosen again by the next call.
            _ if !events.is_empty() => {
                self.state.frontier.requeue_in_place(head);
                self.state.frontier.make_ready(head.host);
                return Some(Next::Record(Batch { at: now, latency: None, events: std::mem::take(events) }));
            }
            HeadRuling::Fetch(url) => {
                let again = head.is_due();
                self.state.set_state(head.id, LinkState::InFlight);
                let kind = choose::page_kind(&self.state, head.id, &url, again, now);
                let validators = if again { self.state.validators(head.id) } else { None };
                Ticket { validators, ..self.start(head.host, url, kind, again, now) }
            }
            HeadRuling::Probe(url) => {
                self.state.frontier.requeue_in_place(head);
                self.start(head.host, url, FetchKind::Soft404Probe(head.host), false, now)
            }
            HeadRuling::Robots(url) => {
                self.state.frontier.requeue_in_place(head);
                let (robots_url, kind) = choose::robots_request(&self.state, head.host, &url);
                Ticket { origin: url.origin(), ..self.start(head.host, robots_url, kind, false, now) }
            }
        };
        Some(Next::Fetch(ticket))
    }

    /// A request goes out.
    pub(super) fn start(&mut self, host: HostId, url: CrawlUrl, kind: FetchKind, again: bool, now: Millis) -> Ticket {
        let record = self.state.hosts.get_mut(host);
        (record.in_flight, record.last_request) = (true, now);
        let groups = record.groups();
        self.state.hosts.groups.start(groups, now);
        let round = self.state.refreshing.as_ref().and_then(|refreshing| refreshing.round);
        self.run.start(kind.url_id().is_some(), again, round, now);
        Ticket { url, kind, validators: None, host, groups, origin: String::new(), again }
    }

    /// The crawl ends; a round that did not reach its pages first records that they are no longer due.
    fn end(&mut self, stop: Stop, now: Millis) -> Next {
        // Of a partition: links of others may follow.
        if self.run.refresh.grant.is_some() {
            return Next::Done(stop);
        }
        self.run.refresh.stopped = Some(stop);
        self.record(now, revisits::end_round).map_or(Next::Done(stop), Next::Record)
    }

    /// No queue has anything that may be requested now: what to return, or none to look again.
    fn idle(&mut self, now: Millis) -> Option<Next> {
        if self.state.resume_idle_groups(now) {
            return None;
        }
        let stop = match choose::idle(&self.state, &self.run, now) {
            Pause::Wait(until) => return Some(Next::Wait(until)),
            Pause::End(stop) => stop,
        };
        if stop == Stop::FrontierEmpty && self.run.forum_failure.is_none() && self.state.forums.is_exploring() {
            return self.explore(now).map(Next::Record);
        }
        if self.open_shares() || self.state.resume_deferred(now) {
            return None;
        }
        // Everything was fetched once: from now on boards are visited by schedule.
        let completed = self.state.forums.complete();
        if let Some(batch) = completed.then(|| self.visit_due(now)).flatten() {
            return Some(Next::Record(batch));
        }
        match self.state.forums.next_visit().or_else(|| self.plans_again(now)) {
            Some(at) => Some(Next::Wait(Some(at))),
            None => Some(self.end(stop, now)),
        }
    }
}

/// Forums: exploration and visits of boards.
impl Crawl {
    /// Starts the next visit of all boards if the previous one has ended, or the first one once the forum is analysed.
    pub fn visit_boards(&mut self, now: Millis) -> Option<Batch> {
        self.record(now, forum::visit_boards)
    }

    /// Takes the next step of the exploration of a forum.
    fn explore(&mut self, now: Millis) -> Option<Batch> {
        let explorer = &self.state.forums.explorer;
        let step = explorer.next();
        if let ExploreStep::GivenUp(why) = step
            && explorer.seen().is_empty()
        {
            self.run.forum_failure = Some(why);
            return None;
        }
        self.record(now, |draft| forum::explore(draft, step))
    }

    /// Queues the boards whose visit is due.
    fn visit_due(&mut self, now: Millis) -> Option<Batch> {
        let State { forums, urls, .. } = &mut self.state;
        let steps = forums.visit_due(now, |id| urls.url(id));
        self.record(now, |draft| steps.into_iter().for_each(|step| draft.push(Event::Forum(Box::new(step)))))
    }
}

/// Where the next URL comes from.
enum Taken {
    Head(QueueHead),
    /// Pages became due.
    Record(Batch),
    Nothing,
}

/// Refresh: rounds, due pages, shares.
impl Crawl {
    /// Starts a round, or resumes one that did not finish.
    pub fn begin_refresh(&mut self, now: Millis) -> Option<Batch> {
        let refreshing = self.state.refreshing.as_ref()?;
        let budget = refreshing.request.budget;
        self.run.refresh.paced = now;
        let is_unfinished = |round: &ActiveRound| round.budget == budget && !is_over(round, 0, now);
        if matches!(budget, Budget::Round { .. }) && refreshing.round.as_ref().is_some_and(is_unfinished) {
            return None;
        }
        Some(self.begin_round(now))
    }

    pub(super) fn begin_round(&mut self, now: Millis) -> Batch {
        let budget = self.state.refreshing.as_ref().map(|refreshing| refreshing.request.budget);
        self.run.refresh.paced = now;
        let mut events = Vec::new();
        self.decide(&mut events, EventTime::without_request(now), revisits::end_round);
        let step = RefreshStep { budget, ..RefreshStep::default() };
        self.decide(&mut events, EventTime::without_request(now), |draft| revisits::read_sources(draft, step));
        Batch { at: now, latency: None, events }
    }

    /// Takes the next URL.
    fn take(&mut self, now: Millis) -> Taken {
        let queued = self.state.counts.progress.queued;
        let refreshing = self.state.refreshing.as_ref();
        let may = |again| refreshing.is_none_or(|refreshing| refreshing.may(again, queued, &self.run.refresh));
        let (may_visit, may_discover) = (may(true), may(false));
        let has_turn = refreshing.is_some_and(|refreshing| refreshing.is_turn(&self.run.refresh));
        if refreshing.is_some_and(|refreshing| refreshing.may_follow(&self.run.refresh))
            && let Some(head) = self.state.take_new_link()
        {
            return Taken::Head(head);
        }
        if may_visit && has_turn {
            match self.take_due(now) {
                Taken::Nothing => {}
                taken => return taken,
            }
        }
        if may_discover && let Some(head) = self.state.take_new(self.state.counts.attempts + self.run.pages_in_flight) {
            return Taken::Head(head);
        }
        if may_visit { self.take_due(now) } else { Taken::Nothing }
    }

    fn take_due(&mut self, now: Millis) -> Taken {
        if let Some(batch) = self.record(now, revisits::due) {
            return Taken::Record(batch);
        }
        match self.state.take_due() {
            Some(head) => Taken::Head(head),
            None => self.plan_more(now).map_or(Taken::Nothing, Taken::Record),
        }
    }

    /// One side has nothing that can be fetched. Returns whether the other side may use its share from now on.
    fn open_shares(&mut self) -> bool {
        let has_round = self.state.refreshing.as_ref().is_some_and(|refreshing| refreshing.round.is_some());
        let opens = has_round && !self.run.refresh.open;
        self.run.refresh.open |= opens;
        opens
    }

    /// In an endless refresh, makes more pages due if none can be taken.
    pub(super) fn plan_more(&mut self, now: Millis) -> Option<Batch> {
        if self.run.refresh.plans_again.is_some_and(|at| now < at) {
            return None;
        }
        let most = self.state.wants_more_due()?;
        let batch = self.record(now, |draft| revisits::plan(draft, most));
        self.run.refresh.plans_again = batch.is_none().then(|| self.state.plans_again(now));
        batch
    }

    /// When an endless refresh plans again if nothing can be requested now.
    pub(super) fn plans_again(&self, now: Millis) -> Option<Millis> {
        self.state.refreshing.as_ref().filter(|refreshing| refreshing.is_endless())?;
        Some(self.run.refresh.plans_again.filter(|at| *at > now).unwrap_or_else(|| self.state.plans_again(now)))
    }
}
