//! Endless refresh: pages wait in a [`RevisitQueue`] until each is due.

use std::cmp::Reverse;

use crate::revisit::agenda::RevisitQueue;
use crate::revisit::history::days;
use suidao_page::model::{Budget, Event, Millis, RefreshStep, UrlId};

use super::machine::Crawl;
use super::refresh::{ActiveRound, Refreshing};

/// Pages due at a time: as many slow hosts can be waited for before others have to wait.
const DUE: usize = 64;

impl Crawl {
    /// In an endless refresh, makes the next page due.
    pub(super) fn find_due(&mut self, now: Millis) {
        let Some(Refreshing { agenda: Some(_), due, early, sources_asked, .. }) = &mut self.refreshing else { return };
        if due.len() >= DUE {
            return;
        }
        let mut ripe = Vec::new();
        while let Some(Reverse((at, _))) = early.peek()
            && *at <= now
        {
            ripe.extend(early.pop().map(|Reverse((_, id))| id));
        }
        if sources_asked.is_none_or(|asked| days(now.since(asked)) >= 1.0) {
            *sources_asked = Some(now);
            let mut events = std::mem::take(&mut self.pending);
            let most = self.most_sources();
            let sources = self.sources(&mut events, most, now);
            // Written even without sources: after a day every host is tried again.
            let step = RefreshStep { sources, ..RefreshStep::default() };
            self.tell(&mut events, Event::Refresh(Box::new(step)), now);
            self.pending = events;
        }
        for id in ripe {
            self.reschedule(id, now);
        }
        let Some((page, value)) =
            self.refreshing.as_mut().and_then(|refreshing| refreshing.agenda.as_mut()?.take(days(now.0)))
        else {
            return;
        };
        let event = Event::Refresh(Box::new(RefreshStep { due: vec![(page, value as f32)], ..RefreshStep::default() }));
        self.apply(&event, now);
        self.pending.push(event);
    }

    pub(super) fn make_agenda(&mut self, now: Millis) {
        let Some(Refreshing { agenda, early, histories, wish, .. }) = &mut self.refreshing else { return };
        *agenda = Some(RevisitQueue::new(wish.settings.per_host.map(f64::from)));
        early.clear();
        let mut pages: Vec<UrlId> = histories.iter().map(|(id, _)| id).collect();
        pages.sort_unstable();
        for id in pages {
            self.reschedule(id, now);
        }
    }

    /// In an endless refresh, the time of the next check if nothing can be requested now.
    pub(super) fn watches_until(&self, now: Millis) -> Option<Millis> {
        let refreshing = self.refreshing.as_ref()?;
        let Some(ActiveRound { budget: Budget::PerDay(_), .. }) = refreshing.round else { return None };
        let minute = now.after(60_000);
        Some(refreshing.early.peek().map_or(minute, |Reverse((at, _))| minute.min(*at)).max(now.after(1)))
    }
}
