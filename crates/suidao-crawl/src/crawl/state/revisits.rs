//! Results of revisits, and which pages are due: the refresh in the fold.

use crate::revisit::history::days;
use suidao_page::model::{Budget, Event, LinkState, Millis, RefreshStep, UrlId, Validators};

use super::State;
use crate::crawl::politeness::millis;
use crate::crawl::refresh::{ActiveRound, Refreshing};

/// Milliseconds; longer than any round that finishes.
const A_DAY: u64 = 86_400_000;

impl State {
    /// Updates the refresh after the state has changed.
    pub(super) fn observe_refresh(&mut self, event: &Event, at: Millis) {
        let Some(refreshing) = &mut self.refreshing else { return self.observe_left_due(event) };
        let (id, comes_again) = match event {
            Event::Refresh(step) => return self.observe_refresh_step(step, at),
            Event::PageFetched(page) => {
                let host = self.urls.get(page.id).host();
                refreshing.signals.name_feeds(host, &page.feeds);
                let known = refreshing.histories.get(page.id);
                let marks = known.and_then(|known| known.validators.as_ref());
                if page.changes.is_some_and(|found| found.text) && marks.is_some() && marks == page.validators.as_ref()
                {
                    refreshing.unreliable_validators.insert(host);
                }
                (Some(page.id), false)
            }
            Event::SitemapRead { id, pages, sources, useful, validators, .. } => {
                self.count_spent(*id);
                self.is_done(*id);
                return self.observe_hints(*id, pages, sources, (*useful, validators), at);
            }
            Event::FetchFailed { id, .. }
                if refreshing.signals.is_source(*id) && refreshing.histories.get(*id).is_none() =>
            {
                refreshing.signals.read(*id, at, None);
                (Some(*id), false)
            }
            Event::Unchanged { id, .. } | Event::Redirected { id, .. } | Event::FetchFailed { id, .. } => {
                (Some(*id), false)
            }
            Event::FetchRetried { id, .. } => (Some(*id), true),
            Event::Robots { .. } | Event::RobotsRedirected { .. } => (None, false),
            Event::UrlExcluded { id, .. } | Event::SchemeRewritten { id, .. } => {
                refreshing.histories.observe(event, at);
                self.is_done(*id);
                return;
            }
            _ => {
                refreshing.histories.observe(event, at);
                return;
            }
        };
        let again = id.is_some_and(|id| refreshing.due.contains_key(&id));
        let before = id.and_then(|id| refreshing.histories.get(id)).map(|page| {
            let still = (-page.rate(&refreshing.wanted.settings) * days(at.since(page.last))).exp();
            (page.signals, still)
        });
        let found = refreshing.histories.observe(event, at);
        if let Some(round) = &mut refreshing.round {
            // An unreachable host takes no requests from the others.
            let unanswered = !again && event.is_unanswered();
            round.unanswered += u64::from(unanswered);
            round.spent[0] += u64::from(!unanswered);
            round.spent[1] += u64::from(again);
        }
        let Some(id) = id else { return };
        if let (Some(found), Some((1.., still))) = (found, before) {
            refreshing.signals.prove(self.urls.get(id).host(), still, found.text || found.links);
        }
        if comes_again && again {
            self.queue_due(id);
        } else {
            self.is_done(id);
        }
    }

    /// For a crawl without a refresh: tracks pages still due from an unfinished round. They are not requested, and
    /// their results do not affect fetched pages.
    fn observe_left_due(&mut self, event: &Event) {
        match event {
            Event::Refresh(step) => {
                if step.budget.is_some() {
                    self.left_due.clear();
                }
                self.left_due.extend(step.due.iter().map(|(id, _)| *id).chain(step.sources.iter().copied()));
            }
            Event::SitemapRead { id, sources, .. } => {
                self.left_due.remove(id);
                self.left_due.extend(sources);
            }
            Event::PageFetched(page) => {
                self.left_due.remove(&page.id);
            }
            Event::Unchanged { id, .. } => {
                self.left_due.remove(id);
            }
            Event::FetchRetried { id, .. } if self.left_due.contains(id) => self.set_state(*id, LinkState::Fetched),
            Event::Redirected { id, .. } | Event::FetchFailed { id, .. } | Event::UrlExcluded { id, .. }
                if self.left_due.remove(id) =>
            {
                self.set_state(*id, LinkState::Fetched);
            }
            _ => {}
        }
    }

    fn count_spent(&mut self, id: UrlId) {
        if let Some(Refreshing { round: Some(round), due, .. }) = &mut self.refreshing {
            round.spent[0] += 1;
            round.spent[1] += u64::from(due.contains_key(&id));
        }
    }

    /// The visit is over.
    fn is_done(&mut self, id: UrlId) {
        let Some(refreshing) = &mut self.refreshing else { return };
        let was_due = refreshing.due.remove(&id).is_some();
        // A page that could not be fetched remains a page.
        let state = self.urls.get(id).state;
        if was_due && matches!(state, LinkState::Failed | LinkState::Excluded | LinkState::Redirected) {
            self.set_state(id, LinkState::Fetched);
        }
    }

    fn observe_refresh_step(&mut self, step: &RefreshStep, at: Millis) {
        let Some(refreshing) = &mut self.refreshing else { return };
        let (shortest, budget_wanted) = (refreshing.wanted.settings.shortest_ms(), refreshing.wanted.budget);
        if let Some(budget) = step.budget {
            let left: Vec<UrlId> = refreshing.due.drain().map(|(id, _)| id).collect();
            refreshing.round =
                (budget != Budget::Spent).then_some(ActiveRound { budget, begun: at, ..ActiveRound::default() });
            for id in left {
                if self.urls.get(id).state == LinkState::Queued {
                    self.set_state(id, LinkState::Fetched);
                }
            }
        }
        let reads_sources = step.due.is_empty() && step.budget != Some(Budget::Spent);
        if reads_sources {
            // Resets the hosts' failures too: they may be back. Those that failed last are asked when nothing else is
            // left, and not sooner than a page would be.
            let beyond = match budget_wanted {
                Budget::PerDay(_) => millis(self.settings.politeness.patience).saturating_add(1),
                _ => A_DAY,
            };
            let rest = self.hosts.stand_back(shortest, beyond, at);
            for (host, until) in rest {
                self.rest(host, until, at);
            }
        }
        if let Some(refreshing) = &mut self.refreshing {
            if reads_sources {
                refreshing.sources_read = Some(at);
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
    fn make_sources_due(&mut self, sources: &[UrlId]) {
        let due: Vec<(UrlId, f32)> = sources.iter().map(|id| (*id, f32::MAX)).collect();
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

    fn observe_hints(
        &mut self,
        id: UrlId,
        pages: &[UrlId],
        sources: &[UrlId],
        told: (bool, &Option<Box<Validators>>),
        at: Millis,
    ) {
        let Some(refreshing) = &mut self.refreshing else { return };
        refreshing.signals.read(id, at, Some(told));
        refreshing.signals.add(sources, false);
        for page in pages {
            refreshing.histories.signal(*page);
        }
        let new: Vec<UrlId> =
            sources.iter().copied().filter(|id| self.urls.get(*id).state == LinkState::Dropped).collect();
        // Sitemaps named by a sitemap are requested in the same round.
        self.make_sources_due(&new);
    }
}
