//! Records the visits of every page and computes freshness and delays exactly.

use super::pages::{RELEVANT, SimulatedPage, SimulatedPages};

#[derive(Clone, Copy, Debug)]
pub(super) struct PageSighting {
    pub page: u32,
    pub now: f64,
    pub changed: bool,
    /// The page is gone and will not be visited again.
    pub gone: bool,
    /// Items shown that are new since the last visit.
    pub new_links: u32,
}

/// Visits of each page. On day 0 the store is up to date.
pub(super) struct VisitLedger<'a> {
    pages: &'a SimulatedPages,
    visits: Vec<Vec<f64>>,
}

impl<'a> VisitLedger<'a> {
    pub fn new(pages: &'a SimulatedPages) -> Self {
        Self { pages, visits: vec![Vec::new(); pages.pages.len()] }
    }

    pub fn visit(&mut self, page: u32, now: f64) -> PageSighting {
        let at = page as usize;
        let facts = &self.pages.pages[at];
        let last = self.visits[at].last().copied().unwrap_or(0.0);
        let (seen, so_far) = (self.pages.changed(at, last), self.pages.changed(at, now));
        let first_shown = facts.listing.map(|listing| so_far.saturating_sub(listing.items));
        self.visits[at].push(now);
        PageSighting {
            page,
            now,
            changed: so_far > seen,
            gone: facts.gone.is_some_and(|gone| gone <= now),
            new_links: first_shown.map_or(0, |first| so_far - first.max(seen)),
        }
    }

    pub fn close(self) -> FreshnessOutcome {
        let Self { pages, visits } = self;
        let mut outcome = FreshnessOutcome {
            importance: pages.pages.iter().map(|page| page.importance).sum(),
            pages: pages.pages.len(),
            days: vec![Day::default(); pages.days as usize],
            gaps: Vec::new(),
            starved: (0, 0),
        };
        for ((at, page), visits) in pages.pages.iter().enumerate().zip(&visits) {
            let changes = pages.changes(at);
            outcome.stays(page, changes, visits);
            outcome.items(page, changes, visits);
            if page.relevance >= RELEVANT && changes.first().is_some_and(|first| *first < f64::from(pages.days) / 2.0) {
                outcome.starved.0 += usize::from(visits.is_empty());
                outcome.starved.1 += 1;
            }
        }
        outcome.gaps.sort_unstable_by(f64::total_cmp);
        outcome
    }
}

/// Sums of one day. Items count on the day they appeared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Day {
    /// Page-days.
    fresh: f64,
    fresh_weighted: f64,
    /// Page-days times days.
    age_weighted: f64,
    visits: u32,
    caught: u32,
    lost: u32,
    waiting: u32,
    caught_value: f64,
    lost_value: f64,
    /// Days that caught and still waiting items waited.
    waited: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FreshnessOutcome {
    pages: usize,
    importance: f64,
    days: Vec<Day>,
    /// Of relevant pages, ascending: the longest time without a visit while not known to be gone.
    gaps: Vec<f64>,
    /// Of relevant pages that changed in the first half: number not visited at all, and total.
    starved: (usize, usize),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeasuredDays {
    /// Share of pages whose stored version is current, 0 to 1.
    pub freshness: f64,
    pub weighted_freshness: f64,
    /// Days since the first change that is not stored, 0 for a fresh page; weighted by importance.
    pub weighted_age: f64,
    /// Share of new links caught before they left their listing page, among those caught or lost.
    pub accuracy: f64,
    /// The same, weighted by the value of the linked pages.
    pub weighted_accuracy: f64,
    /// Mean days that a link waited, without lost ones.
    pub delay: f64,
    pub requests: f64,
}

impl FreshnessOutcome {
    /// Adds the days of a page between visits: fresh until its first change, then ageing.
    fn stays(&mut self, page: &SimulatedPage, changes: &[f64], visits: &[f64]) {
        let (mut last, mut gap) = (0.0, 0.0_f64);
        for &now in visits.iter().chain([&(self.days.len() as f64)]) {
            if page.gone.is_none_or(|gone| gone > last) {
                gap = gap.max(now - last);
            }
            let stored = changes.partition_point(|change| *change <= last);
            let stale = changes.get(stored).copied().unwrap_or(f64::INFINITY);
            while last < now {
                let day = &mut self.days[last as usize];
                let to = now.min(last.floor() + 1.0);
                let fresh = (stale.min(to) - last).max(0.0);
                let age = |at: f64| (at - stale).max(0.0).powi(2) / 2.0;
                day.fresh += fresh;
                day.fresh_weighted += page.importance * fresh;
                day.age_weighted += page.importance * (age(to) - age(last));
                last = to;
            }
        }
        visits.iter().for_each(|&visit| self.days[visit as usize].visits += 1);
        if page.relevance >= RELEVANT {
            self.gaps.push(gap);
        }
    }

    /// Adds the items of a listing: caught by a visit while shown, lost once as many newer items exist as are shown.
    fn items(&mut self, page: &SimulatedPage, changes: &[f64], visits: &[f64]) {
        let Some(listing) = page.listing else { return };
        let end = self.days.len() as f64;
        for (item, &appeared) in changes.iter().enumerate() {
            let fell = changes.get(item + listing.items as usize);
            let visit = visits.get(visits.partition_point(|visit| *visit < appeared));
            let visit = visit.filter(|visit| fell.is_none_or(|fell| *visit < fell));
            let day = &mut self.days[appeared as usize];
            if let Some(visit) = visit {
                day.caught += 1;
                day.caught_value += listing.value;
                day.waited += visit - appeared;
            } else if fell.is_some() {
                day.lost += 1;
                day.lost_value += listing.value;
            } else {
                // Still shown on the last day.
                day.waiting += 1;
                day.waited += end - appeared;
            }
        }
    }

    /// Means over the days `from` (counted from 0) to before `to`.
    pub fn window(&self, from: usize, to: usize) -> MeasuredDays {
        let days = &self.days[from..to];
        let sum = |of: fn(&Day) -> f64| days.iter().map(of).sum::<f64>();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let page_days = self.pages as f64 * days.len() as f64;
        let weighted_days = self.importance * days.len() as f64;
        let caught = sum(|day| f64::from(day.caught));
        let value = sum(|day| day.caught_value);
        MeasuredDays {
            freshness: sum(|day| day.fresh) / page_days,
            weighted_freshness: sum(|day| day.fresh_weighted) / weighted_days,
            weighted_age: sum(|day| day.age_weighted) / weighted_days,
            accuracy: share(caught, caught + sum(|day| f64::from(day.lost))),
            weighted_accuracy: share(value, value + sum(|day| day.lost_value)),
            delay: share(sum(|day| day.waited), sum(|day| f64::from(day.caught + day.waiting))),
            requests: sum(|day| f64::from(day.visits)) / days.len() as f64,
        }
    }

    /// Quantile of the longest time without a visit, in days, over the relevant pages.
    pub fn gap(&self, share: f64) -> f64 {
        let at = (share * self.gaps.len() as f64) as usize;
        self.gaps.get(at).or(self.gaps.last()).copied().unwrap_or(0.0)
    }

    /// Share of the relevant pages that changed in the first half and were never visited.
    pub fn starved(&self) -> f64 {
        self.starved.0 as f64 / self.starved.1.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages::ListedItems;
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn freshness_and_age_are_booked_to_the_instant() {
        let pages = SimulatedPages::of(4, &[0.25, 0.75, 2.5], None, None);
        let mut ledger = VisitLedger::new(&pages);
        assert!(ledger.visit(0, 1.5).changed);
        let again = ledger.visit(0, 2.0);
        assert!(!again.changed);
        let outcome = ledger.close();
        let day = |day| outcome.window(day, day + 1);
        // Stale from the first change until the next visit.
        close(day(0).freshness, 0.25);
        close(day(0).weighted_age, 0.75 * 0.75 / 2.0);
        close(day(1).freshness, 0.5);
        close(day(1).weighted_age, 0.5 * (0.75 + 1.25) / 2.0);
        close(day(2).freshness, 0.5);
        close(day(3).freshness, 0.0);
        close(day(3).weighted_age, 1.0);
        close(outcome.gap(1.0), 2.0);
    }

    #[test]
    fn what_is_found_gone_is_known_as_it_is() {
        let pages = SimulatedPages::of(4, &[1.0], Some(1.0), None);
        let mut ledger = VisitLedger::new(&pages);
        assert!(!ledger.visit(0, 0.5).gone);
        let sighting = ledger.visit(0, 2.0);
        assert!(sighting.gone && sighting.changed);
        let outcome = ledger.close();
        close(outcome.window(0, 4).freshness, 0.75);
        close(outcome.gap(1.0), 1.5);
    }

    #[test]
    fn items_are_caught_wait_or_fall_off() {
        let listing = ListedItems { items: 2, value: 1.0 };
        let pages = SimulatedPages::of(4, &[0.5, 1.0, 1.5, 3.0], None, Some(listing));
        let mut ledger = VisitLedger::new(&pages);
        // The first of three was lost.
        assert_eq!(ledger.visit(0, 2.0).new_links, 2);
        assert_eq!(ledger.visit(0, 2.5).new_links, 0);
        let window = ledger.close().window(0, 4);
        close(window.accuracy, 2.0 / 3.0);
        // A day, half a day, and one still waiting after a day.
        close(window.delay, 2.5 / 3.0);
    }
}
