//! What is fresh and what is not: the account of every page between its visits, exact to the instant.

use super::measures::{Day, Outcome};
use super::pages::Pages;

/// What a visit showed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    pub page: u32,
    pub now: f64,
    pub changed: bool,
    /// It is no longer there, and is not asked for again.
    pub gone: bool,
    /// Of a listing page: numbers of the items shown, in order of appearance, from the first to before the second; those
    /// before `seen` were there at the last visit.
    pub shown: Option<(u32, u32)>,
    pub seen: u32,
}

impl Sight {
    /// New links.
    pub fn new_links(&self) -> u32 {
        self.shown.map_or(0, |(first, end)| end - first.max(self.seen))
    }
}

/// What is held of a page.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    last: f64,
    /// Changes up to then.
    seen: u32,
    retired: bool,
}

pub(super) struct Ledger<'a> {
    pages: &'a Pages,
    held: Vec<Held>,
    outcome: Outcome,
}

impl<'a> Ledger<'a> {
    /// On day 0 all pages are held as they are.
    pub fn new(pages: &'a Pages) -> Self {
        let outcome = Outcome {
            importance: pages.pages.iter().map(|page| page.importance).sum(),
            pages: pages.len(),
            days: vec![Day::default(); pages.days as usize],
            gaps: vec![0.0; pages.len()],
            visits: vec![0; pages.len()],
        };
        Self { pages, held: vec![Held::default(); pages.len()], outcome }
    }

    /// A request for a page.
    pub fn visit(&mut self, page: u32, now: f64) -> Sight {
        let at = page as usize;
        self.settle(at, now);
        let (held, facts) = (self.held[at], &self.pages.pages[at]);
        let changes = self.pages.changes(at);
        let so_far = held.seen + changes[held.seen as usize..].partition_point(|change| *change <= now) as u32;
        let first = facts.listing.map_or(so_far, |listing| so_far.saturating_sub(listing.shown));
        let sight = Sight {
            page,
            now,
            changed: so_far > held.seen,
            gone: facts.gone.is_some_and(|gone| gone <= now),
            shown: facts.listing.map(|_| (first, so_far)),
            seen: held.seen,
        };
        if let Some(listing) = facts.listing {
            self.items(at, held.seen, so_far, Some((first, now)), listing.worth);
        }
        self.held[at] = Held { last: now, seen: so_far, retired: held.retired || sight.gone };
        self.outcome.visits[at] += 1;
        self.day(now).visits += 1;
        sight
    }

    /// Ends the account with the last day.
    pub fn close(mut self) -> Outcome {
        let end = f64::from(self.pages.days);
        for page in 0..self.held.len() {
            self.settle(page, end);
            if let Some(listing) = self.pages.pages[page].listing {
                let so_far = self.pages.changes(page).len() as u32;
                self.items(page, self.held[page].seen, so_far, None, listing.worth);
            }
        }
        self.outcome
    }

    fn day(&mut self, now: f64) -> &mut Day {
        let last = self.outcome.days.len() - 1;
        &mut self.outcome.days[(now as usize).min(last)]
    }

    /// Books the days since a page's last visit: fresh until its first change, then ageing.
    fn settle(&mut self, page: usize, now: f64) {
        let held = self.held[page];
        if !held.retired {
            self.outcome.gaps[page] = self.outcome.gaps[page].max(now - held.last);
        }
        let importance = self.pages.pages[page].importance;
        let stale = self.pages.changes(page).get(held.seen as usize).copied().unwrap_or(f64::INFINITY);
        let mut from = held.last;
        while from < now {
            let nth = from as usize;
            let to = now.min(nth as f64 + 1.0);
            let fresh = (stale.min(to) - from).max(0.0);
            let age = |at: f64| (at - stale).max(0.0).powi(2) / 2.0;
            let age = age(to) - age(from);
            let day = &mut self.outcome.days[nth];
            day.fresh += fresh;
            day.fresh_weighted += importance * fresh;
            day.age_weighted += importance * age;
            from = to;
        }
    }

    /// Books the items from `seen` to before `so_far` of a listing: caught from `first` on if it is visited, else fallen off
    /// the page if so many have come after.
    fn items(&mut self, page: usize, seen: u32, so_far: u32, visit: Option<(u32, f64)>, worth: f64) {
        let (pages, end) = (self.pages, f64::from(self.pages.days));
        let changes = pages.changes(page);
        let shown = pages.pages[page].listing.map_or(0, |listing| listing.shown);
        for item in seen..so_far {
            let appeared = changes[item as usize];
            let fell = changes.get((item + shown) as usize).copied();
            let day = self.day(appeared);
            match (visit, fell) {
                (Some((first, now)), _) if item >= first => {
                    day.caught += 1;
                    day.caught_worth += worth;
                    day.waited += now - appeared;
                }
                (_, Some(_)) => {
                    day.lost += 1;
                    day.lost_worth += worth;
                }
                // It is still there on the last day.
                _ => {
                    day.waiting += 1;
                    day.waited += end - appeared;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages::Listing;
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn freshness_and_age_are_booked_to_the_instant() {
        let pages = Pages::of(4, &[&[0.25, 0.75, 2.5]], None, None);
        let mut ledger = Ledger::new(&pages);
        assert!(ledger.visit(0, 1.5).changed);
        let again = ledger.visit(0, 2.0);
        assert!(!again.changed);
        let outcome = ledger.close();
        let day = |day| outcome.window(day, day + 1);
        // Stale from the first change on, whatever comes after it, until it is seen.
        close(day(0).freshness, 0.25);
        close(day(0).weighted_age, 0.75 * 0.75 / 2.0);
        close(day(1).freshness, 0.5);
        close(day(1).weighted_age, 0.5 * (0.75 + 1.25) / 2.0);
        close(day(2).freshness, 0.5);
        close(day(3).freshness, 0.0);
        close(day(3).weighted_age, 1.0);
        close(outcome.gaps(&pages).longest, 2.0);
    }

    #[test]
    fn what_is_found_gone_is_known_as_it_is() {
        let pages = Pages::of(4, &[&[1.0]], Some(1.0), None);
        let mut ledger = Ledger::new(&pages);
        assert!(!ledger.visit(0, 0.5).gone);
        let sight = ledger.visit(0, 2.0);
        assert!(sight.gone && sight.changed);
        let outcome = ledger.close();
        close(outcome.window(0, 4).freshness, 0.75);
        close(outcome.gaps(&pages).longest, 1.5);
    }

    #[test]
    fn items_are_caught_wait_or_fall_off() {
        let listing = Listing { shown: 2, worth: 1.0 };
        let pages = Pages::of(4, &[&[0.5, 1.0, 1.5, 3.0]], None, Some(listing));
        let mut ledger = Ledger::new(&pages);
        // The first of three has fallen off.
        assert_eq!(ledger.visit(0, 2.0).new_links(), 2);
        assert_eq!(ledger.visit(0, 2.5).new_links(), 0);
        let window = ledger.close().window(0, 4);
        close(window.accuracy, 2.0 / 3.0);
        // A day, half of one, and one that is still waiting after a day.
        close(window.delay, 2.5 / 3.0);
    }
}
