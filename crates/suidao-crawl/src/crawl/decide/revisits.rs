//! Refresh: which sitemaps, feeds and known pages are due.

use super::sitemaps;
use crate::crawl::draft::Draft;
use crate::revisit::history::days;
use suidao_page::model::{Budget, Event, RefreshStep, UrlId};

/// Ends the round, if one is active.
pub fn end_round(draft: &mut Draft) {
    if draft.state.refreshing.as_ref().is_some_and(|refreshing| refreshing.round.is_some()) {
        draft.push(Event::Refresh(Box::new(RefreshStep { budget: Some(Budget::Spent), ..RefreshStep::default() })));
    }
}

/// Makes the sitemaps and feeds of known hosts due, as part of `step`.
pub fn read_sources(draft: &mut Draft, step: RefreshStep) {
    let sources = sitemaps::of_known_hosts(draft, draft.state.most_sources());
    draft.push(Event::Refresh(Box::new(RefreshStep { sources, ..step })));
}

/// What becomes due before the next due page is taken: the pages of a round, once sitemaps and feeds are read, and in
/// an endless refresh the sources, once a day.
pub fn due(draft: &mut Draft) {
    let Some(refreshing) = &draft.state.refreshing else { return };
    if let Some(most) = draft.state.wants_plan(draft.now) {
        return plan(draft, most);
    }
    let is_new_day = refreshing.sources_read.is_none_or(|read| days(draft.now.since(read)) >= 1.0);
    if refreshing.is_endless() && is_new_day {
        // Recorded even without sources: after a day every host is tried again.
        read_sources(draft, RefreshStep::default());
    }
}

/// Makes at most this many pages due, those with the most valuable visits. A round has then chosen, even if it chose
/// none.
pub fn plan(draft: &mut Draft, most: usize) {
    let due: Vec<(UrlId, f32)> =
        draft.state.plan(draft.now, most).into_iter().map(|planned| (planned.id, planned.value as f32)).collect();
    let is_endless = draft.state.refreshing.as_ref().is_some_and(|refreshing| refreshing.is_endless());
    if !due.is_empty() || !is_endless {
        draft.push(Event::Refresh(Box::new(RefreshStep { due, ..RefreshStep::default() })));
    }
}
