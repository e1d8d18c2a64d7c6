//! A refresh of several partitions: each has a part of the round's budget, which it gets in grants. The partitions report
//! what they could request, by value, so that the grants go where a visit is worth most.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use suidao_page::model::{AT_ONCE, Batch, LinkState, Millis, UrlId};

use super::decide::revisits;
use super::machine::Crawl;
use super::ticket::Next;

/// Levels per doubling of a value.
const LEVELS: f32 = 8.0;
/// Level of what comes before all visits: sitemaps, feeds.
pub const FIRST: i16 = i16::MAX;
/// Level of what comes after all visits: the queue of the crawl.
pub const LAST: i16 = i16::MIN;
/// Milliseconds after which a partition that waits for grants looks again.
const LATER: u64 = 1_000;

/// What a partition of a refresh has requested, and could request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundShare {
    /// It has chosen its pages.
    pub planned: bool,
    /// Requests of the round, finished or in flight.
    pub begun: u64,
    /// Finished ones.
    pub spent: u64,
    /// Finished ones for promising new links.
    pub spent_on_new: u64,
    /// Promising new links that it could request.
    pub new_links: u64,
    /// Due pages that it could request, by the level of their value: eight levels per doubling, [`FIRST`], [`LAST`].
    pub wanted: BTreeMap<i16, u64>,
}

impl RoundShare {
    pub fn wants_something(&self) -> bool {
        self.new_links > 0 || !self.wanted.is_empty()
    }
}

/// Level of the value of a visit.
fn level(value: f32) -> i16 {
    if value >= AT_ONCE { FIRST } else { (LEVELS * value.max(f32::MIN_POSITIVE).log2()).floor() as i16 }
}

impl Crawl {
    /// Takes part in the round that began at `begun`, unless it does already. It requests nothing before a
    /// [grant](Crawl::grant).
    pub fn join_round(&mut self, begun: Millis, now: Millis) -> Option<Batch> {
        self.run.refresh.grant.get_or_insert_default();
        let takes_part = |refreshing: &super::refresh::Refreshing| {
            refreshing.round.as_ref().is_some_and(|round| round.begun >= begun)
        };
        if self.state.refreshing.as_ref().is_none_or(takes_part) {
            return None;
        }
        Some(self.begin_round(now.max(begun)))
    }

    /// Ends the round, if one is active.
    pub fn end_round(&mut self, now: Millis) -> Option<Batch> {
        self.record(now, revisits::end_round)
    }

    /// Allows so many requests of the round in all. `follows`: promising new links are requested before due pages.
    pub fn grant(&mut self, requests: u64, follows: bool) {
        self.run.refresh.grant = Some(Grant { requests, follows });
    }

    /// What this partition has requested in the round, and could request. Linear in the due pages.
    pub fn round_share(&self, now: Millis) -> RoundShare {
        let Some((refreshing, round)) =
            self.state.refreshing.as_ref().and_then(|refreshing| Some((refreshing, refreshing.round?)))
        else {
            return RoundShare::default();
        };
        let queued = |id: &UrlId| self.state.urls.get(*id).state == LinkState::Queued;
        let mut wanted = BTreeMap::new();
        for (id, value) in refreshing.due.iter().filter(|(id, _)| queued(id)) {
            // The value grows while the partition waits for a grant.
            let value = self.state.value_now(*id, now).unwrap_or(*value);
            *wanted.entry(level(value)).or_default() += 1;
        }
        let new_links = refreshing.new_links.iter().filter(|id| queued(id)).count() as u64;
        let others = self.state.counts.progress.queued.saturating_sub(wanted.values().sum::<u64>() + new_links);
        if refreshing.settings().discovery > 0.0 && others > 0 {
            *wanted.entry(LAST).or_default() += others;
        }
        RoundShare {
            planned: round.planned || refreshing.is_endless(),
            begun: round.spent.all + self.run.refresh.in_flight.all,
            spent: round.spent.all,
            spent_on_new: round.spent.new_links,
            new_links,
            wanted,
        }
    }

    /// What to do while the requests granted are used up: pages are chosen before anything is granted, as their values
    /// decide on the grants. None if it may send requests, or has none to send.
    pub(super) fn await_grant(&mut self, now: Millis) -> Option<Next> {
        let grant = self.run.refresh.grant?;
        let refreshing = self.state.refreshing.as_ref()?;
        let round = refreshing.round.as_ref()?;
        if round.spent.all + self.run.refresh.in_flight.all < grant.requests {
            return None;
        }
        if let Some(batch) = self.record(now, revisits::due) {
            return Some(Next::Record(batch));
        }
        let refreshing = self.state.refreshing.as_ref()?;
        if refreshing.due.is_empty() {
            if let Some(batch) = self.plan_more(now) {
                return Some(Next::Record(batch));
            }
            if let Some(at) = self.plans_again(now) {
                return Some(Next::Wait(Some(at)));
            }
        }
        let refreshing = self.state.refreshing.as_ref()?;
        let has_work = !refreshing.due.is_empty() || !refreshing.new_links.is_empty();
        let queue = refreshing.settings().discovery > 0.0 && self.state.counts.progress.queued > 0;
        (has_work || queue || self.run.in_flight() > 0).then(|| Next::Wait(Some(now.after(LATER))))
    }
}

/// What a partition may request in the round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grant {
    /// In all.
    pub requests: u64,
    pub follows: bool,
}
