//! What the results of revisits, sitemaps and feeds change in the state.

use crate::revisit::history::{days, is_other_text};
use crate::revisit::text_loss::Replacement;
use suidao_page::model::{Event, LinkState, Millis, UrlId, Validators};

use super::State;
use crate::crawl::refresh::{NEW_LINK, NEW_TEXTS, Refreshing};

impl State {
    /// Updates the refresh after the state has changed.
    pub(super) fn observe_refresh(&mut self, event: &Event, at: Millis) {
        let Some(refreshing) = &mut self.refreshing else { return self.observe_left_due(event) };
        match event {
            Event::Refresh(step) => self.observe_refresh_step(step, at),
            Event::SitemapRead { id, pages, sources, useful, validators, .. } => {
                self.count_spent(Some(*id), event);
                self.is_done(*id);
                self.observe_sitemap(*id, pages, sources, (*useful, validators), at);
            }
            Event::PageFetched(page) => {
                let host = self.urls.get(page.id).host();
                refreshing.signals.name_feeds(host, &page.feeds);
                let marks = refreshing.histories.get(page.id).and_then(|known| known.validators.as_ref());
                if page.changes.is_some_and(|found| found.text) && marks.is_some() && marks == page.validators.as_ref()
                {
                    refreshing.unreliable_validators.insert(host);
                }
                if let Some(before) = refreshing.histories.get(page.id).map(|known| known.sketch)
                    && is_other_text(before, page.sketch)
                {
                    let texts = refreshing.new_texts.entry(host).or_default();
                    texts.extend((texts.len() < NEW_TEXTS).then_some(Replacement { before, now: page.sketch }));
                }
                self.observe_visit(page.id, event, at);
                self.is_done(page.id);
            }
            Event::FetchFailed { id, .. } => {
                if refreshing.signals.is_source(*id) && refreshing.histories.get(*id).is_none() {
                    refreshing.signals.read(*id, at, None);
                }
                self.observe_visit(*id, event, at);
                self.is_done(*id);
            }
            Event::Unchanged { id, .. } => {
                self.observe_visit(*id, event, at);
                self.is_done(*id);
            }
            Event::Redirected { id, link, .. } => {
                self.observe_visit(*id, event, at);
                link.iter().for_each(|link| self.new_link_moved(*id, link.to));
                self.is_done(*id);
            }
            Event::FetchRetried { id, .. } => {
                self.observe_visit(*id, event, at);
                if self.is_due(*id) { self.queue_due(*id) } else { self.is_done(*id) }
            }
            Event::UrlExcluded { id, .. } => {
                refreshing.histories.observe(event, at);
                self.is_done(*id);
            }
            Event::SchemeRewritten { id, link } => {
                refreshing.histories.observe(event, at);
                link.iter().for_each(|link| self.new_link_moved(*id, link.to));
                self.is_done(*id);
            }
            Event::Reprioritized { id, .. } => self.new_link_lowered(*id),
            _ => {
                refreshing.histories.observe(event, at);
                if event.is_other_request() {
                    self.count_spent(None, event);
                }
            }
        }
    }

    /// Records the result of a request for a page, and whether it confirms the sitemap that announced a change.
    fn observe_visit(&mut self, id: UrlId, event: &Event, at: Millis) {
        self.count_spent(Some(id), event);
        let Some(refreshing) = &mut self.refreshing else { return };
        let before = refreshing.histories.get(id).map(|page| {
            let still = (-page.rate(&refreshing.request.settings) * days(at.since(page.last))).exp();
            (page.signals, still)
        });
        let found = refreshing.histories.observe(event, at);
        if let (Some(found), Some((1.., still))) = (found, before) {
            refreshing.signals.record_visit(self.urls.get(id).host(), still, found.text || found.links);
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
                let visits = step.due.iter().filter(|(_, value)| *value != NEW_LINK).map(|(id, _)| *id);
                self.left_due.extend(visits.chain(step.sources.iter().copied()));
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
            Event::Redirected { id, .. } | Event::FetchFailed { id, .. } | Event::UrlExcluded { id, .. } => {
                let was_due = self.left_due.remove(id);
                if was_due {
                    self.set_state(*id, LinkState::Fetched);
                }
            }
            _ => {}
        }
    }

    /// Counts a request of the round; `id`: of the page, if it was for one.
    fn count_spent(&mut self, id: Option<UrlId>, event: &Event) {
        let Some(Refreshing { round: Some(round), due, new_links, .. }) = &mut self.refreshing else { return };
        let is_due = id.is_some_and(|id| due.contains_key(&id));
        // An unreachable host takes no requests from the others.
        let is_unanswered = !is_due && event.is_unanswered();
        round.unanswered += u64::from(is_unanswered);
        round.spent.all += u64::from(!is_unanswered);
        round.spent.due += u64::from(is_due);
        round.spent.new_links += u64::from(id.is_some_and(|id| new_links.contains(&id)));
    }

    /// The visit is over, or the new link was requested.
    fn is_done(&mut self, id: UrlId) {
        let Some(refreshing) = &mut self.refreshing else { return };
        refreshing.new_links.remove(&id);
        let was_due = refreshing.due.remove(&id).is_some();
        // A page that could not be fetched remains a page.
        let state = self.urls.get(id).state;
        if was_due && matches!(state, LinkState::Failed | LinkState::Excluded | LinkState::Redirected) {
            self.set_state(id, LinkState::Fetched);
        }
    }

    fn observe_sitemap(
        &mut self,
        id: UrlId,
        pages: &[UrlId],
        sources: &[UrlId],
        result: (bool, &Option<Box<Validators>>),
        at: Millis,
    ) {
        let Some(refreshing) = &mut self.refreshing else { return };
        refreshing.signals.read(id, at, Some(result));
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
