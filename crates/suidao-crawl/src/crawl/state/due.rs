//! Refresh: which pages are due, and which visits would pay.

use rustc_hash::FxHashMap;

use super::State;
use crate::crawl::frontier::{DUE, EntryKey, QueueHead};
use crate::crawl::politeness::millis;
use crate::crawl::refresh::{ActiveRound, NEW_LINK, PlannedVisit, Refreshing, SOURCES_WAIT, due_entry};
use crate::revisit::history::{DAY, Tracked, days};
use crate::revisit::plan::{MAX_AT_ONCE, at_once};
use crate::revisit::text_loss::{Replacement, RevisitedPage, text_loss};
use crate::revisit::{Choice, VisitValue, plan};
use suidao_page::model::{
    AT_ONCE, Budget, CrawlUrl, LinkState, Millis, Page, Priority, RefreshStep, TextLoss, UrlId, Validators,
};

/// Milliseconds; longer than any round that finishes.
/// Draws of a random URL before the best one is taken instead.
const DRAWS: usize = 64;

const A_DAY: u64 = 86_400_000;

impl State {
    pub(super) fn observe_refresh_step(&mut self, step: &RefreshStep, at: Millis) {
        if step.due.iter().any(|(_, value)| *value == NEW_LINK) {
            let new: Vec<UrlId> = step.due.iter().map(|(id, _)| *id).collect();
            return self.queue_new_links(&new);
        }
        let Some(refreshing) = &mut self.refreshing else { return };
        let (shortest, budget) = (refreshing.request.settings.shortest_ms(), refreshing.request.budget);
        if let Some(budget) = step.budget {
            let left: Vec<UrlId> = refreshing.due.drain().map(|(id, _)| id).collect();
            refreshing.round = (budget != Budget::Spent).then(|| {
                let known = self.urls.len();
                ActiveRound { budget, begun: at, known, ..ActiveRound::default() }
            });
            refreshing.new_links.clear();
            for id in left {
                if self.urls.get(id).state == LinkState::Queued {
                    self.set_state(id, LinkState::Fetched);
                }
            }
        }
        let reads_sources = step.due.is_empty() && step.budget != Some(Budget::Spent);
        if reads_sources {
            // Resets the hosts' failures too: they may be back. Those that failed last get requests when nothing else
            // is left, and not sooner than a page would be.
            let beyond = match budget {
                Budget::PerDay(_) => millis(self.settings.politeness.patience).saturating_add(1),
                _ => A_DAY,
            };
            let rest = self.hosts.defer_failing(shortest, beyond, at);
            for (host, until) in rest {
                self.delay_until(host, until, at);
            }
        }
        if let Some(refreshing) = &mut self.refreshing {
            if reads_sources {
                refreshing.sources_read = Some(at);
                refreshing.new_texts.clear();
            }
            refreshing.signals.add(&step.sources, true);
            if let Some(round) = &mut refreshing.round {
                round.planned |= step.budget.is_none() && step.sources.is_empty();
            }
        }
        self.make_sources_due(&step.sources);
        if let Some(refreshing) = self.refreshing.as_mut().filter(|refreshing| refreshing.is_endless()) {
            step.due.iter().for_each(|(id, _)| refreshing.count_visit(self.urls.get(*id).host(), at));
        }
        self.make_pages_due(&step.due);
    }

    /// Makes sources due, before all pages.
    pub(super) fn make_sources_due(&mut self, sources: &[UrlId]) {
        let due: Vec<(UrlId, f32)> = sources.iter().map(|id| (*id, AT_ONCE)).collect();
        self.make_pages_due(&due);
    }

    fn make_pages_due(&mut self, due: &[(UrlId, f32)]) {
        for (id, value) in due {
            let Some(refreshing) = &mut self.refreshing else { return };
            if matches!(self.urls.get(*id).state, LinkState::Queued | LinkState::InFlight) {
                continue;
            }
            refreshing.due.insert(*id, *value);
            self.urls.get_mut(*id).forget_tries();
            self.set_state(*id, LinkState::Queued);
            self.queue_due(*id);
        }
    }

    /// Maximum number of sitemaps and feeds to read: a quarter of the requests for known pages, or one per ten pages if
    /// requests are not counted.
    pub fn most_sources(&self) -> usize {
        let Some(refreshing) = &self.refreshing else { return 0 };
        match refreshing.request.budget {
            Budget::Round { requests: Some(most), .. } => {
                let all = (most as f64 * (1.0 - refreshing.request.settings.discovery) / 4.0) as usize;
                // Of a partition, its part of them.
                all.div_ceil(self.settings.partition.map_or(1, |partition| partition.count.max(1) as usize))
            }
            _ => refreshing.histories.len() / 10 + 1,
        }
    }

    /// The value of a visit to a known page now.
    pub fn value_now(&self, id: UrlId, now: Millis) -> Option<f32> {
        let refreshing = self.refreshing.as_ref()?;
        let (tracked, host) = (refreshing.histories.get(id)?, self.urls.get(id).host());
        let visit_value = refreshing.value_of_visit(tracked, host)?;
        Some(visit_value.value(days(now.0) - days(tracked.last_request.0)) as f32)
    }

    /// Pages that a round would revisit, best first, at most `most`.
    pub fn plan(&self, now: Millis, most: usize) -> Vec<PlannedVisit> {
        let Some(refreshing) = &self.refreshing else { return Vec::new() };
        let settings = &refreshing.request.settings;
        let mut choices: Vec<Choice> = refreshing
            .pages(now)
            // A host that failed recently gets no request in this round.
            .filter(|(page, _)| {
                let host = self.hosts.get(self.urls.get(*page).host());
                host.deferred_until.is_none_or(|until| until <= now)
            })
            .filter_map(|(page, tracked)| {
                let host = self.urls.get(page).host();
                let visit_value = refreshing.value_of_visit(tracked, host)?;
                Some(Choice { page, host, visit_value, last: days(tracked.last_request.0) })
            })
            .collect();
        choices.sort_unstable_by_key(|choice| choice.page);
        let visit_values: FxHashMap<UrlId, VisitValue> =
            choices.iter().map(|choice| (choice.page, choice.visit_value)).collect();
        let per_host = settings.per_host.map(|most| most as usize);
        // The cap of an endless refresh is per day.
        let (day, visits) = &refreshing.visits;
        let none = FxHashMap::default();
        let visits = if *day == now.0 / DAY as u64 { visits } else { &none };
        let chosen = plan(choices.into_iter(), days(now.0), most, per_host, visits);
        chosen
            .into_iter()
            .filter_map(|(id, value)| {
                Some(PlannedVisit { id, url: self.urls.url(id), value, visit_value: *visit_values.get(&id)? })
            })
            .collect()
    }

    /// Queued URLs never fetched, best first, at most `most`.
    pub fn waiting(&self, most: usize) -> Vec<(CrawlUrl, f32)> {
        let queued = (0..u32::try_from(self.urls.len()).unwrap_or(u32::MAX))
            .map(UrlId)
            .filter(|id| self.urls.get(*id).state == LinkState::Queued && !self.is_due(*id));
        let mut all: Vec<(Priority, UrlId)> = queued.map(|id| (self.urls.get(id).entry().priority, id)).collect();
        all.sort_unstable_by_key(|(priority, id)| (std::cmp::Reverse(*priority), *id));
        all.into_iter().take(most).map(|(priority, id)| (self.urls.url(id), priority.get())).collect()
    }

    pub fn is_source(&self, id: UrlId) -> bool {
        let source =
            |refreshing: &Refreshing| refreshing.signals.is_source(id) && refreshing.histories.get(id).is_none();
        self.refreshing.as_ref().is_some_and(source)
    }

    /// Validators for revisiting a page or a source. A server that always answers 304 is detected by unconditional
    /// requests, which become rarer while it proves right.
    pub fn validators(&self, id: UrlId) -> Option<Box<Validators>> {
        let refreshing = self.refreshing.as_ref()?;
        let Some(page) = refreshing.histories.get(id) else { return refreshing.signals.validators(id) };
        let checked = page.unchanged_streak >= 4 && page.unchanged_streak.is_power_of_two();
        let believed = !checked && !refreshing.unreliable_validators.contains(&self.urls.get(id).host());
        page.validators.clone().filter(|_| believed)
    }

    /// The history of a due page.
    pub fn tracked(&self, id: UrlId) -> Option<&Tracked> {
        let refreshing = self.refreshing.as_ref()?;
        refreshing.due.get(&id).and_then(|_| refreshing.histories.get(id))
    }

    /// How a due page has lost its text according to a response, if it has. None after the grace period: what the server
    /// sends then is the page.
    pub fn text_loss(&self, id: UrlId, page: &Page, on_topic: bool, now: Millis) -> Option<TextLoss> {
        let known = self.tracked(id)?;
        let refreshing = self.refreshing.as_ref()?;
        if known.text_lost.is_some_and(|since| days(now.since(since)) >= refreshing.settings().grace) {
            return None;
        }
        let replacement = Replacement { before: known.sketch, now: page.sketch };
        let others = refreshing.new_texts.get(&self.urls.get(id).host());
        let shared = others.into_iter().flatten().any(|other| replacement.is_shared_by(*other));
        let found =
            RevisitedPage { sketch: page.sketch, on_topic, listing: page.listing, noindex: page.noindex, shared };
        text_loss(known, found)
    }

    /// Whether a URL was fetched as a page and may be revisited.
    pub fn is_page(&self, id: UrlId) -> bool {
        let known = self.refreshing.as_ref().and_then(|refreshing| refreshing.histories.get(id));
        known.is_some_and(|page| !page.retired)
    }

    /// Whether a page has been missing for longer than the grace period.
    pub fn is_lost(&self, id: UrlId, now: Millis) -> bool {
        let Some(refreshing) = &self.refreshing else { return false };
        let missing = refreshing.histories.get(id).filter(|page| !page.retired).and_then(|page| page.missing);
        missing.is_some_and(|since| days(now.since(since)) >= refreshing.request.settings.grace)
    }

    /// Whether a round that leaves the queue of the crawl alone has nothing left to do.
    pub fn is_round_done(&self) -> bool {
        self.refreshing.as_ref().is_some_and(|refreshing| {
            let planned = refreshing.round.is_some_and(|round| round.planned);
            let left = !refreshing.due.is_empty() || !refreshing.new_links.is_empty();
            refreshing.request.settings.discovery <= 0.0 && planned && !left
        })
    }

    /// When the first known page may be requested again, if any.
    pub fn next_due(&self) -> Option<Millis> {
        self.known_due()?.min()
    }

    fn known_due(&self) -> Option<impl Iterator<Item = Millis>> {
        let refreshing = self.refreshing.as_ref()?;
        let pages = refreshing.histories.iter().filter(|(_, page)| !page.retired);
        Some(pages.map(|(_, page)| page.earliest_revisit(refreshing.settings())))
    }

    /// When a round limited by time is over.
    pub fn round_ends(&self) -> Option<Millis> {
        let Budget::Round { seconds, .. } = self.refreshing.as_ref()?.round?.budget else { return None };
        Some(self.refreshing.as_ref()?.round?.begun.after(seconds?.saturating_mul(1000)))
    }

    /// Whether a URL must be read as a sitemap or a feed.
    pub fn is_sitemap(&self, id: UrlId, again: bool) -> bool {
        if again { self.is_source(id) } else { self.sourcing.is_source(id) }
    }

    /// How many pages a round chooses now: none before its sitemaps and feeds are read, and after it has chosen.
    pub fn wants_plan(&self, now: Millis) -> Option<usize> {
        let refreshing = self.refreshing.as_ref()?;
        let round = refreshing.round.as_ref().filter(|round| !round.planned)?;
        let Budget::Round { requests, .. } = round.budget else { return None };
        // Sources of failing hosts are not waited for.
        let answers = |id: &UrlId| !self.hosts.get(self.urls.get(*id).host()).failing;
        let waits = now.since(round.begun) < SOURCES_WAIT && refreshing.due.keys().any(answers);
        let most = requests.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        (!waits).then_some(most)
    }

    /// Takes the best due page of a ready host.
    pub fn take_due(&mut self) -> Option<QueueHead> {
        let Self { urls, refreshing: Some(Refreshing { due, .. }), frontier, .. } = self else { return None };
        let is_current = |id: UrlId, key: EntryKey| {
            let is_of = |value: &f32| key.is_of(due_entry(*value));
            urls.get(id).state == LinkState::Queued && due.get(&id).is_some_and(is_of)
        };
        frontier.pop_from(DUE, &is_current)
    }

    /// Takes the next URL of a ready host in the order of the strategy. At a random turn each is as likely as any other; the
    /// best one is taken if [`DRAWS`] draws are not queued or not ready.
    pub fn take_new(&mut self, taken: u64) -> Option<QueueHead> {
        let Self { urls, refreshing, frontier, .. } = self;
        let is_due = |id| refreshing.as_ref().is_some_and(|refreshing: &Refreshing| refreshing.due.contains_key(&id));
        if let Some(mut rng) = frontier.random_turn(taken) {
            // Of the known URLs, so that a restored frontier, whose heaps differ, gives the same.
            for _ in 0..DRAWS {
                let id = UrlId(rng.below(urls.len() as u64) as u32);
                let url = urls.get(id);
                if url.is_queued()
                    && !is_due(id)
                    && let Some(head) = frontier.take(url.host(), id, url.entry())
                {
                    return Some(head);
                }
            }
        }
        frontier.pop(taken, |id, key| urls.get(id).is_current(key) && !is_due(id))
    }

    /// Nothing else is left: sends requests to the hosts that failed before the round. Returns whether there were any.
    pub fn resume_deferred(&mut self, now: Millis) -> bool {
        if self.refreshing.is_none() {
            return false;
        }
        let resumed = self.hosts.take_deferred(now);
        for host in &resumed {
            self.delay_until(*host, now, now);
        }
        !resumed.is_empty()
    }

    /// How many pages an endless refresh makes due when none of those that are can be taken.
    pub fn wants_more_due(&self) -> Option<usize> {
        let refreshing = self.refreshing.as_ref().filter(|refreshing| refreshing.is_endless())?;
        let room = MAX_AT_ONCE.checked_sub(refreshing.due.len())?;
        Some(at_once(refreshing.histories.len()).min(room)).filter(|most| *most > 0)
    }

    /// When an endless refresh without due pages plans again: within a minute.
    pub fn plans_again(&self, now: Millis) -> Millis {
        let further = self.known_due().into_iter().flatten().filter(|at| *at > now).min();
        now.after(60_000).min(further.unwrap_or(Millis(u64::MAX)))
    }
}
