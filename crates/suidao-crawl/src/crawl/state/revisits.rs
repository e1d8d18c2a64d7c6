//! Results of revisits, of sitemaps and of feeds: the refresh in the fold.

use crate::revisit::history::days;
use suidao_page::model::{Event, LinkState, Millis, UrlId, Validators};

use super::State;
use crate::crawl::refresh::Refreshing;

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
