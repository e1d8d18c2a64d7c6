//! What came of a simulation: by day, and over days.

use super::pages::{Pages, RELEVANT};

/// One day. Items are booked on the day on which they appeared, all else when it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Day {
    /// Page-days.
    pub fresh: f64,
    pub fresh_weighted: f64,
    /// Page-days times days.
    pub age_weighted: f64,
    pub visits: u32,
    pub caught: u32,
    pub lost: u32,
    pub waiting: u32,
    pub caught_worth: f64,
    pub lost_worth: f64,
    /// Days that what was caught or is still waiting waited.
    pub waited: f64,
}

/// What came of one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub(super) pages: usize,
    /// Of all pages.
    pub(super) importance: f64,
    pub(super) days: Vec<Day>,
    /// By page: the longest time without a visit, while it was not known to be gone.
    pub(super) gaps: Vec<f64>,
    /// By page.
    pub(super) visits: Vec<u32>,
}

/// Means over some days.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Window {
    /// Share of pages that are held as they are, 0 to 1.
    pub freshness: f64,
    /// The same, pages counted by importance.
    pub weighted_freshness: f64,
    /// Days since the first change that is not held, 0 of a fresh page; pages counted by importance.
    pub weighted_age: f64,
    /// Share of the new links that were caught before they fell off their listing page, of those that were or did.
    pub accuracy: f64,
    /// The same, links counted by the worth of what is behind them.
    pub weighted_accuracy: f64,
    /// Days that a link waited, of those that did not fall off.
    pub delay: f64,
    /// Requests a day.
    pub requests: f64,
}

/// How long relevant pages went without a visit, in days.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gaps {
    /// Of half of the pages it is at most this.
    pub median: f64,
    /// Of 99 in 100.
    pub most: f64,
    /// Of all.
    pub longest: f64,
    /// Share of the pages that changed in the first half and were not visited at all.
    pub starved: f64,
}

impl Outcome {
    /// Means over the days from one (counted from 0) to before another.
    pub fn window(&self, from: usize, to: usize) -> Window {
        let days = &self.days[from..to];
        let sum = |of: fn(&Day) -> f64| days.iter().map(of).sum::<f64>();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let page_days = self.pages as f64 * days.len() as f64;
        let weighted_days = self.importance * days.len() as f64;
        let caught = sum(|day| f64::from(day.caught));
        let worth = sum(|day| day.caught_worth);
        Window {
            freshness: sum(|day| day.fresh) / page_days,
            weighted_freshness: sum(|day| day.fresh_weighted) / weighted_days,
            weighted_age: sum(|day| day.age_weighted) / weighted_days,
            accuracy: share(caught, caught + sum(|day| f64::from(day.lost))),
            weighted_accuracy: share(worth, worth + sum(|day| day.lost_worth)),
            delay: share(sum(|day| day.waited), sum(|day| f64::from(day.caught + day.waiting))),
            requests: sum(|day| f64::from(day.visits)) / days.len() as f64,
        }
    }

    /// How long the relevant pages of `pages` (which this came of) went without a visit.
    pub fn gaps(&self, pages: &Pages) -> Gaps {
        let half = f64::from(pages.days) / 2.0;
        let relevant = || (0..pages.len()).filter(|page| pages.pages[*page].relevance >= RELEVANT);
        let mut gaps: Vec<f64> = relevant().map(|page| self.gaps[page]).collect();
        gaps.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| gaps.get((share * gaps.len() as f64) as usize).or(gaps.last()).copied().unwrap_or(0.0);
        let changing = || relevant().filter(|page| pages.changes(*page).first().is_some_and(|first| *first < half));
        let starved = changing().filter(|page| self.visits[*page] == 0).count();
        Gaps {
            median: at(0.5),
            most: at(0.99),
            longest: at(1.0),
            starved: starved as f64 / changing().count().max(1) as f64,
        }
    }
}
